"""Small hidden Markov models of the shape that hmmlearn's have, and what they observe."""

import numpy as np
from scipy import stats
from scipy.special import logsumexp

SYMBOLS = "abcd"


def letters(corpus):
    rows = [[SYMBOLS.index(c)] for d in corpus for c in d.text if c in SYMBOLS]
    return np.array(rows, dtype=float).reshape(-1, 1), [sum(c in SYMBOLS for c in d.text) for d in corpus]


def word_lengths(corpus):
    """Mean length of words, sentence by sentence."""
    documents = [[np.mean([len(w) for w in s.split()]) for s in d.text.split(".") if s.split()][:15] for d in corpus]
    return np.array([v for row in documents for v in row]).reshape(-1, 1), [len(row) for row in documents]


class Enumerated:
    """Two states; marginals by filtering forwards and backwards in plain probabilities."""

    startprob_ = np.array([0.8, 0.2])
    transmat_ = np.array([[0.7, 0.3], [0.1, 0.9]])

    def __init__(self, kind):
        self.kind = kind
        self._table = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]])
        self._means, self._variances = np.array([[0.5], [2.5]]), np.array([[1.0], [0.5]])
        if kind == "categorical":
            self.emissionprob_ = self._table.copy()
        if kind == "normal":
            self.means_, self.covars_ = self._means, self._variances
        if kind == "frames":
            self.log_likelihood = self.log_emission

    def log_emission(self, x):
        if self.kind == "normal":
            return stats.norm.logpdf(x, self._means.T, np.sqrt(self._variances.T))
        return np.log(self._table[:, x[:, 0].astype(int)]).T

    def predict_proba(self, x, lengths):
        frames, out, start = self.log_emission(x), [], 0
        for length in lengths:
            own = frames[start : start + length]
            ahead = [np.log(self.startprob_) + own[0]]
            with np.errstate(divide="ignore"):
                move = np.log(self.transmat_)
            for row in own[1:]:
                ahead.append(row + logsumexp(ahead[-1][:, None] + move, axis=0))
            back = [np.zeros(2)]
            for row in own[:0:-1]:
                back.append(logsumexp(move + row + back[-1], axis=1))
            both = np.array(ahead) + np.array(back[::-1])
            out.append(np.exp(both - logsumexp(both, axis=1, keepdims=True)))
            start += length
        return np.concatenate(out)


class Toy:
    """Two states with the same mean, and covariances of any shape."""

    startprob_ = np.array([0.5, 0.5])
    transmat_ = np.array([[0.9, 0.1], [0.1, 0.9]])
    means_ = np.zeros((2, 2))

    def __init__(self, covariances):
        self.covars_ = covariances

    def score_samples(self, x, lengths):
        model = Enumerated("frames")
        model.startprob_, model.transmat_ = self.startprob_, self.transmat_
        variances = [np.ravel(c)[0] for c in self.covars_]
        model.log_emission = lambda x: np.stack(
            [stats.multivariate_normal([0, 0], v * np.eye(2)).logpdf(x) for v in variances], axis=1
        )
        return 0.0, model.predict_proba(x, lengths)
