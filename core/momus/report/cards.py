"""Cards of the report: what there is to show of each axis, from the largest gap to axes that were not tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from momus.evidence import Axis, Chart, Evidence, Heatmap, MarkedDocument, Series, Table
from momus.report.passages import Shown, shown_examples
from momus.report.words.findings import parts_tables
from momus.report.words.format import HUMAN
from momus.report.words.sentences import overuse_lines, says_what
from momus.runs.answer import Answer, AxisAnswer
from momus.runs.examples import EXAMPLES
from momus.runs.overuse import CorpusOveruse
from momus.runs.result import CriticResult, Results

FINDINGS, GLANCE = 3, 280
"""Findings on the first screen, and characters of each of their passages."""


@dataclass(frozen=True)
class Card:
    """All that the report shows of one axis.

    Attributes
    ----------
    axis, result
        The axis over all corpora, and what the run kept of its critic.
    chart
        Human text and all corpora in one chart; None if the critic has none.
    more
        Other charts that hold all corpora.
    examples
        Generated passages beside human ones.
    evidence
        Pairs of a corpus and its tables, heat maps, graphs, and charts that cannot be laid over each other.
    overuse
        Pairs of a kind of thing and a sentence on what corpora say too often or too rarely.
    """

    axis: AxisAnswer
    result: CriticResult
    chart: Chart | None
    more: Sequence[Chart]
    examples: Sequence[Shown]
    evidence: Sequence[tuple[str, Sequence[Evidence]]]
    overuse: Sequence[tuple[str, str]] = ()


def cards_of(comparison: Results, answer: Answer, overused: Sequence[CorpusOveruse] = ()) -> list[Card]:
    """Build the cards of a comparison, in the order of the answer."""
    overuse = {a.critic: overuse_lines([o for o in overused if o.critic == a.critic]) for a in answer.axes}
    results = {r.name: r for r in comparison.results}
    return [_card(a, results[a.critic], overuse[a.critic]) for a in answer.axes if a.critic in results]


def _card(axis: AxisAnswer, result: CriticResult, overuse: Sequence[tuple[str, str]]) -> Card:
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
        first,
        charts[1:],
        shown_examples(axis, result.examples, EXAMPLES),
        _shared(rest),
        overuse,
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


class Glimpse(NamedTuple):
    """What the first screen shows of an axis: what the corpus of a passage does, and it beside a human one."""

    axis: AxisAnswer
    sentence: str
    shown: Shown


def findings_of(cards: Sequence[Card]) -> list[Glimpse]:
    """Choose the findings of the first screen: of the largest gaps those whose passages have marks, then others."""
    findings = []
    for card in cards:
        if card.axis.worst.differs and card.examples:
            (shown,) = shown_examples(card.axis, card.result.examples, 1, GLANCE, remarks=1)
            cell = next(c for c in card.axis.cells if c.generated == shown.generated.corpus)
            findings.append(Glimpse(card.axis, says_what(cell), shown))
    findings.sort(key=lambda f: not any(piece.marked for piece in f.shown.generated.pieces))  # stable: by size
    return findings[:FINDINGS]


def overlay(result: CriticResult) -> Chart | None:
    """The chart that shows an axis best, over all corpora.

    The first chart of the critic's evidence that exists for all corpora, else how the documents of each corpus spread
    over what the axis measures. None for critics that have neither.
    """
    merged = merged_charts(result)
    if merged:
        return merged[0]
    chart = result.distribution
    return None if chart is None else replace(chart, series=[_renamed(s) for s in chart.series])


def merged_charts(result: CriticResult) -> list[Chart]:
    """All charts of the evidence that exist for every corpus, each with the series of all corpora."""
    with_evidence = [(name, items) for name, items in result.evidence if items]
    if not with_evidence:
        return []
    merged = []
    for name in dict.fromkeys(e.name for e in with_evidence[0][1] if isinstance(e, Chart)):
        charts = [
            (corpus, e) for corpus, items in with_evidence for e in items if isinstance(e, Chart) and e.name == name
        ]
        axes: set[tuple[Axis, Axis]] = {(chart.x, chart.y) for _, chart in charts}
        compared = all(any(s.role == "generated" for s in chart.series) for _, chart in charts)
        if len(charts) == len(with_evidence) and len(axes) == 1 and compared:
            merged.append(_merge(charts))
    return merged


def _merge(charts: Sequence[tuple[str, Chart]]) -> Chart:
    """Lay charts of several corpora over each other; series of human text and of its fits stand once."""
    series: dict[tuple[str, str], Series] = {}
    for corpus, chart in charts:
        for s in chart.series:
            named = _renamed(s, corpus)
            series.setdefault((s.role, named.label), named)
    order = {"real": 0, "generated": 1, "fitted": 2, "reference": 3}
    return replace(charts[0][1], series=sorted(series.values(), key=lambda s: order[s.role]))


def _renamed(series: Series, corpus: str = "") -> Series:
    """Put names in place of the roles that critics begin labels with: ``generated, n = 2`` is ``opt, n = 2``."""
    for role, name in (("real", HUMAN), ("generated", corpus)):
        rest = series.label.removeprefix(role)
        if name and rest != series.label and not rest[:1].isalnum():
            return replace(series, label=name + rest)
    if corpus and series.role == "generated":
        return replace(series, label=f"{corpus}: {series.label}")
    return series
