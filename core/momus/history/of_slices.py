"""Decide the rules of a gate in slices: none may move farther than a limit allows for the whole text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from momus.history.checks import Check, Decided, Rule
from momus.history.kept import KeptRun
from momus.history.rules import NOT_BEYOND, NOT_BEYOND_ITSELF, Rules, limit_of, required_of
from momus.joint.slices import FEWEST, Slice, Slices, normal, reach
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Bound:
    """How far a statistic may move in a slice: a limit in bands, and one band in units of the statistic."""

    rule: Rule
    text: str
    limit: float
    band: float


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
        bounds = {(c.critic, c.statistic): _bound(rules, c, rows.get(c.critic, {}).get(c.statistic)) for c in s.cells}
        decided = [(c, b) for c in s.cells if (b := bounds[c.critic, c.statistic]) is not None]
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
    return Decided(tuple(checks), smallest)


def p_beyond(s: Slices, c: Slice, b: Bound) -> float:
    """Adjusted p of a difference no larger than the bound."""
    beyond = abs(c.difference) - b.limit * b.band
    return 1.0 if beyond <= 0 else s.p_of(normal(beyond, c.error, c.freedom))


def _bound(rules: Rules, c: Slice, v: Verdict | None) -> Bound | None:
    """The narrowest bound of a statistic; None without a rule in bands, or without a band."""
    band = None if v is None or not v.band else _in_units(c, v, v.band)
    if not band:
        return None
    bounds = []
    most = limit_of(rules.max, c.critic)
    if most is not None and not most.effect:
        bounds.append(Bound("max", f"max {most}", most.value, band))
    for finding, written in required_of(rules.require, c.critic).items():
        if finding in (NOT_BEYOND, NOT_BEYOND_ITSELF):
            bounds.append(Bound("require", f"require {written}", 1.0, band))
    return min(bounds, key=lambda b: b.limit, default=None)


def _in_units(c: Slice, v: Verdict, band: float) -> float | None:
    """A band, which is in units of the effect, in units of the statistic."""
    if v.effect_kind == "log_ratio":
        return abs(c.real_value) * (math.expm1(band) if c.difference > 0 else -math.expm1(-band))
    if v.effect_kind == "hedges_g":
        # the effect of the whole text knows its own standard deviation
        return band * (abs(v.difference / v.effect) if v.effect and v.difference else c.scale)
    return band if v.effect_kind == "difference" else None


def _check(s: Slices, c: Slice, b: Bound, level: float) -> Check:
    far = reach(c, s.critical(level))
    value, low, high = (x / b.band for x in (abs(c.difference), abs(c.difference) - far, abs(c.difference) + far))
    name = f"{c.axis} in {c.name}"
    return Check(b.rule, b.text, s.generated, c.critic, name, "failed", value, low, high, limit=b.limit)
