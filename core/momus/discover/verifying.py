"""Proposals that are verified: each is tested on documents that had no part in proposing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from momus.arguments import arg
from momus.critic.statistic import Statistic
from momus.discover.features import Feature, place_of, shared_words
from momus.discover.proposing import Held, Holding, Predicate
from momus.errors import UsageError
from momus.inference.design import Design
from momus.inference.testing import compare_rows
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus

EXAMPLES = 2
Z = 1.96
SEEN = 1.5
"""How much more a layout, opening, ending, length or label counts for the order than a word: a reader sees it first.

Chosen on four pairs of versions, of which three had the reader's note among the first five without it.
"""


@dataclass(frozen=True)
class Discovery:
    """Something that holds in some documents, and how much oftener in one text, on the half that verifies.

    Attributes
    ----------
    features
        What holds: all of these features.
    source
        What proposed it: ``text``, or the name of a file of proposals.
    reference, generated
        Shares of the documents of both texts that it holds in; with covariates, of documents alike in them.
    difference, low, high
        generated − reference, and its interval by itself; None if it is not tested.
    p, p_adjusted
        By itself, and adjusted over all proposals by step-down under shared relabellings.
    equal_length, equal_length_low, equal_length_high
        The difference at equal length: by least squares with the logarithm of the number of words, errors by unit.
    examples
        Documents of the text that it holds in more often: id, and the place.
    """

    features: Predicate
    source: str
    reference: float
    generated: float
    difference: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float
    equal_length: float
    equal_length_low: float
    equal_length_high: float
    examples: tuple[tuple[str, str], ...] = ()

    @property
    def weight(self) -> float:
        """By how much the order of discoveries multiplies the difference: `SEEN` for what a reader sees first."""
        weights = [1.0 if f.kind in ("says", "begins") and " " not in f.item else SEEN for f in self.features]
        return sum(weights) / len(weights)

    @property
    def by_length(self) -> bool:
        """Whether it may follow from the length of documents: at equal length, less than half of it is left."""
        if self.features[0].kind == "longer than":
            return False
        return abs(self.equal_length) < abs(self.difference) / 2 or self.equal_length * self.difference < 0


def labelled(labels: Mapping[tuple[str, str], set[str]], reference: Corpus, generated: Corpus) -> Holding:
    """The labels of documents as predicates.

    Raises
    ------
    UsageError
        No label belongs to a document of the half that verifies.
    """
    sides = [[_labels_of(labels, corpus, i) for i in range(len(corpus))] for corpus in (reference, generated)]
    names = sorted({name for side in sides for document in side for name in document})
    if not names:
        hint = f"compare ids and names of texts in {arg('proposals')} with those of the texts"
        raise UsageError("no proposal belongs to a document of the half that verifies", hint=hint)
    one, other = (
        sparse.csr_matrix(np.array([[float(n in document) for n in names] for document in side])) for side in sides
    )
    return Holding([(Feature("labelled", name),) for name in names], one, other)


def _labels_of(labels: Mapping[tuple[str, str], set[str]], corpus: Corpus, row: int) -> set[str]:
    """What holds in a document, by its id or its prompt."""
    for id in (corpus.ids[row], corpus.prompts[row]):
        for text in (corpus.name, ""):
            if id is not None and (text, id) in labels:
                return labels[text, id]
    return set()


def verify(
    holding: Holding,
    sources: Sequence[str],
    judged: tuple[Corpus, ...],
    texts: Sequence[Sequence[str]],
    design: Design,
    seed: int,
) -> list[Discovery]:
    """Test all proposals under the same relabellings."""
    statistics = [Statistic.share(str(i), str(i), "documents") for i in range(len(holding.features))]
    rows = [
        {str(i): np.column_stack([column, np.ones(len(column))]) for i, column in enumerate(_dense(side).T)}
        for side in (holding.real, holding.generated)
    ]
    results = compare_rows(statistics, rows[0], rows[1], design=design, axis=True, family=len(statistics), seed=seed)
    lengths = tuple(np.log([max(len(text.split()), 1) for text in side]) for side in texts)
    discoveries = []
    for i, (predicate, result) in enumerate(zip(holding.features, results, strict=True)):
        columns = rows[0][str(i)][:, 0], rows[1][str(i)][:, 0]
        values = result.real_value or 0.0, result.generated_value or 0.0, result.difference or 0.0
        # what holds in no document, or in all, is not tested
        p, adjusted = (1.0 if x is None else x for x in (result.p, result.p_in_axis if len(results) > 1 else result.p))
        equal = at_equal_length(columns, (lengths[0], lengths[1]), design)
        examples = _examples(predicate, columns, judged, texts, int(values[2] > 0))
        interval = result.low, result.high
        discoveries.append(Discovery(predicate, sources[i], *values, *interval, p, adjusted, *equal, examples))
    return discoveries


def _dense(held: Held) -> Floats:
    return np.asarray(held.todense())


def at_equal_length(
    held: tuple[Floats, Floats], lengths: tuple[Floats, Floats], design: Design
) -> tuple[float, float, float]:
    """Difference in share between texts of one length, with its 95 % interval.

    Least squares of whether it holds on the text and the logarithm of the length, within prompts where the texts share
    these, or bins of covariates; errors are clustered by unit (Liang & Zeger 1986).

    >>> x = np.random.default_rng(0).integers(0, 2, 100).astype(float)
    >>> words = np.random.default_rng(1).normal(size=100)
    >>> value, low, high = at_equal_length((x, x), (words, words), Design.documents(100, 100))
    >>> abs(round(value, 6)), low < 0 < high
    (0.0, True)
    """
    rows = design.rows or (np.arange(len(held[0])), np.arange(len(held[1])))
    y, words = (np.concatenate([side[taken] for side, taken in zip(x, rows, strict=True)]) for x in (held, lengths))
    x = np.column_stack([np.repeat([0.0, 1.0], [len(taken) for taken in rows]), words])  # (n, 2)
    one, other = design.unit_numbers
    units = np.concatenate([one, other if design.together else other + len(one)])
    strata = np.concatenate(design.numbers) if design.strata and design.numbers else np.zeros(len(y), np.int64)
    y, x = _within(strata, y[:, None])[:, 0], _within(strata, x)
    inverse = np.linalg.pinv(x.T @ x)  # (2, 2)
    slope = inverse @ (x.T @ y)
    scores = _sums(units, x * (y - x @ slope)[:, None])  # (units, 2)
    error = float(np.sqrt(max((inverse @ (scores.T @ scores) @ inverse)[0, 0], 0.0)))
    return float(slope[0]), float(slope[0] - Z * error), float(slope[0] + Z * error)


def _sums(numbers: Ints, values: Floats) -> Floats:
    """Sums by number of the columns: (units, columns)."""
    return np.column_stack([np.bincount(numbers, column) for column in values.T])


def _within(numbers: Ints, values: Floats) -> Floats:
    """Values minus the mean of those of one number."""
    return np.asarray(values - (_sums(numbers, values) / np.maximum(np.bincount(numbers), 1)[:, None])[numbers])


def _examples(
    predicate: Predicate,
    held: tuple[Floats, Floats],
    judged: tuple[Corpus, ...],
    texts: Sequence[Sequence[str]],
    side: int,
) -> tuple[tuple[str, str], ...]:
    """A few documents of the text that has it more often, and where it holds; of sentences alike, the most alike."""
    first, rows = predicate[0], np.flatnonzero(held[side]).tolist()
    alike = first.kind.endswith(" like")
    places = [(judged[side].ids[i], place_of(first, texts[side][i])) for i in (rows if alike else rows[:EXAMPLES])]
    if alike:
        places.sort(key=lambda example: -shared_words(first.item, example[1]))
    return tuple(places[:EXAMPLES])
