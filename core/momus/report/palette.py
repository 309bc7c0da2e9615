"""Colours, line styles and sizes of figures; colours are sentinels that become CSS variables of the page."""

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
LABEL = 40
"""Characters of a label that are shown."""
SMALL_MATRIX = 40
"""Larger matrices are drawn as a picture instead of one rectangle per cell."""
LINE_STYLES = {"real": "-", "generated": (0, (5, 2)), "fitted": (0, (1, 2)), "reference": (0, (3, 2, 1, 2))}
MARKERS = {"real": "o", "generated": "D", "fitted": "s", "reference": "^"}
