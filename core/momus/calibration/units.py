"""The units of a split: documents, or whole groups of documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.calibration.plan import By
from momus.errors import UsageError
from momus.numeric.ragged import offsets_of, ranges_of
from momus.numeric.types import Bools, Ints
from momus.text.corpus import Corpus

PROMPT = "prompt"
"""The unit of critics that have one row per prompt."""
_FIELDS = {"group": "group_id", "prompt": "prompt_id"}


@dataclass(frozen=True)
class Units:
    """Groups of the documents of a corpus, each of which a split assigns to one side as a whole.

    Attributes
    ----------
    rows
        int64 (documents,): row numbers of the documents, those of one group one behind another.
    offsets
        int64 (groups + 1,): group i has ``rows[offsets[i]:offsets[i + 1]]``.

    >>> units = Units.of(["b", "a", "b", None], ["x 10", "x 3", "x 9", "x 1"])
    >>> [units.rows[a:b].tolist() for a, b in zip(units.offsets, units.offsets[1:])]
    [[1], [2, 0], [3]]
    """

    rows: Ints
    offsets: Ints

    @classmethod
    def of(cls, names: Sequence[str | None], ids: Sequence[str]) -> Units:
        """Group documents by name; a document without one is a group by itself.

        Groups are sorted by name, documents by id with numbers in their natural order, which is how running text
        continues: a split does not depend on the order of the documents.
        """
        keys = [(0, name) if name is not None else (1, ids[i]) for i, name in enumerate(names)]
        order = sorted(range(len(ids)), key=lambda i: (keys[i], _natural(ids[i])))
        first = [k == 0 or keys[i] != keys[order[k - 1]] for k, i in enumerate(order)]
        return cls(np.array(order, dtype=np.int64), np.append(np.flatnonzero(first), len(order)).astype(np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def usable(self, documents: Bools) -> Bools:
        """Groups with at least one usable document: bool (groups,)."""
        return np.diff(offsets_of(documents[self.rows])[self.offsets]) > 0

    def expand(self, groups: Ints, documents: Bools) -> tuple[Ints, Ints]:
        """Row numbers of the usable documents of some groups, and the place in ``groups`` of each one's group.

        A group that occurs twice is two groups.
        """
        lengths = np.diff(self.offsets)[groups]
        rows = self.rows[ranges_of(self.offsets[groups], lengths)]
        places = np.repeat(np.arange(len(groups)), lengths)
        return rows[documents[rows]], places[documents[rows]]


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts ``ch 9`` before ``ch 10``."""
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def units_of(corpus: Corpus, by: By) -> Units | None:
    """The groups that a split by ``by`` assigns as a whole; None for single documents.

    Raises
    ------
    UsageError
        No document has a group or prompt.
    """
    if by == "document":
        return None
    names = corpus.groups if by == "group" else corpus.prompts
    if all(name is None for name in names):
        raise UsageError(
            f"no document of {corpus.name!r} has a {by}", hint=f"give each record a {_FIELDS[by]}, or leave --by out"
        )
    return Units.of(names, corpus.ids)
