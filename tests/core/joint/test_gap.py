"""Limits of Hedges' g keep their level exactly, by the law of the noncentral t."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import nct, t

from momus.inference.intervals import of_effect
from momus.joint.gap import Gap

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks" / "validity"))
from gate_and_diff import ROW


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("statistics", [1, 8, 30])
@pytest.mark.parametrize(("limit", "n"), [(0.5, 50), (0.5, 100), (1.0, 100), (2.0, 200)])
def test_a_difference_at_its_limit_lies_beyond_it_as_often_as_the_level_says(limit, n, statistics, sign):
    freedom, level = 2 * n - 2, 0.05 / statistics
    error = np.sqrt(2 / n) * (1 - 3 / (4 * freedom - 1))
    reach = float(t.isf(0.025, freedom))

    def beyond(strength):
        g = sign * strength * error
        low, high = of_effect(g, error, freedom, reach)
        row = replace(ROW, effect=g, effect_low=low, effect_high=high, freedom=freedom)
        return Gap.of(row).interval(level, limit)[0] - limit

    shown = nct.sf(brentq(beyond, 0.1, 100), freedom, limit * np.sqrt(n / 2))
    assert 0.8 * level <= shown <= level
