"""Register: dimensions of variation over grammatical features, such as involved against informational."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from momus.critic import Gaussians, LogPrior, Note, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.hooks import is_fitted
from momus.critic.shifts import shift_table
from momus.errors import FittingError
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument, Step
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import joined
from momus_critics.evidence import marked
from momus_critics.prose.reading import ProseCritic
from momus_critics.register.features import FEATURES, RATES, count_features, count_words

TOLD = (
    "first person", "second person", "third person", "past tense", "present tense", "contractions",
    "possibility modals", "necessity modals", "prediction modals", "passives", "nominalisations", "adverbs in -ly",
    "-ing after comma", "negation by not", "questions", "public verbs", "conjuncts", "hedges", "amplifiers",
    "articles",
)  # fmt: skip
"""Features whose rates are tested on their own."""
PRESENT = {
    "first person": "first-person words", "second person": "second-person words",
    "contractions": "contractions", "questions": "questions",
}  # fmt: skip
"""Features of which it is tested, too, how many documents have any: many have none, so that rates are skewed."""
LEAST_WORDS = 20
NAMED, SHOWN = 3, 8
"""Features that name a pole of a dimension, and that a marked document shows."""


@dataclass(frozen=True)
class RegisterLatents(Gaussians):
    """Posteriors of the dimensions of n documents, and their features (n, F)."""

    features: Floats


@parametrized
class Register(ProseCritic[RegisterLatents]):
    """z is the place of a document on K dimensions of register; P_c is a factor analysis, fitted on real text.

    Features are rates of pronouns, tenses, modals, nominalisations, … (Biber 1988), square roots of them, standardised
    in real text: x = Λᵀ z + ε, z ~ N(0, I), ε ~ N(0, Ψ) with a diagonal Ψ, so that the posterior is normal and exact.
    Dimensions are rotated by varimax, and named by the features with the largest loadings.

    Parameters
    ----------
    n_dimensions
        K.
    """

    name = "register"
    axis = "register"
    question = (
        "Is text as involved, narrative or abstract as real text? z is the place of a document on dimensions of "
        "grammatical features."
    )
    reporting = Reporting(
        general=True,  # rates of classes of words move with what narrower axes find, and few readers see them
        together="once",
        directions=directions("more|less usual in register"),
        limits="It counts English words and endings: what sentences say, and their order, stay unseen.",
    )
    min_documents = 20

    n_dimensions: Annotated[int, Range(1, 30)] = 5

    def assumed_language(self, corpus: Corpus) -> str:
        """English, whatever the documents say."""
        return "" if any(corpus.languages) else "en"

    def fit(self, real: Corpus) -> Self:
        """Standardise the features, and fit the loadings."""
        from sklearn.decomposition import FactorAnalysis

        values, words = count_features(self._prose(real))
        # rates of short documents are noise, which the loadings would fit; all, if too few are long
        x = _scaled(values[words >= LEAST_WORDS] if (words >= LEAST_WORDS).sum() >= self.min_documents else values)
        self.mean_, self.sd_ = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-3)
        standard = (x - self.mean_) / self.sd_  # (n, F)
        if not np.abs(standard).max() > 1e-6:
            raise FittingError(
                f"the documents of {real.name!r} are all alike in every feature of register",
                hint="give real text of different documents",
            )
        k = min(self.n_dimensions, len(x) - 1)
        # at most 2 F rows of the same mean and covariance, which is all that a factor analysis sees
        r = np.asarray(np.linalg.qr(standard, mode="r"))
        few = np.vstack([r, -r]) * np.sqrt(len(r) / len(standard))
        model = FactorAnalysis(k, rotation="varimax" if k > 1 else None, svd_method="lapack").fit(few)
        loadings = np.asarray(model.components_, dtype=np.float64)
        # the largest dimension first, each with its strongest feature positive
        loadings = loadings[np.argsort(-(loadings**2).sum(axis=1), kind="stable")]
        signs = np.sign(loadings[np.arange(k), np.abs(loadings).argmax(axis=1)])
        self.loadings_ = loadings * np.where(signs == 0, 1.0, signs)[:, None]
        # a feature without noise (Heywood case) would decide z alone
        self.noise_ = np.maximum(np.asarray(model.noise_variance_, dtype=np.float64), 1e-3)
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents of too few words for rates."""
        words = count_words(self._prose(batch))
        return [f"fewer than {LEAST_WORDS} words" if n < LEAST_WORDS else None for n in words]

    def project(self, batch: Corpus) -> RegisterLatents:
        """The normal posterior of z given the features."""
        values, _ = count_features(self._prose(batch))
        standard = (_scaled(values) - self.mean_) / self.sd_
        weighted = self.loadings_ / self.noise_  # Λ Ψ⁻¹, (K, F)
        covariance = np.linalg.inv(np.eye(len(weighted)) + weighted @ self.loadings_.T)
        mean = standard @ weighted.T @ covariance  # E z given the features, (n, K)
        return RegisterLatents(mean, np.broadcast_to(np.diag(covariance), mean.shape), values)

    def log_prior(self, latents: RegisterLatents) -> LogPrior:
        """E log N(z; 0, I) under the posterior."""
        squares = np.asarray(latents.mean, dtype=np.float64) ** 2 + latents.variance
        return LogPrior.of_vectors(-0.5 * (squares + np.log(2 * np.pi)).sum(axis=1))

    @property
    def poles(self) -> list[tuple[str, str]]:
        """Of each dimension, the features of its lower and of its upper end."""
        return [(joined(low), joined(high)) for low, high in self._ends()]

    def _ends(self) -> list[tuple[list[str], list[str]]]:
        """Of each dimension, the names of the features that weigh most at its lower and at its upper end."""
        named = []
        for row in self.loadings_:
            order = np.argsort(row, kind="stable")
            low = [FEATURES[f] for f in order[:NAMED] if row[f] < -0.2]
            high = [FEATURES[f] for f in order[::-1][:NAMED] if row[f] > 0.2]
            named.append((low or ["few of these"], high or ["none"]))
        return named

    def notes(self) -> Sequence[Note | str]:
        """What the dimensions are."""
        return [f"Dimension {k + 1}: {high}, against {low}." for k, (low, high) in enumerate(self.poles)]

    def sufficient_statistics(self, latents: RegisterLatents) -> Mapping[str, Rows]:
        """Place on each dimension, rates of the features that are told, and whether a document has some of them."""
        ones = np.ones(len(latents))
        places = {f"dimension_{k + 1}": np.column_stack([z, ones]) for k, z in enumerate(latents.mean.T)}
        rates = {_row(f): np.column_stack([latents.features[:, FEATURES.index(f)], ones]) for f in TOLD}
        having = {f"with_{_row(f)}": np.column_stack([rates[_row(f)][:, 0] > 0, ones]) for f in PRESENT}
        return {**places, **rates, **having}

    def statistics(self) -> Sequence[Statistic]:
        """Mean place on each dimension, mean rates, and shares of documents."""
        ends = self._ends() if is_fitted(self) else [([""], [""])] * self.n_dimensions
        return (
            *(
                Statistic.ratio(
                    f"dimension_{i}",
                    f"dimension_{i}",
                    f"dimension {i} of register, “{low}” to “{high}”",
                    (f"nearer to “{low}”", f"nearer to “{high}”"),
                    effect="hedges_g",
                    unit="sd",
                )
                for i, ((low, *_), (high, *_)) in enumerate(ends, 1)
            ),
            *(
                Statistic.ratio(_row(f), _row(f), f, f"poorer|richer in {f}", effect="hedges_g", unit="per 1,000 words")
                for f in TOLD
            ),
            *(Statistic.having(f"{_row(f)}_share", f"with_{_row(f)}", name) for f, name in PRESENT.items()),
        )

    def summarize(self, latents: RegisterLatents) -> Pooled:
        """Sums of the features and of their squares."""
        return Pooled(
            len(latents),
            {
                "features": latents.features.sum(axis=0),
                "squares": (latents.features**2).sum(axis=0),
            },
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Features by how far they differ; the dimensions are among the statistics."""
        n = [max(t.documents, 1) for t in (real, generated)]
        # means and the deviation of real documents, (F,)
        means = real.arrays["features"] / n[0], generated.arrays["features"] / n[1]
        spread = np.sqrt(np.maximum(real.arrays["squares"] / n[0] - means[0] ** 2, 1e-6))
        units = [_unit(f) for f in range(len(FEATURES))]
        effect = (means[1] - means[0]) / spread
        title, measure = "Features that differ most", "difference in sd of real text"
        of: dict[str, Any] = {"effect": effect, "measure": measure}
        return [shift_table("register-features", title, "feature", FEATURES, means, units, 1, **of)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Show the features of a document that are farthest from the mean of real text."""
        z = self.project(document)
        standard = (_scaled(z.features)[0] - self.mean_) / self.sd_
        steps = [
            Step(
                FEATURES[f],
                f"{z.features[0, f]:.3g} {_unit(f)}",
                None,
                bool(abs(standard[f]) > 2),
                f"{standard[f]:+.1f} standard deviations from the fitted text",
            )
            for f in np.argsort(-np.abs(standard), kind="stable")[:SHOWN].tolist()
        ]
        return marked(self, document, z, steps)


def _scaled(values: Floats) -> Floats:
    """Square roots of rates, which steadies their variance; the last columns as they are."""
    return np.column_stack([np.sqrt(values[:, :RATES]), values[:, RATES:]])


def _row(feature: str) -> str:
    return feature.replace(",", "").replace(" ", "_").replace("-", "")


def _unit(feature: int) -> str:
    return "per 1,000 words" if feature < RATES else "letters" if feature == RATES else "of a stretch's words"
