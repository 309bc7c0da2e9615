"""The n-gram process over relabelled windows, with absolute discounting; every conditional distribution sums to 1.

    P_m(w | h) = max(c(h w) − D_m, 0) / c(h) + D_m N(h) / c(h) · s(w) P_{m−1}(w′ | h′)

h′ is h without its first symbol, relabelled; N(h) is how many different w followed h. Counts are continuation counts
below the highest order (``kneser-ney``: Kneser & Ney 1995) or raw ones (``absolute``, as in the code of Deng et al.
2022); D = n₁ / (n₁ + 2 n₂) of each order. Where the first symbol's entity is not in h′, both that entity and a truly
new one are new in the shorter window: s(w) is the share of such symbols that came back to the entity that left, or its
complement, estimated for each order; 1 elsewhere. Below the first order all kinds are alike.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.estimator import Estimator
from momus.numeric.types import Floats, Ints
from momus_critics.coreference.windows import Chains, Coder


class ChainProcess(Estimator):
    """Parameters
    ----------
    kinds
        Kinds of symbols, padding (0) included.
    bare
        Kinds that never have an entity (sentence starts), after padding: kinds 1 … ``bare``.
    order
        n.
    smoothing
        ``kneser-ney`` or ``absolute``.
    """

    def __init__(self, *, kinds: int, bare: int = 1, order: int = 5, smoothing: str = "kneser-ney") -> None:
        self.kinds = kinds
        self.bare = bare
        self.order = order
        self.smoothing = smoothing
        self.coder = Coder(kinds, order)
        if smoothing not in ("kneser-ney", "absolute"):
            raise UsageError(f"smoothing is {smoothing!r}", hint="choose one of kneser-ney, absolute")
        if order < 1 or not self.coder.fits():
            raise UsageError(f"order is {order}, with {kinds} kinds", hint="give an order from 1 to 6")

    def fit(self, chains: Chains) -> Self:
        """Count windows of all orders."""
        raw = [np.unique(k, return_counts=True) for k in self.coder.windows(chains)]
        tables = [(k, c.astype(np.float64)) for k, c in raw]
        if self.smoothing == "kneser-ney":
            for m in range(self.order - 1, 0, -1):
                longer = tables[m][0]
                short = self.coder.truncate(longer, m + 1)
                keys, counts = np.unique(short, return_counts=True)
                tables[m - 1] = keys, counts.astype(np.float64)
        self.discounts_ = np.array([_discount(c) for _, c in tables])
        self.returns_ = np.array([0.5, *(self._return_share(*raw[m - 1], m) for m in range(2, self.order + 1))])
        for m, (grams, counted) in enumerate(tables, 1):
            contexts, where = np.unique(grams // self.coder.base, return_inverse=True)
            self._keep(m, grams, counted, contexts, np.bincount(where, counted), np.bincount(where).astype(np.float64))
        return self

    def _keep(self, m: int, *arrays: NDArray[np.generic]) -> None:
        for name, array in zip(("keys", "counts", "contexts", "totals", "types"), arrays, strict=True):
            setattr(self, f"{name}{m}_", array)

    def _return_share(self, keys: Ints, counts: NDArray[np.int64], m: int) -> float:
        """How often a symbol that is new in the shorter window is the entity that left it, half a count added each."""
        gone, back, new = self.coder.left(keys, m)
        either = back | (gone & new)
        return float((counts[back].sum() + 0.5) / (counts[either].sum() + 1.0))

    def log_probabilities(self, chains: Chains) -> Floats:
        """log P of each symbol given the ones before it in its document, in nats, float array (N,)."""
        return self.of_windows(self.coder.windows(chains, (self.order,))[0])

    def of_windows(self, keys: Ints) -> Floats:
        """log P of the last symbol of windows of n symbols, (W,)."""
        different, where = np.unique(keys, return_inverse=True)
        return np.asarray(np.log(self._probabilities(different, self.order))[where])

    def _probabilities(self, keys: Ints, m: int) -> Floats:
        if m == 0:
            return np.full(len(keys), 1 / (self.kinds - 1))
        if m == 1:
            lower = np.full(len(keys), 1 / (self.kinds - 1))
        else:
            lower = self._probabilities(self.coder.truncate(keys, m), m - 1)
            gone, back, new = self.coder.left(keys, m)
            share = self.returns_[m - 1]
            lower = lower * np.where(back, share, np.where(gone & new, 1 - share, 1.0))
        table, counts, contexts, totals, types = (
            getattr(self, f"{name}{m}_") for name in ("keys", "counts", "contexts", "totals", "types")
        )
        count = _look_up(table, counts, keys)
        total, kinds = (_look_up(contexts, x, keys // self.coder.base) for x in (totals, types))
        seen = total > 0
        d = self.discounts_[m - 1]
        safe = np.where(seen, total, 1.0)
        return np.asarray(np.where(seen, np.maximum(count - d, 0) / safe + d * kinds / safe * lower, lower))

    def outcomes(self, key: int) -> Ints:
        """Windows of n symbols that share a window's context, one for each symbol that can end it."""
        n = self.order
        kinds, entities = self.coder.symbols(np.array([key]), n)
        known = int(entities[0, :-1].max(initial=-1)) + 1
        after = [(k, -1) for k in range(1, self.bare + 1)]
        after += [(k, e) for k in range(self.bare + 1, self.kinds) for e in range(known + 1)]
        rows = np.repeat(kinds, len(after), axis=0), np.repeat(entities, len(after), axis=0)
        rows[0][:, -1], rows[1][:, -1] = np.array(after).T
        return self.coder.keys(*rows)


def _discount(counts: Floats) -> float:
    """n₁ / (n₁ + 2 n₂); ½ where there are no singletons to go by."""
    one, two = float((counts == 1).sum()), float((counts == 2).sum())
    return one / (one + 2 * two) if one else 0.5


def _look_up(table: Ints, values: Floats, keys: Ints) -> Floats:
    """Values of sorted keys, 0 for unknown ones."""
    if not len(table):
        return np.zeros(len(keys))
    where = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return np.where(table[where] == keys, values[where], 0.0)
