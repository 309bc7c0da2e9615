"""Adjustment within bins, the share left, and the matrix of alarms: against enumeration, formulas and simulation."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from momus import Corpus, MomusError
from momus.critic import Statistic
from momus.critic.statistic import kolmogorov_smirnov, mean, total_variation
from momus.inference import Design, compare_rows
from momus.inference.adjustment import bin_codes, binned, quantile_codes
from momus.inference.relabelling import Budget
from momus.inference.samples import Samples
from momus.inference.weights import random_labels
from momus.joint.adjusted import Sides, adjusted_verdicts
from momus.joint.attribution import attribution, read_matrix
from momus.joint.axes import Axis, Covariate, covariate, units_of
from momus.joint.share_left import joint, relabelled
from momus.text.documents import Document
from momus.verdicts.settings import Settings

MEAN = Statistic("mean", "x", "value", mean, effect="hedges_g")
KS = Statistic("ks", "x", "distance", kolmogorov_smirnov)
TVD = Statistic("tvd", "x", "distance", total_variation)
ONE_CHUNK = Budget(64, 1, 0.05, early=(), fine=1)


def ones(values):
    return np.column_stack([values, np.ones(len(values))])


def axis(name, real, generated, scored=None):
    sides = {"real": np.asarray(real, float), "g": np.asarray(generated, float)}
    scored = scored or {k: np.ones(len(v), dtype=bool) for k, v in sides.items()}
    rows = {k: ones(np.where(scored[k], v, 0)) * scored[k][:, None] for k, v in sides.items()}
    return Axis(name, name, MEAN, rows, scored, {k: np.where(scored[k], v, np.nan) for k, v in sides.items()})


def ks_axis(name, real, generated):
    """The same values, compared by their distributions, in steps of a tenth."""
    sides = {"real": np.round(real, 1), "g": np.round(generated, 1)}
    labels = np.unique(np.concatenate(list(sides.values())))
    rows = {
        k: sparse.csr_array((np.ones(len(v)), (np.arange(len(v)), np.searchsorted(labels, v))), (len(v), len(labels)))
        for k, v in sides.items()
    }
    return Axis(name, name, KS, rows, {k: np.ones(len(v), dtype=bool) for k, v in sides.items()}, sides)


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
    found = binned((real, generated)).overlap
    within = 2 * 30 * 60 / 90 + 2 * 60 * 30 / 90
    assert found.share == pytest.approx(within / (2 * 100 * 120 / 220))
    # weights of real documents: 40/30 in bin 0, 40/60 in bin 1
    assert found.effective_real == pytest.approx(80**2 / (30 * (4 / 3) ** 2 + 60 * (2 / 3) ** 2))
    assert (found.bins, found.left_out_real, found.left_out_generated, found.refusal) == (2, 10, 30, "")


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
    found = binned((real.astype(int), generated.astype(int)))
    assert (found.design, found.overlap.refusal) == (None, reason)


def test_few_groups_are_refused():
    codes = np.arange(60) % 5
    found = binned((codes, codes), (np.arange(60) // 20, np.arange(60) // 20))
    assert found.overlap.refusal == "few groups"


# Sums under shared relabellings


@pytest.mark.parametrize("statistic", [MEAN, TVD, KS])
@pytest.mark.parametrize("grouped", [False, True])
def test_shared_relabellings_give_the_result_of_the_engine(statistic, grouped, monkeypatch):
    monkeypatch.setattr("momus.inference.testing.FINE", 1)  # so that the engine draws 64 too
    monkeypatch.setattr("momus.inference.testing.FINE_WIDE", 1)
    rng = np.random.default_rng(1)
    n, m = 60, 50
    if statistic is MEAN:
        real, generated = ones(rng.normal(size=n)), ones(rng.normal(0.4, size=m))
    else:
        real, generated = (sparse.csr_array(rng.poisson(0.3, (k, 200)).astype(float)) for k in (n, m))
    codes = rng.integers(0, 4, n), rng.integers(0, 5, m)
    design = Design.bins(*codes)
    if grouped:
        design = design.grouped(np.arange(n) // 3, np.arange(m) // 2)
    (known,) = compare_rows([statistic], {"x": real}, {"x": generated}, design=design, permutations=64, resamples=0)
    found = relabelled(statistic, Samples.of(real, generated, design), ONE_CHUNK, 0)
    assert known.method.permutations == found.permutations == 64
    # of a distance, what it exceeds the mean of relabellings by; of a mean, the difference
    excess = known.generated_value - known.real_value
    assert (found.p, found.difference) == (pytest.approx(known.p), pytest.approx(excess))


def test_clusters_are_summed_by_document(monkeypatch):
    monkeypatch.setattr("momus.inference.testing.FINE_WIDE", 1)
    rng = np.random.default_rng(1)
    real, generated = (sparse.csr_array(rng.poisson(0.3, (k, 200)).astype(float)) for k in (60, 50))
    design = Design.clusters(np.arange(60) // 3, np.arange(50) // 2)
    (known,) = compare_rows([TVD], {"x": real}, {"x": generated}, design=design, permutations=64, resamples=0)
    samples = Samples.of(real, generated, design)
    assert relabelled(TVD, samples, ONE_CHUNK, 0).p == pytest.approx(known.p)


def test_p_within_bins_is_that_of_all_relabellings():
    real, generated = np.array([1.0, 2.0, 7.0, 8.0]), np.array([2.5, 3.0, 9.0])
    bins = np.array([0, 0, 1, 1]), np.array([0, 0, 1])

    def excess(values):
        a, b = values[:4], values[4:]
        d = [b[bins[1] == k].mean() - a[bins[0] == k].mean() for k in (0, 1)]
        return np.dot(d, [2.0, 4 / 3]) / (2 + 4 / 3)

    pooled = np.concatenate([real, generated])
    every = []
    for one, two in product(permutations([0, 1, 4, 5]), permutations([2, 3, 6])):
        order = np.empty(7, dtype=int)
        order[[0, 1, 4, 5]], order[[2, 3, 6]] = one, two
        every.append(excess(pooled[order]))
    design = Design.bins(*bins)
    samples = Samples.of(ones(real), ones(generated), design)
    found = relabelled(MEAN, samples, ONE_CHUNK, 0)
    assert found.difference == pytest.approx(excess(pooled))
    # every relabelling of values occurs among the random ones
    seen = {round(float(x), 9) for x in np.concatenate(samples.pooled(random_labels(design, 1, 0, 64)))[:, 0]}
    assert len({round(e, 9) for e in every}) <= len(seen) * 2


# The share left


def draw(rng, n, rho, shift, direct):
    """B shifted; A depends on B with correlation ρ, and is shifted by ``direct`` itself."""
    b = [rng.normal(size=n), rng.normal(size=n) + shift]
    a = [rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n) for x in b]
    return (a[0], a[1] + direct), b


def adjusted_once(seed, kind=axis, n=200, rho=0.8, shift=0.8, direct=0.0):
    (a0, a1), (b0, b1) = draw(np.random.default_rng(seed), n, rho, shift, direct)
    return Sides("real", "g", seed=seed).adjusted(kind("A", a0, a1), [Covariate("B", b0, b1)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [axis, ks_axis])
def test_the_share_left_covers_the_truth(kind):
    truth = adjusted_once(1, kind, n=20_000, rho=0.8, shift=0.6, direct=0.3).share
    if kind is axis:
        assert truth == pytest.approx(0.3 / (0.3 + 0.8 * 0.6), abs=0.03)
    rows = [adjusted_once(i, kind, rho=0.8, shift=0.6, direct=0.3) for i in range(100)]
    known = [r for r in rows if np.isfinite(r.share_low)]
    assert len(known) >= 80
    # P(Binomial(100, 0.95) < 88) < 0.005
    assert np.mean([r.share_low <= truth <= r.share_high for r in known]) >= 0.88
    assert np.mean([r.share_high - r.share_low for r in known]) < 1.5


def test_an_alarm_through_the_covariate_goes_and_a_direct_one_stays():
    through = [adjusted_once(i) for i in range(60)]
    direct = [adjusted_once(i, rho=0.0, direct=0.5) for i in range(60)]
    assert np.mean([r.alarm for r in through]) <= 0.17  # P(Binomial(60, 0.05) > 10) < 0.001
    assert np.mean([r.share_high < 0.5 for r in through]) > 0.8
    assert np.mean([r.alarm for r in direct]) > 0.9
    assert np.median([r.share for r in direct]) == pytest.approx(1, abs=0.1)


def test_influences_and_resamples_agree_on_the_variances():
    rng = np.random.default_rng(0)
    (a0, a1), (b0, b1) = draw(rng, 300, 0.7, 0.5, 0.2)
    codes = bin_codes([b0], [b1])
    sums = tuple(Samples.of(ones(a0), ones(a1), d) for d in (Design.documents(300, 300), binned(codes).design))
    by_formula = joint(MEAN, sums, 0)
    other = Statistic("mean", "x", "value", lambda pooled: pooled[:, 0] / pooled[:, 1])
    by_resamples = joint(other, sums, 0)
    for name in ("unadjusted", "adjusted", "covariance"):
        assert getattr(by_formula, name) == pytest.approx(getattr(by_resamples, name), rel=0.5)


def test_documents_of_a_group_widen_the_interval():
    rng = np.random.default_rng(0)
    units = np.arange(200) // 5
    groups = [rng.normal(size=40)[units] for _ in range(2)]
    a, b = [g + 0.2 * rng.normal(size=200) for g in groups], [rng.normal(size=200) for _ in range(2)]
    rows = [Sides("real", "g", u).adjusted(axis("A", *a), [Covariate("B", *b)]) for u in (None, (units, units))]
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
    row = Sides("real", "g").adjusted(axis("A", a0, a1, scored), [Covariate("B", b0, b1)])
    assert (row.n_real, row.n_generated) == (100, 110)
    assert row.unadjusted == pytest.approx(a1[:110].mean() - a0[20:].mean())


# The matrix


def matrix(seed, direct_b=0.8):
    """B is shifted; A follows B; C is noise."""
    rng = np.random.default_rng(seed)
    (a0, a1), (b0, b1) = draw(rng, 300, 0.8, direct_b, 0.0)
    return [axis("A", a0, a1), axis("B", b0, b1), axis("C", rng.normal(size=300), rng.normal(size=300))]


def test_the_axis_that_moves_accounts_for_the_axis_that_follows():
    hits = 0
    for seed in range(10):
        found = attribution(matrix(seed), Sides("real", "g", seed=seed), ["A", "B"])
        hits += found.survivors == ("B",) and found.accounted_by("B") == ("A",) and found.leading == ("B", ("A",))
        assert found.cell("A", "C") is not None
        assert len(found.rows) == 4
    assert hits >= 8


def test_two_measurements_of_one_shift_account_for_each_other():
    mutual = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        latent = rng.normal(size=120), rng.normal(size=120) + 0.7
        axes = [axis(name, *(x + 0.3 * rng.normal(size=120) for x in latent)) for name in ("B", "B2")]
        found = attribution(axes, Sides("real", "g", seed=seed), ["B", "B2"])
        if {(a.alarm, a.by, a.mutual) for a in found.accounts} == {("B", "B2", True), ("B2", "B", True)}:
            mutual += 1
            assert (found.survivors, found.leading) == ((), None)
        else:
            assert not any(a.mutual for a in found.accounts)
    assert mutual >= 4  # each direction holds at the level of its test; both at once in about half of the samples


def test_an_alarm_without_overlap_is_undetermined():
    axes = [axis("A", np.arange(50.0), np.arange(50.0) + 100), axis("B", np.arange(50.0), np.arange(50.0) + 100)]
    found = attribution(axes, Sides("real", "g"), ["A", "B"])
    assert (found.undetermined, found.survivors, found.accounts) == (("A", "B"), (), ())
    assert {r.reason for r in found.rows} == {"no overlap"}
    assert all(np.isnan(r.p) for r in found.rows)


def test_without_alarms_there_is_nothing_to_attribute():
    found = attribution(matrix(0), Sides("real", "g"), [])
    assert (found.alarms, found.rows, found.survivors) == ((), (), ())
    assert read_matrix("g", [], []).leading is None


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(3)))
def test_the_order_of_the_axes_does_not_matter(order):
    axes = matrix(3)
    first, other = (attribution(a, Sides("real", "g"), ["A", "B"]) for a in (axes, [axes[i] for i in order]))
    assert {(r.critic, r.covariates, r.p, r.share) for r in first.rows} == {
        (r.critic, r.covariates, r.p, r.share) for r in other.rows
    }
    assert set(first.survivors) == set(other.survivors)


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
    assert row.overlap.bins == 2
    assert row.result.method.design == "bins"
    assert row.result.p == row.p
    assert row.result.difference == pytest.approx(row.difference)


def test_numeric_fields_become_numbers():
    real, generated = corpora(3, year=[["1", "2", None], ["3", "10", "x"]])
    assert covariate("year", [], real, generated).generated == ["3", "10", "x"]
    real, generated = corpora(3, year=[["1", "2", None], ["3", "10", "4"]])
    assert covariate("year", [], real, generated).generated.tolist() == [3, 10, 4]


def test_an_unknown_name_says_what_exists():
    real, generated = corpora()
    with pytest.raises(MomusError, match=r"cannot adjust for 'topic'.*no document of 'real'") as caught:
        adjusted_verdicts(matrix(0), ["topic"], real, [generated])
    assert "A, B, C" in caught.value.hint
    with pytest.raises(MomusError, match="no covariate"):
        adjusted_verdicts(matrix(0), [], real, [generated])


def test_attribution_takes_units_from_the_corpora():
    axes = [
        Axis(a.critic, a.name, a.statistic, *({k: v[:120] for k, v in t.items()} for t in (a.rows, a.scored, a.values)))
        for a in matrix(0)
    ]
    found = attribution(axes, Sides.of(*corpora(), Settings(seed=2)), ["A"])
    assert (found.alarms, len(found.rows)) == (("A",), 2)
    assert not any(r.grouped for r in found.rows)


def test_axes_with_equal_counts_share_their_tables():
    rows = {
        name: sparse.csr_array(table) for name, table in {"real": [[1.0, 0], [0, 2]], "g": [[0, 3.0], [1, 1]]}.items()
    }
    scored, values = dict.fromkeys(rows, np.ones(2, dtype=bool)), dict.fromkeys(rows, np.ones(2))
    one = Axis("a", "axis", Statistic("tvd", "x", "distance", total_variation), rows, scored, values)
    other = replace(one, critic="b", rows={name: table.copy() for name, table in rows.items()})
    assert other.sharing([one]).rows is one.rows
    changed = replace(other, rows={**other.rows, "g": rows["real"]})
    assert changed.sharing([one]) is changed
