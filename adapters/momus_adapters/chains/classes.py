"""Critics whose posterior is a classifier: z is the class of a document, or of each of its sections.

A classifier is any object with ``predict_proba`` (rows of probabilities), as in scikit-learn. P_c is learned on real
text: class shares, or a Markov chain of classes for sequences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from scipy.special import xlogy

from momus.critic import Critic, EvidenceMixin, LogPrior, Pooled, Reporting, StateSequences, resource
from momus.critic.fitted import Fitted
from momus.critic.hooks import DeviceMixin, check_fitted, is_fitted
from momus.errors import FittingError, StoreError, UsageError
from momus.estimator import Estimator, construct, fitted_state, parametrized
from momus.evidence import Evidence, Table
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_adapters.features import FeatureReader, Features
from momus_adapters.saved import PACKAGE, SavedEstimator, name_of, resolve, save_named

SHOWN = 30


def transitions_of(latents: StateSequences) -> tuple[Floats, Floats]:
    """Expected first classes (n, K) and numbers of transitions (n, K, K) of each document; steps are independent.

    >>> latents = StateSequences(np.array([0, 1]), np.array([0, 2, 2]), np.array([[0.9, 0.1], [0.0, 1.0]]))
    >>> transitions_of(latents)[1].tolist()
    [[[0.0, 0.9], [0.0, 0.1]], [[0.0, 0.0], [0.0, 0.0]]]
    """
    marginals = np.asarray(latents.marginals)
    n, k = len(latents), marginals.shape[1]
    first, pairs = np.zeros((n, k)), np.zeros((n, k, k))
    for i in range(n):
        p = marginals[latents.offsets[i] : latents.offsets[i + 1]]
        if len(p):
            first[i], pairs[i] = p[0], p[:-1].T @ p[1:]
    return first, pairs


@parametrized
class DocumentClasses(Critic[StateSequences], EvidenceMixin, FeatureReader, DeviceMixin):
    """z is the class of a document, P_c the class shares of real text; E log P_c(z) = Σ_k P(k | x) log π_k.

    Parameters
    ----------
    classifier
        A fitted object with ``predict_proba`` and ``classes_``, or the name ``"package.module:name"`` of a callable
        that returns one. A scikit-learn estimator whose state is arrays and numbers is saved with the critic, without
        pickle; a `momus.estimator.Estimator` is saved by its class and parameters; others cannot be saved.
    features
        Input of the classifier: empty for the texts themselves (a pipeline with a vectorizer), or features as in
        `momus_adapters.features`.
    classifier_options, feature_options
        Plain keyword arguments, for a classifier or features that are given by name.
    smoothing
        Additive constant for the counts of classes and transitions.

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
    question = "Are the classes of documents, as a classifier sees them, distributed as in real text?"
    reporting = Reporting(
        directions={
            "latent_nll": ("in more usual classes", "in less usual classes"),
            "latent_ppl": ("in a more usual order", "in a less usual order"),
            "posterior_entropy": ("less varied in classes", "more varied in classes"),
        },
        limits="It cannot see what its classes do not tell apart, nor the errors of its classifier.",
    )

    classifier: Any
    features: Features = ""
    classifier_options: dict[str, Any] | None = None
    feature_options: dict[str, Any] | None = None
    smoothing: Annotated[float, Range(0, above=True)] = 1.0

    def fit(self, real: Corpus) -> Self:
        """Take over the classifier, and learn the chain of classes.

        Raises
        ------
        UsageError
            The classifier has no ``predict_proba`` or ``classes_``.
        """
        if self.features:
            self.fit_reader(real)
        live = self._live()
        if isinstance(live, Estimator):
            self.classifier_: Any = live
        self.classes_ = [str(c) for c in np.asarray(live.classes_).tolist()]
        self._learn_chain(real)
        return self

    def _learn_chain(self, real: Corpus) -> None:
        """Estimate the chain from expected counts of classes and transitions on real text, plus `smoothing`."""
        usable = real.take([i for i, r in enumerate(self.unscored(real)) if r is None])
        if len(usable) < self.min_documents:
            raise FittingError(
                f"critic {self.name!r}: {len(usable)} of {counted(len(real), 'document')} of {real.name!r} can be "
                "classified",
                hint="give more real text",
            )
        first, pairs = transitions_of(self.project(usable))
        start, move = first.sum(axis=0) + self.smoothing, pairs.sum(axis=0) + self.smoothing
        self.start_, self.move_ = start / start.sum(), move / move.sum(axis=1, keepdims=True)

    def _live(self) -> Any:
        """The classifier as a live object."""
        named = getattr(self, "classifier_", None)
        if named is not None:
            named.device = self.device
            return named
        return vars(self).get("estimator_") or self._from_parameters()

    def _from_parameters(self) -> Any:
        """The constructor's classifier; a name is resolved and called."""
        classifier = self.classifier
        if isinstance(classifier, str):
            if not classifier:
                raise UsageError(f"critic {self.name!r} has no classifier", hint="give an object with predict_proba")
            if is_fitted(self) and self.classifier_options:  # loaded: a folder must not choose a call and its arguments
                raise StoreError(
                    f"the folder holds no classifier, and {classifier!r} is not called with options from a folder",
                    hint="fit the critic again, or name a callable without options",
                )
            classifier = resource(_called, classifier, self.classifier_options or {})
        for attribute in ("predict_proba", "classes_"):
            if not hasattr(classifier, attribute):
                raise UsageError(
                    f"classifier {type(classifier).__name__} has no {attribute}",
                    hint="give a fitted classifier with probabilities",
                )
        return classifier

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        k = len(state.texts("classes_", least=1, distinct=False))
        state.probabilities("start_", (k,))
        state.probabilities("move_", (k, k))
        self.check_features(state)
        for name, kind in (("classifier_", None), ("estimator_", SavedEstimator)):
            if name in vars(self):
                state.component(name, kind)

    def new_estimator(self) -> SavedEstimator:
        """What a saved classifier is read into."""
        return SavedEstimator()

    def new_classifier(self) -> Estimator:
        """What a saved classifier of a user's class is read into."""
        named = resolve(self.classifier, "classifier")
        if not (isinstance(named, type) and issubclass(named, Estimator)):
            raise UsageError(f"classifier {self.classifier!r} is no subclass of momus.estimator.Estimator")
        return construct(named, self.classifier_options or {}, place="classifier")

    def _pieces(self, batch: Corpus) -> tuple[list[str], Ints]:
        """The texts to classify, and the offsets of the documents, (n + 1,)."""
        return [d.text for d in batch], np.arange(len(batch) + 1)

    def project(self, batch: Corpus) -> StateSequences:
        """Classify each piece of each document by its own text."""
        texts, offsets = self._pieces(batch)
        inputs: Any = self.rows(Corpus.from_texts(texts)) if self.features else texts
        p = np.asarray(self._live().predict_proba(inputs), dtype=np.float64)
        if p.shape != (len(texts), len(self.classes_)):
            raise UsageError(
                f"the classifier returns an array of shape {p.shape} for {len(texts)} texts and "
                f"{len(self.classes_)} classes",
                hint="predict_proba must return one row per text and one column per class",
            )
        p = p / p.sum(axis=1, keepdims=True)
        return StateSequences(p.argmax(axis=1), offsets, p)

    def log_prior(self, latents: StateSequences) -> LogPrior:
        """E log P_c(z), exact under the posterior. M is the number of steps."""
        first, pairs = transitions_of(latents)
        value = xlogy(first, self.start_).sum(axis=1) + xlogy(pairs, self.move_).sum(axis=(1, 2))
        return LogPrior(value, latents.lengths)

    def summarize(self, latents: StateSequences) -> Pooled:
        """Expected visits and transitions."""
        visits, pairs = np.asarray(latents.marginals).sum(axis=0), transitions_of(latents)[1].sum(axis=0)
        return Pooled(len(latents), {"visits": visits, "pairs": pairs})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Tables of class shares and, for sequences, of transition shares, ordered by difference."""
        tables: list[Evidence] = [self._shares("visits", "Shares of classes", list(self.classes_), real, generated)]
        if self.sequence:
            names = [f"{a} → {b}" for a in self.classes_ for b in self.classes_]
            tables.append(self._shares("pairs", "Shares of transitions", names, real, generated))
        return tables

    def _shares(self, key: str, title: str, names: list[str], real: Pooled, generated: Pooled) -> Table:
        a, b = (s.arrays[key].ravel() / max(float(s.arrays[key].sum()), 1e-300) for s in (real, generated))
        order = np.argsort(-np.abs(b - a), kind="stable")[:SHOWN]
        rows = [(names[i], *(round(100 * float(v), 2) for v in (a[i], b[i], b[i] - a[i]))) for i in order]
        note = f"{real.documents:,} real and {generated.documents:,} generated documents; expected under the posterior."
        return Table(f"{self.name}-{key}", title, ("class", "real %", "generated %", "difference"), rows, note=note)

    def save(self, folder: str | Path) -> None:
        """Write the critic, with its classifier as arrays or by name.

        Raises
        ------
        StoreError
            The classifier can be saved in neither way.
        """
        check_fitted(self)
        params: dict[str, Any] = {}
        state, live, named = fitted_state(self), self._live(), isinstance(self.classifier, str)
        if "classifier_" in state and not named:
            params = {
                "classifier": name_of(type(live), "classifier"),
                "classifier_options": live.get_params(deep=False),
            }
        elif not isinstance(live, Estimator) and (
            not named or self.classifier_options or type(live).__module__.startswith(PACKAGE)
        ):
            params = {"classifier": self.classifier if named else ""}
            state["estimator_"] = SavedEstimator.of(live)
        save_named(self, folder, *(["features"] if self.features else []), state=state, **params)


def _called(name: str, options: Mapping[str, Any]) -> Any:
    return resolve(name, "classifier")(**options)


class SectionClasses(DocumentClasses):
    """z is the sequence of the classes of a document's sections, P_c a Markov chain; otherwise as `DocumentClasses`."""

    name = "section-classes"
    axis = "order of section classes"
    question = "Do section classes, as a classifier sees them, follow one another as in real documents?"
    reporting = replace(
        DocumentClasses.reporting,
        directions={
            **DocumentClasses.reporting.directions,
            "latent_nll": ("in a more probable order", "in a less probable order"),
        },
    )
    sequence = True

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Return ``no sections`` for documents without section marks."""
        return [None if s else "no sections" for s in batch.sectioned]

    def _pieces(self, batch: Corpus) -> tuple[list[str], Ints]:
        texts = [t or "" for t in batch.section_texts.to_pylist()]
        return texts, offsets_of(batch.section_counts)
