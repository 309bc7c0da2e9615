"""Sums of one critic's rows under relabellings that several critics share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic, total_variation
from momus.inference.contrast import SignedContrast, is_ratio
from momus.inference.design import Design
from momus.inference.many import merged
from momus.inference.multipliers import chance_distance
from momus.inference.pooling import NARROW, Rows, Tables
from momus.inference.pvalues import Prepared, contrasts, count_extreme
from momus.inference.samples import Samples, indicator
from momus.inference.studentised import Ratio
from momus.inference.weights import CHUNK, Weights, chunks, random_labels, random_signs
from momus.numeric.types import Floats

EXCEEDED = 20
"""A test stops early if so many of the first 64 relabellings reach the observed contrast: p is about 0.3."""


class DrawnLabels:
    """Random relabellings of one design, drawn once for the rows of many critics: chunks of (N, 64)."""

    def __init__(self, design: Design, seed: int) -> None:
        self.design, self.seed = design, seed
        self._chunks: list[Weights] = []

    def chunk(self, number: int) -> Weights:
        """Chunk ``number`` of the relabellings."""
        while len(self._chunks) <= number:
            self._chunks.append(random_labels(self.design, self.seed, len(self._chunks), CHUNK))
        return self._chunks[number]


class SharedRows:
    """Rows of all documents of two texts, which several designs use.

    For the total variation distance, columns with entries in a single document are merged, one per document: that
    leaves the distance unchanged, and halves a table of words.

    Parameters
    ----------
    real, generated
        Rows (n, V) and (m, V) of all documents, dense or CSR.
    """

    def __init__(self, statistic: Statistic, real: Rows, generated: Rows) -> None:
        if statistic.function is total_variation and sparse.issparse(real):
            tables = merged(Tables(real, generated))
            real, generated = tables.real, tables.generated
        self.tables = Tables.of(real, generated)

    @property
    def wide(self) -> bool:
        """Whether the rows have so many columns that they stay sparse."""
        return bool(sparse.issparse(self.tables.real))

    @cached_property
    def columns(self) -> sparse.csr_array:
        """The transposed rows of both texts, (V, n + m), in single precision if there are very many columns."""
        transposed = sparse.csr_array(sparse.vstack([self.tables.real, self.tables.generated]).T)
        # few columns: a distance may have ties, which sums must not break
        return transposed.astype(np.float32 if transposed.shape[0] > CHUNK * NARROW else np.float64)


class LabelledSums:
    """Sums of rows under the labels of one design: independent documents, clusters, or bins.

    Parameters
    ----------
    rows
        Rows of all documents, of which the design may leave some out.

    Attributes
    ----------
    replicates
        The contrast in resamples of documents, (B,), once it has been computed.
    """

    def __init__(self, rows: SharedRows, design: Design) -> None:
        self.rows, self.design = rows, design
        self.replicates: Floats | None = None
        real, generated = rows.tables.real, rows.tables.generated
        self.documents = np.arange(real.shape[0] + generated.shape[0])  # that take part, the real ones first
        if design.rows is not None:
            self.documents = np.concatenate([design.rows[0], real.shape[0] + design.rows[1]])
        narrow = (np.zeros((real.shape[0], 1)), np.zeros((generated.shape[0], 1))) if rows.wide else (real, generated)
        if design.rows is not None:
            narrow = narrow[0][design.rows[0]], narrow[1][design.rows[1]]
        self.samples = Samples(Tables(*narrow), design)

    @property
    def sides(self) -> tuple[Rows, Rows]:
        """Rows of the documents of each text that take part, unweighted."""
        tables, chosen = self.rows.tables, self.design.rows
        return (
            (tables.real, tables.generated) if chosen is None else (tables.real[chosen[0]], tables.generated[chosen[1]])
        )

    def sums(self, labels: Weights) -> tuple[Floats, Floats]:
        """Weighted sums of the rows labelled real, and of the others: (B, V) each."""
        if not self.rows.wide:
            return self.samples.pooled(labels)
        real, generated = self.samples.sides(labels)
        other = 1 - labels if generated is None else generated
        if self.design.kind == "clusters" and self.design.numbers is not None:  # from clusters to documents
            one, two = self.design.numbers
            unit = np.concatenate([one, self.design.units[0] + two])
            real, other = real[unit], other[unit]
        return self._pooled(real), self._pooled(other)

    def _pooled(self, weights: Weights | Floats) -> Floats:
        columns = self.rows.columns
        of_all = np.zeros((columns.shape[1], weights.shape[1]), dtype=columns.dtype)
        of_all[self.documents] = weights
        return np.asarray(columns @ of_all, dtype=np.float64).T

    @cached_property
    def observed(self) -> tuple[Floats, Floats]:
        """Weighted sums of each text as it is: (1, V) each."""
        return self.sums(self.samples.observed_labels)

    def resampled(self, statistic: Statistic, drawn: tuple[Weights, Weights]) -> Floats:
        """The contrast if documents occur ``drawn`` times, (n, B) and (m, B); weights of bins follow: (B,)."""
        weights = [np.asarray(d, dtype=np.float64) for d in drawn]
        if self.design.kind == "bins" and self.design.numbers is not None:
            counts = [np.asarray(indicator(n) @ w) for n, w in zip(self.design.numbers, weights, strict=True)]
            shared = 2 * counts[0] * counts[1] / np.maximum(counts[0] + counts[1], 1)
            weights = [
                w * (shared / np.maximum(c, 1))[n] for w, c, n in zip(weights, counts, self.design.numbers, strict=True)
            ]
        none = [np.zeros_like(w) for w in weights]
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.rows.wide:
                sums = [self._pooled(np.concatenate(pair)) for pair in ((weights[0], none[1]), (none[0], weights[1]))]
            else:
                sums = [np.asarray(w.T @ rows) for rows, w in zip(self.sides, weights, strict=True)]
            return contrasts(statistic, Prepared(*sums))


@dataclass(frozen=True)
class Relabelled:
    """A contrast and its test.

    Attributes
    ----------
    difference
        generated − real: of means, of log perplexities, of other values; for a distance, the excess over its mean under
        relabelling.
    p
        Of the permutation test; NaN if not asked for.
    """

    difference: float
    p: float
    permutations: int


def relabelled(statistic: Statistic, sums: LabelledSums, labels: DrawnLabels, permutations: int) -> Relabelled:
    """Test a statistic with shared relabellings: a permutation test, studentised for means and ratios.

    A distance of units that are not exchangeable has random signs of units instead.

    It stops after the first 64 relabellings if 20 of them reach the observed contrast, or, for rows with more than 64
    columns, if none does (p = 1/65): it decides at level 0.05, and p-values near that level take all relabellings.
    """
    if statistic.kind == "distance" and not sums.design.exchangeable:
        return _signed(statistic, sums, labels.seed, permutations)
    ratio = Ratio(sums.samples) if is_ratio(statistic) and not sums.rows.wide else None
    with np.errstate(divide="ignore", invalid="ignore"):
        here = float(contrasts(statistic, Prepared(*sums.observed))[0])
        observed = here if ratio is None else abs(float(ratio.observed.t[0]))
        kind = "distance" if ratio is not None else statistic.kind
        null: list[Floats] = []
        for number in range(-(-permutations // CHUNK)):
            drawn = labels.chunk(number)[:, : permutations - number * CHUNK]
            if ratio is not None:
                null.append(np.abs(ratio.under(drawn).t))
            else:
                null.append(contrasts(statistic, Prepared(*sums.sums(drawn))))
            values = np.concatenate(null)
            extreme = count_extreme(kind, observed, values)
            if number == 0 and (extreme >= EXCEEDED or (extreme == 0 and sums.rows.tables.width > NARROW)):
                break
    if ratio is not None:
        here = float(ratio.observed.value[0])
    elif statistic.kind == "distance":
        here -= float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else np.nan
    return Relabelled(here, (extreme + 1) / (len(values) + 1), len(values))


def _signed(statistic: Statistic, sums: LabelledSums, seed: int, permutations: int) -> Relabelled:
    """Test a distance of units that are not exchangeable, by random signs."""
    samples = Samples(Tables.of(*sums.sides), sums.design)
    contrast = SignedContrast(statistic, samples)
    chance = chance_distance(statistic, samples, seed, CHUNK)
    if contrast.reason:
        return Relabelled(contrast.values[1] - chance, float("nan"), 0)
    null: list[Floats] = []
    for number, size in chunks(0, permutations):
        with np.errstate(divide="ignore", invalid="ignore"):
            null.append(contrast.under(random_signs(sums.design, seed, number, size), None))
        extreme = contrast.extreme(np.concatenate(null))
        if number == 0 and (extreme >= EXCEEDED or (extreme == 0 and sums.rows.tables.width > NARROW)):
            break
    drawn = sum(map(len, null))
    return Relabelled(contrast.values[1] - chance, (extreme + 1) / (drawn + 1), drawn)
