"""The random-effects model of bands, on bands that are known."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "validity"))

from registers import GRID, Registers, drawn, likelihood


def test_predictions_hold_the_band_of_a_register_that_was_not_measured():
    true, table = drawn(3)
    model = Registers.fitted(table)
    predicted = np.array([model.band(measured) for measured in table])
    held = (predicted[:, 1] <= true[:, -1]) & (true[:, -1] <= predicted[:, 2])
    assert 52 <= held.sum() <= 60, held.sum()
    assert 0.8 < np.exp(np.median(np.log(predicted[:, 0] / true[:, -1]))) < 1.25
    assert 0.2 < model.omega < 0.6, "0.4"


def test_a_band_that_is_not_seen_says_only_how_large_it_may_be():
    of = likelihood([0.06, 0.006, 0.485, 66])
    at = {x: float(np.interp(np.log(x), GRID, of)) for x in (0.001, 0.06, 0.3, 0.485, 0.8)}
    assert at[0.001] > 0.9 * at[0.06], "smaller ones are as likely"
    assert at[0.3] > 3 * at[0.485] > 0 > at[0.8] - 0.02
