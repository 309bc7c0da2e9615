"""Ragged sequences of token ids and their log-probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from momus.numeric.ragged import Ragged, group_sums, offsets_of, owners_of, places_of, ranges_of
from momus.numeric.types import Floats, Ints


@dataclass(frozen=True)
class Sequences(Ragged):
    """Token ids of n sequences, concatenated, without begin and end symbols.

    Attributes
    ----------
    ids
        int64 array (N,).
    offsets
        int64 array (n + 1,): sequence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.

    >>> some = Sequences.of([[3, 1], [], [2]])
    >>> len(some), some.lengths.tolist(), some[0].tolist()
    (3, [2, 0, 1], [3, 1])
    """

    ids: Ints
    offsets: Ints

    @classmethod
    def of(cls, rows: Iterable[Sequence[int] | Ints]) -> Sequences:
        """Concatenate sequences."""
        arrays = [np.asarray(row, dtype=np.int64) for row in rows]
        ids = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
        return cls(ids, offsets_of([len(array) for array in arrays]))

    def __getitem__(self, i: int) -> Ints:
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    @property
    def owners(self) -> Ints:
        """int64 array (N,): the number of each token's sequence."""
        return owners_of(self.offsets)

    @property
    def places(self) -> Ints:
        """int64 array (N,): the position of each token in its sequence, from 0."""
        return places_of(self.offsets)

    def take(self, rows: Ints) -> Sequences:
        """Select sequences, in the order of ``rows``.

        >>> Sequences.of([[3, 1], [], [2]]).take(np.array([2, 0])).ids.tolist()
        [2, 3, 1]
        """
        lengths = self.lengths[rows]
        offsets = offsets_of(lengths)
        return Sequences(self.ids[ranges_of(self.offsets[:-1][rows], lengths)], offsets)

    def padded(self, fill: int, left: bool = False) -> Ints:
        """Pad to an int64 array (n, longest), at the end or, with ``left``, at the beginning."""
        width = int(self.lengths.max(initial=0))
        out = np.full((len(self), width), fill, dtype=np.int64)
        shift = (width - self.lengths) if left else np.zeros(len(self), dtype=np.int64)
        # all tokens at once: row, column and id, (N,) each
        out[self.owners, self.places + np.repeat(shift, self.lengths)] = self.ids
        return out

    def joined(self, other: Sequences) -> Sequences:
        """Concatenate these sequences and others."""
        # slices of sequences have offsets that do not begin at 0
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:] - other.offsets[0]])
        mine = self.ids[self.offsets[0] : self.offsets[-1]]
        return Sequences(np.concatenate([mine, other.ids]), offsets - self.offsets[0])


@dataclass(frozen=True)
class SequenceScores(Ragged):
    """log p of each token given those before it, and of the end symbol, in nats.

    Attributes
    ----------
    log_probabilities
        float64 array (N + n,); shorter for models that do not score the end.
    offsets
        int64 array (n + 1,).

    >>> scores = SequenceScores(np.log([0.5, 0.5, 0.25]), np.array([0, 2, 3]))
    >>> np.exp(scores.totals).round(2).tolist()
    [0.25, 0.25]
    """

    log_probabilities: Floats
    offsets: Ints

    def __getitem__(self, i: int) -> Floats:
        return self.log_probabilities[self.offsets[i] : self.offsets[i + 1]]

    @property
    def totals(self) -> Floats:
        """float64 array (n,): log p of each sequence."""
        return np.asarray(group_sums(self.log_probabilities, self.offsets), dtype=np.float64)
