"""Whether a difference of means is the same in all subgroups of documents: Cochran's Q."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.inference.design import Design
from momus.inference.result import NAN
from momus.inference.samples import indicator
from momus.inference.weights import Weights, chunks, random_labels
from momus.numeric.types import Floats, Ints

Sides = tuple[Floats, Floats]


@dataclass(frozen=True)
class Heterogeneity:
    """The test of equal differences in K subgroups.

    Attributes
    ----------
    q, freedom
        Cochran's Q, the weighted sum of squares of the K differences around their weighted mean, with weights
        1/variance (Cochran 1954); and K − 1.
    p
        From relabellings within subgroups, or from Hotelling's T² where documents belong to groups.
    permutations
        Relabellings; 0 for Hotelling's T².
    units_real, units_generated
        Numbers of independent documents or groups.
    reason
        Why there is no test; empty if there is one.
    """

    q: float = NAN
    freedom: int = 0
    p: float = NAN
    permutations: int = 0
    units_real: int = 0
    units_generated: int = 0
    reason: str = ""


NONE = Heterogeneity(reason="not tested")


def heterogeneity(
    rows: Sides,
    subgroups: tuple[Ints, Ints],
    units: tuple[Ints, Ints] | None = None,
    permutations: int = 999,
    seed: int = 0,
) -> Heterogeneity:
    """Test whether the difference of Σx/Σw between two texts is the same in all subgroups.

    The texts may differ, and so may the subgroups within each text; only differences of differences count. The common
    difference is taken from the generated documents, and documents are relabelled within subgroups. Q is studentised,
    so the test keeps its level for unequal variances too, as n grows (Pauly, Brunner & Konietschke 2015).

    Parameters
    ----------
    rows
        [x, w] of each document, (n, 2) and (m, 2).
    subgroups
        Number of the subgroup of each document, from 0; each has at least two documents of each text.
    units
        Number of the group of each document, if documents belong together: Q then takes the covariance of the
        differences over groups, and p is that of Hotelling's T² with Welch–Satterthwaite degrees of freedom.

    >>> rng = np.random.default_rng(0)
    >>> real, generated = (np.column_stack([rng.normal(size=80), np.ones(80)]) for _ in range(2))
    >>> numbers = np.arange(80) % 4
    >>> generated[:, 0] += 2.0 * (numbers == 3)  # the texts differ in one subgroup
    >>> heterogeneity((real, generated), (numbers, numbers)).p < 0.01
    True
    """
    size = max(int(side.max(initial=-1)) for side in subgroups) + 1
    if units is not None:
        return _of_groups(rows, subgroups, units, size)
    table, numbers = np.concatenate(rows), np.concatenate(subgroups)  # (n + m, 2), (n + m,)
    x, w = table.T
    n = [np.bincount(side, minlength=size).astype(np.float64)[:, None] for side in subgroups]
    observed = (np.arange(len(table)) < len(rows[0])).astype(np.float32)[:, None]  # (n + m, 1)
    difference, variance = _differences(x, w, numbers, n, observed)
    if not np.all(variance > 0):
        return Heterogeneity(reason="a subgroup has no variance")
    # after this shift, no difference is expected within a subgroup under the hypothesis: labels are exchangeable there
    common = float((difference / variance).sum() / (1 / variance).sum())
    x = x - common * w * (1 - observed[:, 0])  # Σx/Σw of generated documents falls by `common`
    here = float(_cochran(*_differences(x, w, numbers, n, observed))[0])
    design, beyond = Design.bins(*subgroups), 0
    for number, drawn in chunks(0, permutations):
        labels = random_labels(design, seed, number, drawn)
        q = _cochran(*_differences(x, w, numbers, n, labels))
        # a relabelling without variance counts against the observed Q
        beyond += int((np.where(np.isnan(q), np.inf, q) >= here * (1 - 1e-9)).sum())
    p = (beyond + 1) / (permutations + 1)
    return Heterogeneity(here, size - 1, p, permutations, len(rows[0]), len(rows[1]))


def _differences(x: Floats, w: Floats, numbers: Ints, n: list[Floats], labels: Weights | Floats) -> Sides:
    """Differences of Σx/Σw by subgroup, generated − real, and their variances: (K, B) each."""
    size = len(n[0])
    columns = [indicator(numbers, size, c) for c in (x, w, x * x, x * w, w * w)]  # (K, N) each
    real = [np.asarray(c @ labels, dtype=np.float64) for c in columns]
    other = [np.asarray(c.sum(axis=1)).reshape(-1, 1) - r for c, r in zip(columns, real, strict=True)]
    ratios, variances = [], []
    for (sx, sw, xx, xw, ww), count in zip((real, other), n, strict=True):
        ratio = sx / sw  # (K, B)
        squares = np.maximum(xx - 2 * ratio * xw + ratio**2 * ww, 0.0)
        ratios.append(ratio)
        variances.append(squares / sw**2 * count / (count - 1))
    return ratios[1] - ratios[0], variances[0] + variances[1]


def _cochran(differences: Floats, variances: Floats) -> Floats:
    """Cochran's Q, (B,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = 1 / variances
        centre = (weights * differences).sum(axis=0) / weights.sum(axis=0)
        return np.asarray((weights * (differences - centre) ** 2).sum(axis=0))


def _of_groups(rows: Sides, subgroups: tuple[Ints, Ints], units: tuple[Ints, Ints], size: int) -> Heterogeneity:
    """Q with the covariance of the differences over groups, and Hotelling's T²."""
    from scipy.stats import f

    ratios, of_sides, counts = [], [], []
    for (x, w), numbers, unit in ((side.T, s, u) for side, s, u in zip(rows, subgroups, units, strict=True)):
        codes = np.unique(unit, return_inverse=True)[1]
        totals = np.bincount(numbers, w, size)  # (K,)
        ratio = np.bincount(numbers, x, size) / totals
        influence = (x - ratio[numbers] * w) / totals[numbers]
        # influences of groups on the ratios of subgroups, (groups, K)
        n = int(codes.max()) + 1
        table = np.bincount(codes * size + numbers, influence, n * size).reshape(n, size)
        of_sides.append(table.T @ table * n / max(n - 1, 1))  # (K, K)
        ratios.append(ratio)
        counts.append(n)
    freedom, covariance = size - 1, of_sides[0] + of_sides[1]
    # Welch–Satterthwaite degrees of freedom of the covariance, by the total variance of each text
    parts = [float(np.trace(c)) for c in of_sides]
    degrees = sum(parts) ** 2 / max(sum(v**2 / max(k - 1, 1) for v, k in zip(parts, counts, strict=True)), 1e-300)
    # a covariance of fewer groups than subgroups is singular, and T² would be infinite
    if min(counts) <= size or degrees <= freedom or np.linalg.matrix_rank(covariance) < size:
        return Heterogeneity(reason="too few groups", units_real=counts[0], units_generated=counts[1])
    contrasts = np.eye(size)[1:] - np.eye(size)[0]  # each subgroup less the first, (K − 1, K)
    d = contrasts @ (ratios[1] - ratios[0])
    # T² does not depend on which subgroup the others are contrasted with
    q = float(d @ np.linalg.solve(contrasts @ covariance @ contrasts.T, d))
    p = float(f.sf(q * (degrees - freedom + 1) / (degrees * freedom), freedom, degrees - freedom + 1))
    return Heterogeneity(q, freedom, p, 0, counts[0], counts[1])
