"""Verdicts: one row per critic, statistic and generated corpus, with effect, interval, p and n."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from momus.critic.hooks import row_unit
from momus.critic.powers import headline_of
from momus.critic.scores import Scores
from momus.errors import UsageError
from momus.evidence import Wording
from momus.inference import Method, TestResult, benjamini_hochberg, holm
from momus.inference.spread import ratio_interval

if TYPE_CHECKING:
    from momus.critic import Critic

ADJUSTMENTS = ("holm", "bh", "none", "holm-table", "bh-table")
ALPHA = 0.05
KEYS = (
    *("critic", "axis", "statistic", "unit", "generated", "real_value", "generated_value", "difference", "low", "high"),
    *("effect", "effect_kind", "p", "p_adjusted", "q", "mde", "n_real", "n_generated", "unscored_real"),
    *("unscored_generated", "headline", "reference", "effect_low", "effect_high", "equivalence_low"),
    *("equivalence_high", "band", "band_low", "band_high", "band_source", "band_groups", "band_register"),
    *("band_correlation", "standard_error", "freedom", "effective_real"),
    *("effective_generated", "left_out_real", "left_out_generated", "alpha", "delta", "equivalent", "refit_spread"),
    *("leads", "p_axis", "p_axis_adjusted", "p_in_axis", "method", "wording", "selection"),
)
"""Keys of a row of ``verdicts.jsonl``, in order."""
_T = TypeVar("_T")
Finding = Literal[
    "not tested", "not told apart", "within human variation", "undecided", "beyond human variation", "differs"
]


class _OfResult(Generic[_T]):
    """An attribute of a verdict that its test result holds."""

    def __set_name__(self, owner: type[Verdict], name: str) -> None:
        self.name = name

    def __get__(self, verdict: Verdict, owner: type[Verdict]) -> _T:
        value: _T = getattr(verdict.result, self.name)
        return value


class _Number(_OfResult[float | None]):
    """A number that the test result holds; None where that has NaN or an infinity."""

    def __get__(self, verdict: Verdict, owner: type[Verdict]) -> float | None:
        return finite(super().__get__(verdict, owner))


@dataclass(frozen=True, eq=False)
class Verdict:
    """The test of one statistic of a critic between two texts, with what the table makes of it.

    All attributes but ``result`` are keys of a row of ``verdicts.jsonl``; a value that does not exist is None.

    Attributes
    ----------
    result
        The test; the attributes of the statistic, from ``statistic`` to ``method`` below, are read from it.
    real_value, generated_value
        The statistic of each corpus. Of a distance: the mean distance of two samples of these sizes from one source,
        over permutations, and the distance of the two corpora.
    difference, low, high
        generated − real, with its interval. Of a distance: the distance between the two populations, which is
        estimated, with its interval.
    effect, effect_kind, effect_low, effect_high
        ``hedges_g``, ``log_ratio``, ``difference`` or ``distance`` (the difference), with its interval.
    equivalence_low, equivalence_high
        Interval of the effect at level 1 − 2α.
    band, band_low, band_high
        The human band, in units of the effect, with its 95 % interval: 95 % of pairs of human authors differ by no more
        (`momus.verdicts.band`). None where it is not known.
    band_source, band_groups, band_register
        Whether it was estimated from the ``groups`` of the real text or is a ``default``; from how many groups; and
        the row of the atlas that a default is (`momus.verdicts.atlas`).
    band_correlation
        Correlation of the errors of the effect and of the band, to which the same groups contribute.
    p, p_adjusted, q
        The p-value of the test; adjusted (see `adjust`); Benjamini–Hochberg q over all rows.
    p_axis, p_axis_adjusted, p_in_axis, leads
        Of a statistic in the family of its axis: p of the axis, that p adjusted over axes, p of the statistic adjusted
        over its family by step-down (`momus.inference.family`), and whether it leads the family (`with_leading`).
    n_real, n_generated
        Documents that take part in the test (groups, for laws of running text).
    effective_real, effective_generated
        Numbers of equally long documents that would determine the values as well.
    left_out_real, left_out_generated
        Scored documents without a partner on the other side, which do not take part.
    standard_error, freedom
        Standard error of the difference, and its degrees of freedom.
    reference
        What the generated corpus is compared with: ``real``, or another generated corpus.
    delta, equivalent
        Whether the effect is shown to lie within ±δ: its interval at level 1 − 2α lies inside. None where no δ was
        given, or where there is no interval.
    refit_spread
        Standard deviation of the difference over refits of the critic on bootstrap resamples of the fitted text.
    mde
        Minimum detectable difference: 80 % power at the level α/m of a table with m headline rows.
    method
        How the row was tested, see `momus.inference.Method`.
    selection
        How many times wider an interval must be so that of those that are selected from a table, since their rows
        differ, an expected share of at most α misses its value (`selected`).
    wording
        Name, direction, unit and format of the statistic for readers, see `momus.evidence.Wording`.
    """

    critic: str
    axis: str
    unit: str
    generated: str
    result: TestResult
    unscored_real: int
    unscored_generated: int
    headline: bool
    reference: str = "real"
    p_adjusted: float | None = None
    p_axis_adjusted: float | None = None
    q: float | None = None
    band: float | None = None
    band_low: float | None = None
    band_high: float | None = None
    band_source: str = ""
    band_groups: int = 0
    band_register: str = ""
    band_correlation: float = 0.0
    alpha: float = ALPHA
    delta: float | None = None
    equivalent: bool | None = None
    refit_spread: float | None = None
    leads: bool = False
    wording: Wording = field(default_factory=Wording)
    selection: float = 1.0

    statistic, effect_kind = _OfResult[str](), _OfResult[str]()
    real_value, generated_value = _Number(), _Number()
    difference, low, high = _Number(), _Number(), _Number()
    effect, effect_low, effect_high = _Number(), _Number(), _Number()
    equivalence_low, equivalence_high = _Number(), _Number()
    p, mde, standard_error, freedom = _Number(), _Number(), _Number(), _Number()
    p_axis, p_in_axis = _Number(), _Number()
    n_real, n_generated = _OfResult[int](), _OfResult[int]()
    effective_real, effective_generated = _Number(), _Number()
    left_out_real, left_out_generated = _OfResult[int](), _OfResult[int]()
    method = _OfResult[Method]()

    def __eq__(self, other: object) -> bool:
        """Whether both have the same row: the NaN of a test result differs from itself, and null does not."""
        return isinstance(other, Verdict) and self.row() == other.row()

    def __hash__(self) -> int:
        return hash((self.critic, self.statistic, self.generated, self.reference))

    @classmethod
    def of(
        cls, critic: Critic[Any], result: TestResult, real: Scores, generated: Scores, *, alpha: float = ALPHA
    ) -> Verdict:
        """Build the row of one test."""
        return cls(
            critic=critic.name,
            axis=critic.axis,
            unit=row_unit(critic),
            generated=generated.corpus,
            result=result,
            unscored_real=len(real) - real.n_scored,
            unscored_generated=len(generated) - generated.n_scored,
            headline=result.statistic == headline_of(critic),
            reference=real.corpus,
            alpha=alpha,
        )

    @property
    def differs(self) -> bool:
        """Whether the adjusted p-value rejects equality at level ``alpha``."""
        return self.p_adjusted is not None and self.p_adjusted <= self.alpha

    @property
    def found(self) -> bool:
        """Whether the row differs and is in the family of its axis, which differs then: no others are findings."""
        return self.differs and self.p_in_axis is not None

    @property
    def gap(self) -> float | None:
        """Size of the effect in human bands: 1 is as far as one human author usually lies from another."""
        if self.effect is None or not self.band:
            return None
        size = max(self.effect, 0.0) if self.effect_kind == "distance" else abs(self.effect)
        return size / self.band

    @property
    def gap_interval(self) -> tuple[float, float] | None:
        """Interval of `gap`, from those of the effect and of the band; from 0 where that of the effect holds 0."""
        if self.effect is None or self.effect_low is None or self.effect_high is None or not self.band:
            return None
        low, high = self.effect_low, self.effect_high
        inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        size = max(self.effect, 0.0) if self.effect_kind == "distance" else abs(self.effect)
        band = self.band, self.band_low or self.band, self.band_high or self.band
        return ratio_interval((size, inner, max(abs(low), abs(high))), band, self.band_correlation)

    @property
    def finding(self) -> Finding:
        """What the row shows, decided in this order.

        *Within* human variation if the whole interval of the gap lies below 1: a test of equivalence, whether or not
        the texts differ. *Not told apart* if equality is not rejected. Of texts that differ: *beyond* human variation
        if the whole interval lies above 1, also after its widening for the `selection` of rows that differ; *undecided*
        in between, and *differs* without a band.
        """
        if self.p_adjusted is None:
            return "not tested"
        interval = self.gap_interval
        if interval is not None and interval[1] <= 1:
            return "within human variation"
        if not self.differs:
            return "not told apart"
        if interval is None:
            return "differs"
        low = (self.gap or 0.0) - self.selection * ((self.gap or 0.0) - interval[0])
        return "beyond human variation" if low > 1 else "undecided"

    def row(self) -> dict[str, Any]:
        """The values of `KEYS` as a dict that JSON can hold."""
        nested = {"method": asdict(self.method), "wording": asdict(self.wording)}
        return {name: nested[name] if name in nested else getattr(self, name) for name in KEYS}

    @classmethod
    def json_fields(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        """The fields in a row of ``verdicts.jsonl``, which holds those of the test beside the others."""
        return {**row, "result": {**row, "method": row.get("method")}}


def check_delta(delta: float | None) -> None:
    """Raise `UsageError` unless δ is None or a positive number."""
    if delta is not None and not (delta > 0 and math.isfinite(delta)):
        raise UsageError(f"--equivalence {delta:g}: δ must be above 0", hint="0.2 is a small effect in Hedges' g")


def within(verdict: Verdict, delta: float | None) -> Verdict:
    """Record whether the effect is shown to lie within ±δ.

    Raises
    ------
    UsageError
        δ is not positive.
    """
    check_delta(delta)
    if delta is None:
        return verdict
    low, high = verdict.equivalence_low, verdict.equivalence_high
    inside = None if low is None or high is None else -delta < low and high < delta
    return replace(verdict, delta=delta, equivalent=inside)


def finite(value: float | None) -> float | None:
    """Turn NaN and infinities into None: a missing value is null, never a magic number.

    >>> finite(float("nan")), finite(1.5)
    (None, 1.5)
    """
    return None if value is None or not math.isfinite(value) else float(value)


def adjust(verdicts: Sequence[Verdict], method: str = "holm") -> list[Verdict]:
    """Adjust p-values over the axes of each generated text, or over the whole table.

    * p of the axes are adjusted over the axes of one generated text (``holm``: the chance that any axis without a
      difference is said to differ is at most α for each text; ``bh``: their expected share), or over all axes of the
      table (``holm-table``, ``bh-table``).
    * A row in the family of an axis has its step-down p in the place of that of the axis: both are multiplied by the
      same number. So the leading row has the p of the axis, and within an axis that differs the others are tested at
      the level at which the axis was (Benjamini & Bogomolov 2014).
    * Other rows are adjusted over all rows of the text, or of the table.

    Raises
    ------
    UsageError
        The method is none of `ADJUSTMENTS`.
    """
    if method not in ADJUSTMENTS:
        raise UsageError(f"no adjustment {method!r}", hint=f"choose one of {', '.join(ADJUSTMENTS)}")
    name, _, table = method.partition("-")
    corrections: dict[str, Callable[[Sequence[float]], Sequence[float]]]
    corrections = {"holm": holm, "bh": benjamini_hochberg, "none": list}  # type: ignore[dict-item]
    correct = corrections[name]
    tested = [i for i, v in enumerate(verdicts) if v.p is not None]
    p_of = {i: float(verdicts[i].p or 0.0) for i in tested}
    families: dict[object, list[int]] = {}
    for i in tested:
        families.setdefault(None if table else (verdicts[i].generated, verdicts[i].reference), []).append(i)
    adjusted: dict[int, float] = {}
    of_axis: dict[int, float] = {}
    for rows in families.values():
        leading = [verdicts[i] for i in rows if verdicts[i].leads]
        of_leading = correct([float(v.p_axis or 0.0) for v in leading]) if leading else []
        axes = {(v.critic, v.generated, v.reference): float(p) for v, p in zip(leading, of_leading, strict=True)}
        adjusted |= dict(zip(rows, map(float, correct([p_of[i] for i in rows])), strict=True))
        for i in rows:
            v = verdicts[i]
            if v.p_in_axis is not None and v.p_axis is not None:
                of_axis[i] = axes[v.critic, v.generated, v.reference]
                # a p of 0 is one below the smallest number
                factor = of_axis[i] / v.p_axis if v.p_axis > 0 else len(leading)
                adjusted[i] = min(v.p_in_axis * factor, 1.0)
    q = dict(zip(tested, benjamini_hochberg(list(p_of.values())), strict=True)) if tested else {}
    return [
        replace(v, p_adjusted=adjusted.get(i), p_axis_adjusted=of_axis.get(i), q=float(q[i]) if i in q else None)
        for i, v in enumerate(verdicts)
    ]


def selected(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Widen the intervals that say which differences lie beyond human variation, for their selection from a table.

    Of m axes and texts only those R that differ are asked how far they differ, and those that differ by chance do so
    too far. At level 1 − αR/m, an expected share of at most α of the selected intervals misses its value: the
    false-coverage rate of Benjamini & Yekutieli (2005).
    """
    from scipy.stats import t

    tested = [v for v in speaking(verdicts) if v.p_adjusted is not None]
    share = sum(v.differs for v in tested) / max(len(tested), 1)
    if not 0 < share < 1:
        return list(verdicts)

    def ratio(v: Verdict) -> float:
        reached, plain = (float(t.isf(v.alpha * part / 2, v.freedom or math.inf)) for part in (share, 1.0))
        return reached / plain

    return [replace(v, selection=ratio(v)) for v in verdicts]


def with_leading(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Mark the row that leads the family of an axis, given the rows of one critic and generated text.

    It has the smallest step-down p. Of several (two-sided tests, whose smallest p is twice that of distances, count as
    equal to these), a value comes before a distance, which has no direction, one with a human band before one without,
    and then the largest |t|.
    """
    family = [i for i, v in enumerate(verdicts) if v.p_in_axis is not None]
    smallest = min((verdicts[i].p_in_axis or 0.0 for i in family), default=0.0)

    def order(i: int) -> tuple[float, bool, bool, float]:
        v = verdicts[i]
        t = abs(v.difference / v.standard_error) if v.difference and v.standard_error else math.inf
        p = v.p_in_axis or 0.0
        tied = p <= max(smallest, 2 * v.method.floor) * (1 + 1e-9)
        return 0.0 if tied else p, v.method.family == "distance", v.band is None, -t

    first = min(family, key=order, default=-1)
    return [replace(v, leads=i == first) for i, v in enumerate(verdicts)]


def speaking(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The row that speaks for each axis of each generated text: words, sign, values, size and interval are of this row.

    Of an axis that differs, the one that leads its family; otherwise the headline, or if that is not tested, the
    leading one.
    """
    axes: dict[tuple[str, str, str], list[Verdict]] = {}
    for v in verdicts:
        axes.setdefault((v.critic, v.generated, v.reference), []).append(v)
    return [min(rows, key=_silence) for rows in axes.values()]


def _silence(v: Verdict) -> tuple[bool, bool, bool, bool, bool]:
    """How far a row is from speaking for its axis."""
    tested = v.p_adjusted is not None
    return (
        not v.found,
        not (v.leads and v.differs),
        not (v.headline and tested),
        not (v.leads and tested),
        not v.headline,
    )
