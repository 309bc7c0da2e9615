"""Figures in matplotlib axes: for files that papers take, and for `Comparison.plot`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from momus.errors import UsageError
from momus.evidence import Chart, Series
from momus.joint.ranks import ALL_AXES
from momus.report.cards import overlay
from momus.report.figures.chart import MANY, MARKED
from momus.report.figures.palette import COLOURS, LABEL, MARKERS, Look, entries, look_of, looks
from momus.report.figures.rows import Dot, Rows, overview_rows, power_rows, ranks_rows
from momus.report.figures.scales import GapScale, log_ticks, plain_number
from momus.report.safe import clean
from momus.runs.answer import answer_of
from momus.runs.result import CriticResult, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Plot = Literal["overview", "axis", "ranks", "power"]
WIDTHS = {"column": 3.35, "page": 6.9}
"""Widths of figures in inches: one column of a two-column page, and both."""
ROW, REST = 0.3, 1.1
"""Heights of a row of a new figure, and of what surrounds the rows, in inches."""
NAME = 36
"""Names of axes are clipped to this many characters."""
SPREAD = 0.56
"""Part of a row's height that the dots of its corpora share."""


def plot(comparison: Results, kind: Plot = "overview", critic: str | None = None, axes: Axes | None = None) -> Axes:
    """Draw a figure of a comparison; see `Comparison.plot`."""
    if kind not in get_args(Plot):
        raise UsageError(f"there is no plot {kind!r}", hint=f"choose one of {', '.join(get_args(Plot))}")
    names = [r.name for r in comparison.results]
    if critic is not None and critic not in names:
        raise UsageError(f"this comparison has no critic {critic!r}", hint=f"choose one of {', '.join(names)}")
    if critic is not None and kind in ("overview", "power"):
        raise UsageError(f"the plot {kind!r} shows all critics", hint="leave out critic, or plot kind='axis'")
    if axes is None:
        return _plot_new(comparison, kind, critic)
    import matplotlib as mpl

    with mpl.rc_context({"text.parse_math": False}):  # names are no formulas
        return _plot(comparison, kind, critic, axes)


def _plot_new(comparison: Results, kind: Plot, critic: str | None) -> Axes:
    """Draw into a new figure of pyplot, which a notebook shows, as high as the rows of the figure need."""
    import matplotlib.pyplot as plt

    rows = {"axis": 8, "ranks": len({v.generated for v in comparison.verdicts})}.get(kind, len(comparison.results))
    # outside the style: the first figure loads the backend, and leaving the style would undo its settings for notebooks
    figure = plt.figure(figsize=(WIDTHS["page"], REST + ROW * rows), layout="constrained")
    try:
        with paper_style():
            return _plot(comparison, kind, critic, figure.add_subplot())
    except UsageError:
        plt.close(figure)
        raise


def _plot(comparison: Results, kind: Plot, critic: str | None, axes: Axes) -> Axes:
    if kind == "overview":
        return draw_rows(axes, overview_rows(answer_of(comparison)))
    if kind == "power":
        return draw_rows(axes, power_rows(comparison.verdicts))
    if kind == "ranks":
        if comparison.joint.ranking is None:
            raise UsageError("this comparison has no ranks", hint="compare two or more generated corpora")
        return draw_rows(axes, ranks_rows(comparison.joint.ranking, ALL_AXES if critic is None else critic))
    name = critic or answer_of(comparison).axes[0].critic
    return draw_axis(axes, next(r for r in comparison.results if r.name == name))


def draw_axis(axes: Axes, result: CriticResult) -> Axes:
    """Draw the chart that the report shows of one axis: human text and all generated corpora over each other.

    Raises
    ------
    UsageError
        The critic has no chart.
    """
    chart = overlay(result)
    if chart is None:
        raise UsageError(
            f"{result.name} has no chart of one number per document",
            hint="its tables, heat maps and graphs are in `result.evidence`, and in the report",
        )
    return draw_chart(axes, chart, looks(v.generated for v in result.verdicts))


def draw_chart(axes: Axes, chart: Chart, corpora: Mapping[str, Look]) -> Axes:
    """Draw lines, step functions, points and bars, each with the colour, marker and dashes of its corpus or role."""
    for i, series in enumerate(chart.series):
        _draw_series(axes, series, look_of(series.role, series.label, corpora), i)
    axes.set_xscale(chart.x.scale)
    axes.set_yscale(chart.y.scale)
    for axis, spec in ((axes.xaxis, chart.x), (axes.yaxis, chart.y)):
        if spec.scale == "log":
            _plain_numbers(axis)
    axes.set_xlabel(clean(chart.x.label, 80))
    axes.set_ylabel(clean(chart.y.label, 80))
    if len(chart.series) > 1:
        handles, _ = axes.get_legend_handles_labels()
        for handle, name in zip(handles, entries(chart, corpora), strict=True):
            # matplotlib leaves labels out of legends that begin with an underscore
            handle.set_label(clean(name, LABEL).lstrip("_") if name else "_")
        if any(s.style == "points" for s in chart.series):  # scatters leave no corner free
            _legend_above(axes, 2)
        else:
            axes.legend()
    return axes


def _draw_series(axes: Axes, series: Series, look: Look, shift: int) -> None:
    """One series; ``shift`` moves the markers of lines apart, which would else cover each other."""
    colour, label = COLOURS[look.colour], "series"
    if series.low is not None and series.high is not None:
        axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.18, linewidth=0)
    if series.style == "points":
        size, marker = 6 if len(series.x) > MANY else 14, look.marker or MARKERS[series.role]
        axes.scatter(series.x, series.y, s=size, color=colour, marker=marker, alpha=0.7, label=label)
    elif series.style == "bars":
        axes.bar(series.x, series.y, color=colour, alpha=0.6, label=label)
    else:
        step = max(1, len(series.x) // MARKED)
        axes.plot(
            series.x,
            series.y,
            color=colour,
            linestyle=(0, look.dashes) if look.dashes else "-",
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


def draw_rows(axes: Axes, rows: Rows) -> Axes:
    """Draw a figure of rows: row i at height −i, so that the first is at the top; about 0.25 inch for each is enough.

    >>> from matplotlib.figure import Figure
    >>> from momus.runs.answer import Answer
    >>> draw_rows(Figure().add_subplot(), overview_rows(Answer((), ()))).get_xlabel()
    'distance from human text (human bands)'
    """
    heights = {key: -i for i, key in enumerate(rows.names)}
    places = np.linspace(SPREAD / 2, -SPREAD / 2, len(rows.corpora)) if len(rows.corpora) > 1 else np.zeros(1)
    shifts = {name: float(y) if rows.spread else 0.0 for name, y in zip(rows.corpora, places, strict=False)}
    corpora = looks(rows.corpora)
    for dot in rows.dots:
        _draw_dot(axes, dot, heights[dot.row] + shifts[dot.corpus], corpora[dot.corpus], rows.scale)
    for (key, name), why in rows.absent.items():
        y, colour = heights[key] + shifts[name], COLOURS["reference"]
        axes.text(0.02, y, why, fontsize="xx-small", va="center", color=colour)
    _frame(axes, rows)
    notes = [(heights[key], text, "center") for key, text in rows.notes.items()]
    for y, text, align in [*notes, (0.6, rows.head, "baseline")] if notes else []:
        axes.annotate(
            text, (1, y), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
            va=align, fontsize="small", annotation_clip=False,
        )  # fmt: skip
    if rows.scale is not None and len(rows.corpora) > 1:
        for name, look in corpora.items():
            colour = COLOURS[look.colour]
            axes.plot([], [], marker=look.marker, linestyle="", color=colour, label=clean(name, LABEL), markersize=4)
        _legend_above(axes)
    return axes


def _draw_dot(axes: Axes, dot: Dot, height: float, look: Look, scale: GapScale | None) -> None:
    """One dot with its interval; what lies beyond the scale is drawn at its end."""
    colour, top = COLOURS[look.colour], np.inf if scale is None else scale.top
    if dot.low is not None and dot.high is not None:
        axes.plot([dot.low, min(dot.high, top)], [height, height], color=colour, linewidth=1.1, zorder=2)
    axes.plot(
        [min(dot.value, top)],
        [height],
        marker=look.marker,
        markersize=4,
        markerfacecolor=colour if dot.filled else COLOURS["paper"],
        markeredgecolor=colour,
        markeredgewidth=1,
        linestyle="",
        zorder=3,
        clip_on=False,
    )


def _frame(axes: Axes, rows: Rows) -> None:
    """A bottom line, a light grid for the values, the names on the left, and the band of human variation."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=COLOURS["grid"], linewidth=0.5)
    axes.set_axisbelow(True)
    label, scale = rows.label, rows.scale
    if scale is None:
        label = label.replace(" (", "\n(", 1)  # in a column, one line would reach beyond the figure
        axes.set_xlim(left=min([0.0, *(d.low for d in rows.dots if d.low is not None)]))
    else:
        axes.axvspan(0, 1, color=COLOURS["band"], linewidth=0, zorder=0)
        axes.axvline(1, color=COLOURS["line"], linewidth=0.8, zorder=1)
        if scale.root:
            axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
        axes.set_xlim(0, scale.top)
        axes.set_xticks(scale.ticks, [f"{t:g}" for t in scale.ticks], minor=False)
        axes.minorticks_off()
        if len(rows.corpora) == 1 and rows.spread:  # named here, since a legend of one would waste a line
            label = label.replace(" from", f" of {clean(rows.corpora[0], LABEL)} from", 1)
        label += " (human bands)" + "\nsquare-root scale" * scale.root
    axes.set_yticks([-i for i in range(len(rows.names))], [clean(n, NAME) for n in rows.names.values()])
    axes.set_ylim(-len(rows.names) + 0.4, 0.6)
    axes.set_xlabel(label, loc="right")


def _legend_above(axes: Axes, columns: int = 4) -> None:
    """Put the legend above the axes, where it hides no dot; it may reach over the names on the left."""
    names = axes.get_legend_handles_labels()[1]
    legend = axes.legend(
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=min(len(names), columns),
        handletextpad=0,
        columnspacing=0.8,
        borderpad=0,
    )
    legend.set_in_layout(False)
    # an empty title keeps a line free for each row of the legend, whose width must not shrink the axes
    axes.set_title("\n".join(" " for _ in range(-(-len(names) // columns))))


@contextmanager
def paper_style(salt: str = "momus") -> Iterator[None]:
    """Draw with the type sizes and colours of papers; the same data give the same bytes of SVG."""
    import matplotlib as mpl

    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "pdf.fonttype": 42,
        "text.parse_math": False,
        "font.family": ["sans-serif"],
        "font.size": 8,
        "axes.labelsize": 8,
        "axes.titlesize": 8,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7,
        "legend.frameon": False,
        "lines.linewidth": 1.2,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": COLOURS["ink"],
        "axes.labelcolor": COLOURS["ink"],
        "axes.edgecolor": COLOURS["line"],
        "xtick.color": COLOURS["line"],
        "ytick.color": COLOURS["line"],
        "xtick.labelcolor": COLOURS["ink"],
        "ytick.labelcolor": COLOURS["ink"],
    }
    with mpl.rc_context(settings):
        yield
