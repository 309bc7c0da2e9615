"""All numbers of a comparison as tables that are up to 170 columns wide."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from momus.joint.ranks import ALL_AXES
from momus.report.safe import one_line
from momus.report.words.blocks import PrintedBlock, terminal_blocks
from momus.report.words.findings import families, floors, gap, parts_tables, shows
from momus.report.words.format import number, p_value, text_table
from momus.report.words.joint import group_blocks, pair_rows, pair_sentences, rank_cells, without_rank
from momus.report.words.sentences import finding
from momus.runs.result import Results
from momus.text.counting import counted
from momus.verdicts.band import OWN
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

Cell = Callable[[Verdict], str | Text]


def verdict_table(verdicts: list[Verdict], every: bool = False) -> Table:
    """Build a rich table, of the row that speaks for each axis unless ``every`` is set."""
    shown = verdicts if every else speaking(verdicts)
    deltas = {v.delta for v in shown if v.delta is not None}
    refitted = any(v.refit_spread is not None for v in shown)
    old, new = ("old", "new") if any(v.band_source == OWN for v in shown) else ("real", "generated")
    names: list[tuple[str, Cell]] = [
        ("axis", lambda v: v.axis),
        ("generated", lambda v: v.generated if v.reference == "real" else f"{v.generated} − {v.reference}"),
        *([("statistic", lambda v: v.statistic)] if every else []),
    ]
    numbers: list[tuple[str, Cell]] = [
        ("÷ band", gap),
        ("difference", lambda v: number(v.difference)),
        ("interval", lambda v: "–" if v.low is None else f"[{number(v.low)}, {number(v.high)}]"),
        (old, lambda v: number(v.real_value)),
        (new, lambda v: number(v.generated_value)),
        ("n", _sizes),
        ("p adj.", lambda v: p_value(v.p_adjusted)),
        *([("± over refits", lambda v: number(v.refit_spread))] if refitted else []),
        *([(f"within ±{max(deltas):g}", shows)] if deltas else []),
    ]
    last: tuple[str, Cell] = ("verdict", lambda v: Text(finding(v), style="bold" if v.differs else ""))
    columns = [*names, *numbers, last]
    align = "l" * len(names) + "r" * (len(numbers) - bool(deltas)) + "l"
    table = text_table([head for head, _ in columns], [[cell(v) for _, cell in columns] for v in shown], align)
    if every:
        table.columns[2].no_wrap = True  # the name of a statistic is one word
    return table


def _sizes(v: Verdict) -> str:
    unscored = v.unscored_real + v.unscored_generated
    pairs = " pairs" if v.method.design == "pairs" else ""
    return f"{v.n_real:,} | {v.n_generated:,}{pairs}{f' (−{unscored:,})' if unscored else ''}"


def wide_view(comparison: Results, every: bool = False) -> RenderableType:
    """Build the table of verdicts, followed by the joint analyses, warnings, unscored documents and signature."""
    parts: list[RenderableType] = [verdict_table(comparison.verdicts, every)]
    if comparison.pairs:
        parts += [Text("\nGenerated corpora compared with each other (p adjusted over this table)", style="bold")]
        pairs = pair_rows(comparison.pairs)
        parts += [verdict_table(pairs.rows, every), *(Text(one_line(s)) for s in pair_sentences(pairs))]
    blocks = terminal_blocks(analysis_blocks(comparison))
    parts += [Text(), *blocks] if blocks else []
    parts += [Text("Note:", style="yellow").append(f" {one_line(w)}", style="default") for w in comparison.warnings]
    for result in comparison.results:
        parts += [
            Text(one_line(f"{result.name}: {counted(u.count, 'document')} of {u.corpus!r} unscored ({u.reason})"))
            for u in result.unscored
        ]
    s = comparison.signature
    notes = [families(comparison.verdicts, s["multiplicity"]), floors(comparison.verdicts, s["multiplicity"])]
    parts += [Text(note, style="dim") for note in (*_bands(comparison.verdicts), *notes) if note]
    parts.append(
        Text(
            f"momus {s['momus']} | seed {s['seed']} | up to {s['permutations']:,} permutations per row, more where the "
            f"table needs them | p adjusted: {s['multiplicity']} | {s['seconds']['total']:.1f} s",
            style="dim",
        )
    )
    return Group(*parts)


def analysis_blocks(comparison: Results) -> list[PrintedBlock]:
    """The parts of log P(x) of each critic that decomposes it, and the analyses of all axes together."""
    joint, blocks = comparison.joint, []
    for result in comparison.results:
        for name, table in parts_tables(result).items():
            title, rows = f"{table.title}: {result.name}, {name}", [[str(c) for c in row] for row in table.rows]
            blocks.append(PrintedBlock(title, (), table.columns, rows, [table.note], "llr"))
    if joint.ranking is not None and joint.ranking.of(ALL_AXES):
        heads = ("generated", "mean distance", "interval", "rank", "bootstrap share", "n")
        ranks = [rank_cells(row) for row in joint.ranking.of(ALL_AXES)]
        blocks.append(PrintedBlock("Distance from real text over all axes, in human bands", (), heads, ranks))
    if line := without_rank(joint, {r.name: r.axis for r in comparison.results}):
        blocks.append(PrintedBlock(lines=[("", line)]))
    return [*blocks, *group_blocks(joint)]


def _bands(verdicts: list[Verdict]) -> list[str]:
    """Notes on what the band is."""
    sources = {v.band_source for v in speaking(verdicts) if v.gap is not None}
    groups = max((v.band_groups for v in verdicts if v.band_source == "groups"), default=0)
    farthest = (
        f"÷ band (human band): 95 % of pairs of groups of real text lie no farther apart than 1 ({groups} groups)."
    )
    default = "* default band: how far groups of other human texts lie apart."
    return [farthest] * ("groups" in sources) + [default] * ("default" in sources)
