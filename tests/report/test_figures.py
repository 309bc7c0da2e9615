"""Figures: what is drawn lies where the numbers are, in matplotlib and on the page."""

import csv
import io
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from typer.testing import CliRunner

import momus
from momus.cli.app import app
from momus.errors import UsageError
from momus.evidence import Axis, Chart, Edge, Graph, Heatmap, Series
from momus.joint.ranks import Ranking
from momus.report.cards import overlay
from momus.report.figures.chart import chart_svg
from momus.report.figures.dots import rows_svg
from momus.report.figures.files import write_figures
from momus.report.figures.palette import COLOURS, looks
from momus.report.figures.paper import axis_chart, paint, sheet
from momus.report.figures.rows import overview_rows, ranks_rows
from momus.report.figures.scales import CLIP, Scale, gap_scale
from momus.report.figures.svg import heatmap_svg
from momus.report.safe import csv_text
from momus.report.words.format import HUMAN
from momus.runs.answer import answer_of

from .synthetic import comparison, verdict

CORPORA = ("one", "two", "three")


@pytest.fixture(scope="module")
def found():
    return comparison(critics=6)


WIDTH = 386
"""Units across a column of a paper."""


def marks_of(svg):
    """Places, colours and fill of all markers: the first corner of each, which lies above the middle or left of it."""
    paths = [e for e in ET.fromstring(svg).iter("path") if e.get("d", "").endswith("z")]
    return [
        (float(re.match(r"M([\d.]+)", e.get("d")).group(1)), e.get("stroke") or e.get("fill"), e.get("stroke") is None)
        for e in paths
    ]


def names_of(svg):
    """Texts at the right end of the room for names, from the top."""
    return [e.text for e in ET.fromstring(svg).iter("text") if e.get("text-anchor") == "end"]


def test_the_overview_has_one_dot_for_each_axis_and_corpus_at_its_gap(found):
    shown = overview_rows(answer_of(found))
    svg = sheet(shown, {}, WIDTH).svg()
    dots = marks_of(svg)[3:]  # after those of the legend
    assert len(dots) == len(shown.dots) == 18
    left = 20 + 6.6 * len("axis of critic-0")
    for dot, (x, colour, filled) in zip(shown.dots, dots, strict=True):
        assert x == pytest.approx(left + shown.scale(dot.value) * (WIDTH - 14 - left), abs=6)
        assert (colour, filled) == (f"var(--{looks(CORPORA)[dot.corpus].colour})", dot.filled)
    assert names_of(svg) == [f"axis of critic-{i}" for i in (5, 4, 3, 2, 1, 0)], "the largest gap is at the top"
    assert "href" not in svg, "a figure on paper has no cards to lead to"


def test_axes_of_matplotlib_hold_the_elements_of_the_sheet_at_their_places(found):
    """What `plot` returns and PDF files hold is the figure of the page: same places, colours, widths and texts."""
    canvas = sheet(overview_rows(answer_of(found)), {}, WIDTH)
    axes = paint(canvas, Figure(figsize=(WIDTH / 100, canvas.height / 100), dpi=100).add_axes((0, 0, 1, 1)))
    root = ET.fromstring(canvas.svg())
    texts = [(e.text, float(e.get("x")), float(e.get("y"))) for e in root.iter("text")]
    assert [(t.get_text(), *t.get_position()) for t in axes.texts] == texts
    drawn = [e for e in root.iter() if e.tag in ("path", "rect")]
    assert len(axes.patches) == len(drawn)
    for patch, element in zip(axes.patches, drawn, strict=True):
        colour = element.get("stroke") or element.get("fill")
        face = to_hex(patch.get_edgecolor() if element.get("stroke") else patch.get_facecolor())
        assert face == COLOURS[colour.removeprefix("var(--").removesuffix(")")]
        if element.get("stroke"):
            assert patch.get_linewidth() == pytest.approx(0.72 * float(element.get("stroke-width")))
        if element.tag == "path":
            first = [float(v) for v in re.match(r"M(-?[\d.]+) (-?[\d.]+)", element.get("d")).groups()]
            assert patch.get_path().vertices[0] == pytest.approx(first)


@pytest.mark.parametrize("large", [False, True])
def test_cells_of_a_matrix_are_painted_where_the_page_has_them(large):
    n = 60 if large else 3
    values = np.linspace(-1, 1, n * n).reshape(n, n).tolist()
    item = Heatmap("m", "M", [f"r{i}" for i in range(n)], [f"c{i}" for i in range(n)], values, "value", limit=1.0)
    canvas = sheet(item, {}, WIDTH)
    axes = paint(canvas, Figure().add_subplot())
    root = ET.fromstring(canvas.svg())
    if large:
        assert len(list(root.iter("path"))) < 20, "cells of one look are one element"
        assert len(canvas.svg()) < 60_000
    group = next(g for g in root.iter("g") if g.get("stroke") == "var(--minus)")
    x, y, cell = (float(v) for v in re.findall(r"[\d.]+", group.get("transform")))
    (first, *_) = [p for p in axes.patches if to_hex(p.get_edgecolor()) == COLOURS["minus"]]
    assert first.get_path().vertices[:2].ravel() == pytest.approx([x, y, x + cell, y])
    assert [t.get_text() for t in axes.texts] == [e.text or "" for e in root.iter("text")]


def test_points_and_arrows_are_painted():
    points = Chart("c", "C", Axis("x"), Axis("y"), [Series("s", [1, 2, 3], [1, 3, 2], "real", "points")])
    axes = paint(sheet(points, {}, WIDTH), Figure().add_subplot())
    (dots,) = axes.lines
    assert len(dots.get_xdata()) == 3
    assert dots.get_marker() == "o"
    arrows = Graph("g", "G", ["a", "b"], [Edge("a", "b", 1.0), Edge("b", "b", -0.5, True)], "weight")
    axes = paint(sheet(arrows, {}, WIDTH), Figure().add_subplot())
    colours = {to_hex(p.get_edgecolor()) for p in axes.patches if p.get_linewidth() > 0}
    assert colours == {COLOURS["plus"], COLOURS["minus"]}
    assert {"a", "b", "−0.50"} <= {t.get_text() for t in axes.texts}


@pytest.mark.parametrize("width", [241, 386, 795])
def test_no_text_of_a_figure_lies_outside_of_its_sheet(found, width):
    nodes = [f"a name of a node {i}" for i in range(8)]
    items = [
        overview_rows(answer_of(found)),
        ranks_rows(found.joint.ranking),
        axis_chart(found.results[2]),
        Graph("g", "G", nodes, [Edge(nodes[0], nodes[4], 1.0)], "a long label of what the weights of arrows are " * 2),
    ]
    for item in items:
        canvas = sheet(item, looks(CORPORA), width)
        assert canvas.width >= width
        figure = Figure(figsize=(canvas.width / 100, canvas.height / 100), dpi=100)
        FigureCanvasAgg(figure)
        axes = paint(canvas, figure.add_axes((0, 0, 1, 1)))
        for text in axes.texts:
            box = text.get_window_extent()
            assert box.x0 >= -8, (text.get_text(), box)
            assert box.x1 <= canvas.width + 8, (text.get_text(), box)


def test_rows_that_have_no_dot_say_why():
    rows = [verdict("a", "x", 2.0), verdict("b", "x", 1.0, p=None), verdict("c", "x", 1.0, band=None)]
    answer = answer_of(momus.Comparison(momus.verdicts.table.adjust(rows)))
    shown = overview_rows(answer)
    assert shown.absent == {("b", "x"): "not tested", ("c", "x"): "no human band"}
    assert [d.row for d in shown.dots] == ["a"]
    assert {"not tested", "no human band"} <= {e.text for e in ET.fromstring(rows_svg(shown)).iter() if e.text}


@pytest.mark.parametrize("narrow", [False, True])
def test_the_overview_of_the_page_has_the_same_dots(found, narrow):
    shown = overview_rows(answer_of(found))
    root = ET.fromstring(rows_svg(shown, narrow))
    assert {e.text for e in root.iter("text")} >= {*CORPORA, *shown.names.values()}
    if narrow:  # no pointer rests on a phone
        assert root.find(".//title") is None
        return
    marks = [e for e in root.iter("path") if e.find("title") is not None]
    places = {e.find("title").text.split(" (")[0]: float(re.match(r"M([\d.]+)", e.get("d")).group(1)) for e in marks}
    assert len(marks) == 18
    ordered = sorted(shown.dots, key=lambda d: d.value)
    scale = shown.scale
    for dot in ordered:
        x = places[f"{dot.corpus}: {dot.value:.2g} human bands"]
        assert x == pytest.approx(240 + scale(dot.value) * (736 - 240), abs=6)
    links = [e.get("href") for e in root.iter("a")]
    assert links == [f"#critic-critic-{i}" for i in (5, 4, 3, 2, 1, 0)]
    width = float(root.get("viewBox").split()[2])
    assert all(0 <= float(e.get("x")) <= width for e in root.iter("text"))


def test_gaps_of_any_size_fit_the_scale():
    small, large = gap_scale([0.2, 1.2]), gap_scale([0.2, 30.0])
    assert (small.kind, large.kind) == ("gaps", "root")
    for scale in (small, large, gap_scale([]), gap_scale([1e9])):
        places = [scale(g) for g in (0, 0.5, 1, 1.4, 1e12)]
        assert places == sorted(places)
        assert places[0] == 0
        assert places[-1] == 1
        ticks = [value for value, _ in scale.ticks]
        assert ticks[0] == 0
        assert 1 in ticks
        assert max(ticks) <= scale.high
    assert gap_scale([1e9]).high == pytest.approx(1.1 * CLIP)


def test_an_axis_shows_human_text_once_and_every_corpus_by_name(found):
    result = found.results[2]
    shown = overlay(result)
    assert [s.label for s in shown.series] == [HUMAN, *CORPORA]
    for s, (_, items) in zip(shown.series[1:], result.evidence, strict=True):
        assert list(s.y) == list(items[0].series[1].y)
    assert axis_chart(result) == shown
    root = ET.fromstring(sheet(shown, looks(CORPORA), WIDTH).svg())
    lines = [e.get("stroke") for e in root.iter("path") if e.get("stroke-width") in ("2.4", "1.7")]
    assert lines == ["var(--real)", *(f"var(--{looks(CORPORA)[c].colour})" for c in CORPORA)]
    assert {HUMAN, *CORPORA} <= {e.text for e in root.iter("text")}


def test_series_are_named_after_their_corpus_where_labels_begin_with_the_role(found):
    def law(corpus, slope):
        fit = Series(f"generated: exponent {slope}", [1, 2], [1, 2], "fitted")
        curves = [Series(f"{r}, n = {n}", [1, 2], [n, slope], r) for r in ("real", "generated") for n in (1, 2)]
        return corpus, [Chart("law", "Law", Axis("n"), Axis("f"), [*curves, fit])]

    result = replace(found.results[0], evidence=[law("one", 1.1), law("two", 1.2)])
    assert [s.label for s in overlay(result).series] == [
        f"{HUMAN}, n = 1", f"{HUMAN}, n = 2", "one, n = 1", "one, n = 2", "two, n = 1", "two, n = 2",
        "one: exponent 1.1", "two: exponent 1.2",
    ]  # fmt: skip


def test_charts_with_other_scales_are_not_laid_over_each_other(found):
    one, two = (
        Chart("c", "C", Axis("x", scale), Axis("y"), [Series("generated", [1, 2], [1, 2])])
        for scale in ("linear", "log")
    )
    spread = Chart(
        "distribution", "Spread", Axis("x"), Axis("y"), [Series("real", [1], [1], "real"), Series("one", [1], [1])]
    )
    result = replace(found.results[0], evidence=[("one", [one]), ("two", [two])], distribution=spread)
    assert overlay(result).title == "Spread"
    assert overlay(replace(result, distribution=None)) is None


def test_an_axis_without_a_chart_is_refused_in_words(found):
    with pytest.raises(UsageError, match="critic-0 has no chart"):
        axis_chart(replace(found.results[0], evidence=[], distribution=None))


def test_ranks_are_drawn_nearest_first(found):
    shown = ranks_rows(found.joint.ranking)
    svg = sheet(shown, {}, WIDTH).svg()
    assert names_of(svg) == list(CORPORA)
    assert [d.value for d in shown.dots] == [8.0, 8.25, 8.5]
    places = [x for x, _, _ in marks_of(svg)]
    assert places == sorted(places)
    assert {"1.00", "0.00", "bootstrap share"} <= {e.text for e in ET.fromstring(svg).iter("text")}
    with pytest.raises(UsageError, match="too few prompts"):
        ranks_rows(Ranking([], {"length": "too few prompts"}, 0.95, 999, True), of="length")


def places_of(svg, role):
    """Places of the corners of the first line of a role; H and V keep one coordinate."""
    path = next(e for e in ET.fromstring(svg).iter("path") if e.get("stroke") == f"var(--{role})")
    places = []
    for kind, numbers in re.findall(r"([Mlhv])([-\d. ]+)", path.get("d")):
        values = [float(v) for v in re.findall(r"-?[\d.]+", numbers)]
        across, down = (values[0], 0) if kind == "h" else (0, values[0]) if kind == "v" else values
        x, y = places[-1] if places else (0, 0)
        places.append((round(x + across, 1), round(y + down, 1)))
    return places


def test_lines_of_a_chart_lie_on_its_scales():
    chart = Chart("c", "C", Axis("x", "log"), Axis("y"), [Series("s", [1, 10, 100], [0, 5, 10]), Series("t", [1], [1])])
    (x0, y0), (x1, y1), (x2, y2) = places_of(chart_svg(chart, {}).svg(), "generated")[:3]
    low = 100**0.01
    x = Scale(1 / low, 100 * low, 66, 508, "log")
    assert [x0, x1, x2] == pytest.approx([x(1), x(10), x(100)], abs=0.1)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.1), "decades are equally wide"
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.1)
    assert y0 > y1 > y2


def test_a_step_function_keeps_its_value_up_to_the_next_point():
    chart = Chart("c", "C", Axis("x"), Axis("y"), [Series("s", [0, 10, 20], [0, 4, 1], "generated", "steps")])
    corners = places_of(chart_svg(chart, {}).svg(), "generated")
    assert len(corners) == 5
    for (xa, ya), (xb, yb) in zip(corners[::2], corners[1::2], strict=False):
        assert ya == yb, "first across"
        assert xb > xa


def test_missing_and_infinite_values_are_left_out():
    values = [1.0, math.nan, math.inf, -5.0, 2.0]
    chart = Chart("c", "C", Axis("x"), Axis("y", "log"), [Series("s", [1, 2, 3, 4, 5], values)])
    svg = chart_svg(chart, {}).svg()
    assert len(places_of(svg, "generated")) == 2
    assert "nan" not in svg
    assert "inf" not in svg


def test_a_matrix_of_small_values_is_not_white():
    def strongest(limit):
        item = Heatmap("m", "M", ["a", "b"], ["c", "d"], [[0.02, -0.01], [0.0, 0.005]], "correlation", limit=limit)
        root = ET.fromstring(heatmap_svg(item).svg())
        return max(float(e.get("opacity")) for e in root.iter("path") if e.get("opacity"))

    assert strongest(1.0) == strongest(None) == pytest.approx(0.85)
    assert strongest(0.04) == pytest.approx(0.425, abs=0.01), "a limit that fits is kept"


def test_csv_cannot_run_formulas():
    rows = list(
        csv.reader(io.StringIO(csv_text(["name"], [["=HYPERLINK(1)"], ["+1"], ["@a"], ["-x"], ["fine\nline"], [-1.5]])))
    )
    assert [r[0] for r in rows[1:]] == ["'=HYPERLINK(1)", "'+1", "'@a", "'-x", "fine\nline", "-1.5"]


def test_all_figures_are_written_with_their_numbers(found, tmp_path):
    written = write_figures(found, tmp_path / "a", ("svg",))
    names = {p.name for p in written}
    assert {"overview.svg", "overview.csv", "ranks.svg", "ranks.csv", "axis-critic-3.svg"} <= names
    assert {"axis-critic-3-pairs-two.svg", "axis-critic-3-pairs-two.csv"} <= names, (
        "evidence of each text, as on the page"
    )
    assert len(names) == 2 * (2 + 6 + 3)
    rows = list(csv.DictReader((tmp_path / "a" / "overview.csv").open()))
    gaps = {(r["critic"], r["generated"]): float(r["gap"]) for r in rows}
    assert gaps == {(v.critic, v.generated): pytest.approx(v.gap, rel=1e-5) for v in found.verdicts if v.headline}
    again = write_figures(found, tmp_path / "b", ("svg",))
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in written], "the same data give the same bytes"
    svg = ET.parse(tmp_path / "a" / "overview.svg").getroot()
    assert svg.find("{http://www.w3.org/2000/svg}title").text == "Distance from human text"
    assert float(svg.get("width").removesuffix("pt")) == pytest.approx(3.35 * 72, abs=0.1)


@pytest.mark.slow
def test_figures_of_a_run_from_the_command_line(tmp_path):
    real = [f"word number {i} {'and more ' * (i % 5)}" for i in range(40)]
    momus.compare(
        real,
        {"gen": [t * 2 for t in real[:20]]},
        critics=["length"],
        out=tmp_path / "run",
        permutations=99,
        resamples=99,
    )
    call = CliRunner().invoke
    done = call(
        app, ["figures", str(tmp_path / "run"), "--out", str(tmp_path / "f"), "--format", "pdf", "--width", "6.9"]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "f" / "axis-length.pdf").read_bytes().startswith(b"%PDF")
    assert "overview.csv" in done.output
    for options in (["--format", "gif"], ["--width", "wide"], ["--width", "900"], ["--format", ""]):
        failed = call(app, ["figures", str(tmp_path / "run"), "--out", str(tmp_path / "g"), *options])
        assert failed.exit_code == 2 or isinstance(failed.exception, UsageError), options
        assert not (tmp_path / "g").exists()
