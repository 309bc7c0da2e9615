"""A comparison on a terminal of 80 columns: the answer, what it rests on, and the overview table."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from momus.against.versions import Against
from momus.arguments import arg
from momus.report.safe import one_line
from momus.report.wide import verdict_table, wide_view
from momus.report.words.against import basis, blocks_of
from momus.report.words.blocks import terminal_blocks
from momus.report.words.format import plain_text
from momus.report.words.leads import first_sentences, pair_lines
from momus.report.words.sentences import largest_gaps, legend, overuse_lines, unscored_lines
from momus.report.words.slices import slice_blocks
from momus.report.words.table import Overview, overview, short_names, shortened
from momus.report.words.trust import trust_items
from momus.runs.answer import answer_of, overuse_of
from momus.runs.result import Results

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


def comparison_view(comparison: Results, every: bool = False, wide: bool = False) -> RenderableType:
    """Build the view of a comparison.

    Parameters
    ----------
    every, wide
        Add the table of all numbers, which is up to 170 columns wide: of every statistic, or of headline statistics
        only.
    """
    if comparison.against is not None:
        return _against_view(comparison, comparison.against, every, wide)
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
    if every or wide:
        parts += [Text(""), wide_view(comparison, every)]
    else:
        slices = terminal_blocks(slice_blocks(answer.slices, every=False), narrow=True)
        parts += [Text(""), *slices] if slices else []
        pairs = [_named(name, sentence) for name, sentence in pair_lines(comparison.pairs, comparison.verdicts)]
        parts += [Text("\nPair by pair", style="bold"), *pairs] if pairs else []
        notes = [*comparison.warnings, *(f"{line}." for line in unscored_lines(comparison.results))]
        parts += [Text(""), *_warnings([one_line(w) for w in notes])] if notes else []
    return Group(*parts)


def _against_view(comparison: Results, against: Against, every: bool = False, wide: bool = False) -> RenderableType:
    """Build the view of a comparison with a model; with ``every`` or ``wide``, with all tables, and every number."""
    answer = answer_of(comparison)
    if not answer.corpora:
        return Text("Nothing was compared.")
    sentences = first_sentences(answer)
    parts: list[RenderableType] = [Text(one_line(s, 600), style="" if i else "bold") for i, s in enumerate(sentences)]
    parts.append(Text(one_line(basis(comparison, against)), style="dim"))
    blocks = terminal_blocks(blocks_of(answer, against, comparison.joint, every or wide))
    parts += [Text(), *blocks] if blocks else []
    if every or wide:
        parts += [Text(""), verdict_table(comparison.verdicts, every)]
    parts += [Text(f"Note: {one_line(w)}", style="yellow") for w in comparison.warnings]
    return Group(*parts)


def comparison_text(comparison: Results, width: int = WIDTH, every: bool = False, wide: bool = False) -> str:
    """Render `comparison_view` as plain text."""
    return plain_text(comparison_view(comparison, every, wide), max(width, WIDE) if every or wide else width)


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
