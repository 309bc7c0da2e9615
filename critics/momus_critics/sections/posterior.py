"""Posteriors P_c(z_m | x_m): the type of a section, from the words of its body, how it opens, and those of its title.

The protocol is `momus.critic.tools.SectionPosterior`; adapters provide other posteriors, such as fine-tuned encoders.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from momus.critic.tools import CalibratedPosterior
from momus.estimator import Estimator, parametrized
from momus.numeric.ragged import group_sums, items_of, kept_offsets, offsets_of, places_of
from momus.numeric.temperature import softmax
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer, TokenTable, get_tokenizer

OPENING = 25
"""Tokens at the begin of a section whose words and pairs of neighbours are features of their own."""

TERMS = 20_000
"""Size of each vocabulary, which holds the most frequent terms."""
FEWEST_ROWS = 2
"""Sections that a term must occur in: what occurs in one says nothing of others."""


class TermWeights(Estimator):
    """Sublinear TF-IDF of terms, each row of Euclidean norm 1."""

    def fit(self, terms: Ints, offsets: Ints, names: list[str]) -> Self:
        """Learn vocabulary and weights.

        Parameters
        ----------
        terms, offsets
            Row m has the terms ``terms[offsets[m]:offsets[m + 1]]``, indices into ``names``.
        """
        counts = np.bincount(terms, minlength=len(names))  # occurrences of each term
        # rows that have each term, from distinct pairs of a row and a term
        size = max(len(names), 1)
        pairs = np.unique(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * size + terms)
        rows = np.bincount(pairs % size, minlength=size)[: len(names)]
        # stable: ties at the end of the vocabulary depend on the order of names alone
        order = np.argsort(-counts, kind="stable")
        fewest = min(FEWEST_ROWS, int(rows.max(initial=1)))
        used = order[rows[order] >= fewest][:TERMS]
        self.vocabulary_ = [names[i] for i in used]
        self.idf_ = np.log((1.0 + len(offsets) - 1) / (1.0 + rows[used])) + 1.0  # (V,)
        return self

    def matrix(self, terms: Ints, offsets: Ints, names: list[str]) -> sparse.csr_array:
        """Weights of the known terms of each row, CSR array (N, V)."""
        index = {name: i for i, name in enumerate(self.vocabulary_)}
        codes = np.array([index.get(name, -1) for name in names], dtype=np.int64)[terms]
        known = codes >= 0
        bounds = kept_offsets(known, offsets)
        shape = (len(offsets) - 1, len(self.vocabulary_))
        counts = sparse.csr_array((np.ones(int(bounds[-1])), codes[known], bounds), shape=shape)
        # one entry per occurrence becomes one per term, with its count; indices are sorted by it too
        counts.sum_duplicates()
        data = (1.0 + np.log(counts.data)) * self.idf_[counts.indices]
        squares = np.asarray(group_sums(data**2, counts.indptr.astype(np.int64)))  # (N,)
        # one factor per row, repeated over the row's stored entries
        scale = np.repeat(1.0 / np.sqrt(np.maximum(squares, 1e-300)), np.diff(counts.indptr))
        return sparse.csr_array((data * scale, counts.indices, counts.indptr), shape=shape)


@parametrized
class SectionFeatures(Estimator):
    """TF-IDF of the words of a section, of the words and pairs of words that open it, and of its title.

    Parameters
    ----------
    titles
        Whether titles are read.
    """

    titles: bool = False

    _new_body = _new_opening = _new_title = TermWeights

    def fit(self, corpus: Corpus, tokenizer: Tokenizer) -> Self:
        """Learn the vocabularies and their weights."""
        table = corpus.tokens(tokenizer)
        self.body_ = TermWeights().fit(*_body(table))
        self.opening_ = TermWeights().fit(*_opening(table))
        if self.titles:
            self.title_ = TermWeights().fit(*_titles(corpus, tokenizer))
        return self

    @property
    def size(self) -> int:
        """Number of features V."""
        parts = (self.body_, self.opening_, *((self.title_,) if self.titles else ()))
        return sum(len(p.vocabulary_) for p in parts)

    def matrix(self, corpus: Corpus, tokenizer: Tokenizer) -> sparse.csr_array:
        """One row per section, CSR array (N, V)."""
        table = corpus.tokens(tokenizer)
        blocks = [self.body_.matrix(*_body(table)), self.opening_.matrix(*_opening(table))]
        if self.titles:
            blocks.append(self.title_.matrix(*_titles(corpus, tokenizer)))
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def _body(table: TokenTable) -> tuple[Ints, Ints, list[str]]:
    """All tokens of each section."""
    return np.asarray(table.ids, dtype=np.int64), table.section_offsets, table.vocabulary


def _opening(table: TokenTable) -> tuple[Ints, Ints, list[str]]:
    """The first tokens of each section, and pairs of neighbours among them."""
    offsets, size = table.section_offsets, max(len(table.vocabulary), 1)
    places = places_of(offsets)
    first = places < OPENING  # (tokens,)
    ids = np.asarray(table.ids, dtype=np.int64)
    # a pair is coded (first + 1) · size + second, a single token by its id; pairs end before the section does
    paired = first.copy()
    # a token whose successor begins another section has no pair
    paired[: len(paired) - 1] &= places[1:] == places[:-1] + 1
    paired[: len(paired) - 1] &= first[1:]
    if len(paired):
        paired[-1] = False
    following = np.append(ids[1:], 0)
    codes = np.concatenate([ids[first], (ids[paired] + 1) * size + following[paired]])
    rows = np.concatenate([table.sections[first], table.sections[paired]])
    # tokens and pairs were concatenated; offsets need them section by section
    order = np.argsort(rows, kind="stable")
    distinct, terms = np.unique(codes[order], return_inverse=True)
    words = table.vocabulary
    names = [words[c] if c < size else f"{words[c // size - 1]} {words[c % size]}" for c in distinct.tolist()]
    return terms.astype(np.int64), offsets_of(np.bincount(rows, minlength=len(offsets) - 1)), names


def _titles(corpus: Corpus, tokenizer: Tokenizer) -> tuple[Ints, Ints, list[str]]:
    """The words of each title."""
    words = [tokenizer.split((t or "").lower()) for t in corpus.section_titles]
    index: dict[str, int] = {}
    terms = np.array([index.setdefault(w, len(index)) for row in words for w in row], dtype=np.int64)
    return terms, offsets_of([len(row) for row in words]), list(index)


def contrasted(values: Floats, offsets: Ints) -> Floats:
    """Take from the rows of each section the mean of the document's other sections, times (M − 1) / M.

    What all sections of a document have in common is its subject, and says nothing of their types. The operation is
    symmetric and linear, P = (1 + 1/M) I − J/M: it may be applied to scores instead of features, and to gradients.

    >>> contrasted(np.array([[4.0], [0.0], [3.0]]), np.array([0, 2, 3])).ravel().tolist()
    [4.0, -2.0, 3.0]
    """
    lengths = np.diff(offsets)
    share = (1.0 / np.repeat(lengths, lengths))[:, None]  # 1/M of each section's document, (N, 1)
    totals = np.repeat(np.asarray(group_sums(values, offsets)), lengths, axis=0)
    return np.asarray(values * (1.0 + share) - totals * share)


Weights = tuple[Floats, Floats]
"""Weights (V, K) and biases (K,) of a regression."""
PENALTY = 10.0
"""Inverse strength C of the L2 penalty."""
ITERATIONS = 60
"""Most steps of L-BFGS."""
ABSENT = -50.0
"""Bias of types without a section."""


@parametrized
class LinearPosterior(CalibratedPosterior):
    """Multinomial logistic regression on what sets a section apart in its document, calibrated by a temperature.

    Logits are P X W + b: X are the features of all sections of a document (`SectionFeatures`), and P takes from each
    section what the others have in common with it (`contrasted`).

    Parameters
    ----------
    tokens, lower
        The tokenizer, see `momus.critic.base.TokenCritic`.
    titles
        Whether the words of titles are read too.
    seed
        Seeds the choice of the held-out documents on which the temperature is fitted.
    """

    tokens: str = "words"
    lower: bool = True
    titles: bool = False
    seed: int = 0

    def _new_features(self) -> SectionFeatures:
        """The unfitted features."""
        return SectionFeatures(titles=self.titles)

    def fit(self, corpus: Corpus, labels: Ints, states: int) -> Self:
        """Learn vocabulary, weights, and the temperature that calibrates held-out probabilities."""
        tokenizer = get_tokenizer(self.tokens, self.lower, "says")
        self.features_ = self._new_features().fit(corpus, tokenizer)
        x = self.features_.matrix(corpus, tokenizer)
        offsets = offsets_of(corpus.section_counts)
        start = self._fit_temperature(x, offsets, labels, states)
        self.weights_, self.bias_ = regress(x, offsets, labels, states, PENALTY, start)
        return self

    def _fit_temperature(self, x: sparse.csr_array, offsets: Ints, y: Ints, states: int) -> Weights | None:
        """Fit the temperature on a held-out fifth of the documents; measure accuracy and calibration there.

        Returns
        -------
        The weights that were fitted on the other documents, if there are enough.
        """
        order = np.random.default_rng(self.seed).permutation(len(offsets) - 1)
        fifth = len(order) // 5
        held, held_offsets = items_of(np.sort(order[:fifth]), offsets)
        rest, rest_offsets = items_of(np.sort(order[fifth:]), offsets)
        known = np.isin(y[held], y[rest][y[rest] >= 0])  # held-out sections whose type occurs in training
        if known.sum() < 10:
            self.temperature_ = 1.0
            return None
        weights, bias = regress(x[rest], rest_offsets, y[rest], states, PENALTY)
        # contrasted before the selection: a document's mean is over all of its sections
        logits = (contrasted(np.asarray(x[held] @ weights), held_offsets) + bias)[known]
        self.calibrate(logits, y[held][known])
        return weights, bias

    def predict(self, batch: Corpus) -> Floats:
        """Return calibrated probabilities, float array (N, K)."""
        x = self.features_.matrix(batch, get_tokenizer(self.tokens, self.lower, "says"))
        scores = contrasted(np.asarray(x @ self.weights_), offsets_of(batch.section_counts))  # (N, K)
        return softmax(scores + self.bias_, self.temperature_)


def regress(
    x: sparse.csr_array, offsets: Ints, y: Ints, states: int, penalty: float, start: Weights | None = None
) -> Weights:
    """Multinomial logistic regression of labels on contrasted features, by L-BFGS.

    Minimises −Σ log softmax(P X W + b)[y] + ‖W‖² / (2 C) over the sections with a label ≥ 0.

    Parameters
    ----------
    x
        (N, V).
    offsets
        Where the sections of each document begin, (n + 1,).
    start
        Weights and biases to begin at, as they are returned.

    Returns
    -------
    Weights (V, K) and biases (K,); types without a section have weights 0 and bias `ABSENT`.
    """
    weights, bias = np.zeros((x.shape[1], states)), np.full(states, ABSENT)
    present, labelled = np.unique(y[y >= 0]), np.flatnonzero(y >= 0)
    truth = np.searchsorted(present, y[labelled])  # column of the true type
    shape = x.shape[1] + 1, len(present)  # the last row of the parameters holds the biases
    transposed = sparse.csr_array(x.T)

    def loss(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(shape)
        # P X W as P (X W): X stays sparse, and K is small
        log_p = log_softmax(contrasted(np.asarray(x @ w[:-1]), offsets) + w[-1], axis=1)[labelled]
        # unlabelled sections have none, and yet enter the means of their documents
        residual = np.zeros((x.shape[0], shape[1]))
        residual[labelled] = np.exp(log_p)
        residual[labelled, truth] -= 1.0
        # P is symmetric: the gradient with respect to X W is P times the residual
        slope = np.asarray(transposed @ contrasted(residual, offsets)) + w[:-1] / penalty
        value = -log_p[np.arange(len(truth)), truth].sum() + (w[:-1] ** 2).sum() / (2 * penalty)
        return float(value), np.concatenate([slope, residual.sum(axis=0)[None]]).ravel()

    first = np.zeros(shape)
    # from the frequencies of types: the optimum without features, nearer than 0
    first[-1] = np.log(np.bincount(truth, minlength=shape[1]))
    if start is not None:
        known = start[1][present] > ABSENT
        first[:-1, known] = start[0][:, present[known]]
        first[-1, known] = start[1][present[known]]
    options = {"maxiter": ITERATIONS, "gtol": 1e-3, "ftol": 1e-6, "maxcor": 4}
    from scipy.optimize import minimize  # slow to import, and not needed where a critic was saved

    best = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(shape)
    weights[:, present], bias[present] = best[:-1], best[-1]
    return weights, bias
