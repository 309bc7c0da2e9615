"""Features of documents: arrays with one row per document, the input of critics made of other tools' models.

Features are a callable from a corpus to an array (n, …), or a `momus.estimator.Estimator` class with ``fit(corpus)``
that is such a callable once fitted; the class is constructed anew for each fit, and saved with the critic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from momus.errors import FittingError, UsageError
from momus.estimator import Estimator
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer, get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_adapters.saved.names import resolve

Features = str | Callable[..., Any]
BAG = "momus_adapters.features:BagOfWords"


class BagOfWords(Estimator):
    """Counts over a vocabulary, dense float64 (n, V).

    Parameters
    ----------
    least_count, most_documents, most_words, letters
        The vocabulary, see `momus.text.vocabulary.VocabularyRules`.
    scale
        ``counts``; ``shares`` (of the document's known words); ``log`` (log of 1 + count).
    tokens, lower
        The tokenizer.

    >>> bag = BagOfWords(least_count=1, most_documents=1.0).fit(Corpus.from_texts(["cat dog cat", "dog"]))
    >>> bag(Corpus.from_texts(["dog cat cat emu"])), bag.words_
    (array([[2., 1.]]), ['cat', 'dog'])
    """

    def __init__(
        self,
        *,
        least_count: int = 5,
        most_documents: float = 0.5,
        most_words: int = 2000,
        letters: bool = True,
        scale: str = "counts",
        tokens: str = "words",
        lower: bool = True,
    ) -> None:
        self.least_count = least_count
        self.most_documents = most_documents
        self.most_words = most_words
        self.letters = letters
        self.scale = scale
        self.tokens = tokens
        self.lower = lower

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the parameters name."""
        return get_tokenizer(self.tokens, self.lower)

    def fit(self, corpus: Corpus) -> Self:
        """Build the vocabulary.

        Raises
        ------
        FittingError
            No word is left.
        """
        if self.scale not in ("counts", "shares", "log"):
            raise UsageError(f"scale is {self.scale!r}", hint="choose one of counts, shares, log")
        rules = VocabularyRules(self.least_count, self.most_documents, self.most_words, letters=self.letters)
        self.words_ = build_vocabulary(corpus.tokens(self.tokenizer), rules)
        if not self.words_:
            raise FittingError(
                f"no word of {corpus.name!r} occurs {self.least_count} times and in at most {self.most_documents:.0%} "
                "of documents",
                hint="give more real text, or lower least_count",
            )
        return self

    def __call__(self, corpus: Corpus) -> Floats:
        """Count the words of each document."""
        counts = np.asarray(count_words(corpus.tokens(self.tokenizer), self.words_).todense(), dtype=np.float64)
        if self.scale == "log":
            return np.asarray(np.log1p(counts))
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0) if self.scale == "shares" else counts

    def unscored(self, corpus: Corpus) -> list[str | None]:
        """Documents without a known word."""
        known = np.diff(count_words(corpus.tokens(self.tokenizer), self.words_).indptr)
        return [None if n else "no known word" for n in known]


def make_features(given: Features, options: Mapping[str, Any] | None) -> Callable[[Corpus], Any]:
    """Make the callable; a class of `Estimator` is constructed, unfitted.

    Raises
    ------
    UsageError
        There is no such callable, or options are given to a function.
    """
    found = resolve(given, "features")
    if isinstance(found, type) and issubclass(found, Estimator):
        made: Any = found.with_params(dict(options or {}), place=f"features {found.__name__}")
        return made  # type: ignore[no-any-return]
    if options:
        raise UsageError("feature_options are for features that are a class", hint="leave them out")
    return found


def fit_features(features: Callable[[Corpus], Any], real: Corpus) -> None:
    """Fit features that can be."""
    if isinstance(features, Estimator):
        learner: Any = features
        learner.fit(real)


def rows_of(features: Callable[[Corpus], Any], corpus: Corpus) -> Floats:
    """Compute the rows of a corpus, float64 (n, …), and check that there is one for each document.

    Raises
    ------
    UsageError
        The callable gives something else.
    """
    found = features(corpus)
    if hasattr(found, "todense"):
        found = found.todense()
    rows = np.asarray(found.detach().cpu() if hasattr(found, "detach") else found, dtype=np.float64)
    if rows.ndim == 0 or len(rows) != len(corpus):
        raise UsageError(
            f"features give an array of shape {rows.shape} for {len(corpus)} documents",
            hint="give an array with one row for each document, in order",
        )
    return rows


def unscored_of(features: Callable[[Corpus], Any], corpus: Corpus) -> list[str | None]:
    """Why documents have no features: the callable's own reasons (``unscored``), else numbers that are not finite."""
    own = getattr(features, "unscored", None)
    reasons: list[str | None] = list(own(corpus)) if own is not None else [None] * len(corpus)
    kept = [i for i, r in enumerate(reasons) if r is None]
    if own is None and kept:
        rows = rows_of(features, corpus)
        bad = [not np.isfinite(row).all() for row in rows]
        reasons = ["features are not finite" if b else None for b in bad]
    return reasons
