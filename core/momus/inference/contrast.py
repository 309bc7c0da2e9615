"""Contrasts: the number by which a relabelled pair of texts is compared with the observed pair."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic, entropy, mean, perplexity
from momus.inference.multipliers import Influences, untestable
from momus.inference.pvalues import TIE, Prepared, both_values, contrasts, count_extreme, p_value
from momus.inference.result import Lacking
from momus.inference.samples import Samples
from momus.inference.studentised import Difference, Ratio
from momus.inference.weights import Weights
from momus.numeric.types import Floats


class Contrast:
    """The contrast of a statistic of any form: a difference, a log ratio, a distance.

    Attributes
    ----------
    values
        The values of both texts; NaN and the distance for a distance. NaN for what no document of a text has.
    here
        The observed contrast.
    lacks
        Which text has no value of the statistic, or on the log scale one of 0; empty if both have one.
    equal
        Whether the values of both texts are equal but for rounding; then they are the same number.
    """

    needs_sums = True
    signed = False
    """Whether its null distribution comes from random signs instead of relabellings."""
    reason = ""
    """Why it has no null distribution."""

    def __init__(self, statistic: Statistic, samples: Samples) -> None:
        self.statistic, self.samples = statistic, samples
        with np.errstate(divide="ignore", invalid="ignore"):
            prepared = Prepared(*samples.observed)
            real, generated = (float(v[0]) for v in both_values(statistic, prepared))
            self.here = float(contrasts(statistic, prepared)[0])
        self.values = real, generated
        self.lacks = lacking(statistic, samples, self.values)
        if self.lacks:
            self.reason = "it has no value for " + {"both": "either text"}.get(self.lacks, f"the {self.lacks} text")
        self.equal = not self.lacks and _same(statistic, real, generated)
        if self.equal:
            self._level()

    def _level(self) -> None:
        """Drop a difference that is rounding."""
        distance = self.statistic.kind == "distance"
        self.values, self.here = (self.values[0], 0.0 if distance else self.values[0]), 0.0

    def under(self, labels: Weights | Floats, prepared: Prepared | None) -> Floats:
        """The contrast under relabellings (N, B): (B,)."""
        assert prepared is not None
        return contrasts(self.statistic, prepared)

    @property
    def tie(self) -> float:
        """Relative tolerance within which two contrasts count as equal."""
        return TIE

    def compared(self, null: Floats) -> tuple[Literal["value", "distance"], float, Floats]:
        """Whether both tails count (``value``) or the upper one; the contrast here and (B,) others on that scale."""
        return self.statistic.kind, self.here, null

    def extreme(self, null: Floats) -> int:
        """How many relabellings reach the observed contrast; twice the smaller tail if both count."""
        return count_extreme(*self.compared(null), tie=self.tie)

    def p(self, null: Floats, exact: bool) -> float:
        """p-value of the observed contrast under its null distribution (B,); 1 if the texts are equal."""
        if self.equal:
            return 1.0
        return p_value(*self.compared(null), exact, self.tie)


class RatioContrast(Contrast):
    """The studentised difference of two means, or of two ratios of totals."""

    needs_sums = False

    def __init__(self, statistic: Statistic, samples: Samples) -> None:
        super().__init__(statistic, samples)
        self.ratio = Ratio(samples)
        # replaces the plain contrast; `lacks` and `values` stay those of the values that readers see
        self.here = float(self.observed.t[0])
        self.equal = self.equal or abs(float(self.observed.value[0])) <= self.observed.equal
        if self.equal:
            self._level()

    @cached_property
    def observed(self) -> Difference:
        """The observed difference of ratios, before any exponential."""
        return self.ratio.observed

    @property
    def tie(self) -> float:
        """Relative tolerance within which two values of |T| count as equal."""
        return TIE + float(self.observed.rounding[0])

    def under(self, labels: Weights | Floats, prepared: Prepared | None) -> Floats:
        """Studentised differences under relabellings (N, B): (B,)."""
        return self.ratio.under(labels).t

    def compared(self, null: Floats) -> tuple[Literal["value", "distance"], float, Floats]:
        """|T|; T itself, of which both tails count, if it is transformed."""
        return ("value", self.here, null) if self.ratio.transforms else ("distance", abs(self.here), np.abs(null))


class SignedContrast(Contrast):
    """A distance of texts whose units are not exchangeable, or the squares that are tested in its place."""

    needs_sums = False
    signed = True

    def __init__(self, statistic: Statistic, samples: Samples) -> None:
        super().__init__(statistic, samples)
        self.reason = untestable(statistic, samples)
        self.influences = Influences(statistic, samples)
        # what is compared must be on the scale of its null distribution: sums of squares, not the distance
        if self.influences.squared and not self.reason:
            self.here = self.influences.observed

    def under(self, labels: Weights | Floats, prepared: Prepared | None) -> Floats:
        """The contrast under random signs of units (units, B): (B,)."""
        if self.influences.squared:
            return self.influences.squares(labels)
        return contrasts(self.statistic, Prepared(*self.influences.null_rows(labels)))


def lacking(statistic: Statistic, samples: Samples, values: tuple[float, float]) -> Lacking:
    """Which text has no value of a statistic.

    That is no number, or 0 where logarithms are compared; for a distance and an entropy, shares of nothing.
    """
    # such statistics return a number, not NaN, for a text without any count
    of_shares = statistic.kind == "distance" or statistic.function is entropy
    none = [of_shares and not side.any() for side in samples.observed]
    if statistic.kind == "value":
        logs = statistic.scale == "log" or statistic.effect == "log_ratio"
        none = [no or not np.isfinite(v) or (logs and v <= 0) for no, v in zip(none, values, strict=True)]
    elif not np.isfinite(values[1]) and not any(none):
        none = [True, True]
    return "both" if all(none) else "real" if none[0] else "generated" if none[1] else ""


def _same(statistic: Statistic, real: float, generated: float) -> bool:
    """Whether two values, or no distance, are one but for rounding."""
    if statistic.kind == "distance":
        return abs(generated) <= TIE
    return abs(generated - real) <= TIE * max(abs(real), abs(generated))


def is_ratio(statistic: Statistic) -> bool:
    """Whether the difference of a statistic is studentised: a mean, or a perplexity, the exponential of one.

    A mean that is compared on the log scale is not: its standard error is one on the scale of the value.
    """
    if statistic.kind != "value" or statistic.prepare is not None:
        return False
    return statistic.function is perplexity or (statistic.function is mean and statistic.scale == "identity")


def contrast_of(statistic: Statistic, samples: Samples) -> Contrast:
    """The contrast of a statistic.

    Studentised where its standard error is known and each text has two units; with random signs for distances of units
    that are not exchangeable.
    """
    plain = Contrast(statistic, samples)
    if plain.lacks:
        return plain
    if statistic.kind == "distance" and not samples.design.exchangeable:
        return SignedContrast(statistic, samples)
    if is_ratio(statistic) and not sparse.issparse(samples.rows) and min(samples.design.units) > 1:
        return RatioContrast(statistic, samples)
    return plain
