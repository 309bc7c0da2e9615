"""Colours, markers and line styles of all figures: human text has one fixed colour, generated corpora have others.

Colours stay apart under the three kinds of colour blindness (tests/report/test_palette.py measures it), and no figure
relies on colour alone: corpora also differ in marker and dashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from momus.evidence import Chart
from momus.report.words.format import HUMAN

COLOURS = {
    "ink": "#1d2329",
    "line": "#8b949e",
    "grid": "#dedad2",
    "real": "#0a62a6",
    "generated": "#d55e00",
    "fitted": "#6a6258",
    "reference": "#6a6258",
    "plus": "#d55e00",
    "minus": "#0a62a6",
    "paper": "#ffffff",
    "band": "#efece6",
    "corpus-0": "#d55e00",
    "corpus-1": "#a81ee8",
    "corpus-2": "#5c0f1d",
    "corpus-3": "#13042c",
    "corpus-4": "#908460",
    "soft": "#57606a",
    "panel": "#f4f2ee",
    "accent": "#8a3324",
    "mark": "#ffe3b8",
    "bad": "#b3261e",
}
"""Colours on white paper; on a page they are CSS variables of these names (``--real``, ``--corpus-0``, …)."""
SCREEN = {**COLOURS, "paper": "#fdfcfa"}
"""The same on light screens."""
DARK = {
    "ink": "#e8e6e1",
    "line": "#7d8790",
    "grid": "#343a40",
    "real": "#5ab4ec",
    "generated": "#f08a45",
    "fitted": "#a3a198",
    "reference": "#a3a198",
    "plus": "#f08a45",
    "minus": "#5ab4ec",
    "paper": "#15181b",
    "band": "#262b30",
    "corpus-0": "#f08a45",
    "corpus-1": "#a44df5",
    "corpus-2": "#f2e63d",
    "corpus-3": "#e02a6b",
    "corpus-4": "#c0fca8",
    "soft": "#a9b1b9",
    "panel": "#1e2226",
    "accent": "#f0a58f",
    "mark": "#5a3d12",
    "bad": "#ff9c8f",
}
"""The same on dark screens."""
LABEL = 40
"""Labels are clipped to this many characters."""
SMALL_MATRIX = 40
"""Matrices with more rows or columns are drawn without titles, numbers and lines."""
LINE_STYLES: dict[str, tuple[float, ...]] = {
    "real": (),
    "generated": (5, 2),
    "fitted": (1, 2),
    "reference": (3, 2, 1, 2),
}
"""Dashes by role: lengths of lines and gaps, in points; none for a solid line."""
MARKERS = {"real": "o", "generated": "D", "fitted": "s", "reference": "^"}
HUES = 5
"""Number of colours of corpora; a sixth corpus has the colour of the first and another marker."""
CORPUS_MARKERS = ("D", "s", "^", "v", "P", "X", "<", ">")
CORPUS_DASHES: tuple[tuple[float, ...], ...] = ((5, 2), (1.5, 1.5), (6, 1.5, 1.5, 1.5), (9, 3), (1.5, 4))


@dataclass(frozen=True)
class CorpusLook:
    """How one series looks everywhere: key of its colour, marker (as matplotlib names it), and dashes in points."""

    colour: str
    marker: str
    dashes: tuple[float, ...] = ()


REAL = CorpusLook("real", "o")


def looks(generated: Iterable[str]) -> dict[str, CorpusLook]:
    """Give each generated corpus its look, in the order of the run.

    >>> looks(["opt", "neox"])["neox"]
    CorpusLook(colour='corpus-1', marker='s', dashes=(1.5, 1.5))
    """
    return {
        name: CorpusLook(
            f"corpus-{i % HUES}", CORPUS_MARKERS[i % len(CORPUS_MARKERS)], CORPUS_DASHES[i % len(CORPUS_DASHES)]
        )
        for i, name in enumerate(dict.fromkeys(generated))
    }


def look_of(role: str, label: str, corpora: Mapping[str, CorpusLook]) -> CorpusLook:
    """The look of a series: that of its corpus if the label begins with its name, else that of its role.

    Laws fitted to a text have its colour and the dashes of fits.

    >>> corpora = looks(["opt", "opt-2"])
    >>> look_of("generated", "opt-2, n = 3", corpora).colour, look_of("fitted", "opt: exponent 1.1", corpora)
    ('corpus-1', CorpusLook(colour='corpus-0', marker='', dashes=(1, 2)))
    """
    names = [n for n in (*corpora, HUMAN) if label == n or label.startswith((f"{n}:", f"{n},"))]
    look = {**corpora, HUMAN: REAL}.get(max(names, key=len)) if names else None
    if role in ("fitted", "reference"):
        return CorpusLook(look.colour if look else role, "", LINE_STYLES[role])
    return look or CorpusLook(role, MARKERS[role], LINE_STYLES[role])


ENTRIES = 6
"""Legends with more entries than this name only one series of each corpus."""


def entries(chart: Chart, corpora: Mapping[str, CorpusLook]) -> list[str]:
    """What a legend says of each series; empty where the series of a corpus has been named already."""
    labels = [s.label for s in chart.series]
    if len(labels) <= ENTRIES:
        return labels
    named: list[str] = []
    for s in chart.series:
        look = look_of(s.role, s.label, corpora)
        owner = next((n for n, k in {**corpora, HUMAN: REAL}.items() if look.marker and k.colour == look.colour), "")
        text = owner or ("fits" if s.role == "fitted" else s.label)
        named.append("" if text in named else text)
    return named


def colour_rules() -> str:
    """The colours as CSS: by the theme of the reader or the button of the page; paper is printed light."""
    screen, dark, white = (
        "".join(f"--{name}:{colour};" for name, colour in palette.items()) for palette in (SCREEN, DARK, COLOURS)
    )
    return (
        f":root{{color-scheme:light dark;{screen}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root,:root[data-theme],:root:not([data-theme=light]){{color-scheme:light;{white}}}}}\n"
    )
