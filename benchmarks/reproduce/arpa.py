"""An interpolated Kneser–Ney n-gram model that can be written as an ARPA file.

Run:  python benchmarks/reproduce/arpa.py TEXT ARPA [--order 3]

    p(w | h) = max(c(h w) − D, 0) / c(h) + D N(h) / c(h) · p(w | h′)

with continuation counts below the highest order (raw counts for n-grams at the beginning of a sequence, which have no
left context), one discount D = n₁ / (n₁ + 2 n₂) per order, and a uniform distribution over the vocabulary including
``<unk>`` below the first order (Kneser & Ney 1995; Chen & Goodman 1999). A sequence is ``<s> w … w </s>``.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.errors import FittingError, UsageError
from momus.estimator import Estimator
from momus.numeric.ragged import offsets_of, places_of
from momus.numeric.types import Bools, Floats, Ints
from momus.outputs import replacing
from momus.reading import read_corpus
from momus.sequences.ngram import discount, interpolated
from momus.text.tokens import get_tokenizer

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"


class KneserNey(Estimator):
    """An interpolated Kneser–Ney n-gram model of id sequences.

    Parameters
    ----------
    order
        Order n, at least 1.

    >>> model = KneserNey(order=2).fit(np.array([0, 1, 0, 1, 1]), np.array([0, 2, 5]), ["a", "b"])
    >>> p = [10 ** model.log10("a", w) for w in ("a", "b", "</s>", "<unk>")]
    >>> round(sum(p), 12)
    1.0
    """

    def __init__(self, *, order: int = 3) -> None:
        if order < 1:
            raise UsageError(f"order is {order}", hint="give an order of 1 or more")
        self.order = order

    def fit(self, ids: NDArray[np.integer], offsets: Ints, vocabulary: list[str]) -> Self:
        """Count the n-grams of sequences ``ids[offsets[i]:offsets[i + 1]]``; ``vocabulary`` names the ids."""
        reserved = {BEGIN, END, UNKNOWN} & set(vocabulary)
        if reserved or any(not w or any(c.isspace() for c in w) for w in vocabulary):
            raise UsageError("a word is empty, contains a blank, or is one of <s>, </s>, <unk>")
        if len(offsets) < 2:
            raise FittingError("there is no sequence to count n-grams in")
        self.words_ = [*vocabulary, END, UNKNOWN, BEGIN]
        v = len(vocabulary)
        stream, place = _framed(np.asarray(ids, dtype=np.int64), offsets, v)
        # gram[t] numbers the distinct m-gram that ends at position t of the stream, all (N,)
        gram, keep = stream, place >= 0
        self.levels_: list[dict[str, Any]] = []
        raw: list[tuple[Ints, Bools]] = []
        for m in range(1, self.order + 1):
            # an m-gram is its context, the (m − 1)-gram that ends one position earlier, and its last word
            if m == 1:
                context, suffix = np.zeros_like(stream), np.zeros_like(stream)
            else:
                keep = place >= m - 1
                context, suffix = np.where(keep, np.roll(gram, 1), 0), gram
            rows = np.flatnonzero(keep)
            key = context[rows] * (v + 3) + stream[rows]
            distinct, first, number, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
            level = {"context": distinct // (v + 3), "word": distinct % (v + 3), "suffix": suffix[rows][first]}
            raw.append((counts, place[rows][first] == m - 1))
            gram = np.zeros_like(stream)
            gram[rows] = number
            self.levels_.append(level)
        self._weigh(raw, v)
        return self

    def _weigh(self, raw: list[tuple[Ints, Bools]], v: int) -> None:
        """Compute probabilities and back-off weights of all orders.

        ``raw`` has, for each order, the raw counts of its n-grams and whether each begins a sequence.
        """
        below: Floats = np.array([1 / (v + 2)])
        self.discounts_ = np.zeros(self.order)
        for m, level in enumerate(self.levels_, 1):
            counts = raw[m - 1][0].astype(np.float64)
            if m < self.order:
                # continuation counts: how many (m + 1)-grams end in each m-gram, shape of counts
                after = np.bincount(self.levels_[m]["suffix"].astype(np.int64), minlength=len(counts)).astype(float)
                counts = np.where(raw[m - 1][1], counts, after)
            if m == 1:
                counts[level["word"] == v + 2] = 0.0  # <s> is never predicted
            d = discount(counts, needs_twos=False)
            context = level["context"].astype(np.int64)
            mass, weight = interpolated(counts, context, 1 if m == 1 else len(self.levels_[m - 2]["word"]), d)
            lower = below[0] if m == 1 else below[level["suffix"].astype(np.int64)]
            level["probability"] = mass + weight[context] * lower
            if m == 1:
                self.unknown_ = float(weight[0] * below[0])
            else:
                self.levels_[m - 2]["backoff"] = weight
            self.discounts_[m - 1] = d
            below = np.asarray(level["probability"], dtype=np.float64)
        self.levels_[-1]["backoff"] = np.ones(len(below))

    def log10(self, *window: str) -> float:
        """Return log₁₀ p of the last word of a window given the words before it (at most n − 1 are used)."""
        index = {w: i for i, w in enumerate(self.words_)}
        codes = [index.get(w, index[UNKNOWN]) for w in window[-self.order :]]
        return float(np.log10(self._probability(codes)))

    def _probability(self, codes: list[int]) -> float:
        """Return p of the last code given the others, by backing off to shorter contexts."""
        *context, _ = codes
        row = self._row(codes)
        if row is not None:
            return float(self.levels_[len(codes) - 1]["probability"][row])
        if not context:
            return self.unknown_
        context_row = self._row(context)
        weight = 1.0 if context_row is None else float(self.levels_[len(context) - 1]["backoff"][context_row])
        return weight * self._probability(codes[1:])

    def _row(self, codes: list[int]) -> int | None:
        """Row of an n-gram in the level of its order, or None if it was not counted."""
        row = 0
        for m, code in enumerate(codes):
            level = self.levels_[m]
            keys = level["context"] * len(self.words_) + level["word"]
            key = (row if m else 0) * len(self.words_) + code
            row = int(np.searchsorted(keys, key))
            if row == len(keys) or keys[row] != key:
                return None
        return row

    def write_arpa(self, path: str | Path) -> None:
        """Write all orders, with back-off weights, in the ARPA format of KenLM and SRILM."""
        unknown = len(self.words_) - 2
        sizes = [len(level["word"]) + (m == 0) for m, level in enumerate(self.levels_)]
        with replacing(Path(path)) as temporary, temporary.open("w", encoding="utf-8") as out:
            out.write("\\data\\\n" + "".join(f"ngram {m}={n}\n" for m, n in enumerate(sizes, 1)))
            names: list[str] = []
            for m, level in enumerate(self.levels_, 1):
                words = [self.words_[w] for w in level["word"].tolist()]
                names = words if m == 1 else [f"{names[c]} {w}" for c, w in zip(level["context"], words, strict=True)]
                p, b = (np.log10(level[k]) for k in ("probability", "backoff"))
                out.write(f"\n\\{m}-grams:\n")
                if m == 1:
                    out.write(f"{np.log10(self.unknown_):.9g}\t{self.words_[unknown]}\n")
                for name, x, y in zip(names, p.tolist(), b.tolist(), strict=True):
                    value = "-99" if name == BEGIN else f"{x:.9g}"
                    out.write(f"{value}\t{name}" + (f"\t{y:.9g}\n" if m < self.order else "\n"))
            out.write("\n\\end\\\n")


def _framed(ids: Ints, offsets: Ints, v: int) -> tuple[Ints, Ints]:
    """Add ``<s>`` (v + 2) and ``</s>`` (v) to each sequence; return all symbols and their places in the sequences."""
    framed = offsets_of(np.diff(offsets) + 2)  # int64 (n + 1,): offsets with both symbols
    starts, ends = framed[:-1], framed[1:]
    place = places_of(framed)
    stream = np.full(len(place), v, dtype=np.int64)
    stream[starts] = v + 2
    inner = np.ones(len(place), dtype=bool)
    inner[ends - 1] = inner[starts] = False
    stream[inner] = ids[offsets[0] : offsets[-1]]
    return stream, place


def main() -> None:
    """Write the model of a text's words, which white space separates."""
    parser = ArgumentParser(description=main.__doc__)
    parser.add_argument("text")
    parser.add_argument("arpa", type=Path)
    parser.add_argument("--order", type=int, default=3)
    chosen = parser.parse_args()
    words = read_corpus(chosen.text).tokens(get_tokenizer("whitespace", lower=False))
    KneserNey(order=chosen.order).fit(words.ids, words.offsets, words.vocabulary).write_arpa(chosen.arpa)


if __name__ == "__main__":
    main()
