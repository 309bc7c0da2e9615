"""The studies of decisions: their data have the stated truth, and their harness resumes and counts as it says."""

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

FOLDER = Path(__file__).parents[2] / "benchmarks" / "validity" / "decisions"
sys.path.insert(0, str(FOLDER))

import data  # noqa: E402
import detectable  # noqa: E402
import distances  # noqa: E402
import floor  # noqa: E402
import groups  # noqa: E402
import harness  # noqa: E402
import intervals  # noqa: E402
import means  # noqa: E402
import table  # noqa: E402

from momus.critic.statistic import kolmogorov_smirnov, total_variation  # noqa: E402
from momus.inference import TestResult  # noqa: E402

STUDIES = [s for m in (groups, means, intervals, distances, detectable, floor) for s in m.STUDIES]
CHEAP = [s for s in STUDIES if not s.name.startswith("floor") and "1000" not in s.name and "200" not in s.name]


def coin(draw):
    return {"alarm": float(draw.rng.random() < 0.3), "covered": np.nan}


COIN = harness.Study("coins", "coin", "a coin", coin, (harness.Quantity("alarm", "heads", (0.0, 0.1)), harness.COVERED))


@pytest.mark.parametrize("distance", [0.0, 0.1, 0.25])
def test_distances_of_the_laws_are_the_stated_ones(distance):
    p, q = data.laws(distance)
    assert p.sum() == pytest.approx(1)
    assert q.sum() == pytest.approx(1)
    assert q.min() >= 0
    assert total_variation(p[None], q[None])[0] == pytest.approx(distance, abs=1e-12)
    grid = np.linspace(-8, 8, 100_001)
    gap = np.abs(stats.norm.cdf(grid) - stats.norm.cdf(grid - data.shift_of(distance))).max()
    assert gap == pytest.approx(distance, abs=1e-6)


def test_there_is_no_law_at_a_distance_beyond_the_mass_that_can_move():
    assert data.laws(0.45) is None
    assert data.counts(np.random.default_rng(0), 5, 0.45) is None
    assert detectable.sample(np.random.default_rng(0), "ks", 5, 1.0) is None


def test_ranked_rows_give_scipys_distance():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=30), rng.normal(size=40) + 0.5
    real, generated = (np.asarray(side.sum(axis=0))[None] for side in data.ranked(a, b))
    assert kolmogorov_smirnov(real, generated)[0] == pytest.approx(stats.ks_2samp(a, b).statistic)


def test_clustered_values_have_their_intraclass_correlation():
    x, numbers = data.clustered(np.random.default_rng(2), 4000, 5, 0.2)
    table_ = x[np.argsort(numbers, kind="stable")].reshape(4000, 5)
    between, within = 5 * table_.mean(axis=1).var(ddof=1), table_.var(axis=1, ddof=1).mean()
    assert (between - within) / (between + 4 * within) == pytest.approx(0.2, abs=0.02)
    assert x.var() == pytest.approx(1, abs=0.05)


def test_sequences_have_the_same_nats_per_step_whatever_their_lengths():
    for sigma in (0.3, 1.5):
        rows = data.sequences(np.random.default_rng(3), 400_000, 3.0, sigma)
        assert rows[:, 0].sum() / rows[:, 1].sum() == pytest.approx(3.0, abs=0.01)
        assert np.log(rows[:, 1]).std() == pytest.approx(sigma, rel=0.1)


def test_names_are_unique_and_belong_to_one_file_each():
    assert len({s.name for s in STUDIES}) == len(STUDIES)


@pytest.mark.parametrize("engine", ["before", "after"])
@pytest.mark.parametrize("study", CHEAP, ids=lambda s: s.name)
def test_each_study_reports_all_its_quantities(study, engine, tmp_path):
    assert {q.key for q in study.quantities} <= study.run(0, engine, tmp_path).keys()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_is_resumed_equals_one_that_is_not(tmp_path, jobs):
    def values(out):
        return [(row["seed"], row["values"]) for row in harness.kept(COIN, "trial", out)]

    assert harness.run_study(COIN, "trial", 25, tmp_path / "whole", 1) == 25
    assert harness.run_study(COIN, "trial", 7, tmp_path / "parts", jobs) == 7
    path = harness.path_of(COIN, "trial", tmp_path / "parts")
    path.write_text(path.read_text()[:-20])  # a run that was stopped within a line
    assert harness.run_study(COIN, "trial", 25, tmp_path / "parts", jobs) == 19
    assert values(tmp_path / "parts") == values(tmp_path / "whole")
    assert harness.run_study(COIN, "trial", 25, tmp_path / "parts", jobs) == 0
    assert {v["covered"] for _, v in values(tmp_path / "whole")} == {None}


def test_limited_studies_run_no_further(tmp_path):
    limited = dataclasses.replace(COIN, most=4)
    assert harness.run_study(limited, "trial", 1000, tmp_path, 1) == 4


def test_what_is_decided_of_a_row():
    row = TestResult("x", difference=0.4, low=-0.1, high=0.9, p=0.03)
    assert harness.decided(row, 0.5) == {"alarm": 1, "p": 0.03, "difference": 0.4, "covered": 1, "conflict": 1}
    assert harness.decided(dataclasses.replace(row, low=0.1), 1.0)["conflict"] == 0
    assert harness.decided(dataclasses.replace(row, low=0.1), 1.0)["covered"] == 0
    assert harness.decided(dataclasses.replace(row, p=0.051))["conflict"] == 0
    assert np.isnan(harness.decided(TestResult("x", p=0.01))["covered"])


def test_one_document_of_each_cluster():
    clusters = np.array([3, 1, 3, 1, 1, 7])
    chosen = [harness.one_each(clusters, np.random.default_rng(k)) for k in range(50)]
    assert all(sorted(clusters[rows]) == [1, 3, 7] for rows in chosen)
    assert {int(i) for rows in chosen for i in rows} == set(range(6))


def test_tables_count_with_exact_intervals_and_mark_what_misses_its_goal(tmp_path):
    path = harness.path_of(COIN, "after", tmp_path)
    path.parent.mkdir(parents=True)
    rows = [{"seed": k, "seconds": 0.6, "values": {"alarm": float(k < 30), "covered": None}} for k in range(100)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    interval = stats.binomtest(30, 100).proportion_ci(method="exact")
    assert table.estimate(rows, COIN.quantities[0]) == pytest.approx((0.3, interval.low, interval.high, 100))
    lines = table.table([COIN], tmp_path).splitlines()
    assert lines[4] == "| a coin | heads | not measured | 0.300 [0.212, 0.400], 100 **!** | ≤ 0.1 |"
    assert lines[5] == "|  | interval covers the truth | not measured | not measured | 0.93 to 0.975 |"
    assert table.cost([COIN], "after", tmp_path, 1000) == "coins: 1 studies, 10.0 min for 1,000"


def test_the_mean_of_a_quantity_has_the_interval_of_a_mean():
    x = np.random.default_rng(4).normal(size=200)
    rows = [{"values": {"effect": v}} for v in x.tolist()]
    mean, low, high, n = table.estimate(rows, harness.Quantity("effect", "", None, "mean"))
    assert (mean, n) == (pytest.approx(x.mean()), 200)
    assert (low, high) == pytest.approx(stats.norm.interval(0.95, x.mean(), stats.sem(x)), abs=1e-4)


def test_results_are_not_labelled_as_those_of_another_engine(monkeypatch):
    monkeypatch.setattr(harness, "accepted", lambda: frozenset({"design", "family"}))
    harness.check_engine("after")
    harness.check_engine("trial")
    with pytest.raises(SystemExit, match="--engine before, but the Momus that is imported has"):
        harness.check_engine("before")
