"""The figure of one axis: human text and all generated corpora over each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from momus.errors import UsageError
from momus.evidence import Chart, Series
from momus.report.figures.chart import MANY, MARKED
from momus.report.figures.numbers import log_ticks, plain_number
from momus.report.figures.overview import above
from momus.report.figures.overview_rows import run_order
from momus.report.figures.palette import COLOURS, LABEL, MARKERS, Look, entries, look_of, looks
from momus.report.figures.style import dashes
from momus.report.overlay import overlay
from momus.report.safe import clean
from momus.runs.result import CriticResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axis_figure(axes: Axes, result: CriticResult, chart: Chart | None = None) -> Axes:
    """Draw the chart of one axis into matplotlib axes, and return them.

    Parameters
    ----------
    axes
        Matplotlib axes.
    result
        Results of the critic.
    chart
        The chart to draw; default: the one that the report shows (`momus.report.overlay.overlay`).

    Raises
    ------
    UsageError
        The critic has no chart.
    """
    shown = chart or overlay(result)
    if shown is None:
        raise UsageError(
            f"{result.name} has no chart of one number per document",
            hint="its tables, heat maps and graphs are in `result.evidence`, and in the report",
        )
    return draw_chart(axes, shown, looks(run_order(v.generated for v in result.verdicts)))


def draw_chart(axes: Axes, chart: Chart, corpora: Mapping[str, Look]) -> Axes:
    """Draw lines, step functions, points and bars, each with the colour, marker and dashes of its corpus or role."""
    for i, series in enumerate(chart.series):
        _draw(axes, series, look_of(series.role, series.label, corpora), i)
    axes.set_xscale(chart.x.scale)
    axes.set_yscale(chart.y.scale)
    for axis, spec in ((axes.xaxis, chart.x), (axes.yaxis, chart.y)):
        if spec.scale == "log":
            _plain_numbers(axis)
    axes.set_xlabel(clean(chart.x.label, 80))
    axes.set_ylabel(clean(chart.y.label, 80))
    if len(chart.series) > 1:
        _legend(axes, chart, corpora)
    return axes


def _legend(axes: Axes, chart: Chart, corpora: Mapping[str, Look]) -> None:
    """Name the series: above scatters, which leave no corner free, else inside."""
    handles, _ = axes.get_legend_handles_labels()
    for handle, name in zip(handles, entries(chart, corpora), strict=True):
        # matplotlib leaves labels out of legends that begin with an underscore
        handle.set_label(clean(name, LABEL).lstrip("_") if name else "_")
    if any(s.style == "points" for s in chart.series):
        above(axes, 2)
    else:
        axes.legend()


def _draw(axes: Axes, series: Series, look: Look, shift: int) -> None:
    colour, label = COLOURS[look.colour], "series"
    if series.low is not None and series.high is not None:
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.18, linewidth=0)
    if series.style == "points":
        size = 6 if len(series.x) > MANY else 14
        axes.scatter(
            series.x, series.y, s=size, color=colour, marker=look.marker or MARKERS[series.role], alpha=0.7, label=label
        )
    elif series.style == "bars":
        axes.bar(series.x, series.y, color=colour, alpha=0.6, label=label)
    else:
        step = max(1, len(series.x) // MARKED)
        axes.plot(
            series.x,
            series.y,
            color=colour,
            linestyle=dashes(look),
            drawstyle="steps-post" if series.style == "steps" else "default",
            marker=look.marker,
            markersize=3,
            markevery=(shift * step // 4 % step, step),
            linewidth=1.6 if series.role == "real" else 1.1,
            label=label,
        )


def _plain_numbers(axis: Any) -> None:
    """Label a logarithmic axis as the report does; matplotlib's own labels need mathtext."""
    low, high = axis.get_view_interval()
    ticks = log_ticks(low, high)
    axis.set_ticks(ticks, [plain_number(t) for t in ticks])
    axis.set_ticks([], minor=True)
    axis.set_view_interval(low, high, ignore=True)
