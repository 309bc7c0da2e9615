"""Which terms documents have, and where each stands first.

Long documents have more terms than short ones. To compare texts of different lengths, a term counts by the share of the
windows of W consecutive tokens of its document that have it: 1 or 0 in a document of at most W tokens. That is the
expectation of its presence in a random window, without any randomness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Bools, Floats, Ints
from momus_critics.keyness.process import Presence
from momus_critics.keyness.terms import LONGEST, Keys, occurrences
from momus_critics.prose.examples import ranks
from momus_critics.prose.reading import Prose

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

    def presence(self, terms: int) -> Presence:
        """The first so many terms."""
        return Presence(self.matrix[:, :terms], self.lengths)

    def line(self, entry: int) -> str:
        """The concordance line of an entry of the matrix, its term between « and »."""
        prose, start = self.prose, int(self.first[entry])
        n = self.columns[int(self.matrix.indices[entry])].count(" ") + 1
        document = int(np.searchsorted(prose.offsets, start, side="right")) - 1
        low, high = (int(x) for x in prose.offsets[document : document + 2])

        def text(a: int, b: int) -> str:
            return " ".join(prose.spelled[i] for i in prose.codes[max(a, low) : min(b, high)].tolist())

        middle = f"«{text(start, start + n)}»"
        return " ".join([text(start - AROUND, start), middle, text(start + n, start + n + AROUND)]).strip()

    def ranks(self) -> Floats:
        """An arbitrary number for each entry that depends on the words around its term alone, (entries,)."""
        return ranks(self.prose.hashes, self.first, range(-3, LONGEST + 3))


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
        runs = occurrences(prose, n)
        at = np.minimum(np.searchsorted(keys, runs.keys), len(keys) - 1)
        hit = keys[at] == runs.keys
        rows.append(owners[runs.starts[hit]])
        places.append(runs.starts[hit])
        terms.append(order[at[hit]])
    row, place, term = (np.concatenate(x) if x else np.zeros(0, np.int64) for x in (rows, places, terms))
    # equal (document, term) pairs side by side; a term has one length, so its places already ascend
    code = row * len(columns) + term
    sort = np.argsort(code, kind="stable")
    row, place, term, code = row[sort], place[sort], term[sort], code[sort]
    new = np.ones(len(code), dtype=bool)
    new[1:] = code[1:] != code[:-1]
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
    before[1:] = np.where(new[1:], -1, high[:-1])
    return np.asarray(np.maximum(high - np.maximum(low - 1, before), 0) / (last + 1.0))
