"""scikit-learn models of document features as critics: Gaussian mixtures and principal components.

`GaussianMixtureCritic.adopt` and `PCACritic.adopt` take over a fitted model; `fit` fits one. Both store arrays: a saved
critic needs neither the object nor pickle. For classifiers, see `momus_adapters.chains.classes`.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import numpy as np

from momus.critic import Critic, EvidenceMixin, Gaussians, LogPrior, Pooled, Reporting, StateSequences
from momus.critic.fitted import Fitted
from momus.critic.latents import aggregated
from momus.critic.rows import pool
from momus.errors import FittingError, UsageError
from momus.estimator import fitted_state, parametrized, reset
from momus.evidence import Evidence, Table
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus_adapters.features import BAG, FeatureReader, Features, check_features, rows_of, unscored_of, usable_of
from momus_adapters.saved import save_named

Z = TypeVar("Z")
KINDS = ("full", "tied", "diag", "spherical")
"""Covariances of a Gaussian mixture, as scikit-learn names them."""


class FeatureCritic(Critic[Z], FeatureReader, Generic[Z]):
    """Base class of critics of document features, one row per document; subclasses define the model of the rows."""

    @abstractmethod
    def _learn(self, rows: Floats) -> Any:
        """Fit a scikit-learn model to rows (N, d)."""

    @abstractmethod
    def _take(self, model: Any) -> None:
        """Store the arrays of a fitted scikit-learn model."""

    def fit(self, real: Corpus) -> Self:
        """Fit the features, then the model on them.

        Raises
        ------
        FittingError
            scikit-learn cannot fit the model; the message gives its reason.
        """
        features = self.fit_reader(real)
        rows = self._flat(rows_of(features, usable_of(features, real, self.min_documents)))
        try:
            self._take(self._learn(rows))
        except (ValueError, np.linalg.LinAlgError) as error:
            raise FittingError(
                f"critic {self.name!r}: {error}", hint="give more real text, or fewer components"
            ) from error
        return self

    def adopt(self, model: Any, real: Corpus) -> Self:
        """Take over a model that was fitted on the same features of the same text.

        Raises
        ------
        UsageError
            The model is of another kind, or reads rows of another width.
        """
        # through `fit`, which records the fingerprint of the text
        adopting: Any = type(type(self).__name__, (type(self),), {"_learn": lambda _, rows: model})
        other = adopting(**self.get_params(deep=False))
        other.fit(real)
        other.project(real.take([i for i, r in enumerate(other.unscored(real)) if r is None][:1]))
        reset(self)
        vars(self).update(fitted_state(other))
        return self

    def _flat(self, rows: Floats) -> Floats:
        if rows.ndim != 2:
            raise UsageError(f"features have shape {rows.shape}", hint="give one vector per document, (n, d)")
        return rows

    def _rows(self, batch: Corpus, width: int) -> Floats:
        rows = self._flat(rows_of(self.reader(), batch))
        if rows.shape[1] != width:
            raise UsageError(
                f"features have {rows.shape[1]} columns, but critic {self.name!r} was fitted on {width}",
                hint="give the features that the model was fitted on",
            )
        return rows

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Return the reason for each document that has no features."""
        return unscored_of(self.reader(), batch)

    def save(self, folder: str | Path) -> None:
        """Write the critic; features are stored by name."""
        save_named(self, folder, "features")


@parametrized
class GaussianMixtureCritic(FeatureCritic[StateSequences], EvidenceMixin):
    """z is the component of a Gaussian mixture over features; E log P_c(z) = Σ_k P(k | x) log π_k.

    Parameters
    ----------
    n_components, covariance_type, seed
        ``n_components``, ``covariance_type`` and ``random_state`` of scikit-learn's ``GaussianMixture``.
    ridge
        Its ``reg_covar``.
    features, feature_options
        See `momus_adapters.features`; default: word counts, see `momus_adapters.features.BagOfWords`.
    """

    name = "gaussian-mixture"
    axis = "clusters of documents"
    question = "Do documents fall into clusters of features in the same shares as real documents?"
    reporting = Reporting(
        directions={
            "latent_nll": ("in more usual clusters", "in less usual clusters"),
            "posterior_entropy": ("spread over fewer clusters", "spread over more clusters"),
        },
        limits="It cannot see what its features do not encode, nor how documents differ within a cluster.",
    )

    n_components: int = 8
    covariance_type: str = "diag"
    ridge: float = 1e-3
    features: Features = BAG
    feature_options: dict[str, Any] | None = None
    seed: int = 0

    def _learn(self, rows: Floats) -> Any:
        from sklearn.mixture import GaussianMixture

        if self.covariance_type not in KINDS:
            raise UsageError(f"covariance_type is {self.covariance_type!r}", hint=f"choose one of {', '.join(KINDS)}")
        model = GaussianMixture(
            self.n_components, covariance_type=self.covariance_type, reg_covar=self.ridge, random_state=self.seed
        )
        return model.fit(rows)

    def _take(self, model: Any) -> None:
        try:
            weights, means = np.asarray(model.weights_), np.asarray(model.means_)
            root, kind = np.asarray(model.precisions_cholesky_), str(model.covariance_type)
        except AttributeError as error:
            raise UsageError(
                f"{type(model).__name__} is no fitted GaussianMixture ({error})", hint="fit it first"
            ) from error
        self.weights_, self.means_, self.roots_, self.kind_ = weights, means, root, kind

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        check_features(state)
        k = len(state.probabilities("weights_", (None,)))
        d = state.array("means_", (k, None)).shape[1]
        kind = state.text("kind_", KINDS)
        shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
        roots = state.array("roots_", shape)
        scales = np.diagonal(roots, axis1=-2, axis2=-1) if kind in ("full", "tied") else roots
        state.require(bool((scales > 0).all()), "roots_", "positive scales")

    def project(self, batch: Corpus) -> StateSequences:
        """Infer P(k | x) for each document: sequences of length 1."""
        from sklearn.mixture import GaussianMixture

        model = GaussianMixture(len(self.weights_), covariance_type=self.kind_)
        model.weights_, model.means_, model.precisions_cholesky_ = self.weights_, self.means_, self.roots_
        p = np.asarray(model.predict_proba(self._rows(batch, self.means_.shape[1])))
        return StateSequences(p.argmax(axis=1), np.arange(len(p) + 1), p)

    def log_prior(self, latents: StateSequences) -> LogPrior:
        """Σ_k P(k | x) log π_k, exact."""
        return LogPrior.of_vectors(np.asarray(latents.marginals) @ np.log(self.weights_))

    def summarize(self, latents: StateSequences) -> Pooled:
        """Expected number of documents per component."""
        return Pooled(len(latents), {"visits": pool(aggregated(latents))})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Table of the shares of components in real and in generated text."""
        a, b = (s.arrays["visits"] / max(s.documents, 1) for s in (real, generated))
        rows: list[list[str | float]] = [
            [f"{k + 1}", *(round(100 * float(v), 2) for v in (w, a[k], b[k]))] for k, w in enumerate(self.weights_)
        ]
        note = f"{real.documents:,} real and {generated.documents:,} generated documents."
        columns = ("component", "weight %", "real %", "generated %")
        return [Table("mixture-components", "Shares of components", columns, rows, note=note)]


@parametrized
class PCACritic(FeatureCritic[Gaussians], EvidenceMixin):
    """z is a point in the principal subspace of features, P_c(z) = N(0, I) (probabilistic PCA, Tipping & Bishop 1999).

    x = W z + μ + ε with W = U (Λ − σ² I)^½; hence z | x ~ N(M⁻¹ Wᵀ (x − μ), σ² M⁻¹) with M = Λ (their equations 7 and
    8), and E log P_c(z) = −½ Σ_k [log 2π + E z_k²], exactly.

    Parameters
    ----------
    n_components, seed
        ``n_components`` and ``random_state`` of scikit-learn's ``PCA``.
    features, feature_options
        See `momus_adapters.features`.
    """

    name = "pca"
    axis = "principal components"
    question = "Do documents lie where real documents lie in the principal subspace of their features?"
    reporting = Reporting(
        directions={"latent_nll": ("closer to typical documents", "further from typical documents")},
        limits="It cannot see what its features do not encode, nor what varies outside the leading components.",
    )

    n_components: int = 8
    features: Features = BAG
    feature_options: dict[str, Any] | None = None
    seed: int = 0

    def _learn(self, rows: Floats) -> Any:
        from sklearn.decomposition import PCA

        return PCA(min(self.n_components, min(rows.shape) - 1), random_state=self.seed).fit(rows)

    def _take(self, model: Any) -> None:
        try:
            axes, mean = np.asarray(model.components_), np.asarray(model.mean_)
            variance, noise = np.asarray(model.explained_variance_), float(model.noise_variance_)
        except AttributeError as error:
            raise UsageError(f"{type(model).__name__} is no fitted PCA ({error})", hint="fit it first") from error
        if getattr(model, "whiten", False):
            raise UsageError("the PCA is whitened, which removes its scale", hint="fit it with whiten=False")
        if not noise > 0 or not len(variance):
            raise FittingError(
                f"{len(variance)} principal components leave a variance of {noise:.3g}; it must be positive",
                hint="give fewer components than features and documents",
            )
        self.axes_, self.mean_, self.variance_, self.noise_ = axes, mean, np.maximum(variance, noise), noise

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        check_features(state)
        d = len(state.array("mean_", (None,)))
        k = len(state.array("axes_", (None, d)))
        state.array("variance_", (k,), low=state.number("noise_", above=0.0))

    def project(self, batch: Corpus) -> Gaussians:
        """Infer z | x: mean ((λ − σ²)^½ / λ) Uᵀ (x − μ), variance σ² / λ."""
        projected = (self._rows(batch, len(self.mean_)) - self.mean_) @ self.axes_.T  # (n, K)
        mean = projected * np.sqrt(self.variance_ - self.noise_) / self.variance_
        return Gaussians(mean, np.broadcast_to(self.noise_ / self.variance_, mean.shape))

    def log_prior(self, latents: Gaussians) -> LogPrior:
        """E log N(z; 0, I), in nats."""
        square = latents.mean**2 + latents.variance
        return LogPrior.of_vectors(np.asarray(-0.5 * (np.log(2 * np.pi) + square).sum(axis=1)))

    def summarize(self, latents: Gaussians) -> Pooled:
        """Sums of E z and E z² over documents."""
        square = (latents.mean**2 + latents.variance).sum(axis=0)
        return Pooled(len(latents), {"mean": latents.mean.sum(axis=0), "square": square})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Table of the mean and the mean square of each component."""
        a, b = ({k: v / max(s.documents, 1) for k, v in s.arrays.items()} for s in (real, generated))
        means = [[float(x[key][k]) for key in ("mean", "square") for x in (a, b)] for k in range(len(self.variance_))]
        rows: list[list[str | float]] = [[f"{k + 1}", *values] for k, values in enumerate(means)]
        columns = ("component", "mean, real", "mean, generated", "mean square, real", "mean square, generated")
        note = f"{real.documents:,} real and {generated.documents:,} generated documents; under P_c: 0 and 1."
        return [Table("pca-components", "Moments of principal components", columns, rows, note=note)]
