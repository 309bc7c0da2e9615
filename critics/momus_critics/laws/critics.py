"""One critic per scaling law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from momus.estimator import parametrized
from momus.evidence import Evidence, Table
from momus.laws import Law
from momus.parameters import Range
from momus.text.running import RunningText
from momus_critics.figures import percent
from momus_critics.laws import curves
from momus_critics.laws.base import ScalingLaw
from momus_critics.laws.curves import Curve, fit_line
from momus_critics.laws.reordered import ReorderedCurve, ReorderedHapaxes, ReorderedTypes, ReorderedWindows


@parametrized
class ZipfSlope(ScalingLaw):
    """Zipf's law by least squares: relative frequency against rank, over all ranks (and up to ``head``).

    The latents of a block are all its ranks, each with equal weight, so the tail of hapaxes outweighs the head.
    """

    name = "zipf-slope"
    axis = "Zipf's law"
    question = "Does word frequency fall with rank as in real text? z is the rank–frequency curve of a block of text."
    reporting = replace(
        ScalingLaw.reporting,
        limits="It cannot see which words are frequent, nor their order; the many words that occur once weigh most.",
    )
    label = "slope of word frequency against rank"
    direction = ("steeper in word frequency", "flatter in word frequency")
    x_label, y_label = "rank", "relative frequency"

    head: Annotated[int, Range(1, 10**9)] = 1000

    def curve(self, stream: RunningText) -> Curve:
        """Relative frequency against rank."""
        return curves.zipf(stream)

    def laws(self) -> Sequence[Law]:
        """Exponent and error over all ranks, and the exponent of the head."""
        label = f"slope over the {self.head:,} commonest words"
        head = self.law("head_exponent", self.head_exponent, label=label, direction=self.direction)
        return (*super().laws(), head)

    def head_exponent(self, stream: RunningText) -> float:
        """Slope over the first ``head`` ranks."""
        x, y = curves.zipf(stream)
        return fit_line(x[: self.head], y[: self.head]).slope


@parametrized
class Heaps(ScalingLaw):
    """Heaps' law: the number of types v(n) grows as n^β with text length n."""

    name = "heaps"
    axis = "vocabulary growth"
    question = "Does the vocabulary grow as in real text? z is the number of types against tokens in a block of text."
    reporting = replace(
        ScalingLaw.reporting,
        limits="It cannot see which words are new, nor whether they fit: only how fast different words accumulate.",
    )
    label = "exponent β of vocabulary growth"
    direction = ("slower to add new words", "faster to add new words")
    x_label, y_label = "tokens n", "types v(n)"
    error = "shuffled"  # the first points of the curve depend on the first words of the text
    minimum = 1000

    share: Annotated[float, Range(0, 1, above=True)] = 0.7

    def curve(self, stream: RunningText) -> Curve:
        """Number of types against tokens, up to ``share`` of the text."""
        return curves.heaps(stream, self.share)

    def reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve]:
        """Growth of the vocabulary over reordered pieces."""
        return partial(ReorderedTypes, share=self.share)


class Ebeling(ScalingLaw):
    """Ebeling's law: the variance of character counts in windows of length l grows as l^η (η = 1: no memory)."""

    name = "ebeling"
    axis = "evenness over long stretches"
    question = "Do character counts fluctuate over long windows as in real text? η = 1 means no memory."
    reporting = replace(
        ScalingLaw.reporting,
        limits="It cannot see words or sentences: only how counts of characters vary from one stretch to another.",
    )
    label = "exponent η of character counts"
    direction = ("weaker in long-range memory", "stronger in long-range memory")
    x_label, y_label = "window length l (characters)", "m(l)"
    error = "shuffled"  # leaving a piece out shifts all later windows
    reorderings = 5

    def curve(self, stream: RunningText) -> Curve:
        """Summed variance m(l) against window length l."""
        return curves.ebeling(stream)

    def reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve]:
        """Windows over reordered pieces."""
        return ReorderedWindows


@parametrized
class Taylor(ScalingLaw):
    """Taylor's law: the standard deviation of a word's count over segments of text grows as μ^ζ (ζ = ½: no bursts)."""

    name = "taylor"
    axis = "burstiness of words"
    question = "Do words come in bursts as in real text? z is each word's mean and deviation over segments of text."
    reporting = replace(
        ScalingLaw.reporting,
        limits="It cannot see the order of words within a segment of some thousand words, nor what they say.",
    )
    label = "exponent ζ of word counts"
    direction = ("less bursty in words", "more bursty in words")
    x_label, y_label = "mean count μ in a segment", "standard deviation σ"
    style = "points"
    minimum = 56_200

    segment: Annotated[int, Range(1, 10**9)] = 5620

    @property
    def align(self) -> int:
        """The segment length: other cuts would regroup the segments whenever a group is left out."""
        return self.segment

    def curve(self, stream: RunningText) -> Curve:
        """Standard deviation against mean, one point per type."""
        return curves.taylor(stream, self.segment)


@parametrized
class Productivity(ScalingLaw):
    """Good–Turing productivity N1/N of n-grams as a function of N: the probability that the next token is new.

    Parameters
    ----------
    tokens, lower, block, groups
        See `ScalingLaw`.
    order
        n of the n-grams that carry the verdict.
    max_order
        Largest n in the figure.
    """

    name = "productivity"
    axis = "rate of new words"
    question = "Do new n-grams keep appearing as in real text? z is the share of hapaxes as the text grows."
    reporting = replace(
        ScalingLaw.reporting,
        limits="It cannot see whether new words are good ones: misspellings and noise are new words, too.",
    )
    label = "slope of the share of new words"
    direction = ("poorer in new words", "richer in new words")
    x_label, y_label = "n-grams N", "share of n-grams seen once, N1 / N"
    error = "shuffled"
    minimum = 1000

    order: Annotated[int, Range(1, 5)] = 1
    max_order: Annotated[int, Range(0, 100)] = 5

    def curve(self, stream: RunningText) -> Curve:
        """N1/N against N, positive values only."""
        x, y = curves.productivity(stream, (self.order,))[0]
        return x[y > 0], y[y > 0]

    def reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve] | None:
        """Hapaxes of reordered pieces, for single words only."""
        return ReorderedHapaxes if self.order == 1 else None

    def evidence(self, real: RunningText, generated: RunningText) -> list[Evidence]:
        """The curve and exponents of the order that carries the verdict, and productivity at all orders."""
        orders = tuple(range(1, self.max_order + 1))
        finals = [
            [percent(y[-1]) if len(y) else None for _, y in curves.productivity(stream, orders)]
            for stream in (real, generated)
        ]
        rows = [(str(n), *values) for n, *values in zip(orders, *finals, strict=True)]
        table = Table(
            "productivity-by-order",
            "Share of n-grams seen once, by n",
            ("n", "real %", "generated %"),
            rows,
            note=f"N1/N over the whole text: {len(real):,} real and {len(generated):,} generated tokens. It falls as a "
            "text grows; compare texts of about the same length.",
        )
        return [*super().evidence(real, generated), table]
