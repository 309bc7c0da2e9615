"""Distances between texts whose units hold unequal numbers of documents: random signs instead of relabellings.

Groups of one and of five documents are not exchangeable: the shares of the former vary more. A relabelling that mixes
them has a null distribution of another width than the observed distance. Here units keep their text and their size.
Their *influences*, what each adds to the difference between the texts, are deviations from the shares of both texts
together, and get random signs: a multiplier bootstrap under the null hypothesis of equal shares (van der Vaart &
Wellner 1996, section 2.9), the wild cluster bootstrap of Cameron, Gelbach & Miller (2008).

* KS and supremum distances are functions of the sums of signed influences, and so is any distance that asks for it.
* Where columns are many and rare, as words are, most of the total variation distance is noise, whose size random signs
  do not reproduce. It is tested by the squared differences of shares: products of the influences of different units,
  which are 0 on average under the null hypothesis whatever the units are (Chen & Qin 2010).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from momus.critic.statistic import Statistic, kolmogorov_smirnov, supremum
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import Rows, Samples, pooled, total
from momus.inference.weights import Weights, chunks, random_labels, random_signs
from momus.numeric.types import Floats

LINEAR = (kolmogorov_smirnov, supremum)
"""Distances that are functions of the differences of shares, and defined for negative ones."""
RARE = 5.0
"""Columns with fewer counts than this in the smaller text have nearly equal weights in the sum of squares."""
EXPONENT = 0.5
"""Columns of share π have weights in proportion to 1/π to this power in the sum of squares."""
FEWEST = 2
"""Units that each text needs."""
ENOUGH = 50
"""Units of each text from which a distance can be tested by itself: sums of fewer signed counts have too thin tails."""
ROUNDING = 1e-12
"""Squared influences up to this part of the squared shares are rounding."""


def untestable(statistic: Statistic, samples: Samples) -> str:
    """Why a distance cannot be tested with random signs; empty if it can be."""
    if min(samples.design.units) < FEWEST:
        return "a text has one group of documents, and groups are of unequal size"
    if statistic.prepare is not None:
        return "groups of documents are of unequal size, for which this distance has no test"
    return ""


class Influences:
    """Influences of units on the shares of both texts, under random signs.

    The influence of unit u on the shares of its text is (x_u − n_u π)/N: x_u are its counts, n_u their sum, N the sum
    over all units of the text, and π the shares of both texts together, so that the influences of both texts add up to
    the difference of their shares. A distance that asks for it ``itself`` has influences on its counts: x_u − m_u x̄,
    for m_u documents and the mean row x̄.

    Attributes
    ----------
    squared
        Whether the squared differences of shares are tested in place of the distance.
    """

    def __init__(self, statistic: Statistic, samples: Samples) -> None:
        self.statistic, self.design = statistic, samples.design
        enough = min(self.design.units) >= ENOUGH
        self.counted = statistic.uneven == "itself" and statistic.function not in LINEAR and enough
        self.squared = not self.counted and statistic.function not in LINEAR
        self.rows = samples.unit_rows
        # what a unit is large by, (units,): its counts, or its documents
        counts = _row_sums(self.rows[0]), _row_sums(self.rows[1])
        self.sizes = self.design.unit_sizes if self.counted else counts
        self.totals = float(self.sizes[0].sum()) or 1.0, float(self.sizes[1].sum()) or 1.0
        sums = total(self.rows[0]) + total(self.rows[1])  # (1, V)
        self.centre = np.asarray(sums[0] / sum(self.totals))  # π, or the mean row, (V,)

    @cached_property
    def observed(self) -> float:
        """The sum of squares of the texts as they are."""
        signs = self.design.units[0] if self.design.together else sum(self.design.units)
        return float(self.squares(np.ones((signs, 1)))[0])

    def _sides(self, signs: Weights | Floats) -> tuple[Weights | Floats, Weights | Floats]:
        one = self.design.units[0]
        return (signs, signs) if self.design.together else (signs[:one], signs[one:])

    @cached_property
    def _inflation(self) -> tuple[Floats, Floats]:
        """1/√(1 − h) for each unit, (units,): influences are deviations from shares that the unit itself has moved.

        Units that both texts share keep theirs: their influences are differences, which π hardly enters.
        """
        if self.design.together:
            return np.ones(len(self.sizes[0])), np.ones(len(self.sizes[1]))
        whole = sum(self.totals)
        one, other = (1 / np.sqrt(np.maximum(1 - n / whole, 1e-9)) for n in self.sizes)
        return one, other

    def _signed(self, signs: Weights | Floats, inflated: bool) -> tuple[Floats, Floats]:
        """Signed sums of the influences of each text on its shares (on its counts), (B, V) each."""
        sums = []
        for rows, n, scale, signs_of, size in zip(
            self.rows, self.sizes, self._inflation, self._sides(signs), self.totals, strict=True
        ):
            weights = signs_of * scale[:, None] if inflated else signs_of  # (units, B)
            # Σ_u s_u (x_u − n_u π) as two products, so that sparse rows are never made dense by the subtraction
            deviations = pooled(rows, weights) - (n @ weights)[:, None] * self.centre
            sums.append(deviations if self.counted else deviations / size)
        return sums[0], sums[1]

    def null_rows(self, signs: Weights | Floats) -> tuple[Floats, Floats]:
        """Rows of both texts that differ by chance alone, (B, V) each: the centre with signed influences added.

        Shares, or counts where the distance is tested by itself. Distances other than KS and the supremum get 0 where
        that is negative.
        """
        one, other = self._signed(signs, inflated=not self.squared)
        scales = self.totals if self.counted else (1.0, 1.0)
        # under the null hypothesis both texts have the shares of the centre, and signed influences are chance
        rows = scales[0] * self.centre + one, scales[1] * self.centre + other
        if self.statistic.function in LINEAR:
            return rows
        return np.maximum(rows[0], 0.0), np.maximum(rows[1], 0.0)

    def squares(self, signs: Weights | Floats) -> Floats:
        """Σ_v w_v Σ_{u ≠ u'} of the products of signed influences, in units of what is left out, that of u = u'.

        Products within a text are divided by 1 − Σ(n_u/N)², which makes the sum an unbiased estimate of the weighted
        squared difference of shares.
        """
        if not self._chance:
            return np.zeros(signs.shape[1])
        one, other = self._signed(signs, inflated=False)
        weight = self._column_weights
        if self.design.together:
            # a unit of both texts has one influence, the difference of its sides, so one sum has all products
            return np.asarray(((one - other) ** 2 @ weight - self._chance) / self._chance)
        (a, b), (c, d) = self._factors, self._diagonals
        # s_u² = 1, so the products with u = u' are the same under all signs, and are subtracted once;
        # products between the texts are of different units, and all stay
        squares = a * (one**2 @ weight - c) + b * (other**2 @ weight - d) - 2 * (one * other) @ weight
        return np.asarray(squares / self._chance)

    @cached_property
    def _column_weights(self) -> Floats:
        """1/√(π + 5/N), (V,), with N of the smaller text.

        Beyond chance, a small difference δ of a share π adds in proportion to δ²/√π to the total variation distance.
        Counts of rare columns are too skewed for that weight.
        """
        return np.asarray((self.centre + RARE / min(self.totals)) ** -EXPONENT)

    @cached_property
    def _factors(self) -> tuple[float, float]:
        one, other = (
            1 / max(1 - float(((n / size) ** 2).sum()), 1e-9) for n, size in zip(self.sizes, self.totals, strict=True)
        )
        return one, other

    @cached_property
    def _diagonals(self) -> tuple[float, float]:
        """Sum over units of the weighted squares of their influences, for each text."""
        one, other = (self._sum_of_squares(k) / self.totals[k] ** 2 for k in (0, 1))
        return one, other

    def _sum_of_squares(self, k: int) -> float:
        """Σ_u Σ_v w_v (x_uv − n_u π_v)²."""
        weight, rows, n = self._column_weights, self.rows[k], self.sizes[k]  # (V,), (units, V), (units,)
        crossed = float(n @ np.asarray(rows @ (weight * self.centre)).ravel())
        return _weighted_squares(rows, weight) - 2 * crossed + float(n @ n) * float(weight @ self.centre**2)

    @cached_property
    def _chance(self) -> float:
        """Weighted squared influences, summed over units: what chance adds to the squared difference; 0 if rounding."""
        weight = self._column_weights
        size_of_shares = float(weight @ self.centre**2)
        if self.design.together:
            between = self.rows[0] / self.totals[0] - self.rows[1] / self.totals[1]  # (units, V)
            apart = self.sizes[0] / self.totals[0] - self.sizes[1] / self.totals[1]  # (units,)
            crossed = float(apart @ np.asarray(between @ (weight * self.centre)).ravel())
            chance = _weighted_squares(between, weight) - 2 * crossed + float(apart @ apart) * size_of_shares
        else:
            (a, b), (c, d) = self._factors, self._diagonals
            # as in `squares`, whose products within a text have these factors
            chance = a * c + b * d
        # squares are divided by it: of units without variation, only rounding would be left to divide by
        return chance if chance > ROUNDING * size_of_shares else 0.0

    def least_distance(self, critical: float) -> float:
        """A total variation distance that squares beyond their critical value imply with confidence 1 − α; 0 if none.

        A distance ½ Σ|δ| is at least Σ h δ for any h of at most ½, and h = ½ wδ/max|wδ| makes that a sum of squares.
        """
        p, q = (total(rows)[0] / size for rows, size in zip(self.rows, self.totals, strict=True))  # (V,) each
        steepest = float(np.abs(self._column_weights * (p - q)).max())
        return max(0.5 * (self.observed - critical) * self._chance / steepest, 0.0) if steepest else 0.0


def chance_distance(statistic: Statistic, samples: Samples, seed: int, draws: int) -> float:
    """Mean distance that chance alone makes: of relabellings, or of random signs where units are not exchangeable."""
    values = []
    signed = None if samples.design.exchangeable else Influences(statistic, samples)
    for number, size in chunks(0, draws):
        if signed is None:
            sums = samples.pooled(random_labels(samples.design, seed, number, size))
        else:
            sums = signed.null_rows(random_signs(samples.design, seed, number, size))
        with np.errstate(divide="ignore", invalid="ignore"):
            values.append(both_values(statistic, Prepared(*sums))[1])
    finite = np.concatenate(values)
    # a relabelling may leave a side without counts, for which no distance exists
    finite = finite[np.isfinite(finite)]
    return float(finite.mean()) if len(finite) else float("nan")


def _row_sums(rows: Rows) -> Floats:
    # sums of float32 rows over columns may be too large to be exact there
    return np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()


def _weighted_squares(rows: Rows, weight: Floats) -> float:
    """Σ_v w_v Σ_u x_uv²."""
    squares: NDArray[np.float64] = np.asarray((rows * rows).sum(axis=0, dtype=np.float64)).ravel()  # (V,)
    return float(squares @ weight)
