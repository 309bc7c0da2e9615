"""Random halves of a corpus that keep dependent documents, those of one group or one prompt, on one side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Ints
from momus.text.counting import counted, joined

RUNS = 20
"""Runs of neighbouring documents that a text is cut into, to be split without losing the order within them."""


@dataclass(frozen=True)
class Units:
    """What a corpus is split by.

    Attributes
    ----------
    codes
        int64 (documents,): number of each document's unit, from 0; units are ordered by their smallest document id.
    groups, prompts, documents
        Numbers of units that are a group, the documents of one repeated prompt, or a single document.

    >>> Units(np.array([0, 0, 1]), 1, 0, 1).words()
    '1 group and 1 single document'
    """

    codes: Ints
    groups: int
    prompts: int
    documents: int

    @property
    def count(self) -> int:
        """Number of units."""
        return self.groups + self.prompts + self.documents

    def words(self) -> str:
        """Name the units, with their numbers; empty if each document is a unit."""
        if not self.groups and not self.prompts:
            return ""
        counts = ((self.groups, "group"), (self.prompts, "prompt"), (self.documents, "single document"))
        return joined([counted(n, noun) for n, noun in counts if n])


def units_of(ids: Sequence[str], groups: Sequence[str | None], prompts: Sequence[str | None]) -> Units:
    """Return the units of n documents: the group where a document has one, else its prompt, else the document.

    Only prompts that several documents without a group answer count, and only if these documents have more than one
    prompt: a prompt that all of them share does not tell them apart.

    >>> units_of(["a", "b", "c"], ["x", None, "x"], [None] * 3).codes.tolist()
    [0, 1, 0]
    """
    answered = Counter(p for p, g in zip(prompts, groups, strict=True) if p is not None and g is None)
    alone = len(answered) == 1 and answered.total() == len(ids)  # one prompt for all documents
    keys: list[tuple[str, str]] = []
    for id, group, prompt in zip(ids, groups, prompts, strict=True):
        if group is not None:
            keys.append(("group", group))
        elif prompt is not None and answered[prompt] > 1 and not alone:
            keys.append(("prompt", prompt))
        else:
            keys.append(("document", id))
    numbers: dict[tuple[str, str], int] = {}
    codes = np.empty(len(ids), dtype=np.int64)
    # the order of the ids does not depend on that of the documents
    for row in np.argsort(np.asarray(ids, dtype=object), kind="stable").tolist():
        codes[row] = numbers.setdefault(keys[row], len(numbers))
    kinds = Counter(kind for kind, _ in numbers)
    return Units(codes, kinds["group"], kinds["prompt"], kinds["document"])


def check_share(share: float) -> None:
    """Raise `UsageError` unless a share lies between 0 and 1."""
    if not 0 < share < 1:
        raise UsageError(f"share must lie between 0 and 1, got {share}")


def split_rows(ids: Sequence[str], units: Units, share: float, seed: int, name: str) -> tuple[Ints, Ints]:
    """Choose the rows of two sides, each ascending; whole units fall on one side.

    The units are put in a random order that depends on the seed and the ids alone; the first side takes units from the
    front until its number of documents is as near to ``share`` of all as it gets.

    Raises
    ------
    UsageError
        All documents belong to one group.

    >>> units = units_of(list("abcd"), ["x", "y", "x", "y"], [None] * 4)
    >>> [side.tolist() for side in split_rows(list("abcd"), units, 0.5, 0, "c")]
    [[0, 2], [1, 3]]
    """
    check_share(share)
    n, count = len(ids), units.count
    together = count < n
    if together and count == 1:
        raise UsageError(
            f"{name!r}: all {n:,} documents belong to one group, so the text cannot be split by groups",
            hint="give another text to fit on, or leave out the group ids",
        )
    order = np.random.default_rng(seed).permutation(count)
    # sizes[k]: documents in the first k units of the random order, shape (units + 1,)
    sizes = np.concatenate([[0], np.cumsum(np.bincount(units.codes, minlength=count)[order])])
    distance = np.abs(sizes - round(share * n))  # (units + 1,)
    # with units of several documents, neither side may end up empty because the first or last unit is large
    cut = 1 + int(np.argmin(distance[1:-1])) if together else int(np.argmin(distance))
    first = np.isin(units.codes, order[:cut])
    return np.flatnonzero(first), np.flatnonzero(~first)


def run_rows(sizes: Ints, share: float, seed: int, runs: int = RUNS) -> tuple[Ints, Ints]:
    """Choose the rows of two sides, each ascending, by whole runs of neighbouring documents of about equal size.

    Documents keep their neighbours, but for those at the ends of runs, which laws of running text need. Unlike that of
    `split_rows`, the choice depends on the order of the documents.

    Parameters
    ----------
    sizes
        int64 (n,): length of each document, in any unit.

    >>> [side.tolist() for side in run_rows(np.ones(8, np.int64), 0.5, 0, runs=4)]
    [[0, 1, 4, 5], [2, 3, 6, 7]]
    """
    check_share(share)
    n = len(sizes)
    runs = min(runs, n)
    # the run of each document by the middle of its text, shape (n,): runs hold about the same amount of text
    middles = np.cumsum(sizes) - sizes / 2
    owners = np.minimum((middles * runs / max(float(sizes.sum()), 1.0)).astype(np.int64), runs - 1)
    if len(np.unique(owners)) < 2:  # hardly any text: runs of equal numbers of documents
        owners = np.arange(n, dtype=np.int64) * runs // max(n, 1)
    filled = np.unique(owners)
    order = np.random.default_rng(seed).permutation(len(filled))
    # neither side is empty if there are two runs
    cut = min(max(round(share * len(filled)), 1), max(len(filled) - 1, 1))
    first = np.isin(owners, filled[order[:cut]])
    return np.flatnonzero(first), np.flatnonzero(~first)
