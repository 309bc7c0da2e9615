"""Word counts as features of documents: arrays with one row per document, the input of Pyro programs."""

from __future__ import annotations

from typing import Self

import numpy as np

from momus.errors import FittingError
from momus.estimator import Estimator, parametrized
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus.text.tokens import Tokenizer, get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words

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

    def __call__(self, corpus: Corpus) -> Floats:
        """Count the words of each document, float64 (n, V)."""
        return np.asarray(count_words(corpus.tokens(self.tokenizer), self.words_).todense(), dtype=np.float64)

    def unscored(self, corpus: Corpus) -> list[str | None]:
        """Return ``no known word`` for documents that have none."""
        known = np.diff(count_words(corpus.tokens(self.tokenizer), self.words_).indptr)
        return [None if n else "no known word" for n in known]
