"""Which terms documents have, and where each stands first.

Long documents have more terms than short ones. To compare texts of different lengths, a term counts by the share of the
windows of W consecutive tokens of its document that have it: 1 or 0 in a document of at most W tokens. That is the
expectation of its presence in a random window, without any randomness.

The process over terms: each is in a window or not, independently, with a probability that grows with length.

    P(term j in a window of n tokens) = 1 − (1 − p_j)^s, s = (n / n̄)^γ

n̄ is the mean length of windows of real documents, p_j = (d_j + ½) / (D + 1) if d_j of the D real documents are expected
to have the term in a window (the mean of its posterior under a Beta(½, ½) prior), and γ maximises the likelihood: 1 if
terms fell at random, less if they cluster in some documents.
A term is a run of tokens within one sentence that begins and ends with a word. Its key is a 64-bit hash of its tokens,
so terms of texts with different vocabularies compare as integers. Among 10⁷ terms, two share a key with probability
3·10⁻⁶.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.estimator import Estimator
from momus.numeric.ragged import changes, distinct, number_keys, offsets_of, owners_of
from momus.numeric.types import Bools, Floats, Ints
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


@lru_cache(maxsize=16_384)  # terms are looked up in each batch
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
    tokens = _joined(texts)
    # whether a frequent run of n − 1 tokens, symbols at its ends included, starts at each token, and the run's number
    alive, number = np.ones(len(tokens.ids), dtype=bool), np.zeros(len(tokens.ids), dtype=np.int64)
    by_length = []
    for n in range(1, LONGEST + 1):
        starts = _runs(tokens.sentences, alive, n)
        runs, first, _ = number_keys(number[starts] * len(tokens.words) + tokens.ids[starts + n - 1])
        pairs, _ = distinct(runs, tokens.documents[starts])
        counts = np.bincount(pairs[0], minlength=len(first))  # documents with each run
        often = counts[runs] >= least
        alive, number = np.zeros_like(alive), np.zeros_like(number)
        alive[starts[often]], number[starts] = True, runs
        at = starts[first]  # where each run stands first
        terms = np.flatnonzero((counts >= least) & tokens.alphabetic[at] & tokens.alphabetic[at + n - 1])
        spelled = (" ".join(tokens.words[i] for i in tokens.ids[at[k] : at[k] + n].tolist()) for k in terms.tolist())
        # by number of documents, then by their tokens
        by_length.append([term for _, term in sorted(zip((-counts[terms]).tolist(), spelled, strict=True))])
    chosen: list[str] = []
    for n in range(LONGEST, 0, -1):
        chosen += by_length[n - 1][: (most - len(chosen)) // n]
    return chosen


@dataclass(frozen=True)
class _Tokens:
    """The tokens of several texts, one after another: numbers of words, sentences and documents, and letters; (N,)."""

    words: list[str]
    ids: Ints
    sentences: Ints
    documents: Ints
    alphabetic: Bools


def _joined(texts: Sequence[Prose]) -> _Tokens:
    """Join texts, whose words then have common numbers, and whose sentences and documents have numbers of their own."""
    numbers: dict[str, int] = {}
    ids = [np.array([numbers.setdefault(w, len(numbers)) for w in p.words], dtype=np.int64)[p.ids] for p in texts]
    first = offsets_of([len(p) for p in texts])
    documents = [owners_of(p.offsets) + before for p, before in zip(texts, first, strict=False)]
    last = offsets_of([int(p.sentences.max(initial=-1)) + 1 for p in texts])
    sentences = [p.sentences + before for p, before in zip(texts, last, strict=False)]
    return _Tokens(list(numbers), *map(np.concatenate, (ids, sentences, documents, [p.alphabetic for p in texts])))


def _runs(sentences: Ints, alive: Bools, n: int) -> Ints:
    """Tokens at which n tokens of one sentence start, both runs of which that are one token shorter are frequent."""
    if n == 1:
        return np.flatnonzero(alive)
    count = max(len(sentences) - n + 1, 0)
    return np.flatnonzero(
        alive[:count] & alive[1 : count + 1] & (sentences[:count] == sentences[n - 1 : n - 1 + count])
    )


CHUNK = 256
"""Documents whose probabilities of all terms are in memory at once."""


class TermProcess(Estimator):
    """Independent terms; see the module.

    The presence of V terms is given as the probability that each is in a window of each document, CSR (n, ≥ V), of
    which the first V columns count, and the number of tokens of each document's window, int64 (n,).
    """

    def fit(self, matrix: sparse.csr_array, lengths: Ints) -> Self:
        """Estimate the probabilities of all terms, and how they grow with length."""
        from scipy.optimize import minimize_scalar

        self.length_ = float(max(lengths.mean(), 1.0))
        counts = np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()  # (V,)
        self.probabilities_ = (counts + 0.5) / (len(lengths) + 1.0)

        def loss(growth: float) -> float:
            self.growth_ = growth
            return -float(self.log_probabilities(matrix, lengths).sum())

        self.growth_ = 1.0
        optimum = minimize_scalar(loss, bounds=(0.0, 1.5), method="bounded", options={"xatol": 0.01})
        self.growth_ = float(optimum.x)
        return self

    def _exponents(self, lengths: Ints) -> Floats:
        """s of each document, (n,)."""
        return np.asarray((np.maximum(lengths, 1) / self.length_) ** self.growth_)

    def of(self, lengths: Ints, terms: Ints) -> Floats:
        """P of each pair of a document's length and a term, (N,)."""
        return np.asarray(-np.expm1(self._exponents(lengths) * np.log1p(-self.probabilities_[terms])))

    def log_probabilities(self, matrix: sparse.csr_array, lengths: Ints) -> Floats:
        """log P_c of each document's terms, in nats: (n,)."""
        entries = sparse.coo_array(matrix[:, : len(self.probabilities_)])
        rows, columns = entries.coords
        s = self._exponents(lengths)
        # as if no term were there: the sum over V is the same for all documents but for s, and the matrix stays sparse
        absent = s * np.log1p(-self.probabilities_).sum()
        # a term that is there replaces its probability of absence by that of presence
        p = np.clip(self.of(lengths[rows], columns), 1e-300, 1.0)
        gain = np.log(p) - s[rows] * np.log1p(-self.probabilities_[columns])  # (entries,)
        return np.asarray(absent + np.bincount(rows, entries.data * gain, len(lengths)))

    def standardised(self, matrix: sparse.csr_array, lengths: Ints) -> Floats:
        """−log P_c of each document, less its expectation given its length, in standard deviations: (n,)."""
        nats = -self.log_probabilities(matrix, lengths)
        out = np.zeros(len(lengths))
        for start in range(0, len(lengths), CHUNK):
            rows = slice(start, start + CHUNK)
            absent = self._exponents(lengths[rows])[:, None] * np.log1p(-self.probabilities_)  # (documents, V)
            # expm1: probabilities of rare terms are far below the rounding of 1
            p = np.clip(-np.expm1(absent), 1e-300, 1.0)
            log_p = np.log(p)
            mean = -(p * log_p + (1 - p) * absent).sum(axis=1)
            variance = (p * (1 - p) * (log_p - absent) ** 2).sum(axis=1)
            out[rows] = (nats[rows] - mean) / np.sqrt(np.maximum(variance, 1e-12))
        return out


AROUND = 8
"""Tokens of context on each side of a concordance line."""


@dataclass(frozen=True)
class TermLatents:
    """Terms of n documents.

    Attributes
    ----------
    matrix
        CSR (n, V): share of the document's windows that have the term.
    lengths
        int64 (n,): number of tokens of a window: W, or fewer in a shorter document.
    first
        int64 (entries,): the token at which the term of each entry of ``matrix`` stands first in its document.
    prose
        The tokens.
    columns
        The V terms.
    """

    matrix: sparse.csr_array
    lengths: Ints
    first: Ints
    prose: Prose
    columns: Sequence[str]

    def __len__(self) -> int:
        return len(self.lengths)

    def line(self, entry: int) -> str:
        """The concordance line of an entry of the matrix, its term between « and »."""
        prose, start = self.prose, int(self.first[entry])
        n = self.columns[int(self.matrix.indices[entry])].count(" ") + 1
        document = int(np.searchsorted(prose.offsets, start, side="right")) - 1
        return prose.line(start, n, (int(prose.offsets[document]), int(prose.offsets[document + 1])), AROUND)


def term_latents(prose: Prose, keys: Keys, order: Ints, columns: Sequence[str], window: int) -> TermLatents:
    """Look terms up.

    Parameters
    ----------
    keys, order
        Keys of the terms in ascending order, and the column of each.
    window
        Number of tokens W of a window.
    """
    owners = owners_of(prose.offsets)
    lengths = {t.count(" ") + 1 for t in columns}
    rows, places, terms = [], [], []
    for n in range(1, LONGEST + 1):
        if n not in lengths:
            continue
        present, starts = occurrences(prose, n)
        at = np.minimum(np.searchsorted(keys, present), len(keys) - 1)
        hit = keys[at] == present  # (occurrences,)
        rows.append(owners[starts[hit]])
        places.append(starts[hit])
        terms.append(order[at[hit]])
    row, place, term = (np.concatenate(x) if x else np.zeros(0, np.int64) for x in (rows, places, terms))
    # equal (document, term) pairs side by side; a term has one length, so its places already ascend
    code = row * len(columns) + term
    sort = np.argsort(code, kind="stable")
    row, place, term, code = row[sort], place[sort], term[sort], code[sort]
    new = changes(code)
    first = np.flatnonzero(new)
    covered = _covered(place - prose.offsets[:-1][row], new, prose.lengths[row], window)
    share = np.add.reduceat(covered, first) if len(first) else covered
    indptr = offsets_of(np.bincount(row[first], minlength=len(prose)))
    matrix = sparse.csr_array((share, term[first], indptr), shape=(len(prose), len(columns)))
    return TermLatents(matrix, np.minimum(prose.lengths, window), place[first], prose, columns)


def _covered(place: Ints, new: Bools, length: Ints, window: int) -> Floats:
    """Share of a document's windows that each occurrence of a term is in, and the one before it is not: (N,).

    A document of L tokens has windows that begin at 0 … L − W; one that is shorter than W has one, at 0. An occurrence
    at x is in those that begin at x − W + 1 … x.

    >>> _covered(np.array([0, 5]), np.array([True, False]), np.array([10, 10]), 4).round(2).tolist()
    [0.14, 0.57]
    """
    last = np.maximum(length - window, 0)
    low, high = np.maximum(place - window + 1, 0), np.minimum(place, last)
    before = np.full(len(place), -1)
    # windows up to `before` were counted for the occurrence before: none counts twice
    before[1:] = np.where(new[1:], -1, high[:-1])
    return np.asarray(np.maximum(high - np.maximum(low - 1, before), 0) / (last + 1.0))
