"""Changes between runs for the terminal (80 columns), as Markdown, and as JSON; and tables for other views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from momus.files import plain
from momus.history.diff import AxisChange, CorpusDiff, RunDiff
from momus.history.words import (
    CHANGE_HEADS,
    change_cells,
    diff_notes,
    diff_sentences,
    input_line,
    outlier_lines,
    run_name,
)
from momus.report.safe import clean

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def diff_json(diff: RunDiff) -> dict[str, Any]:
    """All fields, with the finding of each change."""
    content: dict[str, Any] = plain(asdict(diff))
    for kept, pair in zip(content["pairs"], diff.pairs, strict=True):
        for row, change in zip(kept["axes"], pair.axes, strict=True):
            row["finding"] = change.finding
        if pair.overall is not None:
            kept["overall"]["finding"] = pair.overall.finding
    return content


def diff_view(diff: RunDiff) -> RenderableType:
    """Sentences, a table of axes, inputs that differ and outliers."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(f"{run_name(diff.before)} → {run_name(diff.after)}", style="bold")]
    for pair in diff.pairs:
        if len(diff.pairs) > 1 or pair.before != pair.after:
            parts.append(Text(f"\n{pair.before} → {pair.after}", style="bold"))
        parts += [Text(clean(line)) for line in diff_sentences(diff, pair)]
        parts += [Text(), text_table(CHANGE_HEADS, [change_cells(c) for c in _rows(pair)])]
        outliers = outlier_lines(pair.outliers)
        if outliers:
            parts.append(Text("\nOutliers (less likely than 99 % of the real documents)", style="bold"))
            parts += [Text(clean(line)) for line in outliers]
        parts += [Text(clean(line, 2000), style="dim") for line in diff_notes(diff, pair)]
    inputs = _inputs(diff)
    if inputs:
        parts.append(Text("\nInputs that differ", style="bold"))
        parts += [Text(clean(line)) for line in inputs]
    return Group(*parts)


def _inputs(diff: RunDiff) -> list[str]:
    """Inputs that differ, but for the generated texts, which are expected to; those that are the same are named."""
    changed = {i.name for i in diff.inputs if i.kind == "generated text"}
    same = [f"generated text {p.after}: the same in both runs" for p in diff.pairs if p.after not in changed]
    return [*(input_line(i) for i in diff.inputs if i.kind != "generated text"), *same]


def _rows(pair: CorpusDiff) -> list[AxisChange]:
    return [*([pair.overall] if pair.overall is not None else []), *pair.axes]


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """A rich table; the first columns (``left`` of them) and the last are aligned to the left."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False, header_style="bold", box=None, padding=(0, 1, 0, 0))
    for i, name in enumerate(heads):
        right = left <= i < len(heads) - 1
        table.add_column(name, justify="right" if right else "left", no_wrap=i >= left, overflow="fold")
    for row in rows:
        table.add_row(*(escape(clean(cell, 60)) for cell in row))
    return table


def diff_markdown(diff: RunDiff) -> str:
    """A Markdown page."""
    lines = [f"# {markdown(run_name(diff.before))} → {markdown(run_name(diff.after))}", ""]
    for pair in diff.pairs:
        if len(diff.pairs) > 1 or pair.before != pair.after:
            lines += [f"## {markdown(pair.before)} → {markdown(pair.after)}", ""]
        lines += [*(markdown(s) for s in diff_sentences(diff, pair)), ""]
        lines += [*markdown_table(CHANGE_HEADS, [change_cells(c) for c in _rows(pair)]), ""]
        lines += [f"* {markdown(line)}" for line in [*outlier_lines(pair.outliers), *diff_notes(diff, pair)]]
        lines.append("")
    inputs = _inputs(diff)
    if inputs:
        lines += ["Inputs that differ:", "", *(f"* {markdown(line)}" for line in inputs), ""]
    return "\n".join(lines)


def markdown(text: str) -> str:
    r"""Text without a meaning in Markdown or HTML.

    >>> print(markdown("a|b <i>*c*</i>"))
    a\|b &lt;i&gt;\*c\*&lt;/i&gt;
    """
    safe = clean(text, 2000).replace("\n", " ").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + c if c in "\\`*_[]|#!~" else c for c in safe)


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; columns between the first and the last are aligned to the right."""
    rule = ["---" if i in (0, len(heads) - 1) else "---:" for i in range(len(heads))]
    cells = [[markdown(cell) for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [[h or " " for h in heads], rule, *cells]]
