"""Words out of place: misspelt ones, by the words of real text, and word salad, by which word follows which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from momus.estimator import Estimator
from momus.numeric.ragged import offsets_of, owners_of, ranges_of
from momus.numeric.types import Bools, Floats, Ints
from momus_critics.prose.ngrams import DenseNGrams
from momus_critics.prose.reading import Prose

SHORTEST, LONGEST = 3, 30
"""Fewest and most letters of a word that may be misspelt."""
KEPT = 60_000
"""Words of real text that are kept, the most frequent ones."""
COMMON, ENDINGS, SIZE = 300, 80, 384
"""Words that are symbols of their own, classes of other words by their last letters, and number of symbols."""
WINDOW, FEWEST = 40, 16
"""Words and symbols over which it is judged whether they follow each other as in real text, and fewest of a text."""
TYPOS, LETTERS = 0.03, 28
"""Share of slips among the words of a misspelt document, and symbols of letters, the last one for rare letters."""
EXTRA, MISSING, OTHER, EXCHANGED = 0.3, 0.3, 0.1, 0.3
"""Shares of slips that add a letter, leave one out, put another in its place, and exchange two."""
VARIANTS = (
    ("our", "or"), ("ise", "ize"), ("isi", "izi"), ("isa", "iza"), ("yse", "yze"), ("ysi", "yzi"), ("ae", "e"),
    ("oe", "e"), ("ence", "ense"), ("ogue", "og"), ("tre", "ter"), ("bre", "ber"), ("mme", "m"), ("lled", "led"),
    ("lling", "ling"), ("ller", "ler"), ("ß", "ss"),
)  # fmt: skip
"""Letters by which two spellings of one word differ, as British and American English have them: neither is a slip."""
LEAST_GAIN = 3.0
"""Least log-likelihood ratio of a document that is misspelt, in nats."""
LEAST, NEVER = 20, -99.0
"""Fewest real documents from which the order of words is learned, and a limit that no text is below."""
ORDER, MOST_ODDS = 4, 30.0
"""Letters in a row whose probabilities are learned, and most log odds of a slip."""
MOST_REAL, DEVIATIONS = 0.004, 3.25
"""Largest share of real documents whose words seem to be in disorder; of few documents, by so many deviations from the
median, each as far as the 16th percentile."""


class WordModel(Estimator):
    """The words of real text, how often one is near another, and which class of words follows which.

    Attributes
    ----------
    words_, counts_
        The words in lower case and how often each occurs, the most frequent first.
    gains_
        float64 (SIZE + 1, SIZE + 1): log P(b | a) − log P(b) of neighbours, in nats.
    limits_
        float64 (3,): the lowest mean gain of a text that is no word salad, over `WINDOW` neighbours and in all, and the
        negative of the largest log-likelihood ratio of one that is not misspelt.
    """

    words_: list[str]
    counts_: Ints
    gains_: Floats
    limits_: Floats

    def learn(self, prose: Prose) -> tuple[Bools, Bools]:
        """Learn from real text; which of its documents are misspelt, and which are word salad, by the words of others.

        Limits are learned from documents that were held out, too.
        """
        half = np.arange(len(prose)) % 2
        # (n, 2): lowest and mean gain of each document, as it is and with its words shuffled, by the other half
        real, salad = np.full((len(prose), 2), np.nan), np.full((len(prose), 2), np.nan)
        spelt = np.zeros(len(prose))
        for side in (0, 1):
            model, rows = self._learned(prose, half != side), half == side
            real[rows], salad[rows] = (model.order(prose, shuffled)[rows] for shuffled in (False, True))
            spelt[rows] = -model.slips(prose)[1][rows]
        whole = self._learned(prose, np.ones(len(prose), dtype=bool))
        self.words_, self.counts_, self.gains_ = whole.words_, whole.counts_, whole.gains_
        known = np.isfinite(real).all(axis=1)
        real, salad = real[known], salad[known]
        # a few real documents in another language say nothing of the others
        median = np.median(real, axis=0) if known.any() else np.zeros(2)
        usual = median - DEVIATIONS * (median - np.quantile(real, 0.16, axis=0)) if known.any() else median
        between = (real.mean(axis=0) + salad.mean(axis=0)) / 2 if known.any() else np.zeros(2)
        of_spelling = np.minimum(_lowest(spelt[:, None], spelt.mean(keepdims=True) - 3 * spelt.std()), -LEAST_GAIN)
        self.limits_ = np.concatenate([np.minimum(_lowest(real, usual), between), of_spelling])
        disordered = np.zeros(len(prose), dtype=bool)
        disordered[known] = (real < self.limits_[:2]).any(axis=1)
        return spelt < self.limits_[2], disordered

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
        return np.asarray((np.nan_to_num(self.order(prose), nan=np.inf) < self.limits_[:2]).any(axis=1))

    def misspelt(self, prose: Prose, gains: Floats, ratios: Floats) -> Bools:
        """Which tokens seem to be misspelt by their `slips`, (N,): in documents with more of them than real text."""
        return np.asarray((gains > np.log(2)) & (-ratios < self.limits_[2])[owners_of(prose.offsets)])

    def slips(self, prose: Prose, foreign: Ints | None = None) -> tuple[Floats, Floats]:
        """How much likelier each token is if `TYPOS` of all words are misspelt, (N,), and each document, (n,), in nats.

        A word that real text does not have is either new, with the share of words that occur once (Good 1953) times the
        probability of its letters, or a slip from words that real text has (Kernighan, Church & Gale 1990). First and
        last letters are right, since endings differ; what has a capital may be a name. ``foreign`` tokens are no slips.
        """
        size = np.fromiter((len(w) if w.isalpha() else 0 for w in prose.words), np.int64, len(prose.words))
        may_be = ((size >= SHORTEST) & (size <= LONGEST))[prose.ids] & ~prose.capitalised
        may_be[np.zeros(0, np.int64) if foreign is None else foreign] = False
        # only words that some token may misspell are looked at
        seen = np.flatnonzero(np.bincount(prose.ids[may_be], minlength=len(prose.words)))
        of_words = np.zeros(len(prose.words))
        of_words[seen] = np.log1p(TYPOS * np.expm1(self._odds([prose.words[i] for i in seen.tolist()])))
        gains = np.where(may_be, of_words[prose.ids], 0.0)
        # of each document, a word that seems to be misspelt counts once
        owners = owners_of(prose.offsets)
        rows = np.flatnonzero(gains > 0)
        _, first = np.unique(owners[rows] * len(prose.words) + prose.ids[rows], return_index=True)
        once = gains <= 0
        once[rows[first]] = True
        return gains, np.bincount(owners[once], gains[once], len(prose)).astype(np.float64)

    @cached_property
    def _known(self) -> tuple[dict[str, int], Counter[str]]:
        """How often each word occurs, and how often words from which a piece remains without one inner letter."""
        counts = dict(zip(self.words_, self.counts_.tolist(), strict=True))
        pieces: Counter[str] = Counter()
        for word, count in counts.items():
            if SHORTEST <= len(word) <= LONGEST and word.isalpha():
                for piece in {word[:i] + word[i + 1 :] for i in range(1, len(word) - 1)}:
                    pieces[piece] += count
        return counts, pieces

    def _is_known(self, word: str) -> bool:
        """Whether real text has a word, or another spelling of it."""
        known, _ = self._known
        ways = ((m, b) for pair in VARIANTS for a, b in (pair, pair[::-1]) for m in re.finditer(a, word))
        return word in known or any(f"{word[: m.start()]}{b}{word[m.end() :]}" in known for m, b in ways)

    def _odds(self, words: Sequence[str]) -> Floats:
        """log P(word | slip) − log P(word | none) of each word, (V,); −inf for those that real text has."""
        slips = [0.0 if self._is_known(w) else self._slipped(w) for w in words]
        odd = [w for w, slip in zip(words, slips, strict=True) if slip]
        odds = np.full(len(words), -np.inf)
        total = max(int(self.counts_.sum()), 1)
        new = np.log((1 + np.count_nonzero(self.counts_ == 1)) / (1 + total))
        likely = np.log(np.array([s for s in slips if s]) / total)
        odds[np.array(slips) > 0] = likely - new - self._letters.totals(*self._spelt(odd))
        return np.asarray(np.minimum(odds, MOST_ODDS))

    def _slipped(self, word: str) -> float:
        """How often words occur from which a word is one slip, each times the probability of the slip."""
        counts, pieces = self._known
        ways = EXTRA * pieces.get(word, 0)
        for i in range(1, len(word) - 1):
            piece = word[:i] + word[i + 1 :]
            ways += MISSING / LETTERS * counts.get(piece, 0)
            if piece in pieces:  # of a word with another letter here, or with this letter elsewhere
                others = {word[:i] + letter + word[i + 1 :] for letter in self._alphabet}
                ways += OTHER / LETTERS * sum(counts.get(w, 0) for w in others - {word})
                if i < len(word) - 2 and word[i] != word[i + 1]:
                    ways += EXCHANGED * counts.get(word[:i] + word[i + 1] + word[i] + word[i + 2 :], 0)
        return ways / len(word)

    @cached_property
    def _alphabet(self) -> str:
        """The most frequent letters."""
        return "".join(c for c, _ in Counter(c for w in self.words_ for c in w if c.isalpha()).most_common(LETTERS - 1))

    def _spelt(self, words: Sequence[str]) -> tuple[Ints, Ints]:
        """The letters of words as symbols, and offsets of words."""
        number = {letter: i for i, letter in enumerate(self._alphabet)}
        codes = [number.get(letter, LETTERS - 1) for word in words for letter in word]
        return np.array(codes, dtype=np.int64), offsets_of([len(w) for w in words])

    @cached_property
    def _letters(self) -> DenseNGrams:
        """Which letter follows which three others, in the words of real text."""
        process = DenseNGrams(symbols=LETTERS, order=ORDER)
        return process.learn(process.count(*self._spelt([w for w in self.words_ if w.isalpha()])))


def _lowest(values: Floats, few: Floats) -> Floats:
    """What hardly any real document is below, by column: of few documents as given, `NEVER` of fewer than `LEAST`."""
    if len(values) < LEAST:
        return np.full(values.shape[1:], NEVER)
    return np.asarray(np.quantile(values, MOST_REAL, axis=0) if len(values) >= 400 else few)


@lru_cache(maxsize=1 << 17)
def _ending(word: str) -> int:
    """The class of a word that is not common: a number, a sign, or by its last two letters."""
    if not word[:1].isalpha():
        return COMMON + (1 if word[:1].isdigit() else 0)
    code = 0
    for letter in word[-2:]:
        code = code * 31 + ord(letter)
    return COMMON + 2 + code % ENDINGS
