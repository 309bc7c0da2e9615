"""Colours, line styles and sizes of figures."""

from __future__ import annotations

COLOURS = {
    "ink": "#010203",
    "line": "#010204",
    "grid": "#010205",
    "real": "#010206",
    "generated": "#010207",
    "fitted": "#010208",
    "reference": "#010209",
    "plus": "#01020a",
    "minus": "#01020b",
    "paper": "#01020c",
}
"""Sentinel colours that matplotlib draws with; each is then replaced by the CSS variable of that name."""
LABEL = 40
"""Labels are clipped to this many characters."""
SMALL_MATRIX = 40
"""Matrices with more rows or columns are drawn as a raster picture instead of one rectangle per cell."""
LINE_STYLES = {"real": "-", "generated": (0, (5, 2)), "fitted": (0, (1, 2)), "reference": (0, (3, 2, 1, 2))}
MARKERS = {"real": "o", "generated": "D", "fitted": "s", "reference": "^"}
