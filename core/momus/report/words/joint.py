"""The joint analyses in words: ranks, and rows in slices or among documents that are alike.

And pairs of generated texts for readers: all of a few, the largest differences of very many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from momus.arguments import arg
from momus.joint.adjusted import AdjustedRow
from momus.joint.ranks import Joint, RankRow
from momus.report.safe import one_line
from momus.report.words.blocks import Columns, PrintedBlock, table_block
from momus.report.words.format import number, p_value
from momus.report.words.sentences import axes, bands, versus
from momus.report.words.slices import slice_blocks, wins_block
from momus.runs.answer import Cell
from momus.text.counting import counted
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

MANY = 3
"""Axes beyond which a reason that all of them have is not told of each by name."""
PAIRS = 300
"""Rows of pairs that a page or a terminal shows."""
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def without_rank(joint: Joint, axes: Mapping[str, str]) -> str:
    """Name the axes that have no rank, by reason; empty if all have one; ``axes`` names the axis of each critic.

    >>> from momus.joint.ranks import Ranking
    >>> ranking = Ranking([], {"a": "too short", "b": "", "c": "too short"}, 0.95, 999, True)
    >>> without_rank(Joint(ranking), {"a": "order", "c": "length"})
    'Without a rank: order, length (too short).'
    >>> without_rank(Joint(Ranking([], dict.fromkeys("abcd", "too short"), 0.95, 999, True)), {})
    'Without a rank: all 4 axes (too short).'
    """
    reasons = {} if joint.ranking is None else joint.ranking.excluded
    by_reason: dict[str, list[str]] = {}
    for critic, reason in reasons.items():
        if reason:
            by_reason.setdefault(reason, []).append(axes.get(critic, critic))
    # a long list of names says no more than that it is all of them
    every = {r: len(names) == len(reasons) > MANY for r, names in by_reason.items()}
    parts = [
        f"{f'all {len(names)} axes' if every[reason] else ', '.join(names)} ({reason})"
        for reason, names in by_reason.items()
    ]
    return f"Without a rank: {'; '.join(parts)}." if parts else ""


def count(n: int) -> str:
    """A number in words, up to ten.

    >>> count(3), count(12)
    ('three', '12')
    """
    return WORDS[n] if n < len(WORDS) else f"{n:,}"


def rank(row: RankRow) -> str:
    """The interval of a rank.

    >>> rank(RankRow("length", "length", "a", 0.1, 0.0, 0.2, 1, 3, 0.5, ("b", "c"), 10, 10, 10))
    '1–3'
    """
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}–{row.rank_high}"


def rank_cells(row: RankRow) -> tuple[str, ...]:
    """A corpus among the ranks: name, mean distance with its interval, rank, bootstrap share, and documents."""
    interval = f"{number(row.low)} to {number(row.high)}"
    return row.model, number(row.distance), interval, rank(row), chance(row), f"{row.n_real:,} | {row.n:,}"


def chance(row: RankRow) -> str:
    """Share of replicates in which a corpus is nearest; such shares are never shown as 0 or 1 unless they are.

    >>> chance(RankRow("all axes", "all axes", "a", 0.1, 0.0, 0.2, 1, 3, 0.997, (), 10, 10, 10))
    '> 0.99'
    """
    if 0 < row.p_nearest < 0.01:
        return "< 0.01"
    if 0.99 < row.p_nearest < 1:
        return "> 0.99"
    return f"{row.p_nearest:.2f}"


def _p(p: float) -> str:
    """A p-value, or a dash where all documents are alike and nothing was tested."""
    return "–" if math.isnan(p) else p_value(p)


ADJUSTED: Columns[AdjustedRow] = [
    ("axis", lambda r: r.axis),
    ("generated", lambda r: r.generated),
    ("unadjusted", lambda r: number(r.unadjusted)),
    ("adjusted", lambda r: "–" if r.reason else number(r.difference)),
    ("interval", lambda r: "–" if r.reason else f"[{number(r.low)}, {number(r.high)}]"),
    ("n", lambda r: "–" if r.reason else f"{r.n_real:,} | {r.n_generated:,}"),
    ("p", lambda r: r.reason or _p(r.p)),
]
"""The table of adjusted rows."""


def group_blocks(joint: Joint, every: bool = True) -> list[PrintedBlock]:
    """Axes again in slices, such as task by task, prompt by prompt, and among documents that are alike."""
    blocks = slice_blocks(joint.slices, every)
    if joint.adjusted:
        names = ", ".join(dict.fromkeys(c for r in joint.adjusted for c in r.covariates))
        blocks.append(table_block(f"Among documents alike in {names}", joint.adjusted, ADJUSTED, "llr"))
    return [*blocks, *([wins_block(joint.wins)] if joint.wins and every else [])]


def pair_rows(pairs: Sequence[Verdict]) -> list[Verdict]:
    """Choose the rows to show: all in their order or, of many, those with the largest differences in human bands."""
    if len(pairs) <= PAIRS:
        return list(pairs)
    return sorted(pairs, key=lambda v: (not v.differs, -(v.gap or 0.0)))[:PAIRS]


def pair_sentences(pairs: Sequence[Verdict]) -> list[str]:
    """What is said below rows of which not all are shown."""
    if len(pairs) <= PAIRS:
        return []
    differs: dict[str, list[bool]] = {}
    for v in pairs:
        differs.setdefault(v.axis, []).append(v.differs)
    counts = "; ".join(f"{axis}: {sum(d):,} of {len(d):,} pairs differ" for axis, d in differs.items())
    return [
        f"{PAIRS:,} of {len(pairs):,} rows are shown, those with the largest differences; all are in pairs.jsonl in "
        "the run folder.",
        f"{counts}.",
    ]


def pair_lines(pairs: Sequence[Verdict], verdicts: Sequence[Verdict], most: int = 6) -> list[tuple[str, str]]:
    """Where generated texts differ from each other, those first that differ on most axes: pairs of names, a sentence.

    Parameters
    ----------
    pairs
        Rows of pairs, which are of headline statistics alone.
    verdicts
        Rows against human text, whose values both texts of a pair have.

    >>> pair_lines([], [])
    []
    """
    by: dict[tuple[str, str], list[Verdict]] = {}
    for v in pairs:
        by.setdefault((v.generated, v.reference), []).append(v)
    ordered = sorted(by.items(), key=lambda item: -sum(v.differs for v in item[1]))
    lines = [(f"{one} and {other}", _pair(rows, verdicts)) for (one, other), rows in ordered[:most]]
    rest = counted(len(ordered) - most, "more pair")
    return lines if len(ordered) <= most else [*lines, (rest, f"{arg('every', True)} shows them")]


def _pair(rows: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """On how many axes two generated texts differ, and the largest difference with the values of both."""
    tested = [v for v in rows if v.p_adjusted is not None]
    differing = [v for v in tested if v.differs]
    if not differing:
        where = "the only axis" if len(tested) == 1 else f"any of {axes(len(tested))}"
        return f"not told apart on {where}" if tested else "not tested"
    lead = max(differing, key=lambda v: (v.gap or 0.0, abs(v.effect or 0.0)))
    most = "most in " if len(differing) > 1 else "in "
    return f"differ on {len(differing)} of {axes(len(tested))}, {most}{lead.axis}{_values(lead, verdicts)}"


def _values(pair: Verdict, verdicts: Sequence[Verdict]) -> str:
    """The values of a pair by the statistic that is farthest from human text in one of both, and its size."""
    of = {(v.generated, v.statistic): v for v in verdicts if v.critic == pair.critic and v.method.family != "distance"}
    told = [v for v in speaking(list(of.values())) if v.generated in (pair.generated, pair.reference) and v.differs]
    size = f", {bands(pair)}" if pair.gap is not None else ""
    if not told:
        return size
    row = max(told, key=lambda v: v.gap or 0.0)
    one, other = (of.get((name, row.statistic)) for name in (pair.generated, pair.reference))
    if one is None or other is None:  # a statistic that not both texts have
        return size
    both = replace(one, reference=other.generated, real_value=other.generated_value)
    size = size if row.statistic == pair.statistic else ""  # of another statistic, which is not named
    return f" – {one_line(pair.generated, 40)}: {versus(Cell(both))}{size}"
