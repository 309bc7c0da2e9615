"""Parts of a view, and their two forms: for a terminal, and in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.console import RenderableType
from rich.text import Text

from momus.report.safe import one_line
from momus.report.words.format import markdown, markdown_table, text_table

T = TypeVar("T")
Lines = Sequence[tuple[str, str]]
Columns = Sequence[tuple[str, Callable[[T], str]]]
"""Columns of a table: the head, and what stands there of an item."""


@dataclass(frozen=True)
class PrintedBlock:
    """A part of a view: a title, a table with notes, and lines of text (a name, or none, and what is said of it).

    Attributes
    ----------
    align
        ``l`` or ``r`` for each column of the table; the last one stands for those that follow.
    style
        Of the title on a terminal.
    """

    title: str = ""
    lines: Lines = ()
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    align: str = "lr"
    style: str = "bold"


def table_block(
    title: str, items: Iterable[T], columns: Columns[T], align: str = "lr", *notes: str, lines: Lines = ()
) -> PrintedBlock:
    """A block with a table of one row per item, from the head of each column and what it says of an item.

    >>> table_block("Letters", "ab", [("letter", str), ("capital", str.upper)]).rows
    [('a', 'A'), ('b', 'B')]
    """
    rows = [tuple(cell(item) for _, cell in columns) for item in items]
    return PrintedBlock(title, lines, [head for head, _ in columns], rows, notes, align)


def terminal_blocks(blocks: Sequence[PrintedBlock], narrow: bool = False) -> list[RenderableType]:
    """The blocks on a terminal; ``narrow`` tables fit 80 columns."""
    parts: list[RenderableType] = []
    for block in blocks:
        parts += [Text("\n" * bool(parts) + one_line(block.title), style=block.style)] if block.title else []
        parts += [Text()] if not block.title and (block.rows or (block.lines and parts)) else []
        if block.rows:
            rows = [[one_line(c, 60) for c in row] for row in block.rows]
            parts.append(text_table(block.heads, rows, block.align, narrow=narrow))
        parts += [Text(one_line(note), style="dim") for note in block.notes]
        for name, line in block.lines:
            text = Text(f"{one_line(name)}: {one_line(line)}" if name else one_line(line))
            text.stylize("bold", 0, len(one_line(name)))
            parts.append(text)
    return parts


def markdown_blocks(blocks: Sequence[PrintedBlock]) -> list[str]:
    """The blocks in Markdown, as paragraphs; a line without a name is one of a list, as a note is."""
    parts = []
    for block in blocks:
        parts += [f"## {markdown(block.title)}"] if block.title else []
        parts += [markdown_table(tuple(block.heads), [tuple(r) for r in block.rows])] if block.rows else []
        named = [f"* **{markdown(n)}:** {markdown(line)}." if n else f"* {markdown(line)}" for n, line in block.lines]
        listed = [*(f"* {markdown(note)}" for note in block.notes), *named]
        parts += ["\n".join(listed)] if listed else []
    return parts
