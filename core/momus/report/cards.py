"""Cards of the report: what there is to show of each axis, from the largest gap to axes that were not tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from momus.evidence import Chart, Evidence, Heatmap, MarkedDocument, Table
from momus.report.answer import Answer, AxisAnswer
from momus.report.figures.scale import GapScale
from momus.report.names import HUMAN
from momus.report.overlay import merged_charts, overlay
from momus.report.parts_words import parts_tables
from momus.report.passages import Excerpt, Passage, Shown, excerpt, outlier_passages, shown_examples
from momus.report.sentences import axis_line, axis_sentences
from momus.runs.examples import EXAMPLES
from momus.runs.result import Comparison, CriticResult
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Card:
    """All that the report shows of one axis.

    Attributes
    ----------
    axis, result
        The axis over all corpora, and what the run kept of its critic.
    verdicts
        All rows of the critic.
    differs
        Whether a corpus differs on this axis; other axes are one line until they are opened.
    sentences
        Pairs of a corpus and what it does.
    line
        The axis in one line.
    chart
        Human text and all corpora in one chart; None if the critic has none.
    more
        Other charts that hold all corpora.
    examples
        Generated passages beside human ones.
    evidence
        Pairs of a corpus and its tables, heat maps, graphs, and charts that cannot be laid over each other.
    outliers
        The least likely documents.
    """

    axis: AxisAnswer
    result: CriticResult
    verdicts: Sequence[Verdict]
    differs: bool
    sentences: Sequence[tuple[str, str]]
    line: str
    chart: Chart | None
    more: Sequence[Chart]
    examples: Sequence[Shown]
    evidence: Sequence[tuple[str, Sequence[Evidence]]]
    outliers: Sequence[Passage]


def cards_of(comparison: Comparison, answer: Answer) -> list[Card]:
    """Build the cards of a comparison, in the order of the answer."""
    results = {r.name: r for r in comparison.results}
    rows: dict[str, list[Verdict]] = {}
    for v in comparison.verdicts:  # with p-values adjusted over the table, which those of a result lack
        rows.setdefault(v.critic, []).append(v)
    return [_card(a, results[a.critic], rows[a.critic]) for a in answer.axes if a.critic in results]


def _card(axis: AxisAnswer, result: CriticResult, verdicts: Sequence[Verdict]) -> Card:
    charts = merged_charts(result)
    first = overlay(result)
    shown = {c.name for c in charts}
    parts = parts_tables(result)
    rest = [
        (
            corpus,
            [
                e
                for e in (*items, *([parts[corpus]] if corpus in parts else []))
                if not isinstance(e, MarkedDocument) and e.name not in shown and not _empty(e)
            ],
        )
        for corpus, items in result.evidence
    ]
    return Card(
        axis,
        result,
        verdicts,
        any(c.differs for c in axis.cells),
        axis_sentences(axis),
        axis_line(axis),
        first,
        charts[1:],
        shown_examples(axis, result.examples, EXAMPLES),
        _shared(rest),
        outlier_passages(result),
    )


def _empty(item: Evidence) -> bool:
    """Whether a piece of evidence holds nothing."""
    if isinstance(item, Table | Heatmap):
        return not item.rows
    return isinstance(item, Chart) and not any(s.x for s in item.series)


def _shared(evidence: Sequence[tuple[str, Sequence[Evidence]]]) -> list[tuple[str, Sequence[Evidence]]]:
    """Put pieces that all corpora have alike, such as those of the real text alone, first and only once."""
    if len(evidence) < 2:
        return [(corpus, items) for corpus, items in evidence if items]
    (_, first), *others = evidence
    alike = [e for e in first if all(any(e == o for o in items) for _, items in others)]
    parts = [(HUMAN, alike), *((corpus, [e for e in items if e not in alike]) for corpus, items in evidence)]
    return [(name, items) for name, items in parts if items]


def first_excerpt(cards: Sequence[Card]) -> tuple[str, Excerpt] | None:
    """A line of generated text that shows the largest gap that has one, with the name of its axis."""
    shown = [(c.axis.axis, c.examples[0].generated) for c in cards if c.differs and c.examples]
    best = next(((axis, p) for axis, p in shown if any(q.marked for q in p.pieces)), shown[0] if shown else None)
    return None if best is None else (best[0], excerpt(best[1]))


def row_scale(verdicts: Sequence[Verdict]) -> GapScale:
    """One scale for the intervals of a table of rows."""
    return GapScale.of([v.gap_interval[1] for v in verdicts if v.gap_interval is not None])
