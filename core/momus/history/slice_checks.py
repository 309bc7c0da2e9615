"""Decide the rules of a gate in each slice, from intervals that hold in all slices at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from momus.history.checks import STEP, Check, Decided, Rule, in_own_unit
from momus.history.kept import KeptRun
from momus.history.rules import NOT_BEYOND, NOT_BEYOND_ITSELF, Limit, Rules, limit_of, required_of
from momus.joint.better import NEARER, told
from momus.joint.slices import FEWEST, Slice, Slices, in_units, normal, reach
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Bound:
    """How far a statistic may move in a slice: a limit in bands, and one band in units of the statistic.

    Of a limit of the difference itself, ``words`` are those of the limit (`Limit.words`), and the band is 1.
    """

    rule: Rule
    text: str
    limit: float
    band: float
    words: str = ""

    def moved(self, difference: float) -> float:
        """How far a difference goes in the direction that is limited; in either, if none is."""
        if self.words.endswith("fewer"):
            return -difference
        return difference if self.sided else abs(difference)

    @property
    def sided(self) -> bool:
        """Whether only one direction is limited."""
        return self.words.endswith(("more", "fewer"))


def decide_slices(run: KeptRun, corpora: Sequence[str], rules: Rules, level: float) -> Decided:
    """Decide limits of distances, and required findings, in each slice.

    A slice fails if the interval of its difference lies wholly beyond the limit: so many bands of the whole text. The
    intervals of all slices, statistics and axes of a text hold at once.

    Parameters
    ----------
    level
        Probability with which any interval of any text may miss its difference.
    """
    checks: list[Check] = []
    of_corpora = [s for s in run.joint.slices if s.generated in corpora]
    texts = max(len({s.generated for s in of_corpora}), 1)
    smallest = 1.0
    for s in of_corpora:
        rows = run.rows(s.generated)
        decided = [(c, b) for c in s.cells for b in _bounds(rules, c, rows.get(c.critic, {}))]
        p_values = [p_beyond(s, c, b) for c, b in decided]
        smallest = min([smallest, *(texts * p for p in p_values)])
        failed: dict[tuple[str, str], Check] = {}
        for (c, b), p in sorted(zip(decided, p_values, strict=True), key=lambda pair: pair[1]):
            if p <= level / texts:  # of each axis and slice, the statistic that is surest
                failed.setdefault((c.critic, c.name), _failed(s, c, b, level / texts))
        checks += failed.values()
        if decided and not failed:
            b = decided[0][1]
            name = f"{len({c.name for c, _ in decided})} slices"
            critical = s.critical(2 * level / texts)
            sizes = [x.limit + (reach(c, critical) + reach(c, STEP)) / x.band for c, x in decided if not x.words]
            typical = float(median(sizes)) if sizes else None
            checks.append(Check(b.rule, b.text, s.generated, s.by, name, "passed", limit=b.limit, detectable=typical))
        reason = f"fewer than {FEWEST} prompts or documents on a side"
        checks += [Check("require", "slice", s.generated, s.by, name, "not checked", reason=reason) for name in s.small]
    return checks, smallest


def p_beyond(s: Slices, c: Slice, b: Bound) -> float:
    """Adjusted p of a difference no larger than the bound."""
    beyond = b.moved(c.difference) - b.limit * b.band
    if beyond <= 0:
        return 1.0
    other = math.inf if b.sided else normal(beyond + 2 * b.limit * b.band, c.error, c.freedom)
    return s.p_beyond(normal(beyond, c.error, c.freedom), other)


def _bounds(rules: Rules, c: Slice, rows: Mapping[str, Verdict]) -> list[Bound]:
    """The bounds of a statistic: the narrowest in bands, if it has a band, and those of its difference."""
    v = rows.get(c.statistic)
    worded: list[tuple[Rule, str, Limit]] = [("max", f"max {x}", x) for x in rules.max if x.side != "worse" and x.words]
    worded += [("better", *rules.limit_of_worse(p)[::-1]) for p in rules.better if p.direction != NEARER]
    differences = [
        Bound(rule, text, in_own_unit(x, c.real_value).value, 1.0, x.words)
        for rule, text, x in worded
        if v is not None and x.critic == c.critic and (x.statistic or told(rows)) == c.statistic
    ]
    rises = c.difference > 0
    band = None if v is None or not v.band else in_units(v, v.band, c.real_value, rises, c.scale)
    if not band:
        return differences
    bounds = []
    most = limit_of(rules.max, c.critic)
    if most is not None:
        bounds.append(Bound("max", f"max {most}", most.value, band))
    for finding, written in required_of(rules.require, c.critic).items():
        if finding in (NOT_BEYOND, NOT_BEYOND_ITSELF):
            bounds.append(Bound("require", f"require {written}", 1.0, band))
    return [*sorted(bounds, key=lambda b: b.limit)[:1], *differences]


def _failed(s: Slices, c: Slice, b: Bound, level: float) -> Check:
    # one end decides
    far, moved = reach(c, s.critical(2 * level)), b.moved(c.difference)
    value, low, high = (x / b.band for x in (moved, moved - far, moved + far))
    span, name = (value, low, high, b.limit), f"{c.axis} in {c.name}"
    return Check(b.rule, b.text, s.generated, c.critic, name, "failed", *span, not b.words, statistic=c.statistic)
