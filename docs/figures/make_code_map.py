"""Draw the rooms of core, floor by floor, and the way of the data: ``python docs/figures/make_code_map.py``.

The floors are those of the import-linter contract in ``pyproject.toml``, and the sentence of each room is the summary
of its docstring; tests/docs/test_code_map.py compares the picture with both.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = Path(__file__).with_name("code-map.svg")
WIDTH, BOX, GAP, TOP = 1120, 74, 12, 150
WAY = (
    ("files", "reading"),
    ("Corpus", "Critic.project"),
    ("Latents", "Critic.log_prior, summarize"),
    ("Scores, Summary", "inference, laws"),
    ("Verdicts, Evidence", "report, cli"),
    ("Report", ""),
)
"""What flows, and which room or method takes it on."""


def floors() -> list[list[str]]:
    """Rooms of core by floor, top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (c for c in settings["contracts"] if c["type"] == "layers")
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


def summary(room: str) -> str:
    """First line of the docstring of a room."""
    folder = ROOT / "core" / "momus" / room
    path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("`", "")


def text(x: float, y: float, content: str, kind: str) -> str:
    """One line of text."""
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(content)}</text>'


def box(room: str, x: float, y: float, width: float) -> list[str]:
    """A room: its name, and its sentence in up to three lines."""
    parts = [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" rx="5"/>',
        text(x + 9, y + 19, room, "n"),
    ]
    lines = textwrap.wrap(summary(room), int((width - 14) / 6.4))[:3]
    return parts + [text(x + 9, y + 36 + 14 * i, line, "s") for i, line in enumerate(lines)]


def way() -> list[str]:
    """The way of the data, left to right."""
    step = (WIDTH - 90) / (len(WAY) - 1)
    parts = [text(20, 28, "The way of the data", "h")]
    for i, (thing, taken) in enumerate(WAY):
        x = 20 + i * step
        parts.append(text(x, 66, thing, "n"))
        if taken:
            parts.append(f'<path d="M{x:.0f} 80 h{step - 24:.0f}" marker-end="url(#arrow)"/>')
            parts.append(text(x, 98, taken, "s"))
    return [*parts, text(20, 136, "The floors of core: a room imports only from rooms below it", "h")]


def draw() -> str:
    """The picture, as SVG."""
    parts = way()
    rows = floors()
    for i, rooms in enumerate(rows):
        y, width = TOP + i * (BOX + GAP), (WIDTH - 40 - GAP * (len(rooms) - 1)) / len(rooms)
        for j, room in enumerate(rooms):
            parts += box(room, 20 + j * (width + GAP), y, width)
    height = TOP + len(rows) * (BOX + GAP) + 8
    style = (
        "text{font-family:system-ui,sans-serif;fill:#1d2733}.h{font-size:15px;font-weight:600}"
        ".n{font-size:14px;font-weight:600}.s{font-size:11px;fill:#465566}"
        "rect{fill:#f4f6f8;stroke:#9fb0c0}path{stroke:#465566;fill:none;stroke-width:1.5}"
    )
    marker = (
        '<defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
        '<path d="M1 1 L7 4 L1 7" /></marker></defs>'
    )
    title = "Rooms of core by floor, and the way of the data"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">\n'
        f'<style>{style}</style>{marker}\n<rect width="{WIDTH}" height="{height}" style="fill:#fff;stroke:none"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)} written")
