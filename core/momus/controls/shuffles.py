"""Shuffles that keep the n-grams of a text and destroy all longer order."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer


def shuffle_ngrams(ids: NDArray[np.integer], n: int, seed: int) -> NDArray[np.integer]:
    """Split a stream into consecutive n-grams and shuffle them; a shorter rest stays at the end.

    >>> shuffle_ngrams(np.arange(7), 3, seed=4).tolist()
    [3, 4, 5, 0, 1, 2, 6]
    """
    whole = len(ids) // n * n
    order = np.random.default_rng(seed).permutation(whole // n)
    shuffled: NDArray[np.integer] = np.concatenate([ids[:whole].reshape(-1, n)[order].ravel(), ids[whole:]])
    return shuffled


def shuffle_corpus(corpus: Corpus, tokenizer: Tokenizer, n: int, seed: int) -> Corpus:
    """Shuffle the n-grams of a whole corpus, and split the result into documents of the original lengths."""
    table = corpus.tokens(tokenizer)
    ids = shuffle_ngrams(table.ids, n, seed).tolist()
    words, offsets = table.vocabulary, table.offsets
    texts = [" ".join(words[i] for i in ids[a:b]) for a, b in itertools.pairwise(offsets)]
    name = f"{corpus.name}, {n}-grams shuffled"
    return Corpus.from_texts(texts, ids=corpus.ids, prompts=corpus.prompts, name=name, groups=corpus.groups)
