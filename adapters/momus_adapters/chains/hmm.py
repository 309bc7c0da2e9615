"""A fitted hidden Markov model as a critic: z is its state sequence, P_c its start and transition probabilities.

The model is any object with ``startprob_``, ``transmat_`` and emissions, like those of hmmlearn; neither hmmlearn nor
pickle is needed.
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
from momus.critic.hooks import check_fitted
from momus.errors import StoreError, UsageError
from momus.estimator import parametrized
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_adapters.chains.classes import ClassChain
from momus_adapters.chains.paired import PairedStates
from momus_adapters.saved import resolve, save_named

Steps = tuple[Floats, Ints]
AGREE = 1e-6


@parametrized
class HMMCritic(ClassChain):
    """−log P_c(z) = −log π_{z_1} − Σ log A_{z_{m−1} z_m}, in expectation under the exact posterior of pairs of states.

    The posterior comes from forward–backward over the log-likelihoods of observations: those of the model
    (``log_likelihood(X)``, or hmmlearn's ``_compute_log_likelihood``), or of its emissions as arrays (``means_`` and
    ``covars_`` (K, d, d): normal; ``emissionprob_``: categorical), unless the two disagree on real text. A critic with
    arrays can be saved, and needs only these; the notes name the case.

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

    model: Any
    observations: str | Callable[..., Any]

    def fit(self, real: Corpus) -> Self:
        """Take over the model's arrays.

        Raises
        ------
        UsageError
            The model has no start or transition probabilities, or no emissions.
        """
        try:
            start, move = (np.asarray(getattr(self.model, k), dtype=np.float64) for k in ("startprob_", "transmat_"))
        except AttributeError as error:
            raise UsageError(
                f"{type(self.model).__name__} is no fitted hidden Markov model ({error})",
                hint="give an object with startprob_, transmat_ and emissions",
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
        self._adopt_emissions(self._observed(real)[0])
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

    def _adopt_emissions(self, x: Floats) -> None:
        """Store the emissions as arrays, if the log-likelihoods under them equal the model's own."""
        frames = self._frames()
        if hasattr(self.model, "emissionprob_"):
            self.emission_, self.table_ = "categorical", np.asarray(self.model.emissionprob_, dtype=np.float64)
        elif np.ndim(getattr(self.model, "covars_", 0)) == 3:
            self.means_ = np.asarray(self.model.means_, dtype=np.float64)
            self.covariances_ = np.asarray(self.model.covars_, dtype=np.float64)
            self.emission_ = "normal"
        elif frames is None:
            raise UsageError(
                f"{type(self.model).__name__} has no emissions",
                hint="give a model with means_ and covars_, with emissionprob_, or with log_likelihood(X)",
            )
        if self.emission_ and frames is not None and not np.allclose(self._log_emissions(x), frames(x), atol=AGREE):
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
        """Infer states, with the exact posterior of pairs."""
        x, offsets = self._observed(batch)
        with np.errstate(divide="ignore"):
            return PairedStates.smoothed(np.log(self.start_), np.log(self.move_), self._log_emissions(x), offsets)

    def _frames(self) -> Any:
        """The model's method for log P(x_m | z_m = k), or None."""
        for name in ("log_likelihood", "_compute_log_likelihood"):
            method = getattr(self.model, name, None)
            if method is not None:
                return method
        return None

    def _log_emissions(self, x: Floats) -> Floats:
        """log P(x_m | z_m = k), (N, K)."""
        if self.emission_ == "categorical":
            return np.asarray(np.log(self.table_[:, x[:, 0].astype(np.int64)]).T)
        if self.emission_ == "normal":
            states = zip(self.means_, self.covariances_, strict=True)
            return np.stack([np.atleast_1d(multivariate_normal(m, c).logpdf(x)) for m, c in states], axis=1)
        return np.asarray(self._frames()(x), dtype=np.float64)

    def notes(self) -> list[Note]:
        """The number of states, and how the posterior is computed."""
        source = f"{self.emission_} emissions" if self.emission_ else "the model itself: this critic cannot be saved"
        return [Note(f"{len(self.start_)} states; exact posterior of pairs from {source}.")]

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
        save_named(self, folder, "observations", model="")
