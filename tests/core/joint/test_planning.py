"""Plans: against textbook sample sizes, scaling with the pilot, achieved power by simulation, reasons."""

import numpy as np
import pytest
from tests.verdicts import verdict_of

from momus.errors import UsageError
from momus.inference.result import Method
from momus.joint.planning import factor_for, pilot_of, plan, power_at


def verdict(**changes):
    base = {
        "critic": "length",
        "axis": "length of documents",
        "statistic": "mean",
        "unit": "words",
        "generated": "g",
        "real_value": 10.0,
        "generated_value": 10.6,
        "difference": 0.6,
        "low": 0.0,
        "high": 1.2,
        "effect": 0.3,
        "effect_kind": "hedges_g",
        "p": 0.04,
        "p_adjusted": 0.04,
        "q": 0.04,
        "mde": 0.8,
        "n_real": 100,
        "n_generated": 100,
        "unscored_real": 0,
        "unscored_generated": 0,
        "headline": True,
        "standard_error": 2 * np.sqrt(2 / 100),
        "freedom": 198.0,
        "method": Method(test="permutation", units_real=100, units_generated=100),
    }
    return verdict_of(**(base | changes))


@pytest.mark.parametrize(("d", "n"), [(0.2, 394), (0.5, 64), (0.8, 26)])
def test_textbook_sizes(d, n):
    # per-group sizes of a two-sample t-test, α = 0.05 two-sided, power 0.8 (Cohen 1988, table 2.4.1: 393, 64, 26)
    (found,) = plan([verdict()], difference=d)
    assert found.documents()[0] == pytest.approx(n, abs=1)


def test_needed_size_does_not_depend_on_the_size_of_the_pilot():
    one = plan([verdict()], difference=0.2)[0]
    other = plan([verdict(n_real=400, n_generated=400, standard_error=2 * np.sqrt(2 / 400), freedom=798.0,
                          method=Method(units_real=400, units_generated=400))], difference=0.2)[0]  # fmt: skip
    assert one.documents()[0] == pytest.approx(other.documents()[0], abs=1)
    assert (other.high / other.low) < (one.high / one.low)
    assert one.low < one.factor < one.high


def test_power_at_the_planned_size_is_the_wanted_one():
    pilot = pilot_of(verdict())
    for power in (0.5, 0.8, 0.95):
        factor = factor_for(pilot, 0.25, 0.01, power)
        assert power_at(pilot, factor, 0.25, 0.01) == pytest.approx(power, abs=1e-6)


def test_a_plan_without_a_difference_is_refused():
    with pytest.raises(UsageError, match="difference= is not given") as refused:
        plan([verdict(band=0.5)])
    assert "0.2 is called small" in refused.value.hint
    assert plan([verdict(band=0.5)], difference=0.1)[0].difference == 0.1


def test_a_larger_family_needs_more():
    small, large = (plan([verdict()], difference=0.3, family=m)[0] for m in (1, 20))
    assert large.level == pytest.approx(0.05 / 20)
    assert large.factor > 1.5 * small.factor
    in_pilot = plan([verdict(method=Method(units_real=100, units_generated=100, rows=20))], difference=0.3)[0]
    assert in_pilot.factor == pytest.approx(large.factor)


def test_units_are_those_of_the_design():
    method = Method(design="clusters", units_real=20, units_generated=10)
    (found,) = plan([verdict(method=method, freedom=28.0)], difference=0.15)
    assert found.units()[0] == pytest.approx(found.documents()[0] / 5, abs=1)
    assert found.units()[1] == pytest.approx(found.documents()[1] / 10, abs=1)


def test_log_ratios_come_from_the_standard_error_of_the_difference():
    # log(20/10) with standard error 0.05 on the log scale
    slope = np.sqrt(200) * np.cosh(np.log(2) / 2)
    found = pilot_of(verdict(effect_kind="log_ratio", real_value=10.0, generated_value=20.0, effect=np.log(2),
                             difference=10.0, standard_error=0.05 * slope))  # fmt: skip
    assert found.error == pytest.approx(0.05)


def test_a_distance_scales_from_what_the_pilot_detects():
    row = verdict(effect_kind="distance", mde=0.2, effect=0.05, standard_error=0.04)
    assert plan([row], difference=0.2)[0].factor == pytest.approx(1, rel=1e-3)
    assert plan([row], difference=0.1)[0].factor == pytest.approx(4, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"p": None, "method": Method(reason="too short")}, "too short"),
        ({"standard_error": None}, "no standard error"),
        ({"effect": 0.0, "difference": 0.0}, "unit of its standard error"),
        ({"effect_kind": "distance", "mde": None}, "no detectable distance"),
    ],
)
def test_rows_that_cannot_be_planned_say_why(changes, reason):
    found = plan([verdict(critic="other"), verdict(**changes)], difference=0.2)[1]
    assert reason in found.reason


def test_wrong_requests_are_refused_with_a_way_out():
    with pytest.raises(UsageError, match="older version"):
        plan([verdict(standard_error=None, mde=None)], difference=0.2)
    for wrong in ({"difference": -1.0}, {"difference": float("nan")}, {"power": 1.0}, {"family": 0}):
        with pytest.raises(UsageError):
            plan([verdict()], **{"difference": 0.2, **wrong})
