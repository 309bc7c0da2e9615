"""The overview of a comparison as rows of short texts: axes × generated corpora, for a terminal, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from momus.report.safe import one_line
from momus.report.words.format import HUMAN
from momus.report.words.joint import chance, rank
from momus.report.words.sentences import ARROWS, label, mark, size
from momus.runs.answer import Answer, Cell
from momus.text.counting import joined, text_of

MIDDLE = "…"
SIZES = "n"
"""Head of the column with the documents of the reference and of the generated texts that take part."""


@dataclass(frozen=True)
class OverviewRow:
    """One row: what it is about, and a text for each corpus; ``strong`` says which of them differ from human text.

    ``size`` are the documents of the reference and of the generated texts that take part, such as ``250 | 240–250``.
    """

    label: str
    cells: tuple[str, ...]
    strong: tuple[bool, ...]
    size: str = ""


@dataclass(frozen=True)
class Overview:
    """The overview table.

    Attributes
    ----------
    names
        The generated corpora, nearest to human text first.
    axes
        One row per axis, in the order of the answer.
    ranks
        Rows over all axes: the mean gap, the rank with bootstrap share; empty for a single corpus.
    """

    names: tuple[str, ...]
    axes: tuple[OverviewRow, ...]
    ranks: tuple[OverviewRow, ...]

    @property
    def sizes_differ(self) -> bool:
        """Whether axes that were tested rest on different numbers of documents."""
        return len({row.size for row in self.axes} - {""}) > 1

    def columns(self, start: int, stop: int) -> Overview:
        """The same table with some of the corpora."""
        chosen = slice(start, stop)
        axes, ranks = (
            tuple(replace(r, cells=r.cells[chosen], strong=r.strong[chosen]) for r in rows)
            for rows in (self.axes, self.ranks)
        )
        return Overview(self.names[chosen], axes, ranks)


def overview(answer: Answer, pad: bool = False, words: bool = False) -> Overview:
    """Build the overview table of an answer; all texts are single lines without control characters.

    With ``pad``, the signs of a cell take three characters, so that numbers stand below each other. With ``words``, a
    word stands beside each arrow; without, the name of the axis says which statistic they are of, and cells of another
    one have none.
    """
    names = [c.generated for c in answer.corpora]
    axes = []
    for axis in answer.axes:
        cells = {c.generated: c for c in axis.cells}
        row = [cells.get(name) for name in names]
        named = "" if words else subject(axis.worst)
        texts = tuple(("n/a" + " " * 3 * pad) if c is None else cell_text(c, pad, named) for c in row)
        differs = tuple(c is not None and c.differs for c in row)
        of = f": {named}" if any(c.sign and subject(c) == named for c in axis.cells) else ""
        axes.append(OverviewRow(one_line(axis.axis) + of, texts, differs, _sizes(axis.cells)))
    rows = [c.rank for c in answer.corpora]
    ranks: tuple[OverviewRow, ...] = ()
    if any(r is not None for r in rows):
        plain = (False,) * len(names)
        means = tuple(("n/a" if r is None else f"{r.distance:.1f}") + " " * 3 * pad for r in rows)
        places = tuple("n/a" if r is None else f"{rank(r)}, {chance(r)}" for r in rows)
        tested = max(c.tested for c in answer.corpora)
        over = f"mean over {answer.mean_axes} of {tested} axes" if answer.mean_axes < tested else "mean over axes"
        ranks = (OverviewRow(over, means, plain), OverviewRow("rank, bootstrap share", places, plain))
    return Overview(tuple(one_line(n) for n in names), tuple(axes), ranks)


def subject(cell: Cell) -> str:
    """What an arrow of a cell is of: the thing that is told by name, or the statistic."""
    return f"“{one_line(cell.thing.text, 40)}”" if cell.thing is not None else one_line(label(cell.row))


def cell_text(cell: Cell, pad: bool = False, named: str = "") -> str:
    """A cell of the overview table: gap in human bands, arrow and stars; see `size`.

    Not tested: ``n/a``. An arrow is followed by what the text is, or by the statistic that it is of; where that is
    ``named`` elsewhere, it has no word, and an arrow of another statistic is left out.
    """
    v = cell.row
    tested = v.p_adjusted is not None
    arrow, marks = (ARROWS[cell.sign], mark(cell)) if tested else ("", "")
    arrow = arrow if not named or named == subject(cell) else ""
    spoken = "" if cell.thing is not None else one_line(cell.direction)
    word = f" {spoken or subject(cell)}" if arrow and not named else ""
    return f"{size(v) if tested else 'n/a'}{arrow or ' ' * pad}{marks:<{2 * pad}}{word}"


def _sizes(cells: Sequence[Cell]) -> str:
    """Documents of the reference and of the generated texts in the tests of an axis; empty if none was tested."""
    rows = [c.row for c in cells if c.row.p_adjusted is not None]
    return f"{_span(v.n_real for v in rows)} | {_span(v.n_generated for v in rows)}" if rows else ""


def _span(counts: Iterable[int]) -> str:
    """A number, or the range of several.

    >>> _span([200, 200]), _span([180, 1200])
    ('200', '180–1,200')
    """
    low, *_, high = sorted([*counts] * 2)
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def taking_part(answer: Answer) -> str:
    """How many documents of the reference and of each text take part in the tests; a range where axes differ."""
    rows = [c.row for axis in answer.axes for c in axis.cells if c.row.p_adjusted is not None]
    if not rows:
        return "no axis was tested"
    of_texts = {c.generated: [v.n_generated for v in rows if v.generated == c.generated] for c in answer.corpora}
    sizes = joined([f"{_span(counts)} of {one_line(name)}" for name, counts in of_texts.items() if counts])
    return f"{_span(v.n_real for v in rows)} documents of {text_of(rows[0].reference, HUMAN)}, {sizes}"


def shortened(text: str, width: int) -> str:
    """Cut the middle out of a text that is wider than a number of terminal cells.

    >>> shortened("temperature-0.7", 9), shortened("short", 9)
    ('temp…-0.7', 'short')
    """
    if cell_len(text) <= width:
        return text
    head, tail = "", ""
    for _ in text:  # from both ends by turns, as long as it fits
        longer = (head + text[len(head)], tail) if len(head) <= len(tail) else (head, text[-len(tail) - 1] + tail)
        if cell_len("".join(longer)) + 1 > width:
            break
        head, tail = longer
    return head + MIDDLE + tail


def short_names(names: Sequence[str], width: int) -> tuple[list[str], list[str]]:
    """Names that fit a column, and the lines of a key to those that would otherwise look alike.

    >>> short_names(["temperature-a-run-1", "temperature-b-run-1"], 8)
    (['1 tem…-1', '2 tem…-1'], ['1 temperature-a-run-1', '2 temperature-b-run-1'])
    """
    texts = [shortened(name, width) for name in names]
    if len(set(texts)) == len(texts):
        return texts, []
    numbered = [f"{i} {name}" for i, name in enumerate(names, 1)]
    return [f"{i} {shortened(name, width - len(str(i)) - 1)}" for i, name in enumerate(names, 1)], numbered
