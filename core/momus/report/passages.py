"""Passages of documents as pieces, of which those that a critic finds unlikely are marked in the text itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from momus.evidence import MarkedDocument, Step
from momus.report.safe import clean
from momus.report.words.format import number
from momus.runs.answer import AxisAnswer
from momus.runs.examples import Example
from momus.runs.result import CriticResult

LENGTH = 480
"""Characters of a passage that are shown."""
REMARKS = 6
"""Remarks of one passage."""
OUTLIERS, OUTLIER = 2, 240
"""How many of the least likely documents of each corpus are shown, and characters of each."""
TITLED = 30
"""The state of a longer piece is its title, and stands before it."""
BEFORE = 140
"""Characters shown before the first marked piece, if the passage does not begin with its document."""
LONGEST = 320
"""Characters of one piece."""


@dataclass(frozen=True)
class Passage:
    """A passage of a document.

    Attributes
    ----------
    corpus, id
        The document.
    value
        Its Latent NLL with the unit; empty where it has none.
    pieces
        The steps of the passage, in order, clipped and cleaned; the label (z) is empty where the text says it.
    before, after
        Whether the document has more text on this side.
    note
        What is marked.
    """

    corpus: str
    id: str
    value: str
    pieces: Sequence[Step]
    before: bool
    after: bool
    note: str


@dataclass(frozen=True)
class Shown:
    """A generated passage beside a human one."""

    generated: Passage
    human: Passage
    same_prompt: bool


def passage(document: MarkedDocument, length: int = LENGTH, remarks: int = REMARKS) -> Passage:
    """Choose the passage of a document that holds its first marked piece, with so many remarks at most.

    >>> p = passage(MarkedDocument("g", "1", 2.0, "nats", [Step("a", "one "), Step("b", "two", marked=True)]))
    >>> [(piece.text, piece.marked) for piece in p.pieces], p.before, p.value
    ([('one ', False), ('two', True)], False, '2 nats')
    """
    steps = document.steps
    first = next((i for i, s in enumerate(steps) if s.marked), 0)
    start, room = first, BEFORE
    while start > 0 and _size(steps[start - 1]) <= room:
        start -= 1
        room -= _size(steps[start])
    end, room = start, length
    while end < len(steps) and (end <= first or _size(steps[end]) <= room):
        room -= _size(steps[end])
        end += 1
    value = f"{number(document.value)} {clean(document.unit, 40)}" if document.value else ""
    pieces = _joined(_remarked_once([_piece(s) for s in steps[start:end]], remarks))
    return Passage(document.corpus, document.id, value, pieces, start > 0, end < len(steps), document.note)


def _size(step: Step) -> int:
    return min(len(step.text), LONGEST) + len(step.label)


def _joined(pieces: Sequence[Step]) -> list[Step]:
    """Make one piece of those that follow each other without a mark or a state, such as single words."""
    joined: list[Step] = []
    for p in pieces:
        last = joined[-1] if joined else None
        if last is not None and not (last.marked or last.label or p.marked or p.label):
            joined[-1] = replace(last, text=last.text + p.text)
        else:
            joined.append(p)
    return joined


def _remarked_once(pieces: Sequence[Step], most: int) -> list[Step]:
    """Keep the remark on a word where it is marked first; more than a few remarks hide the text."""
    told: set[tuple[str, str]] = set()
    kept = []
    for p in pieces:
        remark = p.text.strip().lower(), p.note
        if p.marked and p.text and (remark in told or len(told) >= most):
            kept.append(replace(p, label=p.label if len(p.text) > TITLED else "", note=""))
            continue
        if p.marked and p.note:
            told.add(remark)
        kept.append(p)
    return kept


def _piece(step: Step) -> Step:
    label = "" if step.label == "text" else clean(step.label, 80)
    text = re.sub(r"\s*\n\s*", "\n", clean(step.text, LONGEST))
    # critics that count words have the word itself as label, which the text shows already
    label = "" if label.strip().lower() == text.strip().lower() else label
    return replace(step, label=label, text=text, note=clean(step.note, 160))


def shown_examples(
    axis: AxisAnswer, examples: Sequence[Example], count: int, length: int = LENGTH, remarks: int = REMARKS
) -> list[Shown]:
    """Choose examples of an axis: one of each corpus in turn, those that differ most first."""
    cells = sorted(axis.cells, key=lambda c: (not c.differs, -(c.row.gap or 0.0)))
    queues = [[e for e in examples if e.document.corpus == c.generated] for c in cells]
    chosen: list[Example] = []
    while len(chosen) < count and any(queues):
        chosen += [queue.pop(0) for queue in queues if queue][: count - len(chosen)]
    return [
        Shown(passage(e.document, length, remarks), passage(e.human, length, remarks), e.same_prompt) for e in chosen
    ]


def outlier_passages(result: CriticResult) -> list[Passage]:
    """Passages of the documents that are least likely under a critic."""
    shown: dict[str, list[MarkedDocument]] = {}
    for o in result.outliers:
        shown.setdefault(o.corpus, []).append(o)
    return [passage(o, OUTLIER) for documents in shown.values() for o in documents[:OUTLIERS]]
