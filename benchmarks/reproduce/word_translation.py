"""A word-by-word translation model, for `code_mixing.py`: one that decides each word alone, and one that reads back.

The lexical table is IBM model 1 (Brown et al. 1993), fitted on English paragraphs and their translations into three
languages without saying which is which: an English word has good translations in each. The non-autoregressive model
draws the translation of every word independently, so it cannot keep to one language (Gu et al. 2018; Zhou et al. 2019
call it multimodality). The autoregressive one multiplies the same table by a trigram model of the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel

Floats = NDArray[np.float64]


class WordTranslation:
    """t(target word | source word), and a trigram model of the targets.

    Attributes
    ----------
    table
        (E, F): each row sums to 1; row 0 is the empty source word.
    """

    def fit(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], rounds: int = 10) -> Self:
        """Estimate the table by EM, starting from the uniform one; pairs are of equal index."""
        self.sources = {"": 0} | {w: i + 1 for i, w in enumerate(sorted({w for s in sources for w in s}))}
        self.words = sorted({w for t in targets for w in t})
        number = {w: i for i, w in enumerate(self.words)}
        encoded = [np.array([number[w] for w in t], dtype=np.int64) for t in targets]
        # a link for each target word and each source word of its pair: (L,) source, target, and number of target word
        source, target, token = [], [], []
        count = 0
        for words, ids in zip(sources, encoded, strict=True):
            row = np.array([0, *(self.sources[w] for w in words)])
            source.append(np.tile(row, len(ids)))
            target.append(np.repeat(ids, len(row)))
            token.append(np.repeat(np.arange(count, count + len(ids)), len(row)))
            count += len(ids)
        e, f, position = (np.concatenate(x) for x in (source, target, token))
        shape = len(self.sources), len(self.words)
        pairs, link = np.unique(e * shape[1] + f, return_inverse=True)
        t = np.ones(len(pairs))
        for _ in range(rounds):
            weight = t[link]
            weight /= np.bincount(position, weight)[position]
            t = np.bincount(link, weight)
            t /= np.bincount(pairs // shape[1], t)[pairs // shape[1]]
        self.table = np.zeros(shape)
        self.table[pairs // shape[1], pairs % shape[1]] = t
        self.model = NGramModel(3).fit(Sequences.of(encoded), len(self.words))
        return self

    def rows(self, source: Sequence[str]) -> Floats:
        """t of each known source word, (n, F); words that the model has not read are left out."""
        return self.table[[self.sources[w] for w in source if w in self.sources]]

    def alone(self, source: Sequence[str], rng: np.random.Generator, best: bool = False) -> str:
        """Translate each word independently: a draw, or the most probable word."""
        p = self.rows(source)
        chosen = p.argmax(axis=1) if best else [rng.choice(len(row), p=row) for row in p]
        return " ".join(self.words[i] for i in chosen)

    def in_context(self, source: Sequence[str], rng: np.random.Generator) -> str:
        """Translate from left to right: draw from t(f | e) p(f | the two words before)."""
        begin = len(self.words) + 1
        context, out = [begin, begin], []
        for row in self.rows(source):
            p = row * self.model.distributions(np.array([context]))[0, :-1]
            word = int(rng.choice(len(p), p=p / p.sum()))
            context = [context[1], word]
            out.append(self.words[word])
        return " ".join(out)
