"""n-gram samplers fitted on text: maximum likelihood, and interpolated Kneser–Ney."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from momus.corpus import Corpus
from momus.errors import UsageError
from momus.tokens import Tokenizer

Floats = NDArray[np.float64]
END = "</s>"


class NGramSampler:
    """An n-gram model of documents that gives exact conditional distributions and draws new documents.

    Documents are padded with n − 1 starts and end with an end symbol. ``smoothing="none"`` is maximum likelihood;
    ``"kneser-ney"`` interpolates with one discount an order, n1/(n1 + 2·n2), and continuation counts below the highest
    order (Kneser & Ney 1995; Chen & Goodman 1999), down to a uniform distribution over the vocabulary.

    Parameters
    ----------
    order
        n.
    smoothing
        ``none`` or ``kneser-ney``.

    >>> from momus.tokens import get_tokenizer
    >>> model = NGramSampler(2, "none").fit(Corpus.from_texts(["a b", "a c"]), get_tokenizer("words"))
    >>> {w: float(p) for w, p in zip(model.vocabulary, model.conditional(["a"])) if p > 0}
    {'b': 0.5, 'c': 0.5}
    """

    def __init__(self, order: int, smoothing: Literal["none", "kneser-ney"] = "kneser-ney") -> None:
        if order < 1:
            raise UsageError(f"order must be at least 1, got {order}")
        if smoothing not in ("none", "kneser-ney"):
            raise UsageError(f"no smoothing {smoothing!r}", hint="choose none or kneser-ney")
        self.order = order
        self.smoothing = smoothing

    def fit(self, corpus: Corpus, tokenizer: Tokenizer) -> NGramSampler:
        """Count n-grams of all orders."""
        table = corpus.tokens(tokenizer)
        self.vocabulary: list[str] = [*table.vocabulary, END]
        self._index = {w: i for i, w in enumerate(self.vocabulary)}
        end, start = len(table.vocabulary), -1
        documents = [
            [start] * (self.order - 1) + table.ids[a:b].tolist() + [end]
            for a, b in zip(table.offsets[:-1], table.offsets[1:], strict=True)
        ]
        self._tables = [self._count(documents, n) for n in range(1, self.order + 1)]
        if self.smoothing == "kneser-ney":
            for n in range(self.order - 1):
                self._tables[n] = _continuations(self._tables[n + 1])
        self._discounts = [_discount(t) for t in self._tables]
        self._cache: dict[tuple[int, ...], Floats] = {}
        return self

    def _count(self, documents: list[list[int]], n: int) -> dict[tuple[int, ...], dict[int, int]]:
        table: dict[tuple[int, ...], dict[int, int]] = {}
        for d in documents:
            for i in range(self.order - 1, len(d)):
                after = table.setdefault(tuple(d[i - n + 1 : i]), {})
                after[d[i]] = after.get(d[i], 0) + 1
        return table

    def conditional(self, context: Sequence[str]) -> Floats:
        """P(next | context) over ``vocabulary``; a short context is that of a document's beginning.

        Raises
        ------
        UsageError
            Without smoothing, the context was never seen.
        """
        padded = [-1] * (self.order - 1) + [self._index.get(w, -2) for w in context]
        return self._distribution(tuple(padded[len(padded) - self.order + 1 :]))

    def _distribution(self, context: tuple[int, ...]) -> Floats:
        if context not in self._cache:
            self._cache[context] = self._compute(context)
        return self._cache[context]

    def _compute(self, context: tuple[int, ...]) -> Floats:
        v, level = len(self.vocabulary), len(context)
        counts = self._tables[level].get(context)
        if self.smoothing == "none":
            if counts is None:
                raise UsageError(f"the context {context} was never seen", hint="use smoothing='kneser-ney'")
            p = np.zeros(v)
            p[list(counts)] = list(counts.values())
            return np.asarray(p / p.sum())
        lower = self._distribution(context[1:]) if level else np.full(v, 1 / v)
        if not counts:
            return lower
        d, total = self._discounts[level], sum(counts.values())
        p = lower * (d * len(counts) / total)
        p[list(counts)] += np.maximum(np.array(list(counts.values()), dtype=float) - d, 0.0) / total
        return p

    def sample(self, documents: int, seed: int, longest: int = 10_000, name: str = "sampled") -> Corpus:
        """Draw documents, each with a seed of its own, so that more of them leave the first ones as they are."""
        texts = [self._draw(np.random.default_rng([seed, i]), longest) for i in range(documents)]
        return Corpus.from_texts(texts, name=name)

    def _draw(self, rng: np.random.Generator, longest: int) -> str:
        context, words = (-1,) * (self.order - 1), []
        end = len(self.vocabulary) - 1
        for u in rng.random(longest):
            cumulated = np.cumsum(self._distribution(context))
            w = min(int(np.searchsorted(cumulated, u * cumulated[-1], side="right")), end)
            if w == end:
                break
            words.append(self.vocabulary[w])
            context = (*context, w)[1:] if self.order > 1 else ()
        return " ".join(words)


def _continuations(higher: dict[tuple[int, ...], dict[int, int]]) -> dict[tuple[int, ...], dict[int, int]]:
    """In how many different left contexts each n-gram occurs."""
    table: dict[tuple[int, ...], dict[int, int]] = {}
    for context, after in higher.items():
        shorter = table.setdefault(context[1:], {})
        for w in after:
            shorter[w] = shorter.get(w, 0) + 1
    return table


def _discount(table: dict[tuple[int, ...], dict[int, int]]) -> float:
    """n1/(n1 + 2·n2), or ½ where there are no counts of one or two."""
    values = [c for after in table.values() for c in after.values()]
    n1, n2 = values.count(1), values.count(2)
    return n1 / (n1 + 2 * n2) if n1 and n2 else 0.5
