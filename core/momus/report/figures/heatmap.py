"""Heat maps: matrices of signed values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from momus.evidence import Heatmap
from momus.report.figures.palette import COLOURS, LABEL, SMALL_MATRIX
from momus.report.safe import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from momus.numeric.types import Floats

WRITTEN = 18
"""Matrices with at most this many rows and columns have their larger values written into the cells."""
PICTURE_PLUS, PICTURE_MINUS = (0.80, 0.36, 0.16), (0.14, 0.47, 0.68)
"""RGB of positive and negative values of a raster picture, which cannot use CSS variables."""


def draw_heatmap(axes: Axes, item: Heatmap) -> None:
    """Draw a matrix: hue shows the sign, opacity the size (0 has the page's colour), a dash a missing value."""
    values = np.array([[np.nan if v is None else v for v in row] for row in item.values], dtype=float)
    largest = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    limit = item.limit or largest or 1.0
    if max(values.shape, default=0) <= SMALL_MATRIX:
        _cells(axes, values, limit)
    else:
        _picture(axes, values, limit)
    rows, columns = values.shape
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.grid(False)
    shown = _labelled(columns)
    axes.set_xticks(shown, [clean(item.columns[i], LABEL) for i in shown], rotation=45, ha="right")
    shown = _labelled(rows)
    axes.set_yticks(shown, [clean(item.rows[i], LABEL) for i in shown])
    axes.set_xlabel(clean(item.column_label, 80))
    axes.set_ylabel(clean(item.row_label, 80))
    axes.set_title(f"{clean(item.label, 80)}: colour saturates at ±{limit:.3g}", fontsize=9, loc="left")


def _labelled(n: int) -> list[int]:
    """Numbers of the rows or columns that get a label: every one of a small matrix, every few of a large one."""
    step = max(1, -(-n // SMALL_MATRIX))
    return list(range(0, n, step))


def _cells(axes: Axes, values: Floats, limit: float) -> None:
    """One rectangle per cell, whose colours follow the theme of the page."""
    from matplotlib.patches import Rectangle

    for (i, j), value in np.ndenumerate(values):
        if not np.isfinite(value):
            axes.text(j, i, "–", ha="center", va="center", fontsize=6.5, color=COLOURS["reference"])
            continue
        strength = min(abs(value) / limit, 1.0)
        if strength > 0.004:
            colour = COLOURS["plus" if value > 0 else "minus"]
            axes.add_patch(
                Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, alpha=round(0.8 * strength, 3), linewidth=0)
            )
        if max(values.shape) <= WRITTEN and strength > 0.08:
            axes.text(j, i, f"{value:+.2f}".replace("0.", "."), ha="center", va="center", fontsize=6.5)
    for edge in range(values.shape[0] + 1):
        axes.axhline(edge - 0.5, color=COLOURS["grid"], linewidth=0.4)
    for edge in range(values.shape[1] + 1):
        axes.axvline(edge - 0.5, color=COLOURS["grid"], linewidth=0.4)


def _picture(axes: Axes, values: Floats, limit: float) -> None:
    """One raster image, (rows, columns, RGBA): a large matrix of rectangles would make a huge file."""
    picture = np.zeros((*values.shape, 4))
    picture[..., :3] = np.where((values > 0)[..., None], PICTURE_PLUS, PICTURE_MINUS)
    picture[..., 3] = np.clip(np.nan_to_num(np.abs(values)) / limit, 0, 1)
    axes.imshow(picture, interpolation="nearest", aspect="auto")
