"""Simple yardsticks of a text, and how a number ranks models: rank correlations, partial ones, and their intervals.

What the benchmarks of this folder share; run nothing here.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
WORD = re.compile(r"[A-Za-z']+")
TYPES_OF, BYTES = 5_000, 30_000
"""The type–token ratio looks at so many words, compression at so many bytes."""
YARDSTICKS = ("length", "type–token ratio", "compression", "repetition", "entropy")


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def yardsticks(text: str) -> dict[str, float]:
    """What needs no real text.

    Words by white space; the type–token ratio of the first 5,000 words of letters in lower case; compressed over plain
    size of the first 30,000 bytes (zlib); the share of word trigrams that occurred before; the plug-in entropy of the
    bigrams of the first 5,000 words, in bits.

    >>> found = yardsticks("a b a b a b")
    >>> found["length"], round(found["type–token ratio"], 3), found["repetition"], round(found["entropy"], 3)
    (6.0, 0.333, 0.5, 0.971)
    """
    words = text.split()
    letters = WORD.findall(text.lower())[:TYPES_OF]
    head = text.encode("utf-8", "replace")[:BYTES]
    trigrams = list(zip(words, words[1:], words[2:], strict=False))
    bigrams = np.array(list(Counter(pairwise(words[:TYPES_OF])).values()), dtype=np.float64)
    return {
        "length": float(len(words)),
        "type–token ratio": len(set(letters)) / max(len(letters), 1),
        "compression": len(zlib.compress(head)) / max(len(head), 1),
        "repetition": 1 - len(set(trigrams)) / max(len(trigrams), 1),
        "entropy": float(stats.entropy(bigrams, base=2)) if len(bigrams) else 0.0,
    }


def spearman(x: Floats, y: Floats) -> float:
    """Rank correlation (ties get mean ranks); NaN where either is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 9.0]))
    1.0
    """
    return _pearson(stats.rankdata(x), stats.rankdata(y))


def partial_spearman(x: Floats, y: Floats, controls: Floats) -> float:
    """Correlation of what linear regression on the ranks of the controls leaves of the ranks of x and of y.

    Parameters
    ----------
    x, y
        (n,)
    controls
        (n, k)

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=400)
    >>> x, y = z + rng.normal(size=400), z + rng.normal(size=400)
    >>> spearman(x, y) > 0.4, abs(partial_spearman(x, y, z[:, None])) < 0.1
    (True, True)
    """
    ranks = stats.rankdata(np.column_stack([x, y, controls]), axis=0)
    design = np.column_stack([np.ones(len(x)), ranks[:, 2:]])
    q, _ = np.linalg.qr(design)
    left = ranks[:, :2] - q @ (q.T @ ranks[:, :2])
    return _pearson(left[:, 0], left[:, 1])


def partial_p(r: float, n: int, controls: int) -> float:
    """Two-sided p of a partial rank correlation: t with n − 2 − k degrees of freedom (Fisher 1924; approximate).

    >>> round(partial_p(0.5, 20, 2), 4)
    0.0346
    """
    freedom = n - 2 - controls
    if not np.isfinite(r) or freedom < 1:
        return float("nan")
    return float(2 * stats.t.sf(abs(r) * np.sqrt(freedom / max(1 - r * r, 1e-12)), freedom))


def over_models(
    statistic: Callable[..., float], *arrays: Floats, resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval (95 %) of a statistic of rows, one row a model."""
    rng = np.random.default_rng(seed)
    n = len(arrays[0])
    found = []
    for _ in range(resamples):
        rows = rng.integers(n, size=n)
        found.append(statistic(*(a[rows] for a in arrays)))
    return _quantiles(found)


def over_stories(
    x: Floats, y: Floats, models: Sequence[str], resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """Interval of Spearman's ρ of model means: models are drawn, and stories within each drawn model."""
    rng = np.random.default_rng(seed)
    names, owner = np.unique(np.asarray(models), return_inverse=True)
    groups = [np.flatnonzero(owner == k) for k in range(len(names))]
    found = []
    for _ in range(resamples):
        drawn = [groups[k] for k in rng.integers(len(groups), size=len(groups))]
        rows = [g[rng.integers(len(g), size=len(g))] for g in drawn]
        means = np.array([(x[r].mean(), y[r].mean()) for r in rows])
        found.append(spearman(means[:, 0], means[:, 1]))
    return _quantiles(found)


def wilson(hits: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """Interval (95 %) of a share (Wilson 1927).

    >>> tuple(round(x, 4) for x in wilson(7, 10))
    (0.3968, 0.8922)
    """
    share, scale = hits / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return float(middle - half), float(middle + half)


def _pearson(x: Floats, y: Floats) -> float:
    dx, dy = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((dx @ dx) * (dy @ dy)))
    return float(dx @ dy) / scale if scale > 1e-9 else float("nan")


def _quantiles(found: Sequence[float]) -> tuple[float, float]:
    low, high = np.nanquantile(np.asarray(found, dtype=np.float64), (0.025, 0.975))
    return float(low), float(high)
