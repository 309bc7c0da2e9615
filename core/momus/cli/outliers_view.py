"""Outlier documents in words, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from momus.cli.outliers import Listing, Outlier
from momus.evidence import MarkedDocument, Step
from momus.report.format import number
from momus.report.safe import one_line
from momus.text.counting import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

SNIPPET = 200
"""Characters of a text that are shown."""
STATES = 10
"""Largest number of steps z that are shown."""


def outlier_view(listing: Listing) -> RenderableType:
    """Build a list of outliers by corpus: rank and value, z, the reason, a snippet and human text."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for corpus, n in listing.scored.items():
        rows = [o for o in listing.outliers if o.corpus == corpus]
        title = f"{one_line(corpus)}: least likely of {counted(n, listing.noun)}, by {one_line(listing.axis)}"
        parts += [Text(title, style="bold")] if rows else [Text(f"{one_line(corpus)}: nothing is scored")]
        for outlier in rows:
            parts += [Text(""), _entry(outlier, listing)]
        tied = listing.tied[corpus]
        parts += [Text(f"\nAs unlikely as the last: {tied:,} more; --top lists them.", style="dim")] if tied else []
        parts += [Text("")]
    if any(o.document is None for o in listing.outliers):
        kept = f"Texts are kept of the {listing.kept} least likely of each corpus"
        parts.append(Text(f"{kept}: `momus compare … --top N` keeps more.", style="dim"))
    return Group(*parts)


def _entry(o: Outlier, listing: Listing) -> RenderableType:
    """One document: a first line, and below it what there is to say, by name."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    rank = str(o.first) if o.first == o.last else f"{o.first}–{o.last}"
    first = Text(f"{rank:>4}  ", style="dim").append(one_line(o.id), style="bold")
    first.append(f"  {number(o.value)} {listing.unit}", style="")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(width=12)
    table.add_column()
    for name, text in _lines(o, listing):
        table.add_row(Text(f"      {name}", style="dim"), text)
    return Group(first, table)


def _lines(o: Outlier, listing: Listing) -> list[tuple[str, Text]]:
    from rich.text import Text

    lines = [("why", Text(one_line(o.why)))]
    if o.document is None:
        return [*lines, ("text", Text("not kept", style="dim"))]
    named = [s for s in o.document.steps if one_line(s.label)]
    lines += [("z", states(named))] if len({s.label for s in named}) > 1 else []
    lines.append(("text", Text(f"“{snippet(o.document)}”")))
    if o.human is not None:
        who = "same prompt" if o.same_prompt else "typical"
        lines.append(("human", Text(f"{one_line(o.human.id)} ({who}): “{beginning(o.human.steps)}”")))
    return lines


def states(steps: Sequence[Step]) -> Text:
    """Labels of the steps, with unlikely ones between ``›`` and ``‹``; of many steps those around unlikely ones."""
    from rich.text import Text

    text, before = Text(), -1
    for i in shown_steps([s.marked for s in steps]):
        text.append(" … " if i > before + 1 else " → " if i else "")
        label = one_line(steps[i].label, 40)
        text.append(f"›{label}‹" if steps[i].marked else label, style="bold red" if steps[i].marked else "")
        before = i
    return text.append(" …") if before < len(steps) - 1 else text


def shown_steps(marked: Sequence[bool]) -> list[int]:
    """Numbers of at most ten steps to show: those that are marked with their neighbours, else the first.

    >>> shown_steps([False] * 20 + [True] + [False] * 20)
    [0, 1, 2, 3, 4, 5, 6, 19, 20, 21]
    """
    order = [j for i, m in enumerate(marked) if m for j in (i, i - 1, i + 1) if 0 <= j < len(marked)]
    return sorted(list(dict.fromkeys([*order, *range(len(marked))]))[:STATES])


def snippet(document: MarkedDocument) -> str:
    """The text of the first unlikely step, or else the first words of the document."""
    marked = next((s for s in document.steps if s.marked and len(s.text) > len(s.label)), None)
    return _clipped(marked.text) if marked else beginning(document.steps)


def beginning(steps: Sequence[Step]) -> str:
    """The first words of a document."""
    return _clipped(" ".join(s.text or s.label for s in steps[:SNIPPET]))


def _clipped(text: str) -> str:
    return one_line(" ".join(text[: 4 * SNIPPET].split()), SNIPPET)
