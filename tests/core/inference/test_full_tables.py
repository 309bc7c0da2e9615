"""Full tables of counts: exact sums, statistics that share a table, and the search for a smallest value."""

import numpy as np
import pytest
from scipy import sparse

from momus.critic import Statistic
from momus.critic.statistic import entropy, jensen_shannon, total_variation
from momus.inference import Design, compare_rows
from momus.inference.influence import Errors, standard_error
from momus.inference.intervals import LARGEST, PRECISE, halved
from momus.inference.samples import EXACT_IN_FLOAT32, Samples, Tables, pooled
from momus.inference.weights import random_labels

QUICK = {"permutations": 199, "resamples": 19, "wide": (199, 19)}


def full(rng, n, top):
    p = 1 / np.arange(2, 8_002)
    counts = rng.multinomial(20_000, p / p.sum(), n).astype(float)
    counts[:, 0] = top
    return sparse.csr_array(counts)


@pytest.mark.parametrize("top", [100, EXACT_IN_FLOAT32])
def test_full_tables_keep_exact_sums(top):
    """In single precision where the sum of every column is exact in it, otherwise in double precision."""
    real, generated = (full(np.random.default_rng(i), 70, top) for i in range(2))
    tables = Tables.of(real, generated)
    assert tables.both().dtype == (np.float32 if top == 100 else np.float64)
    assert np.shares_memory(tables.both(), tables.real)
    labels = random_labels(Design.documents(70, 70), 0, 0, 64)
    used = np.flatnonzero((real.sum(axis=0) + generated.sum(axis=0)) > 0)
    expected = labels.T.astype(np.float64) @ sparse.vstack([real, generated]).toarray()[:, used]
    assert (pooled(tables.both(), labels) == expected).all()


def test_statistics_of_one_table_do_not_change_each_other():
    """Errors from shared resamples, entropies that a divergence shares: as if each statistic were tested alone."""
    rng = np.random.default_rng(5)
    sides = {"x": full(rng, 70, 50)}, {"x": full(rng, 70, 90)}
    statistics = [
        Statistic("entropy", "x", "value", entropy),
        Statistic("divergence", "x", "distance", jensen_shannon),
        Statistic("tvd", "x", "distance", total_variation),
        Statistic("sorted", "x", "value", entropy, prepare=lambda x: np.sort(x, axis=1)),
    ]
    together = compare_rows(statistics, *sides, **QUICK)
    alone = [compare_rows([s], *sides, **QUICK)[0] for s in statistics]
    assert repr(together) == repr(alone)  # some fields are NaN, which equals nothing
    samples = Samples(Tables.of(sides[0]["x"], sides[1]["x"]), Design.documents(70, 70))
    errors = Errors(samples, statistics, 19, 0)
    assert errors.of(statistics[3]) == standard_error(statistics[3], samples, 19, 0)
    assert together[0].p == together[3].p


def test_the_largest_narrow_tables_stay_sparse_and_give_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    columns = rng.integers(0, 40, 700), rng.integers(2, 40, 600)
    real, generated = (
        sparse.csr_array((np.ones(len(c)), c, np.arange(len(c) + 1)), shape=(len(c), 40)) for c in columns
    )
    statistics = [Statistic.ks("x", "gap"), Statistic("tvd", "x", "distance", total_variation)]

    def results():
        found = compare_rows(statistics, {"x": real}, {"x": generated}, **QUICK)
        return [x for r in found for x in (r.p, r.difference, r.low, r.high, r.standard_error)]

    dense = results()
    monkeypatch.setattr("momus.inference.samples.DENSE_CELLS", (1, 1))
    assert sparse.issparse(Tables.of(real, generated).both())
    assert results() == pytest.approx(dense, rel=1e-12)


def test_halving_ends_near_the_smallest_value():
    for least in (1e-4, 0.013, 0.5, 1.99):
        found = halved(lambda x, least=least: x >= least, LARGEST)
        assert least <= found <= least * (1 + 2 * PRECISE)
