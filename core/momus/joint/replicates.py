"""Bootstrap replicates of the effects of several models on one axis, from draws that all axes share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from momus.critic.statistic import kolmogorov_smirnov, shares, supremum
from momus.inference.influence import cross_fitted, witness_of
from momus.inference.intervals import hedges_factor
from momus.inference.matching import Names, Pools, design_of, in_blocks, shared_prompts
from momus.inference.multipliers import chance_distance
from momus.inference.pvalues import Prepared, both_values
from momus.inference.ranking import Distances
from momus.inference.samples import Rows, Samples, Tables, pooled, sums_by
from momus.inference.weights import Weights
from momus.joint.axes import AxisRows
from momus.numeric.types import Floats, Ints

LARGEST: tuple[Callable[..., Floats], ...] = (kolmogorov_smirnov, supremum)
"""Distances that are the largest of the gaps between shares."""
NEAR = 0.25
"""Gaps this many standard errors below the largest one may be the largest."""
CHANCE = 199
"""Relabellings (or draws of signs) whose mean distance is what chance explains of a distance."""


class LargestGap:
    """Errors of a distance that is the largest of many gaps: its directional derivative at the gaps of two texts.

    The bootstrap is inconsistent for a function with kinks (Fang & Santos 2019): resampled gaps are those of the sample
    with its noise, of which the largest is too large, and stays where it is. The derivative for errors h of the gaps θ
    is the largest of sign(θ) h over the columns where |θ| may be largest, of either sign where both may be.

    Parameters
    ----------
    function
        The distance.
    real, model
        Pooled rows of both texts, (1, V).
    """

    def __init__(self, function: Callable[..., Floats], real: Floats, model: Floats) -> None:
        self.cumulative = function is kolmogorov_smirnov
        self.gaps = self._gaps(real, model)[0]  # (V,)
        self._least: float | None = None

    def __call__(self, real: Floats, model: Floats) -> Floats:
        """Errors of the distance for resampled rows of both texts, (B, V) each: (B,)."""
        errors = self._gaps(real, model) - self.gaps  # (B, V)
        if self._least is None:  # standard errors are those of the first resamples
            self._least = float(np.abs(self.gaps).max() - NEAR * errors.std(axis=0).max())
        # a column near 0 may be in both, if no gap is clear: its distance grows whichever way it errs
        up, down = errors[:, self.gaps >= self._least], -errors[:, -self.gaps >= self._least]
        return np.asarray(np.concatenate([up, down], axis=1).max(axis=1))

    def _gaps(self, real: Floats, model: Floats) -> Floats:
        gaps = shares(real) - shares(model)
        return np.cumsum(gaps, axis=1) if self.cumulative else gaps


class Replicates:
    """Bootstrap replicates of the effects of all models on one axis.

    Parameters
    ----------
    corpora
        The real corpus, then the models.
    pools
        Units that are resampled.
    prompts, groups
        By corpus, of all documents.

    Attributes
    ----------
    estimates
        Signed effects, (K,); for distances, the excess over chance.
    sizes
        Of distances, what verdicts estimate them to be (`momus.inference.influence`), (K,); None of other statistics.
    documents
        Numbers of documents of each corpus that take part, (K + 1,).

    Raises
    ------
    ValueError
        The axis cannot be ranked; the message says why.
    """

    def __init__(
        self,
        axis: AxisRows,
        corpora: Sequence[str],
        pools: Pools,
        prompts: Mapping[str, Names],
        groups: Mapping[str, Names],
        seed: int,
    ) -> None:
        self.axis, self.statistic, self.corpora = axis, axis.statistic, corpora
        missing = [c for c in corpora if c not in axis.rows or not axis.scored[c].any()]
        if missing:
            raise ValueError(f"no scored documents of {', '.join(map(repr, missing))}")
        kept = _kept(axis, corpora, pools)  # row numbers, by corpus
        self.documents = np.array([len(k) for k in kept])
        if self.documents.min() < 2:
            raise ValueError("fewer than two scored documents of a corpus take part")
        weights = [_weights(pools.prompts[c][k], pools.matched) for c, k in zip(corpora, kept, strict=True)]
        tables = _aligned([axis.rows[c][k] for c, k in zip(corpora, kept, strict=True)])
        # weighted sums of rows by unit, (units, V), and the numbers of these units
        self.units, self.sums = [], []
        for corpus, k, w, table in zip(corpora, kept, weights, tables, strict=True):
            # summed by unit once: a resample is then a product of units, not of documents
            units, codes = np.unique(pools.units[corpus][k], return_inverse=True)
            self.units.append(units)
            self.sums.append(sums_by(codes, len(units), table, w))
        is_g = self.statistic.kind == "value" and self.statistic.effect == "hedges_g"
        # of Hedges' g, in standard deviations of these texts: a unit that resamples do not change
        self.factors = [
            hedges_factor((tables[0], t), (weights[0], w))[0] if is_g else 1.0
            for t, w in zip(tables[1:], weights[1:], strict=True)
        ]
        whole = [pooled(s, np.ones((s.shape[0], 1))) for s in self.sums]  # (1, V) each
        with np.errstate(divide="ignore", invalid="ignore"):
            self.estimates = self._effects(whole)[0]
        function, plain = self.statistic.function, self.statistic.prepare is None
        kinked = self.statistic.kind == "distance" and plain and function in LARGEST
        self.largest = [LargestGap(function, whole[0], model) for model in whole[1:]] if kinked else []
        if not np.isfinite(self.estimates).all():
            raise ValueError("its effect does not exist for some models")
        self.sizes: Floats | None = None
        self.observed: Floats | None = None
        if self.statistic.kind == "distance":
            # kept before chance is taken off: the upper end of an interval starts from here
            self.observed = self.estimates
            of_models = self._samples(tables, kept, prompts, groups)
            chance = [chance_distance(self.statistic, samples, seed, CHANCE) for samples in of_models]
            self.estimates = self.estimates - np.array(chance)
            witness = witness_of(self.statistic)
            if witness is not None:
                # blocks as in verdicts, so that both tell the same cross-fitted distance
                blocks = [Samples(s.tables, in_blocks(s.design, seed)) for s in of_models]
                sizes = np.array([cross_fitted(s, witness, seed) for s in blocks])
                # texts without anything that is counted (no mark, say) have no folds to fit a witness on
                self.sizes = np.where(np.isnan(sizes), self.estimates, sizes)
        self._replicates: list[Floats] = []

    def add(self, drawn: Weights) -> None:
        """Add replicates for the multiplicities of all units, (U, B)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            sums = [pooled(s, drawn[u]) for u, s in zip(self.units, self.sums, strict=True)]  # (B, V) each
            if self.largest:
                columns = [gap(sums[0], model) for gap, model in zip(self.largest, sums[1:], strict=True)]
                self._replicates.append(np.column_stack(columns))  # errors, (B, K)
            else:
                self._replicates.append(self._effects(sums))

    def distances(self, freedom: float) -> Distances:
        """Estimates and deviations; those of n units keep (n − 1)/n of the variance."""
        values = np.concatenate(self._replicates)
        deviations = (values - values.mean(axis=0)) * np.sqrt((freedom + 1) / freedom)  # (resamples, K)
        signed = self.statistic.kind == "value"
        return Distances(self.estimates, deviations, signed, freedom, self.sizes, self.observed)

    def _effects(self, sums: Sequence[Floats]) -> Floats:
        """Effects of all models, (B, K), from the pooled rows of all corpora, (B, V) each."""
        s, columns = self.statistic, []
        for model, factor in zip(sums[1:], self.factors, strict=True):
            real, value = both_values(s, Prepared(sums[0], model))
            if s.kind == "distance":
                columns.append(value)
            elif s.effect == "log_ratio":
                columns.append(np.log(value) - np.log(real))
            else:
                columns.append((value - real) * factor)
        return np.column_stack(columns)

    def _samples(
        self,
        tables: Sequence[Rows],
        kept: Sequence[Ints],
        prompts: Mapping[str, Names],
        groups: Mapping[str, Names],
    ) -> list[Samples]:
        """The documents of the real text and of each model that a test of both would compare."""
        asked = [[prompts[c][i] for i in k] for c, k in zip(self.corpora, kept, strict=True)]
        of_group = [
            [groups[c][i] for i in k] if groups.get(c) else [None] * len(k)
            for c, k in zip(self.corpora, kept, strict=True)
        ]
        samples = []
        for i in range(1, len(tables)):
            design = design_of(asked[0], asked[i], groups=(of_group[0], of_group[i]))
            samples.append(Samples.of(tables[0], tables[i], design))
        return samples


def _kept(axis: AxisRows, corpora: Sequence[str], pools: Pools) -> list[Ints]:
    """Row numbers of the documents of each corpus that take part."""
    rows = [np.flatnonzero(axis.scored[c]) for c in corpora]
    if not pools.matched:
        return rows
    common = shared_prompts([pools.prompts[c][r] for c, r in zip(corpora, rows, strict=True)])
    return [r[np.isin(pools.prompts[c][r], common)] for c, r in zip(corpora, rows, strict=True)]


def _weights(prompts: Ints, matched: bool) -> Floats:
    """Documents of a prompt share its weight of 1 if corpora are matched; otherwise each document has weight 1."""
    if not matched or not len(prompts):
        return np.ones(len(prompts))
    return np.asarray(1.0 / np.bincount(prompts)[prompts])


def _aligned(parts: Sequence[Rows]) -> list[Rows]:
    """Rows of all corpora without columns that are empty in all, dense if they are narrow."""
    # together, as columns that one corpus lacks must stay where another has them
    stacked = sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)
    table = Tables.of(stacked, stacked[:0]).real
    ends = np.cumsum([0, *(p.shape[0] for p in parts)])
    return [table[a:b] for a, b in pairwise(ends)]
