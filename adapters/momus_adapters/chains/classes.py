"""Critics whose posterior is somebody's classifier: z is the class of a document, or of each of its sections.

A classifier is any object with ``predict_proba`` (rows of probabilities), as in scikit-learn. P_c is learned on real
text: the shares of classes, and for sequences a Markov chain of classes.
"""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic import Critic, EvidenceMixin, LogPrior, Pooled
from momus.errors import FittingError, StoreError, UsageError
from momus.estimator import Estimator
from momus.evidence import Evidence, Table
from momus.numeric.ragged import group_sums, offsets_of
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus_adapters.chains.posterior import PairedStates, smoothed_chain
from momus_adapters.features import Features, fit_features, make_features, rows_of
from momus_adapters.saved.estimators import PACKAGE, SavedEstimator
from momus_adapters.saved.names import name_of, resolve

SHOWN = 30


class ClassChain(Critic[PairedStates], EvidenceMixin):
    """P_c(z) is a Markov chain over K classes, learned on real text; a subclass says what steps are.

    A subclass sets ``classes_`` (their names) and gives `marginals`.
    """

    smoothing: float

    @abstractmethod
    def marginals(self, batch: Corpus) -> tuple[Floats, NDArray[np.int64]]:
        """P(z_m | x) of all steps, float array (N, K), and the offsets of the documents, (n + 1,)."""

    def learn_chain(self, real: Corpus) -> None:
        """Count classes and transitions on real text, as the posterior expects them, with an additive constant."""
        if not self.smoothing > 0:
            raise UsageError(f"smoothing is {self.smoothing}", hint="give a number above 0")
        usable = real.take([i for i, r in enumerate(self.unscored(real)) if r is None])
        if len(usable) < self.needs:
            raise FittingError(
                f"critic {self.name!r}: {len(usable)} of {len(real)} documents of {real.name!r} can be classified",
                hint="give more real text",
            )
        latents = PairedStates.independent(*self.marginals(usable))
        self.start_, self.move_ = smoothed_chain(latents, self.smoothing)

    def project(self, batch: Corpus) -> PairedStates:
        """Classify every step."""
        return PairedStates.independent(*self.marginals(batch))

    def log_prior(self, latents: PairedStates) -> LogPrior:
        """E log P_c(z), exact under the posterior; M is the number of steps."""
        with np.errstate(divide="ignore"):
            value = latents.expected(np.log(self.start_), np.log(self.move_))
        return LogPrior(value, latents.lengths)

    def summarize(self, latents: PairedStates) -> Pooled:
        """Expected visits and transitions."""
        visits = np.asarray(group_sums(np.asarray(latents.marginals, dtype=np.float64), latents.offsets))
        return Pooled(len(latents), {"visits": visits.sum(axis=0), "pairs": latents.pairs.sum(axis=0)})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Shares of classes, and for sequences of transitions, by difference."""
        found: list[Evidence] = [self._shares("visits", "Shares of classes", list(self.classes_), real, generated)]
        if self.sequence:
            names = [f"{a} → {b}" for a in self.classes_ for b in self.classes_]
            found.append(self._shares("pairs", "Shares of transitions", names, real, generated))
        return found

    def _shares(self, key: str, title: str, names: list[str], real: Pooled, generated: Pooled) -> Table:
        a, b = (s.arrays[key].ravel() / max(float(s.arrays[key].sum()), 1e-300) for s in (real, generated))
        order = np.argsort(-np.abs(b - a), kind="stable")[:SHOWN]
        rows = [(names[i], 100 * float(a[i]), 100 * float(b[i]), 100 * float(b[i] - a[i])) for i in order]
        note = f"{real.documents:,} real and {generated.documents:,} generated documents; expected under the posterior."
        return Table(f"{self.name}-{key}", title, ("class", "real %", "generated %", "difference"), rows, note=note)

    classes_: list[str]


class DocumentClasses(ClassChain):
    """z is the class of a document, P_c the shares of classes in real text; E log P_c(z) = Σ_k P(k | x) log π_k.

    Parameters
    ----------
    classifier
        An object with ``predict_proba`` and ``classes_``, fitted; or ``"package.module:name"`` of a callable that makes
        one. A scikit-learn estimator whose state is arrays and numbers is saved with the critic, without pickle; one of
        `momus.estimator.Estimator` by its class and parameters; others cannot be saved.
    features
        What the classifier reads: empty for the texts themselves (a pipeline with a vectorizer), or features as in
        `momus_adapters.features`.
    classifier_options, feature_options
        Plain keyword arguments of those that are named.
    smoothing
        Additive constant of the counts of classes and transitions.

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["cat dog cat", "dog cat", "stock bond", "bond stock stock"] * 5
    >>> model = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(texts, ["pets", "pets", "money", "money"] * 5)
    >>> critic = DocumentClasses(classifier=model).fit(Corpus.from_texts(texts[:2] * 9 + texts[2:4]))
    >>> [round(x, 1) for x in critic.score(Corpus.from_texts(["cat", "bond"], name="new")).nll.tolist()]
    [0.3, 1.5]
    """

    name = "document-classes"
    axis = "classes of documents"
    question = "Are documents of the classes that real documents are of, as a classifier sees them?"
    uses_device = True

    def __init__(
        self,
        *,
        classifier: Any,
        features: Features = "",
        classifier_options: dict[str, Any] | None = None,
        feature_options: dict[str, Any] | None = None,
        smoothing: float = 1.0,
    ) -> None:
        self.classifier = classifier
        self.features = features
        self.classifier_options = classifier_options
        self.feature_options = feature_options
        self.smoothing = smoothing

    def fit(self, real: Corpus) -> Self:
        """Take the classifier over, and learn the chain of classes.

        Raises
        ------
        UsageError
            The classifier has no ``predict_proba`` or ``classes_``.
        """
        if self.features:
            features: Any = make_features(self.features, self.feature_options)
            fit_features(features, real)
            if isinstance(features, Estimator):
                self.features_: Any = features
        live = self._live()
        if isinstance(live, Estimator):
            self.classifier_: Any = live
        self.classes_ = [str(c) for c in np.asarray(live.classes_).tolist()]
        self.learn_chain(real)
        return self

    def _live(self) -> Any:
        """The classifier itself, in this process."""
        named = getattr(self, "classifier_", None)
        if named is not None:
            named.device = self.device
            return named
        if getattr(self, "_built_", None) is None:
            arrays = getattr(self, "estimator_", None)
            self._built_ = self._given() if arrays is None else arrays.build()
        return self._built_

    def _given(self) -> Any:
        """What the constructor was given, made if it is a name."""
        found = self.classifier
        if isinstance(found, str):
            if not found:
                raise UsageError(f"critic {self.name!r} has no classifier", hint="give an object with predict_proba")
            if self.is_fitted and self.classifier_options:  # read from a folder, which must not say what to call how
                raise StoreError(
                    f"the folder holds no classifier, and {found!r} is not called with options from a folder",
                    hint="fit it again, or name a callable without options",
                )
            found = resolve(found, "classifier")(**(self.classifier_options or {}))
        for wanted in ("predict_proba", "classes_"):
            if not hasattr(found, wanted):
                raise UsageError(
                    f"classifier {type(found).__name__} has no {wanted}", hint="give a fitted one with probabilities"
                )
        return found

    def component(self, attribute: str) -> Estimator:
        """Make the unfitted part: the classifier, or features."""
        if attribute == "features_":
            made: Any = make_features(self.features, self.feature_options)
            return made  # type: ignore[no-any-return]
        if attribute == "estimator_":
            return SavedEstimator()
        if attribute == "classifier_":
            named = resolve(self.classifier, "classifier")
            if not (isinstance(named, type) and issubclass(named, Estimator)):
                raise UsageError(f"classifier {self.classifier!r} is no class of momus.estimator.Estimator")
            return named.with_params(self.classifier_options or {}, place="classifier")
        return super().component(attribute)

    def _pieces(self, batch: Corpus) -> tuple[list[str], NDArray[np.int64]]:
        """The texts to classify, and the offsets of the documents."""
        return [d.text for d in batch], np.arange(len(batch) + 1)

    def marginals(self, batch: Corpus) -> tuple[Floats, NDArray[np.int64]]:
        """Classify the pieces of each document, by what they say alone."""
        texts, offsets = self._pieces(batch)
        given: Any = texts
        if self.features:
            reader = getattr(self, "features_", None) or make_features(self.features, self.feature_options)
            given = rows_of(reader, Corpus.from_texts(texts))
        found = np.asarray(self._live().predict_proba(given), dtype=np.float64)
        if found.shape != (len(texts), len(self.classes_)):
            raise UsageError(
                f"the classifier gives an array of shape {found.shape} for {len(texts)} texts and "
                f"{len(self.classes_)} classes",
                hint="predict_proba must give one row a text, one column a class",
            )
        return found / found.sum(axis=1, keepdims=True), offsets

    def reset(self) -> None:
        """Drop what fitting has learned."""
        super().reset()
        vars(self).pop("_built_", None)

    def save(self, folder: str | Path) -> None:
        """Write the critic, with its classifier as arrays or by name.

        Raises
        ------
        StoreError
            The classifier can be saved neither way.
        """
        self.check_fitted()
        params, state = self.get_params(), self.state()
        if self.features:
            params["features"] = name_of(self.features, "features")
        live = self._live()
        if isinstance(live, Estimator):
            if not isinstance(self.classifier, str):
                params |= {"classifier": name_of(type(live), "classifier"), "classifier_options": live.get_params()}
        elif not isinstance(self.classifier, str) or self.classifier_options or _of_sklearn(live):
            params["classifier"] = self.classifier if isinstance(self.classifier, str) else ""
            state["estimator_"] = SavedEstimator.of(live)
        named = type(self)(**params)
        vars(named).update(state)
        super(DocumentClasses, named).save(folder)


def _of_sklearn(classifier: Any) -> bool:
    return type(classifier).__module__.startswith(PACKAGE)


class SectionClasses(DocumentClasses):
    """z is the sequence of classes of a document's sections, P_c a Markov chain; else as `DocumentClasses`."""

    name = "section-classes"
    axis = "order of classes of sections"
    question = "Do classes of sections follow one another as in real documents, as a classifier sees them?"
    sequence = True

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without section marks."""
        return [None if s else "no sections" for s in batch.sectioned]

    def _pieces(self, batch: Corpus) -> tuple[list[str], NDArray[np.int64]]:
        texts = [t or "" for t in batch.section_texts.to_pylist()]
        return texts, offsets_of(batch.section_counts)
