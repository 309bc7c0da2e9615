"""Figures that leave the page: the palette of the report is the only source of colours."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from momus.evidence import Axis, Chart, Heatmap, Series
from momus.report.figures.palette import COLOURS
from momus.report.figures.svg import draw, standalone

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
CRITICS = [FIGURES / f"{p.stem}.svg" for p in sorted((FIGURES.parent / "critics").glob("*.md"))]
OF_DOCS = [*(p for p in CRITICS if p.is_file()), *sorted(FIGURES.glob("validity-*-p*.svg"))]
ITEMS = (
    Chart("c", "C", Axis("x"), Axis("y"), [Series(role, [1, 2], [1, 3], role) for role in ("real", "generated")]),
    Heatmap("h", "H", ["a", "b"], ["a", "b"], [[1.0, -1.0], [0.5, 0.0]], "value"),
)  # fmt: skip


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_a_figure_carries_its_colours_and_paper(item):
    text = standalone(draw(item))
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in text
    assert set(re.findall(r"#[0-9a-f]{6}", text)) <= set(COLOURS.values())
    ground = root.find("{http://www.w3.org/2000/svg}rect")
    assert (ground.get("width"), ground.get("fill")) == ("100%", COLOURS["paper"])
    assert root.get("aria-hidden") is None


def test_a_colour_without_a_palette_entry_is_refused():
    with pytest.raises(KeyError):
        standalone('<svg viewBox="0 0 1 1"><path stroke="var(--unheard-of)"/></svg>')


@pytest.mark.parametrize("path", OF_DOCS, ids=lambda path: path.stem)
def test_figures_of_the_docs_have_the_colours_of_the_report(path):
    found = set(re.findall(r"#[0-9a-fA-F]{6}", path.read_text(encoding="utf-8")))
    assert found <= set(COLOURS.values()), sorted(found - set(COLOURS.values()))
