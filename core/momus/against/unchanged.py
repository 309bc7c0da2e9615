"""Answers that a new version left as they were: equal ones for the same prompt, and where the others part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from momus.text.corpus import Corpus

LEAST = 0.02
"""Share of equal answers from which they are told."""
READ = 2000
"""Changed answers whose words are compared."""
KEPT = 8


@dataclass(frozen=True)
class Unchanged:
    """How many answers of a text are those of the reference.

    Attributes
    ----------
    pairs, equal
        Prompts that both texts answer once, and those with the same answer word for word.
    word
        Median number of the word at which changed answers part from those of the reference, from 1; None without any.
    ids
        Some answers that changed.
    """

    generated: str
    pairs: int
    equal: int
    word: float | None = None
    ids: tuple[str, ...] = ()


def unchanged_answers(old: Corpus, new: Corpus) -> Unchanged | None:
    """Compare the answers of two texts prompt by prompt; None unless a few prompts have equal answers.

    >>> from momus import Corpus
    >>> texts = ["It rained all day.", "She left.", "He stayed here."]
    >>> old, new = (Corpus.from_texts(t, prompts=["a", "b", "c"]) for t in (texts, [*texts[:2], "He went away."]))
    >>> u = unchanged_answers(old, new)
    >>> u.pairs, u.equal, u.word
    (3, 2, 2.0)
    """
    sides = [_single(corpus) for corpus in (old, new)]
    common = [prompt for prompt in sides[0] if prompt in sides[1]]
    equal = sum(old.hashes[sides[0][p]] == new.hashes[sides[1][p]] for p in common)
    if not common or equal < max(2, LEAST * len(common)):
        return None
    changed = [p for p in common if old.hashes[sides[0][p]] != new.hashes[sides[1][p]]]
    words = [_parts_at(old[sides[0][p]].text, new[sides[1][p]].text) for p in changed[:READ]]
    ids = tuple(new.ids[sides[1][p]] for p in changed[:KEPT])
    return Unchanged(new.name, len(common), int(equal), float(median(words)) if words else None, ids)


def _single(corpus: Corpus) -> dict[str, int]:
    """The row of the one answer to each prompt; prompts with several answers are left out."""
    counts = Counter(corpus.prompts)
    return {p: i for i, p in enumerate(corpus.prompts) if p is not None and counts[p] == 1}


def _parts_at(old: str, new: str) -> int:
    """The number of the first word that differs, from 1."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(old.split(), new.split(), strict=False))
    return sum(1 for _ in same) + 1
