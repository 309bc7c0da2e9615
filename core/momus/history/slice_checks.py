"""Decide the rules of a gate in each slice, from intervals that hold in all slices at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from momus.history.checks import STEP, Check, Decided, Limited, Rule, in_own_unit, undecided
from momus.history.kept import KeptRun
from momus.history.rules import NOT_BEYOND, NOT_BEYOND_ITSELF, NOT_WORSE, Limit, Rules, limit_of, required_of
from momus.joint.better import NEARER, WORSE, Preference, told
from momus.joint.gap import Gap
from momus.joint.slices import FEWEST, Slice, Slices, in_units, normal, reach
from momus.verdicts.verdict import Verdict

SMALL = f"fewer than {FEWEST} prompts or documents on a side"


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
    """Decide limits of distances, what is better, and required findings, in each slice.

    A slice fails if the interval of its difference lies wholly beyond the limit: so many bands of the whole text; where
    ``not-worse`` is required, unless it lies wholly within. The intervals of all slices, statistics and axes of a text
    hold at once.

    Parameters
    ----------
    level
        Probability with which any interval of any text may miss its difference.
    """
    checks: list[Check] = []
    of_corpora = [s for s in run.joint.slices if s.generated in corpora]
    texts = len({s.generated for s in of_corpora})
    smallest = 1.0
    for s in of_corpora:
        rows = run.rows(s.generated)
        bounded = [(c, b) for c in s.cells for b in _bounds(rules, c, rows.get(c.critic, {}))]
        preferred = [x for p in rules.better for x in _preferred(run, s, rules, p)]
        gaps = [x.gap for x in preferred if isinstance(x, Limited) and isinstance(x.gap, Gap)]
        families = texts * max(bool(bounded) + bool(gaps), 1)
        within = level / families
        for decided, p in (_within_bounds(s, bounded, within), _by_preference(s, preferred, within)):
            checks += decided
            smallest = min(smallest, families * p)
        checks += [Check("require", "slice", s.generated, s.by, name, "not checked", reason=SMALL) for name in s.small]
    return checks, smallest


def _within_bounds(s: Slices, bounded: Sequence[tuple[Slice, Bound]], level: float) -> Decided:
    p_values = [p_beyond(s, c, b) for c, b in bounded]
    failed: dict[tuple[str, str], Check] = {}
    for (c, b), p in sorted(zip(bounded, p_values, strict=True), key=lambda pair: pair[1]):
        if p <= level:  # of each axis and slice, the statistic that is surest
            failed.setdefault((c.critic, c.name), _failed(s, c, b, level))
    if failed or not bounded:
        return [*failed.values()], min(p_values, default=1.0)
    b = bounded[0][1]
    name = f"{len({c.name for c, _ in bounded})} slices"
    critical = s.critical(2 * level)
    sizes = [x.limit + (reach(c, critical) + reach(c, STEP)) / x.band for c, x in bounded if not x.words]
    typical = float(median(sizes)) if sizes else None
    passed = Check(b.rule, b.text, s.generated, s.by, name, "passed", limit=b.limit, detectable=typical)
    return [passed], min(p_values)


def _preferred(run: KeptRun, s: Slices, rules: Rules, p: Preference) -> Iterator[Limited | Check]:
    """Nearness to people in each slice, and what must be shown; that a slice is worse is decided among its bounds."""
    required = rules.not_worse(p)
    if not required and p.direction != NEARER:
        return
    v, (limit, text) = p.row(run.rows(s.generated)), rules.limit_of_worse(p)
    cells = {c.name: c for c in s.cells if (c.critic, c.statistic) == (v.critic, v.statistic)}
    nearer = {name: [n for n in run.joint.nearer_in_slices if (n.by, n.slice) == (s.by, name)] for name in s.names}
    gaps = {name: p.gap(v, nearer[name]) if p.direction == NEARER else _worse(p, cells.get(name)) for name in s.names}
    if not any(isinstance(gap, Gap) for gap in gaps.values()):
        reason = str(next(iter(gaps.values()), SMALL))
        yield undecided("better", text, replace(v, axis=f"{v.axis} by {s.by}"), reason, limit.value, fails=False)
        return
    named = required not in ("", NOT_WORSE)
    for name, gap in gaps.items():
        if named or name not in s.small:  # small slices are listed once
            real = cells[name].real_value if name in cells else v.real_value
            here = replace(v, axis=f"{v.axis} in {name}", real_value=real)
            of_slice = in_own_unit(limit, real)
            yield Limited("better", text, here, of_slice, gap, here, fails=named, shown=bool(required))


def _worse(p: Preference, c: Slice | None) -> Gap | str:
    """How far a slice goes the way that is worse, or why that is not known."""
    if c is None:
        return f"slices are compared by means of {FEWEST} or more prompts or documents, which it has not"
    sign = -1 if WORSE[p.direction] == "fewer" else 1
    return Gap(sign * c.difference, c.error, c.error, c.freedom, 1.0, "side")


def _by_preference(s: Slices, preferred: Sequence[Limited | Check], level: float) -> Decided:
    """What fails or is not decided; of a preference that no slice fails, the slice whose interval reaches farthest."""
    limited = [(x, x.gap) for x in preferred if isinstance(x, Limited) and isinstance(x.gap, Gap)]
    parts = len(limited) * s.fields
    checks = [x if isinstance(x, Check) else x.check(level / max(parts, 1)) for x in preferred]
    failed = [c for c in checks if c.status != "passed"]
    for text in dict.fromkeys(c.text for c in checks):
        passed = [c for c in checks if c.text == text and c.status == "passed"]
        if passed and not any(c.text == text and c.status == "failed" for c in failed):
            worst = max(passed, key=lambda c: (c.high or 0.0) - (c.limit or 0.0))
            failed.append(replace(worst, axis=f"{worst.axis}, worst of {len(passed)} slices"))
    return failed, min((parts * gap.p_above(x.limit.value) for x, gap in limited), default=1.0)


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
    decided = [p for p in rules.better if p.direction != NEARER and not rules.not_worse(p)]
    worded += [("better", *rules.limit_of_worse(p)[::-1]) for p in decided]
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
