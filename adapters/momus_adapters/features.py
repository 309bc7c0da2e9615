"""Document features: arrays with one row per document, the input of critics built from other tools' models.

Features are a callable from a corpus to an array (n, …), or a `momus.estimator.Estimator` class with ``fit(corpus)``
whose fitted instances are such callables; the class is instantiated for each fit, and saved with the critic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from momus.critic.fitted import Fitted
from momus.errors import FittingError, UsageError
from momus.estimator import Estimator, construct, parametrized
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import counted, percentage
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


def make_features(named: Features, options: Mapping[str, Any] | None) -> Callable[[Corpus], Any]:
    """Resolve features to a callable; an `Estimator` class is instantiated, unfitted.

    Raises
    ------
    UsageError
        There is no such callable, or options are given for a function.
    """
    features = resolve(named, "features")
    if isinstance(features, type) and issubclass(features, Estimator):
        instance: Any = construct(features, dict(options or {}), place=f"features {features.__name__}")
        return instance  # type: ignore[no-any-return]
    if options:
        raise UsageError(
            "feature_options are given, but features is not an Estimator class", hint="leave feature_options out"
        )
    return features


class FeatureReader:
    """Of critics that read document features: fits them, keeps those that are an `Estimator`, and reads them again."""

    features: Features
    feature_options: dict[str, Any] | None

    def fit_reader(self, real: Corpus) -> Callable[[Corpus], Any]:
        """Fit the features on real text if they are an `Estimator`, and return them."""
        features: Any = self.new_features()
        if isinstance(features, Estimator):
            learner: Any = features
            learner.fit(real)
            self.features_: Any = learner
        return features  # type: ignore[no-any-return]

    def reader(self) -> Callable[[Corpus], Any]:
        """The fitted features, or those that the parameters name."""
        fitted = getattr(self, "features_", None)
        return fitted if fitted is not None else self.new_features()

    def new_features(self) -> Callable[[Corpus], Any]:
        """The unfitted features."""
        return make_features(self.features, self.feature_options)


def usable_of(features: Callable[[Corpus], Any], real: Corpus, least: int) -> Corpus:
    """The documents that have features.

    Raises
    ------
    FittingError
        They are fewer than ``least``.
    """
    usable = [i for i, reason in enumerate(unscored_of(features, real)) if reason is None]
    if len(usable) < least:
        raise FittingError(
            f"{len(usable)} of {counted(len(real), 'document')} of {real.name!r} have features",
            hint="give more real text",
        )
    return real.take(usable)


def check_features(state: Fitted) -> None:
    """Check that the features that a critic holds, if it holds any, were read as a component."""
    if "features_" in vars(state.estimator):
        state.component("features_")


def rows_of(features: Callable[[Corpus], Any], corpus: Corpus) -> Floats:
    """Compute the features of a corpus, float64 (n, …), and check that there is one row per document.

    Raises
    ------
    UsageError
        The callable returns anything else.
    """
    values = features(corpus)
    if hasattr(values, "todense"):  # a sparse matrix
        values = values.todense()
    rows = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values, dtype=np.float64)
    if rows.ndim == 0 or len(rows) != len(corpus):
        raise UsageError(
            f"features returns an array of shape {rows.shape} for {len(corpus)} documents",
            hint="return an array with one row per document, in order",
        )
    return rows


def unscored_of(features: Callable[[Corpus], Any], corpus: Corpus) -> list[str | None]:
    """Reasons why documents have no features: those of the callable's ``unscored`` method, else non-finite numbers."""
    unscored = getattr(features, "unscored", None)
    if unscored is not None:
        return list(unscored(corpus))
    if not len(corpus):
        return []
    return [None if np.isfinite(row).all() else "features are not finite" for row in rows_of(features, corpus)]
