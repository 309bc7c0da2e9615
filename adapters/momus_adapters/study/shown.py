"""What one rater is shown: plain data without a trace of the blinding, for the page and for Label Studio."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from momus.text.corpus import Corpus
from momus_adapters.study.design import Trial
from momus_adapters.study.store import Study

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
