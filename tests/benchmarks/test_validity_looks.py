"""The simulation of repeated looks, against other ways to compute the same."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

PATH = Path(__file__).parents[2] / "benchmarks" / "validity" / "looks.py"


def load():
    sys.path.insert(0, str(PATH.parent))
    spec = importlib.util.spec_from_file_location("momus_benchmark_looks", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


looks = load()


@pytest.mark.parametrize("kind", ["cumulative", "nightly"])
def test_each_look_is_a_welch_test(kind):
    (sample,) = looks.samples(kind, 3, 0.2, "log-normal", 4, seed=0)
    for r in range(4):
        for k in range(3):
            if kind == "cumulative":
                sides = sample.generated[r, : k + 1].ravel(), sample.real[r, : k + 1].ravel()
            else:
                sides = sample.generated[r, k], sample.real[r, 0]
            expected = stats.ttest_ind(*sides, equal_var=False)
            assert sample.t[r, k] == pytest.approx(expected.statistic)
            assert sample.p[r, k] == pytest.approx(expected.pvalue)


def test_power_of_the_shift_is_the_one_asked_for():
    first = looks.measure("nightly", 1, looks.shift_of(0.8, 50), "normal", 4000, 0, last=looks.last_only)["last"]
    assert np.isfinite(first).mean() == pytest.approx(0.8, abs=0.025)  # 4 standard errors


def test_unadjusted_looks_alarm_too_often_and_spending_does_not():
    found = looks.measure("nightly", 20, 0.0, "normal", 500)
    shares = {name: np.isfinite(first).mean() for name, first in found.items()}
    assert shares["p ≤ 0.05 at any look"] > 0.3
    assert max(shares["spending"], shares["spending, planned"]) <= 0.05
    assert looks.rate(np.array([1.0, np.nan])) == "0.500 [0.013, 0.987]"
