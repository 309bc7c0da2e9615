"""Vocabularies of content words, with word counts per document, and section titles in their normal form."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from momus.numeric.ragged import kept_offsets, owners_of
from momus.numeric.types import Ints
from momus.text.tokens import TokenTable

OTHER = "<other>"
"""The state of rare, unknown and missing titles: scored like any other, never skipped."""
_NUMBERING = re.compile(r"^\s*(?:\(?(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])[.):]\s*)+", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^\w\s'’&/-]|[\d_]")


def normalize_title(title: str | None) -> str:
    """Lower-case a title and strip numbering, digits and punctuation.

    >>> [normalize_title(t) for t in ("2.1 Test Cases:", "IV. Results", "Copyright 2020", "3. हिन्दी में", None)]
    ['test cases', 'results', 'copyright', 'हिन्दी में', '']
    """
    text = _NUMBERING.sub("", title or "")
    return " ".join(_NOT_LETTERS.sub(_blank, text).casefold().split())


def _blank(match: re.Match[str]) -> str:
    """A space for what is no letter; combining marks stay with their letters."""
    return match[0] if unicodedata.category(match[0])[0] == "M" else " "


def frequent_titles(titles: Sequence[str], documents: Ints, least: int) -> list[str]:
    """Titles that occur in at least ``least`` documents, the most frequent first.

    >>> import numpy as np
    >>> frequent_titles(["a", "b", "a", "a"], np.array([0, 0, 0, 1]), 2)
    ['a']
    """
    pairs: Iterable[tuple[str, int]] = set(zip(titles, documents.tolist(), strict=True))
    counts = Counter(title for title, _ in pairs if title)
    return [t for t, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n >= least]


@dataclass(frozen=True)
class VocabularyRules:
    """Rules for the words of a vocabulary.

    Attributes
    ----------
    least_count
        Smallest number of occurrences in the whole corpus.
    most_documents
        Largest share of documents that contain the word.
    most_words
        Largest size of the vocabulary; the most frequent words are kept. 0 for no limit.
    dropped
        Words to leave out (stopwords).
    without
        Leave out words that contain one of these strings (``xmath`` in the corpora of Cohan et al.).
    letters
        Whether to leave out words with a digit or with fewer than two letters.
    """

    least_count: int = 5
    most_documents: float = 0.5
    most_words: int = 0
    dropped: Collection[str] = ()
    without: tuple[str, ...] = ("xmath", "xcite")
    letters: bool = True

    def admits(self, word: str) -> bool:
        """Whether a word is a content word, however often it occurs."""
        if word in self.dropped or any(string in word for string in self.without):
            return False
        return not self.letters or (not any(c.isdigit() for c in word) and sum(c.isalpha() for c in word) >= 2)


def build_vocabulary(table: TokenTable, rules: VocabularyRules) -> list[str]:
    """List the words that meet the rules, most frequent first, ties in alphabetical order.

    >>> from momus import Corpus
    >>> from momus.text.tokens import get_tokenizer
    >>> table = Corpus.from_texts(["cat sat", "cat cat dog", "dog 12 xmath1"]).tokens(get_tokenizer("words"))
    >>> build_vocabulary(table, VocabularyRules(least_count=2, most_documents=1.0))
    ['cat', 'dog']
    """
    size = len(table.vocabulary)
    counts = np.bincount(table.ids, minlength=size)
    # distinct pairs of document and word, packed as document · V + word; shape (V,): documents that contain each word
    pairs = np.unique(owners_of(table.offsets) * size + table.ids) if size else np.zeros(0, dtype=np.int64)
    documents = np.bincount(pairs % size, minlength=size) if size else counts
    frequent = np.flatnonzero((counts >= rules.least_count) & (documents <= rules.most_documents * max(len(table), 1)))
    words = [(-int(counts[i]), w) for i in frequent if rules.admits(w := table.vocabulary[i])]
    words.sort()
    return [w for _, w in (words[: rules.most_words] if rules.most_words else words)]


def count_words(table: TokenTable, vocabulary: list[str]) -> sparse.csr_array:
    """Count each word of a vocabulary in each document: float64 CSR (n, V); other words are left out."""
    codes = table.codes(vocabulary)
    known = codes >= 0
    # one entry of 1 per known token, in the row of its document; summing duplicates gives the counts
    matrix = sparse.csr_array(
        (np.ones(int(known.sum())), codes[known], kept_offsets(known, table.offsets)),
        shape=(len(table), len(vocabulary)),
    )
    matrix.sum_duplicates()
    return matrix
