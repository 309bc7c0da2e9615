"""What one rater is shown: plain data without a trace of the blinding, on one page of HTML that works offline."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momus.outputs import write_text
from momus.report.html import render_page
from momus.text.corpus import Corpus
from momus_people.design import Trial
from momus_people.store import RATERS, Study

_ENDS = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Screen:
    """One screen: the name of its trial, the parts of each passage, and true labels of the sections in training."""

    code: str
    passages: Sequence[Sequence[str]]
    truth: Sequence[str | None] | None = None


def screens(study: Study, rater: int) -> list[Screen]:
    """All screens of a rater, in order."""
    return [_screen(study, t) for t in study.design.trials if t.rater == rater]


def _screen(study: Study, trial: Trial) -> Screen:
    passages = [list(study.design.passages[k].parts) for k in trial.passages]
    if trial.inserted:
        part = passages[0]
        part[0] = with_instruction(part[0], trial.inserted)
    truth = None
    if trial.role == "training":
        titles = study.design.passages[trial.passages[0]].titles
        truth = [t if t in study.labels else None for t in titles]
    return Screen(trial.code, passages, truth)


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


def write_pages(study: Study, folder: Path) -> list[Path]:
    """Write ``raters/rater-1.html`` and so on, and return their paths."""
    return [write_text(folder / RATERS / f"{name}.html", rater_page(study, k)) for k, name in enumerate(study.raters)]


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
    """What the page knows: the protocol's words, and the screens of this rater."""
    p = study.protocol
    return {
        "study": study.name,
        "rater": study.raters[rater],
        "kind": p.kind,
        "question": p.asked,
        "instructions": p.instructions,
        "consent": p.consent,
        "scale": list(p.scale),
        "ties": p.ties,
        "labels": list(study.labels),
        "trials": [
            {"id": s.code, "passages": [list(parts) for parts in s.passages]}
            | ({} if s.truth is None else {"truth": list(s.truth)})
            for s in screens(study, rater)
        ],
    }


def inert_json(content: Any) -> str:
    r"""JSON that cannot end the script element that holds it, nor begin a comment in it.

    >>> inert_json(["</script><!--"])
    '["\\u003c/script>\\u003c!--"]'
    """
    return json.dumps(content).replace("<", "\\u003c")
