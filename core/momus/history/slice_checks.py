"""Decide the rules of a gate in each slice, from intervals that hold in all slices at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from momus.history.checks import STEP, Check, Decided, Limited, Rule, on_named
from momus.history.kept import KeptRun
from momus.history.rules import NOT_BEYOND, NOT_BEYOND_ITSELF, NOT_WORSE, Limit, Rules, limit_of, required_of
from momus.joint.better import NEARER, WORSE, nearness
from momus.joint.gap import Gap, Kind, RatioGap
from momus.joint.slices import FEWEST, Slice, Slices, in_units, normal, reach
from momus.report.words.findings import statistic_name
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Bound:
    """How far a statistic may move in a slice: a limit in bands, and one band in units of the statistic."""

    rule: Rule
    text: str
    limit: float
    band: float


def decide_slices(run: KeptRun, corpora: Sequence[str], rules: Rules, level: float) -> Decided:
    """Decide limits of distances, what is better, and required findings, in each slice.

    A slice fails if the interval of its difference lies wholly beyond the limit: so many bands of the whole text; where
    ``not-worse`` is required, unless it lies wholly within. The intervals of all slices, statistics and axes of a text
    hold at once.

    Parameters
    ----------
    level
        Probability with which any interval of any text may miss its difference.
    """
    checks, smallest = list[Check](), 1.0
    of_corpora = [s for s in run.joint.slices if s.generated in corpora]
    texts = len({s.generated for s in of_corpora})
    for s in of_corpora:
        rows = run.rows(s.generated)
        bounded = [(c, b) for c in s.cells for b in _bounds(rules, c, rows.get(c.critic, {}))]
        named = [x for whole in on_named(run, s.generated, rules) for x in _in_slices(run, s, rules, whole)]
        families = texts * max(bool(bounded) + any(isinstance(x.gap, Gap) for x in named), 1)
        for decided, p in (_of_all(s, bounded, level / families), _of_named(s, named, level / families)):
            checks += decided
            smallest = min(smallest, families * p)
        reason = f"fewer than {FEWEST} scored prompts or documents on a side"
        of = s.generated, s.by
        checks += [Check("require", "slice", *of, name, "not checked", reason=reason) for name in s.untested]
    return checks, smallest


def _of_all(s: Slices, bounded: Sequence[tuple[Slice, Bound]], level: float) -> Decided:
    """Rules in bands, of all statistics and axes at once."""
    p_values = [p_beyond(s, c, b) for c, b in bounded]
    failed: dict[tuple[str, str], Check] = {}
    for (c, b), p in sorted(zip(bounded, p_values, strict=True), key=lambda pair: pair[1]):
        if p <= level:  # of each axis and slice, the statistic that is surest; one end decides
            far, moved = reach(c, s.critical(2 * level)), abs(c.difference)
            value, low, high = (x / b.band for x in (moved, moved - far, moved + far))
            of = b.rule, b.text, s.generated, c.critic, f"{c.axis} in {c.name}"
            check = Check(*of, "failed", value, low, high, b.limit, statistic=c.statistic)
            check = replace(check, wording=c.wording, values=(c.real_value, c.generated_value), prompts=c.moved_most())
            failed.setdefault((c.critic, c.name), check)
    if failed or not bounded:
        return [*failed.values()], min(p_values, default=1.0)
    b = bounded[0][1]
    name = f"{len({c.name for c, _ in bounded})} slices"
    critical = s.critical(2 * level)
    typical = median(x.limit + (reach(c, critical) + reach(c, STEP)) / x.band for c, x in bounded)
    return [Check(b.rule, b.text, s.generated, s.by, name, "passed", limit=b.limit, detectable=typical)], min(p_values)


def _in_slices(run: KeptRun, s: Slices, rules: Rules, whole: Limited) -> Iterator[Limited]:
    """A rule of one row in each slice; once, where no slice can be tested by it."""
    v, required = whole.row, rules.not_worse(whole.row.critic)
    cells = {c.name: c for c in s.cells if (c.critic, c.statistic) == (v.critic, v.statistic)}
    gaps = {name: _gap(run, s, whole, name, cells.get(name)) for name in s.names}
    if not any(isinstance(gap, Gap) for gap in gaps.values()):
        row = replace(v, axis=f"{v.axis}: {statistic_name(v.statistic)} by {s.by}")
        yield replace(whole, row=row, gap=gaps[s.names[0]], fails=False)
        return
    fails = whole.shown and required != NOT_WORSE  # the requirement names the axis
    for name, gap in gaps.items():
        if fails or name not in s.untested:  # which are listed once
            of = cells.get(name, v)
            axis, old, new = f"{v.axis} in {name}", of.real_value, of.generated_value
            here = replace(v, axis=axis, real_value=old, generated_value=new)
            prompts = cells[name].moved_most(whole.limit.side) if name in cells else ()
            yield replace(whole, row=here, by=here, gap=gap, fails=fails, prompts=prompts)


def _gap(run: KeptRun, s: Slices, whole: Limited, name: str, c: Slice | None) -> Gap | str:
    """How far a slice goes, in the direction that is limited, or why that is not known."""
    if whole.limit.side == WORSE[NEARER]:
        return nearness(whole.row, [n for n in run.joint.nearer_in_slices if (n.by, n.slice) == (s.by, name)])
    if c is None:
        return f"slices are compared by means of {FEWEST} or more prompts or documents, which it has not"
    return gap_in(c, whole.limit)


def gap_in(c: Slice, limit: Limit) -> Gap:
    """How far the statistic of a slice goes, in the direction that is limited."""
    falls, error = limit.side == "fewer", c.error
    effect = -c.difference if falls else c.difference
    kind: Kind = "side" if limit.side else "size"
    if not limit.words.startswith("%"):
        return Gap(effect, error, error, c.freedom, 1.0, kind)
    at_limit = c.ratio.error_at(error, limit.value / 100 * (-1 if falls else 1))
    of = effect, *((error, at_limit) if falls else (at_limit, error)), c.freedom, 1.0
    if not c.ratio.log_error or c.generated_value <= 0:
        return Gap(*of, kind)
    return RatioGap(*of, kind, falls=falls, means=(c.real_value, c.generated_value), ratio=c.ratio)


def _of_named(s: Slices, named: Sequence[Limited], level: float) -> Decided:
    """Rules of one row: what fails or is not decided, else the slice whose interval reaches farthest."""
    limited = [(x, x.gap) for x in named if isinstance(x.gap, Gap)]
    parts = len(limited) * s.fields
    told, checks = list[Check](), [x.check(level / max(parts, 1)) for x in named]
    for text in dict.fromkeys(c.text for c in checks):
        of_rule = [c for c in checks if c.text == text]
        passed = [c for c in of_rule if c.status == "passed"]
        told += [c for c in of_rule if c.status != "passed"]
        if passed and all(c.status != "failed" for c in of_rule):
            worst = max(passed, key=lambda c: (c.high or 0.0) - (c.limit or 0.0))
            told.append(replace(worst, axis=f"{worst.axis}, worst of {len(passed)} slices"))
    return told, min((parts * gap.p_above(x.bound.value) for x, gap in limited), default=1.0)


def p_beyond(s: Slices, c: Slice, b: Bound) -> float:
    """Adjusted p of a difference no larger than the bound."""
    beyond = abs(c.difference) - b.limit * b.band
    if beyond <= 0:
        return 1.0
    other = normal(beyond + 2 * b.limit * b.band, c.error, c.freedom)
    return s.p_beyond(normal(beyond, c.error, c.freedom), other)


def _bounds(rules: Rules, c: Slice, rows: Mapping[str, Verdict]) -> list[Bound]:
    """The narrowest bound of a statistic in bands, if it has a band."""
    v = rows.get(c.statistic)
    band = None if v is None or not v.band else in_units(v, v.band, c.real_value, c.difference > 0, c.scale)
    if not band:
        return []
    most = limit_of(rules.max, c.critic)
    bounds = [] if most is None else [Bound("max", f"max {most}", most.value, band)]
    for finding, written in required_of(rules.require, c.critic).items():
        if finding in (NOT_BEYOND, NOT_BEYOND_ITSELF):
            bounds.append(Bound("require", f"require {written}", 1.0, band))
    return sorted(bounds, key=lambda b: b.limit)[:1]
