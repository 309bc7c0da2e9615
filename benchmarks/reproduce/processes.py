"""Reference texts: shuffled n-grams, and processes with known laws (Simon's process, the Pitman–Yor process)."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Bools, Floats, Ints
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


def simon(n: int, alpha: float, seed: int) -> NDArray[np.int32]:
    """Sample Simon's process (1955): a new word with probability α, else a copy of a random earlier token.

    Each copy points to an earlier position. Pointer doubling resolves all pointers to new words in O(n log n).

    Parameters
    ----------
    n
        Number of tokens.
    alpha
        Probability of a new word, in (0, 1).

    Returns
    -------
    int32 (n,): word numbers, by first appearance.

    >>> simon(6, 0.5, seed=1).tolist()
    [0, 0, 1, 0, 2, 3]
    """
    rng = np.random.default_rng(seed)
    new = rng.random(n) < alpha
    new[0] = True
    position = np.arange(n)
    # pointer[t] is t for a new word, else the position copied; (n,)
    pointer = np.where(new, position, (rng.random(n) * position).astype(np.int64))
    number = np.cumsum(new) - 1
    return number[_resolved(pointer)].astype(np.int32)


def pitman_yor(n: int, discount: float, strength: float, seed: int) -> NDArray[np.int32]:
    """Sample the Pitman–Yor process (1997), as a Chinese restaurant process with one dish per table.

    Token t + 1 is a new word K + 1 with probability (strength + discount · K)/(strength + t), else it repeats word k
    with probability (n_k − discount)/(strength + t). Repetitions are sampled by rejection: the word of a random earlier
    token is rejected with probability ``discount`` if that token is the first of its word.

    Parameters
    ----------
    n
        Number of tokens.
    discount
        In [0, 1).
    strength
        Above −discount.

    Returns
    -------
    int32 (n,): word numbers, by first appearance.

    >>> pitman_yor(6, 0.5, 1.0, seed=0).tolist()
    [0, 1, 2, 3, 2, 3]
    """
    rng = np.random.default_rng(seed)
    new = _openings(n, discount, strength, rng.random(n))
    pointer = np.arange(n)
    pending = np.flatnonzero(~new)  # positions that still need an accepted earlier token
    while len(pending):
        earlier = (rng.random(len(pending)) * pending).astype(np.int64)
        rejected = new[earlier] & (rng.random(len(pending)) < discount)
        pointer[pending[~rejected]] = earlier[~rejected]
        pending = pending[rejected]
    return (np.cumsum(new) - 1)[_resolved(pointer)].astype(np.int32)


def _resolved(pointer: Ints) -> Ints:
    """Follow pointers to earlier positions, (n,), until each ends at a position that points to itself."""
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            return pointer
        pointer = further


def _openings(n: int, discount: float, strength: float, uniform: Floats) -> Bools:
    """Which tokens are new words; sequential, because each probability depends on the number of words before."""
    new = np.zeros(n, dtype=bool)
    words = 0
    for t, u in enumerate(uniform.tolist()):
        if t == 0 or u * (strength + t) < strength + discount * words:
            new[t] = True
            words += 1
    return new
