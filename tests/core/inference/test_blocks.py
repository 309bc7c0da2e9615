"""Random blocks: the values stay, the null distribution stays, and the cost does not grow."""

import numpy as np
import pytest
from scipy import sparse, stats

from momus.critic.statistic import Statistic, mean, total_variation
from momus.inference import compare_rows, design_of
from momus.inference.design import Design
from momus.inference.matching import ABOVE, FEWEST, MOST, block_size, blocks_of, in_blocks, of_units
from momus.inference.samples import sums_by

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
TVD = Statistic("tvd", "counts", "distance", total_variation)
QUICK = {"permutations": 499, "resamples": 99}


def rows(n, seed, shift=0.0, columns=100):
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(2, columns + 2)
    counts = rng.multinomial(30, p / p.sum(), n).astype(float)
    x = np.column_stack([rng.normal(shift, 1 + rng.random(n), n), np.ones(n)])
    return {"x": x, "counts": sparse.csr_array(counts)}


@pytest.mark.parametrize(
    ("n", "m"), [(5_001, 5_001), (20_000, 6_000), (1_000_000, 10_000), (3_000_000, 100), (6_000, 20)]
)
def test_sizes_of_blocks(n, m):
    design = Design.documents(n, m)
    size = block_size(design)
    assert size & (size - 1) == 0
    blocked = in_blocks(design, 0)
    assert min(blocked.units) >= min(FEWEST, min(n, m))
    if min(n, m) >= FEWEST * -(-max(n, m) // MOST):
        assert MOST // 2 - 1 <= max(blocked.units) <= MOST
    counts = np.bincount(blocked.unit_numbers[0])
    assert counts.sum() == n
    assert counts.max() - counts.min() <= 1 or size == 1
    assert size <= counts.min()


def test_small_texts_and_bins_have_no_blocks():
    small = Design.documents(ABOVE, ABOVE)
    assert in_blocks(small, 0) is small
    bins = Design.bins(np.arange(9_000) % 5, np.arange(9_000) % 5)
    assert in_blocks(bins, 0) is bins


def test_blocks_of_a_text_do_not_depend_on_the_other_text():
    one = in_blocks(Design.documents(20_000, 20_000), 3).unit_numbers[0]
    other = in_blocks(Design.documents(20_000, 19_000), 3).unit_numbers[0]
    np.testing.assert_array_equal(one, other)
    assert (blocks_of(1000, 8, seed=0, side=0) != blocks_of(1000, 8, seed=0, side=1)).any()


def test_values_and_effects_are_those_of_the_documents():
    real, generated = rows(600, 0), rows(500, 1, shift=0.3)
    design = Design.documents(600, 500)
    plain = compare_rows([MEAN, TVD], real, generated, design=design, **QUICK)
    blocked = compare_rows([MEAN, TVD], real, generated, design=in_blocks(design, 0, above=100, most=64), **QUICK)
    for one, other in zip(plain, blocked, strict=True):
        assert other.generated_value == pytest.approx(one.generated_value)
        assert (other.n_real, other.n_generated) == (600, 500)
        assert other.method.design == "documents"
        assert other.method.block == 4
        assert (other.method.units_real, other.method.units_generated) == (150, 125)
    assert blocked[0].effect == pytest.approx(plain[0].effect)
    assert blocked[0].p == pytest.approx(plain[0].p, abs=0.05)
    assert blocked[0].standard_error == pytest.approx(plain[0].standard_error, rel=0.2)
    assert blocked[1].real_value == pytest.approx(plain[1].real_value, rel=0.05), "the mean distance under chance"


@pytest.mark.parametrize("kind", ["documents", "groups", "pairs", "pairs of groups"])
def test_a_test_on_sums_by_unit_is_the_test_of_the_documents(kind):
    n = 800
    names = [f"p{i}" for i in range(n)] if kind.startswith("pairs") else [None] * n
    groups = [f"g{i // 4}" for i in range(n)] if "groups" in kind else ()
    theirs = [f"h{i // 4}" for i in range(n)] if kind == "groups" else groups
    real, generated = rows(n, 2), rows(n, 3, shift=0.2)
    design = in_blocks(design_of(names, names, groups=(groups, theirs)), 0, above=50, most=40)
    assert design.block > 1
    assert (design.kind == "pairs") == kind.startswith("pairs")
    expected = compare_rows([MEAN, TVD], real, generated, design=design, **QUICK)
    tables = [
        {k: sums_by(numbers, units, table[k], w) for k in table}
        for numbers, units, table, w in zip(
            design.unit_numbers, design.units, (real, generated), design.weights, strict=True
        )
    ]
    found = compare_rows([MEAN, TVD], *tables, design=of_units(design), **QUICK)
    for one, other in zip(expected, found, strict=True):
        assert one.p == other.p
        for name in ("real_value", "generated_value", "difference", "low", "high", "standard_error"):
            assert getattr(one, name) == pytest.approx(getattr(other, name)), name


@pytest.mark.parametrize("sizes", [pytest.param((300, 300), marks=pytest.mark.slow), (300, 128)])
def test_level_under_the_null(sizes):
    """Of 200 pairs of samples from one skewed source, the p-values are uniform, and 5 % are at most .05."""
    values = []
    for i in range(200):
        rng = np.random.default_rng([7, i])
        sides = [{"x": np.column_stack([rng.lognormal(0, 0.8, n), np.ones(n)])} for n in sizes]
        design = in_blocks(Design.documents(*sizes), i, above=100, most=80)
        assert design.block > 1
        values.append(compare_rows([MEAN], *sides, design=design, permutations=199, resamples=0, seed=i)[0].p)
    assert stats.kstest(values, "uniform").pvalue > 0.001
    assert stats.binom.sf(sum(p <= 0.05 for p in values) - 1, 200, 0.05) > 0.001


def test_power_is_nearly_that_of_the_documents():
    """A difference that documents show in about half of the samples is shown as often by their blocks."""
    alarms = np.zeros(2)
    for i in range(60):
        sides = rows(300, [1, i]), rows(300, [2, i], shift=0.25)
        design = Design.documents(300, 300)
        for k, used in enumerate((design, in_blocks(design, i, above=100, most=100))):
            alarms[k] += compare_rows([MEAN], *sides, design=used, permutations=199, resamples=0, seed=i)[0].p <= 0.05
    assert 20 <= alarms[0] <= 55
    assert abs(alarms[1] - alarms[0]) <= 8


def test_full_tables_are_dense_and_say_the_same():
    """Sums of whole numbers are exact in either form."""
    from momus.inference.samples import Tables

    rng = np.random.default_rng(0)
    p = 1 / np.arange(2, 8_002)
    real, generated = (sparse.csr_array(rng.multinomial(20_000, p / p.sum(), 90).astype(float)) for _ in range(2))
    tables = Tables.of(real, generated)
    assert isinstance(tables.real, np.ndarray)
    assert tables.real.shape == (90, np.count_nonzero(real.sum(axis=0) + generated.sum(axis=0)))
    (dense,) = compare_rows([TVD], {"counts": real}, {"counts": generated}, **QUICK)
    # the same test on a table that stays sparse, because it has very many empty rows
    many = [sparse.vstack([m, sparse.csr_array((3_000, 8_000))], format="csr") for m in (real, generated)]
    assert sparse.issparse(Tables.of(*many).real)
    assert (
        dense.generated_value
        == compare_rows([TVD], {"counts": many[0]}, {"counts": many[1]}, **QUICK)[0].generated_value
    )
