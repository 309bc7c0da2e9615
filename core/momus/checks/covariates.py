"""Dependence of documents that shows in the texts themselves: in word use, length, and type–token ratio.

The critics play no part, so a warning does not depend on which of them run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from momus.checks.dependence import (
    HiddenGroups,
    OrderCorrelation,
    between_squares,
    examples_of,
    guess_groups,
    hidden_groups,
    order_correlation,
    variance_components,
)
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats, Ints
from momus.text.sketches import TextSketch
from momus.text.tokens import get_tokenizer

WORDS = 100
"""Number of the most frequent words whose shares describe word use; most of them are function words and punctuation."""
PERMUTATIONS = 999
MOST_DOCUMENTS = 1000
MOST_OF_GROUP = 50
"""Word use is tested on so many documents at most, and so many of a group: permutations of more would take seconds."""
SEED = 0

Finding = TypeVar("Finding", HiddenGroups, OrderCorrelation)


def groups_of_texts(sketch: TextSketch) -> HiddenGroups | None:
    """Test whether documents whose ids begin alike resemble each other in word use, length or type–token ratio.

    Returns
    -------
    The strongest of the three, its p multiplied by three (Bonferroni); None if the groups or the prompts are known, or
    the ids suggest no groups.

    >>> from momus.text.corpus import Corpus
    >>> texts = [f"the {'cat' if i % 2 else 'dog'} sat on mat number {i}" for i in range(40)]
    >>> corpus = Corpus.from_texts(texts, ids=[f"{'ab'[i % 2]}/{i}" for i in range(40)])
    >>> groups = groups_of_texts(TextSketch.of(corpus))
    >>> groups.covariate, groups.groups, groups.warns()
    ('word use', 2, True)
    """
    rows = _testable(sketch, sketch.canonical_rows)
    names = guess_groups(sketch.ids(rows))
    if names is None:
        return None
    length, variety = covariates(sketch, rows)
    groups = [
        _groups_in_words(sketch, rows, names),
        hidden_groups(length, names, "length"),
        hidden_groups(variety, names, "type–token ratio"),
    ]
    return _strongest(groups, len(groups))


def order_of_texts(sketch: TextSketch) -> OrderCorrelation | None:
    """Test whether documents that follow each other resemble each other in word use, length or type–token ratio.

    Returns
    -------
    As `groups_of_texts`; None for fewer than 20 documents.
    """
    rows = _testable(sketch, np.arange(len(sketch)))
    if len(rows) < 20:
        return None
    length, variety = covariates(sketch, rows)
    findings = [
        _order_in_words(word_use(sketch, rows[:MOST_DOCUMENTS])),
        order_correlation(length, "length"),
        order_correlation(variety, "type–token ratio"),
    ]
    return _strongest(findings, len(findings))


def covariates(sketch: TextSketch, rows: Ints) -> tuple[Floats, Floats]:
    """The number of tokens, and the type–token ratio, of some documents with text: float64 (rows,) each."""
    lengths = sketch.tokens[rows].astype(np.float64)
    return lengths, sketch.types[rows] / lengths


def word_use(sketch: TextSketch, rows: Ints) -> Floats:
    """Read some documents again for the square roots of the shares of the `WORDS` most frequent words: (rows, V)."""
    words = pa.array(islice(sketch.words, WORDS), pa.string())
    table = sketch.documents(rows).tokens(get_tokenizer("words"))
    # the column of each word of the vocabulary, with one more for all rarer words, shape (vocabulary,)
    columns = pc.index_in(pa.array(table.vocabulary, pa.string()), words).fill_null(len(words)).to_numpy()
    cells = owners_of(table.offsets) * (len(words) + 1) + columns[table.ids]
    counts = np.bincount(cells, minlength=len(rows) * (len(words) + 1)).reshape(len(rows), -1)[:, :-1]
    return np.sqrt(counts / np.maximum(table.lengths, 1)[:, None])


def _testable(sketch: TextSketch, order: Ints) -> Ints:
    """Rows of the documents with text, in this order; none if groups or repeated prompts say what belongs together."""
    prompts = sketch.table["prompt"].drop_null()
    if sketch.table["group"].null_count < len(sketch) or pc.count_distinct(prompts).as_py() < len(prompts):
        return np.zeros(0, dtype=np.int64)
    return order[sketch.tokens[order] > 0]


def _strongest(findings: Sequence[Finding | None], tests: int) -> Finding | None:
    """The finding with the smallest p, multiplied by the number of tests."""
    some = [f for f in findings if f is not None]
    if not some:
        return None
    best = min(some, key=lambda f: f.p)
    return replace(best, p=min(1.0, tests * best.p))


def _groups_in_words(sketch: TextSketch, rows: Ints, names: Sequence[str]) -> HiddenGroups | None:
    """Analyse the variance of word use by group, with a permutation test (Anderson 2001)."""
    rng = np.random.default_rng(SEED)
    kept = _sampled(rng, names)
    labels = [names[i] for i in kept.tolist()]
    words = word_use(sketch, rows[kept])
    components = variance_components(words, labels)
    if components is None:
        return None
    codes = np.unique(np.asarray(labels, dtype=object), return_inverse=True)[1]
    sizes = np.bincount(codes)
    centred = words - words.mean(axis=0)
    p = _permutation_p(rng, len(kept), lambda order: between_squares(centred[order], codes, sizes))
    low, high = _interval(words, labels, components.icc)
    examples = examples_of(labels)
    return HiddenGroups(**vars(components), low=low, high=high, p=p, examples=examples, covariate="word use")


def _interval(words: Floats, labels: list[str], icc: float) -> tuple[float, float]:
    """95 % interval of the intraclass correlation of word use, by the jackknife over groups; nan for two groups."""
    from scipy.stats import t

    column = np.asarray(labels, dtype=object)
    names = list(dict.fromkeys(labels))
    without = [variance_components(words[column != name], column[column != name].tolist()) for name in names]
    values = np.array([w.icc for w in without if w is not None])
    k = len(values)
    if k < 3:
        return float("nan"), float("nan")
    error = np.sqrt((k - 1) / k * ((values - values.mean()) ** 2).sum())
    half = float(t.ppf(0.975, k - 1) * error)
    return max(icc - half, -1.0), min(icc + half, 1.0)


def _order_in_words(words: Floats) -> OrderCorrelation | None:
    """Correlate the word use of neighbours, with a permutation test."""
    rng = np.random.default_rng(SEED)
    centred = words - words.mean(axis=0)
    total = float((centred**2).sum())
    if total <= 1e-12:
        return None
    products = centred @ centred.T  # (documents, documents)

    def neighbours(order: Ints) -> float:
        return float(products[order[1:], order[:-1]].sum())

    n = len(centred)
    p = _permutation_p(rng, n, neighbours)
    return OrderCorrelation(neighbours(np.arange(n)) / total, p, n, "word use")


def _permutation_p(rng: np.random.Generator, n: int, statistic: Callable[[Ints], float]) -> float:
    """Share of the orders of n documents, the given one included, whose statistic is at least as large as that."""
    observed = statistic(np.arange(n))
    # equal up to rounding counts as equal
    bar = observed - 1e-9 * abs(observed)
    return (1 + sum(statistic(rng.permutation(n)) >= bar for _ in range(PERMUTATIONS))) / (1 + PERMUTATIONS)


def _sampled(rng: np.random.Generator, names: Sequence[str]) -> Ints:
    """Rows of whole groups in random order, no more than `MOST_OF_GROUP` of a group and `MOST_DOCUMENTS` of all."""
    codes = np.unique(np.asarray(names, dtype=object), return_inverse=True)[1]
    # rows in random order within each group, groups in random order
    order = np.lexsort((rng.random(len(codes)), rng.permutation(codes.max() + 1)[codes]))
    ordered = codes[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-1))
    places = np.arange(len(order)) - np.repeat(begins, np.diff([*begins, len(order)]))
    kept: Ints = np.sort(order[places < MOST_OF_GROUP][:MOST_DOCUMENTS])
    return kept
