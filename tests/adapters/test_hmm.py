"""Hidden Markov models as critics, against enumeration of all state sequences."""

import sys
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from momus import Corpus
from momus.conformance import check_critic
from momus.errors import StoreError, UsageError
from momus_adapters.chains.hmm import HMMCritic

sys.path.insert(0, str(Path(__file__).parent))
from observed import SYMBOLS, Enumerated, letters


def texts(rng, n):
    return Corpus.from_texts(["".join(rng.choice(list(SYMBOLS), rng.integers(2, 7))) for _ in range(n)])


def expected(model, row):
    """E log P(z) and marginals, by all sequences of states."""
    log_start, log_move = np.log(model.startprob_), np.log(model.transmat_)
    frames = model.log_emission(row[:, None])
    prior, joint, marginals = [], [], np.zeros(frames.shape)
    paths = list(product(range(len(log_start)), repeat=len(row)))
    for z in paths:
        prior.append(log_start[z[0]] + sum(log_move[a, b] for a, b in pairwise(z)))
        joint.append(prior[-1] + sum(frames[m, k] for m, k in enumerate(z)))
    weight = np.exp(np.array(joint) - np.max(joint))
    weight /= weight.sum()
    for z, w in zip(paths, weight, strict=True):
        marginals[np.arange(len(row)), list(z)] += w
    return float(weight @ np.array(prior)), marginals


@pytest.mark.parametrize("kind", ["categorical", "normal", "frames"])
def test_the_expectation_is_that_over_all_sequences(kind, tmp_path):
    model = Enumerated(kind)
    corpus = texts(np.random.default_rng(0), 12)
    critic = HMMCritic(model=model, observations=letters).fit(corpus)
    scores = critic.score(corpus)
    for i, document in enumerate(corpus):
        value, marginals = expected(model, np.array([SYMBOLS.index(c) for c in document.text], dtype=float))
        assert -scores.nll[i] == pytest.approx(value)
        z = critic.project(corpus.slice(i, i + 1))
        assert z.marginals == pytest.approx(marginals)
        assert z.pairs.sum() == pytest.approx(len(document.text) - 1)
        assert scores.steps[i] == len(document.text)
    if kind == "frames":
        assert "cannot be saved" in critic.notes()[0].text
        with pytest.raises(StoreError, match="emissions of Enumerated are not known"):
            critic.save(tmp_path)
        return
    critic.save(tmp_path)
    again = HMMCritic.load(tmp_path, trust=True)
    assert again.model == ""
    assert again.score(corpus).nll == pytest.approx(scores.nll)


def test_emissions_that_are_not_the_models_own_are_not_believed():
    model = Enumerated("categorical")
    model.log_likelihood = model.log_emission
    real = texts(np.random.default_rng(2), 8)
    assert HMMCritic(model=model, observations=letters).fit(real).emission_ == "categorical"
    model.emissionprob_ = np.full_like(model.emissionprob_, 1 / len(SYMBOLS))
    assert HMMCritic(model=model, observations=letters).fit(real).emission_ == ""


def test_impossible_transitions_cost_nothing_where_they_do_not_happen():
    model = Enumerated("categorical")
    model.transmat_ = np.array([[0.5, 0.5], [0.0, 1.0]])
    corpus = texts(np.random.default_rng(3), 8)
    scores = HMMCritic(model=model, observations=letters).fit(corpus).score(corpus)
    assert np.isfinite(scores.nll).all()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (object(), "no fitted hidden Markov model"),
        (type("Wrong", (), {"startprob_": [0.5, 0.5], "transmat_": [[1.0]]})(), "no distributions over states"),
        (type("Mute", (), {"startprob_": [1.0], "transmat_": [[1.0]]})(), "has no emissions"),
    ],
)
def test_errors_say_what_to_do(model, said):
    with pytest.raises(UsageError, match=said) as caught:
        _fit_and_score(model)
    assert caught.value.hint


def _fit_and_score(model):
    critic = HMMCritic(model=model, observations=letters).fit(Corpus.from_texts(["ab", "ba"]))
    return critic.score(Corpus.from_texts(["ab"]))


@pytest.mark.slow
def test_conformance():
    """The model is an object, no plain parameter; all else holds."""
    critic = HMMCritic(model=Enumerated("normal"), observations="observed:word_lengths")
    reason = "the model is an object, and a saved critic holds its arrays instead"
    expected_failed_checks = {"parameters_are_plain": reason, "saved_critics_score_alike": reason}
    report = check_critic(critic, expected_failed_checks=expected_failed_checks)
    assert report.ok, str(report)
