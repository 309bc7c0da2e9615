"""Windows over chains of mentions, relabelled and coded as integers, all tokens at once.

A symbol is a kind (a pronoun, a class of names, a sentence start) and an entity. In a window, entities are numbered
0, 1, 2, … by first appearance (Deng et al. 2022, section 5), so that "a man, then she, another" is one n-gram whoever
they are. A code is kind · (n + 1) + 1 + number, or kind · (n + 1) without an entity; a window of m symbols is a number
with m digits of base S = kinds · (n + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import places_of
from momus.numeric.types import Ints

Flags = NDArray[np.bool_]


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


def relabel(entities: NDArray[np.signedinteger]) -> NDArray[np.signedinteger]:
    """Number the entities of each row by first appearance, (W, m) to (W, m); −1 stays.

    >>> relabel(np.array([[7, -1, 3, 7, 5]]))[0].tolist()
    [0, -1, 1, 0, 2]
    """
    width = entities.shape[1]
    entities = np.asfortranarray(entities)  # columns are read one by one
    labels = np.empty_like(entities)
    seen = np.zeros(len(entities), dtype=entities.dtype)
    for j in range(width):
        column = entities[:, j]
        label = seen.copy()
        for t in range(j - 1, -1, -1):
            np.copyto(label, labels[:, t], where=entities[:, t] == column)
        label[column < 0] = -1
        labels[:, j] = label
        np.maximum(seen, label + 1, out=seen)
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

    def keys(self, kinds: Ints, entities: NDArray[np.signedinteger]) -> Ints:
        """Code windows given as rows (W, m)."""
        labels = relabel(entities)
        out = np.zeros(len(labels), dtype=np.int64)
        for j in range(labels.shape[1]):
            out *= self.base
            out += kinds[:, j] * (self.order + 1) + 1 + labels[:, j]
        return out

    def windows(self, chains: Chains, widths: Sequence[int] = ()) -> list[Ints]:
        """Keys of the windows that end at each symbol, (N,) for each width; documents begin with padding.

        Without ``widths``, those of 1, …, n symbols.
        """
        n = len(chains.kinds)
        place = places_of(chains.offsets)
        back = np.arange(self.order - 1, -1, -1)
        kinds = np.zeros((n, self.order), dtype=np.int64, order="F")
        entities = np.full((n, self.order), -1, dtype=np.int32, order="F")
        for j, b in enumerate(back.tolist()):
            inside = place[b:] >= b
            kinds[b:, j] = np.where(inside, chains.kinds[: max(n - b, 0)], 0)
            entities[b:, j] = np.where(inside, chains.entities[: max(n - b, 0)], -1)
        wanted = widths or range(1, self.order + 1)
        return [self.keys(kinds[:, self.order - m :], entities[:, self.order - m :]) for m in wanted]

    def symbols(self, keys: Ints, m: int) -> tuple[Ints, Ints]:
        """Kinds and entity numbers of windows of m symbols, (W, m) each."""
        kinds, entities = (np.empty((len(keys), m), dtype=np.int64, order="F") for _ in range(2))
        rest = keys
        for j in range(m - 1, -1, -1):
            rest, digit = np.divmod(rest, self.base)
            kinds[:, j], entities[:, j] = np.divmod(digit, self.order + 1)
        entities -= 1
        return kinds, entities

    def truncate(self, keys: Ints, m: int) -> Ints:
        """Keys of the last m − 1 symbols of windows of m."""
        kinds, entities = self.symbols(keys, m)
        return self.keys(kinds[:, 1:], entities[:, 1:])

    def left(self, keys: Ints, m: int) -> tuple[Flags, Flags, Flags]:
        """What truncation does to the last symbol of windows of m symbols.

        Returns
        -------
        Whether the first symbol's entity is not in the rest of the context, and so is new in the shorter one; whether
        the last symbol is of that entity; and whether the last symbol's entity is new in the whole window.
        """
        _, entities = self.symbols(keys, m)
        first, last = entities[:, 0], entities[:, -1]
        gone, new = first >= 0, (last >= 0) & (last != first)
        for column in entities[:, 1:-1].T:
            gone &= column != first
            new &= column != last
        return gone, gone & (last == first), new
