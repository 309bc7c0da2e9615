"""Verdicts: findings against sets of points, adjustment against statsmodels."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from tests.verdicts import changed, verdict_of

from momus import Corpus
from momus.errors import StoreError, UsageError
from momus.evidence import Wording
from momus.schema import build
from momus.verdicts.judge import differences
from momus.verdicts.table import adjust, selected, speaking, with_leading
from momus.verdicts.verdict import Verdict, finite
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


def family(axis, generated, p_in_axis, single=None):
    """The rows of one axis: the first leads."""
    single = single or p_in_axis
    return [
        row(
            critic=axis, statistic=f"s{i}", generated=generated, p=single[i], p_adjusted=None, q=None, headline=i == 0,
            p_axis=min(p_in_axis), p_in_axis=p, leads=p == min(p_in_axis),
        )
        for i, p in enumerate(p_in_axis)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "name"), [("holm", "holm"), ("bh", "fdr_bh"), ("holm-table", "holm"), ("bh-table", "fdr_bh")]
)
def test_axes_are_adjusted_over_their_text_or_the_table(method, name):
    """The leading row has the adjusted p of its axis; the others of the family are multiplied by as much."""
    rng = np.random.default_rng(0)
    verdicts, axes = [], {}
    for g in "ab":
        for k in range(6):
            p = np.sort(rng.uniform(0, 0.05, 3)).tolist()
            axes[g, f"c{k}"] = p
            verdicts += family(f"c{k}", g, p)
    together = [list(axes)] if method.endswith("table") else [[key for key in axes if key[0] == g] for g in "ab"]
    expected = {}
    for keys in together:
        expected |= dict(zip(keys, multipletests([axes[k][0] for k in keys], method=name)[1], strict=True))
    for v in adjust(verdicts, method):
        of_axis = expected[v.generated, v.critic]
        assert v.p_axis_adjusted == pytest.approx(of_axis)
        assert v.p_adjusted == pytest.approx(min(v.p_in_axis * of_axis / v.p_axis, 1.0))
        assert (v.p_adjusted == pytest.approx(of_axis)) == v.leads


def test_other_rows_are_adjusted_over_all_rows_of_their_text_and_are_no_findings():
    verdicts = [*family("c", "a", [0.01, 0.2]), row(critic="c", generated="a", statistic="x", p=0.001, headline=False)]
    other = adjust(verdicts)[2]
    assert other.p_adjusted == pytest.approx(0.003)
    assert (other.differs, other.is_finding, other.p_axis_adjusted) == (True, False, None)
    assert [v.is_finding for v in adjust(verdicts)] == [True, False, False]
    assert [v.p_adjusted for v in adjust(verdicts, "none")] == [0.01, 0.2, 0.001]


def test_one_row_speaks_for_an_axis():
    """The leading one where the axis differs; otherwise the headline, or the leading one if that was not tested."""

    def statistic(rows):
        return [v.statistic for v in speaking(adjust(rows))]

    assert statistic(family("c", "a", [0.03, 0.01])) == ["s1"]
    assert statistic(family("c", "a", [0.3, 0.1])) == ["s0"]
    untested = [row(critic="c", statistic="s0", p=None, p_adjusted=None), *family("c", "g", [0.9, 0.1])[1:]]
    assert statistic(untested) == ["s1"]
    assert statistic([row(critic="c", statistic="s0", p=None, p_adjusted=None)]) == ["s0"]


COUNTED = Wording(unit="words")


def test_the_leading_row_is_what_a_reader_can_count_and_what_surely_touches_most_documents():
    def leading(*rows, axes=1):
        return next(v.statistic for v in with_leading(list(rows), axes) if v.leads)

    def member(name, p=0.001, low=0.5, t=1.0, wording=COUNTED, **changes):
        """A row whose effect is at least ``low``."""
        return row(
            statistic=name, p_axis=0.001, p_in_axis=p, difference=t, standard_error=1.0, effect=low + 1, effect_low=low,
            effect_high=low + 2, wording=wording, **changes,
        )  # fmt: skip

    assert leading(member("a", 0.04, 0.5), member("b", 0.001, 0.4)) == "a"
    assert leading(member("a", 0.04, 0.5), member("b", 0.001, 0.4), axes=10) == "b"
    assert leading(member("a", 0.3, 0.5), member("b", 0.2, 0.4)) == "b"
    assert leading(member("a"), member("b", low=-1.0)) == "a", "an interval that holds 0 leaves nothing sure"
    assert leading(member("a", t=2.0, low=-1.0), member("b", t=-3.0, low=-1.0)) == "b", "the larger |t|"
    for index in (Wording(), Wording(unit="nats per document"), Wording(unit="sd"), Wording(clause="copies {} times")):
        assert leading(member("index", low=2.0, wording=index), member("b", low=0.1)) == "b", index
        assert leading(member("index", low=2.0, wording=index)) == "index"
    for concrete in (Wording(format="share"), Wording(item="documents open with"), Wording(unit="per 1,000 words")):
        assert leading(member("index", low=2.0, wording=Wording()), member("b", low=0.1, wording=concrete)) == "b"
    assert not any(v.leads for v in with_leading([row(p_axis=None, p_in_axis=None)]))


def test_a_p_below_all_numbers_is_adjusted():
    one, two = adjust(family("c", "a", [0.0, 0.04]))
    assert (one.p_adjusted, two.p_adjusted) == (0.0, 0.04)


def test_an_unknown_adjustment_is_an_error_that_names_the_choices():
    with pytest.raises(UsageError, match="no adjustment 'sidak'") as error:
        adjust([row()], "sidak")
    assert "holm, bh, none, holm-table" in error.value.hint


def test_rows_go_into_json_and_back():
    whole = row(low=None, refit_spread=0.5, leads=True)
    assert read_row(whole.row()) == whole
    assert read_row({**whole.row(), "of a newer version": 3}) == whole
    assert hash(read_row(whole.row())) == hash(whole)
    assert all(a != b for a, b in pairwise([whole, changed(whole, p=0.002), changed(whole, leads=False)]))
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


def test_intervals_of_selected_rows_are_those_at_the_level_of_the_selection():
    rows = [row(critic=str(i), p_adjusted=0.001 if i < 5 else 0.6, freedom=30.0) for i in range(20)]
    (ratio,) = {v.selection for v in selected(rows)}
    assert ratio == pytest.approx(stats.t.ppf(1 - 0.05 * 5 / 20 / 2, 30) / stats.t.ppf(0.975, 30))
    assert [v.selection for v in selected(rows[:5])] == [1.0] * 5
    near = row(effect=0.4, effect_low=0.21, effect_high=0.59, freedom=30.0)
    assert near.finding == "beyond human variation"
    assert selected([near, *rows[5:]])[0].finding == "undecided"


def test_selection_widens_the_effect_and_the_band_and_not_their_ratio():
    """A large gap with a narrow interval of the effect stays beyond, however uncertain a default band is."""
    large = {"effect": 5.2, "effect_low": 4.8, "effect_high": 5.6, "band": 0.2, "band_low": 0.02, "band_high": 0.91}
    v = row(**large, band_source="default", selection=1.6)
    assert v.gap == pytest.approx(26)
    assert v.gap_interval[0] < 6 < 200 < v.gap_interval[1]
    assert v.finding == "beyond human variation"
    # the band of groups is estimated, so selection widens its interval too, on the log scale: 0.2 · 4.55^2.3 > 5.2
    assert row(**large, band_source="groups", selection=1.6).finding == "beyond human variation"
    assert row(**large, band_source="groups", selection=2.3).finding == "undecided"
    # the effect alone, at 1.6 times the width of its interval
    assert row(effect=0.4, effect_low=0.29, effect_high=0.51, selection=1.6).finding == "beyond human variation"
    assert row(effect=0.4, effect_low=0.27, effect_high=0.53, selection=1.6).finding == "undecided"


def test_an_expected_share_of_selected_intervals_misses():
    """20 effects at the edge of the human band or at 0, those that differ selected: few are called beyond it."""
    rng = np.random.default_rng(0)
    beyond = differing = 0
    for _ in range(150):
        rows = []
        for k in range(20):
            truth = 0.2 if k < 10 else 0.0
            error = 0.09
            effect = truth + error * rng.normal()
            p = float(2 * stats.norm.sf(abs(effect) / error))
            rows.append(row(critic=str(k), effect=effect, effect_low=effect - 1.96 * error,
                            effect_high=effect + 1.96 * error, p=p, freedom=1e6))  # fmt: skip
        found = [v for v in selected(adjust(rows)) if v.differs]
        differing += len(found)
        beyond += sum(v.finding == "beyond human variation" for v in found)
    assert differing > 150
    assert beyond <= 0.05 * differing
