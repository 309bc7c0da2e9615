"""Words out of place: misspelt ones, by the words of real text, and word salad, by which word follows which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.ragged import offsets_of, owners_of, ranges_of
from momus.numeric.types import Bools, Floats, Ints
from momus_critics.prose.ngrams import DenseNGrams
from momus_critics.prose.reading import Prose

SHORTEST, LONGEST = 4, 30
"""Fewest and most letters of a word that may be misspelt."""
KEPT = 60_000
"""Words of real text that are kept, the most frequent ones."""
COMMON, ENDINGS, SIZE = 300, 80, 384
"""Words that are symbols of their own, classes of other words by their last letters, and number of symbols."""
WINDOW, FEWEST = 40, 16
"""Words and symbols over which it is judged whether they follow each other as in real text, and fewest of a text."""
SPELT, SHARE = 2, 0.008
"""Fewest different misspelt words of a document that is flagged, and least share of the words that may be misspelt."""
LETTERS = 32
"""Letters that may stand in place of another."""
LEAST, NEVER = 20, -99.0
"""Fewest real documents from which the order of words is learned, and a limit that no text is below."""
MOST_REAL = 0.004
"""Largest share of real documents whose words seem to be in disorder."""


class WordModel(Estimator):
    """The words of real text, how often one is near another, and which class of words follows which.

    Attributes
    ----------
    words_, counts_
        The words in lower case and how often each occurs, the most frequent first.
    gains_
        float64 (SIZE + 1, SIZE + 1): log P(b | a) − log P(b) of neighbours, in nats.
    limits_
        float64 (2,): the lowest mean gain of a text that is no word salad, over `WINDOW` neighbours and in all.
    """

    words_: list[str]
    counts_: Ints
    gains_: Floats
    limits_: Floats

    def learn(self, prose: Prose) -> Self:
        """Learn from real text; rates by documents that were held out."""
        half = np.arange(len(prose)) % 2
        # (n, 2): lowest and mean gain of each document, as it is and with its words shuffled, by the other half
        real, salad = np.full((len(prose), 2), np.nan), np.full((len(prose), 2), np.nan)
        for side in (0, 1):
            model, rows = self._learned(prose, half != side), half == side
            real[rows], salad[rows] = (model.order(prose, shuffled)[rows] for shuffled in (False, True))
        whole = self._learned(prose, np.ones(len(prose), dtype=bool))
        self.words_, self.counts_, self.gains_ = whole.words_, whole.counts_, whole.gains_
        self.limits_ = np.full(2, NEVER)
        known = np.isfinite(real).all(axis=1)
        if known.sum() >= LEAST:
            real, salad = real[known], salad[known]
            low = np.quantile(real, MOST_REAL, axis=0) if len(real) >= 400 else real.mean(axis=0) - 3 * real.std(axis=0)
            self.limits_ = np.minimum(low - 0.01, (real.mean(axis=0) + salad.mean(axis=0)) / 2)
        return self

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        words = state.texts("words_")
        state.array("counts_", (len(words),), kind="i", low=1)
        state.array("gains_", (SIZE + 1, SIZE + 1))
        state.array("limits_", (2,))

    @staticmethod
    def _learned(prose: Prose, rows: Bools) -> WordModel:
        """Words and neighbours of some documents."""
        model = WordModel()
        inside = rows[owners_of(prose.offsets)]
        counts = np.bincount(prose.ids[inside], minlength=len(prose.words))
        order = np.lexsort((np.arange(len(counts)), -counts))[:KEPT]
        order = order[counts[order] > 0]
        model.words_ = [prose.words[i] for i in order.tolist()]
        model.counts_ = counts[order].astype(np.int64)
        symbols = model._symbols(prose)[inside]
        offsets = offsets_of(np.diff(prose.offsets)[rows])
        process = DenseNGrams(symbols=SIZE, order=2)
        table = process.learn(process.count(symbols, offsets)).probabilities_
        visits = np.bincount(symbols, minlength=SIZE + 1) + 0.5
        visits[SIZE] += rows.sum()
        model.gains_ = np.log(table) - np.log(visits / visits.sum())
        return model

    def _symbols(self, prose: Prose) -> Ints:
        """The class of each token, (N,): a common word, or how a word ends."""
        common = {w: i for i, w in enumerate(self.words_[:COMMON])}
        kinds = np.fromiter((common[w] if w in common else _ending(w) for w in prose.words), np.int64)
        return kinds[prose.ids]

    def order(self, prose: Prose, shuffled: bool = False) -> Floats:
        """Lowest mean gain of each document over `WINDOW` neighbours, and its mean gain, (n, 2); NaN for short ones."""
        symbols = self._symbols(prose)
        if shuffled:  # within sentences
            symbols = symbols[np.lexsort((np.random.default_rng(0).random(len(symbols)), prose.sentences))]
        lowest, sizes = np.full((len(prose), 2), np.nan), prose.lengths
        if len(symbols) < 2:
            return lowest
        # total[k]: gains of the tokens before k, each behind another one, (N + 1,)
        total = np.cumsum(np.concatenate([[0.0, 0.0], self.gains_[symbols[:-1], symbols[1:]]]))
        enough = np.flatnonzero(sizes >= FEWEST)
        starts, stops = prose.offsets[:-1][enough], prose.offsets[1:][enough]
        lowest[enough] = ((total[stops] - total[starts + 1]) / (stops - starts - 1))[:, None]
        long = np.flatnonzero(sizes >= WINDOW)
        # all windows within long documents: first tokens, (windows,)
        windows = sizes[long] - WINDOW + 1
        first = ranges_of(prose.offsets[:-1][long], windows)
        if len(first):
            means = (total[first + WINDOW] - total[first + 1]) / (WINDOW - 1)
            lowest[long, 0] = np.minimum.reduceat(means, offsets_of(windows)[:-1])
        return lowest

    def salad(self, prose: Prose) -> Bools:
        """Whether the words of each document, or of a passage of it, follow each other as in no real text, (n,)."""
        return np.asarray((np.nan_to_num(self.order(prose), nan=np.inf) < self.limits_).any(axis=1))

    def misspelt(self, prose: Prose) -> Bools:
        """Which tokens seem to be misspelt, (N,), in documents with several such words, and none of others.

        A word seems to be misspelt that real text does not have, with letters next to each other that no word of it
        has, and that is one letter more, less or other, or two exchanged, from a word of real text. Endings are no
        faults, and what has a capital may be a name.
        """
        size = np.fromiter((len(w) if w.isalpha() else 0 for w in prose.words), np.int64, len(prose.words))
        may_be = (size >= SHORTEST)[prose.ids] & ~prose.capitalised
        # only words that some token may misspell are looked at
        seen = np.bincount(prose.ids[may_be], minlength=len(prose.words)) > 0
        odd = np.zeros(len(prose.words), dtype=bool)
        odd[seen] = self._odd([prose.words[i] for i in np.flatnonzero(seen).tolist()])
        odd = odd[prose.ids] & may_be
        owners, n = owners_of(prose.offsets), len(prose)
        # different words count, of each document: its (document, word) pairs once
        kinds = np.unique(owners[odd] * len(prose.words) + prose.ids[odd]) // max(len(prose.words), 1)
        different, words = np.bincount(kinds, minlength=n), np.bincount(owners[may_be], minlength=n)
        many = (different >= SPELT) & (different > SHARE * words)
        return np.asarray(odd & many[owners])

    @cached_property
    def _lexicon(self) -> tuple[set[str], set[str], list[str]]:
        """The words, all that stands in three letters in a row of one, and the letters, the most frequent first."""
        pieces = {piece for w in self.words_ for piece in _threes(w)}
        letters = Counter(c for w in self.words_ for c in w if c.isalpha()).most_common(LETTERS)
        return set(self.words_), pieces, [letter for letter, _ in letters]

    def _odd(self, words: Sequence[str]) -> Bools:
        """Whether each word seems to be misspelt."""
        known, pieces, letters = self._lexicon

        def is_odd(word: str) -> bool:
            if len(word) < SHORTEST or len(word) > LONGEST or word in known or not word.isalpha():
                return False
            # the slip is where letters stand together as in no word
            place = next((i for i, piece in enumerate(_threes(word)) if piece not in pieces), -1)
            return place >= 0 and any(w in known for w in _slips(word, letters, place - 2, place + 3))

        return np.fromiter(map(is_odd, words), bool, len(words))


def _ending(word: str) -> int:
    """The class of a word that is not common: a number, a sign, or by its last two letters."""
    if not word[:1].isalpha():
        return COMMON + (1 if word[:1].isdigit() else 0)
    code = 0
    for letter in word[-2:]:
        code = code * 31 + ord(letter)
    return COMMON + 2 + code % ENDINGS


def _threes(word: str) -> Iterator[str]:
    """Three letters in a row of a word, with its borders."""
    framed = f" {word} "
    return (framed[i : i + 3] for i in range(len(framed) - 2))


def _slips(word: str, letters: Sequence[str], start: int = 1, stop: int = LONGEST) -> Iterator[str]:
    """What a word may have been before a slip between two places: one letter more, less or other, or two exchanged.

    >>> [w in set(_slips(x, "abcdefghijklmnopqrstuvwxyz")) for x, w in (("becuase", "because"), ("walks", "walk"))]
    [True, False]
    """
    for i in range(max(start, 1), min(stop, len(word))):
        yield from (word[:i] + letter + word[i:] for letter in letters)
        if i < len(word) - 1:
            yield word[:i] + word[i + 1 :]
            yield from (word[:i] + letter + word[i + 1 :] for letter in letters)
            yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
