"""Figures as inline SVG, drawn by matplotlib in sentinel colours that are replaced by CSS variables of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from momus.evidence import Chart, Graph, Heatmap
from momus.report.figures.heatmap import draw_heatmap
from momus.report.figures.network import draw_graph
from momus.report.figures.palette import COLOURS, LABEL, LINE_STYLES, MARKERS
from momus.report.safe import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes


def draw(item: Chart | Heatmap | Graph) -> str:
    """Draw a figure as an ``<svg>`` element.

    Colours are CSS variables (``--real``, ``--generated``, …); roles also differ in line style and marker. All labels
    are cleaned and escaped. The same data gives the same bytes.
    """
    painter: Callable[[Axes], None]
    if isinstance(item, Chart):
        painter, size = partial(draw_chart, chart=item), (7.4, 3.9)
    elif isinstance(item, Heatmap):
        painter, size = partial(draw_heatmap, item=item), _matrix_size(item)
    else:
        painter, size = partial(draw_graph, graph=item), (7.4, 5.6)
    with _style(item.name):
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        painter(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue(), item.name)


def _matrix_size(item: Heatmap) -> tuple[float, float]:
    rows, columns = min(len(item.rows), 30), min(len(item.columns), 30)
    return 3.6 + 0.26 * columns, 2.0 + 0.26 * rows


@contextmanager
def _style(name: str) -> Iterator[None]:
    import matplotlib as mpl

    ink, line, grid = COLOURS["ink"], COLOURS["line"], COLOURS["grid"]
    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "text.parse_math": False,
        "font.family": ["system-ui", "sans-serif"],
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 10,
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": line,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": grid,
        "grid.linewidth": 0.6,
        "xtick.color": line,
        "ytick.color": line,
        "xtick.labelcolor": ink,
        "ytick.labelcolor": ink,
        "legend.frameon": False,
        "lines.linewidth": 1.7,
    }
    import logging

    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)  # only browsers have the font system-ui; matplotlib would warn that it is missing
    try:
        with mpl.rc_context(settings):
            yield
    finally:
        logger.setLevel(level)


def draw_chart(axes: Axes, chart: Chart) -> None:
    """Draw lines, step functions, points and bars, with a colour, line style and marker for each role."""
    for series in chart.series:
        colour, label = COLOURS[series.role], clean(series.label, LABEL)
        if series.low is not None and series.high is not None:
            axes.fill_between(series.x, series.low, series.high, color=colour, alpha=0.18, linewidth=0)
        if series.style == "points":
            size = 9 if len(series.x) > 60 else 22
            axes.scatter(series.x, series.y, s=size, color=colour, marker=MARKERS[series.role], alpha=0.6, label=label)
        elif series.style == "bars":
            axes.bar(series.x, series.y, color=colour, alpha=0.6, label=label)
        else:
            steps = "steps-post" if series.style == "steps" else "default"
            style = LINE_STYLES[series.role]
            axes.plot(series.x, series.y, color=colour, linestyle=style, drawstyle=steps, label=label)
    axes.set_xscale(chart.x.scale)
    axes.set_yscale(chart.y.scale)
    for axis, spec in ((axes.xaxis, chart.x), (axes.yaxis, chart.y)):
        if spec.scale == "log":
            _plain_numbers(axis)
    axes.set_xlabel(clean(chart.x.label, 80))
    axes.set_ylabel(clean(chart.y.label, 80))
    if len(chart.series) > 1:
        axes.legend(fontsize=9)


def _plain_numbers(axis: Any) -> None:
    """Label powers of ten, and on short axes their multiples by 2 and 5; matplotlib's own labels need mathtext."""
    from matplotlib.ticker import FuncFormatter

    low, high = axis.get_view_interval()
    is_short = low > 0 and high / low < 1000
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain_number(value)))
    axis.set_minor_formatter(
        FuncFormatter(lambda value, _: plain_number(value) if is_short and f"{value:e}"[0] in "25" else "")
    )


def plain_number(value: float) -> str:
    """Format a tick of a logarithmic axis.

    >>> [plain_number(x) for x in (0.01, 0.5, 20, 1000, 50_000, 1e6, 2e-5)]
    ['0.01', '0.5', '20', '1,000', '50,000', '10⁶', '2·10⁻⁵']
    """
    if value <= 0:
        return ""
    if 1e-3 <= value < 1e6:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"
    digit, _, power = f"{value:.0e}".partition("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digit == "1" else f"{digit}·10{raised}"


def _inline(document: str, name: str) -> str:
    """Extract the ``<svg>`` element, with CSS variables for colours and ids prefixed by the figure's name."""
    from momus.report.safe import anchor

    body = document[document.index("<svg") :].strip()
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    prefix = anchor(name) + "-"
    body = re.sub(r'\bid="', f'id="{prefix}', body)
    body = re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}", body)
    for variable, colour in COLOURS.items():
        body = body.replace(colour, f"var(--{variable})")
    body = body.replace("'system-ui', 'sans-serif'", "inherit").replace("'system-ui', sans-serif", "inherit")
    opening = re.match(r"<svg[^>]*>", body)
    assert opening is not None
    box = re.search(r'viewBox="([^"]+)"', opening.group())
    assert box is not None
    width = float(box.group(1).split()[2])
    start = f'<svg viewBox="{box.group(1)}" style="width:{width * 1.25:.0f}px" aria-hidden="true" xmlns:xlink="http://www.w3.org/1999/xlink">'
    return start + body[opening.end() :]
