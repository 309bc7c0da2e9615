"""Answers as arrays, and the agreement of raters: Krippendorff's α, and that of each rater with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from momus.numeric.types import Floats, Ints
from momus_people.answers import RaterAnswer, choice
from momus_people.estimate import ReaderScores
from momus_people.protocol import Protocol
from momus_people.study import Study

Level = Literal["nominal", "ordinal", "interval"]
RESAMPLES = 1000


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's α.

    Attributes
    ----------
    level
        Level of measurement.
    units, values
        Units with two values or more, and their values.
    low, high
        95 % percentile bootstrap interval over units.
    """

    alpha: float
    low: float
    high: float
    level: Level
    units: int
    values: int


def agreement(unit: Ints, value: Ints, level: Level, seed: int = 0) -> Agreement | None:
    """Krippendorff's α of values (n,) of units (n,); None where no unit has two values, or all values are equal.

    Parameters
    ----------
    unit, value
        Numbers from 0; categories are in order.

    Raises
    ------
    ModuleNotFoundError
        The package ``krippendorff`` is not installed; the command line says how to install it.

    References
    ----------
    Krippendorff, K. (2011). *Computing Krippendorff's Alpha-Reliability*.

    >>> agreement(np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 0, 1, 1, 0, 1, 0, 0]), "nominal").alpha
    0.5333333333333333
    """
    import krippendorff

    counts = np.zeros((int(unit.max(initial=0)) + 1, int(value.max(initial=0)) + 1))
    np.add.at(counts, (unit, value), 1)
    paired = counts.sum(axis=1) >= 2
    counts = counts[paired]
    counts = counts[:, np.unique(np.nonzero(counts)[1])]  # categories that occur
    if counts.shape[1] < 2:
        return None
    n = len(counts)
    draws = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), RESAMPLES)

    def alpha(sample: Floats) -> float:
        return float(krippendorff.alpha(value_counts=sample, level_of_measurement=level))

    with np.errstate(invalid="ignore"):  # α of a draw in which all values are equal is NaN
        drawn = np.array([alpha(np.repeat(counts, times, axis=0)) for times in draws])
    low, high = np.nanquantile(drawn, (0.025, 0.975)) if np.isfinite(drawn).any() else (np.nan, np.nan)
    return Agreement(alpha(counts), float(low), float(high), level, n, int(counts.sum()))


@dataclass(frozen=True)
class WithOthers:
    """Agreement of one rater with the mean of the others: correlation of ranks, and its permutation p.

    Attributes
    ----------
    n
        Values of this rater on units that others judged too.
    p
        Probability of a correlation as high if the rater answered without reading; answers keep their frequencies.
    """

    rho: float
    p: float
    n: int


def with_others(unit: Ints, value: Ints, rater: Ints, one: int, seed: int = 0, times: int = 999) -> WithOthers:
    """Compare the values (n,) of one rater with the mean of the others on the same units."""
    mine = rater == one
    size = int(unit.max(initial=0)) + 1
    total = np.bincount(unit[~mine], value[~mine].astype(np.float64), minlength=size)
    count = np.bincount(unit[~mine], minlength=size)
    shared = mine & (count[unit] > 0)
    x, y = value[shared].astype(np.float64), (total / np.maximum(count, 1))[unit[shared]]
    if len(x) < 3:
        return WithOthers(float("nan"), float("nan"), len(x))
    x, y = (v - v.mean() for v in (stats.rankdata(x), stats.rankdata(y)))
    scale = float(np.sqrt((x @ x) * (y @ y)))
    if not scale:  # always the same answer
        return WithOthers(0.0, 1.0, len(x))
    rng = np.random.default_rng(seed)
    null = rng.permuted(np.broadcast_to(x, (times, len(x))), axis=1) @ y
    beyond = int((null >= x @ y - 1e-9 * scale).sum())
    return WithOthers(float(x @ y) / scale, (beyond + 1) / (times + 1), len(x))


def values_of_units(study: Study, answers: Sequence[RaterAnswer]) -> tuple[Ints, Ints, Ints]:
    """What raters agree about: units (passages; for pairs the pair), categories from 0, and raters, (m,) each."""
    rows = [(a.trial.unit, choice(study, a), a.trial.rater) for a in answers]
    unit, value, rater = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return unit, value, rater


def level_of(protocol: Protocol) -> Level:
    """Level of measurement of the categories."""
    return "nominal" if protocol.kind == "pair" and not protocol.ties else "ordinal"


def scores_of(study: Study, answers: Sequence[RaterAnswer]) -> ReaderScores:
    """Scores of all judged passages, one row per rater."""
    items, passages = study.design.items, study.design.passages
    is_paired = study.protocol.kind == "pair"
    pair_of = {k: a.trial.unit for a in answers for k in items[a.trial.unit]}
    used = sorted(pair_of)
    column = {k: i for i, k in enumerate(used)}
    raters = {r: i for i, r in enumerate(sorted({a.trial.rater for a in answers}))}
    table = np.full((len(raters), len(used)), np.nan)
    best = 2 if is_paired else len(study.protocol.scale) - 1
    for a in answers:
        share = choice(study, a) / best
        for k, value in zip(items[a.trial.unit], (share, 1 - share), strict=False):
            table[raters[a.trial.rater], column[k]] = value
    keys: list[object] = [pair_of[k] if is_paired else passages[k].prompt for k in used]
    if sum(k is not None for k in keys) - len({k for k in keys if k is not None}) < len(used) / 4:
        keys = [None] * len(used)  # too few prompts with several passages: compared over all of them
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    strata = np.array([numbers[k] for k in keys])
    return ReaderScores(np.array(used), strata, [passages[k].corpus for k in used], table, is_paired)
