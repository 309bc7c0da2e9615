"""Adjustment within bins: against enumeration, formulas and simulation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from momus import Corpus, MomusError
from momus.critic import Statistic
from momus.critic.statistic import kolmogorov_smirnov, mean, total_variation
from momus.joint.adjusted import adjusted, adjusted_verdicts, bin_codes, binned, quantile_codes
from momus.joint.axes import AxisRows, covariate, units_of
from momus.text.documents import Document
from momus.verdicts.settings import Settings

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
KS = Statistic("ks", "x", "distance", kolmogorov_smirnov)
TVD = Statistic("tvd", "x", "distance", total_variation)


def ones(values):
    return np.column_stack([values, np.ones(len(values))])


def axis(name, real, generated, scored=None):
    sides = {"real": np.asarray(real, float), "g": np.asarray(generated, float)}
    scored = scored or {k: np.ones(len(v), dtype=bool) for k, v in sides.items()}
    rows = {k: ones(np.where(scored[k], v, 0)) * scored[k][:, None] for k, v in sides.items()}
    return AxisRows(name, name, MEAN, rows, scored, {k: np.where(scored[k], v, np.nan) for k, v in sides.items()})


def ks_axis(name, real, generated):
    """The same values, compared by their distributions, in steps of a tenth."""
    sides = {"real": np.round(real, 1), "g": np.round(generated, 1)}
    labels = np.unique(np.concatenate(list(sides.values())))
    rows = {
        k: sparse.csr_array((np.ones(len(v)), (np.arange(len(v)), np.searchsorted(labels, v))), (len(v), len(labels)))
        for k, v in sides.items()
    }
    return AxisRows(name, name, KS, rows, {k: np.ones(len(v), dtype=bool) for k, v in sides.items()}, sides)


# Bins


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.integers(2, 20))
def test_bins_ignore_increasing_functions_and_keep_ties_together(values, bins):
    x = np.array(values, dtype=float)
    codes = quantile_codes(x, bins)
    assert np.array_equal(codes, quantile_codes(np.exp(x) * 3 + 1, bins))
    assert all(len(set(codes[x == v])) == 1 for v in set(values))
    assert codes.max() < bins
    assert set(codes) == set(range(codes.max() + 1))
    order = np.argsort(x, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()


def test_distinct_values_fall_into_equal_bins():
    rng = np.random.default_rng(0)
    real, generated = bin_codes([rng.permutation(200).astype(float)], [rng.permutation(200) + 200.0])
    assert np.bincount(np.concatenate([real, generated])).tolist() == [20] * 20


def test_few_documents_get_few_bins_and_several_covariates_coarse_ones():
    rng = np.random.default_rng(0)
    columns = [rng.random(400) for _ in range(3)]
    assert bin_codes([columns[0][:20]], [columns[1][:20]])[0].max() == 3
    pairs = bin_codes(columns[:2], columns[1:])
    assert 19 <= max(side.max() for side in pairs) <= 40
    mixed = bin_codes([columns[0], ["a", "b"] * 200], [columns[1], ["a", "c"] * 200])
    assert len(set(np.concatenate(mixed))) <= 40
    # each cell has one name
    names = np.array(["a", "b"] * 200)
    assert all(len(set(names[mixed[0] == k])) == 1 for k in set(mixed[0]))


def test_a_missing_value_of_any_covariate_leaves_the_document_out():
    real, generated = bin_codes([np.array([1.0, np.nan, 2.0]), ["a", "a", None]], [np.array([1.0]), ["a"]])
    assert (real == -1).tolist() == [False, True, True]
    assert generated[0] == real[0]


def test_overlap_is_that_of_the_formula():
    real, generated = np.repeat([0, 1, 2], [30, 60, 10]), np.repeat([0, 1, 3], [60, 30, 30])
    found = binned((real, generated))[1]
    within = 2 * 30 * 60 / 90 + 2 * 60 * 30 / 90
    assert found.share == pytest.approx(within / (2 * 100 * 120 / 220))
    # weights of real documents: 40/30 in bin 0, 40/60 in bin 1
    assert found.effective_real == pytest.approx(80**2 / (30 * (4 / 3) ** 2 + 60 * (2 / 3) ** 2))
    assert found.refusal == ""


@pytest.mark.parametrize(
    ("real", "generated", "reason"),
    [
        (np.zeros(50), np.ones(50), "no overlap"),
        (np.full(50, -1), np.ones(50), "no values"),
        (np.ones(50), np.ones(50), "constant"),
        (np.repeat([0, 1], [190, 10]), np.repeat([1, 2], [10, 190]), "little overlap"),
        (np.repeat([0, 1], [5, 5]), np.repeat([0, 1], [5, 5]), "few documents"),
    ],
)
def test_too_little_overlap_is_refused_with_its_reason(real, generated, reason):
    design, overlap = binned((real.astype(int), generated.astype(int)))
    assert (design, overlap.refusal) == (None, reason)


def test_few_groups_are_refused():
    codes = np.arange(60) % 5
    _, overlap = binned((codes, codes), (np.arange(60) // 20, np.arange(60) // 20))
    assert overlap.refusal == "few groups"


# Rows


def draw(rng, n, rho, shift, direct):
    """B shifted; A depends on B with correlation ρ, and is shifted by ``direct`` itself."""
    b = [rng.normal(size=n), rng.normal(size=n) + shift]
    a = [rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n) for x in b]
    return (a[0], a[1] + direct), b


def adjusted_once(seed, kind=axis, n=200, rho=0.8, shift=0.8, direct=0.0):
    (a0, a1), (b0, b1) = draw(np.random.default_rng(seed), n, rho, shift, direct)
    settings = Settings(seed=seed, permutations=199)
    return adjusted(kind("A", a0, a1), {"B": (b0, b1)}, ("real", "g"), settings=settings)


@pytest.mark.parametrize("kind", [axis, ks_axis])
def test_a_difference_through_the_covariate_goes_and_a_direct_one_stays(kind):
    through = [adjusted_once(i, kind) for i in range(15)]
    direct = [adjusted_once(i, kind, rho=0.0, direct=0.6) for i in range(15)]
    assert np.mean([r.p <= 0.05 for r in through]) <= 0.27  # P(Binomial(15, 0.05) > 4) < 0.001
    assert np.mean([r.p <= 0.05 for r in direct]) > 0.9
    if kind is axis:
        assert np.mean([r.low <= 0.6 <= r.high for r in direct]) > 0.8


def test_documents_of_a_group_widen_the_interval():
    rng = np.random.default_rng(0)
    units = np.arange(200) // 5
    groups = [rng.normal(size=40)[units] for _ in range(2)]
    a, b = [g + 0.2 * rng.normal(size=200) for g in groups], [rng.normal(size=200) for _ in range(2)]
    rows = [adjusted(axis("A", *a), {"B": b}, ("real", "g"), u) for u in (None, (units, units))]
    assert (rows[0].grouped, rows[1].grouped) == (False, True)
    assert rows[1].high - rows[1].low > 1.5 * (rows[0].high - rows[0].low)
    assert rows[1].p > rows[0].p or rows[0].p > 0.5


def test_units_are_groups_then_repeated_prompts():
    assert units_of((["p", None], ["q", "r"]), ([], [])) is None
    one, other = units_of((["p", "p", None], ["q", "r"]), ([None, None, None], ["x", "x"]))
    assert (one.tolist(), other.tolist()) == ([0, 0, 1], [0, 0])


def test_unscored_documents_take_no_part():
    rng = np.random.default_rng(0)
    (a0, a1), (b0, b1) = draw(rng, 120, 0.5, 0.5, 0.3)
    scored = {"real": np.arange(120) >= 20, "g": np.arange(120) < 110}
    row = adjusted(axis("A", a0, a1, scored), {"B": (b0, b1)}, ("real", "g"))
    assert (row.n_real, row.n_generated) == (100, 110)
    assert row.unadjusted == pytest.approx(a1[:110].mean() - a0[20:].mean())


def test_without_overlap_there_is_no_adjusted_number():
    apart = np.arange(50.0), np.arange(50.0) + 100
    row = adjusted(axis("A", *apart), {"B": apart}, ("real", "g"))
    assert (row.reason, row.unadjusted) == ("no overlap", 100)
    assert np.isnan([row.p, row.difference, row.low]).all()


# By name


def corpora(n=120, **fields):
    return [
        Corpus.from_documents(
            [Document.plain(f"{name}:{i}", "x") for i in range(n)]
            if not fields
            else [Document(f"{name}:{i}", (), fields={k: v[s][i] for k, v in fields.items()}) for i in range(n)],
            name,
        )
        for s, name in enumerate(("real", "g"))
    ]


def test_rows_are_adjusted_for_critics_and_fields_by_name():
    rng = np.random.default_rng(0)
    kinds = [np.where(rng.random(120) < share, "news", "story").tolist() for share in (0.3, 0.7)]
    # stories are longer: the texts differ because they mix the kinds differently
    axes = [axis("length", *((np.array(k) == "story") * 2.0 + rng.normal(size=120) for k in kinds))]
    real, generated = corpora(kind=kinds)
    (row,) = adjusted_verdicts(axes, ["kind"], real, [generated], Settings(permutations=999))
    assert row.covariates == ("kind",)
    assert row.unadjusted < -0.5
    assert abs(row.difference) < 0.4
    assert row.p > 0.01
    assert row.low <= row.difference <= row.high


def test_numeric_fields_become_numbers():
    real, generated = corpora(3, year=[["1", "2", None], ["3", "10", "x"]])
    assert covariate("year", [], real, generated)[1] == ["3", "10", "x"]
    real, generated = corpora(3, year=[["1", "2", None], ["3", "10", "4"]])
    assert covariate("year", [], real, generated)[1].tolist() == [3, 10, 4]


def test_an_unknown_name_says_what_exists():
    real, generated = corpora()
    axes = [axis(name, np.arange(120.0), np.arange(120.0)) for name in "ABC"]
    with pytest.raises(MomusError, match=r"cannot adjust for 'topic'.*no document of 'real'") as caught:
        adjusted_verdicts(axes, ["topic"], real, [generated])
    assert "A, B, C" in caught.value.hint
    with pytest.raises(MomusError, match="no covariate"):
        adjusted_verdicts(axes, [], real, [generated])


def test_axes_with_equal_counts_share_their_tables():
    rows = {
        name: sparse.csr_array(table) for name, table in {"real": [[1.0, 0], [0, 2]], "g": [[0, 3.0], [1, 1]]}.items()
    }
    scored, values = dict.fromkeys(rows, np.ones(2, dtype=bool)), dict.fromkeys(rows, np.ones(2))
    one = AxisRows("a", "axis", Statistic("tvd", "x", "distance", total_variation), rows, scored, values)
    other = replace(one, critic="b", rows={name: table.copy() for name, table in rows.items()})
    assert other.sharing([one]).rows is one.rows
    changed = replace(other, rows={**other.rows, "g": rows["real"]})
    assert changed.sharing([one]) is changed
