"""Numbers of figures as CSV, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from momus.evidence import Chart, Evidence, Graph, Heatmap, Table
from momus.files import FORMULA
from momus.report.safe import clean


def csv_text(columns: Sequence[object], rows: Iterable[Sequence[object]], *, as_is: bool = False) -> str:
    """Write rows as CSV; missing values are empty.

    Texts that a spreadsheet would run as formulas get an apostrophe in front, unless ``as_is``.

    >>> print(csv_text(("a", "b"), [(1.5, "=1+1"), (None, "x,y")]), end="")
    a,b
    1.5,'=1+1
    ,"x,y"
    >>> print(csv_text(("a",), [("=1+1",)], as_is=True), end="")
    a
    =1+1
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_cell(c, as_is) for c in columns])
    writer.writerows([_cell(value, as_is) for value in row] for row in rows)
    return buffer.getvalue()


def _cell(value: object, as_is: bool) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return value
    text = clean(value)
    return "'" + text if not as_is and re.match(FORMULA, text) else text


def data_of(item: Evidence) -> Table | None:
    """Tabulate the numbers behind a figure; None for evidence that is not a figure."""
    if isinstance(item, Chart):
        rows = [(s.label, x, y) for s in item.series for x, y in zip(s.x, s.y, strict=True)]
        return Table(item.name, item.title, ("series", clean(item.x.label, 80), clean(item.y.label, 80)), rows)
    if isinstance(item, Heatmap):
        matrix = [(name, *row) for name, row in zip(item.rows, item.values, strict=True)]
        return Table(item.name, item.title, ("", *item.columns), matrix)
    if isinstance(item, Graph):
        edges = [(e.source, e.target, e.weight) for e in item.edges]
        return Table(item.name, item.title, ("from", "to", item.label), edges)
    return None


def figure_csv(item: Evidence, *, as_is: bool = False) -> str:
    """The numbers behind a figure as CSV; empty for evidence that is not a figure."""
    table = data_of(item)
    return "" if table is None else csv_text(table.columns, table.rows, as_is=as_is)
