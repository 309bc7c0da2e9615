"""The human band: how far real texts of some groups lie from real texts of others.

A difference of two corpora has no scale of its own. Random halves of one corpus are no unit either: their difference
shrinks with the number of documents. The band is the 95 % quantile of the same effect between disjoint sets of groups
(authors, books, sites) of the real text. Without groups, it is a default that was chosen before any comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import sparse

from momus.critic import Counted, Statistic
from momus.critic.statistic import jensen_shannon, kolmogorov_smirnov, supremum, total_variation
from momus.inference import Design
from momus.inference.pooling import Rows, Tables, pooled
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import Samples, sums_by
from momus.inference.witness import cross_fitted, witness_of
from momus.numeric.types import Floats, Ints

SPLITS = 200
QUANTILE = 0.95
LEAST_GROUPS = 8
"""Smallest number of groups of real text that a band is estimated from."""
DENSE = 1 << 20
"""Largest number of sums by group that are kept dense, 8 MB."""
_BAND = 6
"""Number that keeps the random stream of the splits apart."""
SMALL = 0.2
"""Hedges' g that is called small (Cohen 1988, section 2.2.3); the other defaults are what it amounts to."""
DEFAULTS = {"hedges_g": SMALL, "log_ratio": float(np.log(1.1))}
DISTANCES = {total_variation: 0.08, kolmogorov_smirnov: 0.08, supremum: 0.01, jensen_shannon: 0.005}
"""Two normal distributions with g = 0.2 have a total variation and a KS distance of 2Φ(0.1) − 1 = 0.08, and a
Jensen–Shannon divergence of 0.005 nats. The largest difference of one word's share: 1 in 100 words."""


@dataclass(frozen=True)
class Band:
    """A human band, in units of the effect.

    Attributes
    ----------
    value
        Largest effect that passes as human variation.
    source
        ``groups`` of real text, or ``default``.
    groups, splits
        Groups of real text that it was estimated from, and random splits of them; 0 for a default.
    """

    value: float
    source: Literal["groups", "default"] = "default"
    groups: int = 0
    splits: int = 0


def default_band(statistic: Statistic) -> Band | None:
    """The default band of a statistic: what it declares, or what fits its kind of effect; None if nothing does.

    >>> default_band(Statistic("tvd", "x", "distance", total_variation))
    Band(value=0.08, source='default', groups=0, splits=0)
    """
    value = statistic.band
    if value is None:
        kinds = DISTANCES.get(statistic.function) if statistic.kind == "distance" else DEFAULTS.get(statistic.effect)
        value = kinds
    return None if value is None else Band(value)


@dataclass
class HumanBands:
    """Bands of the statistics of one critic, estimated at most once per statistic and pair of sizes.

    Parameters
    ----------
    groups
        The group of each scored real document, or None; empty if there are none.
    seed
        Seeds the splits.
    """

    groups: Sequence[str | None]
    seed: int = 0
    _known: dict[tuple[str, int], Band] = field(default_factory=dict)

    def of(self, statistic: Statistic, rows: Rows | Counted, generated_groups: Sequence[str | None]) -> Band | None:
        """The band of a statistic, whose rows of scored real documents are given."""
        numbers = _numbers(self.groups)
        if numbers is None:
            return default_band(statistic)
        half = (int(numbers.max()) + 1) // 2
        others = len({g for g in generated_groups if g is not None})
        size = min(half, others) if others >= 2 else half
        key = statistic.name, size
        if key not in self._known:
            effects = np.abs(_effects(statistic, rows, numbers, (half, size), self.seed))
            finite = effects[np.isfinite(effects)]
            value = float(np.quantile(finite, QUANTILE)) if len(finite) else 0.0
            estimated = Band(value, "groups", int(numbers.max()) + 1, len(finite))
            usable = len(finite) >= SPLITS / 2 and estimated.value > 0
            self._known[key] = estimated if usable else (default_band(statistic) or estimated)
        return self._known[key]


def _numbers(groups: Sequence[str | None]) -> Ints | None:
    """A number for the group of each document; None unless all have one and there are enough."""
    if not groups or any(g is None for g in groups):
        return None
    names, numbers = np.unique(np.asarray(groups, dtype=object), return_inverse=True)
    return numbers if len(names) >= LEAST_GROUPS else None


def _effects(s: Statistic, table: Rows | Counted, numbers: Ints, sizes: tuple[int, int], seed: int) -> Floats:
    """The effect between disjoint random sets of groups, (splits,)."""
    k = int(numbers.max()) + 1
    if isinstance(table, Counted) and table.on_disk and (s.kind != "distance" or witness_of(s) is not None):
        rows: Rows = table.summed(numbers, k, np.ones(len(numbers))).matrix
        by_group = rows
    else:
        rows = table.matrix if isinstance(table, Counted) else table
        by_group = sums_by(numbers, k, rows, np.ones(len(numbers)))  # (groups, V)
    if sparse.issparse(by_group) and k * by_group.shape[1] <= DENSE:
        by_group = by_group.toarray()  # few groups: rows are selected faster
    rng = np.random.default_rng([seed, _BAND])
    orders = [rng.permutation(k) for _ in range(SPLITS)]
    sets = [(o[: sizes[0]], o[sizes[0] : sum(sizes)]) for o in orders]
    witness = witness_of(s) if s.kind == "distance" else None
    if witness is not None:
        design = Design.documents(*sizes)
        samples = (Samples(Tables.of(by_group[a], by_group[b]), design) for a, b in sets)
        return np.array([cross_fitted(x, witness, seed) for x in samples])
    # weights of the groups in each split, (groups, splits) for both sides
    sides = [np.zeros((k, SPLITS), dtype=np.float32) for _ in range(2)]
    for column, pair in enumerate(sets):
        for side, chosen in zip(sides, pair, strict=True):
            side[chosen, column] = 1
    with np.errstate(divide="ignore", invalid="ignore"):
        real, generated = both_values(s, Prepared(*(pooled(by_group, side) for side in sides)))
    if s.kind == "distance":  # without a witness, the excess over the distance of random halves of the documents
        return np.asarray(generated - _chance(s, rows, seed))
    if s.effect == "log_ratio":
        return np.asarray(np.log(generated) - np.log(real))
    if s.effect == "hedges_g" and not sparse.issparse(rows):
        x, size = np.asarray(rows, dtype=np.float64)[:, :2].T
        # deviations from the ratio of all real text, see `hedges_factor`
        residuals = (x - x.sum() / size.sum() * size) / size.mean()
        return np.asarray((generated - real) / _deviation(residuals, numbers, sides))
    return np.asarray(generated - real)


def _deviation(x: Floats, numbers: Ints, sides: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]) -> Floats:
    """Pooled standard deviation of documents in each split, (splits,); NaN where it is 0 but for rounding."""
    centred = x - x.mean()
    sums = sums_by(
        numbers, int(numbers.max()) + 1, np.column_stack([np.ones(len(x)), centred, centred**2]), np.ones(len(x))
    )
    squares, freedom = np.zeros(SPLITS), np.full(SPLITS, -2.0)
    for side in sides:
        n, total, square = pooled(sums, side).T
        squares += square - total**2 / n
        freedom += n
    deviation = np.sqrt(np.maximum(squares, 0.0) / np.maximum(freedom, 1))
    return np.asarray(np.where(deviation > 1e-12 * np.abs(x).max(initial=0.0), deviation, np.nan))


def _chance(s: Statistic, rows: Rows, seed: int) -> float:
    """Mean distance of random halves of the documents."""
    n = rows.shape[0]
    rng = np.random.default_rng([seed, _BAND, 1])
    labels = rng.permuted(np.tile((np.arange(n) < n // 2).astype(np.float32), (32, 1)), axis=1).T
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = both_values(s, Prepared(pooled(rows, labels), pooled(rows, 1 - labels)))[1]
    return float(np.nanmean(distances))
