"""n-gram samplers fitted on text, with the smoothings of `momus.sequences.ngram.NGramModel`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from momus.numeric.types import Floats
from momus.sequences.ngram import Smoothing
from momus.sequences.ngram_text import NGramText
from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer

END = "</s>"


class NGramSampler:
    """An n-gram model of documents, with exact conditional distributions, that samples new documents.

    Parameters
    ----------
    order
        Order n.
    smoothing
        See `momus.sequences.ngram.NGramModel`.

    >>> from momus.text.tokens import get_tokenizer
    >>> model = NGramSampler(2, "none").fit(Corpus.from_texts(["a b", "a c"]), get_tokenizer("words"))
    >>> {w: float(p) for w, p in zip(model.vocabulary, model.conditional(["a"])) if p > 0}
    {'b': 0.5, 'c': 0.5}
    """

    def __init__(self, order: int, smoothing: Smoothing = "kneser-ney") -> None:
        self.order, self.smoothing = order, smoothing

    def fit(self, corpus: Corpus, tokenizer: Tokenizer) -> NGramSampler:
        """Count n-grams of all orders."""
        self.model = NGramText(self.order, tokenizer, self.smoothing, unknown=False).fit_corpus(corpus)
        self.vocabulary: list[str] = [*self.model.vocabulary, END]
        self._index = {w: i for i, w in enumerate(self.vocabulary)}
        return self

    def conditional(self, context: Sequence[str]) -> Floats:
        """P(next | context) over ``vocabulary``; contexts shorter than n − 1 begin a document.

        Raises
        ------
        UsageError
            The model is unsmoothed and the context does not occur in its text.
        """
        n, begin, unknown = self.order - 1, self.model.size, self.model.size + 1
        padded = [begin] * n + [self._index.get(w, unknown) for w in context]
        codes = np.array([padded[len(padded) - n :]], dtype=np.int64)
        return np.asarray(self.model.distributions(codes)[0])

    def sample(self, documents: int, seed: int, longest: int = 10_000, name: str = "sampled") -> Corpus:
        """Sample documents; each has a seed derived from its number, so sampling more keeps the first ones."""
        generating = pytest.importorskip("momus_generating", reason="pip install -e examples/generating")
        texts: list[str] = []
        for a in range(0, documents, self.model.batch):
            seeds = generating.document_seeds(seed, min(a + self.model.batch, documents), a)
            drawn = generating.sample(self.model, None, generating.Decoding(longest=longest), seeds)
            texts += self.model.decode(drawn.sequences)
        return Corpus.from_texts(texts, name=name)
