"""Agreement of each rater with the others, and answers that were copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

SHARED, COINCIDENCE = 20, 1e-9
"""Fewest shared items of two raters who may have copied, and largest probability of their agreement by chance."""


def with_others(
    unit: ArrayLike, value: ArrayLike, rater: ArrayLike, one: int, seed: int = 0, times: int = 999
) -> tuple[float, float]:
    """Rank correlation of the values (n,) of one rater with the mean of the others on the same units, and its p.

    p is the probability of a correlation as high if the rater answered without reading; answers keep their frequencies.
    """
    unit, value, rater = (np.asarray(column, dtype=np.int64) for column in (unit, value, rater))
    mine = rater == one
    size = int(unit.max(initial=0)) + 1
    total = np.bincount(unit[~mine], value[~mine].astype(np.float64), minlength=size)
    count = np.bincount(unit[~mine], minlength=size)
    shared = mine & (count[unit] > 0)
    x, y = value[shared].astype(np.float64), (total / np.maximum(count, 1))[unit[shared]]
    if len(x) < 3:
        return float("nan"), float("nan")
    x, y = (v - v.mean() for v in (stats.rankdata(x), stats.rankdata(y)))
    scale = float(np.sqrt((x @ x) * (y @ y)))
    if not scale:  # always the same answer
        return 0.0, 1.0
    rng = np.random.default_rng(seed)
    null = rng.permuted(np.broadcast_to(x, (times, len(x))), axis=1) @ y
    beyond = int((null >= x @ y - 1e-9 * scale).sum())
    return float(x @ y) / scale, (beyond + 1) / (times + 1)


def same_answers(chosen: Mapping[int, Mapping[int, Hashable]]) -> set[int]:
    """Raters who gave the same answer as some other rater to every item that both judged.

    Two who answer independently, as often in each category as they do, would agree on n items with probability
    (Σ_k p_k²)ⁿ, which must be below 10⁻⁹: unanimous answers are no copies.

    Parameters
    ----------
    chosen
        By rater, the answer to each item.

    >>> scores = {unit: unit % 5 for unit in range(30)}
    >>> sorted(same_answers({0: scores, 1: dict(scores), 2: {**scores, 7: 0}}))
    [0, 1]
    """
    copies: set[int] = set()
    for one, other in combinations(chosen, 2):
        shared = chosen[one].keys() & chosen[other].keys()
        if len(shared) < SHARED or any(chosen[one][u] != chosen[other][u] for u in shared):
            continue
        counts = Counter(chosen[one][u] for u in shared).values()
        if (sum(c * c for c in counts) / len(shared) ** 2) ** len(shared) < COINCIDENCE:
            copies |= {one, other}
    return copies
