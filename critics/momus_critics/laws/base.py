"""The base class of the critics of scaling laws."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

import numpy as np

from momus.arguments import arg
from momus.critic import LogPrior, Reporting, RunningTextCritic, directions
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Axis, Chart, Direction, Evidence, Role, Series, both
from momus.laws.law import ErrorEstimate, Law, Reordered, tokens_needed, too_short
from momus.numeric.ragged import Ragged, group_sums, offsets_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.running import RunningText
from momus_critics.evidence import rounded
from momus_critics.laws.curves import Curve, Line, fit_line
from momus_critics.laws.reordered import ReorderedCurve

SHOWN = 150
"""Largest number of points that a figure shows per curve."""


@dataclass(frozen=True)
class LawPoints(Ragged):
    """Points of each block on log10–log10 axes, ragged, and the text of the blocks.

    Attributes
    ----------
    x, y
        float64 (N,): the points of all blocks, concatenated.
    offsets
        int64 (n + 1,): block i has the points ``offsets[i]:offsets[i + 1]``.
    stream
        The tokens of the batch; their sum over batches is the critic's summary.
    """

    x: Floats
    y: Floats
    offsets: Ints
    stream: RunningText


ERROR_LABEL = "mean distance ε from the fitted line"
ERROR: Direction = ("closer to a straight line", "further from a straight line")
"""What is said of the error of a law."""


@parametrized
class ScalingLaw(RunningTextCritic[LawPoints]):
    """A scaling law y ∝ x^b of running text.

    z is the curve of a block of text as points (log10 x, log10 y). Under P_c(z) they are normally distributed around
    the line fitted to blocks of real text, with the standard deviation of real blocks. Latent NLL is the mean of
    −log P_c over the points of a block, in nats per point (a density: it can be negative). The exponent of a whole text
    is fitted on its whole curve, never averaged over blocks.

    Parameters
    ----------
    block
        Tokens per block.
    groups
        Number of contiguous groups of text; the jackknife leaves out one at a time.
    """

    reporting = Reporting(
        headline="exponent",
        directions=directions("closer to|further from the law"),
        stepless="fewer than three points to fit",
    )
    _quantity: ClassVar[str] = "exponent"
    _label: ClassVar[str] = "exponent"
    """What readers are told that the exponent is called."""
    _direction: ClassVar[tuple[str, str]] = ("lower in exponent", "higher in exponent")
    """What a text is if its exponent is lower, and if it is higher."""
    _minimum: ClassVar[int] = 20_000
    """Tokens that a text needs for a meaningful estimate."""
    _error: ClassVar[ErrorEstimate] = "jackknife"
    """How the standard error is estimated; see `momus.laws.law.Law`."""
    _reorderings: ClassVar[int] = 2
    """Random orders of the text per piece left out, if ``error`` is ``shuffled``."""
    _axes: ClassVar[tuple[Axis, Axis]]
    _style: ClassVar[Literal["line", "points"]] = "line"

    block: Annotated[int, Range(10, 10**9)] = 56_200
    groups: Annotated[int, Range(2, 1000)] = 20

    @property
    def _align(self) -> int:
        """Groups are cut at multiples of this number of tokens."""
        return 1

    @abstractmethod
    def curve(self, stream: RunningText) -> Curve:
        """Compute the whole curve of a text: x and y."""

    def line(self, stream: RunningText) -> Line:
        """Fit the line to the whole curve of a text."""
        return fit_line(*self._fitted_points(*self.curve(stream)))

    def _fitted_points(self, x: Floats, y: Floats) -> Curve:
        """Select the points that the line is fitted to."""
        return x, y

    def _law(
        self,
        name: str,
        function: Callable[[RunningText], float],
        reordered: Reordered | None = None,
        label: str = "",
        direction: Direction = (),
    ) -> Law:
        """Declare one number of this law with the options of the class."""
        return Law(
            name,
            function,
            error=self._error,
            minimum=self._minimum,
            groups=self.groups,
            align=self._align,
            orders=self._reorderings,
            reordered=reordered,
            decides=name == self.reporting.headline,
            label=label,
            direction=direction,
        )

    def laws(self) -> Sequence[Law]:
        """Exponent and error of a text."""
        return (
            self._law(
                "exponent",
                lambda stream: self.line(stream).slope,
                self._reordered("slope"),
                self._label,
                self._direction,
            ),
            self._law("error", lambda stream: self.line(stream).error, self._reordered("error"), ERROR_LABEL, ERROR),
        )

    def _reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve] | None:
        """Return a factory of curves of reordered pieces, or None if joining the pieces is as fast."""
        return None

    def _reordered(self, attribute: str) -> Reordered | None:
        factory = self._reordered_curve()
        if factory is None:
            return None

        def estimate(pieces: Sequence[RunningText]) -> Callable[[list[int]], float]:
            reordered = factory(pieces)
            return lambda order: float(getattr(fit_line(*reordered.curve(order)), attribute))

        return estimate

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Blocks with fewer tokens than the law can be estimated from."""
        least = min(self._minimum, self.block)
        needed = tokens_needed(self._minimum)
        return [
            f"too short: {n:,} tokens; a block needs {least:,}, a whole text {needed:,}" if n < least else None
            for n in batch.tokens(self.tokenizer).lengths
        ]

    def fit(self, real: Corpus) -> Self:
        """Fit the line of the whole text, and the line of its blocks with their scatter."""
        stream = RunningText.of(real.tokens(self.tokenizer))
        reason = too_short(real.name, len(stream), self._minimum)
        if reason:
            raise FittingError(
                f"critic {self.name!r} cannot be fitted: {reason}",
                hint=f"give more real text, or leave this critic out with {arg('critics')}",
            )
        try:
            whole = self.line(stream)
        except ValueError as error:
            raise FittingError(
                f"critic {self.name!r} cannot estimate its law from {real.name!r}: {error}",
                hint=f"leave this critic out with {arg('critics')}, or give more real text",
            ) from error
        self.exponent_, self.intercept_, self.error_ = whole.slope, whole.intercept, whole.error
        # the scatter is that of blocks: points of one whole curve lie closer to its line
        units = self.units(real)
        z = self.project(units.take([i for i, reason in enumerate(self.unscored(units)) if reason is None]))
        u, v = z.x, z.y
        if len(u) < 3 or np.ptp(u) == 0:
            raise FittingError(
                f"blocks of {self.block:,} tokens are too short for critic {self.name!r}: they give {len(u)} points",
                hint=f"set a larger block, or use the default ({type(self)().block:,})",
            )
        # points are kept as logarithms, and `fit_line` takes them again
        line = fit_line(10**u, 10**v)
        self.block_slope_, self.block_intercept_ = line.slope, line.intercept
        # blocks on one line would give any other block an infinite NLL
        self.spread_ = max(line.error, 1e-3)
        return self

    def project(self, batch: Corpus) -> LawPoints:
        """Compute the curve of each block."""
        table = batch.tokens(self.tokenizer)
        blocks = (RunningText(table.ids[a:b], table.vocabulary) for a, b in pairwise(table.offsets))
        curves = [self._fitted_points(*self.curve(block)) for block in blocks]
        offsets = offsets_of([len(x) for x, _ in curves])
        # the points of all blocks, concatenated, shape (N,) each
        x, y = (np.concatenate([points[k] for points in curves]) if curves else np.zeros(0) for k in (0, 1))
        return LawPoints(np.log10(x), np.log10(y), offsets, RunningText.of(table))

    def log_prior(self, latents: LawPoints) -> LogPrior:
        """Mean log density of each block's points around the line of real blocks."""
        residual = (latents.y - self.block_intercept_ - self.block_slope_ * latents.x) / self.spread_  # (N,)
        density = -0.5 * residual**2 - np.log(self.spread_) - 0.5 * np.log(2 * np.pi)
        n = np.diff(latents.offsets)  # points per block
        values = group_sums(density, latents.offsets) / np.maximum(n, 1)
        return LogPrior(np.where(n > 0, values, 0.0), (n >= 3).astype(np.int64))

    def summarize(self, latents: LawPoints) -> RunningText:
        """The text itself: texts add without loss."""
        return latents.stream

    def evidence(self, real: RunningText, generated: RunningText) -> list[Evidence]:
        """Both curves, and the line of real text."""
        series = [s for role, stream in both(real, generated) for s in self._series(role, stream)]
        note = f"Text that the critic was fitted on: {self._quantity} {self.exponent_:.4f}, ε {self.error_:.4f}."
        return [Chart(f"{self.name}-curve", self.axis, *self._axes, series, note)]

    def _series(self, role: Role, stream: RunningText) -> list[Series]:
        x, y = self.curve(stream)
        if self._axes[1].scale == "log":
            # a logarithmic axis has no place for 0
            x, y = x[y > 0], y[y > 0]
        if len(x) < 3:
            return []
        keep = np.arange(len(x))
        if len(x) > SHOWN:  # about so many points, evenly spaced on a log axis
            order = np.argsort(x, kind="stable")
            # for each of SHOWN grid points the next larger x; several grid points may share one
            grid = np.linspace(np.log(x[order[0]]), np.log(x[order[-1]]), SHOWN)
            nearest = np.searchsorted(np.log(x[order]), grid).clip(0, len(x) - 1)
            keep = order[np.unique(nearest)]
        series = [Series(role, rounded(x[keep]), rounded(y[keep]), role, self._style)]
        if role != "real":  # exponents are statistics; the figure has the law of real text
            return series
        try:
            line = self.line(stream)
        except ValueError:
            return series
        ends = np.array([x.min(), x.max()])
        label = f"law of real text: {self._quantity} {line.slope:.3f}"
        return [*series, Series(label, rounded(ends), rounded(line(ends)), "fitted")]
