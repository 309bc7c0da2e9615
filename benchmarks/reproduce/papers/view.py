"""Views in the terminal: the list of tables, and a table beside the measured figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from momus.report.safe import one_line
from papers.table import PaperTable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from papers import Cell, Column, PaperTable, Reproduction


def listing_view(tables: Sequence[PaperTable]) -> RenderableType:
    """The tables of all papers, paper by paper."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for citation, group in groupby(tables, key=lambda t: t.paper.citation):
        view = Table(title=Text(citation, style="bold"), title_justify="left", highlight=False, box=None, expand=True)
        view.add_column("id", no_wrap=True)
        view.add_column("what the paper found, and what it takes to run")
        for t in group:
            lines = [Text(f"{t.place}: {t.title}", style="bold"), Text(t.found), Text(_takes(t), style="dim")]
            view.add_row(Text(t.id, style="bold cyan"), Text("\n").join(lines))
        parts += [view, Text("")]
    run = "python benchmarks/reproduce/paper_table.py ID"
    parts.append(Text(f"Run one: {run}, on your texts with --real and --generated NAME=PATH"))
    return Group(*parts)


def _takes(table: PaperTable) -> str:
    """What a table needs, and how it is run."""
    if table.instead:
        return f"Needs {table.needs}: {table.instead}."
    if table.texts is None:
        return f"Needs {table.needs}; no such text ships with Momus."
    time = "" if table.seconds is None else f", {duration(table.seconds)} on the texts that ship with Momus"
    return f"Needs {table.needs}{time}."


def duration(seconds: float) -> str:
    """A rough time.

    >>> duration(20), duration(170)
    ('under half a minute', 'about 3 minutes')
    """
    if seconds < 30:
        return "under half a minute"
    if seconds < 90:
        return "about a minute"
    return f"about {seconds / 60:.0f} minutes"


def reproduction_view(found: Reproduction) -> RenderableType:
    """A table of a paper: its rows as printed, the measured rows below, and why the two cannot be equal."""
    from rich.console import Group
    from rich.text import Text

    table = found.table
    parts: list[RenderableType] = [
        Text(f"{table.place}: {table.title}", style="bold"),
        Text(table.paper.citation, style="dim"),
        Text(f"The paper found: {table.found}"),
        Text(""),
        _table(found),
        Text(""),
    ]
    return Group(*parts, *(Text(line) for line in sentences(found)))


def _table(found: Reproduction) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    kept = [i for i, c in enumerate(found.table.columns) if c in found.columns]
    view = Table(highlight=False)
    view.add_column("text")
    for column in found.columns:
        view.add_column(column.heading, justify="right")
    view.add_column("n", justify="right")
    view.add_row(Text("The paper", style="bold"))
    for name, figures in found.table.rows:
        view.add_row(Text(name), *(Text(figures[i] or "–") for i in kept), "")
    if not found.table.rows:
        view.add_row(Text("(prints no figures)", style="dim"))
    view.add_section()
    view.add_row(Text("Here", style="bold"))
    for row in found.rows:
        cells = [_cell(c, column) for c, column in zip(row.cells, found.columns, strict=True)]
        view.add_row(Text(one_line(row.name, 40)), *map(Text, cells), Text(_sizes(row.cells)))
    return view


def _cell(cell: Cell | None, column: Column) -> str:
    """A figure, and below it an interval; of a value, the difference from the real text comes first.

    >>> from papers import Cell, Column
    >>> print(_cell(Cell(14.5, 2.5, 1.0, 4.0, False, 9), Column("PPL", "sections", "latent_ppl", "value")))
    14.5
    +2.5 [1, 4]
    """
    if cell is None:
        return "–"
    interval = "" if cell.low is None or cell.high is None else f"[{number(cell.low)}, {number(cell.high)}]"
    if column.shows == "difference":
        return "–" if cell.difference is None else f"{signed(cell.difference)}\n{interval}"
    if cell.difference is None or not interval:
        return number(cell.value)
    return f"{number(cell.value)}\n" + (interval if cell.distance else f"{signed(cell.difference)} {interval}")


def number(value: float | None) -> str:
    """A number with three significant digits, as the papers have, None as a dash.

    >>> number(0.0036574), number(1234.5), number(None), number(0.0)
    ('0.00366', '1,234', '–', '0')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def signed(value: float | None) -> str:
    """A number with its sign.

    >>> signed(1.5), signed(-2.0), signed(None)
    ('+1.5', '-2', '–')
    """
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def _sizes(cells: Sequence[Cell | None]) -> str:
    """The numbers of documents of a row: one, or those of the columns where they differ."""
    sizes = list(dict.fromkeys(f"{c.n:,}" for c in cells if c is not None))
    return "/".join(sizes) or "–"


def sentences(found: Reproduction) -> list[str]:
    """How to read the table, what differs from the paper, and why the figures cannot be equal."""
    distances = {c.distance for row in found.rows for c in row.cells if c is not None}
    lines = []
    if any(c.shows == "difference" for c in found.columns):
        lines.append("Each figure is the difference generated − real, with its 95 % interval.")
    else:
        if False in distances:
            lines.append("Below a value: its difference from real text, with the 95 % interval of the difference.")
        if True in distances:
            lines.append(
                "Below a distance: the 95 % interval of the distance between the populations. The row “real” has "
                "what chance alone gives for two texts of these sizes."
            )
    if found.table.note:
        lines.append(found.table.note)
    lines += [
        f"Not the paper's: {critic} has {name} = {_value(here)}; the paper has {_value(paper)}."
        for critic, name, paper, here in found.changed
    ]
    if found.left_out:
        lines.append(f"Left out, as asked: {', '.join(found.left_out)}.")
    lines += [f"Warning: {one_line(w)}" for w in found.comparison.warnings]
    texts = found.table.texts
    here = texts.description if found.shipped and texts is not None else "the texts that you named"
    lines.append(f"The figures cannot be equal: the paper measured {found.table.paper.sample}; here are {here}.")
    return lines


def _value(value: object) -> str:
    """A parameter as a reader would write it.

    >>> _value(None), _value("linear"), _value("")
    ("the critic's default", "'linear'", "''")
    """
    return "the critic's default" if value is None else one_line(repr(value), 80)


def listing_json(tables: Iterable[PaperTable]) -> list[dict[str, Any]]:
    """What each table is, finds and needs, and how to run it, as rows that JSON can hold.

    >>> from papers.table import find_table
    >>> listing_json([find_table("deng-2")])[0]["critics"]
    ['sections']
    """
    return [
        {
            "id": t.id,
            "paper": t.paper.citation,
            "place": t.place,
            "title": t.title,
            "found": t.found,
            "needs": t.needs,
            "critics": t.critics,
            "settings": t.settings,
            "instead": t.instead or None,
            "ships_with_texts": t.texts is not None,
            "seconds": t.seconds,
        }
        for t in tables
    ]
