"""Proposals: predicates of documents that may tell two texts apart, from one half of their prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from momus.discover.features import Feature, features
from momus.inference.design import Design, Numbers
from momus.inference.samples import indicator
from momus.numeric.types import Bools, Floats, Ints

MOST = 40
"""Proposals that are verified: each more costs the others power."""
LEAST, LEAST_SHARE = 4, 0.01
"""Documents of both texts together, and their share, that a feature holds in or does not."""
CLEAR = 2.0
"""Least |z| of a proposal on the half that proposes."""
BETTER = 1.0
"""By how much the |z| of two features together, or of sentences alike, exceeds that of each feature by itself."""
PAIRED = 40
"""Features of which pairs are looked at."""
SAME = 0.5
"""Shared documents ÷ all documents of two features from which on they are one."""
QUANTILES = (0.25, 0.5, 0.75)
"""Quantiles of the words of a document beyond which being longer is a feature."""

Predicate = tuple[Feature, ...]
"""What holds in a document if all of these features do."""
Held: TypeAlias = Any
"""A sparse matrix, whether each feature holds in each document: (documents, features) of 0 and 1."""


@dataclass(frozen=True)
class Holding:
    """Features of two texts, and in which documents they hold.

    Attributes
    ----------
    features
        The predicates, (F,).
    real, generated
        (n, F) and (m, F) of 0 and 1.
    """

    features: Sequence[Predicate]
    real: Held
    generated: Held

    def of(self, columns: Sequence[int]) -> Holding:
        """Some of the features."""
        return Holding([self.features[i] for i in columns], self.real[:, columns], self.generated[:, columns])

    def beside(self, other: Holding) -> Holding:
        """The features of both; documents are the same."""
        sides = ((self.real, other.real), (self.generated, other.generated))
        real, generated = (sparse.hstack(side, format="csr") for side in sides)
        return Holding([*self.features, *other.features], real, generated)

    def conjunctions(self, pairs: Sequence[tuple[int, int]]) -> Holding:
        """The pairs of features."""
        names = [self.features[i] + self.features[j] for i, j in pairs]
        left, right = ([pair[k] for pair in pairs] for k in (0, 1))
        real, generated = (side[:, left].multiply(side[:, right]).tocsr() for side in (self.real, self.generated))
        return Holding(names, real, generated)

    def chosen(self, predicates: Sequence[Predicate]) -> Holding:
        """Predicates of one or two of the features."""
        place = {predicate[0]: i for i, predicate in enumerate(self.features)}
        both = self.conjunctions([(place[p[0]], place[p[-1]]) for p in predicates])
        return Holding(list(predicates), both.real, both.generated)


class Vocabulary:
    """The features that some documents of two texts have, to find them in others.

    Attributes
    ----------
    proposing
        In which documents of these they hold.
    """

    def __init__(self, real: Sequence[str], generated: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        texts = [*real, *generated]
        least = max(LEAST, round(LEAST_SHARE * len(texts)))
        self.counter = CountVectorizer(analyzer=features, binary=True, dtype=np.float64, min_df=least)
        self.lengths = np.unique(np.quantile([len(t.split()) for t in texts], QUANTILES).round()).astype(int).tolist()
        held = self.counter.fit_transform(texts)
        # what nearly all documents have says as little as what hardly any has
        counts = np.asarray(held.sum(axis=0)).ravel()
        self.kept = np.flatnonzero(counts <= len(texts) - least)
        self.proposing = self._holding(held, texts, len(real))

    def holding(self, real: Sequence[str], generated: Sequence[str]) -> Holding:
        """In which documents of others they hold."""
        texts = [*real, *generated]
        return self._holding(self.counter.transform(texts), texts, len(real))

    def _holding(self, held: Held, texts: Sequence[str], n_real: int) -> Holding:
        names: list[Any] = sorted(self.counter.vocabulary_, key=self.counter.vocabulary_.__getitem__)
        single = [(Feature(*names[i]),) for i in self.kept.tolist()]
        single += [(Feature("longer than", f"{n:,} words"),) for n in self.lengths]
        words = np.array([len(t.split()) for t in texts])
        longer = sparse.csr_matrix((words[:, None] > np.array(self.lengths)[None]).astype(np.float64))
        both = sparse.hstack([held[:, self.kept], longer], format="csr")
        return Holding(single, both[:n_real], both[n_real:])


def z_of(holding: Holding, design: Design) -> Floats:
    """z of the difference in share of each feature, by the independent units of a design: (F,).

    A difference in as many documents as one unit has is added to the error, so that what few documents have is no
    difference without variance.
    """
    sides = [holding.real, holding.generated]
    if design.rows is not None:
        sides = [side[rows] for side, rows in zip(sides, design.rows, strict=True)]
    if design.kind == "bins" and design.numbers:
        return _z_within(sides, design.numbers, design)
    sizes = zip(sides, design.unit_numbers, design.units, strict=True)
    means = [_by_unit(side, units, size) for side, units, size in sizes]
    signed = [means[1] - means[0]] if design.together else [means[1], -means[0]]
    difference = sum(np.asarray(side.mean(axis=0)).ravel() for side in signed)
    variance = sum(_variance(side) / side.shape[0] for side in signed)
    floor = sum(1 / side.shape[0] ** 2 for side in signed)
    return np.asarray(difference / np.sqrt(variance + floor))


def _z_within(sides: list[Held], bins: Numbers, design: Design) -> Floats:
    """The same within bins of covariates: (F,).

    Difference of weighted shares; the error is that of the units' sums of w (y − share of the bin in this text).
    """
    size = 1 + int(max(side.max() for side in bins))  # B
    difference, variance = np.zeros((2, sides[0].shape[1]))
    for side, (held, of_bin) in enumerate(zip(sides, bins, strict=True)):
        shares = (indicator(of_bin, size, 1 / np.bincount(of_bin)[of_bin]) @ held).tocsr()  # (B, F)
        weights = design.weights[side] / design.weights[side].sum()
        by_unit = indicator(design.unit_numbers[side], design.units[side], weights)  # (units, n)
        of_unit, in_bins = (by_unit @ held).tocsr(), (by_unit @ indicator(of_bin, size).T).tocsr()
        difference += (1, -1)[side == 0] * np.asarray(of_unit.sum(axis=0)).ravel()
        # Σ (of_unit − in_bins shares)² over units, multiplied out: the residuals would be dense
        squares = of_unit.multiply(of_unit).sum(axis=0) - 2 * shares.multiply(in_bins.T @ of_unit).sum(axis=0)
        squares = squares + shares.multiply((in_bins.T @ in_bins) @ shares).sum(axis=0)
        variance += np.maximum(np.asarray(squares).ravel(), 0.0) + float(np.mean(in_bins.sum(axis=1) ** 2.0))
    return np.asarray(difference / np.sqrt(variance))


def _by_unit(held: Held, units: Ints, size: int) -> Held:
    """Means over the documents of each unit: (units, F)."""
    counts = np.bincount(units)
    return (indicator(units, size, 1 / counts[units]) @ held).tocsr()


def _variance(values: Held) -> Floats:
    squares = values.multiply(values).mean(axis=0) - np.square(values.mean(axis=0))  # (1, F)
    return np.asarray(np.maximum(np.asarray(squares).ravel(), 0.0))


def propose(holding: Holding, design: Design, most: int = MOST) -> list[Predicate]:
    """The predicates that differ most between two texts, at most one of those that hold in the same documents."""
    z = z_of(holding, design)
    # a phrase or layout says more precisely what holds than sentences that are like some others
    plain = np.array([not predicate[0].kind.endswith(" like") for predicate in holding.features])
    leading = [i for i in np.argsort(-np.abs(z), kind="stable").tolist() if plain[i]][:PAIRED]
    pairs = [(i, j) for k, i in enumerate(leading) for j in leading[k + 1 :] if z[i] * z[j] > 0]
    if pairs:
        both = holding.conjunctions(pairs)
        of_both = z_of(both, design)
        single = np.abs([np.maximum(abs(z[i]), abs(z[j])) for i, j in pairs])
        better = np.flatnonzero(np.abs(of_both) > single + BETTER).tolist()
        holding, z = holding.beside(both.of(better)), np.append(z, of_both[better])
        plain = np.append(plain, np.ones(len(better), dtype=bool))
    # of those that tell the texts apart about as well, what says most comes first: "of course" before "course"
    size = [sum(len(feature.item.split()) for feature in predicate) for predicate in holding.features]
    ranked = np.lexsort((-np.array(size), -(np.abs(z) - BETTER * ~plain).round(1))).tolist()
    order = [i for i in ranked if abs(z[i]) >= CLEAR]
    return [holding.features[i] for i in _distinct(holding, order, most)]


def _distinct(holding: Holding, order: Sequence[int], most: int) -> list[int]:
    """Features in an order, without those that hold in about the same documents as one before them."""
    everything = sparse.vstack([holding.real, holding.generated]).tocsc()
    chosen: list[int] = []
    taken: list[Bools] = []
    for i in order[: 50 * most]:
        held = np.asarray(everything[:, i].todense()).ravel() > 0
        if any((held & other).sum() > SAME * (held | other).sum() for other in taken):
            continue
        chosen.append(i)
        taken.append(held)
        if len(chosen) == most:
            break
    return chosen
