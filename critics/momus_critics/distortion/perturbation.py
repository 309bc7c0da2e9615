"""Sequences outside the language: perturbations and random strings (LeBrun et al. 2022, table 3 and appendix)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from momus.errors import UsageError
from momus.numeric.draws import uniforms
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.sequences import Sequences

SWAP, DELETE, INSERT, SUBSTITUTE = range(4)


def perturbed(sequences: Sequences, symbols: int, times: int, seed: int) -> Iterator[Sequences]:
    """Perturb all sequences ``times`` times; yield them after each perturbation.

    A perturbation swaps two tokens, deletes, inserts or substitutes one, with equal probability; positions and tokens
    are drawn uniformly. A sequence too short for the drawn operation gets an insertion instead. The draws of a sequence
    depend on ``seed`` and its number alone.

    Parameters
    ----------
    symbols
        Tokens are drawn from 0 … ``symbols`` − 1.
    times
        Number of perturbations per sequence.

    Raises
    ------
    UsageError
        ``symbols`` is less than 1.

    >>> few = Sequences.of([[0, 1, 2]])
    >>> [s.ids.tolist() for s in perturbed(few, 5, 3, seed=1)]
    [[0, 2], [2, 0], [3, 0]]
    """
    if symbols < 1:
        raise UsageError(
            f"perturbed: symbols is {symbols}",
            hint="give the size of the vocabulary, not counting begin and end symbols",
        )
    # (n, longest + times), padded with −1, with room for an insertion each time
    table = sequences.padded(-1)
    table = np.concatenate([table, np.full((len(table), times), -1, dtype=np.int64)], axis=1)
    lengths = sequences.lengths.copy()
    rows = np.arange(len(sequences))
    for step in range(times):
        kind, first, second, token = (uniforms(rows, seed, step, k) for k in range(4))
        table, lengths = _once(table, lengths, np.stack([kind, first, second]), (token * symbols).astype(np.int64))
        inside = np.arange(table.shape[1]) < lengths[:, None]
        yield Sequences(table[inside], offsets_of(lengths))


def _once(table: Ints, lengths: Ints, u: Floats, token: Ints) -> tuple[Ints, Ints]:
    """Perturb each row of a padded table once, given uniform numbers (3, n) for kind and positions, and tokens (n,)."""
    n, width = table.shape
    kind = (u[0] * 4).astype(np.int64)
    kind[(lengths == 0) | ((lengths == 1) & (kind == SWAP))] = INSERT
    at = (u[1] * np.where(kind == INSERT, lengths + 1, lengths)).astype(np.int64)
    other = (u[2] * np.maximum(lengths - 1, 1)).astype(np.int64)
    other += other >= at
    # the column that each position of the new table is copied from, (n, width): an insertion shifts what follows by one
    # to the right, a deletion to the left
    source = np.broadcast_to(np.arange(width), (n, width)).copy()
    source -= (kind == INSERT)[:, None] & (source > at[:, None])
    source += (kind == DELETE)[:, None] & (source >= at[:, None])
    new = np.take_along_axis(table, source.clip(0, width - 1), axis=1)
    swap = np.flatnonzero(kind == SWAP)
    new[swap, at[swap]], new[swap, other[swap]] = table[swap, other[swap]], table[swap, at[swap]]
    put = np.flatnonzero((kind == INSERT) | (kind == SUBSTITUTE))
    new[put, at[put]] = token[put]
    return new, lengths + (kind == INSERT) - (kind == DELETE)


def random_strings(n: int, symbols: int, seed: int, mean: float = 10.0) -> Sequences:
    """Draw strings of uniform tokens with Poisson lengths of this mean.

    >>> random_strings(3, 4, seed=0).lengths.tolist()
    [11, 2, 11]
    """
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(mean, n)
    offsets = offsets_of(lengths)
    return Sequences(rng.integers(0, symbols, int(offsets[-1])), offsets)
