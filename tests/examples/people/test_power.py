"""Planned power: variances by enumeration of what can be answered, and power by the noncentral t distribution."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, logit

from momus_people.models import QualityEstimate, preference
from momus_people.power import logits_of, needs, variance
from momus_people.protocol import Protocol

SDS = {"passage": 0.7, "taste": 0.4}


def information_of_a_rating(categories):
    """−E ∂² log P / ∂η² of a rating whose categories are equally frequent, by differences of the logistic function."""
    cuts = np.array([-np.inf, *logit(np.arange(1, categories) / categories), np.inf])

    def shares(at):
        return np.diff(expit(cuts - at))

    slope = (shares(1e-5) - shares(-1e-5)) / 2e-5
    return (slope**2 / shares(0.0)).sum()


@pytest.mark.parametrize("categories", [2, 5])
@pytest.mark.parametrize("corpora", [2, 3])
def test_a_rating_has_the_information_of_its_categories(categories, corpora):
    protocol = Protocol(scale=tuple("abcde"[:categories]))
    found = variance(protocol, corpora, 60, 4, 6, SDS)
    each = 0.7**2 + 1 / (4 * information_of_a_rating(categories))  # of a passage with four ratings
    assert found == pytest.approx(2 * each / (60 / corpora) + 2 * 0.4**2 / 6, rel=1e-6)


@pytest.mark.parametrize("difference", [0.0, 1.5])
def test_pairs_have_the_information_of_a_preference(difference):
    """Two corpora: all pairs are of both. Three: a pair in three, and what others tell adds half as much again."""
    p = expit(difference)
    each = 0.7**2 + 1 / (3 * p * (1 - p))
    found = [variance(Protocol(kind="pair"), c, 60, 3, 6, SDS, difference) - 2 * 0.4**2 / 6 for c in (2, 3)]
    assert found[0] == pytest.approx(each / 60)
    # of C effects that sum to 0, n / 3 pairs each: the information of a contrast by its Laplacian
    laplacian = 20 / each * (3 * np.eye(3) - np.ones((3, 3)))
    contrast = np.array([1.0, -1.0, 0.0])
    assert found[1] == pytest.approx(contrast @ np.linalg.pinv(laplacian) @ contrast)


@pytest.mark.parametrize(
    ("kind", "raters", "corpora"), [("rating", 6, 2), ("pair", 2, 3), ("pair", 1, 2), ("pair", 9, 4)]
)
def test_power_is_that_of_a_two_sided_t_test(kind, raters, corpora):
    protocol = Protocol(kind=kind, raters=raters, items=40, judgements=1)
    for need in needs(protocol, corpora, 0.7, SDS):
        whole = variance(protocol, corpora, 40, need.judgements, need.raters, SDS, logits_of(0.7, SDS, protocol.width))
        taste = 2 * 0.4**2 / need.raters
        # Satterthwaite; a part of which nothing is known has one degree of freedom
        taste_df, rest_df = max((need.raters - 1) * (corpora - 1), 1), 39
        df = whole**2 / (taste**2 / taste_df + (whole - taste) ** 2 / rest_df)
        limit = stats.t.ppf(1 - 0.05 / (corpora - 1) / 2, df)
        shift = logits_of(0.7, SDS, protocol.width) / whole**0.5
        power = 1 - stats.nct.cdf(limit, df, shift) + stats.nct.cdf(-limit, df, shift)
        assert need.power == pytest.approx(power, abs=1e-9)


def test_the_items_needed_are_the_fewest_of_that_power():
    protocol = Protocol(kind="pair", raters=5)
    for need in needs(protocol, 2, 0.65):
        if need.items is not None:
            powers = [
                next(
                    n.power
                    for n in needs(Protocol(kind="pair", raters=5, items=items), 2, 0.65)
                    if (n.judgements, n.raters) == (need.judgements, need.raters)
                )
                for items in (need.items - 1, need.items)
            ]
            assert powers[0] < 0.8 <= powers[1]


def test_plans_are_the_own_and_one_three_five_judgements_by_as_many_raters_and_twice_as_many():
    found = needs(Protocol(kind="pair", raters=4, judgements=2), 2)
    plans = [(n.judgements, n.raters) for n in found]
    assert plans == [(2, 4), (1, 4), (1, 8), (3, 4), (3, 8), (5, 5), (5, 8)]
    assert found == needs(Protocol(kind="pair", raters=4, judgements=2), 2, 0.65, {"passage": 0.8, "taste": 0.3})


def test_a_preference_is_the_logistic_function_averaged_over_passages_and_tastes():
    spread = (0.7**2 + 2 * 0.4**2) ** 0.5
    for difference in (-0.5, 0.3, 2.0):
        mean, _ = integrate.quad(lambda u: expit(difference + spread * u) * stats.norm.pdf(u), -9, 9)  # noqa: B023
        assert preference(difference, SDS, 2) == pytest.approx(mean, abs=1e-9)
        if mean > 0.5:
            assert logits_of(mean, SDS, 2) == pytest.approx(difference, abs=1e-6)


def test_a_higher_rating_by_the_normal_approximation():
    """The difference of two latent ratings: logistic noise, passage and taste of each."""
    scale = (2 * (math.pi**2 / 3 + 0.7**2 + 0.4**2)) ** 0.5
    assert preference(0.9, SDS, 1) == pytest.approx(stats.norm.cdf(0.9 / scale))


def estimated(effects, covariance, thresholds=(), sds=SDS):
    effects = np.asarray(effects, dtype=float)
    names = [f"c{i}" for i in range(len(effects))]
    return QualityEstimate(names, effects, np.asarray(covariance), dict(sds), np.asarray(thresholds), np.zeros(0), 1)


def test_the_mean_rating_is_the_sum_over_categories():
    thresholds, spread = np.array([-1.5, 0.2, 1.1]), (0.7**2 + 0.4**2) ** 0.5
    found = estimated([0.0, 0.0], np.eye(2), thresholds)

    def mean(u):
        above = expit(0.6 + spread * u - thresholds)  # P(rating > k)
        shares = -np.diff([1.0, *above, 0.0])
        return shares @ [1, 2, 3, 4] * stats.norm.pdf(u)

    assert found.mean_rating(0.6) == pytest.approx(integrate.quad(mean, -9, 9)[0], abs=1e-9)


def test_simultaneous_intervals_reach_as_far_as_the_largest_of_the_contrasts():
    """One contrast: 1.96 standard errors; k independent ones: Šidák's quantile; equal ones: as one; none: nothing."""
    covariance = np.diag([1.0, 4.0, 9.0])
    found = estimated([1.0, 2.0, 3.0], covariance)
    for k in (1, 2, 3):
        values, low, high = found.contrasts(np.eye(3)[:k])
        reach = stats.norm.ppf((1 + 0.95 ** (1 / k)) / 2) * np.sqrt(np.diag(covariance)[:k])
        assert values == pytest.approx([1.0, 2.0, 3.0][:k])
        assert high - values == pytest.approx(reach, rel=0.02)
        assert values - low == pytest.approx(high - values)
    one = found.contrasts(np.array([[1.0, -1.0, 0.0]]))
    twice = found.contrasts(np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    assert one[2][0] - one[0][0] == pytest.approx(1.96 * 5**0.5, rel=0.02)
    assert [twice[1][0], twice[2][0], -twice[2][1]] == pytest.approx([one[1][0], one[2][0], one[1][0]])
    assert (twice[1][2], twice[2][2]) == (0, 0), "a contrast without an error needs no interval"
    assert [len(v) for v in found.contrasts(np.zeros((0, 3)))] == [0, 0, 0]
    narrow = found.contrasts(np.eye(3)[:1], confidence=0.5)
    assert narrow[2][0] - narrow[0][0] == pytest.approx(0.674, rel=0.02)
