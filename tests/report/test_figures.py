"""Figures: what is drawn lies where the numbers are, in matplotlib and on the page."""

import csv
import io
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.verdicts import changed
from typer.testing import CliRunner

import momus
from momus.cli.app import app
from momus.errors import UsageError
from momus.evidence import Axis, Chart, Heatmap, Series
from momus.joint.ranks import Ranking
from momus.report.cards import overlay
from momus.report.figures.axes import draw_axis, draw_rows
from momus.report.figures.chart import chart_svg
from momus.report.figures.files import write_figures
from momus.report.figures.palette import COLOURS, looks
from momus.report.figures.rows import detectable, overview_rows, power_rows, ranks_rows, rows_svg
from momus.report.figures.scales import CLIP, GapScale, Scale
from momus.report.figures.svg import heatmap_svg
from momus.report.safe import csv_text
from momus.report.words.format import HUMAN
from momus.runs.answer import answer_of

from .synthetic import comparison, verdict

CORPORA = ("one", "two", "three")


@pytest.fixture(scope="module")
def found():
    return comparison(critics=6)


@pytest.fixture
def axes():
    return Figure(figsize=(5, 4)).add_subplot()


def dots(axes):
    """Places of all markers that are drawn at one place, with their colour and whether they are filled."""
    return [
        (float(line.get_xdata()[0]), line.get_markeredgecolor(), line.get_markerfacecolor() != COLOURS["paper"])
        for line in axes.lines
        if len(line.get_xdata()) == 1 and line.get_marker() not in ("None", "", None)
    ]


def test_the_overview_has_one_dot_for_each_axis_and_corpus_at_its_gap(found, axes):
    answer = answer_of(found)
    assert draw_rows(axes, overview_rows(answer)) is axes
    expected = sorted(
        (c.row.gap, COLOURS[looks(CORPORA)[c.generated].colour], c.differs) for a in answer.axes for c in a.cells
    )
    assert len(expected) == 18
    for (gap, colour, filled), (x, edge, full) in zip(expected, sorted(dots(axes)), strict=True):
        assert x == pytest.approx(gap)
        assert (edge, full) == (colour, filled)
    names = [t.get_text() for t in axes.get_yticklabels()]
    assert names == [f"axis of critic-{i}" for i in (5, 4, 3, 2, 1, 0)]
    assert list(axes.get_yticks()) == [0, -1, -2, -3, -4, -5], "the largest gap is at the top"


def test_intervals_of_the_overview_are_those_of_the_gaps(found, axes):
    draw_rows(axes, overview_rows(answer_of(found)))
    pairs = [(line.get_xdata(), line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 2]
    drawn = sorted(tuple(x) for x, y in pairs if x[0] != x[1] and y[0] == y[1])
    expected = sorted(v.gap_interval for v in found.verdicts if v.headline)
    np.testing.assert_allclose(drawn, expected)


def test_rows_that_have_no_dot_say_why(axes):
    rows = [verdict("a", "x", 2.0), verdict("b", "x", 1.0, p=None), verdict("c", "x", 1.0, band=None)]
    answer = answer_of(momus.Comparison(momus.verdicts.table.adjust(rows)))
    shown = overview_rows(answer)
    assert shown.absent == {("b", "x"): "not tested", ("c", "x"): "no human band"}
    assert [d.row for d in shown.dots] == ["a"]
    draw_rows(axes, shown)
    assert {"not tested", "no human band"} <= {t.get_text() for t in axes.texts}
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
    small, large = GapScale.of([0.2, 1.2]), GapScale.of([0.2, 30.0])
    assert (small.root, large.root) == (False, True)
    for scale in (small, large, GapScale.of([]), GapScale.of([1e9])):
        places = [scale(g) for g in (0, 0.5, 1, 1.4, 1e12)]
        assert places == sorted(places)
        assert places[0] == 0
        assert places[-1] == 1
        assert scale.ticks[0] == 0
        assert 1 in scale.ticks
        assert max(scale.ticks) <= scale.top
    assert GapScale.of([1e9]).top == pytest.approx(1.1 * CLIP)


def test_an_axis_shows_human_text_once_and_every_corpus_by_name(found, axes):
    result = found.results[2]
    shown = overlay(result)
    assert [s.label for s in shown.series] == [HUMAN, *CORPORA]
    for s, (_, items) in zip(shown.series[1:], result.evidence, strict=True):
        assert list(s.y) == list(items[0].series[1].y)
    draw_axis(axes, result)
    colours = [line.get_color() for line in axes.lines]
    assert colours == [COLOURS["real"], *(COLOURS[looks(CORPORA)[c].colour] for c in CORPORA)]
    assert [t.get_text() for t in axes.get_legend().get_texts()] == [HUMAN, *CORPORA]


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


def test_an_axis_without_a_chart_is_refused_in_words(found, axes):
    with pytest.raises(UsageError, match="critic-0 has no chart"):
        draw_axis(axes, replace(found.results[0], evidence=[], distribution=None))


def test_ranks_are_drawn_nearest_first(found, axes):
    draw_rows(axes, ranks_rows(found.joint.ranking))
    assert [t.get_text() for t in axes.get_yticklabels()] == list(CORPORA)
    assert [x for x, _, _ in dots(axes)] == [8.0, 8.25, 8.5]
    assert {"1.00", "0.00", "bootstrap share"} <= {t.get_text() for t in axes.texts}
    with pytest.raises(UsageError, match="too few prompts"):
        ranks_rows(Ranking([], {"length": "too few prompts"}, 0.95, 999, True), of="length")


def test_detectable_differences_are_in_units_of_the_band():
    g = verdict("a", "x", 3.0, mde=5.0)  # 10 words are one band: 5 words are half of one
    assert detectable(g) == pytest.approx(0.5)
    # perplexities of 100 and 121: a detectable log ratio of 0.3 is a difference of 2 √(100 · 121) sinh 0.15
    mde = 2 * math.sqrt(100 * 121) * math.sinh(0.15)
    ratio = verdict("b", "x", 1.0, effect_kind="log_ratio", generated_value=121.0, mde=mde, band=0.1)
    assert detectable(ratio) == pytest.approx(3.0)
    distance = verdict("c", "x", 1.0, effect_kind="distance", mde=0.04, band=0.08)
    assert detectable(distance) == pytest.approx(0.5)
    assert detectable(changed(g, mde=None)) is None
    assert detectable(replace(g, band=None)) is None


def test_power_is_drawn_smallest_first(axes):
    rows = [verdict("a", "x", 3.0, mde=30.0), verdict("b", "x", 3.0, mde=5.0)]
    draw_rows(axes, power_rows(rows))
    assert [t.get_text() for t in axes.get_yticklabels()] == ["axis of b", "axis of a"]
    marks = [line for line in axes.lines if line.get_marker() == "D"]
    places = [(line.get_xdata()[0], line.get_ydata()[0]) for line in marks if len(line.get_xdata())]
    assert places == [(pytest.approx(3.0), -1), (pytest.approx(0.5), 0)]
    with pytest.raises(UsageError, match="no headline row"):
        power_rows([verdict("a", "x", 3.0, mde=None)])


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
    x = Scale(1 / low, 100 * low, 66, 508, True)
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
    assert {"overview.svg", "overview.csv", "ranks.svg", "ranks.csv", "power.svg", "axis-critic-3.svg"} <= names
    assert len(names) == 2 * (3 + 6)
    rows = list(csv.DictReader((tmp_path / "a" / "overview.csv").open()))
    gaps = {(r["critic"], r["generated"]): float(r["gap"]) for r in rows}
    assert gaps == {(v.critic, v.generated): pytest.approx(v.gap, rel=1e-5) for v in found.verdicts if v.headline}
    again = write_figures(found, tmp_path / "b", ("svg",))
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in written], "the same data give the same bytes"
    svg = ET.parse(tmp_path / "a" / "overview.svg").getroot()
    assert svg.find("{http://www.w3.org/2000/svg}title").text == "Distance from human text"
    assert float(svg.get("width").removesuffix("pt")) == pytest.approx(3.35 * 72, abs=0.1)


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
        app, ["figures", str(tmp_path / "run"), "--out", str(tmp_path / "f"), "--format", "pdf", "--width", "page"]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "f" / "axis-length.pdf").read_bytes().startswith(b"%PDF")
    assert "overview.csv" in done.output
    for options in (["--format", "gif"], ["--width", "wide"], ["--width", "900"], ["--format", ""]):
        failed = call(app, ["figures", str(tmp_path / "run"), "--out", str(tmp_path / "g"), *options])
        assert isinstance(failed.exception, UsageError), options
        assert not (tmp_path / "g").exists()
