"""Matrices of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from momus.evidence import Heatmap
from momus.report.palette import COLOURS, LABEL, SMALL_MATRIX
from momus.report.safe import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

WRITTEN = 18
"""Matrices up to this size have their larger values written into the cells."""
PICTURE_PLUS, PICTURE_MINUS = (0.80, 0.36, 0.16), (0.14, 0.47, 0.68)


def draw_heatmap(axes: Axes, item: Heatmap) -> None:
    """Draw a matrix: colour for the sign, opacity for the size, so that zero is the colour of the page; – has none."""
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
    axes.set_xticks(_some(columns), [clean(item.columns[i], LABEL) for i in _some(columns)], rotation=45, ha="right")
    axes.set_yticks(_some(rows), [clean(item.rows[i], LABEL) for i in _some(rows)])
    axes.set_xlabel(clean(item.column_label, 80))
    axes.set_ylabel(clean(item.row_label, 80))
    axes.set_title(f"{clean(item.label, 80)}: colour is full at ±{limit:.3g}", fontsize=9, loc="left")


def _some(n: int) -> list[int]:
    step = max(1, -(-n // SMALL_MATRIX))
    return list(range(0, n, step))


def _cells(axes: Axes, values: NDArray[np.float64], limit: float) -> None:
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


def _picture(axes: Axes, values: NDArray[np.float64], limit: float) -> None:
    strength = np.clip(np.nan_to_num(np.abs(values)) / limit, 0, 1)
    picture = np.zeros((*values.shape, 4))
    picture[..., :3] = np.where((values > 0)[..., None], PICTURE_PLUS, PICTURE_MINUS)
    picture[..., 3] = strength
    axes.imshow(picture, interpolation="nearest", aspect="auto")
