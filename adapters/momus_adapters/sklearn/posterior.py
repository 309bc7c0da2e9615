"""Any classifier of scikit-learn over a section's words as posterior over section types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.errors import FittingError, UsageError
from momus.estimator import Estimator
from momus.numeric.temperature import calibration_error, fit_temperature, softmax
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus_adapters.saved.estimators import PACKAGE, SavedEstimator
from momus_adapters.saved.names import resolve


class SklearnPosterior(Estimator):
    """TF-IDF and a classifier named by the caller, calibrated by a temperature on held-out documents.

    ``Sections(posterior="sklearn", model="sklearn.naive_bayes:ComplementNB")`` uses it by name.

    Parameters
    ----------
    model
        ``"sklearn.module:Class"`` with ``predict_proba``; one whose state is arrays and numbers can be saved.
    parameters
        Of its constructor.
    words
        Most words of the vocabulary.
    validation
        Share of documents held out.
    seed
        Draws the held-out documents; the classifier's ``random_state`` where it has one.
    """

    def __init__(
        self,
        *,
        model: str = "sklearn.naive_bayes:MultinomialNB",
        parameters: dict[str, Any] | None = None,
        words: int = 20_000,
        validation: float = 0.2,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.parameters = parameters
        self.words = words
        self.validation = validation
        self.seed = seed

    def fit(self, corpus: Corpus, labels: NDArray[np.int64], states: int) -> Self:
        """Fit on some documents, choose the temperature on the others.

        Raises
        ------
        FittingError
            Too few labelled sections.
        UsageError
            The model is no classifier of scikit-learn with probabilities.
        """
        from sklearn.pipeline import make_pipeline

        rng = np.random.default_rng(self.seed)
        document = np.repeat(np.arange(len(corpus)), corpus.section_counts)
        held = np.isin(document, rng.permutation(len(corpus))[: max(1, round(self.validation * len(corpus)))])
        train, test = (np.flatnonzero(side & (labels >= 0)) for side in (~held, held))
        if len(np.unique(labels[train])) < 2 or not len(test):
            raise FittingError(
                f"{len(train)} labelled sections of {len(np.unique(labels[train]))} types are too few for a classifier",
                hint="give more documents with titles",
            )
        texts = [t or "" for t in corpus.section_texts.to_pylist()]
        pipeline = make_pipeline(self._vectorizer(), self._classifier())
        try:
            self._built_ = pipeline.fit([texts[i] for i in train], labels[train])
        except ValueError as error:
            raise FittingError(f"{self.model} cannot be fitted: {error}", hint="give more text") from error
        self.states_ = states
        self.estimator_ = SavedEstimator.of(self._built_)
        logits = self._logits([texts[i] for i in test])
        self.temperature_ = fit_temperature(logits, labels[test])
        self.held_out_ = {
            "accuracy": float((logits.argmax(axis=1) == labels[test]).mean()),
            "calibration_error": calibration_error(softmax(logits, self.temperature_), labels[test]),
            "sections": len(test),
        }
        return self

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(max_features=self.words, sublinear_tf=True)

    def _classifier(self) -> Any:
        if not self.model.startswith(PACKAGE):
            raise UsageError(f"model is {self.model!r}", hint='name a class of scikit-learn: "sklearn.module:Class"')
        found: Any = resolve(self.model, "model")
        if not hasattr(found, "predict_proba"):
            raise UsageError(f"{self.model} has no predict_proba", hint="name a classifier with probabilities")
        given = dict(self.parameters or {})
        try:
            if "random_state" in found().get_params():
                given.setdefault("random_state", self.seed)
            return found(**given)
        except TypeError as error:
            raise UsageError(f"{self.model}: {error}", hint="correct parameters") from error

    @property
    def held_out(self) -> Mapping[str, float]:
        """Accuracy and calibration error on the sections of held-out documents, which chose the temperature."""
        return getattr(self, "held_out_", {})

    def component(self, attribute: str) -> Estimator:
        """Make the empty part for the pipeline."""
        return SavedEstimator() if attribute == "estimator_" else super().component(attribute)

    def reset(self) -> None:
        """Drop what fitting has learned."""
        super().reset()
        vars(self).pop("_built_", None)

    def _logits(self, texts: list[str]) -> Floats:
        if getattr(self, "_built_", None) is None:
            self._built_ = self.estimator_.build()
        p = np.full((len(texts), self.states_), 1e-6)
        p[:, np.asarray(self._built_.classes_, dtype=np.int64)] += self._built_.predict_proba(texts)
        return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))

    def predict(self, batch: Corpus) -> Floats:
        """Return calibrated probabilities, float array (N, K)."""
        return softmax(self._logits([t or "" for t in batch.section_texts.to_pylist()]), self.temperature_)
