"""The help of ``momus`` itself, drawn as Typer draws the help of each command."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar

from rich import box
from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme


class _Switches(RegexHighlighter):
    """Options in bold, as in the help of the commands."""

    highlights: ClassVar[list[str]] = [r"(^|\W)(?P<option>\-\-?[\w-]+)"]


def draw(
    usage: str, text: str, options: Sequence[tuple[str, str]], commands: Sequence[tuple[str, str]], epilog: str
) -> None:
    """Print a front page: usage, text in Rich's markup, tables of (name, help), and a last paragraph."""
    width = os.environ.get("TERMINAL_WIDTH", "")
    theme = Theme({"option": "bold cyan", "usage": "yellow"})
    console = Console(theme=theme, highlight=False, width=int(width) if width.isdigit() else None)
    paragraphs = text.split("\n\n")
    console.print(Padding(Text("Usage: ", "usage") + Text(usage, "bold"), 1))
    console.print(Padding("\n\n".join([" ".join(paragraphs[0].split("\n")), *paragraphs[1:]]), (0, 1, 1, 1)))
    for title, rows in (("Options", options), ("Commands", commands)):
        console.print(_panel(title, rows))
    if epilog:
        console.print(Padding(Text(epilog), 1))


def _panel(title: str, rows: Sequence[tuple[str, str]]) -> Panel:
    """A box with one row per option or command."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1), expand=True)
    table.add_column(style="option", no_wrap=True)
    table.add_column(ratio=1)
    for name, words in rows:
        table.add_row(name, _Switches()(words))
    return Panel(table, title=title, title_align="left", border_style="dim", box=box.ROUNDED)
