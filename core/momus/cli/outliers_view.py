"""Outlier documents as JSON, and in words for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from momus.evidence import MarkedDocument, Step, to_json
from momus.report.safe import one_line
from momus.report.words.format import number, rounded
from momus.text.counting import counted, documents_of, text_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from momus.outliers.flagging import Flagged, FlaggedCorpus
    from momus.outliers.listing import FaultyDocuments, Listing, Outlier

SNIPPET = 200
"""Characters of a text that are shown."""
STATES = 10
"""Largest number of steps z that are shown."""


def outliers_json(listing: Listing) -> dict[str, Any]:
    """A listing as plain lists, strings and numbers."""
    rows = []
    for o in listing.outliers:
        texts = {k: None if d is None else to_json(d) for k, d in (("document", o.document), ("human", o.human))}
        rows.append({**asdict(o), **texts})
    return {**asdict(listing), "outliers": rows}


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
    for name, text in _lines(o):
        table.add_row(Text(f"      {name}", style="dim"), text)
    return Group(first, table)


def _lines(o: Outlier) -> list[tuple[str, Text]]:
    from rich.text import Text

    lines = [("why", Text(one_line(o.why)))]
    if o.document is None:
        return [*lines, ("text", Text("not kept", style="dim"))]
    named = [s for s in o.document.steps if one_line(s.label)]
    lines += [("z", states(named))] if len({s.label for s in named}) > 1 else []
    lines.append(("text", Text(f"“{snippet(o.document)}”")))
    if o.human is not None:
        who = "same prompt" if o.same_prompt else "typical"
        lines.append(
            (
                "human" if o.human.corpus == "real" else o.human.corpus,
                Text(f"{one_line(o.human.id)} ({who}): “{beginning(o.human.steps)}”"),
            )
        )
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
    """The first words of a text; a cut is between words."""
    line = one_line(" ".join(text[: 4 * SNIPPET].split()), SNIPPET)
    return f"{line.rpartition(' ')[0] or line} …" if line.endswith("…") else line


def flagged_view(corpora: Sequence[FlaggedCorpus], top: int) -> RenderableType:
    """Build a list of the ``top`` chosen documents of each corpus, with p, critic, and value beside real text."""
    real = documents_of(one_line(corpora[0].reference) if corpora else "real", "real")

    def head(c: FlaggedCorpus) -> str:
        of = counted(c.n, "document")
        if c.documents:
            odder = one_line(text_of(c.reference))
            return f"{len(c.documents):,} of {of} are odder than {odder} (false-discovery rate {c.fdr:g})"
        return (
            f"none of {of} is odd enough: at a false-discovery rate of {c.fdr:g}, {c.calibrating:,} "
            f"{real} can single out no fewer than {c.fewest:,}"
        )

    note = (
        f"p: share of the {real} that are as odd under the critics. Of the documents listed "
        "for a text, expect at most a share as large as the false-discovery rate to be false alarms."
    )
    lines = {c.corpus: [flagged_line(d, reference=c.reference) for d in c.documents[:top]] for c in corpora}
    return _lists([(c.corpus, head(c), lines[c.corpus], len(c.documents)) for c in corpora], note)


def faulty_view(corpora: Sequence[FaultyDocuments], top: int) -> RenderableType:
    """Build a list of the documents of each corpus that have a fault, with what it says in some of them."""
    from rich.text import Text

    entries = []
    for c in corpora:
        lines = []
        for i in c.ids[:top]:
            quote = f"  “{one_line(c.quotes[i], 60)}”" if i in c.quotes else ""
            lines.append(Text(f"  {one_line(i)}", style="bold").append(quote, style="not bold"))
        head = f"{len(c.ids):,} of {counted(c.total, 'document')} {c.clause}"
        entries.append((c.corpus, head, lines, len(c.ids)))
    return _lists(entries, "What a fault says is kept of a few documents.")


def _lists(corpora: Sequence[tuple[str, str, Sequence[RenderableType], int]], note: str) -> RenderableType:
    """A list per corpus, from its name, what is said of it, the entries to show and how many there are; and a note."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for name, head, entries, n in corpora:
        parts += [Text(f"{one_line(name)}: {head}", style="bold"), *entries]
        if n > len(entries):
            parts.append(Text(f"  and {n - len(entries):,} more; --top lists them", style="dim"))
        parts.append(Text(""))
    return Group(*parts, Text(note, style="dim"))


def flagged_line(d: Flagged, named: bool = True, reference: str = "real") -> Text:
    """One chosen document: p, which end is odd, its value beside that of real text; critic and unit if ``named``."""
    from rich.text import Text

    critic, unit = (f" by {one_line(d.critic)}", f" {one_line(d.unit)}") if named else ("", "")
    end, of = "too likely" if d.small else "odd", one_line(text_of(reference))
    value, typical = rounded(d.value, d.typical), rounded(d.typical, d.value)
    words = f"  p {d.p:.2g}, {end}{critic}: {value}{unit} ({of}: {typical})"
    return Text(f"  {one_line(d.id)}", style="bold").append(words, style="not bold")
