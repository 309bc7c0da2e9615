"""The joint analyses in words: which text is nearest, whether any axis differs, which alarms account for others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from momus.comparison.adjusted import AdjustedRow
from momus.comparison.attribution import Attribution
from momus.comparison.joint import Joint
from momus.comparison.overall import GlobalTest
from momus.comparison.ranks import ALL_AXES, Ranking, RankRow
from momus.comparison.subgroups import Subgroups
from momus.report.format import number, p_value

ADJUSTED = ("axis", "generated", "unadjusted", "adjusted", "interval", "share left", "n", "p")
SUBGROUPS = ("axis", "generated", "subgroup", "difference", "interval", "n", "p", "same in all?")
"""Heads of the tables of adjusted rows and of subgroups."""
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def joint_lines(joint: Joint, axes: Mapping[str, str]) -> list[str]:
    """Sentences on all analyses, in order; ``axes`` names the axis of each critic."""
    lines = []
    if joint.ranking is not None:
        lines += nearest(joint.ranking)
    lines += [overall(test) for test in joint.overall]
    lines += [attributed(a, axes) for a in joint.attributions]
    return [line for line in lines if line]


def count(n: int) -> str:
    """A number in words, up to ten.

    >>> count(3), count(12)
    ('three', '12')
    """
    return WORDS[n] if n < len(WORDS) else f"{n:,}"


def nearest(ranking: Ranking) -> list[str]:
    """Say which text is nearest to the real one over all axes, and whether that is sure."""
    rows = ranking.of(ALL_AXES)
    if not rows:
        return []
    first = rows[0]
    among = ", ".join(repr(name) for name in first.tied)
    sure = f"not sure against {among}" if first.tied else "sure against all others"
    return [
        f"Nearest to real text over all axes: {first.model!r}, {number(first.distance)} human bands on average "
        f"(interval {number(first.low)} to {number(first.high)}; P(nearest) {first.p_nearest:.2f}; {sure})."
    ]


def rank(row: RankRow) -> str:
    """The interval of a rank.

    >>> rank(RankRow("length", "length", "a", 0.1, 0.0, 0.2, 1, 3, 0.5, ("b", "c"), 10, 10, 10))
    '1–3'
    """
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}–{row.rank_high}"


def overall(test: GlobalTest) -> str:
    """Say whether a corpus differs from the real one on any axis."""
    if test.p is None:
        return f"{test.generated!r}: no axis can be tested together with the others."
    differs = "differs on some axis" if test.p <= 0.05 else "is not told apart on any axis"
    axes = "1 axis of documents" if len(test.axes) == 1 else f"{len(test.axes)} axes of documents"
    at_floor = " or less" if test.p <= test.floor else ""
    return f"{test.generated!r} {differs}: p = {p_value(test.p)}{at_floor} over {axes} (max-T)."


def attributed(found: Attribution, axes: Mapping[str, str]) -> str:
    """Say how many alarms of a corpus go once another axis is accounted for."""
    alarms = len(found.alarms)
    leading = found.leading
    if leading is None:
        return (
            f"{found.generated!r}: none of {count(alarms)} alarms is accounted for by another axis." if alarms else ""
        )
    by, gone = leading
    names = ", ".join(axes.get(g, g) for g in gone)
    verb = "goes" if len(gone) == 1 else "go"
    mutual = [a.alarm for a in found.accounts if a.by == by and a.mutual]
    hedge = f" ({', '.join(mutual)} would account for it as well)" if mutual else ""
    return (
        f"{found.generated!r}: of {count(alarms)} alarms, {count(len(gone))} {verb} once {axes.get(by, by)} is "
        f"accounted for: {names}{hedge}."
    )


def adjusted_cells(row: AdjustedRow) -> tuple[str, ...]:
    """Cells of the table of adjusted rows."""
    if row.reason:
        return (row.axis, row.generated, number(row.unadjusted), "–", "–", "–", "–", row.reason)
    share = "–" if math.isnan(row.share) else f"{row.share:.0%}"
    if math.isfinite(row.share_low) and math.isfinite(row.share_high):
        share += f" [{row.share_low:.0%}, {row.share_high:.0%}]"
    return (
        row.axis,
        row.generated,
        number(row.unadjusted),
        number(row.difference),
        f"[{number(row.low)}, {number(row.high)}]",
        share,
        f"{row.n_real:,} | {row.n_generated:,}",
        p_value(row.p),
    )


def subgroup_cells(found: Subgroups) -> list[tuple[str, ...]]:
    """Cells of the table of subgroups: one row per subgroup, the test of equal differences in the first."""
    test = found.test
    same = found.reason or f"p = {p_value(test.p)} (Q {number(test.q)}, {test.freedom + 1} subgroups)"
    cells: list[tuple[str, ...]] = []
    for i, s in enumerate(found.subgroups):
        name = s.name or f"{number(s.low)} to {number(s.high)}"
        r = s.result
        cells.append(
            (
                found.axis,
                found.generated,
                name,
                "–" if r is None else number(r.difference),
                "–" if r is None or math.isnan(r.low) else f"[{number(r.low)}, {number(r.high)}]",
                f"{s.n_real:,} | {s.n_generated:,}",
                "–" if r is None else p_value(r.p),
                same if i == 0 else "",
            )
        )
    return cells


def given(rows: Sequence[AdjustedRow]) -> str:
    """Name the covariates of adjusted rows."""
    return ", ".join(dict.fromkeys(c for r in rows for c in r.covariates))
