"""Figures as inline SVG, in colours that are CSS variables of the page."""

from __future__ import annotations

from collections.abc import Mapping

from momus.evidence import Chart, Graph, Heatmap
from momus.report.figures.chart import chart_svg
from momus.report.figures.heatmap import heatmap_svg
from momus.report.figures.network import graph_svg
from momus.report.figures.palette import COLOURS, Look

__all__ = ["COLOURS", "draw"]


def draw(item: Chart | Heatmap | Graph, corpora: Mapping[str, Look] | None = None, label: str = "") -> str:
    """Draw a figure as an ``<svg>`` element.

    Colours are CSS variables (``--real``, ``--corpus-0``, …); corpora and roles also differ in marker and dashes. All
    labels are cleaned and escaped. The same data gives the same bytes.

    Parameters
    ----------
    item
        The figure.
    corpora
        Looks of generated corpora by name (`momus.report.figures.palette.looks`), for series that have such a label.
    label
        What screen readers say; empty where the numbers follow.
    """
    if isinstance(item, Chart):
        return chart_svg(item, corpora or {}).svg(label)
    return (heatmap_svg(item) if isinstance(item, Heatmap) else graph_svg(item)).svg(label)
