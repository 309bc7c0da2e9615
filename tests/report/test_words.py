"""Sentences about verdicts, made from their fields."""

from dataclasses import replace

import numpy as np
import pytest
from tests.verdicts import changed, verdict_of

import momus
from momus import Corpus
from momus.errors import StoreError
from momus.inference import Method, TestResult
from momus.report.words.findings import NULLS, band, gap, method, null
from momus.schema import build
from momus.verdicts.verdict import Verdict

ROW = verdict_of(
    critic="length", axis="length", statistic="ks", unit="document", generated="g", real_value=0.1, generated_value=0.3,
    difference=0.2, low=0.1, high=0.3, effect=0.2, effect_kind="difference", p=0.001, p_adjusted=0.01, q=0.01, mde=0.05,
    n_real=20, n_generated=30, unscored_real=0, unscored_generated=1, headline=True,
    method=Method("permutation", "distance", "documents", 20, 30, permutations=9999, resamples=2000),
)  # fmt: skip


def of(**changes):
    return changed(ROW, method=replace(ROW.method, **changes))


BOOTSTRAP = "; interval from the critical value of the test and a bootstrap standard error, 2,000 resamples"
INVERTED = "; interval of the critical values of the test, which excludes 0 exactly where p is at most the level"
STUDENTISED = {"family": "value", "studentised": True, "resamples": 0}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, f"permutation test, unpaired, 9,999 random relabellings{BOOTSTRAP}"),
        ({"exact": True, "permutations": 924}, f"permutation test, unpaired, all 924 relabellings{BOOTSTRAP}"),
        ({"design": "pairs"}, f"permutation test, paired, 9,999 random relabellings{BOOTSTRAP}"),
        ({"design": "prompts"}, f"permutation test, within 20 prompts, 9,999 random relabellings{BOOTSTRAP}"),
        (
            {"design": "clusters"},
            f"permutation test, of 20 and 30 whole clusters, 9,999 random relabellings{BOOTSTRAP}",
        ),
        (
            {"design": "clusters", "grouped": True},
            f"permutation test, of 20 and 30 whole groups, 9,999 random relabellings{BOOTSTRAP}",
        ),
        (
            {"design": "prompts", "grouped": True},
            f"permutation test, of 20 groups that change sides whole, 9,999 random relabellings{BOOTSTRAP}",
        ),
        (
            {"design": "bins"},
            f"permutation test, within bins of the covariate, 9,999 random relabellings{BOOTSTRAP}",
        ),
        ({"design": "blocks"}, f"permutation test, unpaired, 9,999 random relabellings of blocks{BOOTSTRAP}"),
        (STUDENTISED, f"studentised permutation test, unpaired, 9,999 random relabellings{INVERTED}"),
        (
            STUDENTISED | {"design": "pairs", "exact": True, "permutations": 256},
            f"studentised permutation test, paired, all 256 relabellings{INVERTED}",
        ),
        (
            {"family": "value"},
            "permutation test, unpaired, 9,999 random relabellings; larger p of this and a t-test; interval from a "
            "bootstrap standard error, 2,000 resamples",
        ),
        (
            {"family": "value", "resamples": 0},
            "permutation test, unpaired, 9,999 random relabellings; larger p of this and a t-test; interval from a "
            "jackknife standard error",
        ),
        (
            {"resamples": 0},
            "permutation test, unpaired, 9,999 random relabellings; interval from the critical value of the test and "
            "its standard error",
        ),
        ({"test": "none"}, "not tested"),
    ],
)
def test_how_a_row_was_tested(changes, sentence):
    assert method(of(**changes)) == sentence


def test_a_row_without_an_interval_says_so():
    assert method(changed(of(**STUDENTISED), low=None, high=None)).endswith("relabellings; no interval")


def test_laws_name_their_error_estimate_and_length():
    law = {"family": "law", "design": "groups", "units_real": 20, "units_generated": 20, "tokens": 56_200}
    shuffled = method(of(test="welch", error="shuffled", **law))
    plain = method(of(test="welch", error="jackknife", **law))
    relabelled = method(of(test="relabelled groups", error="relabelled", permutations=199, **law))
    assert "random orders of groups" in shuffled
    assert "random orders of groups" not in plain
    for sentence in (shuffled, plain):
        assert "Welch" in sentence
    assert "199 random relabellings of groups" in relabelled
    for sentence in (shuffled, plain, relabelled):
        assert sentence.endswith("(20 contiguous groups per text); 56,200 tokens per text")


@pytest.mark.parametrize("design", NULLS)
def test_every_design_has_a_null(design):
    assert null(of(design=design)) == NULLS[design]
    assert null(of(design=design, test="none", reason="too short")) == "not tested: too short"
    if design != "groups":  # of laws, whose tests are not studentised
        assert "0; " in null(of(design=design, **STUDENTISED)) or "same mean" in null(of(design=design, **STUDENTISED))


def test_a_verdict_in_a_word():
    assert ROW.finding == "differs", "no human band is known"
    assert changed(ROW, p_adjusted=0.05).finding == "differs"
    assert changed(ROW, p_adjusted=0.051).finding == "not told apart"
    assert changed(ROW, p_adjusted=None).finding == "not tested"


@pytest.mark.parametrize(
    ("interval", "finding", "inner", "outer"),
    [
        ((0.05, 0.15), "within human variation", 0.25, 0.75),
        ((-0.2, -0.01), "within human variation", 0.05, 1.0),
        ((0.1, 0.3), "undecided", 0.5, 1.5),
        ((-0.3, -0.1), "undecided", 0.5, 1.5),
        ((0.25, 0.4), "beyond human variation", 1.25, 2.0),
        ((-0.4, -0.25), "beyond human variation", 1.25, 2.0),
        ((0.2, 0.4), "undecided", 1.0, 2.0),
        ((-0.1, 0.3), "undecided", 0.0, 1.5),
    ],
)
def test_a_difference_is_compared_with_the_human_band(interval, finding, inner, outer):
    row = changed(ROW, effect=sum(interval) / 2, effect_low=interval[0], effect_high=interval[1], band=0.2)
    assert row.gap_interval == pytest.approx((inner, outer))
    assert row.gap == pytest.approx(abs(sum(interval)) / 0.4)
    assert row.finding == finding
    equal = "within human variation" if outer <= 1 else "not told apart"
    assert changed(row, p_adjusted=0.2).finding == equal, "small differences are shown to be small without rejection"
    assert changed(row, band=None).finding == changed(row, effect_low=None).finding == "differs"


def test_the_gap_of_a_distance_is_never_negative():
    row = changed(ROW, effect=-0.01, effect_kind="distance", band=0.08, band_source="default")
    assert row.gap == 0.0
    assert gap(row) == "0.0*"
    assert gap(changed(row, effect=0.2, band_source="groups")) == "2.5"
    assert gap(changed(row, band=None)) == "–"
    assert band(row) == "band 0.08"
    assert band(changed(row, band_source="groups", band_groups=40)) == "band 0.08, from 40 groups"
    assert band(changed(row, band=None)) == "no human band is known"


def verdict_of(result, **more):
    of = {"critic": "length", "axis": "length", "unit": "document", "generated": "g", "headline": True}
    return Verdict(**vars(result), **{**of, "unscored_real": 0, "unscored_generated": 0, **more})


def test_a_row_has_the_numbers_of_its_test_and_null_for_those_that_do_not_exist():
    result = TestResult("ks", difference=0.2, low=np.nan, high=np.inf, effect=0.1, p=0.5, n_real=3, n_generated=4)
    row = verdict_of(result, unscored_generated=1, p_adjusted=0.7).row()
    published = (
        *("critic", "statistic", "unit", "generated", "real_value", "generated_value", "difference", "low", "high"),
        *("effect", "p", "p_adjusted", "n_real", "n_generated", "unscored_real", "unscored_generated"),
    )
    values = ("length", "ks", "document", "g", None, None, 0.2, None, None, 0.1, 0.5, 0.7, 3, 4, 0, 1)
    assert tuple(row[name] for name in published) == values


def test_rows_survive_json_and_frames_flatten_the_method():
    assert read_row(ROW.row()) == ROW
    assert hash(read_row(ROW.row())) == hash(ROW)
    untested = verdict_of(TestResult("ks", p=np.nan))
    assert read_row(untested.row()) == untested != ROW
    assert read_row({**ROW.row(), "new": 1, "method": {"test": "permutation", "newer": 2}}).method.test == (
        "permutation"
    )
    with pytest.raises(StoreError, match=r"method is .*, expected a table"):
        read_row({**ROW.row(), "method": "a sentence"})
    texts = ["word " * n for n in np.random.default_rng(0).integers(5, 30, 40)]
    comparison = momus.compare(
        Corpus.from_texts(texts), {"g": texts[:20]}, critics=["length"], permutations=99, resamples=99
    )
    frame = comparison.frame()
    assert set(frame["method_design"]) == {"documents"}
    assert set(frame["method_permutations"]) == {99}


def read_row(row):
    return build(Verdict, row, "row")
