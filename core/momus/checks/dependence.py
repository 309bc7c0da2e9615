"""Signs that documents are not independent: groups that their ids betray, and neighbours that resemble each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import ndtr

from momus.numeric.types import Floats, Ints

LEVEL = 0.01
LEAST = 0.02
"""A correlation is worth a warning from this size, and if p is below `LEVEL`: in groups of 50 it doubles a variance."""
SEGMENT = r"[/:#_\-. ]+[^/:#_\-. ]*$"
MOST_SEGMENTS = 4


@dataclass(frozen=True)
class Components:
    """Variance between and within groups of the rows of a matrix, summed over its columns.

    Attributes
    ----------
    ratio
        Mean square between groups over that within (infinite if nothing varies within).
    size0
        n₀ = (N − Σ nᵢ² / N) / (k − 1), the size of a group in the expected mean squares.
    size
        Σ nᵢ² / N, the mean size of the group of a document.
    groups, documents
        Numbers of both.
    """

    ratio: float
    size0: float
    size: float
    groups: int
    documents: int

    @property
    def icc(self) -> float:
        """Intraclass correlation: the share of the variance that lies between groups (estimate from mean squares)."""
        return (self.ratio - 1) / (self.ratio + self.size0 - 1) if np.isfinite(self.ratio) else 1.0


@dataclass(frozen=True, kw_only=True)
class HiddenGroups(Components):
    """Resemblance of documents whose ids begin alike: one-way random-effects analysis of variance.

    Attributes
    ----------
    low, high
        95 % interval of the intraclass correlation.
    p
        p of the test that there is no variance between groups.
    examples
        The beginnings of the ids of a few groups.
    covariate
        What was measured, such as ``word use``.
    """

    low: float
    high: float
    p: float
    examples: tuple[str, ...]
    covariate: str = "values"

    @property
    def design_effect(self) -> float:
        """Factor by which the variance of a mean exceeds that of independent documents (Kish 1965, section 5.4)."""
        return 1 + (self.size - 1) * max(self.icc, 0.0)

    def warns(self, level: float = LEVEL) -> bool:
        """Whether the groups matter: p below the level, and a correlation of more than `LEAST`."""
        return self.p < level and self.icc > LEAST


@dataclass(frozen=True)
class OrderCorrelation:
    """Resemblance of neighbours in the order of the file.

    Attributes
    ----------
    correlation
        Correlation of each document with the next one.
    p
        One-sided p of the test against a random order.
    documents
        Number of documents.
    covariate
        What was measured.
    """

    correlation: float
    p: float
    documents: int
    covariate: str = "values"

    def warns(self, level: float = LEVEL) -> bool:
        """Whether the order matters: p below the level, and a correlation of more than `LEAST`."""
        return self.p < level and self.correlation > LEAST


@dataclass(frozen=True)
class SharedGroups:
    """Groups that two texts share: how many, and a few of them."""

    groups: int
    examples: tuple[str, ...]


def guess_groups(ids: Sequence[str]) -> list[str] | None:
    """Guess groups from the beginnings of ids: what is left without the last segment, or the digits at the end.

    Segments end at ``/ : # _ - .`` and spaces. Further segments are dropped, up to four, as long as more than half of
    the beginnings differ. None if that does not lead to at least two groups, and at most half as many as documents.

    >>> guess_groups(["austen-emma/ch1", "austen-emma/ch2", "dickens 7", "dickens 8"])
    ['austen-emma', 'austen-emma', 'dickens', 'dickens']
    >>> guess_groups(["x:1", "x:2", "x:3"])
    """
    names = pa.array(ids, pa.large_string())
    for _ in range(MOST_SEGMENTS):
        shorter = pc.replace_substring_regex(names, SEGMENT, "")
        names = pc.if_else(pc.equal(shorter, names), pc.utf8_rtrim(names, "0123456789"), shorter)
        if 2 <= pc.count_distinct(names).as_py() <= len(names) / 2:
            return list(names.to_pylist())
    return None


def hidden_groups(values: Floats, names: Sequence[str], covariate: str = "values") -> HiddenGroups | None:
    """Test whether documents of a group have similar values.

    The values are replaced by the normal scores of their ranks: with heavy tails and groups of different sizes, the F
    test on the values themselves warns of independent documents ten times as often as its level says.

    Parameters
    ----------
    values
        float array (n,), all finite.
    names
        The group of each document, see `guess_groups`.
    covariate
        What the values are.

    Returns
    -------
    None if the values do not vary, or no group has two. p is that of the F test; the interval is that of
    Searle (1971, section 9.9), exact for groups of one size.

    >>> components = hidden_groups(np.array([1.0, 1.1, 5.0, 5.2, 9.0, 9.1]), ["a", "a", "b", "b", "c", "c"])
    >>> round(components.icc, 2), components.groups, round(components.design_effect, 2)
    (0.83, 3, 1.83)
    """
    from scipy.stats import f, norm, rankdata

    scored = norm.ppf((rankdata(values) - 0.5) / len(values))
    components = variance_components(scored[:, None], names)
    if components is None:
        return None
    ratio, size0 = components.ratio, components.size0
    within, between = components.documents - components.groups, components.groups - 1
    # (F/F_q − 1) / (F/F_q + n₀ − 1) at the quantiles of F
    low, high = (ratio / float(f.ppf(q, between, within)) for q in (0.975, 0.025))
    low, high = ((r - 1) / (r + size0 - 1) if np.isfinite(r) else 1.0 for r in (low, high))
    p = float(f.sf(ratio, between, within))
    examples = examples_of(names)
    return HiddenGroups(**vars(components), low=low, high=high, p=p, examples=examples, covariate=covariate)


def variance_components(rows: Floats, names: Sequence[str]) -> Components | None:
    """Analyse the variance of rows (n, V) by group; None without repeats, with one group, or without variation."""
    labels, codes = np.unique(np.asarray(names, dtype=object), return_inverse=True)
    n, k = len(rows), len(labels)
    if k < 2 or n <= k:
        return None
    centred = rows - rows.mean(axis=0)
    total = float((centred**2).sum())
    sizes = np.bincount(codes)
    between = between_squares(centred, codes, sizes)
    if total <= 1e-24 * max(1.0, float((rows**2).sum())):
        return None
    within = (total - between) / (n - k)
    ratio = between / (k - 1) / within if within > 1e-12 * total else np.inf
    squares = float((sizes.astype(float) ** 2).sum()) / n
    return Components(ratio, (n - squares) / (k - 1), squares, k, n)


def between_squares(centred: Floats, codes: Ints, sizes: Ints) -> float:
    """Sum of squares between groups of centred rows (n, V): Σ_g |sum of the rows of g|² / n_g."""
    ordered = centred[np.argsort(codes, kind="stable")]
    sums = np.add.reduceat(ordered, np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=0)
    return float(((sums**2).sum(axis=1) / sizes).sum())


def order_correlation(values: Floats, covariate: str = "values") -> OrderCorrelation | None:
    """Test whether neighbours have similar values, by the serial correlation of ranks.

    The p value is the normal approximation with the moments of a random order (Wald & Wolfowitz 1943). With ranks,
    single outliers neither hide a correlation nor feign one.

    Returns
    -------
    None for fewer than 20 finite values, or if all are equal.

    >>> round(order_correlation(np.arange(40.0)).correlation, 1)
    0.9
    """
    finite = np.asarray(values, dtype=np.float64)[np.isfinite(values)]
    n = len(finite)
    if n < 20 or not np.ptp(finite):
        return None
    # ranks of equal values are their mean
    _, places, counts = np.unique(finite, return_inverse=True, return_counts=True)
    x = (np.cumsum(counts) - (counts - 1) / 2)[places] - (n + 1) / 2
    mean, variance = moments_of_orders(x)
    observed = float(x[1:] @ x[:-1])
    p = float(ndtr((mean - observed) / np.sqrt(variance)))
    return OrderCorrelation(observed / float(x @ x), p, n, covariate)


def moments_of_orders(x: Floats) -> tuple[float, float]:
    """Mean and variance of Σ x_i x_{i+1} over all orders of n ≥ 4 values whose mean is 0 (Wald & Wolfowitz 1943)."""
    n = len(x)
    second, fourth = float((x**2).sum()), float((x**4).sum())
    mean = -second / n
    # the square of the sum is a sum over pairs of neighbouring pairs: the same pair (n − 1), pairs with one document in
    # common (2 (n − 2)), pairs without (the rest); each has the mean of its product over all different documents
    same = (second**2 - fourth) / (n * (n - 1))
    one = (2 * fourth - second**2) / (n * (n - 1) * (n - 2))
    none = (3 * second**2 - 6 * fourth) / (n * (n - 1) * (n - 2) * (n - 3))
    square = (n - 1) * same + 2 * (n - 2) * one + ((n - 1) ** 2 - (n - 1) - 2 * (n - 2)) * none
    return mean, square - mean**2


def examples_of(names: Sequence[str]) -> tuple[str, ...]:
    """The first two different names, short ones first."""
    return tuple(sorted(set(names), key=lambda name: (len(name), name))[:2])
