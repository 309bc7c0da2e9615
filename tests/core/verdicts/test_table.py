"""The table of verdicts at its edges: p-values of 0, floors, warnings; bands in units of effects; laws in blocks."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.core.laws.test_law_groups import text
from tests.verdicts import changed, verdict_of

from momus.critic.scores import Scores
from momus.evidence import Wording
from momus.inference import Method
from momus.inference.result import TestResult
from momus.inference.spread import PAIR, Spread
from momus.laws.law import LEAST_GROUPS, Jackknifed, Law
from momus.verdicts.band import _band_of, atlas, default_band
from momus.verdicts.running_text import _blocks_of_groups, _test_blocks, _welch, compare_law, of_axis
from momus.verdicts.settings import Settings
from momus.verdicts.table import (
    adjust,
    axes_together,
    floor_warnings,
    of_documents,
    selected,
    skewness_warnings,
    speaking,
    with_leading,
)


def row(critic="c", statistic="s", p=0.001, generated="g", **values):
    given = {
        "critic": critic, "axis": critic, "statistic": statistic, "generated": generated, "reference": "real",
        "alpha": 0.05, "p": p, "p_adjusted": p, "effect_kind": "hedges_g", "n_real": 20, "n_generated": 20,
        "headline": True, **values,
    }  # fmt: skip
    return verdict_of(**given)


def test_a_p_of_zero_outside_of_the_families_stays_the_smallest():
    rows = [row(p=0.01), row(statistic="x", p=0.0, headline=False), row(statistic="y", p=0.02, headline=False)]
    assert [v.p_adjusted for v in adjust(rows)] == pytest.approx([0.01, 0.0, 0.02])  # Holm over all three


def member(statistic, p, low, floor=None, **values):
    """A row of the family of an axis, whose effect is at least ``low``."""
    method = Method() if floor is None else Method(permutations=round(1 / floor) - 1)
    given = {
        "p_axis": p, "p_in_axis": p, "leads": False, "effect": low + 1, "effect_low": low, "effect_high": low + 2,
        "band": 0.2, "difference": 1.0, "standard_error": 1.0, "method": method, **values,
    }  # fmt: skip
    return row(statistic=statistic, **given)


def leading(*rows, axes=1):
    return next(v.statistic for v in with_leading(list(rows), axes) if v.leads)


def test_a_p_of_zero_is_clear_and_does_not_lead_alone():
    assert leading(member("a", 0.0, 0.3), member("b", 0.001, 0.5), axes=1) == "b"
    assert leading(member("a", 0.0, 0.5), member("b", 0.001, 0.3), axes=1) == "a"
    assert leading(member("a", 0.0, 0.3), member("b", 0.04, 0.5), axes=10) == "a", "only a is below .05/10"


def test_twice_the_smallest_p_that_relabellings_allow_is_clear():
    for p, first in ((0.02, "b"), (0.0201, "a")):  # the floor is .01, and .05/10 lies below it
        rows = member("a", 0.01, 0.3, floor=0.01), member("b", p, 0.5, floor=0.01)
        assert leading(*rows, axes=10) == first
    assert leading(member("a", 0.001, -1.0), member("b", 0.001, -1.0, standard_error=0.5)) == "b", "the larger |t|"
    assert leading(member("a", 0.001, -1.0, difference=-3.0), member("b", 0.001, -1.0)) == "a"


@pytest.mark.parametrize(
    "rate", [Wording("commas", unit="per 1,000 words"), Wording("sentences with a connective", format="share")]
)
def test_a_rate_leads_only_where_it_is_clearly_larger_than_what_a_reader_counts_by_documents(rate):
    rate = {"wording": rate}
    words = {"wording": Wording("length", unit="words")}
    assert leading(member("rate", 0.001, 0.5, **rate), member("words", 0.001, 0.4, **words)) == "words"
    assert leading(member("rate", 0.001, 0.7, **rate), member("words", 0.001, 0.4, **words)) == "rate"


def test_what_all_documents_of_one_text_have_and_none_of_the_other_is_no_rate():
    titled = {"wording": Wording("documents with a title", format="share"), "real_value": 0.0, "generated_value": 1.0}
    whole = member("titled", 0.001, 13.1, **titled)
    assert of_documents(whole)
    assert not of_documents(replace(whole, generated_value=0.6))
    grouped = replace(whole, generated_value=0.6, wording=Wording(format="share", clause="{} of documents loop"))
    assert of_documents(grouped), "whatever the deviation of its groups"
    others = {"wording": Wording("length", unit="words")}
    assert leading(whole, member("words", 0.001, 2.9, **others)) == "titled"


def test_axes_are_counted_by_text_or_over_the_table():
    rows = [row(generated=g, critic=c) for g, c in (("g", "a"), ("g", "b"), ("h", "a"))]
    assert (axes_together(rows), axes_together(rows, "holm-table"), axes_together(rows, "bh-table")) == (2, 3, 3)
    assert axes_together([]) == 0


def limited(k, p=0.02, generated="g", exact=True):
    """A leading row whose relabellings allow no p below .02."""
    method = {"units_real": 5, "units_generated": 7, "permutations": 50 if exact else 49, "exact": exact}
    return row(
        critic=f"c{k}", p=p, generated=generated, p_axis=p, p_axis_adjusted=p, p_in_axis=p, leads=True, method=method
    )


def test_axes_at_their_floor_are_named_up_to_three():
    floor = limited(0).method.floor
    assert floor == pytest.approx(0.02)
    five = [changed(limited(k), p_adjusted=0.2) for k in range(5)]
    fine = limited(9, p=0.0001, exact=False)
    fine = changed(fine, method={"permutations": 99_999}, p_adjusted=0.0006)
    (told,) = floor_warnings([*five, fine])
    assert told.startswith("5 of 6 axes cannot differ (c0 on g, c1 on g, c2 on g and 2 more), whatever")
    assert f"allow is {floor:.2g}, which is above 0.05 once adjusted for 6 axes." in told
    (told,) = floor_warnings([*five[:3], fine])
    assert told.startswith("3 of 4 axes cannot differ (c0 on g, c1 on g, c2 on g), whatever")
    (told,) = floor_warnings(five[:3])
    assert told.startswith("No axis can differ, whatever"), told
    assert floor_warnings(five[:2]) == [], ".02 times 2 is below .05"
    assert floor_warnings(five, "bh") == []
    (told,) = floor_warnings([*five, fine], pairs=True)
    assert "5 of 6 axes of pairs of generated texts cannot differ (c0 on real and g, c1 on real and g," in told


def test_random_relabellings_are_a_limit_only_where_none_reaches_the_text():
    at = [changed(limited(k, exact=False), p_adjusted=0.1) for k in range(3)]
    floor = at[0].method.floor
    at = [changed(v, p_axis=floor) for v in at]
    (told,) = floor_warnings(at)
    assert "raise permutations=, or choose fewer critics" in told
    assert floor_warnings([changed(v, p_axis=2 * floor) for v in at]) == []


@pytest.mark.parametrize(("skewness", "warned"), [(0.2, False), (0.21, True), (-0.21, True)])
def test_means_of_skewed_documents_are_warned_of(skewness, warned):
    rows = [
        row(critic=f"c{k}", leads=True, p_axis=0.001, p_in_axis=0.001, method={"skewness": skewness}) for k in range(5)
    ]
    told = skewness_warnings(rows)
    assert bool(told) == warned
    if warned:
        assert told[0].startswith(
            "A few documents have most of the variance of c0 on g, c1 on g, c2 on g and 2 more, and"
        )
        assert skewness_warnings(rows[:3])[0].startswith(
            "A few documents have most of the variance of c0 on g, c1 on g, c2 on g, and"
        )
        assert skewness_warnings([changed(v, p_adjusted=0.2) for v in rows]) == []


def test_the_width_of_selected_intervals_is_that_of_the_share_that_differs():
    rows = [
        row(critic=str(i), p_adjusted=0.001 if i < 3 else 0.6, p_axis=0.1, p_in_axis=0.1, leads=True, freedom=30.0)
        for i in range(10)
    ]
    ratio = stats.t.isf(0.05 * 0.3 / 2, 30) / stats.t.isf(0.05 / 2, 30)
    assert selected(rows)[0].selection == pytest.approx(ratio)
    assert speaking(rows) == rows
    none = [changed(v, p_adjusted=0.6) for v in rows]
    assert selected(none) == none


# Bands


def test_a_band_is_told_in_units_of_the_effect():
    spread = Spread(0.5, 0.2, 0.9, 12, error=0.05, correlation=0.4)
    v = row(effect=1.5, effect_low=1.0, effect_high=2.0, difference=3.0)
    rows = np.ones((4, 2))
    found = _band_of(v, spread, rows, rows)
    assert (found.value, found.low, found.high, found.groups, found.source) == (0.25, 0.1, 0.45, 12, "groups")
    error = (2.0 - 1.0) / (2 * 1.959964)  # of an effect with this interval
    assert found.correlation == pytest.approx(-0.4 * min(1.0, 0.05 * 0.5 / error))
    behind = _band_of(changed(v, effect=-1.5, effect_low=-2.0, effect_high=-1.0, difference=-3.0), spread, rows, rows)
    assert behind.correlation == pytest.approx(-found.correlation)
    close = _band_of(changed(v, effect_low=1.499, effect_high=1.501), spread, rows, rows)
    assert close.correlation == pytest.approx(-0.4), "an error cannot be larger than the whole"
    plain = _band_of(changed(v, effect_kind="log_ratio"), spread, rows, rows)
    assert (plain.value, plain.low, plain.high) == (0.5, 0.2, 0.9)
    assert _band_of(changed(v, effect_low=None), spread, rows, rows).correlation == 0
    assert _band_of(changed(v, effect_low=1.5, effect_high=1.5), spread, rows, rows).correlation == 0
    assert PAIR / math.sqrt(2) == pytest.approx(1.959964)


def test_without_a_difference_the_unit_is_that_of_the_documents():
    spread = Spread(0.5, 0.2, 0.9, 12)
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 2, 8), rng.normal(0, 2, 6)
    rows = [np.column_stack([x, np.ones(len(x))]) for x in (a, b)]
    v = row(effect=0.0, effect_low=-0.1, effect_high=0.1, difference=0.0)
    pooled = math.sqrt((7 * a.var(ddof=1) + 5 * b.var(ddof=1)) / 12)
    assert _band_of(v, spread, *rows).value == pytest.approx(0.5 * (1 - 3 / 47) / pooled)
    assert _band_of(v, spread, np.ones((4, 2)), np.ones((4, 2))) is None, "all documents are equal"
    assert _band_of(changed(v, effect=-1.0, difference=2.0), spread, *rows) is None


def test_default_bands_of_one_register_and_of_several():
    bands = atlas()["bands"]
    for critic, statistics in bands.items():
        for name, by in statistics.items():
            measured = {register: row for register, row in by.items() if register}
            for register in ("", *measured):
                found, (value, low, high, groups) = default_band(critic, name, register=register), by[register]
                assert (found.value, found.low, found.high, found.groups) == (value, low, high, groups)
            assert by[""][3] == sum(r[3] for r in measured.values())


# Laws


def test_welchs_intervals_by_hand():
    law = Law("mean", lambda t: 0.0)
    a, b = Jackknifed(2.0, 0.3, 8, 7.0), Jackknifed(3.0, 0.4, 12, 11.0)
    freedom = 0.25**2 / (0.3**4 / 7 + 0.4**4 / 11)
    for confidence in (0.95, 0.5, 0.4):
        found = _welch(law, a, b, confidence)
        reach, inner = (stats.t.ppf((1 + c) / 2, freedom) * 0.5 for c in (confidence, max(2 * confidence - 1, 0)))
        assert (found.low, found.high) == pytest.approx((1 - reach, 1 + reach))
        assert (found.equivalence_low, found.equivalence_high) == pytest.approx((1 - inner, 1 + inner))
        assert found.p == pytest.approx(2 * stats.t.sf(1 / 0.5, freedom))
        assert (found.standard_error, found.freedom) == pytest.approx((0.5, freedom))


def blocks(n, groups=(), value=0.0):
    rng = np.random.default_rng(n)
    nll = rng.normal(value, 1, n)
    rows = {"latent_nll": np.column_stack([nll, np.ones(n)])}
    ids = [f"b{i}" for i in range(n)]
    return Scores("law", "t", ids, [None] * n, nll, np.ones(n, dtype=int), [None] * n, rows, groups=list(groups))


@pytest.mark.parametrize(("groups", "clustered"), [(LEAST_GROUPS - 1, False), (LEAST_GROUPS, True)])
def test_blocks_of_four_groups_are_compared_by_group(groups, clustered):
    def grouped(n):
        return [f"g{i % groups}" for i in range(n)]

    one, other = blocks(12, sorted(grouped(12))), blocks(15, sorted(grouped(15)))
    design = _blocks_of_groups(one, other)
    assert (design is not None) == clustered
    found = _test_blocks(one, other, Settings(permutations=99, resamples=9), 1)
    assert found.method.design == ("clusters" if clustered else "blocks")
    assert found.method.grouped == clustered
    assert _blocks_of_groups(blocks(12), blocks(15)) is None
    assert _blocks_of_groups(blocks(12, [f"g{i}" for i in range(12)]), blocks(15)) is None, "each block is a group"


def test_fewer_than_four_blocks_are_not_tested():
    found = _test_blocks(blocks(3), blocks(9), Settings(), 1)
    assert found.method.reason == "3 scored blocks on a side, at least 4 are needed"
    assert found.p is None
    assert math.isfinite(_test_blocks(blocks(4), blocks(9), Settings(permutations=99, resamples=9), 1).p)


def test_of_ten_documents_a_side_none_is_split():
    rng = np.random.default_rng(0)
    for documents, groups in ((10, 10), (9, 20), (15, 15)):
        a, b = (text(rng.integers(0, 50, documents * 100), ends=[100] * documents) for _ in range(2))
        found = compare_law(Law("mean", lambda t: float(t.ids.mean()), groups=20), a, b, 0.95)
        assert (found.method.units_real, found.n_real) == (groups, documents)


def test_laws_that_decide_are_adjusted_by_holm():
    results = [TestResult(name, p=p) for name, p in (("a", 0.03), ("b", 0.01), ("c", math.nan), ("d", 0.001))]
    found = of_axis(results, [True, True, True, False])
    assert [r.p_in_axis for r in found[:2]] == pytest.approx([0.03, 0.02])
    assert [r.p_axis for r in found[:2]] == pytest.approx([0.02, 0.02])
    assert found[2:] == results[2:]
