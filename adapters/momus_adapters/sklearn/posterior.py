"""Any scikit-learn classifier of a section's words as posterior over section types."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from momus.critic.fitted import Fitted
from momus.critic.tools import CalibratedPosterior
from momus.errors import FittingError, UsageError
from momus.estimator import parametrized
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.temperature import softmax
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_adapters.saved import PACKAGE, SavedEstimator, resolve


@parametrized
class SklearnPosterior(CalibratedPosterior):
    """TF-IDF and a scikit-learn classifier of your choice, calibrated by a temperature on held-out documents.

    Use it by name: ``Sections(posterior="sklearn", model="sklearn.naive_bayes:ComplementNB")``.

    Parameters
    ----------
    model
        ``"sklearn.module:Class"`` with ``predict_proba``; it can be saved if its state is arrays and numbers.
    options
        Keyword arguments of its constructor.
    vocabulary_size
        Maximum size of the vocabulary.
    validation
        Share of documents held out.
    seed
        Seeds the choice of held-out documents, and the classifier's ``random_state`` if it has one.
    """

    model: str = "sklearn.naive_bayes:MultinomialNB"
    options: dict[str, Any] | None = None
    vocabulary_size: int = 20_000
    validation: float = 0.2
    seed: int = 0

    def fit(self, corpus: Corpus, labels: Ints, states: int) -> Self:
        """Fit on most documents, and the temperature on the held-out ones.

        Raises
        ------
        FittingError
            There are too few labelled sections.
        UsageError
            The model is no scikit-learn classifier with probabilities.
        """
        from sklearn.pipeline import make_pipeline

        rng = np.random.default_rng(self.seed)
        document = owners_of(offsets_of(corpus.section_counts))  # the document of each section, (N,)
        held = np.isin(document, rng.permutation(len(corpus))[: max(1, round(self.validation * len(corpus)))])
        train, test = (np.flatnonzero(side & (labels >= 0)) for side in (~held, held))
        if len(np.unique(labels[train])) < 2 or not len(test):
            raise FittingError(
                f"{len(train)} labelled sections of {len(np.unique(labels[train]))} types are too few for a classifier",
                hint="give more documents with section titles",
            )
        texts = [t or "" for t in corpus.section_texts.to_pylist()]
        pipeline = make_pipeline(self._vectorizer(), self._classifier())
        try:
            pipeline.fit([texts[i] for i in train], labels[train])
        except ValueError as error:
            raise FittingError(f"{self.model} cannot be fitted: {error}", hint="give more text") from error
        self.states_ = states
        self.estimator_ = SavedEstimator.of(pipeline)
        logits = self._logits([texts[i] for i in test])
        self.calibrate(logits, labels[test])
        return self

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        super().check_state(state)
        state.component("estimator_", SavedEstimator)
        state.integer("states_", low=1)

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(max_features=self.vocabulary_size, sublinear_tf=True)

    def _classifier(self) -> Any:
        if not self.model.startswith(PACKAGE):
            raise UsageError(f"model is {self.model!r}", hint='name a scikit-learn class: "sklearn.module:Class"')
        classifier: Any = resolve(self.model, "model")
        if not hasattr(classifier, "predict_proba"):
            raise UsageError(f"{self.model} has no predict_proba", hint="name a classifier with probabilities")
        options = dict(self.options or {})
        try:
            if "random_state" in classifier().get_params():
                options.setdefault("random_state", self.seed)
            return classifier(**options)
        except TypeError as error:
            raise UsageError(f"{self.model}: {error}", hint="correct options") from error

    def new_estimator(self) -> SavedEstimator:
        """What the saved pipeline is read into."""
        return SavedEstimator()

    def _logits(self, texts: list[str]) -> Floats:
        p = np.full((len(texts), self.states_), 1e-6)  # the classifier knows only the types of its training sections
        p[:, np.asarray(self.estimator_.classes_, dtype=np.int64)] += self.estimator_.predict_proba(texts)
        return np.asarray(np.log(p / p.sum(axis=1, keepdims=True)))

    def predict(self, batch: Corpus) -> Floats:
        """Calibrated probabilities, float array (N, K)."""
        return softmax(self._logits([t or "" for t in batch.section_texts.to_pylist()]), self.temperature_)
