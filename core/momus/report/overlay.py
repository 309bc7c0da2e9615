"""One chart per axis for all corpora: human text once, and each generated corpus under its own name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from momus.evidence import Axis, Chart, Evidence, Series
from momus.report.names import HUMAN
from momus.runs.result import CriticResult


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
        charts = [(corpus, _named(name, items)) for corpus, items in with_evidence]
        found = [(corpus, chart) for corpus, chart in charts if chart is not None]
        if len(found) == len(charts) and _alike([chart for _, chart in found]):
            merged.append(_merge(found))
    return merged


def _named(name: str, items: Sequence[Evidence]) -> Chart | None:
    return next((e for e in items if isinstance(e, Chart) and e.name == name), None)


def _alike(charts: Sequence[Chart]) -> bool:
    """Whether charts have the same axes and each has a series of the generated text."""
    axes: set[tuple[Axis, Axis]] = {(c.x, c.y) for c in charts}
    return len(axes) == 1 and all(any(s.role == "generated" for s in c.series) for c in charts)


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
