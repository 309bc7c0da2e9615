"""Terms: words and phrases of up to five tokens, found in how many documents and where.

A term is a run of tokens within one sentence that begins and ends with a word. Its key is a 64-bit hash of its tokens,
so terms of texts with different vocabularies compare as integers. Among 10⁷ terms, two share a key with probability
3·10⁻⁶.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import changes, offsets_of, owners_of
from momus.numeric.types import Bools, Ints
from momus.text.digests import is_among
from momus_critics.prose.examples import FACTOR
from momus_critics.prose.reading import Prose

Keys = NDArray[np.uint64]
LONGEST = 5


def keys_at(prose: Prose, starts: Ints, n: int) -> Keys:
    """The keys of the runs of n tokens that begin at some tokens, uint64 (starts,)."""
    keys = np.zeros(len(starts), dtype=np.uint64)
    for k in range(n):
        # a polynomial in uint64, where overflow is arithmetic modulo 2⁶⁴, as in `key_of`
        keys = keys * FACTOR + prose.hashes[starts + k]
    return keys


def key_of(term: str) -> int:
    """The key of a term, given as its tokens joined by spaces."""
    key = 0
    for word in term.split(" "):
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        key = (key * int(FACTOR) + int.from_bytes(digest, "little")) % 2**64
    return key


def occurrences(prose: Prose, n: int) -> tuple[Keys, Ints]:
    """Find all terms of n tokens: the key and the first token of each occurrence, uint64 and int64 (N,).

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> from momus_critics.prose.reading import read_prose
    >>> prose = read_prose(Corpus.from_texts(["On and on. And on, he went"]).tokens(paragraph_tokenizer("words")))
    >>> keys, starts = occurrences(prose, 2)
    >>> starts.tolist(), bool(keys[1] == keys[2])
    ([0, 1, 4, 7], True)
    """
    count = max(len(prose.ids) - n + 1, 0)
    if not count:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    last = slice(n - 1, n - 1 + count)
    # symbols may stand within a term, not at its ends
    start = prose.alphabetic[:count] & prose.alphabetic[last] & (prose.sentences[:count] == prose.sentences[last])
    starts = np.flatnonzero(start)
    return keys_at(prose, starts, n), starts


def frequent_terms(texts: Sequence[Prose], least: int, most: int) -> list[str]:
    """The terms that at least ``least`` documents of all texts together have, longer and more frequent ones first.

    Each length has a quota of ``most`` / `LONGEST` terms; what a longer one leaves goes to the next shorter one. A
    phrase is looked for only where both phrases that are one token shorter are frequent, which loses none.

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> from momus_critics.prose.reading import read_prose
    >>> prose = read_prose(Corpus.from_texts(["as it were", "as it is"]).tokens(paragraph_tokenizer("words")))
    >>> frequent_terms([prose], 2, 100)
    ['as it', 'as', 'it']
    """
    # alive[t]: tokens of text t at which a frequent run of n − 1 tokens starts, symbols at its ends included
    alive = [np.ones(len(p.ids), dtype=bool) for p in texts]
    firsts = offsets_of([len(p) for p in texts])  # documents before those of each text
    by_length = []
    for n in range(1, LONGEST + 1):
        starts = [_runs(prose, mask, n) for prose, mask in zip(texts, alive, strict=True)]
        runs = [keys_at(prose, at, n) for prose, at in zip(texts, starts, strict=True)]
        owners = [owners_of(p.offsets)[at] + first for p, at, first in zip(texts, starts, firsts, strict=False)]
        keys, counts = document_frequencies(np.concatenate(runs), np.concatenate(owners))
        often = dict(zip(keys[counts >= least].tolist(), counts[counts >= least].tolist(), strict=True))
        terms: dict[int, str] = {}
        for t, (prose, run) in enumerate(zip(texts, runs, strict=True)):
            at, alive[t] = starts[t][is_among(run, keys[counts >= least])], np.zeros(len(prose.ids), dtype=bool)
            alive[t][at] = True
            words = at[prose.alphabetic[at] & prose.alphabetic[at + n - 1]]
            distinct, place = np.unique(keys_at(prose, words, n), return_index=True)
            for key, start in zip(distinct.tolist(), words[place].tolist(), strict=True):
                terms[key] = " ".join(prose.words[i] for i in prose.ids[start : start + n].tolist())
        # by number of documents, then by their tokens
        by_length.append([term for _, term in sorted((-often[key], term) for key, term in terms.items())])
    chosen: list[str] = []
    for n in range(LONGEST, 0, -1):
        chosen += by_length[n - 1][: (most - len(chosen)) // n]
    return chosen


def _runs(prose: Prose, alive: Bools, n: int) -> Ints:
    """Tokens at which n tokens of one sentence start, both runs of which that are one token shorter are frequent."""
    count = max(len(prose.ids) - n + 1, 0)
    if n == 1:
        return np.flatnonzero(alive)
    within = prose.sentences[:count] == prose.sentences[n - 1 : n - 1 + count]
    return np.flatnonzero(alive[:count] & alive[1 : count + 1] & within)


def document_frequencies(keys: Keys, documents: Ints) -> tuple[Keys, Ints]:
    """Distinct keys in ascending order, and the number of different documents of each; documents must ascend.

    >>> document_frequencies(np.array([5, 3, 5, 5], dtype=np.uint64), np.array([0, 0, 0, 1]))[1].tolist()
    [1, 2]
    """
    order = np.argsort(keys, kind="stable")
    k, d = keys[order], documents[order]
    new_key = changes(k)
    # stable sort: within equal keys, documents ascend, so that each document begins where it changes
    new = new_key | changes(d)
    number = np.cumsum(new_key) - 1
    return k[new_key], np.bincount(number[new], minlength=int(new_key.sum()))
