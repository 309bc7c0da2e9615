"""The models recover what simulated raters think; likelihoods agree with finite differences and with statsmodels."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, sparse
from simulated_raters import Truth, simulated_answers

from momus.errors import FittingError
from momus_people import models
from momus_people.answers import RaterAnswers, _joined
from momus_people.axis import axis_rows, correlations
from momus_people.excerpts import YARDSTICKS
from momus_people.judged import ReaderScores, counted_answers, judgements_of, scores_of
from momus_people.likelihood import Ordered
from momus_people.mixed import Mixed, Random
from momus_people.models import Judgements, _sum_to_zero, estimate, preference

from .by_hand import hand_study, said
from .studies import study

RNG = np.random.default_rng(0)


def answered(made, truth, seed=0):
    found = RaterAnswers()
    for rater, content in enumerate(simulated_answers(made, truth, seed)):
        found.by_rater[rater], found.invalid[rater], _ = _joined(made, rater, [content])
    return counted_answers(found, range(made.protocol.raters))


def slopes(function, at, step=1e-5):
    moves = step * np.eye(at.size).reshape(at.size, *at.shape)
    return np.array([(function(at + m) - function(at - m)) / (2 * step) for m in moves])


def test_derivatives_are_those_of_finite_differences():
    upper, lower = np.array([True, True, False]), np.array([False, True, True])
    likelihood, at = Ordered(upper, lower), np.column_stack([RNG.normal(size=3) + 2, RNG.normal(size=3) - 1])
    shares = 1 / (1 + np.exp(-at))
    p = [shares[0, 0], shares[1, 0] - shares[1, 1], 1 - shares[2, 1]]
    assert likelihood.value(at) == pytest.approx(np.log(p).sum())
    assert likelihood.value(at[:, ::-1]) == -np.inf
    gradient, weights = likelihood.derivatives(at)
    assert gradient.ravel() == pytest.approx(slopes(likelihood.value, at), abs=1e-7)
    for i in range(3):
        found = slopes(lambda x: likelihood.derivatives(x)[0][i], at).reshape(3, -1, at.shape[1])[i]  # noqa: B023
        assert weights[i] == pytest.approx(-found, abs=1e-6)


def test_without_random_effects_it_is_the_ordered_logit_of_statsmodels():
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    x = RNG.integers(0, 2, 200)
    y = np.digitize(0.8 * x + RNG.logistic(size=200), [-0.5, 0.7])
    found = OrderedModel(y, x[:, None].astype(float), distr="logit").fit(method="bfgs", disp=False)
    upper, lower = y < 2, y > 0
    thresholds = np.zeros((200, 2, 2))
    thresholds[np.flatnonzero(upper), 0, y[upper]] = thresholds[np.flatnonzero(lower), 1, y[lower] - 1] = 1
    live = np.column_stack([upper, lower])[:, :, None].astype(float)
    fixed = np.concatenate([thresholds, -live * x[:, None, None]], axis=2).reshape(400, 3)
    mine = Mixed(Ordered(upper, lower), fixed, [], np.array([-0.5, 0.5, 0.0]), np.zeros(3, dtype=bool)).fit()
    assert mine.fixed[2] == pytest.approx(found.params[0], abs=1e-3)
    assert mine.covariance[2, 2] ** 0.5 == pytest.approx(found.bse[0], rel=1e-3)
    assert mine.fixed[0] == pytest.approx(found.params[1], abs=1e-3)
    assert mine.log_likelihood == pytest.approx(found.llf, abs=1e-4)


def test_fixed_effects_are_those_of_the_integrated_likelihood():
    """Yes or no about 30 passages of two corpora, three raters each; passages integrated out by quadrature."""
    sigma, passages = 1.5, np.repeat(np.arange(30), 3)
    rng = np.random.default_rng(4)
    x = np.where(passages < 15, 0.5, -0.5)
    y = (2 * x + sigma * rng.normal(size=30)[passages] + rng.logistic(size=90) > 0).astype(int)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)

    def loss(beta):  # −Σ log ∫ Π P(y | b) φ(b) db, with P(y = 0) = F(β₀ − β₁ x − b)
        eta = beta[1] * x[:, None] + sigma * nodes - beta[0]
        log_p = np.add.reduceat(-np.logaddexp(0, np.where(y[:, None] == 1, -eta, eta)), np.arange(0, 90, 3))
        return -np.log(np.exp(log_p) @ weights / weights.sum()).sum()

    exact = optimize.minimize(loss, np.zeros(2)).x
    upper, lower = y == 0, y == 1
    live = np.column_stack([upper, lower]).astype(float)
    fixed = np.stack([live, -live * x[:, None]], axis=2).reshape(180, 2)
    design = sparse.csr_array((-live.ravel(), (np.arange(180), np.repeat(passages, 2))), shape=(180, 30))
    model = Mixed(Ordered(upper, lower), fixed, [Random("passage", design)], np.zeros(2), np.zeros(2, dtype=bool))
    given = model._given(np.log([sigma]), np.zeros(32))
    joint, shifted = given.mode[:2], given.mode[:2] + model._shift(given)
    assert abs(joint[1]) < abs(exact[1]) - 0.1, "the joint mode is too close to no difference"
    assert shifted == pytest.approx(exact, abs=0.06)
    # the average over the posterior of σ, by a grid
    grid = [model._given(np.array([v]), given.mode) for v in np.linspace(np.log(0.01), np.log(10), 121)]
    density = np.exp([g.log_posterior - given.log_posterior for g in grid])
    density /= density.sum()
    fit = model.fit()
    assert fit.sds["passage"] == pytest.approx(density @ np.exp([g.log_sds[0] for g in grid]), rel=0.05)
    averaged = density @ [g.mode[:2] + model._shift(g) for g in grid]
    assert fit.fixed == pytest.approx(averaged, abs=0.1 * fit.covariance[1, 1] ** 0.5), "the shift is that at the mode"


@pytest.mark.parametrize("kind", ["rating", "pair"])
def test_preferences_of_raters_are_recovered(kind):
    truth = Truth({"real": 1.2, "model-a": 0.0, "model-b": -1.2}, 0.5, 0.2, 0.4)
    made = study(200, kind=kind, items=90, raters=6, checks=1, ties=kind == "pair")
    fitted = estimate(judgements_of(made, answered(made, truth, 1)))
    effects, low, high = fitted.contrasts(np.eye(3))
    assert np.abs(effects - [1.2, 0.0, -1.2]).max() < 0.5
    assert ((low <= [1.2, 0.0, -1.2]) & (high >= [1.2, 0.0, -1.2])).all()
    assert effects.sum() == pytest.approx(0, abs=1e-9)
    differences = fitted.contrasts(np.array([[1.0, -1, 0], [1, 0, -1], [0, 1, -1]]))
    assert differences[0][1] == pytest.approx(differences[0][0] + differences[0][2])


def test_intervals_hold_the_truth_in_most_studies():
    held = 0
    for s in range(8):
        rng = np.random.default_rng(s)
        true = rng.normal(size=3)
        true -= true.mean()
        made = study(60, kind="pair", items=30, raters=4, seed=s)
        truth = Truth(dict(zip(made.corpora, true.tolist(), strict=True)), 0.5, 0.2, 0.4)
        values, low, high = estimate(judgements_of(made, answered(made, truth, s))).contrasts(np.eye(3))
        held += bool(((low <= true) & (true <= high)).all())
        assert (high > values).all()
    # fewer have a probability below 0.6 % at 95 %; benchmarks/validity/studies_of_people.py counts
    assert held >= 6


def test_a_constant_answer_or_one_corpus_has_no_estimate():
    made = study(60, kind="pair")
    answers = answered(made, Truth(dict.fromkeys(made.corpora, 0.0)))
    judged = judgements_of(made, answers)
    with pytest.raises(FittingError, match="all answers are the same"):
        estimate(replace(judged, answer=np.zeros_like(judged.answer), flipped=np.zeros_like(judged.flipped)))
    with pytest.raises(FittingError, match="too few answers or corpora"):
        estimate(replace(judged, corpora=["real"]))


def test_an_unanimous_preference_has_a_finite_estimate():
    n = 40
    pairs = np.tile([0, 1], (n, 1))
    judged = Judgements(
        ["a", "b"], pairs, np.repeat(np.arange(n)[:, None], 2, axis=1), np.arange(n), np.arange(n) % 4,
        np.full((n, 1), 1), np.arange(n) % 2, 2,
    )  # fmt: skip
    effects, low, high = estimate(judged).contrasts(np.array([[1.0, -1.0]]))
    assert 0 < low[0] < effects[0] < high[0] < 30
    assert effects[0] > 1.5


def test_left_sides_preferred_are_no_preference_for_a_corpus():
    made = study(200, kind="pair", items=120, raters=3, judgements=3)
    answers = answered(made, Truth(dict.fromkeys(made.corpora, 0.0), 0.1, 0.1, 0.0))
    left = [replace(a, value="left" if k % 10 else a.value) for k, a in enumerate(answers)]
    fitted = estimate(judgements_of(made, left))
    _, low, high = fitted.contrasts(np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]]))
    assert (low < 0).all()
    assert (high > 0).all()
    assert abs(fitted.thresholds[0]) > 1, "the preference for a side is in the threshold"


def test_preference_is_a_probability_that_grows():
    for width in (1, 2, 4):
        values = [preference(d, {"passage": 0.8, "taste": 0.3, "rater": 5.0}, width) for d in (-1.0, 0.0, 1.0)]
        assert values[1] == pytest.approx(0.5)
        assert values[0] + values[2] == pytest.approx(1)
        assert values[2] > 0.6


def test_correlations_are_those_of_residuals():
    x = RNG.normal(size=(50, 5))
    x -= x.mean(axis=0)
    (found,) = correlations((x.T @ x)[None], 2)
    assert found[:, 0] == pytest.approx(np.corrcoef(x.T)[-1, :-1])
    for k, held in ((0, [2, 3]), (1, [2, 3]), (2, [3])):
        left = [v - x[:, held] @ np.linalg.lstsq(x[:, held], v, rcond=None)[0] for v in (x[:, k], x[:, 4])]
        assert found[k, 1] == pytest.approx(np.corrcoef(left)[0, 1])


def test_the_axis_that_readers_follow_is_found_and_length_is_not_taken_for_it():
    """One critic goes with the answers by itself, one through length only, one not at all."""
    made = study(200, items=120, raters=6, checks=1)
    count = len(made.design.passages)
    rng = np.random.default_rng(3)
    length, follows = rng.normal(size=count), rng.normal(size=count)
    beyond = {k: float(1.5 * length[k] - 1.5 * follows[k]) for k in range(count)}
    answers = answered(made, Truth(dict.fromkeys(made.corpora, 0.0), 0.3, 0.1, 0.3, beyond))
    plain = [dict(zip(YARDSTICKS, [v, *rng.normal(size=4)], strict=True)) for v in length.tolist()]
    values = {
        "sections": follows.tolist(),
        "length alone": (length + 0.3 * rng.normal(size=count)).tolist(),
        "nothing": [None if k % 9 == 0 else v for k, v in enumerate(rng.normal(size=count).tolist())],
    }
    rows = {r.critic: r for r in axis_rows(scores_of(made, answers), values, {}, plain)}
    assert rows["sections"].high < -0.1
    assert rows["sections"].p_adjusted < 0.001
    assert rows["length alone"].low > 0.2
    assert rows["length alone"].partial_low < 0 < rows["length alone"].partial_high
    assert rows["nothing"].partial_low < 0 < rows["nothing"].partial_high
    assert rows["nothing"].passages < rows["sections"].passages == 120
    assert rows["length"].is_yardstick
    assert np.isnan(rows["length"].p_adjusted)


def test_differences_between_strata_do_not_count():
    strata = np.repeat(np.arange(30), 2)
    level = np.repeat(RNG.normal(size=30) * 10, 2)
    scores = ReaderScores(np.arange(60), strata, np.tile(level + RNG.normal(size=60), (3, 1)))
    plain = [dict(zip(YARDSTICKS, v, strict=True)) for v in RNG.normal(size=(60, 5)).tolist()]
    (row, *_) = axis_rows(scores, {"x": (level + RNG.normal(size=60)).tolist()}, {}, plain)
    assert abs(row.rho) < 0.6
    assert row.low < 0 < row.high
    assert row.strata == 30


def by_hand(judged, coefficients):
    """log P of all answers, one at a time: thresholds and effects of corpora, then random effects by name and level."""
    thresholds, effects, random = coefficients
    total = 0.0
    for i, rater in enumerate(judged.rater):
        corpora, unit = judged.corpus[i], judged.unit[i]

        def taste(position):
            return random["taste"][rater * len(judged.corpora) + corpora[position]]  # noqa: B023

        answer = judged.answer[i, 0]
        eta = effects[corpora[0]] + random["passage"][unit[0]] + taste(0)
        if judged.width == 2:
            eta -= effects[corpora[1]] + taste(1)
            if judged.flipped[i]:  # the second passage stands on the left
                eta, answer = -eta, judged.categories - 1 - answer
        eta += random.get("prompt", np.zeros(99))[judged.prompt[i]] + random["rater"][rater]
        cumulative = [0.0, *(1 / (1 + np.exp(-(t - eta))) for t in thresholds), 1.0]
        total += np.log(cumulative[answer + 1] - cumulative[answer])
    return total


@pytest.mark.parametrize(
    ("kind", "settings_"),
    [("rating", {}), ("pair", {"ties": True}), ("pair", {"ties": False})],
    ids=["rating", "ties", "no ties"],
)
def test_the_likelihood_of_a_study_is_that_of_its_answers_one_by_one(kind, settings_, monkeypatch):
    fitted = []

    class Watched(Mixed):
        def fit(self):
            fitted.append(self)
            return super().fit()

    monkeypatch.setattr(models, "Mixed", Watched)
    made = study(80, kind=kind, items=18, checks=1, **settings_)
    judged = judgements_of(
        made, answered(made, Truth({"real": 1.0, "model-a": 0.0, "model-b": -1.0}, 0.5, 0.2, 0.4), 3)
    )
    estimate(judged)
    (model,) = fitted
    k = judged.categories - 1
    rng = np.random.default_rng(5)
    thresholds, inner = np.sort(rng.normal(size=k)) + np.arange(k), rng.normal(size=2)
    basis = _sum_to_zero(3)
    random = {r.name: rng.normal(size=r.design.shape[1]) for r in model.random}
    expected = {"rating": {"passage", "prompt", "rater", "taste"}, "pair": {"passage", "rater", "taste"}}
    assert set(random) == expected[kind]
    assert basis.T @ basis == pytest.approx(np.eye(2))
    assert basis.sum(axis=0) == pytest.approx(np.zeros(2))
    at = np.concatenate([thresholds, inner, *random.values()])
    value = model.likelihood.value((model._design @ at).reshape(-1, 2))
    assert value == pytest.approx(by_hand(judged, (thresholds, basis @ inner, random)))
    # it begins where all corpora are equal: with the shares of the answers
    shown = judged.answer[:, 0]
    if kind == "pair":
        shown = np.where(judged.flipped > 0, judged.categories - 1 - shown, shown)
    shares = np.array([(shown <= c).mean() for c in range(k)])
    assert model.start[:k] == pytest.approx(np.log(shares / (1 - shares)))
    assert model.start[k:].tolist() == [0, 0]
    assert model.shrunk.astype(bool).tolist() == [False] * k + [True] * 2


def test_effects_of_what_never_repeats_are_left_out():
    """Three passages, each judged once by one rater: no passage, rater or prompt could tell itself from the answer."""
    made = hand_study([("a", "p"), ("b", "q"), ("a", "r"), ("b", "s")], [(0,), (1,), (2,), (3,)], scale=("no", "yes"))
    once = estimate(judgements_of(made, [said(made, 0, u, u % 2) for u in range(3)]))
    assert once.sds == {}
    twice = estimate(judgements_of(made, [said(made, r, u, (u + r) % 2) for r in (0, 1) for u in range(4)]))
    assert set(twice.sds) == {"passage", "rater", "taste"}, "a prompt with one passage is that passage"
    shared = hand_study([("a", "p"), ("b", "p"), ("a", "q"), ("b", "q")], [(0,), (1,), (2,), (3,)], scale=("no", "yes"))
    single = estimate(judgements_of(shared, [said(shared, 0, u, u % 2) for u in (0, 1, 2)]))
    assert set(single.sds) == {"prompt"}
