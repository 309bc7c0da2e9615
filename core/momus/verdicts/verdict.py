"""Verdicts: one row per critic, statistic and generated corpus, with effect, interval, p and n."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from momus.critic import Critic
from momus.critic.hooks import row_unit
from momus.critic.powers import headline_of
from momus.critic.scores import Scores
from momus.evidence import Wording
from momus.inference import TestResult
from momus.inference.intervals import ratio_interval

ALPHA = 0.05
KEYS = (
    *("critic", "axis", "statistic", "unit", "generated", "real_value", "generated_value", "difference", "low", "high"),
    *("effect", "effect_kind", "p", "p_adjusted", "q", "mde", "n_real", "n_generated", "unscored_real"),
    *("unscored_generated", "headline", "reference", "effect_low", "effect_high", "equivalence_low"),
    *("equivalence_high", "band", "band_low", "band_high", "band_source", "band_groups", "band_register"),
    *("band_correlation", "standard_error", "freedom", "effective_real"),
    *("effective_generated", "left_out_real", "left_out_generated", "alpha", "refit_spread"),
    *("leads", "p_axis", "p_axis_adjusted", "p_in_axis", "method", "wording", "selection"),
    *("optimism", "leading_width"),
)
"""Keys of a row of ``verdicts.jsonl``, in order."""
Finding = Literal[
    "not tested", "not told apart", "within human variation", "undecided", "beyond human variation", "differs"
]


@dataclass(frozen=True, kw_only=True)
class Verdict(TestResult):
    """The test of one statistic of a critic between two texts, with what the table makes of it.

    Its attributes, and those of the test (`momus.inference.TestResult`), are the keys of a row of ``verdicts.jsonl``; a
    value that does not exist is None.

    Attributes
    ----------
    band, band_low, band_high
        The human band, in units of the effect, with its 95 % interval: 95 % of pairs of human authors differ by no more
        (`momus.verdicts.band`). None where it is not known.
    band_source, band_groups, band_register
        Whether it was estimated from the ``groups`` of the real text or is a ``default``; from how many groups; and
        the row of the atlas that a default is (`momus.verdicts.band`).
    band_correlation
        Correlation of the errors of the effect and of the band, to which the same groups contribute.
    p_adjusted, q
        p of the test, adjusted (`momus.verdicts.table.adjust`); Benjamini–Hochberg q over all rows.
    p_axis_adjusted, leads
        Of a statistic in the family of its axis: p of the axis, adjusted over axes, and whether the statistic leads the
        family (`momus.verdicts.table.with_leading`).
    reference
        What the generated corpus is compared with: ``real``, or another generated corpus.
    refit_spread
        Standard deviation of the difference over fits of the critic from other starts (`Reporting.restarts`).
    selection
        How many times wider an interval must be so that of those that are selected from a table, since their rows
        differ, an expected share of at most α misses its value (`momus.verdicts.table.selected`).
    optimism, leading_width
        If the row is told first because it is the largest of the table: what part of its size is taken off, and how
        many times farther the end of its interval reaches that is nearer to 0 (`momus.verdicts.table.held`).
    wording
        Name, direction, unit and format of the statistic for readers, see `momus.evidence.Wording`.
    """

    critic: str
    axis: str
    unit: str
    generated: str
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
    refit_spread: float | None = None
    leads: bool = False
    wording: Wording = field(default_factory=Wording)
    selection: float = 1.0
    optimism: float = 0.0
    leading_width: float = 1.0

    def __hash__(self) -> int:
        return hash((self.critic, self.statistic, self.generated, self.reference))

    @classmethod
    def of(
        cls, critic: Critic[Any], result: TestResult, real: Scores, generated: Scores, *, alpha: float = ALPHA
    ) -> Verdict:
        """Build the row of one test."""
        return cls(
            **vars(result),
            critic=critic.name,
            axis=critic.axis,
            unit=row_unit(critic),
            generated=generated.corpus,
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
    def is_finding(self) -> bool:
        """Whether the row differs and is in the family of its axis, which differs then: no others are findings."""
        return self.differs and self.p_in_axis is not None

    @property
    def gap(self) -> float | None:
        """Size of the effect in human bands: 95 % of pairs of human authors lie within 1."""
        if self.effect is None or not self.band:
            return None
        size = max(self.effect, 0.0) if self.effect_kind == "distance" else abs(self.effect)
        return size / self.band

    @property
    def gap_interval(self) -> tuple[float, float] | None:
        """Interval of `gap`, from those of the effect and of the band; from 0 where that of the effect holds 0."""
        return self._gap_interval(1.0)

    @property
    def leading_gap(self) -> float | None:
        """`gap` without the part that it owes to being chosen as the largest: the size of what is told first."""
        return None if self.gap is None else self.gap * (1 - self.optimism)

    @property
    def leading_gap_interval(self) -> tuple[float, float] | None:
        """Interval of the gap that holds where the row is told first, since it is the largest of the table."""
        interval, inner = self.gap_interval, self._gap_interval(self.leading_width)
        return None if interval is None or inner is None else (inner[0], interval[1])

    @property
    def leading_effect_interval(self) -> tuple[float, float] | None:
        """Interval of the effect that holds where the row is told first, as `leading_gap_interval`."""
        if self.effect is None or self.effect_low is None or self.effect_high is None:
            return None
        low, high, wider = self.effect_low, self.effect_high, self.leading_width
        if self.effect >= 0:
            return self.effect - wider * (self.effect - low), high
        return low, self.effect + wider * (high - self.effect)

    def _gap_interval(self, wider: float) -> tuple[float, float] | None:
        """Interval of `gap` from one of the effect that is ``wider`` times as wide, and one of an estimated band.

        That of the band is as much wider on the log scale. Of a default, it is a prediction for another kind
        of text, which no selection of rows widens.
        """
        if self.effect is None or self.effect_low is None or self.effect_high is None or not self.band:
            return None
        # each end moves away from the effect by its own distance: intervals need not be symmetric
        low, high = (end + (wider - 1) * (end - self.effect) for end in (self.effect_low, self.effect_high))
        # the gap is |effect|: an interval that holds 0 reaches down to a gap of 0
        inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        size = max(self.effect, 0.0) if self.effect_kind == "distance" else abs(self.effect)
        power = wider if self.band_source == "groups" else 1.0
        # a band is above 0, so its ends are widened as ratios, which cannot cross 0
        least, most = (self.band * ((b or self.band) / self.band) ** power for b in (self.band_low, self.band_high))
        return ratio_interval((size, inner, max(abs(low), abs(high))), (self.band, least, most), self.band_correlation)

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
        # before `differs`: a difference can be sure and yet small
        if interval is not None and interval[1] <= 1:
            return "within human variation"
        if not self.differs:
            return "not told apart"
        # only findings beyond human variation were selected by their size, so only these are widened
        selected = self._gap_interval(self.selection)
        if selected is None:
            return "differs"
        return "beyond human variation" if selected[0] > 1 else "undecided"

    def row(self) -> dict[str, Any]:
        """The values of `KEYS` as a dict that JSON can hold."""
        nested = {"method": asdict(self.method), "wording": asdict(self.wording)}
        return {name: nested[name] if name in nested else getattr(self, name) for name in KEYS}


def finite(value: float | None) -> float | None:
    """Turn NaN and infinities into None: a missing value is null, never a magic number.

    >>> finite(float("nan")), finite(1.5)
    (None, 1.5)
    """
    return None if value is None or not math.isfinite(value) else float(value)
