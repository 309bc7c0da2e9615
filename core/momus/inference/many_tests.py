"""Many tests of one design that share its relabellings: of pairs of samples of one size, or of several critics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic, jensen_shannon, total_variation
from momus.inference.contrast import Contrast, RatioContrast, SignedContrast, contrast_of, is_ratio
from momus.inference.design import Design
from momus.inference.multipliers import chance_distance
from momus.inference.pooling import NARROW, Rows, Tables, rows_between
from momus.inference.pvalues import Prepared, contrasts, count_extreme, p_value
from momus.inference.samples import Samples, indicator
from momus.inference.studentised import Ratio
from momus.inference.weights import CHUNK, Weights, all_labels, chunks, random_labels, random_signs
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats

ADDITIVE: tuple[Callable[..., Floats], ...] = (total_variation, jensen_shannon)
"""Distances to which columns that are empty in one text contribute in proportion to their sum."""


def merged(tables: Tables) -> Tables:
    """Merge the columns that only one document has into one column per document.

    Such columns are always relabelled together, so distances in `ADDITIVE` do not change. Most words of a text occur in
    one document only.

    >>> both = sparse.csr_array(np.array([[1.0, 2.0, 0, 1], [0, 0, 3.0, 1]]))
    >>> merged(Tables(both[:1], both[1:])).both().toarray().tolist()
    [[1.0, 3.0, 0.0], [1.0, 0.0, 3.0]]
    """
    both = sparse.csr_array(tables.both())
    # documents[v]: how many documents have column v, (V,); columns that two or more share come first, in order
    n, documents = both.shape[0], np.bincount(both.indices, minlength=both.shape[1])
    shared = documents > 1
    n_shared = int(shared.sum())
    new_column = np.cumsum(shared) - 1
    # the other entries go to the column n_shared + i of their document i
    indices = np.where(shared[both.indices], new_column[both.indices], n_shared + owners_of(both.indptr))
    arrays = both.data.copy(), indices.astype(np.int32), both.indptr.copy()
    compact = sparse.csr_array(arrays, shape=(n, n_shared + n))
    compact.sum_duplicates()
    real, generated = rows_between(compact, [0, tables.real.shape[0], n])
    return Tables(real, generated, compact)


class ManyTests:
    """The permutation test of `compare_rows` for one statistic, without interval, on any number of pairs of samples.

    Relabellings are drawn once. They do not depend on the rows, so each test is as valid as with separate relabellings;
    sharing them adds no dependence between tests but the Monte-Carlo error of these B relabellings.

    Parameters
    ----------
    statistic
        The statistic to test.
    n_real, n_generated
        Sizes of the samples.
    permutations
        B for narrow rows; for rows of more than 64 columns, the smaller of B and ``wide``. If (B + 1) α is a whole
        number and there are no ties, the test has exactly level α.

    >>> from momus.critic.statistic import mean
    >>> test = ManyTests(Statistic("mean", "x", "value", mean), 10, 10, 999, seed=0)
    >>> a, b = (np.column_stack([np.arange(10.0) + d, np.ones(10)]) for d in (0, 8))
    >>> p, difference = test(a, b)
    >>> p < 0.01, difference
    (True, 8.0)
    """

    def __init__(
        self, statistic: Statistic, n_real: int, n_generated: int, permutations: int, *, wide: int = 199, seed: int = 0
    ) -> None:
        self.statistic = statistic
        self.design = Design.documents(n_real, n_generated)
        self.permutations, self.wide, self.seed = permutations, wide, seed
        self._labels: dict[int, list[Weights]] = {}

    def labels(self, permutations: int) -> tuple[list[Weights], bool]:
        """Chunks of relabellings, (N, ≤ 64) each, and whether they enumerate all relabellings."""
        exact = self.design.relabellings <= permutations
        if permutations not in self._labels:
            if exact:
                enumerated = all_labels(self.design)
                labels = [enumerated[:, i : i + CHUNK] for i in range(0, enumerated.shape[1], CHUNK)]
            else:
                every = chunks(0, permutations)
                labels = [random_labels(self.design, self.seed, number, size) for number, size in every]
            self._labels[permutations] = [np.ascontiguousarray(chunk) for chunk in labels]
        return self._labels[permutations], exact

    def __call__(self, real: Rows, generated: Rows) -> tuple[float, float]:
        """Test two samples: p, and the difference (for distances, the excess over their mean under relabelling).

        Both are NaN if the statistic does not exist for the samples.
        """
        s = self.statistic
        tables = Tables.of(real, generated)
        if s.function in ADDITIVE and s.prepare is None and s.ties is None and sparse.issparse(tables.real):
            tables = merged(tables)
        is_wide = tables.width > NARROW
        labels, exact = self.labels(min(self.permutations, self.wide) if is_wide else self.permutations)
        samples = Samples(tables, self.design)
        try:
            contrast = contrast_of(s, samples)
        except ValueError:  # the statistic is not finite
            return float("nan"), float("nan")
        p, centre = tested(contrast, np.concatenate([contrast.alone(chunk) for chunk in labels]), exact)
        real_value, generated_value = contrast.values
        return p, generated_value - (centre if s.kind == "distance" else real_value)


def tested(contrast: Contrast, null: Floats, exact: bool) -> tuple[float, float]:
    """p-value of a contrast, and the mean of its null distribution, which a studentised one has no use for."""
    if isinstance(contrast, RatioContrast):
        return contrast.p(null, exact), float("nan")
    p, centre, _ = p_value(contrast.statistic.kind, contrast.here, null, exact)
    return p, centre


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
        transposed = sparse.csr_array(self.tables.both().T)
        # few columns: a distance may have ties, which sums must not break
        return transposed.astype(np.float32 if transposed.shape[0] > CHUNK * NARROW else np.float64, copy=False)


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
