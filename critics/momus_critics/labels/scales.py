"""Labels that are numbers: normal where they have no bounds, beta where they are shares from 0 to 1."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from momus.critic import Counted, LogPrior, Pooled, Rows, Statistic, Values
from momus.critic.base import TextCritic
from momus.critic.statistic import spread
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence, MarkedDocument, Step
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus_critics.evidence import distributions, marked
from momus_critics.labels.process import LearnsLabels, reporting_of

DIGITS = 6
"""Significant digits to which numbers are rounded before they are counted."""
UNUSUAL = 1.96
"""Standard deviations from the mean from which on a number is marked."""


@parametrized
class Scale(LearnsLabels[float], TextCritic[Values]):
    """z is a number; what P_c(z) is, a subclass says."""

    name = "scale"
    axis = "numbers"
    reporting = reporting_of("in its label", headline="mean")
    share: ClassVar[bool] = False

    field: str = ""
    kind: str = "number"

    def learn(self, values: Sequence[float]) -> None:
        """Learn mean and spread.

        Raises
        ------
        FittingError
            All numbers are equal.
        """
        x = np.asarray(values, dtype=np.float64)
        self.mean_, self.sd_ = float(x.mean()), float(x.std(ddof=1))
        if not self.sd_ > 1e-12 * max(abs(self.mean_), 1e-280):
            raise FittingError(
                f"{self.field!r} is {x[0]:g} in all of {len(x):,} documents: nothing varies",
                hint=f"read it as single labels, with {self.field}:category",
            )

    @abstractmethod
    def log_density(self, z: Floats) -> Floats:
        """log P_c of numbers, (n,)."""

    def project(self, batch: Corpus) -> Values:
        """The number of each document."""
        return Values(np.asarray(self.values(batch), dtype=np.float64))

    def log_prior(self, latents: Values) -> LogPrior:
        """The log density of each number."""
        return LogPrior.of_vectors(self.log_density(np.asarray(latents.values, dtype=np.float64)))

    def sufficient_statistics(self, latents: Values) -> Mapping[str, Rows]:
        """The number as a single count (for KS), as a number (for the mean), and its moments."""
        z = np.asarray(latents.values, dtype=np.float64)
        ones = np.ones(len(z))
        # in standard deviations of real text: squares of large numbers would lose the digits of the spread
        x = (z - self.mean_) / self.sd_
        rounded = np.array([float(f"{v:.{DIGITS}g}") for v in z.tolist()])
        return {
            "values": Counted.of_values(rounded),
            "numbers": np.column_stack([z, ones]),
            "moments": np.column_stack([x, x**2, ones]),
        }

    def statistics(self) -> Sequence[Statistic]:
        """The mean, the spread, and the Kolmogorov–Smirnov distance."""
        mean = Statistic.share if self.share else Statistic.ratio
        return (
            mean("mean", "numbers", "mean", "lower|higher"),
            Statistic.value(
                "spread",
                "moments",
                spread,
                "standard deviation, in that of the fitted text",
                "more alike|more varied",
                scale="log",
            ),
            Statistic.ks("values", "Kolmogorov–Smirnov distance"),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Cumulative distributions."""
        x, title = Axis("number"), "Cumulative distribution of the number"
        return [distributions((real, generated), "values", "numbers", title, x, "share of documents")]

    def explain(self, document: Corpus) -> MarkedDocument:
        """Show the number, marked where it is far from the mean of real text."""
        latents = self.project(document)
        (z,) = latents.values.tolist()
        nll = -float(self.log_prior(latents).values[0])
        far = (z - self.mean_) / self.sd_
        note = f"{far:+.1f} standard deviations from the mean of {self.mean_:.3g}"
        steps = [Step(f"{z:.4g}", "", nll, abs(far) > UNUSUAL, note)]
        return marked(self, document, latents, steps)


@parametrized
class Numbers(Scale):
    """z is a number; P_c(z) is normal."""

    name = "number"

    def log_density(self, z: Floats) -> Floats:
        """log N(z; mean, sd²)."""
        return np.asarray(-0.5 * ((z - self.mean_) / self.sd_) ** 2 - np.log(self.sd_) - 0.5 * np.log(2 * np.pi))


@parametrized
class Shares(Scale):
    """z is a number from 0 to 1; P_c(z) is a beta distribution, fitted by maximum likelihood.

    Numbers are drawn in from 0 and 1 by 1/2n, where a density has no value or none that can be compared (Smithson &
    Verkuilen 2006).
    """

    name = "share"
    share = True

    kind: str = "share"

    def learn(self, values: Sequence[float]) -> None:
        """Fit the two parameters, begun at those of the moments."""
        from scipy.optimize import minimize
        from scipy.special import betaln

        super().learn(values)
        self.size_ = len(values)
        x = self._inside(np.asarray(values, dtype=np.float64))
        logs = float(np.log(x).mean()), float(np.log1p(-x).mean())

        def loss(log_parameters: Floats) -> float:
            a, b = np.exp(log_parameters)
            return float(betaln(a, b) - (a - 1) * logs[0] - (b - 1) * logs[1])

        m, v = float(x.mean()), float(x.var(ddof=1))
        total = max(m * (1 - m) / v - 1, 0.1)
        bounds = [(np.log(1e-4), np.log(1e7))] * 2
        start = np.clip(np.log([total * m, total * (1 - m)]), *bounds[0])
        a, b = np.exp(minimize(loss, start, method="L-BFGS-B", bounds=bounds).x)
        self.alpha_, self.beta_ = float(a), float(b)

    def _inside(self, z: Floats) -> Floats:
        """Numbers within (0, 1): (z (n − 1) + ½) / n for n documents that were fitted on."""
        return np.asarray((z * (self.size_ - 1) + 0.5) / self.size_)

    def log_density(self, z: Floats) -> Floats:
        """log Beta(z; α, β)."""
        from scipy.special import betaln

        x = self._inside(z)
        density = (self.alpha_ - 1) * np.log(x) + (self.beta_ - 1) * np.log1p(-x) - betaln(self.alpha_, self.beta_)
        return np.asarray(density)
