"""Settings under which matplotlib draws figures for papers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from momus.report.figures.palette import COLOURS, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = {"column": 3.35, "page": 6.9}
"""Widths of figures in inches: one column of a two-column page, and both."""


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


def plain(axes: Axes) -> None:
    """Leave only the frame that figures of rows need: a bottom line, and a light grid for the values."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=COLOURS["grid"], linewidth=0.5)
    axes.set_axisbelow(True)


def dashes(look: Look) -> Any:
    """The line style of a look, as matplotlib takes it."""
    return (0, look.dashes) if look.dashes else "-"
