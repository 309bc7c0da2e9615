"""The simulations of many axes and models: their parts against known answers."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

PATH = Path(__file__).parents[2] / "benchmarks" / "validity" / "models.py"


def load():
    spec = importlib.util.spec_from_file_location("momus_benchmark_models", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


models = load()


def test_intervals_that_lack_a_possible_rank_are_misses():
    truth = np.array([0.1, 0.1, 0.5])
    assert not models.false_order([(1, 2), (1, 2), (3, 3)], truth)
    assert models.false_order([(1, 1), (2, 2), (3, 3)], truth)  # the order of a tie
    assert models.false_order([(1, 2), (1, 3), (1, 2)], truth)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["value", "ks"])
def test_planned_comparisons_reach_the_wanted_power(kind):
    statistic, shift = (models.DIFFERENCE, 0.5) if kind == "value" else (models.KS, 0.6)
    edges = models.EDGES
    aimed = shift if kind == "value" else float(np.max(stats.norm.cdf(edges) - stats.norm.cdf(edges - shift)))
    hits, sizes = models.planned(statistic, 80, shift, aimed, 120)
    assert (sizes > 20).all()
    assert 0.8 - 3.3 * np.sqrt(0.16 / 120) <= hits / 120 <= 0.85 + 3.3 * np.sqrt(0.13 / 120)
