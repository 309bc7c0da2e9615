"""The chain that critics of sections and of passages share, against counting by hand."""

from itertools import pairwise

import numpy as np
import pytest

from momus.critic import Pooled
from momus.critic.powers import headline_of
from momus.text.corpus import Corpus
from momus_critics.chains import posterior as chain
from momus_critics.chains.base import FOLDS, ChainCritic
from momus_critics.chains.posterior import UNLIKELY, factorised

DOCUMENTS = [[0, 1, 2], [0, 2], [0, 1, 1, 2], [1, 2], [0, 1, 2], [0, 2, 2], [0, 1]]
LABELS = np.concatenate(DOCUMENTS)
OFFSETS = np.concatenate([[0], np.cumsum([len(d) for d in DOCUMENTS])])


class Chain(ChainCritic):
    name = axis = "chain"

    def fit(self, real):
        self.titles_ = ["a", "b", "c"]
        self._learn_chain(LABELS, OFFSETS, seed=3)
        return self

    def project(self, batch):
        return factorised(LABELS, OFFSETS, None, self.shares_, self.transitions_)


@pytest.fixture(scope="module")
def critic():
    fitted = Chain()
    return fitted.fit(["a text"] * 7)


def by_hand(documents):
    counts = np.zeros((4, 4))
    for document in documents:
        path = [3, *document, 3]
        for a, b in pairwise(path):
            counts[a, b] += 1
    return counts


def test_counts_shares_and_positions(critic):
    assert critic.counts_.tolist() == by_hand(DOCUMENTS).tolist()
    visits = np.bincount(LABELS) + 0.5
    assert critic.shares_ == pytest.approx(visits / visits.sum())
    relative = [[(m + 0.5) / len(d) for d in DOCUMENTS for m, s in enumerate(d) if s == k] for k in range(3)]
    assert critic.positions_ == pytest.approx([np.mean(r) for r in relative])


def test_the_constant_is_cross_validated_over_documents(critic):
    fold = np.random.default_rng(3).permutation(len(DOCUMENTS)) % FOLDS
    total = np.zeros(len(chain.CONSTANTS))
    for f in range(FOLDS):
        test = by_hand([d for d, g in zip(DOCUMENTS, fold, strict=True) if g == f])
        train = by_hand([d for d, g in zip(DOCUMENTS, fold, strict=True) if g != f])
        for i, c in enumerate(chain.CONSTANTS):
            p = chain.smooth(train, c)
            total[i] += (test[test > 0] * np.log(p[test > 0])).sum()
    assert critic.constant_ == chain.CONSTANTS[total.argmax()]
    assert critic.transitions_ == pytest.approx(chain.smooth(critic.counts_, critic.constant_))
    assert critic.transitions_.sum(axis=1) == pytest.approx(np.ones(4))
    assert critic.transitions_[3, 3] == 0
    assert (chain.CONSTANTS[0], chain.CONSTANTS[-1]) == pytest.approx((1e-3, 10.0))


def test_log_prior_counts_the_end_as_a_step(critic):
    prior = critic.log_prior(critic.project(Corpus.from_texts(["a text"] * 7)))
    for i, document in enumerate(DOCUMENTS):
        path = [3, *document, 3]
        expected = sum(np.log(critic.transitions_[a, b]) for a, b in pairwise(path))
        assert prior.values[i] == pytest.approx(expected)
    assert prior.steps.tolist() == [len(d) + 1 for d in DOCUMENTS]
    assert (critic.sequence, headline_of(critic)) == (True, "latent_ppl")


def test_statistics_are_shares_of_transitions(critic):
    p = critic.transitions_
    rows = critic.sufficient_statistics(critic.project(Corpus.from_texts(["a text"] * 7)))
    for i, document in enumerate(DOCUMENTS):
        path = [3, *document, 3]
        steps = list(pairwise(path))
        assert rows["unlikely"][i].tolist() == [sum(p[a, b] < UNLIKELY for a, b in steps), len(steps)]
        assert rows["repeats"][i].tolist() == [sum(a == b for a, b in steps), len(steps)]
        chained = sum(np.log(p[a, b]) for a, b in steps)
        independent = sum(np.log(critic.shares_[s]) for s in document)
        assert rows["disorder"][i] == pytest.approx([independent - chained, len(steps)])
    assert [s.name for s in critic.statistics()] == ["unlikely_share", "repetition_share", "disorder"]


def test_summaries_are_expected_transition_counts(critic):
    summary = critic.summarize(critic.project(Corpus.from_texts(["a text"] * 7)))
    assert isinstance(summary, Pooled)
    assert summary.documents == len(DOCUMENTS)
    assert summary.arrays["transitions"] == pytest.approx(critic.counts_)
