"""Windows over chains of mentions, relabelled and coded as integers, all tokens at once.

A symbol is a kind (a pronoun, a class of names, a sentence start) and an entity. In a window, entities are numbered
0, 1, 2, … by first appearance (Deng et al. 2022, section 5), so that "a man, then she, another" is one n-gram whoever
they are. A code is kind · (n + 1) + 1 + number, or kind · (n + 1) without an entity; a window of m symbols is a number
with m digits of base S = kinds · (n + 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Chains:
    """Symbols of documents, one after the other.

    Attributes
    ----------
    kinds
        int64 (N,); kind 0 is the padding before a document, and does not occur in it.
    entities
        int64 (N,): a number within the document, −1 for symbols without an entity.
    offsets
        int64 (n + 1,): where documents begin.
    """

    kinds: Ints
    entities: Ints
    offsets: Ints


def relabel(entities: Ints) -> Ints:
    """Number the entities of each row by first appearance, (W, m) to (W, m); −1 stays.

    >>> relabel(np.array([[7, -1, 3, 7, 5]]))[0].tolist()
    [0, -1, 1, 0, 2]
    """
    width = entities.shape[1]
    labels = np.full_like(entities, -1)
    seen = np.zeros(len(entities), dtype=np.int64)
    for j in range(width):
        column = entities[:, j]
        label = np.where(column >= 0, seen, -1)
        for t in range(j - 1, -1, -1):
            label = np.where((column >= 0) & (entities[:, t] == column), labels[:, t], label)
        labels[:, j] = label
        seen = np.maximum(seen, label + 1)
    return labels


@dataclass(frozen=True)
class Coder:
    """Codes windows.

    Attributes
    ----------
    kinds
        How many kinds there are, padding included.
    order
        n.
    """

    kinds: int
    order: int

    @property
    def base(self) -> int:
        """S."""
        return self.kinds * (self.order + 1)

    def fits(self) -> bool:
        """Whether a window is a number of 63 bits."""
        return bool(self.base**self.order < 2**63)

    def keys(self, kinds: Ints, entities: Ints) -> Ints:
        """Code windows given as rows (W, m)."""
        codes = kinds * (self.order + 1) + 1 + relabel(entities)
        out = np.zeros(len(codes), dtype=np.int64)
        for column in codes.T:
            out = out * self.base + column
        return out

    def windows(self, chains: Chains) -> list[Ints]:
        """Keys of the windows of 1, …, n symbols that end at each symbol, each (N,); documents begin with padding."""
        n = len(chains.kinds)
        place = np.arange(n) - np.repeat(chains.offsets[:-1], np.diff(chains.offsets))
        back = np.arange(self.order - 1, -1, -1)
        rows = np.arange(n)[:, None] - back
        inside = back <= place[:, None]
        kinds = np.where(inside, chains.kinds[np.maximum(rows, 0)], 0)
        entities = np.where(inside, chains.entities[np.maximum(rows, 0)], -1)
        return [self.keys(kinds[:, self.order - m :], entities[:, self.order - m :]) for m in range(1, self.order + 1)]

    def symbols(self, keys: Ints, m: int) -> tuple[Ints, Ints]:
        """Kinds and entity numbers of windows of m symbols, (W, m) each."""
        digits = np.empty((len(keys), m), dtype=np.int64)
        rest = keys.copy()
        for j in range(m - 1, -1, -1):
            digits[:, j] = rest % self.base
            rest //= self.base
        return digits // (self.order + 1), digits % (self.order + 1) - 1

    def truncate(self, keys: Ints, m: int) -> Ints:
        """Keys of the last m − 1 symbols of windows of m."""
        kinds, entities = self.symbols(keys, m)
        return self.keys(kinds[:, 1:], entities[:, 1:])

    def left(self, keys: Ints, m: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """What truncation does to the last symbol of windows of m symbols.

        Returns
        -------
        Whether the first symbol's entity is not in the rest of the context, and so is new in the shorter one; and
        whether the last symbol is of that entity.
        """
        _, entities = self.symbols(keys, m)
        first, last = entities[:, 0], entities[:, -1]
        gone = (first >= 0) & (entities[:, 1:-1] != first[:, None]).all(axis=1)
        return gone, gone & (last == first)
