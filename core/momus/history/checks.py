"""Decide the rules of a gate on each axis and in slices, from intervals of distances and of their changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from scipy.stats import norm

from momus.arguments import arg
from momus.history.change import reaches
from momus.history.kept import KeptRun
from momus.history.moves import AxisChange, CorpusDiff, moves_of
from momus.history.rules import (
    EVERY,
    NOT_BEYOND,
    NOT_BEYOND_ITSELF,
    NOT_WORSE,
    Check,
    Limit,
    Rule,
    Rules,
    Status,
    limit_of,
    required_of,
)
from momus.joint.better import NEARER, row_of, told
from momus.joint.gap import POWER, Gap
from momus.joint.slices import FEWEST, Slice, Slices, in_units, normal, reach
from momus.report.words.format import percent, rounded
from momus.verdicts.verdict import Verdict

BEYOND = "beyond human variation"
STEP = float(norm.isf(1 - POWER))
"""Standard errors below a value that its estimate falls with probability 1 − `momus.joint.gap.POWER`."""


Decided = tuple[list[Check], float]
"""Checks of one family, and the smallest adjusted p of a broken limit; 1 without any."""


@dataclass(frozen=True)
class _Limited:
    """A rule on one row, with what its interval is made of, or why there is none.

    Attributes
    ----------
    by
        The row by which it is told what would have been found.
    chosen_of
        Of how many statistics of the axis the row was chosen.
    fails
        Whether the gate fails if there is no interval: the rule names the axis.
    shown
        Whether the limit must be shown to be kept.
    """

    rule: Rule
    text: str
    row: Verdict
    limit: Limit
    gap: Gap | str
    by: Verdict
    chosen_of: int = 1
    fails: bool = True
    shown: bool = False

    def check(self, level: float) -> Check:
        """Decide by the end of an interval that lies on the wrong side with probability ``level`` at most."""
        v, limit = self.row, self.limit
        if isinstance(self.gap, str):
            return _open(self.rule, self.text, v, self.gap, limit.value, self.fails)
        level /= self.chosen_of
        low, high = self.gap.interval(level, limit.value)
        broken = high > limit.value if self.shown else low > limit.value
        span, bands = (self.gap.value, low, high, limit.value), not limit.words
        power = _detectable(self.by, self.gap, limit.value, level, bands)
        return _check_of(self.rule, self.text, v, "failed" if broken else "passed", span, bands=bands, **power)


def _detectable(v: Verdict, gap: Gap, limit: float, level: float, bands: bool) -> dict[str, Any]:
    """What a rule on an axis would have found, told by a row that has values of both texts where one has a band."""
    of_row = Gap.of(v) if bands else gap
    least = (gap if isinstance(of_row, str) else of_row).detectable(limit, level)
    real, share = v.real_value or 0.0, v.wording.format == "share"
    change = in_units(v, least * (v.band or 0.0), real, rises=False) if bands else least
    if not v.wording.concrete or not change or (change > 1 if share else real <= 0):
        return {"detectable": least}
    return {"detectable": least, "change": f"{rounded(100 * change)} points" if share else percent(change / real)}


def decide_distances(run: KeptRun, corpora: Sequence[str], rules: Rules, level: float, sequential: bool) -> Decided:
    """Decide limits of distances, preferences, and required findings.

    Parameters
    ----------
    level
        Probability with which any interval may miss its distance.
    sequential
        Whether findings are decided by intervals of this level too, not by those of the run.
    """
    decided = [rule for corpus in corpora for rule in _on_rows(run, corpus, rules, sequential)]
    # stable: those without an interval first
    decided.sort(key=lambda x: isinstance(x, _Limited) and isinstance(x.gap, Gap))
    limited = [(x, x.gap) for x in decided if isinstance(x, _Limited) and isinstance(x.gap, Gap)]
    share = level / max(len(limited), 1)
    p = min((len(limited) * x.chosen_of * gap.p_above(x.limit.value) for x, gap in limited), default=1.0)
    return [x if isinstance(x, Check) else x.check(share) for x in decided], p


def _on_rows(run: KeptRun, corpus: str, rules: Rules, sequential: bool) -> Iterator[_Limited | Check]:
    """The rules on each row of a generated corpus; those on findings of the run are decided already."""
    rows, speaking = run.rows(corpus), run.speaking(corpus)
    for limit in (x for x in rules.max if x.words and x.side != "worse" and x.critic in rows):
        v = row_of(rows[limit.critic], limit.statistic, arg("max", str(limit)))
        gap = Gap.of_difference(v, limit.side)
        yield _Limited("max", f"max {limit}", v, _in_own_unit(limit, v.real_value), gap, v)
    for p in rules.better:
        v, (limit, text) = p.row(rows), rules.limit_of_worse(p)
        shown = NOT_WORSE in required_of(rules.require, p.critic)
        text = text.replace("better", "require not-worse:", 1) if shown else text
        yield _Limited("better", text, v, _in_own_unit(limit, v.real_value), p.gap(v, run.joint.nearer), v, shown=shown)
    tested = sum(v.p is not None for v in speaking.values())
    for critic, v in speaking.items():
        limits: list[tuple[Rule, str, Limit]] = []
        most = limit_of(rules.max, critic)
        if most is not None:
            limits.append(("max", f"max {most}", most))
        by = rows[critic][told(rows[critic])]
        for finding, written in required_of(rules.require, critic).items():
            if finding == NOT_WORSE:
                continue
            named = written != finding
            if sequential and finding in (NOT_BEYOND, NOT_BEYOND_ITSELF):
                limits.append(("require", f"require {written}", Limit(critic if named else EVERY, 1.0)))
            else:
                yield _required(finding, f"require {written}", v, by, tested, named)
        # the row that speaks was chosen of its family
        chosen_of = max(sum(row.p_in_axis is not None for row in rows[critic].values()), 1)
        for rule, text, limit in limits:
            yield _Limited(rule, text, v, limit, Gap.of(v), by, chosen_of, limit.critic != EVERY)
    # rules for all axes, on critics that could not be fitted on these texts
    texts: list[tuple[Rule, str, float]] = [("max", f"max {x}", x.value) for x in rules.max if x.critic == EVERY]
    texts += [("require", f"require {f}", 1.0) for f in required_of(rules.require, EVERY) if f != NOT_WORSE]
    for critic, reason in run.left_out.items():
        for rule, text, value in texts:
            yield Check(rule, text, corpus, critic, critic, "not checked", limit=value, reason=reason)


def _in_own_unit(limit: Limit, real: float | None) -> Limit:
    """A limit of a difference in units of the statistic, whose value in the reference is ``real``."""
    return replace(limit, value=limit.value * (abs(real or 0.0) / 100 if limit.words.startswith("%") else 1.0))


def _required(finding: str, text: str, v: Verdict, by: Verdict, tested: int, fails: bool) -> Check:
    """A required finding of the verdict that speaks for one of the axes that are tested."""
    interval = v.gap_interval
    if v.p is None:
        return _open("require", text, v, v.method.reason or "it was not tested", 1.0, fails)
    if interval is None and not v.band and finding == NOT_BEYOND_ITSELF and v.differs:
        return _without_variation(text, v)
    if interval is None:
        return _open("require", text, v, "its effect has no interval" if v.band else "it has no band", 1.0, fails)
    broken = v.finding == BEYOND if finding in (NOT_BEYOND, NOT_BEYOND_ITSELF) else interval[1] > 1
    gap = Gap.of(v)
    # an axis that alone is found is selected among all: its interval has their share of the level, with two ends
    power = {} if isinstance(gap, str) else _detectable(by, gap, 1.0, v.alpha / 2 / max(tested, 1), bands=True)
    return _check_of("require", text, v, "failed" if broken else "passed", (v.gap, *interval, 1.0), **power)


def _without_variation(text: str, v: Verdict) -> Check:
    """The check of an axis on which texts differ and the old one shows no variation: whatever differs is beyond it."""
    sign = -1 if (v.difference or 0.0) < 0 else 1
    low, high = (v.low, v.high) if sign > 0 else (v.high, v.low)
    value, low, high = (None if x is None else sign * x for x in (v.difference, low, high))
    return _check_of("require", text, v, "failed", (value, low, high, 0.0), bands=False)


def _open(rule: Rule, text: str, v: Verdict, reason: str, limit: float, fails: bool) -> Check:
    """A rule that these texts do not decide; it fails only if it names the axis."""
    return _check_of(rule, text, v, "not decided" if fails else "not checked", (None, None, None, limit), reason=reason)


Span = tuple[float | None, float | None, float | None, float]
"""Value, interval and limit."""


def _check_of(rule: Rule, text: str, v: Verdict, status: Status, span: Span, **more: Any) -> Check:
    return Check(rule, text, v.generated, v.critic, v.axis, status, *span, statistic=v.statistic, **more)


def decide_changes(
    baseline: KeptRun, run: KeptRun, pairs: Sequence[tuple[str, str]], rules: Rules, level: float
) -> Decided:
    """Decide limits of changes in distance.

    Parameters
    ----------
    pairs
        Generated corpora, of the baseline and of the run.
    level
        Probability with which any interval may miss its change.
    """
    checks: list[Check] = []
    p = 1.0
    for pair in pairs:
        moves = moves_of(baseline, run, pair)
        limited: list[tuple[AxisChange, Limit]] = []
        later = run.headlines(pair[1])
        for a in moves.axes:
            limit = limit_of(rules.max_worse, a.critic)
            if limit is not None and a.band:
                limited.append((a, limit))
            elif limit is not None:
                why, named = "it has no human band", limit.critic != EVERY
                checks.append(_open("max-worse", f"max-worse {limit}", later[a.critic], why, limit.value, named))
        columns = sum(len(a.moves.values) for a, _ in limited) * len(pairs)
        reach = reaches([a.moves for a, _ in limited], 1 - level / len(pairs))
        for (a, limit), r in zip(limited, reach, strict=True):
            unit = a.band or 1.0
            low, high = (end / unit for end in a.moves.interval(r))
            status: Status = "failed" if low > limit.value else "passed"
            span = a.change / unit, low, high, limit.value
            least = limit.value + (r + STEP) * float(a.moves.errors.max()) / unit
            of = replace(later[a.critic], generated=pair[1], statistic=a.statistic)
            checks.append(_check_of("max-worse", f"max-worse {limit}", of, status, span, detectable=least))
            p = min(p, a.moves.p_above(limit.value * unit, columns))
        checks += _not_compared(baseline, run, pair, moves, rules)
    return checks, p


def _not_compared(
    baseline: KeptRun, run: KeptRun, pair: tuple[str, str], moves: CorpusDiff, rules: Rules
) -> list[Check]:
    """Axes that cannot be compared with the baseline; one fails the gate if a limit names it."""
    checks = []
    verdicts = [r.headlines(corpus) for r, corpus in zip((run, baseline), pair[::-1], strict=True)]
    for critic, why in moves.not_compared.items():
        limit = limit_of(rules.max_worse, critic)
        shown = next((v[critic] for v in verdicts if critic in v), None)
        if limit is not None and shown is not None:
            check = _open("max-worse", f"max-worse {limit}", shown, why, limit.value, limit.critic != EVERY)
            checks.append(replace(check, corpus=pair[1]))
    return checks


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
                failed.setdefault((c.critic, c.name), _check(s, c, b, level / texts))
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
        Bound(rule, text, _in_own_unit(x, c.real_value).value, 1.0, x.words)
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


def _check(s: Slices, c: Slice, b: Bound, level: float) -> Check:
    # one end decides
    far, moved = reach(c, s.critical(2 * level)), b.moved(c.difference)
    value, low, high = (x / b.band for x in (moved, moved - far, moved + far))
    span, name = (value, low, high, b.limit), f"{c.axis} in {c.name}"
    return Check(b.rule, b.text, s.generated, c.critic, name, "failed", *span, not b.words, statistic=c.statistic)
