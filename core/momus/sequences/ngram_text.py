"""n-gram models of texts: `NGramModel` with a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Ints
from momus.sequences.ngram import NGramModel, Smoothing
from momus.sequences.types import Sequences
from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer


class NGramText(NGramModel):
    """An n-gram model of words that scores and generates texts.

    Parameters
    ----------
    order, smoothing
        See `NGramModel`.
    tokenizer
        Splits texts into words.
    unknown
        Whether all unseen words share one symbol. Smoothing gives it the probability of one unseen symbol, and it may
        be sampled; without it, an unseen word is an error.

    >>> from momus.text.tokens import get_tokenizer
    >>> model = NGramText(2, get_tokenizer("words")).fit_corpus(Corpus.from_texts(["a b", "a c"]))
    >>> model.score_texts(["a b", "a zzz"]).totals.round(2).tolist()
    [-2.12, -4.05]
    """

    def __init__(
        self,
        order: int,
        tokenizer: Tokenizer,
        smoothing: Smoothing = "kneser-ney",
        unknown: bool = True,
    ) -> None:
        super().__init__(order, smoothing)
        self.tokenizer, self.unknown = tokenizer, unknown

    def fit_corpus(self, corpus: Corpus) -> Self:
        """Tokenize a corpus and count its n-grams."""
        table = corpus.tokens(self.tokenizer)
        self.vocabulary = list(table.vocabulary)
        self._index = {w: i for i, w in enumerate(self.vocabulary)}
        self.fit(Sequences(table.ids.astype(np.int64), table.offsets), len(self.vocabulary) + self.unknown)
        return self

    def restore(self, vocabulary: Sequence[str], keys: Ints, counts: Ints) -> Self:
        """Rebuild the model from its vocabulary and ``counted``, the n-grams of the highest order and their counts."""
        self.vocabulary = list(vocabulary)
        self._index = {w: i for i, w in enumerate(self.vocabulary)}
        self._set_size(len(self.vocabulary) + self.unknown)
        return self._keep(np.asarray(keys, dtype=np.int64), np.asarray(counts, dtype=np.int64))

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Return the word numbers of texts.

        Raises
        ------
        UsageError
            A word is unseen, and the model has no symbol for unseen words.
        """
        return self.encode_corpus(Corpus.from_texts(list(texts)))

    def encode_corpus(self, corpus: Corpus) -> Sequences:
        """Return the word numbers of a corpus; tokens that it has cached are reused."""
        table = corpus.tokens(self.tokenizer)
        codes = table.codes(self._index, unknown=len(self.vocabulary)).astype(np.int64)
        if not self.unknown and len(codes) and codes.max() == len(self.vocabulary):
            word = table.vocabulary[int(table.ids[int(np.argmax(codes))])]
            raise UsageError(
                f"{word!r} does not occur in the text that the {self.name} model was fitted on",
                hint="remove such prompts, or fit on more text",
            )
        return Sequences(codes, table.offsets)

    def decode(self, sequences: Sequences) -> list[str]:
        """Return texts: words separated by spaces."""
        names = [*self.vocabulary, "<unk>"]
        return [" ".join(names[w] for w in sequences[i].tolist()) for i in range(len(sequences))]
