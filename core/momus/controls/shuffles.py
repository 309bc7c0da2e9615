"""Shuffles: text that keeps its n-grams and loses all longer order."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer


def shuffle_ngrams(ids: NDArray[np.integer], n: int, seed: int) -> NDArray[np.integer]:
    """Cut a stream into consecutive n-grams and put these into random order; a shorter rest stays at the end.

    >>> shuffle_ngrams(np.arange(7), 3, seed=4).tolist()
    [3, 4, 5, 0, 1, 2, 6]
    """
    whole = len(ids) // n * n
    order = np.random.default_rng(seed).permutation(whole // n)
    shuffled: NDArray[np.integer] = np.concatenate([ids[:whole].reshape(-1, n)[order].ravel(), ids[whole:]])
    return shuffled


def shuffle_corpus(corpus: Corpus, tokenizer: Tokenizer, n: int, seed: int) -> Corpus:
    """Shuffle the running text of a whole corpus, and cut it again at the lengths of its documents."""
    table = corpus.tokens(tokenizer)
    ids = shuffle_ngrams(table.ids, n, seed).tolist()
    words, offsets = table.vocabulary, table.offsets
    texts = [" ".join(words[i] for i in ids[a:b]) for a, b in itertools.pairwise(offsets)]
    return Corpus.from_texts(texts, ids=corpus.ids, prompts=corpus.prompts, name=f"{corpus.name}, {n}-grams shuffled")
