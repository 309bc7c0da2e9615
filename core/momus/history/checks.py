"""Decide the rules of a gate on each axis, from intervals of distances and of their changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from momus.history.change import Gap, reaches
from momus.history.kept import KeptRun, incomparable
from momus.history.moves import AxisChange, CorpusDiff, moves_of
from momus.history.rules import EVERY, NOT_BEYOND, NOT_BEYOND_ITSELF, Limit, Rules, limit_of, required_of
from momus.verdicts.statistics import UNSCORED
from momus.verdicts.verdict import Verdict

Rule = Literal["max", "max-worse", "require"]
Status = Literal["passed", "failed", "not decided", "not checked"]
BEYOND = "beyond human variation"


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
    bands
        Whether these are in human bands; otherwise in units of the effect.
    status
        A rule that cannot be decided fails the gate. One for all axes is *not checked* on an axis that these texts have
        nothing to be tested by, which does not fail.
    reason
        Why it is not decided, or not checked.
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
    bands: bool = True
    reason: str = ""


@dataclass(frozen=True)
class Decided:
    """Checks of one family, and the smallest adjusted p of a broken limit."""

    checks: tuple[Check, ...]
    p: float = 1.0


def decide_distances(run: KeptRun, corpora: Sequence[str], rules: Rules, level: float, sequential: bool) -> Decided:
    """Decide limits of distances and required findings.

    Parameters
    ----------
    level
        Probability with which any interval may miss its distance.
    sequential
        Whether findings are decided by intervals of this level too, not by those of the run.
    """
    limited: list[tuple[Rule, str, Verdict, Limit, Gap, int]] = []
    checks: list[Check] = []
    for corpus in corpora:
        headlines, rows = run.headlines(corpus), run.rows(corpus)
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
                    checks.append(_required(finding, f"require {written}", v, fails=named or lost))
            for rule, text, limit in limits:
                # a limit in units of an effect is one of the headline, whose unit does not change
                gap = Gap.of(headlines.get(critic, v) if limit.effect else v, limit.effect)
                if isinstance(gap, Gap):
                    # the row that speaks was chosen of its family; the headline is the same whatever the data
                    limited.append((rule, text, v, limit, gap, 1 if limit.effect else _members(rows[critic])))
                else:
                    checks.append(_open(rule, text, v, gap, limit.value, fails=limit.critic != EVERY or lost))
        checks += _of_left_out(run, corpus, rules)
    p = 1.0
    for rule, text, v, limit, gap, chosen_of in limited:
        low, high = gap.interval(level / len(limited) / chosen_of)
        broken = high > limit.value if rules.strict and rule == "max" else low > limit.value
        p = min(p, len(limited) * chosen_of * gap.p_above(limit.value))
        status: Status = "failed" if broken else "passed"
        span = (gap.value, low, high, limit.value)
        checks.append(Check(rule, text, v.generated, v.critic, v.axis, status, *span, bands=not limit.effect))
    return Decided(tuple(checks), p)


def _members(rows: Mapping[str, Verdict]) -> int:
    """Of how many statistics of an axis the one that speaks for it was chosen."""
    return max(sum(v.p_in_axis is not None for v in rows.values()), 1)


def _required(finding: str, text: str, v: Verdict, fails: bool) -> Check:
    """A required finding of the verdict that speaks for an axis."""
    interval = v.gap_interval
    if v.p is None:
        return _open("require", text, v, v.method.reason or "it was not tested", 1.0, fails)
    if interval is None:
        return _open("require", text, v, "its effect has no interval" if v.band else "it has no band", 1.0, fails)
    broken = v.finding == BEYOND if finding in (NOT_BEYOND, NOT_BEYOND_ITSELF) else interval[1] > 1
    status: Status = "failed" if broken else "passed"
    return Check("require", text, v.generated, v.critic, v.axis, status, v.gap, *interval, limit=1.0)


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


def _of_left_out(run: KeptRun, corpus: str, rules: Rules) -> list[Check]:
    """Rules for all axes on critics that could not be fitted on these texts."""
    texts: list[tuple[Rule, str, float]] = [("max", f"max {x}", x.value) for x in rules.max if x.critic == EVERY]
    texts += [("require", f"require {finding}", 1.0) for finding in required_of(rules.require, EVERY)]
    return [
        Check(rule, text, corpus, critic, critic, "not checked", limit=limit, reason=reason)
        for critic, reason in run.left_out.items()
        for rule, text, limit in texts
    ]


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
            checks.append(_change_check(a, limit, pair[1], r, rules.strict))
            unit = 1.0 if limit.effect or not a.band else a.band
            p = min(p, a.moves.p_above(limit.value * unit, columns))
        checks += _not_compared(baseline, run, pair, moves, rules)
    return Decided(tuple(checks), p)


def _change_check(a: AxisChange, limit: Limit, corpus: str, reach: float, strict: bool) -> Check:
    unit = 1.0 if limit.effect or not a.band else a.band
    low, high = (end / unit for end in a.moves.interval(reach))
    return Check(
        "max-worse",
        f"max-worse {limit}",
        corpus,
        a.critic,
        a.axis,
        "failed" if (high if strict else low) > limit.value else "passed",
        a.change / unit,
        low,
        high,
        limit.value,
        not limit.effect,
    )


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
