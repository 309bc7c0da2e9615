"""Places in texts: where a document is odd, and stretches of a stated length, by which documents are compared.

The steps of a critic's explanation are searched for in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from momus.evidence import MarkedDocument, Step
from momus.numeric.types import Ints

MOST = 3
"""Spans that are told of one axis."""
FEWEST = 2
"""Fewest letters of a span."""
COST = 1.0
"""Least cost of a step that makes a document odd, in nats."""
LONGEST = 200
"""Characters of a span that are searched for, from its beginning."""


@dataclass(frozen=True)
class Span:
    """A place in a document.

    Attributes
    ----------
    start, stop
        Its characters; equal if the critic's words were not found in the text.
    line
        Its first line, from 1.
    text
        What stands there.
    label, note
        What the critic sees there, and what it remarks.
    cost
        What it adds to the Latent NLL, in nats; None if the critic does not say.
    """

    start: int
    stop: int
    line: int
    text: str
    label: str
    note: str
    cost: float | None

    def moved(self, by: int, text: str) -> Span:
        """The same place where the text that it was found in stands in a longer one, after so many characters."""
        if self.stop == self.start:
            return self
        return replace(self, start=self.start + by, stop=self.stop + by, line=self.line + text.count("\n", 0, by))


def spans_of(document: MarkedDocument, text: str) -> list[Span]:
    r"""The steps that make a document odd, the costliest first, at most three; none that is not told why.

    >>> steps = Step("copy", "he said", 3.0, True, "as before"), Step("plain", "And then", 0.1)
    >>> spans_of(MarkedDocument("a", "1", 1.0, "nats", steps), "And then\nhe  said no.")[0].line
    2
    """
    several = sum(s.value is not None for s in document.steps) > 1
    steps = [s for s in document.steps if s.marked] or [s for s in document.steps if s.value and several]
    steps = [s for s in steps if s.note or (s.value is not None and s.label not in ("", s.text))]
    # one sign is no place, that a text has many is said of the document; nor is what costs nothing
    steps = [s for s in steps if not s.text or sum(map(str.isalnum, s.text)) >= FEWEST]
    steps = sorted((s for s in steps if s.value is None or s.value >= COST), key=lambda s: -(s.value or 0.0))
    told: dict[tuple[int, int, str], Span] = {}
    for step in {(s.text, s.label): s for s in steps}.values():
        span = span_of(step, text)
        if span.stop or not step.text:  # what stands nowhere is no place; a step without text is said of the whole
            told.setdefault((span.start, span.stop, span.note), span)
        if len(told) == MOST:
            break
    return [*told.values()]


def span_of(step: Step, text: str) -> Span:
    """Where a step stands in a text."""
    start, stop = _place(step.text, text)
    line = text.count("\n", 0, start) + 1 if stop > start else 0
    return Span(start, stop, line, text[start:stop], step.label, step.note, step.value)


def _place(excerpt: str, text: str) -> tuple[int, int]:
    """Where an excerpt stands in a text, whatever the spaces; (0, 0) if nowhere."""
    # an excerpt may begin and end with "…", and have a part in brackets: that part is meant
    if (inner := re.search(r"\[([^\[\]]+)\]", excerpt)) and excerpt.startswith("…"):
        around = excerpt[: inner.start()].lstrip("…")[-40:]
        start, stop = _place(around + inner[1], text)
        return (max(stop - len(inner[1]), start), stop) if stop else (0, 0)
    words = excerpt.strip("… \n")[:LONGEST].split()
    while words and not any(map(str.isalnum, words[0])):  # the sign before it belongs to what is before
        words = words[1:]
    if not words:
        return 0, 0
    whole = r"\b" if len(words) == 1 and words[0].isalnum() else ""  # a word is no part of a longer one
    match = re.search(whole + r"\s*".join(map(re.escape, words)) + whole, text, re.IGNORECASE)
    return match.span() if match else (0, 0)


WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+(?:['’][^\W_]+)*")
"""A word; in scripts without spaces, a character."""
_END = re.compile(r"[.!?…][\"'”’»)\]*_]*\s|[。！？][\"'”’»)\]」』]*|\n")
NEAR = 0.15
"""By how much of its length a stretch may be shorter or longer, so that it ends with a sentence."""


def word_counts(texts: Sequence[str]) -> Ints:
    """The number of words of each text: int64 (n,).

    >>> word_counts(["It rained, didn't it?", "下雨了"]).tolist()
    [4, 3]
    """
    return np.array([sum(1 for _ in WORD.finditer(text)) for text in texts], dtype=np.int64)


def stretch(text: str, words: int) -> str:
    """The beginning of a text, of about so many words: to the nearest end of a sentence or line, if one is near.

    A text that is not longer is returned whole.

    >>> stretch("One two three four. Five six seven. Eight nine ten, eleven.", 8)
    'One two three four. Five six seven.'
    """
    ends = [match.end() for match in WORD.finditer(text)]
    if len(ends) <= words:
        return text
    best, distance = ends[words - 1], max(int(NEAR * words), 1) + 1
    first = ends[max(words - distance, 1) - 1]
    last = ends[min(words + distance, len(ends)) - 1]
    hard = best
    for match in _END.finditer(text, first, last):
        reached = int(np.searchsorted(ends, match.start(), side="right"))  # words before the end of the sentence
        if abs(reached - words) < distance:
            best, distance = match.end(), abs(reached - words)
    return text[:best].rstrip() if best != hard else text[:hard]


def stretches(text: str, words: int, most: int) -> list[tuple[int, str]]:
    """Consecutive stretches of about so many words, at most ``most`` and evenly chosen: where each begins, and it.

    What remains at the end is no stretch of its own.

    >>> [text for _, text in stretches("One two three. Four five six. Seven.", 3, 9)]
    ['One two three.', 'Four five six.']
    """
    pieces, start = [], 0
    total = sum(1 for _ in WORD.finditer(text))
    while total >= (1 - NEAR) * words:
        start += len(text[start:]) - len(text[start:].lstrip())
        piece = stretch(text[start:], words)
        pieces.append((start, piece))
        total -= sum(1 for _ in WORD.finditer(piece))
        start += len(piece)
    chosen = np.unique(np.linspace(0, len(pieces) - 1, min(most, len(pieces))).round().astype(int))
    return [pieces[i] for i in chosen]
