"""Sample one long running text from an n-gram model, word by word, without computing whole distributions."""

from __future__ import annotations

from bisect import bisect_right
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from momus.numeric.types import Floats, Ints
from momus.sequences.ngram import Level

if TYPE_CHECKING:
    from momus.sequences.ngram import NGramModel


def running_text(model: NGramModel, length: int, seed: int) -> Ints:
    """Sample ``length`` ids from a fitted n-gram model, as sequences one after the other; end symbols are left out.

    An order either picks a seen word or passes to the order below, so a word takes a few look-ups, whatever V is: about
    a hundred thousand words per second.

    Returns
    -------
    int64 (length,).

    >>> from momus.sequences import Sequences
    >>> from momus.sequences.ngram import NGramModel
    >>> running_text(NGramModel(2, "none").fit(Sequences.of([[0, 1, 2]]), symbols=3), 7, seed=0).tolist()
    [0, 1, 2, 0, 1, 2, 0]
    """
    walker = _Walker(model.levels, model.lengths, model.base, model.size, Random(seed))
    modulus = model.base ** (model.order - 1)
    opening = 0
    for _ in range(model.order - 1):
        opening = opening * model.base + model.size  # the begin symbol
    code, out = opening, np.empty(length, dtype=np.int64)
    n = 0
    while n < length:
        word = walker.draw(code)
        if word == model.end:
            code = opening
            continue
        out[n] = word
        n += 1
        code = (code * model.base + word) % modulus
    return out


class _Order:
    """One level as Python lists: the row of each context, and cumulated probabilities of its seen words."""

    def __init__(self, level: Level, modulus: int) -> None:
        self.modulus = modulus
        self.rows = {code: i for i, code in enumerate(level.contexts.tolist())}
        seen: Floats | None = getattr(level, "seen", None)  # of Katz's levels
        self.backs_off = seen is not None
        values: Floats = level.mass if seen is None else seen
        self.closed = (level.weight == 0).tolist()  # contexts that pass nothing to the order below
        self.starts, self.words = level.starts.tolist(), level.words.tolist()
        # cumulated over all contexts; the values of context i lie between those at starts[i] and starts[i + 1]
        self.cumulated = np.concatenate([[0.0], np.cumsum(values)]).tolist()


class _Walker:
    """Draws words from the longest known context down."""

    def __init__(self, levels: list[Level], lengths: range, base: int, size: int, random: Random) -> None:
        self._orders = [_Order(level, base**m) for m, level in zip(lengths, levels, strict=True)]
        self._size, self._random = size, random

    def draw(self, code: int) -> int:
        return self._draw(code, len(self._orders) - 1)

    def _draw(self, code: int, m: int) -> int:
        if m < 0:
            return int(self._random.random() * self._size)
        order = self._orders[m]
        row = order.rows.get(code % order.modulus)
        if row is None:
            return self._draw(code, m - 1)
        low, high = order.starts[row], order.starts[row + 1]
        first, last = order.cumulated[low], order.cumulated[high]
        at = first + self._random.random() * (last - first if order.closed[row] else 1.0)
        if at < last:
            # cumulated[i + 1] is the end of word i; high is excluded, as at < last
            return int(order.words[bisect_right(order.cumulated, at, low, high) - 1])
        word = self._draw(code, m - 1)
        while order.backs_off and self._seen(order, word, low, high):
            word = self._draw(code, m - 1)
        return word

    @staticmethod
    def _seen(order: _Order, word: int, low: int, high: int) -> bool:
        at = bisect_right(order.words, word, low, high) - 1
        return at >= low and order.words[at] == word
