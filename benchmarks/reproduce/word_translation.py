"""Word-by-word translation for `code_mixing.py`: each word alone, given two words before it, or given all of them.

The lexical table is IBM model 1 (Brown et al. 1993), fitted on English paragraphs and their translations into three
languages without saying which is which: an English word has good translations in each. The non-autoregressive model
draws the translation of every word independently, so it cannot keep to one language (Gu et al. 2018; Zhou et al. 2019
call it multimodality). One autoregressive model multiplies the same table by a trigram model of the targets. The other
is a mixture of three tables, one for each cluster of targets by their frequent words, which remembers all words before:
p(f_j | e_j, f_<j) = Σ_k p(k | f_<j) t_k(f_j | e_j).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy import sparse

from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus_critics.fits.mixtures import mixtures


class Table:
    """t(target word | source word) by IBM model 1, CSR (E, F); row 0 is the empty source word."""

    def __init__(self, sources: Sequence[Ints], targets: Sequence[Ints], shape: tuple[int, int], rounds: int = 10):
        # a link for each target word and each source word of its pair: (L,) source, target, number of target word
        source, target, token = [], [], []
        count = 0
        for words, ids in zip(sources, targets, strict=True):
            row = np.concatenate([[0], words])
            source.append(np.tile(row, len(ids)))
            target.append(np.repeat(ids, len(row)))
            token.append(np.repeat(np.arange(count, count + len(ids)), len(row)))
            count += len(ids)
        e, f, position = (np.concatenate(x) for x in (source, target, token))
        pairs, link = np.unique(e * shape[1] + f, return_inverse=True)
        row = pairs // shape[1]
        t = np.ones(len(pairs))
        for _ in range(rounds):  # EM
            weight = t[link]
            weight /= np.bincount(position, weight)[position]
            t = np.bincount(link, weight)
            t /= np.bincount(row, t)[row]
        self.matrix = sparse.csr_array((t, (row, pairs % shape[1])), shape=shape)

    def rows(self, source: Ints) -> Floats:
        """t of each source word, (n, F)."""
        return np.asarray(self.matrix[source].toarray())


class WordTranslation:
    """Lexical tables, and a trigram model of the targets."""

    def fit(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], clusters: int = 3) -> Self:
        """Fit on pairs of equal index."""
        self.sources = {"": 0} | {w: i + 1 for i, w in enumerate(sorted({w for s in sources for w in s}))}
        self.words = sorted({w for t in targets for w in t})
        number = {w: i for i, w in enumerate(self.words)}
        read = [np.array([self.sources[w] for w in s], dtype=np.int64) for s in sources]
        written = [np.array([number[w] for w in t], dtype=np.int64) for t in targets]
        shape = len(self.sources), len(self.words)
        self.table = Table(read, written, shape)
        self.model = NGramModel(3).fit(Sequences.of(written), len(self.words))
        cluster = self._clusters(written, clusters)
        self.clusters = [
            Table([read[i] for i in rows], [written[i] for i in rows], shape)
            for rows in (np.flatnonzero(cluster == k) for k in range(clusters))
        ]
        return self

    def _clusters(self, written: Sequence[Ints], clusters: int) -> Ints:
        """Cluster of each target by the best mixture of unigrams of words in 3 % of the targets, without signs.

        Frequent words say more of the language than of the subject. No target is labelled with its language.
        """
        offsets = offsets_of(np.array([len(t) for t in written]))
        ones, ids = np.ones(int(offsets[-1])), np.concatenate(written)
        counts = sparse.csr_array((ones, ids, offsets), (len(written), len(self.words)), copy=True)
        counts.sum_duplicates()
        often = np.bincount(counts.indices, minlength=len(self.words)) >= 0.03 * len(written)
        plain = np.array([len(w) > 1 and w.isalpha() for w in self.words])
        counts = sparse.csr_array(counts[:, np.flatnonzero(often & plain)])
        unigrams = mixtures(counts, clusters, 0, 10)[0]
        return np.asarray((counts @ np.log(np.maximum(unigrams.T, 1e-6))).argmax(axis=1))

    def known(self, source: Sequence[str]) -> Ints:
        """Numbers of the source words that the model has read in training; the others are left out."""
        return np.array([self.sources[w] for w in source if w in self.sources], dtype=np.int64)

    def alone(self, source: Sequence[str], rng: np.random.Generator, best: bool = False) -> str:
        """Translate each word independently: a draw, or the most probable word."""
        p = self.table.rows(self.known(source))
        chosen = p.argmax(axis=1) if best else [rng.choice(len(row), p=row) for row in p]
        return " ".join(self.words[i] for i in chosen)

    def after_two(self, source: Sequence[str], rng: np.random.Generator) -> str:
        """Translate from left to right: draw from t(f | e) p(f | the two words before)."""
        begin = len(self.words) + 1
        context, out = [begin, begin], []
        for row in self.table.rows(self.known(source)):
            p = row * self.model.distributions(np.array([context]))[0, :-1]
            word = int(rng.choice(len(p), p=p / p.sum()))
            context = [context[1], word]
            out.append(self.words[word])
        return " ".join(out)

    def after_all(self, source: Sequence[str], rng: np.random.Generator) -> str:
        """Translate from left to right under the mixture of tables, given all words before."""
        # t of each cluster, (K, n, F), with a little of the common table for words that a cluster has not read
        ids = self.known(source)
        t = 0.999 * np.stack([c.rows(ids) for c in self.clusters]) + 0.001 * self.table.rows(ids)
        posterior, out = np.full(len(t), 1 / len(t)), []
        for j in range(len(ids)):
            p = posterior @ t[:, j]
            word = int(rng.choice(len(p), p=p / p.sum()))
            posterior *= t[:, j, word] / t[:, j].sum(axis=1)
            posterior /= posterior.sum()
            out.append(self.words[word])
        return " ".join(out)
