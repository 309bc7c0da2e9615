"""Document features: arrays with one row per document, the input of critics built from other tools' models.

Features are a callable from a corpus to an array (n, …), or a `momus.estimator.Estimator` class with ``fit(corpus)``
whose fitted instances are such callables; the class is instantiated for each fit, and saved with the critic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from momus.critic.fitted import Fitted
from momus.errors import FittingError, UsageError
from momus.estimator import Estimator, construct, parametrized
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus.text.tokens import Tokenizer, get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_adapters.saved import resolve

Features = str | Callable[..., Any]
BAG = "momus_adapters.features:BagOfWords"


@parametrized
class BagOfWords(Estimator):
    """Word counts over a vocabulary, dense float64 (n, V).

    Parameters
    ----------
    min_count, max_share, vocabulary_size, letters
        Rules of the vocabulary, see `momus.text.vocabulary.VocabularyRules`.
    tokens, lower
        The tokenizer, see `momus.text.tokens.get_tokenizer`.

    >>> bag = BagOfWords(min_count=1, max_share=1.0).fit(Corpus.from_texts(["cat dog cat", "dog"]))
    >>> bag(Corpus.from_texts(["dog cat cat emu"])), bag.words_
    (array([[2., 1.]]), ['cat', 'dog'])
    """

    min_count: int = 5
    max_share: float = 0.5
    vocabulary_size: int = 2000
    letters: bool = True
    tokens: str = "words"
    lower: bool = True

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the parameters name."""
        return get_tokenizer(self.tokens, self.lower)

    def fit(self, corpus: Corpus) -> Self:
        """Build the vocabulary.

        Raises
        ------
        FittingError
            No word satisfies the rules.
        """
        rules = VocabularyRules(self.min_count, self.max_share, self.vocabulary_size, letters=self.letters)
        self.words_ = build_vocabulary(corpus.tokens(self.tokenizer), rules)
        if not self.words_:
            raise FittingError(
                f"no word of {corpus.name!r} occurs {self.min_count} times and in at most "
                f"{percentage(self.max_share, 0)} of documents",
                hint="give more real text, or lower min_count",
            )
        return self

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        state.texts("words_", least=1)

    def __call__(self, corpus: Corpus) -> Floats:
        """Count the words of each document, float64 (n, V)."""
        return np.asarray(count_words(corpus.tokens(self.tokenizer), self.words_).todense(), dtype=np.float64)

    def unscored(self, corpus: Corpus) -> list[str | None]:
        """Return ``no known word`` for documents that have none."""
        known = np.diff(count_words(corpus.tokens(self.tokenizer), self.words_).indptr)
        return [None if n else "no known word" for n in known]


class FeatureReader:
    """Of critics that read document features: fits them, keeps those that are an `Estimator`, and reads them again."""

    features: Features
    feature_options: dict[str, Any] | None

    def fit_reader(self, real: Corpus) -> None:
        """Fit the features on real text if they are an `Estimator`."""
        features = self.new_features()
        if isinstance(features, Estimator):
            learner: Any = features
            learner.fit(real)
            self.features_: Any = learner

    def new_features(self) -> Callable[[Corpus], Any]:
        """The unfitted features: a callable, or an instance of an `Estimator` class.

        Raises
        ------
        UsageError
            There is no such callable, or options are given for a function.
        """
        features = resolve(self.features, "features")
        if isinstance(features, type) and issubclass(features, Estimator):
            learner: Any = construct(features, self.feature_options or {}, place=f"features {features.__name__}")
            return learner  # type: ignore[no-any-return]
        if self.feature_options:
            raise UsageError(
                "feature_options are given, but features is not an Estimator class", hint="leave feature_options out"
            )
        return features

    def reader(self) -> Callable[[Corpus], Any]:
        """The fitted features, or those that the parameters name."""
        fitted = getattr(self, "features_", None)
        return fitted if fitted is not None else self.new_features()

    def check_features(self, state: Fitted) -> None:
        """Check that features that came with a folder were read as a component."""
        if "features_" in vars(self):
            state.component("features_")

    def rows(self, corpus: Corpus) -> Floats:
        """Compute the features of a corpus, float64 (n, …), and check that there is one row per document.

        Raises
        ------
        UsageError
            The callable returns anything else.
        """
        values = self.reader()(corpus)
        if hasattr(values, "todense"):  # a sparse matrix
            values = values.todense()
        rows = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, dtype=np.float64)
        if rows.ndim == 0 or len(rows) != len(corpus):
            raise UsageError(
                f"features returns an array of shape {rows.shape} for {len(corpus)} documents",
                hint="return an array with one row per document, in order",
            )
        return rows

    def without_features(self, corpus: Corpus) -> list[str | None]:
        """Why documents have no features: by the callable's method ``unscored``, else if numbers are not finite."""
        unscored = getattr(self.reader(), "unscored", None)
        if unscored is not None:
            return list(unscored(corpus))
        finite = [bool(np.isfinite(row).all()) for row in self.rows(corpus)] if len(corpus) else []
        return [None if good else "features are not finite" for good in finite]
