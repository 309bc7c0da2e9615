"""Curves of running text, and the lines on log–log axes whose slopes are the scaling laws.

After Takahashi & Tanaka-Ishii (2019) and LeBrun et al. (2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import number_keys
from momus.numeric.types import Floats, Ints
from momus.processes import usable_threads
from momus.text.running import RunningText


@dataclass(frozen=True)
class Line:
    """A line log10 y = intercept + slope · log10 x, fitted by least squares.

    Attributes
    ----------
    error
        ε = sqrt(mean((log10 y − log10 ŷ)²)) (Takahashi & Tanaka-Ishii 2019).
    """

    slope: float
    intercept: float
    error: float

    def __call__(self, x: Floats) -> Floats:
        """Compute ŷ at x."""
        return np.asarray(10 ** (self.intercept + self.slope * np.log10(x)))


def fit_line(x: NDArray[np.generic], y: NDArray[np.generic]) -> Line:
    """Fit a line to positive points.

    Raises
    ------
    ValueError
        There are fewer than three points, or all x are equal.

    >>> line = fit_line(np.array([1.0, 10.0, 100.0]), np.array([2.0, 20.0, 200.0]))
    >>> round(line.slope, 6), round(line.error, 6)
    (1.0, 0.0)
    """
    u, v = np.log10(np.asarray(x, dtype=np.float64)), np.log10(np.asarray(y, dtype=np.float64))
    if len(u) < 3 or np.ptp(u) == 0:
        raise ValueError("a line needs at least three points, not all with the same x")
    # centred sums lose fewer digits than Σx² − (Σx)²/n
    du = u - u.mean()
    slope = float(du @ (v - v.mean()) / (du @ du))
    intercept = float(v.mean() - slope * u.mean())
    residual = v - intercept - slope * u
    return Line(slope, intercept, float(np.sqrt(np.mean(residual**2))))


def geometric_grid(ratio: float, last: int, first: tuple[int, ...] = tuple(range(1, 10))) -> Ints:
    """The numbers ``first``, then n ← int(ratio · n), up to ``last``.

    >>> geometric_grid(1.2, 15).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]
    """
    grid = [n for n in first if n <= last]
    n = int(ratio * (first[-1]))
    while n <= last:
        grid.append(n)
        n = max(n + 1, int(ratio * n))
    return np.array(grid, dtype=np.int64)


Curve = tuple[Floats, Floats]
LENGTHS = 40
"""Numbers of n-grams at which hapaxes are counted."""
TABLE = 1 << 20
"""Largest number of entries of a table of counts in memory."""
PAIRS = 40
"""Longest windows whose squared counts are computed by comparing pairs of characters."""


def zipf(stream: RunningText) -> Curve:
    """Relative frequency against rank.

    >>> zipf(RunningText(np.array([0, 0, 1], np.int32), ["a", "b"]))[0]
    array([1., 2.])
    """
    counts = np.sort(stream.counts[stream.counts > 0])[::-1]
    return np.arange(1.0, len(counts) + 1), counts / max(len(stream), 1)


def heaps(stream: RunningText, share: float = 0.7) -> Curve:
    """Number of types v(n) among the first n tokens, on the grid 1 … 9, then n ← int(1.2 n), while n ≤ share · N."""
    return growth(stream.first_positions, len(stream), share)


def growth(first: Ints, tokens: int, share: float) -> Curve:
    """`heaps` of a text of so many tokens, from the position at which each word first occurs, (V,)."""
    grid = geometric_grid(1.2, int(share * tokens))
    return grid.astype(np.float64), _below(first, grid).astype(np.float64)


def _below(positions: Ints, grid: Ints) -> Ints:
    """The number of positions before each point of the grid."""
    return np.cumsum(np.bincount(np.searchsorted(grid, positions, side="right"), minlength=len(grid) + 1))[: len(grid)]


def taylor(stream: RunningText, segment: int = 5620) -> Curve:
    """Mean and standard deviation of each type's count over whole segments; types with σ > 0 only."""
    segments, v = len(stream) // segment, len(stream.vocabulary)
    total, squares = np.zeros(v, np.int64), np.zeros(v, np.int64)
    step = max(1, TABLE // max(v, 1))
    # `step` segments at a time: shifting the ids of the i-th by i · v, one bincount counts all of them, shape (n, v)
    for start in range(0, segments, step):
        n = min(step, segments - start)
        ids = stream.ids[start * segment : (start + n) * segment].astype(np.int64)
        ids += np.repeat(np.arange(n) * v, segment)
        counts = np.bincount(ids, minlength=n * v).reshape(n, v)
        total += counts.sum(axis=0)
        squares += np.einsum("nv,nv->v", counts, counts)
    mean = total / max(segments, 1)
    deviation = np.sqrt(np.maximum(squares / max(segments, 1) - mean**2, 0.0))  # population standard deviation, (v,)
    varies = segments * squares > total**2  # in integers, exact
    return mean[varies], deviation[varies]


def window_lengths(n: int, longest: int = 100_000) -> Ints:
    """l = int(10 · 1.8^k) below ``longest``, as long as two windows fit into n characters."""
    lengths = [int(10 * 1.8**k) for k in range(40)]
    return np.array([w for w in lengths if w < longest and 2 * w <= n], dtype=np.int64)


def ebeling(stream: RunningText) -> Curve:
    """m(l) = Σ_c Var(count of character c in windows of length l); windows do not overlap, the remainder is dropped."""
    text, alphabet = stream.characters()
    lengths = window_lengths(len(text))

    def variance(length: int) -> float:
        # over characters, the population variance of their counts: mean of Σ n² minus Σ of squared means
        windows, counts, squares = window_sums(text, alphabet, length)
        return float(squares / windows - ((counts / windows) ** 2).sum())

    with ThreadPoolExecutor(min(2, usable_threads())) as pool:
        return lengths.astype(np.float64), np.array(list(pool.map(variance, lengths.tolist())))


def window_sums(text: NDArray[np.unsignedinteger], alphabet: int, length: int) -> tuple[int, Ints, int]:
    """Number of whole windows, counts of characters in them (alphabet,), and Σ n² over windows and characters."""
    windows = len(text) // length
    used = text[: windows * length]
    counts = np.bincount(used, minlength=alphabet)
    if length <= PAIRS:
        # Σ n² counts ordered pairs of equal characters: each character with itself, and each unequal pair twice
        rows = used.reshape(-1, length)
        pairs = sum(int(np.count_nonzero(rows[:, lag:] == rows[:, :-lag])) for lag in range(1, length))
        return windows, counts, windows * length + 2 * pairs
    return windows, counts, _sum_of_squares(used, alphabet, length)


def _sum_of_squares(text: NDArray[np.unsignedinteger], alphabet: int, length: int) -> int:
    """Σ n² over windows and characters, from tables of counts of some windows at a time."""
    windows = len(text) // length
    step = max(1, min(TABLE // alphabet, TABLE // length))
    total = 0
    for start in range(0, windows, step):
        n = min(step, windows - start)
        # shifting the codes of the i-th window by i · alphabet gives each (window, character) its own code, (n, length)
        codes = text[start * length : (start + n) * length].reshape(n, length) + (
            np.arange(n, dtype=np.int64)[:, None] * alphabet
        )
        counts = np.bincount(codes.ravel(), minlength=n * alphabet)
        total += int(counts @ counts)  # whole numbers: exact
    return total


def rare_positions(stream: RunningText, share: int = 16) -> Ints:
    """Positions of the rare words: types by ascending frequency while their counts add up to at most int(N/share).

    Ties are broken by first appearance.
    """
    counts, budget = stream.counts, len(stream) // share
    # spent[c]: tokens of all types that occur at most c times; types that occur fewer than `edge` times are all rare,
    # and of those that occur exactly `edge` times, as many as the budget has left
    spent = np.cumsum(np.bincount(counts) * np.arange(counts.max(initial=0) + 1))
    edge = int(np.searchsorted(spent, budget, side="right"))
    rare = (counts > 0) & (counts < edge)
    tied = np.flatnonzero(counts == edge) if edge else np.zeros(0, np.int64)
    left = (budget - int(spent[edge - 1])) // edge if 0 < edge < len(spent) else 0
    if left:
        chosen = np.zeros(len(counts), dtype=bool)
        chosen[tied] = True
        tied = tied[np.argsort(RunningText(stream.ids[chosen[stream.ids]], stream.vocabulary).first_positions[tied])]
    rare[tied[:left]] = True
    return np.flatnonzero(rare[stream.ids])


def long_range(stream: RunningText, share: int = 16) -> Curve:
    """Autocorrelation c(s) of the distances between successive rare words; s = 1 … 10, then int(1.2 s), ≤ n/100."""
    distances = np.diff(rare_positions(stream, share)).astype(np.float64)
    lags = geometric_grid(1.2, len(distances) // 100, tuple(range(1, 11)))
    return lags.astype(np.float64), _correlations(distances, lags)


def _correlations(x: Floats, lags: Ints) -> Floats:
    """Pearson's r of x[:−s] and x[s:] for each lag s; 0 if one of them is constant."""
    if not len(lags):
        return np.zeros(0)
    x = x - x.mean()  # reduces cancellation in the sums
    # running totals give Σ x and Σ x² of x[:-s] (before) and x[s:] (behind) for all lags at once, shape (lags,)
    sums, squares = (np.concatenate([[0.0], np.cumsum(v)]) for v in (x, x * x))
    n = len(x) - lags
    before, behind = sums[n], sums[-1] - sums[lags]
    products = np.array([x[:-s] @ x[s:] for s in lags.tolist()]) - before * behind / n
    scale = np.sqrt(np.maximum((squares[n] - before**2 / n) * (squares[-1] - squares[lags] - behind**2 / n), 0.0))
    constant = scale <= 1e-9 * squares[-1]
    return np.where(constant, 0.0, products / np.where(constant, 1.0, scale))


def productivity(stream: RunningText, orders: Sequence[int] = (1,)) -> list[Curve]:
    """Potential productivity N1/N of n-grams against N, for each order: the share of hapaxes among N n-grams."""
    ids, v = stream.ids.astype(np.int64), len(stream.vocabulary)
    grams, shares = ids, {}
    for order in range(1, max(orders) + 1):
        # an n-gram is keyed by the number of its first n − 1 words and its last word, shape (tokens − n + 1,)
        keys = grams if order == 1 else grams[: len(ids) - order + 1] * v + ids[order - 1 :]
        grams, first, second = number_keys(keys)
        if order in orders:
            shares[order] = hapaxes(first, second, len(keys))
    return [shares[order] for order in orders]


def hapaxes(first: Ints, second: Ints, n: int) -> Curve:
    """`productivity` of n n-grams, from the positions at which types occur first and again."""
    grid = np.unique(np.geomspace(min(100, max(n, 1)), max(n, 1), LENGTHS).astype(np.int64))
    # types that have occurred once so far, less those that have occurred twice
    return grid.astype(np.float64), (_below(first, grid) - _below(second, grid)) / grid
