"""What the critics of scaling laws share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic import LogPrior, RunningTextCritic
from momus.errors import FittingError
from momus.evidence import Axis, Cell, Chart, Evidence, Role, Series, Table, both
from momus.laws import Law, Reordered
from momus.laws.law import ErrorEstimate
from momus.numeric.ragged import group_sums, offsets_of
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.running import RunningText
from momus.text.tokens import TokenTable
from momus_critics.laws.curves import Curve
from momus_critics.laws.fitting import Line, fit_line
from momus_critics.laws.reordered import ReorderedCurve

SHOWN = 250
"""Points of a curve that a figure shows."""


@dataclass(frozen=True)
class LawPoints:
    """Points of each block on log10–log10 axes, ragged, with the blocks' own text.

    Attributes
    ----------
    x, y
        float64 (N,): all points, one block after the other.
    offsets
        int64 (n + 1,): where each block's points begin.
    stream
        The tokens of the batch, whose sum over batches is the critic's summary.
    """

    x: Floats
    y: Floats
    offsets: NDArray[np.int64]
    stream: RunningText

    def __len__(self) -> int:
        return len(self.offsets) - 1


class ScalingLaw(RunningTextCritic[LawPoints]):
    """A law y ∝ x^b of running text.

    z is the curve of a block of text as points (log10 x, log10 y); P_c(z) says that they scatter normally around the
    line fitted to blocks of real text, with the standard deviation that real blocks have. Latent NLL is the mean of
    −log P_c over the points of a block, in nats a point (a density: it can be negative). The exponent of a whole text
    is fitted on its whole curve, never averaged over blocks.

    Parameters
    ----------
    tokens, lower
        See `TokenCritic`.
    block
        Tokens a block.
    groups
        Contiguous groups of text that the jackknife leaves out, one at a time.
    """

    headline = "exponent"
    no_steps = "too few points for the law"
    quantity: ClassVar[str] = "exponent"
    minimum: ClassVar[int] = 20_000
    """Tokens that a text needs for the law to mean something."""
    error: ClassVar[ErrorEstimate] = "jackknife"
    """How the standard error is estimated, see `momus.laws.Law`."""
    reorderings: ClassVar[int] = 2
    """Random orders of the text that each piece is left out of, where ``error`` is ``shuffled``."""
    x_label: ClassVar[str]
    y_label: ClassVar[str]
    y_scale: ClassVar[Literal["linear", "log"]] = "log"
    style: ClassVar[Literal["line", "points"]] = "line"

    def __init__(self, *, tokens: str = "words", lower: bool = True, block: int = 56_200, groups: int = 20) -> None:
        super().__init__(tokens=tokens, lower=lower, block=block)
        self.groups = groups

    @property
    def align(self) -> int:
        """Groups are cut at multiples of so many tokens."""
        return 1

    @abstractmethod
    def curve(self, stream: RunningText) -> Curve:
        """The whole curve of a text, as x and y."""

    def line(self, stream: RunningText) -> Line:
        """The law of a text: the line fitted to its whole curve."""
        return fit_line(*self.fitted_points(*self.curve(stream)))

    def fitted_points(self, x: Floats, y: Floats) -> Curve:
        """The points that the line is fitted to."""
        return x, y

    def law(self, name: str, function: Callable[[RunningText], float], reordered: Reordered | None = None) -> Law:
        """Declare one number of this law, with the options of the class."""
        return Law(
            name,
            function,
            error=self.error,
            minimum=self.minimum,
            groups=self.groups,
            align=self.align,
            orders=self.reorderings,
            reordered=reordered,
        )

    def laws(self) -> Sequence[Law]:
        """Exponent and error of a text."""
        return (
            self.law("exponent", lambda stream: self.line(stream).slope, self._reordered("slope")),
            self.law("error", lambda stream: self.line(stream).error, self._reordered("error")),
        )

    def reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve] | None:
        """Compute the curve of pieces in any order, where that is faster than joining them."""
        return None

    def _reordered(self, name: str) -> Reordered | None:
        make = self.reordered_curve()
        return None if make is None else partial(_fitted, make, name)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Blocks that are too short for the law."""
        least = min(self.minimum, self.block)
        return [
            f"too short: {n:,} tokens, the law needs {least:,}" if n < least else None
            for n in batch.tokens(self.tokenizer).lengths
        ]

    def fit(self, real: Corpus) -> Self:
        """Fit the line of the whole text, and the line and scatter of its blocks."""
        stream = RunningText.of(real.tokens(self.tokenizer))
        if len(stream) < self.minimum:
            raise FittingError(
                f"critic {self.name!r} needs {self.minimum:,} tokens of running text to be fitted; "
                f"{real.name!r} has {len(stream):,}",
                hint="give more real text, or leave this critic out with --critics",
            )
        try:
            whole = self.line(stream)
        except ValueError as error:
            raise FittingError(
                f"critic {self.name!r} finds no such law in {real.name!r}: {error}",
                hint="leave this critic out with --critics, or give more real text",
            ) from error
        self.exponent_, self.intercept_, self.error_ = whole.slope, whole.intercept, whole.error
        z = self.project(self.scorable(self.units(real)))
        u, v = z.x, z.y
        if len(u) < 3 or np.ptp(u) == 0:
            raise FittingError(
                f"blocks of {self.block:,} tokens are too short for critic {self.name!r}: they give {len(u)} points",
                hint=f"take a larger block, or leave the parameter out (default: {type(self)().block:,})",
            )
        line = fit_line(10**u, 10**v)
        self.block_slope_, self.block_intercept_ = line.slope, line.intercept
        self.spread_ = max(line.error, 1e-3)
        return self

    def scorable(self, units: Corpus) -> Corpus:
        """Blocks that are long enough."""
        return units.take([i for i, reason in enumerate(self.unscored(units)) if reason is None])

    def project(self, batch: Corpus) -> LawPoints:
        """Compute the curve of each block."""
        table = batch.tokens(self.tokenizer)
        curves = [self.fitted_points(*self.curve(_part(table, i))) for i in range(len(table))]
        lengths = [len(x) for x, _ in curves]
        stack = [np.concatenate([c[k] for c in curves]) if curves else np.zeros(0) for k in (0, 1)]
        offsets = offsets_of(lengths)
        return LawPoints(np.log10(stack[0]), np.log10(stack[1]), offsets, RunningText.of(table))

    def log_prior(self, latents: LawPoints) -> LogPrior:
        """Mean log density of a block's points around the line of real blocks."""
        residual = (latents.y - self.block_intercept_ - self.block_slope_ * latents.x) / self.spread_
        density = -0.5 * residual**2 - np.log(self.spread_) - 0.5 * np.log(2 * np.pi)
        n = np.diff(latents.offsets)
        values = group_sums(density, latents.offsets) / np.maximum(n, 1)
        return LogPrior(np.where(n > 0, values, 0.0), (n >= 3).astype(np.int64))

    def summarize(self, latents: LawPoints) -> RunningText:
        """The text itself, which adds without loss."""
        return latents.stream

    def evidence(self, real: RunningText, generated: RunningText) -> list[Evidence]:
        """Both curves with their lines, and a table of exponents."""
        series: list[Series] = []
        rows: list[tuple[Cell, ...]] = []
        for role, stream in both(real, generated):
            series += self._series(role, stream)
            rows.append((role, len(stream), int((stream.counts > 0).sum()), *self._cells(stream)))
        columns = ("text", "tokens", "types", self.quantity, "ε", "points", *self.extra_columns())
        chart = Chart(
            f"{self.name}-curve",
            self.axis,
            Axis(self.x_label, "log"),
            Axis(self.y_label, self.y_scale),
            series,
            self.note(),
        )
        return [chart, Table(f"{self.name}-table", f"{self.quantity.capitalize()} of each text", columns, rows)]

    def note(self) -> str:
        """What a reader of the figure should know."""
        return f"Real text fitted on: {self.quantity} {self.exponent_:.4f}, ε {self.error_:.4f}."

    def extra_columns(self) -> tuple[str, ...]:
        """Further columns of the table."""
        return ()

    def extra_cells(self, stream: RunningText) -> tuple[Cell, ...]:
        """Further cells of the table."""
        return ()

    def _cells(self, stream: RunningText) -> tuple[Cell, ...]:
        try:
            line = self.line(stream)
        except ValueError:
            return (None, None, 0, *self.extra_cells(stream))
        return (line.slope, line.error, line.points, *self.extra_cells(stream))

    def _series(self, role: Role, stream: RunningText) -> list[Series]:
        x, y = self.curve(stream)
        if self.y_scale == "log":
            x, y = x[y > 0], y[y > 0]
        if len(x) < 3:
            return []
        keep = _thin(x)
        found = [Series(role, x[keep].tolist(), y[keep].tolist(), role, self.style)]
        try:
            line = self.line(stream)
        except ValueError:
            return found
        ends = np.array([x.min(), x.max()])
        return [
            *found,
            Series(f"{role}: {self.quantity} {line.slope:.3f}", ends.tolist(), line(ends).tolist(), "fitted"),
        ]


def _fitted(
    make: Callable[[Sequence[RunningText]], ReorderedCurve], name: str, pieces: Sequence[RunningText]
) -> Callable[[list[int]], float]:
    made = make(pieces)
    return lambda order: float(getattr(fit_line(*made.curve(order)), name))


def _part(table: TokenTable, i: int) -> RunningText:
    offsets = table.offsets
    return RunningText(table.ids[offsets[i] : offsets[i + 1]], table.vocabulary)


def _thin(x: Floats) -> NDArray[np.int64]:
    """About `SHOWN` points, evenly spaced on a log axis."""
    if len(x) <= SHOWN:
        return np.arange(len(x))
    order = np.argsort(x, kind="stable")
    wanted = np.linspace(np.log(x[order[0]]), np.log(x[order[-1]]), SHOWN)
    near = np.searchsorted(np.log(x[order]), wanted).clip(0, len(x) - 1)
    kept: NDArray[np.int64] = order[np.unique(near)]
    return kept
