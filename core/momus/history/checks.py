"""Decide the rules of a gate on each axis, from intervals of distances and of their changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from scipy.stats import norm

from momus.arguments import arg
from momus.evidence import Wording
from momus.history.change import reaches
from momus.history.kept import KeptRun
from momus.history.moves import AxisChange, CorpusDiff, moves_of
from momus.history.rules import (
    EVERY,
    NOT_BEYOND,
    NOT_BEYOND_ITSELF,
    NOT_WORSE,
    Limit,
    Rules,
    limit_of,
    required_of,
)
from momus.joint.better import NEARER, WORSE, row_of, told
from momus.joint.gap import POWER, Gap
from momus.joint.slices import in_units
from momus.report.words.format import percent, rounded
from momus.verdicts.statistics import UNSCORED
from momus.verdicts.verdict import Verdict

BEYOND = "beyond human variation"
STEP = float(norm.isf(1 - POWER))
"""Standard errors below a value that its estimate falls with probability 1 − `momus.joint.gap.POWER`."""

Rule = Literal["better", "max", "max-worse", "require"]
Status = Literal["passed", "failed", "not decided", "not checked"]
Measure = Literal["distance", "difference", "nearness"]


@dataclass(frozen=True)
class Check:
    """One rule on one axis of one generated corpus.

    Attributes
    ----------
    rule, text
        Kind of the rule, and the rule as it is written (``max sections=0.2``).
    corpus, critic, axis
        What it was applied to.
    value, low, high, limit
        Distance (``max``, ``require``) or change in distance (``max-worse``), its interval, and the limit; None where
        they do not exist.
    measure
        What these are of: a *distance* in bands, a *difference* in the unit of the statistic, or, in human bands, how
        much farther from text of people than the reference (*nearness*).
    statistic, wording, values
        The statistic that decides, what it is called, and its values in the reference and in the text, if these differ.
    detectable, change
        What the rule would have found in `momus.joint.gap.POWER` of cases, by a formula from standard errors; and
        the change of a statistic that this is, in percent of the reference or, of a share, in points.
    status
        A rule that cannot be decided fails the gate. One for all axes is *not checked* on an axis that these texts have
        nothing to be tested by, which does not fail.
    reason
        Why it is not decided, or not checked.
    prompts
        Of a slice that failed, prompts whose answers moved most.
    """

    rule: Rule
    text: str
    corpus: str
    critic: str
    axis: str
    status: Status
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    measure: Measure = "distance"
    reason: str = ""
    statistic: str = ""
    wording: Wording = field(default=Wording(), repr=False)
    values: tuple[float, float] | None = None
    detectable: float | None = None
    change: str = ""
    prompts: tuple[str, ...] = ()


Decided = tuple[list[Check], float]
"""Checks of one family, and the smallest adjusted p of a broken limit; 1 without any."""


@dataclass(frozen=True)
class Limited:
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
    prompts
        Of a slice, prompts whose answers moved most in the direction of the limit.
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
    prompts: tuple[str, ...] = ()

    @property
    def bound(self) -> Limit:
        """The limit in units of the statistic, of which the row has the value in the reference."""
        share = abs(self.row.real_value or 0.0) / 100 if self.limit.words.startswith("%") else 1.0
        return replace(self.limit, value=self.limit.value * share)

    def check(self, level: float) -> Check:
        """Decide by the end of an interval that lies on the wrong side with probability ``level`` at most."""
        v, limit = self.row, self.bound
        if isinstance(self.gap, str):
            return _open(self.rule, self.text, v, self.gap, limit.value, self.fails)
        level /= self.chosen_of
        low, high = self.gap.interval(level, limit.value)
        broken = high > limit.value if self.shown else low > limit.value
        span, power = (self.gap.value, low, high, limit.value), _detectable(self.by, self.gap, limit, level)
        measure: Measure = "difference" if limit.words else "distance"
        measure = "nearness" if limit.side == WORSE[NEARER] else measure
        check = _check_of(self.rule, self.text, v, "failed" if broken else "passed", span, measure=measure, **power)
        return replace(check, prompts=self.prompts) if broken else check


def _detectable(v: Verdict, gap: Gap, limit: Limit, level: float) -> dict[str, Any]:
    """What a rule on an axis would have found, told by a row that has values of both texts where one has a band."""
    bands = not limit.words
    of_row = Gap.of(v) if bands else gap
    least = (gap if isinstance(of_row, str) else of_row).detectable(limit.value, level)
    if limit.words == WORSE[NEARER]:  # in human bands, which is no change of the statistic
        return {"detectable": least}
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
    decided = [x for name in corpora for x in (*_on_rows(run, name, rules, sequential), *_unscored(run, name, rules))]
    # stable: those without an interval first
    decided.sort(key=lambda x: isinstance(x, Limited) and isinstance(x.gap, Gap))
    limited = [(x, x.gap) for x in decided if isinstance(x, Limited) and isinstance(x.gap, Gap)]
    share = level / max(len(limited), 1)
    p = min((len(limited) * x.chosen_of * gap.p_above(x.bound.value) for x, gap in limited), default=1.0)
    return [x if isinstance(x, Check) else x.check(share) for x in decided], p


def on_named(run: KeptRun, corpus: str, rules: Rules) -> Iterator[Limited]:
    """The rules that name one statistic of a generated corpus: limits of its difference, and what is better."""
    rows = run.rows(corpus)
    for limit in (x for x in rules.max if x.words and x.side != "worse" and x.critic in rows):
        v = row_of(rows[limit.critic], limit.statistic, arg("max", str(limit)))
        yield Limited("max", f"max {limit}", v, limit, Gap.of_difference(v, limit.side), v)
    for p in rules.better:
        v, (limit, text), shown = p.row(rows), rules.limit_of_worse(p), bool(rules.not_worse(p.critic))
        yield Limited("better", text, v, limit, p.gap(v, run.joint.nearer), v, shown=shown)


def _on_rows(run: KeptRun, corpus: str, rules: Rules, sequential: bool) -> Iterator[Limited | Check]:
    """The rules on each row of a generated corpus; those on findings of the run are decided already."""
    rows, speaking = run.rows(corpus), run.speaking(corpus)
    yield from on_named(run, corpus, rules)
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
            yield Limited(rule, text, v, limit, Gap.of(v), by, chosen_of, limit.critic != EVERY)
    # rules for all axes, on critics that could not be fitted on these texts
    texts: list[tuple[Rule, str, float]] = [("max", f"max {x}", x.value) for x in rules.max if x.critic == EVERY]
    texts += [("require", f"require {f}", 1.0) for f in required_of(rules.require, EVERY) if f != NOT_WORSE]
    for critic, reason in run.left_out.items():
        for rule, text, value in texts:
            yield Check(rule, text, corpus, critic, critic, "not checked", limit=value, reason=reason)


def _unscored(run: KeptRun, corpus: str, rules: Rules) -> Iterator[Limited | Check]:
    """What is required of all axes is that no more documents are unscored on all of them, as empty ones are."""
    rows = [of.get(UNSCORED.name) for of in run.rows(corpus).values()]
    risen = [v for v in rows if v is not None and v.difference and v.difference > 0]
    if not risen or len(risen) < len(rows):
        return
    v = replace(min(risen, key=lambda v: v.generated_value or 0.0), axis="documents without a score")
    required = [written for finding, written in required_of(rules.require, EVERY).items() if finding != NOT_WORSE]
    gap, share = Gap.of(v, effect=True), v.generated_value or 0.0
    if share == 1:  # nothing else is decided then
        return
    if required and isinstance(gap, Gap):
        yield Limited("require", f"require {required[0]}", v, Limit(EVERY, 0.0, "more"), gap, v, fails=False)
    elif not required:
        yield _open("max", "max", v, f"{percent(share)} of documents, which no rule sees", 0.0, fails=False)


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
    power = {} if isinstance(gap, str) else _detectable(by, gap, Limit(EVERY, 1.0), v.alpha / 2 / max(tested, 1))
    return _check_of("require", text, v, "failed" if broken else "passed", (v.gap, *interval, 1.0), **power)


def _without_variation(text: str, v: Verdict) -> Check:
    """The check of an axis on which texts differ and the old one shows no variation: whatever differs is beyond it."""
    sign = -1 if (v.difference or 0.0) < 0 else 1
    low, high = (v.low, v.high) if sign > 0 else (v.high, v.low)
    value, low, high = (None if x is None else sign * x for x in (v.difference, low, high))
    return _check_of("require", text, v, "failed", (value, low, high, 0.0), measure="difference")


def _open(rule: Rule, text: str, v: Verdict, reason: str, limit: float, fails: bool) -> Check:
    """A rule that these texts do not decide; it fails only if it names the axis."""
    return _check_of(rule, text, v, "not decided" if fails else "not checked", (None, None, None, limit), reason=reason)


Span = tuple[float | None, float | None, float | None, float]
"""Value, interval and limit."""


def _check_of(rule: Rule, text: str, v: Verdict, status: Status, span: Span, **more: Any) -> Check:
    old, new = v.real_value, v.generated_value
    values = None if v.effect_kind == "distance" or old is None or new is None or old == new else (old, new)
    of = v.generated, v.critic, v.axis
    return Check(rule, text, *of, status, *span, statistic=v.statistic, wording=v.wording, values=values, **more)


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
