"""Evidence as data: tables, charts, heat maps, graphs and marked documents that any front end can draw.

Critics return evidence and draw nothing. All evidence converts to JSON and back, so a report can be rebuilt from a run
folder, and every figure comes with the numbers that it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

from momus.errors import UsageError
from momus.evidence.wording import Direction as Direction
from momus.evidence.wording import Format as Format
from momus.evidence.wording import Wording as Wording
from momus.evidence.wording import either as either
from momus.schema import build

Cell = str | int | float | None
Role = Literal["real", "generated", "fitted", "reference"]


@dataclass(frozen=True)
class Overused:
    """One thing that generated text says too often or, if ``generated`` is below ``real``, not often enough.

    Attributes
    ----------
    text
        The loop, phrase or opening.
    real, generated
        How often each text has it, in the unit of the `Overuse`.
    example
        A line of generated text that has it; empty if ``text`` is the line, or if the thing is missing.
    size
        What it is tested by, if each of the things is: see `Overuse.of`.
    documents
        Of a thing that one document may have many times, the share of the documents of each text that have it.
    """

    text: str
    real: float
    generated: float
    example: str = ""
    size: float | None = None
    documents: tuple[float, float] | None = None


@dataclass(frozen=True)
class Overuse:
    """What generated text says too often, or too rarely, the worst first.

    It is named on the first screen as far as it is significant.

    Attributes
    ----------
    what
        The kind of thing, in the plural, such as ``over-used phrases`` or ``missing words``.
    unit
        Unit of the frequencies, such as ``% of documents``.
    of
        The statistic that must differ. If it is the largest of the sizes of many things, only those are named that
        exceed its critical value.
    exclusive
        Whether a document has one of the things at most, so that their shares add up.
    """

    what: str
    unit: str
    items: Sequence[Overused]
    of: str = ""
    exclusive: bool = False


@dataclass(frozen=True)
class Faulty:
    """A kind of fault, and the documents of a generated text that have it.

    Attributes
    ----------
    name, of
        Its name, such as ``broken-off``, and the statistic that tells how often it occurs.
    clause
        What such documents do, such as ``break off``.
    real, generated
        Of each text, documents that have the fault, and all documents.
    ids, quotes
        Some of the generated documents, the worst first, and what the fault says in each.
    times
        How often the fault says the same in the first of them.
    fitted
        Documents of the text that the critic was fitted on which have the fault, and all of them.
    """

    name: str
    of: str
    clause: str
    real: tuple[int, int]
    generated: tuple[int, int]
    ids: Sequence[str] = ()
    quotes: Sequence[str] = ()
    times: int = 1
    fitted: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Table:
    """Rows of cells under named columns.

    ``overuse`` holds the few things of the table that the first screen of a report names, ``faults`` what it says of
    broken documents.

    >>> Table("t", "Two words", ("word", "count"), (("the", 3), ("a", 1))).rows[0]
    ('the', 3)
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    overuse: Overuse | None = None
    faults: Sequence[Faulty] = ()


@dataclass(frozen=True)
class Axis:
    """The label (with its unit) and the scale of an axis."""

    label: str
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True)
class Series:
    """A line, points or a step function, with an optional band from ``low`` to ``high``."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    role: Role = "generated"
    style: Literal["line", "points", "steps"] = "line"
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Check that there is one number for each point."""
        for name in ("x", "low", "high"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.y):
                raise UsageError(
                    f"series {self.label!r}: {len(values)} numbers in {name}, and {len(self.y)} in y",
                    hint="give one number for each point",
                )


@dataclass(frozen=True)
class Chart:
    """Series over two axes."""

    name: str
    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    note: str = ""


@dataclass(frozen=True)
class Heatmap:
    """A matrix of values; colours diverge around 0 unless ``diverging`` is off, and ``limit`` clamps their range."""

    name: str
    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    label: str
    row_label: str = ""
    column_label: str = ""
    limit: float | None = None
    diverging: bool = True
    note: str = ""

    def __post_init__(self) -> None:
        """Check the shape."""
        if len(self.values) != len(self.rows) or any(len(row) != len(self.columns) for row in self.values):
            raise UsageError(
                f"heat map {self.name!r}: values are no {len(self.rows)} rows of {len(self.columns)} columns",
                hint="give one value for each row and column",
            )


@dataclass(frozen=True)
class Edge:
    """An arrow between two nodes, with a signed weight; ``marked`` highlights it."""

    source: str
    target: str
    weight: float
    marked: bool = False


@dataclass(frozen=True)
class Graph:
    """Nodes, and weighted arrows between them."""

    name: str
    title: str
    nodes: Sequence[str]
    edges: Sequence[Edge]
    label: str
    note: str = ""

    def __post_init__(self) -> None:
        """Check that edges join nodes."""
        strange = {end for edge in self.edges for end in (edge.source, edge.target)} - {*self.nodes}
        if strange:
            raise UsageError(f"graph {self.name!r}: no node {min(strange)!r}", hint="name the ends of all edges")


@dataclass(frozen=True)
class Step:
    """One step of a document as a critic sees it.

    Attributes
    ----------
    label
        The state (a section type, a mention, a topic).
    text
        An excerpt of the text that belongs to it.
    value
        Contribution of the step to the Latent NLL, in nats.
    marked
        Whether the critic considers the step unlikely.
    note
        A remark, for example what the critic expected.
    """

    label: str
    text: str = ""
    value: float | None = None
    marked: bool = False
    note: str = ""


@dataclass(frozen=True)
class MarkedDocument:
    """A document, step by step, with its unlikely steps marked."""

    corpus: str
    id: str
    value: float
    unit: str
    steps: Sequence[Step] = field(default_factory=tuple)
    note: str = ""


_S = TypeVar("_S")


def both(real: _S, generated: _S) -> tuple[tuple[Role, _S], tuple[Role, _S]]:
    """Pair the data of each text with its role in a figure."""
    return ("real", real), ("generated", generated)


Evidence = Table | Chart | Heatmap | Graph | MarkedDocument


def to_json(item: Evidence) -> dict[str, Any]:
    """Convert evidence to plain lists, strings and numbers, with its kind under ``kind``.

    >>> item = Table("t", "One", ("a",), ((1,),))
    >>> from_json(to_json(item)) == item
    True
    """
    return {"kind": type(item).__name__, **asdict(item)}


def from_json(data: dict[str, Any]) -> Evidence:
    """Convert the output of `to_json` back to evidence.

    Raises
    ------
    StoreError
        The kind is unknown or a field is missing.
    """
    return build(Evidence, data, "evidence", "was this written by a newer version of momus?")  # type: ignore[arg-type]
