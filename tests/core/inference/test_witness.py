"""Witnesses of distances: they add up to the distance, and cross-fitting removes what chance adds to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from momus.critic import Statistic
from momus.critic.statistic import jensen_shannon, kolmogorov_smirnov, mean_gap, shares, supremum, total_variation
from momus.inference import Design
from momus.inference.influence import WITNESSES, cross_fitted, distance_error, jensen_shannon_witness, witness_of
from momus.inference.samples import Samples, Tables
from momus.inference.weights import multiplicities

EXACT = [total_variation, kolmogorov_smirnov, supremum]
counts = arrays(np.int64, (2, 9), elements=st.integers(0, 20)).filter(lambda c: (c.sum(axis=1) > 0).all())


def added_up(witness, made_of, evaluated_on):
    weights = witness(*made_of)
    return sum(float(shares(side)[0] @ w) for side, w in zip(evaluated_on, weights, strict=True))


def sides(table):
    return [row[None].astype(np.float64) for row in table]


@pytest.mark.parametrize("distance", EXACT, ids=lambda f: f.__name__)
@given(counts)
def test_weighted_shares_add_up_to_the_distance(distance, table):
    p, q = sides(table)
    assert added_up(WITNESSES[distance], (p, q), (p, q)) == pytest.approx(distance(p, q)[0], abs=1e-12)


@given(counts)
def test_those_of_the_divergence_do_so_but_for_smoothing(table):
    p, q = (1e7 * side for side in sides(table))
    assert added_up(jensen_shannon_witness, (p, q), (p, q)) == pytest.approx(jensen_shannon(p, q)[0], abs=1e-5)
    small = [side / 1e7 for side in (p, q)]
    assert added_up(jensen_shannon_witness, small, small) <= jensen_shannon(*small)[0] + 1e-12


@pytest.mark.parametrize("distance", [*EXACT, jensen_shannon], ids=lambda f: f.__name__)
@given(counts, counts)
def test_on_other_texts_no_witness_exceeds_their_distance(distance, made_of, table):
    p, q = sides(table)
    assert added_up(WITNESSES[distance], sides(made_of), (p, q)) <= distance(p, q)[0] + 1e-12


def test_which_distances_have_a_witness():
    assert witness_of(Statistic("d", "x", "distance", jensen_shannon)) is jensen_shannon_witness
    assert witness_of(Statistic("d", "x", "distance", mean_gap)) is None
    assert witness_of(Statistic("d", "x", "distance", total_variation, prepare=np.sqrt)) is None


def documents(rng, p, n, words=30, concentration=40.0):
    """Counts of n documents, whose shares vary around p: (n, V)."""
    return rng.multinomial(words, rng.dirichlet(concentration * p + 1e-9, n)).astype(np.float64)


SAME = np.full(8, 1 / 8)
APART = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])


def samples_of(rng, p, q, n=40):
    return Samples(Tables.of(documents(rng, p, n), documents(rng, q, n)), Design.documents(n, n))


@pytest.mark.parametrize("distance", [*EXACT, jensen_shannon], ids=lambda f: f.__name__)
def test_cross_fitting_removes_what_chance_adds(distance):
    """Means over 200 samples of 40 + 40 documents, beside the distance of the populations: 0, and that of APART."""
    rng = np.random.default_rng(0)
    for q in (SAME, APART):
        truth = float(distance(SAME[None], q[None])[0])
        plain, fitted = [], []
        for k in range(200):
            samples = samples_of(rng, SAME, q)
            plain.append(float(distance(*samples.observed)[0]))
            fitted.append(cross_fitted(samples, WITNESSES[distance], k))
        error = np.std(fitted) / np.sqrt(200)
        assert np.mean(fitted) <= truth + 3 * error
        assert np.mean(fitted) <= np.mean(plain)
        if q is APART:  # which are well apart
            assert np.mean(fitted) == pytest.approx(truth, rel=0.05)
        else:
            assert np.mean(plain) > 10 * error


DESIGNS = {
    "documents": Design.documents(48, 48),
    "pairs": Design.pairs(np.column_stack([np.arange(48)] * 2)),
    "prompts": Design.prompts(np.arange(48) // 2, np.arange(48) // 2),
    "clusters": Design.clusters(np.arange(48) // 2, np.arange(48) // 3),
}


@pytest.mark.parametrize("distance", [total_variation, jensen_shannon], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", DESIGNS)
def test_the_error_is_that_of_resamples(name, distance):
    """Texts well apart, whose prompts differ: documents of one prompt resemble each other. Mean over 8 samples."""
    rng, design = np.random.default_rng(1), DESIGNS[name]
    found, resampled = [], []
    for k in range(8):
        tilt = rng.dirichlet(np.full(8, 30.0), 24)[np.arange(48) // 2] * 8
        tables = [
            np.vstack([documents(rng, p * t / (p * t).sum(), 1) for t in tilt]) for p in (SAME, APART)
        ]  # the two sides of a prompt have its tilt
        samples = Samples(Tables.of(*tables), design)
        error, freedom = distance_error(samples, WITNESSES[distance])
        found.append(error)
        drawn = multiplicities(design, k, 0, 800)
        sums = [m.T.astype(float) @ t for m, t in zip(drawn, tables, strict=True)]
        units = min(design.units)
        resampled.append(float(distance(*sums).std()) * np.sqrt(units / (units - 1)))
        assert 0 < freedom <= sum(design.units) - (1 if design.together else 2) + 1e-9
    assert np.mean(found) == pytest.approx(np.mean(resampled), rel=0.15)


def test_units_that_are_resampled_together_have_one_influence():
    """Where each pair holds the same document twice, the distance is 0 for every resample: no error."""
    rng = np.random.default_rng(2)
    rows = documents(rng, SAME, 20)
    pairs = Samples(Tables.of(rows, rows), Design.pairs(np.column_stack([np.arange(20)] * 2)))
    apart = Samples(Tables.of(rows, rows), Design.documents(20, 20))
    other = documents(rng, APART, 20)
    witness = WITNESSES[total_variation]
    assert distance_error(pairs, witness)[0] == pytest.approx(0, abs=1e-15)
    assert distance_error(apart, witness)[0] == 0, "no column differs, so the witness is 0"
    unlike = Samples(Tables.of(rows, other), Design.documents(20, 20))
    assert distance_error(unlike, witness)[0] > 0
    assert distance_error(Samples(Tables.of(rows, other), pairs.design), witness)[1] == 19


def test_sparse_counts_and_few_units():
    rng = np.random.default_rng(3)
    a, b = (rng.poisson(0.1, (12, 100)).astype(float) for _ in range(2))
    witness = WITNESSES[total_variation]
    dense, wide = (
        Samples(Tables.of(*(kind(x) for x in (a, b))), Design.documents(12, 12))
        for kind in (np.asarray, sparse.csr_array)
    )
    assert sparse.issparse(wide.rows)
    assert distance_error(wide, witness) == pytest.approx(distance_error(dense, witness))
    assert cross_fitted(wide, witness, 0) == pytest.approx(cross_fitted(dense, witness, 0))
    alone = Samples(Tables.of(a[:1], b), Design.documents(1, 12))
    assert np.isnan(distance_error(alone, witness)[0])
    assert np.isnan(cross_fitted(alone, witness, 0))
    assert not np.isnan(cross_fitted(Samples(Tables.of(a[:2], b), Design.documents(2, 12)), witness, 0))
