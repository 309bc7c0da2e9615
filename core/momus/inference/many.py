"""Many tests of one design: all pairs of samples of the same sizes share their relabellings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic, jensen_shannon, total_variation
from momus.inference.contrast import Contrast, RatioContrast, contrast_of
from momus.inference.design import Design
from momus.inference.pooling import NARROW, Rows, Tables
from momus.inference.pvalues import Prepared, p_value
from momus.inference.samples import Samples
from momus.inference.weights import CHUNK, Weights, all_labels, chunks, random_labels
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
    compact = sparse.csr_array((both.data, indices, both.indptr), shape=(n, n_shared + n))
    compact.sum_duplicates()
    n_real = tables.real.shape[0]
    return Tables(compact[:n_real], compact[n_real:])


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
        null = []
        with np.errstate(divide="ignore", invalid="ignore"):
            for chunk in labels:
                prepared = Prepared(*samples.pooled(chunk)) if contrast.needs_sums else None
                null.append(contrast.under(chunk, prepared))
        p, centre = tested(contrast, np.concatenate(null), exact)
        real_value, generated_value = contrast.values
        return p, generated_value - (centre if s.kind == "distance" else real_value)


def tested(contrast: Contrast, null: Floats, exact: bool) -> tuple[float, float]:
    """p-value of a contrast, and the mean of its null distribution."""
    if isinstance(contrast, RatioContrast):
        p, centre, _ = p_value("distance", abs(contrast.here), np.abs(null), exact)
    else:
        p, centre, _ = p_value(contrast.statistic.kind, contrast.here, null, exact)
    return p, centre
