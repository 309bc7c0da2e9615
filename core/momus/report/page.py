"""Render a comparison as an HTML page."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.comparison.ranks import ALL_AXES
from momus.errors import StoreError
from momus.evidence import Chart, Evidence, Graph, Heatmap, Table
from momus.report.figures.interval import interval_picture
from momus.report.format import number, p_value
from momus.report.joint_words import ADJUSTED, SUBGROUPS, adjusted_cells, given, joint_lines, rank, subgroup_cells
from momus.report.safe import anchor, clean
from momus.report.words import (
    band,
    effective,
    families,
    floors,
    gap,
    headlines,
    method,
    null,
    says,
    shows,
    statistic_name,
)

if TYPE_CHECKING:
    from jinja2 import Environment

    from momus.comparison.result import Comparison

SHOWN_ROWS = 200
"""Largest number of rows that the report shows of a table."""


def write_report(comparison: Comparison, path: Path) -> Path:
    """Write the report, and return its path.

    Raises
    ------
    StoreError
        The file cannot be written.
    """
    text = render(comparison)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})", hint="name another file") from error
    return path


def asset(name: str) -> str:
    """Read a template, script or style sheet of the report."""
    return (files("momus.report") / "templates" / name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Hash of a script, in the form that a content security policy names it by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def environment() -> Environment:
    """Jinja environment of the templates, with the filters and functions that they use; escapes everything."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    jinja = Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters |= {"number": number, "p": p_value, "clean": clean, "anchor": anchor}
    jinja.globals |= {
        "says": says,
        "shows": shows,
        "method": method,
        "null": null,
        "statistic_name": statistic_name,
        "interval": lambda v: Markup(interval_picture(v)),
        "picture": lambda item, prefix: Markup(_picture(item, prefix)),
        "kind": lambda item: type(item).__name__,
        "data_of": data_of,
        "cell": cell,
        "gap": gap,
        "rank": rank,
        "given": given,
        "adjusted_cells": adjusted_cells,
        "subgroup_cells": subgroup_cells,
        "band": band,
        "effective": effective,
        "shown": SHOWN_ROWS,
    }
    return jinja


def render(comparison: Comparison) -> str:
    """Render the report as HTML; all content of texts is cleaned and escaped."""
    from markupsafe import Markup

    script, style = asset("report.js"), asset("style.css")
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            comparison=comparison,
            headlines=headlines(comparison.verdicts),
            families=families(comparison.verdicts, comparison.signature["adjustment"]),
            floors=floors(comparison.verdicts),
            joint_lines=joint_lines(comparison.joint, {r.name: r.axis for r in comparison.results}),
            ranked=[] if comparison.joint.ranking is None else comparison.joint.ranking.of(ALL_AXES),
            adjusted_heads=ADJUSTED,
            subgroup_heads=SUBGROUPS,
            delta=comparison.signature.get("equivalence"),
            refits=comparison.signature.get("refits", 0),
            script=Markup(script),
            style=Markup(style),
            script_digest=digest(script),
        )
    )


def _picture(item: Chart | Heatmap | Graph, prefix: str) -> str:
    from momus.report.figures.svg import draw

    return draw(replace(item, name=f"{prefix}-{item.name}"))


def cell(value: Any) -> str:
    """Format the cell of a table."""
    if isinstance(value, bool | str):
        return clean(value)
    if value is None or isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) else clean(value)


def data_of(item: Evidence) -> Table | None:
    """Tabulate the numbers behind a figure; None for evidence that is not a figure."""
    if isinstance(item, Chart):
        columns = ("series", clean(item.x.label, 80), clean(item.y.label, 80))
        rows = [(s.label, x, y) for s in item.series for x, y in zip(s.x, s.y, strict=True)]
        return Table(item.name, item.title, columns, rows)
    if isinstance(item, Heatmap):
        matrix = [(name, *row) for name, row in zip(item.rows, item.values, strict=True)]
        return Table(item.name, item.title, ("", *item.columns), matrix)
    if isinstance(item, Graph):
        edges = [(e.source, e.target, e.weight) for e in item.edges]
        return Table(item.name, item.title, ("from", "to", item.label), edges)
    return None
