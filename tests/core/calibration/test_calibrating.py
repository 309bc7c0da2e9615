"""Calibration: the same p-values as `compare`, levels that hold, defects that are detected, work that resumes."""

import csv
import json
import sys

import numpy as np
import pytest
from scipy import sparse, stats

from momus import Corpus, MomusError
from momus.calibration import CalibrationPlan, calibrate, cells
from momus.calibration.cells import SplitCell
from momus.calibration.rates import Rate, detectable, family_wise
from momus.critic import Statistic
from momus.critic.statistic import kolmogorov_smirnov, mean, perplexity, total_variation
from momus.inference import axis_test, compare_rows
from momus.outputs import write_bytes
from momus.ownership import record_line, record_of

WORDS = [f"w{i}" for i in range(150)]


def texts(n, seed, rate=20):
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 151)
    shares /= shares.sum()
    return [" ".join(rng.choice(WORDS, rng.poisson(rate) + 3, p=shares)) for _ in range(n)]


def corpus(n=120, seed=0, name="real"):
    return Corpus.from_texts(texts(n, seed), ids=[f"d{i}" for i in range(n)], name=name)


FIT = corpus(200, seed=1, name="fit")
SMALL = {"splits": 60, "power_splits": 20, "strengths": (0.2, 0.9), "seed": 3}


@pytest.mark.parametrize(
    ("statistic", "width", "n", "m"),
    [
        (Statistic("mean", "x", "value", mean), 2, 30, 20),
        (Statistic("ppl", "x", "value", perplexity, scale="log"), 2, 15, 40),
        (Statistic("mean", "x", "value", mean), 2, 4, 5),
        (Statistic("tvd", "x", "distance", total_variation), 8, 30, 20),
        (Statistic("tvd", "x", "distance", total_variation), 200, 30, 20),
        (Statistic("ks", "x", "distance", kolmogorov_smirnov), 200, 12, 33),
    ],
)
def test_calibration_gives_the_p_values_of_compare_rows(statistic, width, n, m):
    rng = np.random.default_rng(0)
    for _ in range(5):
        if width == 2:
            a, b = (np.column_stack([rng.gamma(2, size=k), np.ones(k)]) for k in (n, m))
        else:
            a, b = (sparse.csr_array(rng.poisson(0.5, size=(k, width)).astype(float)) for k in (n, m))
        (one,) = compare_rows(
            [statistic], {"x": a}, {"x": b}, permutations=499, resamples=0, wide=(199, 0), seed=7, threads=1
        )
        drawn = one.method.permutations  # fewer than allowed where many are more extreme
        p, name, difference = axis_test([statistic], {"x": a}, {"x": b}, permutations=drawn, wide=199, seed=7)
        assert (p, name) == (one.p, statistic.name)
        if statistic.kind == "value" or one.p > 0.05:  # the interval of a distance that differs may move its estimate
            assert difference == pytest.approx(one.difference)


@pytest.mark.slow
def test_levels_hold_and_a_defect_is_found_on_its_own_axis():
    found = calibrate(
        corpus(240), fit=FIT, critics=["length", "unigram"], defects=["length-truncation", "word-shuffle"],
        strengths=[0.05, 0.5], sizes=[(50, 50), (40, 120)], splits=300, power_splits=40, seed=1,
    )  # fmt: skip
    for cell in found.cells:
        if cell.defect == "none":
            assert stats.binomtest(cell.alarms(0.05), 300, 0.05).pvalue > 1e-3
            assert stats.kstest(cell.p, "uniform").pvalue > 1e-4
        if cell.defect == "length-truncation" and cell.critic == "length" and cell.strength == 0.5:
            assert cell.alarms(0.05) == 40
        if cell.defect == "word-shuffle":
            assert cell.alarms(0.05) <= 8, "order is no axis of these critics"
    alone, critics = family_wise(found.cells, 0.05, (50, 50))
    assert critics == 2
    assert alone.count <= max(c.alarms(0.05) for c in found.cells if c.defect == "none") * 2


@pytest.mark.slow
def test_documents_are_drawn_twice_where_there_are_too_few():
    """Two samples of one distribution, that of 60 documents: the level holds for 150 a side."""
    options = {"fit": FIT, "defects": (), "splits": 300, "seed": 1}
    sizes = [(20, 20), (150, 150)]
    found = calibrate(corpus(60), critics=["length", "unigram"], sizes=sizes, replacement=True, **options)
    for cell in found.cells:
        assert cell.tested == 300
        assert stats.binomtest(cell.alarms(0.05), 300, 0.05).pvalue > 1e-3
    without = calibrate(corpus(60), critics=["length"], sizes=sizes[:1], **options)
    assert without.cells[0].p == found.cells[0].p, "enough documents are never drawn twice"
    with pytest.raises(MomusError, match="needs 300 documents"):
        calibrate(corpus(60), critics=["length"], sizes=sizes, **options)


def test_laws_of_running_text_are_calibrated_too():
    rng = np.random.default_rng(0)
    long = Corpus.from_texts([" ".join(rng.choice(WORDS, 400)) for _ in range(60)], name="long")
    (cell,) = calibrate(long, fit=long, critics=["heaps"], defects=(), splits=20, sizes=[(10, 20)]).cells
    assert cell.tested == 20
    assert cell.statistic == "exponent"


@pytest.mark.slow
def test_work_that_is_interrupted_goes_on(tmp_path, monkeypatch):
    options = {"fit": FIT, "critics": ["length", "unigram"], "defects": ["repetition-loop"], **SMALL}
    whole = calibrate(corpus(), **options)
    measure, calls = cells.measure, []

    def stops(*args, **kwargs):
        calls.append(args[0])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(*args, **kwargs)

    # the module, which has the name of its function
    monkeypatch.setattr(sys.modules["momus.calibration.calibrate"], "measure", stops)
    with pytest.raises(KeyboardInterrupt):
        calibrate(corpus(), out=tmp_path / "c", **options)
    kept = sorted(p.name for p in (tmp_path / "c" / "cells").rglob("*.json"))
    assert len(kept) == 2
    assert not (tmp_path / "c" / "calibration.json").exists()
    calls.clear()
    calls.append("counting on")
    calls.append("from two")
    calls.append("so that nothing stops")
    found = calibrate(corpus(), out=tmp_path / "c", **options)
    assert len(calls) == 3 + 4, "six cells, two of which were kept"
    assert found.cells == whole.cells
    calls.clear()
    again = calibrate(corpus().take(range(119, -1, -1)), out=tmp_path / "c", **options)
    assert calls == [], "nothing is measured twice, whatever the order of the documents"
    assert again.cells == whole.cells


def test_cells_with_too_few_splits_are_resumed(tmp_path, monkeypatch):
    """Asked for more splits later: no split is tested twice, and the numbers are the same."""
    options = {"fit": FIT, "critics": ["length"], "defects": (), "seed": 3, "permutations": 99}
    whole, more = (calibrate(corpus(), splits=n, **options).cells for n in (20, 30))
    test, tested = cells.RowsJudge.test, []
    monkeypatch.setattr(cells.RowsJudge, "test", lambda *sides: tested.append(1) or test(*sides))
    for splits, again, right in ((20, 20, whole), (20, 0, whole), (30, 10, more), (20, 0, whole)):
        tested.clear()
        assert calibrate(corpus(), out=tmp_path / "c", splits=splits, **options).cells == right
        assert len(tested) == again


@pytest.mark.slow
def test_processes_give_what_one_process_gives(tmp_path):
    options = {"fit": FIT, "critics": ["length", "symbol-share"], "defects": ["length-truncation"], **SMALL}
    one = calibrate(corpus(), **options)
    two = calibrate(corpus(), out=tmp_path / "two", jobs=2, **options)
    assert two.cells == one.cells
    content = json.loads((tmp_path / "two" / "calibration.json").read_text())
    assert content["plan"]["seed"] == 3
    assert [row["splits"] for row in content["table"]] == [60, 20, 60, 20]


@pytest.mark.slow
def test_one_table_in_the_terminal_as_csv_and_as_json(tmp_path):
    hostile = "\x1b[31mred <b>"
    found = calibrate(
        corpus(name=hostile), fit=FIT, critics=["length", "unigram"], defects=["word-shuffle", "length-truncation"],
        out=tmp_path / "c", **SMALL,
    )  # fmt: skip
    content = json.loads((tmp_path / "c" / "calibration.json").read_text())
    table = content["table"]
    read = list(csv.DictReader((tmp_path / "c" / "calibration.csv").read_text().splitlines()))
    assert list(read[0]) == list(table[0])
    of_length = [(r["defect"], r["own_axis"]) for r in table if r["critic"] == "length"]
    assert of_length == [("none", False), ("length-truncation", True), ("word-shuffle", False)], "own axis first"
    for row, written in zip(table, read, strict=True):
        cells = [c for c in found.cells if (c.critic, c.defect) == (row["critic"], row["defect"])]
        assert (row["alarms"], row["tested"]) == (cells[-1].alarms(0.05), cells[-1].tested)
        assert row["rate"] == float(written["rate"]) == row["alarms"] / row["tested"]
        assert (row["level"] != "") == (row["defect"] == "none")
    truncated = table[1]
    assert (truncated["smallest"], truncated["bound"], truncated["strength"]) == (0.2, "≤", 0.9)
    shown = str(found)
    assert "\x1b" not in shown
    for words in (
        "length-truncation *",
        "word-shuffle ",
        "not reached",
        "≤ 0.2",
        "60 | 60",
        "level; smallest strength",
    ):
        assert words in shown
    assert not (tmp_path / "c" / "report.html").exists()


def test_a_folder_of_the_released_version_is_taken(tmp_path):
    """It holds a page and two tables, which stay; its measurements are of other code, and made again."""
    old = {
        "calibration.json": '{"plan": {}, "critics": [], "rates": [], "detectable": [], "family_wise": []}',
        **dict.fromkeys(("report.html", "rates.parquet", "p_values.parquet"), "of 0.2.0"),
    }
    for name, content in old.items():
        (tmp_path / name).write_text(content)
    released = tmp_path / "calibration.json"
    write_bytes(record_of(released), record_line(released, "a calibration"))
    calibrate(corpus(), fit=FIT, critics=["length"], defects=(), splits=20, out=tmp_path)
    assert len(json.loads((tmp_path / "calibration.json").read_text())["table"]) == 1
    assert {name for name in old if (tmp_path / name).read_text() == "of 0.2.0"} == {*old} - {"calibration.json"}


def cell(strength, alarms, n=100, difference=0.0):
    p = [0.01] * alarms + [0.5] * (n - alarms)
    return SplitCell(
        "c", "s", "none" if strength == 0 else "d", strength, 9, 9, tuple(p), ("s",) * n, (difference,) * n, 0, 0, 18
    )


def test_the_smallest_strength_lies_where_the_curve_crosses():
    curve = [cell(0, 5), cell(0.1, 20, difference=1.0), cell(0.3, 100, difference=3.0)]
    found = detectable(curve, 0.05, 0.8)
    assert (found.bound, found.strength, found.difference) == ("=", pytest.approx(0.25), pytest.approx(2.5))
    assert detectable(curve[:2], 0.05, 0.8).bound == ">"
    assert detectable([curve[0], curve[2]], 0.05, 0.8).bound == "≤"
    assert detectable(curve[:1], 0.05, 0.8).strength is None


def test_rates_are_clopper_pearson():
    for count, n in ((0, 10), (3, 40), (40, 40)):
        r, expected = Rate.of(count, n), stats.binomtest(count, n).proportion_ci(method="exact")
        assert (r.low, r.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"defects": ["nothing"]}, "no defect 'nothing'"),
        ({"strengths": [0.0]}, "strengths is"),
        ({"sizes": [(100, 100)]}, "needs 200 documents"),
        ({"sizes": [(1, 5)]}, "two documents"),
        ({"jobs": 0}, "jobs=0"),
        ({"alpha": 2.0}, "alpha is 2.0"),
        ({"nonsense": 1}, "options are"),
        ({"critics": ["taylor"]}, "cannot be fitted|needs"),
    ],
)
def test_wrong_use(options, message):
    with pytest.raises(MomusError, match=message):
        calibrate(corpus(), **{"fit": FIT, "critics": ["length"], **options})


def test_a_folder_of_a_comparison_is_not_touched(tmp_path):
    (tmp_path / "run.json").write_text('{"momus": "1", "started": "2026", "permutations": 99}')
    with pytest.raises(MomusError, match="holds a run"):
        calibrate(corpus(), fit=FIT, critics=["length"], out=tmp_path)


def test_a_critic_that_cannot_score_is_named_not_hidden():
    found = calibrate(
        Corpus.from_texts(["..."] * 30 + ["a b c"] * 10, ids=[f"x{i}" for i in range(40)]), fit=FIT,
        critics=["stopword-share", "length"], defects=(), splits=20, sizes=[(15, 15)],
    )  # fmt: skip
    assert {c.critic: bool(c.reason) or c.tested == 20 for c in found.cells} == {"stopword-share": True, "length": True}


def test_plan_defaults_to_halves():
    assert CalibrationPlan().pairs(101) == [(50, 50)]
