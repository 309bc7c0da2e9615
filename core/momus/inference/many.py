"""Many tests of one design: the same relabellings serve every pair of samples of these sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic, jensen_shannon, total_variation
from momus.inference.design import Design
from momus.inference.pooling import NARROW, Rows, Tables, pooled, total
from momus.inference.pvalues import Prepared, both_values, contrasts, p_value
from momus.inference.weights import CHUNK, all_labels, chunks, random_labels
from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats

ADDITIVE: tuple[Callable[..., Floats], ...] = (total_variation, jensen_shannon)
"""Distances to which columns that are empty on one side add in proportion to their sum."""


def merged(tables: Tables) -> Tables:
    """Add up, for each document, the columns that no other document has: wherever it goes, they go together.

    Distances in `ADDITIVE` stay as they are, and most words of a text are of this kind.

    >>> both = sparse.csr_array(np.array([[1.0, 2.0, 0, 1], [0, 0, 3.0, 1]]))
    >>> merged(Tables(both[:1], both[1:])).both().toarray().tolist()
    [[1.0, 3.0, 0.0], [1.0, 0.0, 3.0]]
    """
    both = sparse.csr_array(tables.both())
    n, owners = both.shape[0], np.bincount(both.indices, minlength=both.shape[1])
    alone = owners[both.indices] == 1
    column = np.cumsum(owners > 1) - 1
    document = owners_of(both.indptr)
    kept = int((owners > 1).sum())
    indices = np.where(alone, kept + document, column[both.indices])
    made = sparse.csr_array((both.data, indices, both.indptr), shape=(n, kept + n))
    made.sum_duplicates()
    cut = tables.real.shape[0]
    return Tables(made[:cut], made[cut:])


class ManyTests:
    """The permutation test of `compare_rows` for one statistic, without interval, on any number of pairs of samples.

    Relabellings are drawn once. Each test is as valid as with its own, since they do not depend on the rows; tests
    that share them depend on each other no more than their rows do, but for the chance of these B relabellings.

    Parameters
    ----------
    statistic
        What is tested.
    n_real, n_generated
        Sizes of the samples.
    permutations
        B for narrow rows; for rows of more than 64 columns the smaller of B and ``wide``. At a level α with
        (B + 1) α whole, the test has exactly that level where there are no ties.

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
        self._labels: dict[int, list[Floats]] = {}

    def labels(self, permutations: int) -> tuple[list[Floats], bool]:
        """Chunks of relabellings (n, ≤ 64), and whether they are all there are."""
        exact = self.design.relabellings <= permutations
        if permutations not in self._labels:
            if exact:
                every = all_labels(self.design)
                found = [every[:, i : i + CHUNK] for i in range(0, every.shape[1], CHUNK)]
            else:
                found = [random_labels(self.design, self.seed, number, size) for number, size in chunks(permutations)]
            self._labels[permutations] = [np.ascontiguousarray(part, dtype=np.float64) for part in found]
        return self._labels[permutations], exact

    def __call__(self, real: Rows, generated: Rows) -> tuple[float, float]:
        """Test two samples: p, and the difference (of a distance, its excess over the mean of the relabelled ones).

        p is NaN where the statistic does not exist for the samples.
        """
        s = self.statistic
        tables = Tables.of(real, generated)
        if s.function in ADDITIVE and s.prepare is None and s.ties is None and sparse.issparse(tables.real):
            tables = merged(tables)
        is_wide = tables.width > NARROW
        labels, exact = self.labels(min(self.permutations, self.wide) if is_wide else self.permutations)
        sums = total(tables.real), total(tables.generated)
        whole, rows = sums[0] + sums[1], tables.both()
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = Prepared(*sums)
            left, right = (float(v[0]) for v in both_values(s, observed))
            here = float(contrasts(s, observed)[0])
            if not np.isfinite(here):
                return float("nan"), float("nan")
            null = []
            for part in labels:
                mine = pooled(rows, part)  # type: ignore[arg-type]
                theirs = np.maximum(whole - mine, 0.0) if is_wide else whole - mine
                null.append(contrasts(s, Prepared(mine, theirs)))
        p, centre, _ = p_value(s.kind, here, np.concatenate(null), exact)
        return p, right - centre if s.kind == "distance" else right - left
