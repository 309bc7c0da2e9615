"""A comparison on a terminal of 80 columns: the answer, what it rests on, the overview table; all numbers in 170."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from momus.against.versions import Against
from momus.arguments import arg
from momus.joint.ranks import ALL_AXES
from momus.report.safe import one_line
from momus.report.words.against import basis, blocks_of
from momus.report.words.blocks import PrintedBlock, terminal_blocks
from momus.report.words.findings import families, floors, gap, parts_tables
from momus.report.words.format import number, p_value, plain_text, text_table
from momus.report.words.joint import group_blocks, pair_lines, pair_rows, pair_sentences, rank_cells, without_rank
from momus.report.words.leads import first_sentences
from momus.report.words.sentences import finding, largest_gaps, legend, overuse_lines, unscored_lines
from momus.report.words.slices import slice_blocks
from momus.report.words.table import Overview, overview, short_names, shortened
from momus.report.words.trust import trust_items
from momus.runs.answer import answer_of
from momus.runs.overuse import overuse_of
from momus.runs.result import Results
from momus.text.counting import counted
from momus.verdicts.band import OWN
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

WIDTH = 80
WIDE = 170
AXIS = 28
"""Largest width of the column of axes, in terminal cells."""
ROOM = 9
"""Cells that a column of one of several corpora has at least."""
CORPORA = 4
"""Largest number of corpora side by side."""
GAP = 2
"""Cells between two columns: one of padding, and one where other boxes have a line."""
LINES = 3
"""Lines of a warning that are shown; `--all` and the report show all of it."""
WARNINGS = 3


def comparison_view(comparison: Results, every: bool = False) -> RenderableType:
    """Build the view of a comparison; with ``every``, with the table of all numbers, up to 170 columns wide."""
    if comparison.against is not None:
        return _against_view(comparison, comparison.against, every)
    answer = answer_of(comparison)
    if not answer.corpora:
        return Text("Nothing was compared.")
    sentences = ["\n".join(_wrapped(one_line(s))) for s in first_sentences(answer)]
    parts: list[RenderableType] = [Text(s, style="" if i else "bold") for i, s in enumerate(sentences)]
    parts += [_trust(comparison), Text("")]
    parts += overview_tables(overview(answer, pad=True, words=len(answer.corpora) == 1), WIDTH)
    parts += [Text(line, style="dim") for line in legend(answer)]
    gaps = [*largest_gaps(answer), *overuse_lines(overuse_of(comparison.results, answer))]
    parts += [Text(""), *(_named(name, sentence) for name, sentence in gaps)] if gaps else []
    if every:
        parts += [Text(""), wide_view(comparison)]
    else:
        slices = terminal_blocks(slice_blocks(answer.slices, every=False), narrow=True)
        parts += [Text(""), *slices] if slices else []
        pairs = [_named(name, sentence) for name, sentence in pair_lines(comparison.pairs, comparison.verdicts)]
        parts += [Text("\nPair by pair", style="bold"), *pairs] if pairs else []
        notes = [*comparison.warnings, *(f"{line}." for line in unscored_lines(comparison.results))]
        parts += [Text(""), *_warnings([one_line(w) for w in notes])] if notes else []
    return Group(*parts)


def _against_view(comparison: Results, against: Against, every: bool) -> RenderableType:
    """Build the view of a comparison with a model; with ``every``, with all tables, and every number."""
    answer = answer_of(comparison)
    if not answer.corpora:
        return Text("Nothing was compared.")
    sentences = first_sentences(answer)
    parts: list[RenderableType] = [Text(one_line(s, 600), style="" if i else "bold") for i, s in enumerate(sentences)]
    parts.append(Text(one_line(basis(comparison, against)), style="dim"))
    blocks = terminal_blocks(blocks_of(answer, against, comparison.joint, every))
    parts += [Text(), *blocks] if blocks else []
    if every:
        parts += [Text(""), verdict_table(comparison.verdicts)]
    parts += [Text(f"Note: {one_line(w)}", style="yellow") for w in comparison.warnings]
    return Group(*parts)


def comparison_text(comparison: Results, width: int = WIDTH, every: bool = False) -> str:
    """Render `comparison_view` as plain text."""
    return plain_text(comparison_view(comparison, every), max(width, WIDE) if every else width)


def _trust(comparison: Results) -> Text:
    """The trust line; what is doubtful is red and begins with ``!``."""
    text = Text()
    for i, item in enumerate(trust_items(comparison)):
        text.append(" · " if i else "", style="dim")
        start = "" if item.ok else "! "
        text.append(f"{start}{item.label}: {one_line(item.text)}", style="dim" if item.ok else "red")
    lines = text.wrap(Console(width=WIDTH, color_system=None), WIDTH)
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def overview_tables(table: Overview, width: int = WIDTH) -> list[RenderableType]:
    """Build rich tables of at most ``width`` columns, with four corpora each, and a key to names that are cut."""
    blocks = max(1, -(-len(table.names) // CORPORA))
    size = -(-len(table.names) // blocks)  # blocks of equal size: 5 corpora are 3 and 2
    parts: list[RenderableType] = []
    for start in range(0, len(table.names), size):
        block = table.columns(start, start + size)
        # names of corpora and cells have room before names of statistics, which are cut
        widest = max(
            cell_len(text) for text in (*block.names, *(c for r in (*block.axes, *block.ranks) for c in r.cells))
        )
        most = AXIS if len(block.names) == 1 else max(AXIS, width - (max(ROOM, widest) + GAP) * len(block.names))
        axis = min(most, max((cell_len(r.label) for r in (*block.axes, *block.ranks)), default=0))
        room = (width - axis) // len(block.names) - GAP
        names, key = short_names(block.names, room)
        parts += [Text("")] if start else []
        parts.append(_table(block, names, axis))
        parts += [Text("\n".join(_wrapped(line)), style="dim") for line in key]
    return parts


def _table(block: Overview, names: Sequence[str], axis: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0), header_style="bold")
    table.add_column("axis", width=axis, no_wrap=True)
    rows = (*block.axes, *block.ranks)
    # aligned here: rich would strip the spaces that stand for missing signs
    widths = [max(cell_len(t) for t in (name, *(r.cells[k] for r in rows))) for k, name in enumerate(names)]
    for name, width in zip(names, widths, strict=True):
        before = "" if len(names) == 1 else " " * (width - cell_len(name))
        table.add_column(Text(before + name), no_wrap=True)
    for i, row in enumerate(rows):
        texts = [" " * (w - cell_len(c)) + c for c, w in zip(row.cells, widths, strict=True)]
        if len(names) == 1:  # words stand behind the numbers, so cells begin at the left
            texts = [shortened(row.cells[0], WIDTH - axis - GAP)]
        cells = [Text(t, style="bold" if s else "") for t, s in zip(texts, row.strong, strict=True)]
        table.add_row(Text(_cut(row.label, axis)), *cells, end_section=i == len(block.axes) - 1)
    return table


def _named(name: str, sentence: str) -> Text:
    text = Text("\n".join(_wrapped(f"{one_line(name)}: {one_line(sentence)}.")))
    text.stylize("bold", 0, len(one_line(name)))
    return text


def _warnings(warnings: Sequence[str]) -> list[Text]:
    """Warnings of at most three lines each."""
    texts = []
    for warning in warnings[:WARNINGS]:
        lines = _wrapped(f"Note: {warning}")
        if len(lines) > LINES:
            lines = [*lines[: LINES - 1], _cut(lines[LINES - 1])]
        text = Text("\n".join(lines))
        text.stylize("yellow", 0, len("Note:"))
        texts.append(text)
    more = len(warnings) - WARNINGS
    return texts if more <= 0 else [*texts, Text(f"and {more} more; {arg('every', True)} shows all", style="yellow")]


def _cut(line: str, width: int = 0) -> str:
    """A line with its end cut, to leave room for ``…``; of at most ``width`` cells if that is given."""
    if width:
        return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + "…"
    return set_cell_size(line, min(cell_len(line), WIDTH - 2)).rstrip() + " …"


def _wrapped(text: str) -> list[str]:
    """Wrap at words; words that are wider than a line are cut."""
    lines = Text(text).wrap(Console(width=WIDTH, color_system=None), WIDTH)
    return [line.plain.rstrip() for line in lines]


Cell = Callable[[Verdict], str | Text]


def verdict_table(shown: list[Verdict]) -> Table:
    """Build a rich table of all rows."""
    refitted = any(v.refit_spread is not None for v in shown)
    old, new = ("old", "new") if any(v.band_source == OWN for v in shown) else ("real", "generated")
    names: list[tuple[str, Cell]] = [
        ("axis", lambda v: v.axis),
        ("generated", lambda v: v.generated if v.reference == "real" else f"{v.generated} − {v.reference}"),
        ("statistic", lambda v: v.statistic),
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
    ]
    last: tuple[str, Cell] = ("verdict", lambda v: Text(finding(v), style="bold" if v.differs else ""))
    columns = [*names, *numbers, last]
    align = "l" * len(names) + "r" * len(numbers) + "l"
    table = text_table([head for head, _ in columns], [[cell(v) for _, cell in columns] for v in shown], align)
    table.columns[2].no_wrap = True  # the name of a statistic is one word
    return table


def _sizes(v: Verdict) -> str:
    unscored = v.unscored_real + v.unscored_generated
    pairs = " pairs" if v.method.design == "pairs" else ""
    return f"{v.n_real:,} | {v.n_generated:,}{pairs}{f' (−{unscored:,})' if unscored else ''}"


def wide_view(comparison: Results) -> RenderableType:
    """Build the table of verdicts, followed by the joint analyses, warnings, unscored documents and signature."""
    parts: list[RenderableType] = [verdict_table(comparison.verdicts)]
    if comparison.pairs:
        parts += [Text("\nGenerated corpora compared with each other (p adjusted over this table)", style="bold")]
        sentences = pair_sentences(comparison.pairs)
        parts += [verdict_table(pair_rows(comparison.pairs)), *(Text(one_line(s)) for s in sentences)]
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
