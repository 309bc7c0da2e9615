"""Vocabularies of content words, and documents as counts over them; shared by critics of topics."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.numeric.ragged import offsets_of, owners_of
from momus.text.tokens import TokenTable


@dataclass(frozen=True)
class VocabularyRules:
    """Which words count.

    Attributes
    ----------
    least_count
        Fewest tokens in the whole corpus.
    most_documents
        Largest share of documents that hold the word.
    most_words
        Largest size; the most frequent are kept. 0 for no limit.
    dropped
        Words that never count (stopwords).
    without
        Words that contain one of these strings never count (``xmath`` in the corpora of Cohan et al.).
    letters
        Whether only words with at least two letters and no digit count.
    """

    least_count: int = 5
    most_documents: float = 0.5
    most_words: int = 0
    dropped: Collection[str] = ()
    without: tuple[str, ...] = ("xmath", "xcite")
    letters: bool = True


def build_vocabulary(table: TokenTable, rules: VocabularyRules) -> list[str]:
    """The words that count, the most frequent first, ties by spelling.

    >>> from momus import Corpus
    >>> from momus.text.tokens import get_tokenizer
    >>> table = Corpus.from_texts(["cat sat", "cat cat dog", "dog 12 xmath1"]).tokens(get_tokenizer("words"))
    >>> build_vocabulary(table, VocabularyRules(least_count=2, most_documents=1.0))
    ['cat', 'dog']
    """
    size = len(table.vocabulary)
    counts = np.bincount(table.ids, minlength=size)
    lengths = np.diff(table.offsets)
    document = owners_of(table.offsets)
    pairs = np.unique(document.astype(np.int64) * size + table.ids) if size else np.zeros(0, dtype=np.int64)
    documents = np.bincount(pairs % size, minlength=size) if size else counts
    keep = np.flatnonzero((counts >= rules.least_count) & (documents <= rules.most_documents * max(len(lengths), 1)))
    dropped = set(rules.dropped)
    words = [(-int(counts[i]), w) for i in keep if _counts(w := table.vocabulary[i], rules) and w not in dropped]
    words.sort()
    return [w for _, w in (words[: rules.most_words] if rules.most_words else words)]


def _counts(word: str, rules: VocabularyRules) -> bool:
    if any(part in word for part in rules.without):
        return False
    if not rules.letters:
        return True
    return not any(c.isdigit() for c in word) and sum(c.isalpha() for c in word) >= 2


def count_words(table: TokenTable, vocabulary: list[str]) -> sparse.csr_array:
    """How often each document holds each word, CSR float64 (n, V); other words are left out."""
    codes = table.codes({word: i for i, word in enumerate(vocabulary)})
    known = codes >= 0
    offsets = offsets_of(known)[table.offsets]
    matrix = sparse.csr_array(
        (np.ones(int(known.sum())), codes[known], offsets - offsets[0]), shape=(len(table), len(vocabulary))
    )
    matrix.sum_duplicates()
    return matrix


def documents_of(counts: sparse.csr_array) -> NDArray[np.int64]:
    """The row of each stored entry."""
    return owners_of(counts.indptr)
