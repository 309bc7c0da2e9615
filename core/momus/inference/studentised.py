"""Studentised differences of means and of ratios of totals, for many relabellings at once.

Exchangeability is the null hypothesis of a permutation test, but a row shows a mean. Divided by its standard error
under each relabelling, a difference of means keeps its level where the means are equal and the variances are not
(Janssen 1997; Chung & Romano 2013). The error needs moments of the rows, which are sums like the means themselves.

Where the texts have unequal numbers of units and are not of one shape, the skewness of T differs from that under
relabelling. T is then replaced by Hall's (1992) transform of it, a cubic function that removes the skewness to first
order, as Johnson's (1978) quadratic does, and that is monotone, so that it can be inverted for an interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from momus.inference.samples import Samples, indicator, pooled
from momus.inference.weights import Weights
from momus.numeric.rounding import ROUNDING
from momus.numeric.types import Floats

UNEQUAL = 1.5
"""T is transformed if one text has so many times the units of the other; in equal numbers, the skewness cancels."""
FEWEST = 5
"""… and if both have as many units as this, from which a third moment can be estimated."""
FEW = 64
"""Units up to which the sums of both texts are computed apart."""
LEAST_SKEWNESS = 1e-6
"""Below this skewness, the transform is the identity but for rounding."""


@dataclass(frozen=True)
class Difference:
    """Differences of ratios, generated − real, with the variance that each text contributes; (B,) each.

    Where both texts are drawn by the same units, ``variance_real`` holds the whole variance. Errors up to ``flat`` and
    differences up to ``equal`` are rounding, and count as 0. ``skewness`` is the standardised third cumulant of the
    difference, (B,), by which T is transformed; None where it is not.
    """

    real: Floats
    generated: Floats
    variance_real: Floats
    variance_generated: Floats
    flat: float = 0.0
    equal: float = 0.0
    skewness: Floats | None = None

    @property
    def value(self) -> Floats:
        """Generated − real."""
        return np.asarray(self.generated - self.real)

    @property
    def error(self) -> Floats:
        """Standard error of the difference."""
        error = np.sqrt(np.maximum(self.variance_real + self.variance_generated, 0.0))
        # an error of rounding would turn a difference of rounding into any T
        return np.asarray(np.where(error <= self.flat, 0.0, error))

    @property
    def rounding(self) -> Floats:
        """Relative error of |t|: that of the variance, a difference of sums of squares, which are much larger."""
        error = self.error
        return np.asarray(np.where(error > 0, 0.1 * (self.flat / np.where(error > 0, error, 1.0)) ** 2, 0.0))

    @property
    def t(self) -> Floats:
        """Difference in standard errors, transformed if it has a skewness; infinite without error where it is not 0."""
        value, error = self.value, self.error
        flat = error == 0
        # values that differ without any variation are as extreme as can be, and must not pass for equal ones
        at_zero = np.where(np.abs(value) <= self.equal, 0.0, np.copysign(np.inf, value))
        # errors of 0 are replaced before the division, whose results `at_zero` overrides
        t = value / np.where(flat, 1.0, error)
        if self.skewness is not None:
            t = transformed(t, self.skewness)
        return np.asarray(np.where(flat, at_zero, t))


def transformed(t: Floats, skewness: Floats) -> Floats:
    """Hall's (1992) transform T + aT²/3 + a²T³/27 + a/6, with a the skewness of the difference.

    >>> back = restored(transformed(np.array([-3.0, 0.5]), np.array([0.4, 0.4])), 0.4)
    >>> back.round(9).tolist()
    [-3.0, 0.5]
    """
    return np.asarray(t + skewness / 3 * t**2 + skewness**2 / 27 * t**3 + skewness / 6)


def restored(transform: Floats, skewness: float) -> Floats:
    """T from its transform: the inverse of `transformed`."""
    if abs(skewness) < LEAST_SKEWNESS:
        return np.asarray(transform)
    return np.asarray(3 / skewness * (np.cbrt(1 + skewness * (transform - skewness / 6)) - 1))


class Ratio:
    """Total of column 0 over total of column 1 of two samples (a mean, if column 1 is 1), under relabellings.

    The variance of a ratio θ = Σx/Σw is that of Σ(x − θw)/Σw over independent units (the delta method). Where these
    units are long and short, the residuals of the long ones are too small, because they move θ: independent documents
    and clusters have them divided by a power of 1 − w/Σw, see `_leverage`.
    """

    def __init__(self, samples: Samples) -> None:
        self.samples, d = samples, samples.design
        rows = np.asarray(samples.rows, dtype=np.float64)  # (N, 2): x and w
        whole = rows.sum(axis=0)
        # subtracting the common ratio from all x loses fewer digits: θ = offset + Σ(x − offset·w)/Σw
        self.offset = float(whole[0] / whole[1]) if whole[1] else 0.0
        self.w = rows[:, 1]
        self.x = rows[:, 0] - self.offset * self.w
        # sums of squares are exact to about 1e-16 of their size, so errors to about 1e-8 of the spread of x
        squares = float(self.w @ self.w)
        spread = float(np.sqrt(self.x @ self.x / squares)) if squares else 0.0
        self.flat = 1e-7 * spread * np.sqrt(len(rows)) / min(d.units) + 1e-12 * abs(self.offset)
        self.equal = ROUNDING * (spread + abs(self.offset))
        fewest, most = min(d.units), max(d.units)
        # means of units of equal weight, in unequal numbers
        unequal = fewest >= FEWEST and most >= UNEQUAL * fewest and bool(np.ptp(self.w) == 0)
        self.transforms = unequal and d.kind in ("documents", "clusters") and self.flat > 0
        paths: dict[bool, Callable[[], Callable[[Weights | Floats], Difference]]] = {
            d.kind in ("documents", "clusters"): self._independent,
            d.flips: self._flipped,
            d.kind == "prompts" and not d.flips: self._within,
            d.kind == "bins": self._binned_groups if d.groups is not None else self._binned,
        }
        self.under = paths[True]()

    @property
    def observed(self) -> Difference:
        """The difference of the texts as they are, (1,)."""
        return self.under(self.samples.observed_labels)

    def freedom(self, observed: Difference) -> float:
        """Degrees of freedom of the standard error: units − 1, or Welch–Satterthwaite for independent samples."""
        units, d = self.samples.design.units, self.samples.design
        if d.together:
            return float(units[0] - 1)
        one, other = float(observed.variance_real[0]), float(observed.variance_generated[0])
        if one + other <= 0 or min(units) < 2:
            return float(max(sum(units) - 2, 1))
        return (one + other) ** 2 / (one**2 / (units[0] - 1) + other**2 / (units[1] - 1))

    def _independent(self) -> Callable[[Weights | Floats], Difference]:
        """Units are independent between and within texts."""
        x, w = self.x, self.w
        # one set of second moments where all weights are equal, else also those times w and w²: (N, 5 or 11)
        powers = [w**k for k in range(1 if np.ptp(w) == 0 else 3)]
        # x and w, then x², xw, w² for each power
        moments = np.column_stack([x, w, *(c * power for power in powers for c in (x**2, x * w, w**2))])
        if self.transforms:
            moments = np.column_stack([moments, x**3])  # (N, 6)
        # whole: (columns,); n: units of each side
        whole, n = moments.sum(axis=0), (self.samples.n_real, len(x) - self.samples.n_real)

        def under(labels: Weights | Floats) -> Difference:
            real = pooled(moments, labels)  # (B, 5, 6 or 11)
            # where all relabellings may be enumerated, rounding must not tell one from its opposite
            generated = pooled(moments, 1 - labels) if len(x) <= FEW else whole - real
            sides = list(zip((real, generated), n, strict=True))
            difference = self._difference(*(_moments(side, k) for side, k in sides))
            if not self.transforms:
                return difference
            one, other = (_third(side, k) for side, k in sides)
            # as T, 0 where the error is rounding; beyond 1 it says more of single units than of the texts
            skewness = np.where(difference.error > 0, other - one, 0.0) / np.maximum(difference.error, self.flat) ** 3
            return replace(difference, skewness=skewness.clip(-1.0, 1.0))

        return under

    def _flipped(self) -> Callable[[Weights | Floats], Difference]:
        """Units change sides as a whole: both sides of a unit are one observation."""
        units = self.samples.design.units[0]
        (xr, xg), (wr, wg) = (np.split(column, 2) for column in (self.x, self.w))  # (units,) each
        # sums for the side called real if units keep their sides, and if they change them, (units, 6)
        kept = np.column_stack([xr, wr, xr**2, xr * wr, wr**2, xg * wr])
        changed = np.column_stack([xg, wg, xg**2, xg * wg, wg**2, xr * wg])
        both, base = (kept + changed).sum(axis=0), changed.sum(axis=0)  # (6,) each
        # products of both sides of a unit are the same whether it changes sides or not
        products = float(xr @ xg), float(wr @ wg)

        def under(labels: Weights | Floats) -> Difference:
            real = base + pooled(kept - changed, labels[:units])  # (B, 6)
            generated = both - real
            a, b = _ratio(real), _ratio(generated)
            squares = _squares(real, a) / real[:, 1] ** 2 + _squares(generated, b) / generated[:, 1] ** 2
            # column 5 sums x_generated · w_real over units, its complement w_generated · x_real
            cross = products[0] - a * real[:, 5] - b * generated[:, 5] + a * b * products[1]
            variance = (squares - 2 * cross / (real[:, 1] * generated[:, 1])) * units / max(units - 1, 1)
            return self._difference((a, variance), (b, np.zeros_like(variance)))

        return under

    def _difference(self, real: tuple[Floats, Floats], generated: tuple[Floats, Floats]) -> Difference:
        values = self.offset + real[0], self.offset + generated[0]
        return Difference(*values, real[1], generated[1], self.flat, self.equal)

    def _within(self) -> Callable[[Weights | Floats], Difference]:
        """Documents are labelled within prompts, and prompts are independent: a prompt is one observation."""
        design = self.samples.design
        prompts, units = np.concatenate(design.unit_numbers), design.units[0]
        as_real, as_generated = self.samples.weight_by_label  # (N,) each
        # all four sums of a prompt by one sparse product per chunk of labels
        blocks = [indicator(prompts, units, v * a) for a in (as_real, as_generated) for v in (self.x, self.w)]
        stacked = sparse.vstack(blocks, format="csr")  # (4 · prompts, N)
        whole = stacked.sum(axis=1).reshape(4, units, 1)  # as if all rows were on that side

        def under(labels: Weights | Floats) -> Difference:
            # weighted sums of x and w by prompt, for each side: (prompts, B)
            xr, wr, xg, wg = np.asarray(stacked @ labels).reshape(4, units, -1)
            xg, wg = whole[2] - xg, whole[3] - wg
            (a, real), (b, generated) = _influences(xr, wr), _influences(xg, wg)  # (B,) and (prompts, B) each
            variance = ((generated - real) ** 2).sum(axis=0) * units / max(units - 1, 1)
            return self._difference((a, variance), (b, np.zeros_like(variance)))

        return under

    def _binned(self) -> Callable[[Weights | Floats], Difference]:
        """Documents are independent within bins; the variance is that within bins."""
        design, strata = self.samples.design, self.samples.strata
        assert design.strata is not None
        assert strata is not None
        counts = [c.astype(np.float64)[:, None] for c in design.strata]  # (bins, 1) for each side
        shared = 2 * counts[0] * counts[1] / (counts[0] + counts[1])
        size = len(shared)
        columns = (self.x, self.w, self.x**2, self.x * self.w, self.w**2)
        stacked = sparse.vstack([indicator(strata, size, c) for c in columns], format="csr")  # (5 · bins, N)
        whole = stacked.sum(axis=1).reshape(5, size, 1)

        def side(sums: Floats, n: Floats) -> tuple[Floats, Floats]:
            """Ratio and its variance from sums by bin, (5, bins, B), of a side with n documents in each bin."""
            weight = shared / n  # (bins, 1)
            x, w = (weight * sums[0]).sum(axis=0), (weight * sums[1]).sum(axis=0)
            ratio = x / w  # (B,)
            squares = sums[2] - 2 * ratio * sums[3] + ratio**2 * sums[4]  # Σ(x − θw)² by bin, (bins, B)
            # deviations from the mean of the bin; a single document deviates from the ratio itself
            within = np.where(
                n > 1, (squares - (sums[0] - ratio * sums[1]) ** 2 / n) * n / np.maximum(n - 1, 1), squares
            )
            return ratio, (weight**2 * within).sum(axis=0) / w**2

        def under(labels: Weights | Floats) -> Difference:
            real = np.asarray(stacked @ labels).reshape(5, size, -1)
            return self._difference(side(real, counts[0]), side(whole - real, counts[1]))

        return under

    def _binned_groups(self) -> Callable[[Weights | Floats], Difference]:
        """Whole groups are labelled; weights of bins follow the labels."""
        d = self.samples.design
        assert d.groups is not None
        of_group = indicator(np.concatenate([d.groups[0], d.groups[1] + d.units[0]]))  # (groups, N)
        columns = [of_group @ sparse.diags_array(c) for c in (self.x, self.w)]  # weighted by x and by w

        def under(labels: Weights | Floats) -> Difference:
            as_real, as_generated = self.samples.sides(labels)
            assert as_generated is not None
            parts = []
            for weights, n in ((as_real, d.units[0]), (as_generated, d.units[1])):
                ratio, influences = _influences(*(np.asarray(c @ weights) for c in columns))
                # groups of the other side have weight 0, hence no influence, so the sum is over those of this side
                parts.append((ratio, (influences**2).sum(axis=0) * n / max(n - 1, 1)))
            return self._difference(*parts)

        return under


def _ratio(sums: Floats) -> Floats:
    return np.asarray(sums[:, 0] / sums[:, 1])


def _squares(sums: Floats, ratio: Floats, first: int = 2) -> Floats:
    """Σ (x − θw)² from the sums of x², xw, w² in three columns of (B, V)."""
    return np.asarray(sums[:, first] - 2 * ratio * sums[:, first + 1] + ratio**2 * sums[:, first + 2])


def _moments(sums: Floats, n: int) -> tuple[Floats, Floats]:
    """Ratio and its variance, (B,) each, from the sums over n independent units."""
    ratio = _ratio(sums)
    if n < 2:
        return ratio, np.full_like(ratio, np.nan)
    squares = _squares(sums, ratio)
    if sums.shape[1] > 6:  # moments times weights
        # Σ (x − θw)² hᵏ with h = w/Σw, (B,) for k = 0, 1, 2
        by_power = (squares, *(_squares(sums, ratio, 2 + 3 * k) / sums[:, 1] ** k for k in (1, 2)))
        squares = sum((c * power for c, power in zip(_leverage(n), by_power, strict=True)), np.zeros_like(ratio))
    return ratio, np.asarray(np.maximum(squares, 0.0) / sums[:, 1] ** 2 * n / (n - 1))


def _third(sums: Floats, n: int) -> Floats:
    """Third cumulant of a mean of n units of equal weight, (B,), from the sums in `_moments` and of x³."""
    theta, cubes = _ratio(sums), sums[:, -1]
    weight = sums[:, 1] / n  # the common w of all units
    mean = theta * weight
    residuals = cubes - 3 * mean * sums[:, 2] + 3 * mean**2 * sums[:, 0] - n * mean**3  # Σ(x − x̄)³ from its moments
    # n²/((n − 1)(n − 2)) makes the third cumulant unbiased, as n/(n − 1) does the variance
    return np.asarray(residuals / (n * weight) ** 3 * n**2 / ((n - 1) * (n - 2)))


def _leverage(n: int) -> tuple[float, float, float]:
    """Coefficients of 1, h and h² in (1 − 1/n)⁴/(1 − h)⁴, to second order around h = 1/n.

    Dividing squared residuals by (1 − h)⁴ goes beyond the jackknife, which divides by (1 − h)² (MacKinnon & White
    1985), as HC4 does (Cribari-Neto 2004). Units of equal weight have h = 1/n, and a factor of 1.

    >>> one, linear, square = _leverage(10)
    >>> round(one + linear / 10 + square / 100, 12)
    1.0
    """
    a = n / (n - 1)
    return 1 - 4 * a / n + 10 * (a / n) ** 2, 4 * a - 20 * a**2 / n, 10 * a**2


def _influences(x: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Ratio (B,) of sums by unit, (units, B), and the influence of each unit on it."""
    total = w.sum(axis=0)
    ratio = x.sum(axis=0) / total
    return ratio, (x - ratio * w) / total
