"""Decide the rules of a gate on each axis, from intervals of distances and of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from momus.history.change import Gap, reaches
from momus.history.kept import KeptRun, incomparable
from momus.history.moves import AxisChange, CorpusDiff, moves_of
from momus.history.rules import EVERY, NOT_BEYOND, NOT_BEYOND_ITSELF, Limit, Rules, limit_of
from momus.verdicts.verdict import Verdict

Rule = Literal["max", "max-worse", "require"]
Status = Literal["passed", "failed", "not decided"]
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
        A rule that cannot be decided fails the gate.
    reason
        Why it cannot be decided.
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
    """Checks of one family, the smallest adjusted p of a broken limit, and what was left out."""

    checks: tuple[Check, ...]
    p: float = 1.0
    left_out: tuple[str, ...] = ()


def decide_distances(run: KeptRun, corpora: Sequence[str], rules: Rules, level: float, sequential: bool) -> Decided:
    """Decide limits of distances and required findings.

    Parameters
    ----------
    level
        Probability with which any interval may miss its distance.
    sequential
        Whether findings are decided by intervals of this level too, not by those of the run.
    """
    limited: list[tuple[Rule, str, Verdict, Limit, Gap]] = []
    checks: list[Check] = []
    left_out: list[str] = []
    within = Limit(EVERY, 1.0)
    for corpus in corpora:
        headlines = run.headlines(corpus)
        for critic, v in run.speaking(corpus).items():
            limits: list[tuple[Rule, str, Limit]] = []
            most = limit_of(rules.max, critic)
            if most is not None:
                limits.append(("max", f"max {most}", most))
            for name in rules.require:
                if sequential and name in (NOT_BEYOND, NOT_BEYOND_ITSELF):
                    limits.append(("require", f"require {name}", within))
                elif v.effect is not None and v.p is not None and v.gap_interval is None:
                    why = "its effect has no interval" if v.band else "it has no band"
                    left_out.append(f"{corpus}, {v.axis}, {name}: {why}")
                else:
                    checks.append(_required(name, v))
            for rule, text, limit in limits:
                # a limit in units of an effect is one of the headline, whose unit does not change
                gap = Gap.of(headlines.get(critic, v) if limit.effect else v, limit.effect)
                if isinstance(gap, Gap):
                    limited.append((rule, text, v, limit, gap))
                elif limit.critic == EVERY and v.effect is not None:
                    left_out.append(f"{corpus}, {v.axis}: {gap}")
                else:
                    checks.append(_undecided(rule, text, v, gap, limit.value))
    p = 1.0
    for rule, text, v, limit, gap in limited:
        low, high = gap.interval(level / len(limited))
        broken = high > limit.value if rules.strict and rule == "max" else low > limit.value
        p = min(p, len(limited) * gap.p_above(limit.value))
        status: Status = "failed" if broken else "passed"
        span = (gap.value, low, high, limit.value)
        checks.append(Check(rule, text, v.generated, v.critic, v.axis, status, *span, bands=not limit.effect))
    return Decided(tuple(checks), p, tuple(left_out))


def _required(name: str, v: Verdict) -> Check:
    """A required finding of the verdict that speaks for an axis."""
    interval = v.gap_interval
    if v.p is None or interval is None:
        return _undecided("require", f"require {name}", v, v.method.reason or "it was not tested", 1.0)
    broken = v.finding == BEYOND if name in (NOT_BEYOND, NOT_BEYOND_ITSELF) else interval[1] > 1
    status: Status = "failed" if broken else "passed"
    return Check("require", f"require {name}", v.generated, v.critic, v.axis, status, v.gap, *interval, limit=1.0)


def _undecided(rule: Rule, text: str, v: Verdict, reason: str, limit: float) -> Check:
    return Check(rule, text, v.generated, v.critic, v.axis, "not decided", limit=limit, reason=reason)


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
    left_out: list[str] = []
    p = 1.0
    for pair in pairs:
        moves = moves_of(baseline, run, pair)
        limited: list[tuple[AxisChange, Limit]] = []
        for a in moves.axes:
            limit = limit_of(rules.max_worse, a.critic)
            if limit is not None and (limit.effect or a.band):
                limited.append((a, limit))
            elif limit is not None:
                left_out.append(f"{pair[1]}, {a.axis}: it has no human band; limit its change as {a.critic}.effect")
        columns = sum(len(a.moves.values) for a, _ in limited) * len(pairs)
        reach = reaches([a.moves for a, _ in limited], 1 - level / len(pairs))
        for (a, limit), r in zip(limited, reach, strict=True):
            checks.append(_change_check(a, limit, pair[1], r, rules.strict))
            unit = 1.0 if limit.effect or not a.band else a.band
            p = min(p, a.moves.p_above(limit.value * unit, columns))
        undecided, others = _not_compared(baseline, run, pair, moves, rules)
        checks += undecided
        left_out += others
    return Decided(tuple(checks), p, tuple(left_out))


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
) -> tuple[list[Check], list[str]]:
    """Axes that cannot be compared with the baseline: checks that fail, and notes.

    An axis fails the gate if a limit names it, or if the baseline was tested on it and the run was not: a text
    without a scored document must not pass. A critic that measures something else now is only noted.
    """
    checks, notes = [], []
    verdicts = [r.headlines(corpus) for r, corpus in zip((baseline, run), pair, strict=True)]
    for critic, why in moves.not_compared.items():
        limit = limit_of(rules.max_worse, critic)
        one, other = (v.get(critic) for v in verdicts)
        if limit is None or other is None:
            continue
        lost = one is not None and one.p is not None and other.p is None and not incomparable(baseline, run, critic)
        if limit.critic != EVERY or lost:
            checks.append(_undecided("max-worse", f"max-worse {limit}", other, why, limit.value))
        else:
            notes.append(f"{pair[1]}, {other.axis}: {why}")
    return checks, notes
