"""A fitted hidden Markov model as a critic: z is its state sequence, P_c its start and transition probabilities.

The model is any object with ``startprob_``, ``transmat_`` and ``predict_proba(X, lengths)`` or ``score_samples(X,
lengths)``, like those of hmmlearn; neither hmmlearn nor pickle is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.stats import multivariate_normal

from momus.critic import Note
from momus.critic.fitted import Fitted
from momus.critic.hooks import NotesMixin, check_fitted
from momus.errors import StoreError, UsageError
from momus.estimator import fitted_state
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_adapters.chains.classes import ClassChain
from momus_adapters.chains.posterior import PairedStates
from momus_adapters.saved.objects import name_of, resolve

Steps = tuple[Floats, Ints]
AGREE = 1e-6


class HMMCritic(ClassChain, NotesMixin):
    """−log P_c(z) = −log π_{z_1} − Σ log A_{z_{m−1} z_m}, in expectation under the model's own posterior.

    * If the model exposes its emissions (``means_`` and ``covars_``: normal; ``emissionprob_``: categorical), the
      posterior of pairs comes from forward–backward over these arrays, provided that its marginals agree with the
      model's on real text. A saved critic then needs only the arrays.
    * If it exposes log-likelihoods of observations (``log_likelihood(X)``, or hmmlearn's
      ``_compute_log_likelihood``), pairs are exact too, but the critic cannot be saved.
    * Otherwise steps are treated as independent given the text, with the model's marginals. The notes name the case.

    Parameters
    ----------
    model
        The fitted model; empty in a saved critic, which stores arrays.
    observations
        A callable, or its name: from a `Corpus` to ``(X, lengths)``, the concatenated observations of all documents,
        (N, d), and the number of observations per document, (n,). Documents without observations are not scored.
    """

    name = "hmm"
    axis = "hidden Markov states"
    question = "Do hidden states, as a given hidden Markov model infers them, follow one another as in real text?"
    reporting = replace(
        ClassChain.reporting,
        limits="It cannot see what its observations leave out, nor more than one step of context.",
    )
    sequence = True
    smoothing = 1.0

    def __init__(self, *, model: Any, observations: str | Callable[..., Any]) -> None:
        self.model = model
        self.observations = observations

    def fit(self, real: Corpus) -> Self:
        """Take over the model's arrays, and determine how to compute its posterior.

        Raises
        ------
        UsageError
            The model has no start or transition probabilities, or no posterior.
        """
        try:
            start, move = (np.asarray(getattr(self.model, k), dtype=np.float64) for k in ("startprob_", "transmat_"))
        except AttributeError as error:
            raise UsageError(
                f"{type(self.model).__name__} is no fitted hidden Markov model ({error})",
                hint="give an object with startprob_, transmat_ and predict_proba(X, lengths)",
            ) from error
        k = len(start)
        if move.shape != (k, k) or not np.allclose(start.sum(), 1) or not np.allclose(move.sum(axis=1), 1):
            raise UsageError(
                f"startprob_ {start.shape} and transmat_ {move.shape} are no distributions over states",
                hint="startprob_ (K,) and the rows of transmat_ (K, K) must sum to 1",
            )
        self.start_, self.move_ = start, move
        self.classes_ = [f"state {i + 1}" for i in range(k)]
        self.emission_ = ""
        self._adopt_emissions(*self._observed(real))
        return self

    def check_state(self) -> None:
        """Check a state read from a folder."""
        super().check_state()
        state, k = Fitted(self), len(self.classes_)
        emission = state.text("emission_", ("", "categorical", "normal"))
        if emission == "categorical":
            state.probabilities("table_", (k, None))
        elif emission == "normal":
            width = state.array("means_", (k, None)).shape[1]
            state.array("covariances_", (k, width, width))

    def _adopt_emissions(self, x: Floats, offsets: Ints) -> None:
        """Store the emissions as arrays, if the posterior under them equals the model's own."""
        if hasattr(self.model, "emissionprob_"):
            self.emission_, self.table_ = "categorical", np.asarray(self.model.emissionprob_, dtype=np.float64)
        elif hasattr(self.model, "means_") and hasattr(self.model, "covars_"):
            self.means_ = np.asarray(self.model.means_, dtype=np.float64)
            self.covariances_ = _full(np.asarray(self.model.covars_, dtype=np.float64), *self.means_.shape)
            self.emission_ = "normal"
        if self.emission_:
            marginals = np.asarray(self._smoothed(x, offsets).marginals)
            if not np.allclose(marginals, self._model_marginals(x, offsets), atol=AGREE):
                self.emission_ = ""

    def _observed(self, batch: Corpus) -> Steps:
        """Observations (N, d), and the offsets of the documents, (n + 1,)."""
        x, lengths = resolve(self.observations, "observations")(batch)
        rows, counts = np.asarray(x, dtype=np.float64), np.asarray(lengths, dtype=np.int64)
        rows = rows[:, None] if rows.ndim == 1 else rows
        if len(counts) != len(batch) or counts.sum() != len(rows):
            raise UsageError(
                f"observations returns {len(rows)} rows and {len(counts)} lengths that sum to {counts.sum()}, for "
                f"{len(batch)} documents",
                hint="return (X, lengths): one row per observation, one length per document",
            )
        return rows, offsets_of(counts)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Return ``no observations`` for documents that have none."""
        return [None if n else "no observations" for n in np.diff(self._observed(batch)[1])]

    def marginals(self, batch: Corpus) -> Steps:
        """P(z_m | x) of all steps, float array (N, K), and the offsets of the documents, (n + 1,)."""
        latents = self.project(batch)
        return np.asarray(latents.marginals), latents.offsets

    def project(self, batch: Corpus) -> PairedStates:
        """Infer states, with the exact posterior of pairs if the model allows it."""
        x, offsets = self._observed(batch)
        if self.emission_ or self._frames() is not None:
            return self._smoothed(x, offsets)
        return PairedStates.independent(self._model_marginals(x, offsets), offsets)

    def _frames(self) -> Any:
        """The model's method for log P(x_m | z_m = k), or None."""
        for name in ("log_likelihood", "_compute_log_likelihood"):
            method = getattr(self.model, name, None)
            if method is not None:
                return method
        return None

    def _smoothed(self, x: Floats, offsets: Ints) -> PairedStates:
        with np.errstate(divide="ignore"):
            start, move = np.log(self.start_), np.log(self.move_)
            return PairedStates.smoothed(start, move, self._log_emissions(x), offsets)

    def _log_emissions(self, x: Floats) -> Floats:
        """log P(x_m | z_m = k), (N, K)."""
        if self.emission_ == "categorical":
            return np.asarray(np.log(self.table_[:, x[:, 0].astype(np.int64)]).T)
        if self.emission_ == "normal":
            states = zip(self.means_, self.covariances_, strict=True)
            return np.stack([np.atleast_1d(multivariate_normal(m, c).logpdf(x)) for m, c in states], axis=1)
        return np.asarray(self._frames()(x), dtype=np.float64)

    def _model_marginals(self, x: Floats, offsets: Ints) -> Floats:
        """P(z_m | x) as the model itself computes it, (N, K)."""
        lengths = np.diff(offsets)
        lengths = lengths[lengths > 0]
        inputs = x.astype(np.int64) if hasattr(self.model, "emissionprob_") else x
        marginals: Any
        if hasattr(self.model, "predict_proba"):
            marginals = self.model.predict_proba(inputs, lengths)
        elif hasattr(self.model, "score_samples"):
            marginals = self.model.score_samples(inputs, lengths)[1]
        else:
            raise UsageError(
                f"{type(self.model).__name__} gives no posterior",
                hint="give a model with predict_proba or score_samples",
            )
        p = np.asarray(marginals, dtype=np.float64)
        if p.shape != (len(x), len(self.start_)):
            raise UsageError(
                f"the model's posterior has shape {p.shape}", hint="it must have one row per step, one column per state"
            )
        normalised: Floats = p / p.sum(axis=1, keepdims=True)
        return normalised

    def notes(self) -> list[Note]:
        """The number of states, and how the posterior is computed."""
        if self.emission_:
            return [Note(f"{len(self.start_)} states; exact posterior of pairs from {self.emission_} emissions.")]
        how = "exact posterior of pairs" if self._frames() is not None else "marginals only, steps taken as independent"
        return [Note(f"{len(self.start_)} states; {how}, from the model itself: this critic cannot be saved.")]

    def save(self, folder: str | Path) -> None:
        """Write the critic as arrays.

        Raises
        ------
        StoreError
            The model does not expose its emissions, or the observations cannot be found by name.
        """
        check_fitted(self)
        if not self.emission_:
            raise StoreError(
                f"critic {self.name!r} cannot be saved: the emissions of {type(self.model).__name__} are not known",
                hint="give a model with means_ and covars_, or with emissionprob_",
            )
        named = type(self)(model="", observations=name_of(self.observations, "observations"))
        vars(named).update(fitted_state(self))
        super(HMMCritic, named).save(folder)


def _full(covariances: Floats, k: int, d: int) -> Floats:
    """Covariances (K, d, d) from any of hmmlearn's shapes: spherical (K,), diagonal (K, d), tied (d, d), full."""
    if covariances.shape == (k, d, d):
        return covariances
    if covariances.shape == (k, d) or covariances.shape == (k,) or covariances.shape == (k, 1):
        return np.stack([np.diag(np.broadcast_to(row, (d,))) for row in covariances])
    if covariances.shape == (d, d):
        return np.broadcast_to(covariances, (k, d, d)).copy()
    raise UsageError(f"covars_ has shape {covariances.shape} for {k} states and {d} dimensions")
