"""One critic per scaling law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from momus.estimator import parametrized
from momus.evidence import Axis
from momus.laws.law import Law
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.text.running import RunningText
from momus_critics.laws import curves
from momus_critics.laws.base import ERROR, ERROR_LABEL, ScalingLaw
from momus_critics.laws.curves import Curve, Line, fit_line
from momus_critics.laws.reordered import ReorderedCurve, ReorderedWindows, ReorderedWords


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
    _label = "slope of word frequency against rank"
    _direction = ("steeper in word frequency", "flatter in word frequency")
    _axes = Axis("rank", "log"), Axis("relative frequency", "log")

    head: Annotated[int, Range(1, 10**9)] = 1000

    def curve(self, stream: RunningText) -> Curve:
        """Relative frequency against rank."""
        return curves.zipf(stream)

    def laws(self) -> Sequence[Law]:
        """Exponent and error over all ranks, and the exponent of the head."""
        label = f"slope over the {self.head:,} commonest words"
        head = self._law("head_exponent", self.head_exponent, label=label, direction=self._direction)
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
    _label = "exponent β of vocabulary growth"
    _direction = ("slower to add new words", "faster to add new words")
    _axes = Axis("tokens n", "log"), Axis("types v(n)", "log")
    _error = "shuffled"  # the first points of the curve depend on the first words of the text
    _minimum = 1000

    share: Annotated[float, Range(0, 1, above=True)] = 0.7

    def curve(self, stream: RunningText) -> Curve:
        """Number of types against tokens, up to ``share`` of the text."""
        return curves.heaps(stream, self.share)

    def _reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve]:
        """Growth of the vocabulary over reordered pieces."""
        return partial(ReorderedWords, curve_of=lambda first, _, tokens: curves.growth(first, tokens, self.share))


class Ebeling(ScalingLaw):
    """Ebeling's law: the variance of character counts in windows of length l grows as l^η (η = 1: no memory)."""

    name = "ebeling"
    axis = "evenness over long stretches"
    question = "Do character counts fluctuate over long windows as in real text? η = 1 means no memory."
    reporting = replace(
        ScalingLaw.reporting,
        limits="It cannot see words or sentences: only how counts of characters vary from one stretch to another.",
    )
    _label = "exponent η of character counts"
    _direction = ("weaker in long-range memory", "stronger in long-range memory")
    _axes = Axis("window length l (characters)", "log"), Axis("m(l)", "log")
    _error = "shuffled"  # leaving a piece out shifts all later windows
    _reorderings = 5

    def curve(self, stream: RunningText) -> Curve:
        """Summed variance m(l) against window length l."""
        return curves.ebeling(stream)

    def _reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve]:
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
    _label = "exponent ζ of word counts"
    _direction = ("less bursty in words", "more bursty in words")
    _axes = Axis("mean count μ in a segment", "log"), Axis("standard deviation σ", "log")
    _style = "points"
    _minimum = 56_200

    segment: Annotated[int, Range(1, 10**9)] = 5620

    @property
    def _align(self) -> int:
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
        n of the n-grams.
    """

    name = "productivity"
    axis = "rate of new words"
    question = "Do new n-grams keep appearing as in real text? z is the share of hapaxes as the text grows."
    reporting = replace(
        ScalingLaw.reporting,
        limits="It cannot see whether new words are good ones: misspellings and noise are new words, too.",
    )
    _label = "slope of the share of new words"
    _direction = ("poorer in new words", "richer in new words")
    _axes = Axis("n-grams N", "log"), Axis("share of n-grams seen once, N1 / N", "log")
    _error = "shuffled"
    _minimum = 1000

    order: Annotated[int, Range(1, 5)] = 1

    def curve(self, stream: RunningText) -> Curve:
        """N1/N against N, positive values only."""
        return _positive(*curves.productivity(stream, (self.order,))[0])

    def _reordered_curve(self) -> Callable[[Sequence[RunningText]], ReorderedCurve] | None:
        """Hapaxes of reordered pieces, for single words only."""
        return (
            partial(ReorderedWords, curve_of=lambda *of: _positive(*curves.hapaxes(*of))) if self.order == 1 else None
        )


def _positive(x: Floats, y: Floats) -> Curve:
    """Points above 0, which have a logarithm."""
    return x[y > 0], y[y > 0]


NEAR = 10
"""Largest lag whose correlation of rare words enters the verdict."""
DECAYING = 100_000
"""Tokens needed to estimate the exponent of the decay."""


@parametrized
class LongRange(ScalingLaw):
    """Long-range correlation of rare words: autocorrelation c(s) of the distances between them decays as s^−ξ.

    The verdict is on the mean of c(s) at lags up to 10, which is defined for every text. The exponent depends on the
    order in which words of equal frequency are taken as rare, is undefined if nothing decays, and proves little alone.

    Parameters
    ----------
    tokens, lower, block, groups
        See `ScalingLaw`.
    rarity
        One in ``rarity`` tokens is rare.
    """

    name = "long-range"
    axis = "long-range correlation"
    question = "Do rare words cluster over long stretches as in real text? c(s) is their distances' autocorrelation."
    reporting = replace(
        ScalingLaw.reporting,
        headline="correlation",
        limits="It cannot see which rare words cluster: only how evenly they are spread over the text.",
    )
    _label = "exponent −ξ of the decay"
    _direction = ("faster to lose correlation", "slower to lose correlation")
    _axes = Axis("lag s", "log"), Axis("autocorrelation c(s)", "linear")
    _quantity = "−ξ"
    _error = "relabelled"  # which words are rare depends on a count or two, and on the other groups

    block: int = 281_000
    rarity: Annotated[int, Range(1, 10**9)] = 16

    def curve(self, stream: RunningText) -> Curve:
        """c(s) against s."""
        return curves.long_range(stream, self.rarity)

    def _fitted_points(self, x: Floats, y: Floats) -> Curve:
        """Positive values at lags up to 100."""
        keep = (y > 0) & (x <= 100)
        return x[keep], y[keep]

    def laws(self) -> Sequence[Law]:
        """Mean correlation at short lags; exponent and error of the decay, for texts that have one."""
        return (
            self._law(
                "correlation",
                self.correlation,
                label=f"mean correlation at lags up to {NEAR}",
                direction=("less clustered in rare words", "more clustered in rare words"),
            ),
            self._law(
                "exponent",
                lambda stream: self.decay(stream).slope,
                label=self._label,
                direction=self._direction,
            ),
            self._law("error", lambda stream: self.decay(stream).error, label=ERROR_LABEL, direction=ERROR),
        )

    def correlation(self, stream: RunningText) -> float:
        """Mean of c(s) over s = 1 … 10.

        Raises
        ------
        ValueError
            There are fewer than 1,000 distances between rare words (16,000 tokens if one in 16 is rare).
        """
        lags, correlations = self.curve(stream)
        if not len(lags) or lags[-1] < NEAR:
            raise ValueError(f"fewer than {100 * NEAR:,} distances between rare words")
        return float(correlations[lags <= NEAR].mean())

    def decay(self, stream: RunningText) -> Line:
        """Fit the decay of the correlation.

        Raises
        ------
        ValueError
            There is no correlation that can decay (see `verdict`), or the text is too short.
        """
        if len(stream) < DECAYING:
            raise ValueError(f"estimating the decay needs {DECAYING:,} tokens")
        curve = self.curve(stream)
        if _strength(*curve) == "No":
            raise ValueError("distances between rare words are uncorrelated even at lags up to 10: no decay to fit")
        return fit_line(*self._fitted_points(*curve))

    def verdict(self, stream: RunningText) -> str:
        """``No`` if more than one c(s) is negative for s ≤ 10, ``Weak`` if any is for s ≤ 100, else ``Strong``."""
        return _strength(*self.curve(stream))


def _strength(lags: Floats, correlations: Floats) -> str:
    """See `LongRange.verdict`."""
    if (correlations[lags <= NEAR] < 0).sum() > 1:
        return "No"
    return "Weak" if (correlations[lags <= 100] < 0).any() else "Strong"
