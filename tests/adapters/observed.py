"""Small hidden Markov models of the shape that hmmlearn's have, and what they observe."""

import numpy as np
from scipy import stats

SYMBOLS = "abcd"


def letters(corpus):
    rows = [[SYMBOLS.index(c)] for d in corpus for c in d.text if c in SYMBOLS]
    return np.array(rows, dtype=float).reshape(-1, 1), [sum(c in SYMBOLS for c in d.text) for d in corpus]


def word_lengths(corpus):
    """Mean length of words, sentence by sentence."""
    documents = [[np.mean([len(w) for w in s.split()]) for s in d.text.split(".") if s.split()][:15] for d in corpus]
    return np.array([v for row in documents for v in row]).reshape(-1, 1), [len(row) for row in documents]


class Enumerated:
    """Two states, with emissions of one kind."""

    startprob_ = np.array([0.8, 0.2])
    transmat_ = np.array([[0.7, 0.3], [0.1, 0.9]])

    def __init__(self, kind):
        self.kind = kind
        self._table = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]])
        self._means, self._variances = np.array([[0.5], [2.5]]), np.array([[1.0], [0.5]])
        if kind == "categorical":
            self.emissionprob_ = self._table.copy()
        if kind == "normal":
            self.means_, self.covars_ = self._means, self._variances[:, :, None]
        if kind == "frames":
            self.log_likelihood = self.log_emission

    def log_emission(self, x):
        if self.kind == "normal":
            return stats.norm.logpdf(x, self._means.T, np.sqrt(self._variances.T))
        return np.log(self._table[:, x[:, 0].astype(int)]).T
