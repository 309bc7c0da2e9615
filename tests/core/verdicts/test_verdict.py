"""Verdicts: findings against sets of points, equivalence by its definition, adjustment against statsmodels."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from tests.verdicts import changed, verdict_of

from momus import Corpus
from momus.errors import StoreError, UsageError
from momus.schema import build
from momus.verdicts.judge import differences
from momus.verdicts.verdict import Verdict, adjust, finite, within
from momus_critics.length import Length

ROW = {
    **{"critic": "c", "axis": "x", "statistic": "s", "unit": "documents", "generated": "g", "reference": "real"},
    **{"n_real": 20, "n_generated": 20, "unscored_real": 0, "unscored_generated": 0, "headline": True},
    **{"real_value": 1.0, "generated_value": 2.0, "difference": 1.0, "low": 0.5, "high": 1.5, "effect": 0.3},
    **{"effect_kind": "hedges_g", "effect_low": 0.1, "effect_high": 0.5, "p": 0.001, "p_adjusted": 0.001, "q": 0.001},
    **{"band": 0.2, "band_source": "groups", "band_groups": 9, "alpha": 0.05},
}
BAND = 0.25
POINTS = np.array([-9, -2, -1.2, -1.001, -1, -0.999, -0.5, 0, 0.5, 0.999, 1, 1.001, 1.2, 2, 9]) * BAND
"""Ends of intervals: within the band, at its ends, and just beyond."""


def row(**values):
    return verdict_of(**{**ROW, **values})


@pytest.mark.parametrize(("low", "high"), [(a, b) for a, b in product(POINTS, POINTS) if a <= b])
def test_a_finding_says_where_the_interval_of_the_effect_lies(low, high):
    in_band = {abs(x) <= BAND for x in POINTS if low <= x <= high}
    expected = {
        (True,): "within human variation",
        (False,): "beyond human variation",
        (False, True): "undecided",
    }[tuple(sorted(in_band))]
    assert row(band=BAND, effect_low=low, effect_high=high).finding == expected


def test_findings_without_a_band_a_p_value_or_an_interval():
    assert row(band=None).finding == "differs"
    assert row(effect_low=None).finding == row(effect_high=None).finding == "differs"
    assert row(p_adjusted=None).finding == "not tested"
    assert row(p_adjusted=0.05).finding != "not told apart" == row(p_adjusted=0.0501).finding
    assert row(p_adjusted=0.0101, alpha=0.01).differs is False
    assert row(p_adjusted=0.01, alpha=0.01).differs is True


def test_the_gap_is_the_size_of_the_effect_in_bands():
    assert row(effect=-0.3, band=0.2).gap == row(effect=0.3, band=0.2).gap == pytest.approx(1.5)
    assert row(effect=0.3, effect_kind="distance", band=0.2).gap == pytest.approx(1.5)
    assert row(effect=-0.3, effect_kind="distance", band=0.2).gap == 0  # an estimate of a distance may be below 0
    assert row(effect=None).gap is row(band=None).gap is None


@given(st.floats(-3, 3), st.floats(0, 3))
def test_the_interval_of_the_gap_holds_the_gaps_of_all_effects_within(low, width):
    verdict = row(effect_low=low, effect_high=low + width, band=0.5)
    gaps = np.abs(np.append(np.linspace(low, low + width, 101), 0 if low <= 0 <= low + width else low)) / 0.5
    assert verdict.gap_interval == pytest.approx((gaps.min(), gaps.max()))


@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [(-0.19, 0.19, True), (-0.2, 0.1, False), (-0.1, 0.2, False), (-0.3, 0.1, False), (0.1, 0.3, False), (0, 0, True)],
)
def test_equivalent_means_an_interval_inside_of_both_margins(low, high, inside):
    found = within(row(equivalence_low=low, equivalence_high=high), 0.2)
    assert (found.equivalent, found.delta) == (inside, 0.2)


def test_equivalence_needs_a_margin_and_an_interval():
    plain = row(equivalence_low=0.0, equivalence_high=0.1)
    assert within(plain, None) is plain
    for missing in ("equivalence_low", "equivalence_high"):
        assert within(changed(plain, **{missing: None}), 0.2).equivalent is None
    for delta in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="δ must be above 0"):
            within(plain, delta)


@pytest.mark.parametrize(("method", "name"), [("holm", "holm"), ("bh", "fdr_bh"), ("none", None)])
def test_headlines_are_adjusted_among_themselves_and_the_others_over_all(method, name):
    rng = np.random.default_rng(0)
    p = [None if i % 7 == 3 else float(x) for i, x in enumerate(rng.uniform(0, 0.2, 24))]
    rows = [row(p=x, p_adjusted=None, q=None, headline=i % 3 == 0) for i, x in enumerate(p)]
    tested = [i for i, x in enumerate(p) if x is not None]
    headlines = [i for i in tested if i % 3 == 0]

    def corrected(which, how):
        values = [p[i] for i in which]
        return dict(zip(which, multipletests(values, method=how)[1] if how else values, strict=True))

    expected = corrected(tested, name) | corrected(headlines, name)
    q = corrected(tested, "fdr_bh")
    for i, found in enumerate(adjust(rows, method)):
        assert found.p_adjusted == (pytest.approx(expected[i]) if i in expected else None)
        assert found.q == (pytest.approx(q[i]) if i in q else None)


def test_an_unknown_adjustment_is_an_error_that_names_the_choices():
    with pytest.raises(UsageError, match="no adjustment 'sidak'") as error:
        adjust([row()], "sidak")
    assert "holm, bh, none" in error.value.hint


def test_rows_go_into_json_and_back():
    whole = row(low=None, refit_spread=0.5, told=True, equivalent=False, delta=0.2)
    assert read_row(whole.row()) == whole
    assert read_row({**whole.row(), "of a newer version": 3}) == whole
    assert hash(read_row(whole.row())) == hash(whole)
    assert all(a != b for a, b in pairwise([whole, changed(whole, p=0.002), changed(whole, told=False)]))
    with pytest.raises(StoreError, match=r"method is .*, expected a table"):
        read_row({**whole.row(), "method": "studentised"})


def test_differences_are_those_of_plain_means_and_counts():
    real, generated = [Corpus.from_texts(["a " * n for n in lengths]) for lengths in ((1, 2, 3, 6), (4, 4, 7))]
    critic = Length().fit(real)
    found = differences(critic, critic.score(real), critic.score(generated))
    assert found["mean_length"] == pytest.approx(5 - 3)
    assert found["ks"] == pytest.approx(3 / 4)  # three of four real texts are shorter than all generated ones
    nothing = critic.score(Corpus.from_texts(["", " "]))
    assert differences(critic, critic.score(real), nothing) == differences(critic, nothing, critic.score(real)) == {}


def test_missing_numbers_are_null():
    assert [finite(x) for x in (None, float("nan"), float("inf"), -float("inf"), 2)] == [None] * 4 + [2.0]
    assert row(p=None, p_adjusted=None).row()["p"] is None


def read_row(row):
    return build(Verdict, row, "row")
