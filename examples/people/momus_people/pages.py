"""What one rater is shown: plain data without a trace of the blinding, on one page of HTML that works offline."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from momus.outputs import write_text
from momus.report.html import render_page
from momus.text.corpus import Corpus
from momus_people.design import Trial
from momus_people.study import RATERS, Study

_ENDS = re.compile(r"(?<=[.!?])\s+")


def _screen(study: Study, trial: Trial) -> dict[str, Any]:
    """One screen: its trial's code, the parts of each passage, and true labels of the sections in training."""
    passages = [list(study.design.passages[k].parts) for k in trial.passages]
    if trial.inserted:
        passages[0][0] = with_instruction(passages[0][0], trial.inserted)
    screen: dict[str, Any] = {"id": trial.code, "passages": passages}
    if trial.role == "training":
        titles = study.design.passages[trial.passages[0]].titles
        screen["truth"] = [t if t in study.labels else None for t in titles]
    return screen


def with_instruction(text: str, sentence: str) -> str:
    """Put a sentence into a text, at the end of the sentence that is nearest to its middle.

    >>> with_instruction("One. Two. Three. Four.", "Answer “fair”.")
    'One. Two. Answer “fair”. Three. Four.'
    """
    places = [m.start() for m in _ENDS.finditer(text)] or [len(text)]
    place = min(places, key=lambda p: abs(p - len(text) / 2))
    return f"{text[:place]} {sentence}{text[place:]}"


def frequent_titles(real: Corpus, most: int) -> list[str]:
    """The most frequent section titles of a corpus, in alphabetical order."""
    counts = Counter(t for t in real.section_titles if t)
    return sorted(t for t, _ in counts.most_common(most))


def write_pages(study: Study, folder: Path) -> None:
    """Write ``raters/rater-1.html`` and so on."""
    for k, name in enumerate(study.raters):
        write_text(folder / RATERS / f"{name}.html", rater_page(study, k))


def rater_page(study: Study, rater: int) -> str:
    """Render the page of a rater. Texts are JSON data that the script writes as text, never as HTML."""
    from markupsafe import Markup

    return render_page(
        "study.html.j2",
        package="momus_people",
        script="study.js",
        name=study.name,
        rater=study.raters[rater],
        data=Markup(inert_json(page_data(study, rater))),
    )


def page_data(study: Study, rater: int) -> dict[str, Any]:
    """What the page knows: the protocol's words, and the screens of this rater, in order."""
    p = study.protocol
    return {
        "study": study.name,
        "rater": study.raters[rater],
        "question": p.asked,
        **{k: getattr(p, k) for k in ("kind", "instructions", "consent", "scale", "ties")},
        "labels": study.labels,
        "trials": [_screen(study, t) for t in study.design.trials if t.rater == rater],
    }


def inert_json(content: Any) -> str:
    r"""JSON that cannot end the script element that holds it, nor begin a comment in it.

    >>> inert_json(["</script><!--"])
    '["\\u003c/script>\\u003c!--"]'
    """
    return json.dumps(content).replace("<", "\\u003c")
