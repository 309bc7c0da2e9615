"""Heat maps as SVG: matrices of signed values."""

from __future__ import annotations

import base64
import io
from html import escape

import numpy as np

from momus.evidence import Heatmap
from momus.numeric.types import Floats
from momus.report.figures.canvas import Canvas, colour, fixed
from momus.report.figures.palette import LABEL, SMALL_MATRIX
from momus.report.safe import clean

WRITTEN = 14
"""Matrices with at most this many rows and columns have their larger values written into the cells."""
FAINT = 0.25
"""A matrix whose largest value is below this share of the critic's limit has its own largest value as limit."""
CELL, LETTER = 26.0, 6.2
PICTURE_PLUS, PICTURE_MINUS = (0.84, 0.37, 0.0), (0.04, 0.38, 0.65)
"""RGB of positive and negative values of a raster picture, which cannot use CSS variables."""


def heatmap_svg(item: Heatmap) -> Canvas:
    """Draw a matrix: hue shows the sign, opacity the size (0 has the page's colour), a dash a missing value."""
    values = np.array([[np.nan if v is None else v for v in row] for row in item.values], dtype=float)
    values = values.reshape(len(item.rows), len(item.columns))
    limit = saturation(values, item.limit)
    rows = [clean(r, LABEL) for r in item.rows]
    columns = [clean(c, LABEL) for c in item.columns]
    cell = CELL if max(values.shape, default=0) <= SMALL_MATRIX else CELL * SMALL_MATRIX / max(values.shape)
    left = 24 + LETTER * max((len(r) for r in rows), default=0)
    # labels of columns are turned by 45°, so that they need 0.7 of their length below the matrix, and to the left
    below = 14 + 0.7 * LETTER * max((len(c) for c in columns), default=0)
    left = max(left, below + 8)
    top = 24.0
    width, height = cell * len(columns), cell * len(rows)
    canvas = Canvas(max(left + width + 8, 300.0), top + height + below + (18 if item.column_label else 4))
    if cell == CELL:
        _cells(canvas, item, values, limit, (left, top))
    else:
        _picture(canvas, values, limit, (left, top, width, height))
    step = max(1, -(-len(rows) // SMALL_MATRIX)), max(1, -(-len(columns) // SMALL_MATRIX))
    for i in range(0, len(rows), step[0]):
        canvas.text((left - 5, top + cell * (i + 0.5) + 4), rows[i], "end", 11.5, clip=LABEL)
    for j in range(0, len(columns), step[1]):
        canvas.text((left + cell * (j + 0.5) + 4, top + height + 12), columns[j], "end", 11.5, turn=-45, clip=LABEL)
    canvas.text((left + width / 2, canvas.height - 4), item.column_label, "middle")
    if item.row_label:
        canvas.text((11, top + height / 2), item.row_label, "middle", turn=-90, clip=40)
    canvas.text(
        (8, 13), f"{clean(item.label, 60)}; colour is full at {'±' if item.diverging else ''}{limit:.2g}", size=11.5
    )
    return canvas


def saturation(values: Floats, limit: float | None) -> float:
    """The size at which colours are full.

    The critic's limit, unless the largest value is far below it: then nothing would be seen.

    >>> saturation(np.array([[0.01, -0.02]]), 1.0), saturation(np.array([[0.5]]), 1.0)
    (0.02, 1.0)
    """
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if len(finite) else 0.0
    if not largest:
        return limit or 1.0
    return largest if limit is None or largest < FAINT * limit else limit


def _cells(canvas: Canvas, item: Heatmap, values: Floats, limit: float, corner: tuple[float, float]) -> None:
    """One square per cell, whose colours follow the theme of the page."""
    left, top = corner
    rows, columns = values.shape
    strengths = np.minimum(np.abs(values) / limit, 1.0)
    written = max(rows, columns) <= WRITTEN
    # two groups of squares, so that each square needs no colour; NaN is in neither
    for name, held in (("plus", values > 0), ("minus", values < 0)):
        with canvas.group(fill=colour(name)):
            for i, j in np.argwhere(held & (strengths > 0.004)):
                words = f"{clean(item.rows[i], LABEL)}, {clean(item.columns[j], LABEL)}: {values[i, j]:.3g}"
                canvas.add(
                    "path",
                    "" if written else f"<title>{escape(words)}</title>",
                    d=f"M{fixed(left + CELL * j)} {fixed(top + CELL * i)}h26v26h-26z",
                    fill_opacity=f"{0.85 * strengths[i, j]:.2f}",
                )
    with canvas.group(text_anchor="middle", font_size=9, fill=colour("ink")):
        for (i, j), value in np.ndenumerate(values):
            missing = not np.isfinite(value)
            if missing or (written and strengths[i, j] > 0.08):
                text = "–" if missing else short(value, item.diverging)
                canvas.add("text", text, x=left + CELL * (j + 0.5), y=top + CELL * (i + 0.5) + 3)
    across = "".join(f"M{fixed(left)} {fixed(top + CELL * i)}h{fixed(CELL * columns)}" for i in range(rows + 1))
    down = "".join(f"M{fixed(left + CELL * j)} {fixed(top)}v{fixed(CELL * rows)}" for j in range(columns + 1))
    canvas.path(across + down, "grid", 0.5)


def short(value: float, signed: bool) -> str:
    """A value that fits a cell.

    >>> short(0.123, True), short(-1.5, True), short(0.5, False), short(123.4, False)
    ('+.12', '−1.5', '.50', '123')
    """
    size = abs(value)
    digits = f"{size:.2f}".removeprefix("0") if size < 1 else f"{size:.1f}" if size < 100 else f"{size:.0f}"
    return ("−" if value < 0 else "+" if signed else "") + digits


def _picture(canvas: Canvas, values: Floats, limit: float, box: tuple[float, float, float, float]) -> None:
    """One raster image, (rows, columns, RGBA): a large matrix of rectangles would make a huge file."""
    from PIL import Image

    picture = np.zeros((*values.shape, 4))
    picture[..., :3] = np.where((values > 0)[..., None], PICTURE_PLUS, PICTURE_MINUS)
    picture[..., 3] = np.clip(np.nan_to_num(np.abs(values)) / limit, 0, 1)
    buffer = io.BytesIO()
    Image.fromarray((255 * picture).round().astype(np.uint8), "RGBA").save(buffer, "PNG")
    x, y, width, height = box
    canvas.add(
        "image", x=x, y=y, width=width, height=height, preserveAspectRatio="none", style="image-rendering:pixelated",
        href="data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii"),
    )  # fmt: skip
