"""Decide the rules of a gate on each axis and in slices, from intervals of distances and of their changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from momus.arguments import arg
from momus.errors import UsageError
from momus.history.change import Gap, reaches
from momus.history.kept import KeptRun, incomparable
from momus.history.moves import AxisChange, CorpusDiff, moves_of
from momus.history.rules import (
    EVERY,
    NOT_BEYOND,
    NOT_BEYOND_ITSELF,
    Check,
    Limit,
    Rule,
    Rules,
    Status,
    limit_of,
    required_of,
)
from momus.joint.slices import FEWEST, Slice, Slices, normal, reach
from momus.verdicts.statistics import UNSCORED
from momus.verdicts.verdict import Verdict

BEYOND = "beyond human variation"


Decided = tuple[list[Check], float]
"""Checks of one family, and the smallest adjusted p of a broken limit; 1 without any."""


@dataclass(frozen=True)
class _Limited:
    """A rule on one row, with what its interval is made of, or why there is none.

    Attributes
    ----------
    chosen_of
        Of how many statistics of the axis the row was chosen.
    fails
        Whether the gate fails if there is no interval.
    """

    rule: Rule
    text: str
    row: Verdict
    limit: Limit
    gap: Gap | str
    chosen_of: int = 1
    fails: bool = True

    def check(self, level: float, strict: bool) -> Check:
        """Decide by an interval that misses the distance with probability ``level`` at most."""
        v, limit = self.row, self.limit
        if isinstance(self.gap, str):
            return _open(self.rule, self.text, v, self.gap, limit.value, self.fails)
        low, high = self.gap.interval(level / self.chosen_of)
        broken = high > limit.value if strict and self.rule == "max" else low > limit.value
        span = (self.gap.value, low, high, limit.value)
        bands, unit = not (limit.effect or limit.of_difference), v.statistic if limit.of_difference else ""
        status: Status = "failed" if broken else "passed"
        return Check(self.rule, self.text, v.generated, v.critic, v.axis, status, *span, bands=bands, statistic=unit)


def decide_distances(run: KeptRun, corpora: Sequence[str], rules: Rules, level: float, sequential: bool) -> Decided:
    """Decide limits of distances and required findings.

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
    return [x if isinstance(x, Check) else x.check(share, rules.strict) for x in decided], p


def _on_rows(run: KeptRun, corpus: str, rules: Rules, sequential: bool) -> Iterator[_Limited | Check]:
    """The rules on each row of a generated corpus; those on findings of the run are decided already."""
    headlines, rows = run.headlines(corpus), run.rows(corpus)
    for limit in (x for x in rules.max if x.of_difference and x.critic in rows):
        v = _row_of(rows[limit.critic], limit.statistic or told(rows[limit.critic]), limit)
        bound = replace(limit, value=limit.value * _unit(limit, v.real_value or 0.0))
        yield _Limited("max", f"max {limit}", v, bound, Gap.of_difference(v, limit.words))
    for critic, v in run.speaking(corpus).items():
        limits: list[tuple[Rule, str, Limit]] = []
        lost = _lost(v, rows[critic].get(UNSCORED.name))
        most = limit_of(rules.max, critic)
        if most is not None:
            limits.append(("max", f"max {most}", most))
        for finding, written in required_of(rules.require, critic).items():
            named = written != finding
            if sequential and finding in (NOT_BEYOND, NOT_BEYOND_ITSELF):
                limits.append(("require", f"require {written}", Limit(critic if named else EVERY, 1.0)))
            else:
                yield _required(finding, f"require {written}", v, fails=named or lost)
        # the row that speaks was chosen of its family; the headline is the same whatever the data
        chosen_of = max(sum(row.p_in_axis is not None for row in rows[critic].values()), 1)
        for rule, text, limit in limits:
            # a limit in units of an effect is one of the headline, whose unit does not change
            gap = Gap.of(headlines.get(critic, v) if limit.effect else v, limit.effect)
            fails = limit.critic != EVERY or lost
            yield _Limited(rule, text, v, limit, gap, 1 if limit.effect else chosen_of, fails)
    # rules for all axes, on critics that could not be fitted on these texts
    texts: list[tuple[Rule, str, float]] = [("max", f"max {x}", x.value) for x in rules.max if x.critic == EVERY]
    texts += [("require", f"require {finding}", 1.0) for finding in required_of(rules.require, EVERY)]
    for critic, reason in run.left_out.items():
        for rule, text, value in texts:
            yield Check(rule, text, corpus, critic, critic, "not checked", limit=value, reason=reason)


def told(rows: Mapping[str, Verdict]) -> str:
    """The statistic of a critic that a limit of a difference is for: the first of its family that is no distance.

    That is the headline where it is a number of each text, and for lengths the mean.
    """
    values = [v for v in rows.values() if v.effect_kind != "distance" and (v.headline or v.p_in_axis is not None)]
    ordered = sorted(values, key=lambda v: not v.headline)
    return next((v.statistic for v in ordered), next(iter(rows)))


def _row_of(rows: Mapping[str, Verdict], name: str, limit: Limit) -> Verdict:
    """The row of the statistic that a limit is for."""
    if name not in rows:
        raise UsageError(
            f"{arg('max', str(limit))}: no statistic {name!r}", hint=f"its statistics are {', '.join(rows)}"
        )
    return rows[name]


def _unit(limit: Limit, real: float) -> float:
    """One unit of a limit of a difference, in units of the statistic, whose value in the reference is ``real``."""
    return abs(real) / 100 if limit.words.startswith("%") else 1.0


def _required(finding: str, text: str, v: Verdict, fails: bool) -> Check:
    """A required finding of the verdict that speaks for an axis."""
    interval = v.gap_interval
    if v.p is None:
        return _open("require", text, v, v.method.reason or "it was not tested", 1.0, fails)
    if interval is None and not v.band and finding == NOT_BEYOND_ITSELF and v.differs:
        return _without_variation(text, v)
    if interval is None:
        return _open("require", text, v, "its effect has no interval" if v.band else "it has no band", 1.0, fails)
    broken = v.finding == BEYOND if finding in (NOT_BEYOND, NOT_BEYOND_ITSELF) else interval[1] > 1
    status: Status = "failed" if broken else "passed"
    return Check("require", text, v.generated, v.critic, v.axis, status, v.gap, *interval, limit=1.0)


def _without_variation(text: str, v: Verdict) -> Check:
    """The check of an axis on which texts differ and the old one shows no variation: whatever differs is beyond it."""
    sign = -1 if (v.difference or 0.0) < 0 else 1
    low, high = (v.low, v.high) if sign > 0 else (v.high, v.low)
    value, low, high = (None if x is None else sign * x for x in (v.difference, low, high))
    moved = Check("require", text, v.generated, v.critic, v.axis, "failed", value, low, high, 0.0)
    return replace(moved, bands=False, statistic=v.statistic)


def _open(rule: Rule, text: str, v: Verdict, reason: str, limit: float, fails: bool) -> Check:
    """A rule that these texts do not decide."""
    status: Status = "not decided" if fails else "not checked"
    return Check(rule, text, v.generated, v.critic, v.axis, status, limit=limit, reason=reason)


def _lost(v: Verdict, unscored: Verdict | None) -> bool:
    """Whether one text has no scored document and the other has: that must not pass as a critic that does not apply.

    Only if the shares of unscored documents differ: of two texts that hardly have what a critic reads, one may have
    none by chance. Sets of documents (several answers per prompt) are how texts were made, not what they say.
    """
    one_sided = (v.n_real == 0) != (v.n_generated == 0)
    return one_sided and v.unit == "document" and unscored is not None and unscored.differs


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
            if limit is not None and (limit.effect or a.band):
                limited.append((a, limit))
            elif limit is not None:
                why = f"it has no human band; limit its change as {a.critic}.effect"
                named = limit.critic != EVERY
                checks.append(_open("max-worse", f"max-worse {limit}", later[a.critic], why, limit.value, named))
        columns = sum(len(a.moves.values) for a, _ in limited) * len(pairs)
        reach = reaches([a.moves for a, _ in limited], 1 - level / len(pairs))
        for (a, limit), r in zip(limited, reach, strict=True):
            unit = 1.0 if limit.effect or not a.band else a.band
            low, high = (end / unit for end in a.moves.interval(r))
            status: Status = "failed" if (high if rules.strict else low) > limit.value else "passed"
            span = a.change / unit, low, high, limit.value
            text, bands = f"max-worse {limit}", not limit.effect
            checks.append(Check("max-worse", text, pair[1], a.critic, a.axis, status, *span, bands=bands))
            p = min(p, a.moves.p_above(limit.value * unit, columns))
        checks += _not_compared(baseline, run, pair, moves, rules)
    return checks, p


def _not_compared(
    baseline: KeptRun, run: KeptRun, pair: tuple[str, str], moves: CorpusDiff, rules: Rules
) -> list[Check]:
    """Axes that cannot be compared with the baseline.

    An axis fails the gate if a limit names it, or if the baseline was tested on it and the run was not: a text
    without a scored document must not pass. A critic that measures something else now is not checked.
    """
    checks = []
    verdicts = [r.headlines(corpus) for r, corpus in zip((baseline, run), pair, strict=True)]
    for critic, why in moves.not_compared.items():
        limit = limit_of(rules.max_worse, critic)
        one, other = (v.get(critic) for v in verdicts)
        shown = other or one
        if limit is None or shown is None:
            continue
        tested = one is not None and one.p is not None and one.unit in ("document", "block")
        lost = tested and (other is None or other.p is None) and not incomparable(baseline, run, critic)
        check = _open("max-worse", f"max-worse {limit}", shown, why, limit.value, limit.critic != EVERY or lost)
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
        return difference if self.words.endswith("more") else abs(difference)


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
    of_corpora = [s for s in run.slices if s.generated in corpora]
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
            checks.append(Check(b.rule, b.text, s.generated, s.by, name, "passed", limit=b.limit))
        reason = f"fewer than {FEWEST} prompts or documents on a side"
        checks += [Check("require", "slice", s.generated, s.by, name, "not checked", reason=reason) for name in s.small]
    return checks, smallest


def p_beyond(s: Slices, c: Slice, b: Bound) -> float:
    """Adjusted p of a difference no larger than the bound."""
    beyond = b.moved(c.difference) - b.limit * b.band
    return 1.0 if beyond <= 0 else s.p_of(normal(beyond, c.error, c.freedom))


def _bounds(rules: Rules, c: Slice, rows: Mapping[str, Verdict]) -> list[Bound]:
    """The bounds of a statistic: the narrowest in bands, if it has a band, and those of its difference."""
    v = rows.get(c.statistic)
    differences = [
        Bound("max", f"max {x}", x.value * _unit(x, c.real_value), 1.0, x.words)
        for x in rules.max
        if v is not None and x.of_difference and x.critic == c.critic and (x.statistic or told(rows)) == c.statistic
    ]
    band = None if v is None or not v.band else _in_units(c, v, v.band)
    if not band:
        return differences
    bounds = []
    most = limit_of(rules.max, c.critic)
    if most is not None and not most.effect:
        bounds.append(Bound("max", f"max {most}", most.value, band))
    for finding, written in required_of(rules.require, c.critic).items():
        if finding in (NOT_BEYOND, NOT_BEYOND_ITSELF):
            bounds.append(Bound("require", f"require {written}", 1.0, band))
    return [*sorted(bounds, key=lambda b: b.limit)[:1], *differences]


def _in_units(c: Slice, v: Verdict, band: float) -> float | None:
    """A band, which is in units of the effect, in units of the statistic."""
    if v.effect_kind == "log_ratio":
        return abs(c.real_value) * (math.expm1(band) if c.difference > 0 else -math.expm1(-band))
    if v.effect_kind == "hedges_g":
        # the effect of the whole text knows its own standard deviation
        return band * (abs(v.difference / v.effect) if v.effect and v.difference else c.scale)
    return band if v.effect_kind == "difference" else None


def _check(s: Slices, c: Slice, b: Bound, level: float) -> Check:
    far, moved = reach(c, s.critical(level)), b.moved(c.difference)
    value, low, high = (x / b.band for x in (moved, moved - far, moved + far))
    name = f"{c.axis} in {c.name}"
    unit, bands = c.statistic if b.words else "", not b.words
    return Check(
        b.rule, b.text, s.generated, c.critic, name, "failed", value, low, high, b.limit, bands, statistic=unit
    )
