"""Lengths of the sentences of documents, and the autoregressive process that they follow.

The number of words of sentence t, less one, is negative binomial with mean m_t and shape r:

    log m_t = b₀ + b₁ (log x_{t−1} − c) + b₂ (mean of log x_1 … log x_{t−1} − c) + b₃ [first of its paragraph]

c is the mean of log x in real text; both memories are 0 at the first sentence of a document. All parameters by maximum
likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.ragged import Ragged, float_sums, offsets_of, owners_of
from momus.numeric.rounding import without_rounding
from momus.numeric.types import Bools, Floats, Ints
from momus_critics.prose.reading import Prose


@dataclass(frozen=True)
class SentenceLengths(Ragged):
    """Sentences of n documents.

    Attributes
    ----------
    words
        int64 (S,): number of words of each sentence, at least 1.
    begins
        bool (S,): whether it is the first of its paragraph.
    offsets
        int64 (n + 1,): first sentence of each document.
    """

    words: Ints
    begins: Bools
    offsets: Ints


def sentence_lengths(prose: Prose) -> SentenceLengths:
    """Count words by sentence; sentences without a word are left out.

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> from momus_critics.prose.reading import read_prose
    >>> corpus = Corpus.from_texts(["One, two. Three!", "Four"])
    >>> z = sentence_lengths(read_prose(corpus.tokens(paragraph_tokenizer("words"))))
    >>> z.words.tolist(), z.offsets.tolist()
    ([2, 1, 1], [0, 2, 3])
    """
    owners = owners_of(prose.offsets)  # (tokens,)
    count = int(prose.sentences[-1]) + 1 if len(prose.ids) else 0
    words = np.bincount(prose.sentences, prose.alphabetic, count).astype(np.int64)
    first = np.searchsorted(prose.sentences, np.arange(count))  # first token of each sentence
    keep = words > 0
    kept = first[keep]
    paragraphs = prose.paragraphs[kept]
    begins = np.ones(len(kept), dtype=bool)
    begins[1:] = paragraphs[1:] != paragraphs[:-1]
    offsets = offsets_of(np.bincount(owners[kept], minlength=len(prose)))
    return SentenceLengths(words[keep], begins, offsets)


def moments(z: SentenceLengths) -> tuple[Floats, Floats]:
    """Spread of log lengths within documents and the correlation of neighbours, as sums per document.

    With x the logarithms of the n lengths of a document and x̄ their mean, the sum of squares Σ (x − x̄)² has n − 1
    degrees of freedom. The sum of products of neighbours, Σ (x_t − x̄)(x_{t+1} − x̄), of independent lengths has the
    expectation −σ² (n − 1) / n, which is added back, so that documents of any length estimate a correlation of 0.

    Returns
    -------
    squares
        (n, 2): sum of squares and degrees of freedom.
    neighbours
        (n, 2): sum of products, and its value at a correlation of 1.
    """
    owners, n = z.documents, z.lengths.astype(np.float64)
    x = np.log(z.words.astype(np.float64))
    means = float_sums(x, z.offsets) / np.maximum(n, 1)
    # lengths that are all equal would leave rounding, and correlations of it
    centred = without_rounding(x - means[owners])
    squares = np.bincount(owners, centred**2, len(z))
    variance = squares / np.maximum(n - 1, 1)
    same = owners[1:] == owners[:-1]
    raw = np.bincount(owners[1:][same], (centred[1:] * centred[:-1])[same], len(z))
    pairs = np.maximum(n - 1, 0)
    neighbours = np.column_stack([raw + variance * pairs / np.maximum(n, 1), variance * pairs])
    return np.column_stack([squares, pairs]), neighbours


COEFFICIENTS = 4
RIDGE = 1e-5
"""Penalty on squared coefficients but the first, per sentence: keeps those finite that the text does not determine."""


def penalised_loss(parameters: Floats, x: Floats, y: Floats) -> tuple[float, Floats]:
    """Mean of −log P of counts y (S,) given columns x (S, C), in nats, with the penalty; and its gradient (C + 1,).

    The parameters are the C coefficients and the logarithm of the shape.
    """
    from scipy.special import digamma, gammaln

    b, r = parameters[:-1], np.exp(parameters[-1])
    # the search may try wild coefficients: exp must stay finite there
    m = np.exp(np.clip(x @ b, -20, 20))
    value = gammaln(y + r) - gammaln(r) - gammaln(y + 1) + r * np.log(r / (r + m)) + y * np.log(m / (r + m))
    to_b = x.T @ ((y - m) * r / (r + m)) / len(y)
    to_r = r * (digamma(y + r) - digamma(r) + np.log(r / (r + m)) + 1 - (r + y) / (r + m))
    # the first coefficient is the mean, which is not shrunk
    shrunk = np.concatenate([[0.0], b[1:]])
    gradient = np.append(-to_b + 2 * RIDGE * shrunk, -to_r.mean())
    return float(-value.mean() + RIDGE * (shrunk**2).sum()), gradient


class LengthProcess(Estimator):
    """The autoregressive negative binomial process; see the module."""

    def fit(self, z: SentenceLengths) -> Self:
        """Maximise the likelihood by L-BFGS with its gradient."""
        from scipy.optimize import minimize

        self.centre_ = float(np.log(z.words).mean())
        # counts from 0: a sentence has one word at least
        x, y = self._memory(z), z.words - 1.0
        start = np.zeros(COEFFICIENTS + 1)
        start[0] = np.log(max(y.mean(), 0.1))
        # a text whose sentences are all of one length has no finite shape
        bounds = [(-20, 20)] * COEFFICIENTS + [(-7, 7)]
        optimum = minimize(penalised_loss, start, (x, y), jac=True, method="L-BFGS-B", bounds=bounds)
        self.coefficients_ = np.asarray(optimum.x[:-1], dtype=np.float64)
        self.shape_ = float(np.exp(optimum.x[-1]))
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.number("centre_", -1e3, 1e3)
        state.array("coefficients_", (COEFFICIENTS,), low=-50.0, high=50.0)
        state.number("shape_", 1e-6, 1e6)

    def _memory(self, z: SentenceLengths) -> Floats:
        """Columns of the regression, float64 (S, 4)."""
        x = np.log(z.words.astype(np.float64)) - self.centre_
        owners = z.documents
        first = z.offsets[:-1][owners]  # first sentence of each one's document
        place = np.arange(len(x)) - first
        # the first sentence of a document gets another's last one; `later` sets it to 0, the mean of real text
        before = np.concatenate([[0.0], x[:-1]]) if len(x) else x
        total = np.concatenate([[0.0], np.cumsum(x)])
        mean = (total[:-1] - total[first]) / np.maximum(place, 1)  # over all sentences before, in the document
        later = place > 0
        return np.column_stack([np.ones(len(x)), np.where(later, before, 0), np.where(later, mean, 0), z.begins])

    def means(self, z: SentenceLengths) -> Floats:
        """Expected number of words of each sentence given those before it: float64 (S,)."""
        return np.asarray(1 + np.exp(np.clip(self._memory(z) @ self.coefficients_, -20, 20)))

    def log_probabilities(self, z: SentenceLengths) -> Floats:
        """log P of each sentence's number of words given those before it, in nats: float64 (S,)."""
        from scipy.stats import nbinom

        m = self.means(z) - 1
        return np.asarray(nbinom.logpmf(z.words - 1, self.shape_, self.shape_ / (self.shape_ + m)))
