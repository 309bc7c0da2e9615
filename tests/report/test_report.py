"""The report: complete, self-contained, inert to hostile text, and opened by a real browser."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from tests.verdicts import verdict_of

import momus
from momus.comparison import read_comparison
from momus.critic import Note
from momus.evidence import Axis, Chart, Edge, Graph, Heatmap, MarkedDocument, Series, Step, Table, from_json, to_json
from momus.inference import Method
from momus.report.figures.svg import draw
from momus.report.page import render, write_report
from momus.report.safe import clean
from momus.runs.result import CriticResult, Unscored
from momus.verdicts.table import adjust

HOSTILE = '<script>document.title="owned"</script>"><img src=x onerror=alert(1)>$\\frac{1}{2}$\x00\x1b\u202e]]>'


def verdict(**changes):
    row = {
        "critic": "laws",
        "axis": "law of words",
        "statistic": "ks",
        "unit": "document",
        "generated": HOSTILE,
        "real_value": 0.01,
        "generated_value": 0.2,
        "difference": 0.19,
        "low": 0.1,
        "high": 0.25,
        "effect": 0.19,
        "effect_kind": "difference",
        "p": 0.001,
        "p_adjusted": None,
        "q": None,
        "mde": 0.02,
        "n_real": 10,
        "n_generated": 12,
        "unscored_real": 0,
        "unscored_generated": 1,
        "headline": True,
        "method": Method(test="permutation", family="distance", permutations=1999, resamples=499),
    }
    return verdict_of(**(row | changes))


def every_kind():
    return [
        Table(HOSTILE, HOSTILE, (HOSTILE, "n"), ((HOSTILE, 1.5), (None, float(3))) * 150, note=HOSTILE),
        Chart(
            "chart",
            HOSTILE,
            Axis(HOSTILE, "log"),
            Axis("y"),
            (
                Series(HOSTILE, (1, 10, 100), (1.0, 2.0, 3.0), "real", "line", (0.5, 1, 2), (2, 3, 4)),
                Series("points", (1, 10), (1.0, 2.0), "generated", "points"),
                Series("steps", (1, 10), (1.0, 2.0), "fitted", "steps"),
                Series("others", (1, 10), (1.0, 2.0), "reference", "points"),
            ),
            HOSTILE,
        ),
        Heatmap("map", "m", (HOSTILE, "b"), ("a", "b"), ((0.5, None), (-0.2, 0.0)), "difference"),
        Heatmap("large", "m", [str(i) for i in range(60)], [str(i) for i in range(60)], [[0.1] * 60] * 60, "d"),
        Graph("graph", "g", (HOSTILE, "b"), (Edge(HOSTILE, "b", 0.5, True), Edge("b", "b", -0.2)), HOSTILE),
    ]


def comparison(evidence=(), outliers=()):
    verdicts = adjust(
        [verdict(), verdict(statistic="exponent", headline=False, p=None, low=None, high=None, effect=None)]
    )
    result = CriticResult(
        name="laws",
        axis=HOSTILE,
        question=HOSTILE,
        fitted_on={"corpus": HOSTILE, "documents": 10, "left_out": 2, "fingerprint": "0f"},
        params={"words": HOSTILE},
        verdicts=verdicts,
        evidence=[(HOSTILE, list(evidence))],
        outliers=list(outliers),
        unscored=[Unscored(HOSTILE, HOSTILE, 3)],
        notes=[Note(HOSTILE)],
    )
    signature = {
        "momus": "0",
        "command": f"momus compare {HOSTILE}",
        "started": "2026-01-01T00:00:00",
        "device": "cpu",
        "seed": 0,
        "permutations": 9999,
        "resamples": 2000,
        "confidence": 0.95,
        "multiplicity": "holm",
        "critics": [],
        "corpora": [
            {"name": HOSTILE, "role": role, "documents": 3, "characters": 5, "fingerprint": "0f"}
            for role in ("fit", "real", "generated")
        ],
        "split": True,
        "checks": [],
        "languages": [],
        "seconds": {"total": 1.0},
    }
    return momus.Comparison(verdicts, [result], signature, [HOSTILE])


FULL = comparison(
    every_kind(),
    [
        MarkedDocument(
            HOSTILE, HOSTILE, 3.0, "nats", (Step(HOSTILE, HOSTILE * 90, 4.0, True, HOSTILE), Step("fine")), HOSTILE
        )
    ],
)


class Elements(HTMLParser):
    """Collects start tags."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_hostile_text_is_inert():
    elements = Elements(render(FULL)).found
    assert [t for t, _ in elements].count("script") == 1
    assert not [t for t, _ in elements if t in ("img", "iframe", "object", "embed", "form")]
    for tag, attributes in elements:
        assert not [a for a in attributes if a.startswith("on")], tag
        assert "javascript:" not in (attributes.get("href") or "")


def test_nothing_is_asked_from_outside():
    for tag, attributes in Elements(render(FULL)).found:
        for name in ("src", "href", "action", "data", "poster", "xlink:href"):
            value = attributes.get(name) or ""
            assert value == "" or value.startswith(("#", "data:")), (tag, name, value)
    style = render(FULL)
    assert "@import" not in style
    assert not re.search(r"url\((?!#)", style.split("<body>")[0])


@pytest.mark.parametrize("item", every_kind()[1:], ids=lambda item: item.name)
def test_figures_are_well_formed_and_deterministic(item):
    svg = draw(item)
    ET.fromstring(svg)
    assert svg == draw(item)
    assert "#0102" not in svg
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert all(i.startswith(item.name) for i in ids)


@pytest.mark.parametrize("item", every_kind(), ids=lambda item: type(item).__name__)
def test_evidence_survives_json(item):
    written = json.dumps(to_json(item))
    copied = json.dumps(to_json(from_json(json.loads(written))))
    assert json.loads(copied) == json.loads(written), "equal data: 1 may become 1.0"


@pytest.mark.parametrize(
    ("x", "labels"),
    [([3.0, 400.0], {"10", "20", "50", "100", "200"}), ([1.0, 1e7], {"1", "100", "10,000", "10⁶"})],
)
def test_logarithmic_axes_have_plain_numbers(x, labels):
    chart = Chart("c", "C", Axis("x", "log"), Axis("y"), (Series("s", x, [1.0, 2.0]),))
    drawn = draw(chart)
    assert "mathdefault" not in drawn
    assert labels <= set(re.findall(r">([^<>]+)</text>", drawn))


def test_same_data_give_the_same_page_of_bounded_size():
    page = render(FULL)
    assert page == render(FULL)
    assert len(page) < 1_000_000
    assert "10 of 300 rows are shown" in page


def test_missing_values_are_dashes_and_no_p_is_zero():
    page = render(comparison())
    assert "not defined" in page
    assert "≠ differs" in page
    assert "not tested" in page


def test_cleaning():
    assert clean(HOSTILE).startswith("<script>")
    assert not set(clean(HOSTILE)) & {"\x00", "\x1b", "\u202e"}
    assert len(clean("x" * 10**6)) == 400


def test_run_folder_gives_the_same_report(tmp_path):
    real = [f"word number {i} {'and more ' * (i % 5)}" for i in range(40)]
    generated = [f"word {'again ' * (i % 9)}" for i in range(20)]
    out = tmp_path / "run"
    found = momus.compare(
        real, {"gen": generated}, critics=["length", "unigram"], out=out, permutations=99, resamples=99
    )
    again = read_comparison(out)
    assert [v.row() for v in again.verdicts] == [v.row() for v in found.verdicts]
    first = (out / "report.html").read_text()
    assert write_report(again, tmp_path / "again.html").read_text() == first


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_opens_it_without_errors(tmp_path):
    path = write_report(FULL, tmp_path / "report.html")
    command = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--enable-logging=stderr",
        "--v=0",
        "--virtual-time-budget=2000",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    assert "<title>Momus: real and generated text compared</title>" in done.stdout
    assert '<th scope="col"><button type="button">axis</button></th>' in done.stdout


def test_a_matrix_tells_what_is_missing_from_what_is_zero():
    def dashes(value):
        values = [[0.0, value], [1.0, 0.5]]
        return draw(Heatmap("m", "Matrix", ["a", "b"], ["c", "d"], values, "share", limit=1.0)).count("–")

    assert (dashes(None), dashes(0.0)) == (1, 0)
