"""Posteriors P_c(z_m | x_m): the type of a section, from its text.

The protocol is `momus.critic.tools.SectionPosterior`; adapters provide other posteriors, such as fine-tuned encoders.
"""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from momus.critic.fitted import Fitted
from momus.critic.tools import CalibratedPosterior
from momus.estimator import ComponentsMixin, parametrized
from momus.numeric.ragged import offsets_of, ranges_of
from momus.numeric.temperature import softmax
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.tokens import get_tokenizer
from momus_critics.sections.features import SectionFeatures, contrasted

Weights = tuple[Floats, Floats]
"""Weights (V, K) and biases (K,) of a regression."""
ITERATIONS = 60
"""Most steps of L-BFGS."""
ABSENT = -50.0
"""Bias of types without a section."""


@parametrized
class LinearPosterior(CalibratedPosterior, ComponentsMixin):
    """Multinomial logistic regression on what sets a section apart in its document, calibrated by a temperature.

    Logits are P X W + b: X are the features of all sections of a document (`SectionFeatures`), and P takes from each
    section what the others have in common with it (`contrasted`).

    Parameters
    ----------
    tokens, lower
        The tokenizer, see `momus.critic.base.TokenCritic`.
    vocabulary_size
        Size of each vocabulary, which holds the most frequent words.
    penalty
        Inverse strength C of the L2 penalty.
    titles
        Whether the words of titles are read too.
    seed
        Seeds the choice of the held-out documents on which the temperature is fitted.
    """

    tokens: str = "words"
    lower: bool = True
    vocabulary_size: Annotated[int, Range(1, 10**7)] = 20_000
    penalty: Annotated[float, Range(0, 10**9, above=True)] = 10.0
    titles: bool = False
    seed: int = 0

    def new_features(self) -> SectionFeatures:
        """The unfitted features."""
        return SectionFeatures(vocabulary_size=self.vocabulary_size, titles=self.titles)

    def fit(self, corpus: Corpus, labels: Ints, states: int) -> Self:
        """Learn vocabulary, weights, and the temperature that calibrates held-out probabilities."""
        tokenizer = get_tokenizer(self.tokens, self.lower)
        self.features_ = self.new_features().fit(corpus, tokenizer)
        x = self.features_.matrix(corpus, tokenizer)
        offsets = offsets_of(corpus.section_counts)
        start = self._fit_temperature(x, offsets, labels, states)
        self.weights_, self.bias_ = regress(x, offsets, labels, states, self.penalty, start)
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        super().check_state()
        state = Fitted(self)
        features = state.component("features_", SectionFeatures)
        classes = len(state.array("bias_", (None,)))
        state.array("weights_", (features.size, classes))

    def _fit_temperature(self, x: sparse.csr_array, offsets: Ints, y: Ints, states: int) -> Weights | None:
        """Fit the temperature on a held-out fifth of the documents; measure accuracy and calibration there.

        Returns
        -------
        The weights that were fitted on the other documents, if there are enough.
        """
        order = np.random.default_rng(self.seed).permutation(len(offsets) - 1)
        parts = []
        for documents in (np.sort(order[: len(order) // 5]), np.sort(order[len(order) // 5 :])):
            lengths = np.diff(offsets)[documents]
            parts.append((ranges_of(offsets[documents], lengths), offsets_of(lengths)))
        (held, held_offsets), (rest, rest_offsets) = parts
        known = np.isin(y[held], y[rest][y[rest] >= 0])  # held-out sections whose type occurs in training
        if known.sum() < 10:
            self.temperature_ = 1.0
            return None
        weights, bias = regress(x[rest], rest_offsets, y[rest], states, self.penalty)
        logits = (contrasted(np.asarray(x[held] @ weights), held_offsets) + bias)[known]
        self.calibrate(logits, y[held][known])
        return weights, bias

    def predict(self, batch: Corpus) -> Floats:
        """Return calibrated probabilities, float array (N, K)."""
        x = self.features_.matrix(batch, get_tokenizer(self.tokens, self.lower))
        scores = contrasted(np.asarray(x @ self.weights_), offsets_of(batch.section_counts))
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
    truth = np.searchsorted(present, y[labelled])
    shape = x.shape[1] + 1, len(present)  # the last row of the parameters holds the biases
    transposed = sparse.csr_array(x.T)

    def loss(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(shape)
        log_p = log_softmax(contrasted(np.asarray(x @ w[:-1]), offsets) + w[-1], axis=1)[labelled]
        residual = np.zeros((x.shape[0], shape[1]))
        residual[labelled] = np.exp(log_p)
        residual[labelled, truth] -= 1.0
        # P is symmetric: the gradient with respect to X W is P times the residual
        slope = np.asarray(transposed @ contrasted(residual, offsets)) + w[:-1] / penalty
        value = -log_p[np.arange(len(truth)), truth].sum() + (w[:-1] ** 2).sum() / (2 * penalty)
        return float(value), np.concatenate([slope, residual.sum(axis=0)[None]]).ravel()

    first = np.zeros(shape)
    first[-1] = np.log(np.bincount(truth, minlength=shape[1]))
    if start is not None:
        known = start[1][present] > ABSENT
        first[:-1, known] = start[0][:, present[known]]
        first[-1, known] = start[1][present[known]]
    options = {"maxiter": ITERATIONS, "gtol": 1e-3, "ftol": 1e-6, "maxcor": 4}
    best = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(shape)
    weights[:, present], bias[present] = best[:-1], best[-1]
    return weights, bias
