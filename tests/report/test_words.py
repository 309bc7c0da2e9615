"""Sentences about verdicts, made from their fields."""

from dataclasses import replace

import numpy as np
import pytest

import momus
from momus import Corpus
from momus.comparison import Verdict
from momus.inference import Method
from momus.report.words import NULLS, headlines, method, null, says, shows

ROW = Verdict(
    critic="length", axis="length", statistic="ks", unit="document", generated="g", real_value=0.1, generated_value=0.3,
    difference=0.2, low=0.1, high=0.3, effect=0.2, effect_kind="difference", p=0.001, p_adjusted=0.01, q=0.01, mde=0.05,
    n_real=20, n_generated=30, unscored_real=0, unscored_generated=1, headline=True,
    method=Method("permutation", "distance", "documents", 20, 30, permutations=9999, resamples=2000),
)  # fmt: skip


def of(**changes):
    return replace(ROW, method=replace(ROW.method, **changes))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "permutation test, unpaired, 9,999 random relabellings; bootstrap interval, 2,000 resamples"),
        ({"exact": True}, "permutation test, unpaired, all relabellings; bootstrap interval, 2,000 resamples"),
        (
            {"design": "pairs"},
            "permutation test, paired, 9,999 random relabellings; bootstrap interval, 2,000 resamples",
        ),
        (
            {"design": "prompts"},
            "permutation test, within 20 prompts, 9,999 random relabellings; bootstrap interval, 2,000 resamples",
        ),
        (
            {"design": "clusters"},
            "permutation test, of 20 and 30 clusters, 9,999 random relabellings; bootstrap interval, 2,000 resamples",
        ),
        (
            {"design": "one per prompt"},
            "permutation test on one document per prompt (20 and 30); bootstrap interval, 2,000 resamples of prompts",
        ),
        (
            {"design": "blocks"},
            "permutation test, unpaired, 9,999 random relabellings of blocks; bootstrap interval, 2,000 resamples",
        ),
        ({"test": "none"}, "not tested"),
    ],
    ids=lambda x: str(x) if isinstance(x, dict) else "",
)
def test_how_a_row_was_tested(changes, sentence):
    assert method(of(**changes)) == sentence


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


def test_a_verdict_in_a_word():
    assert says(ROW) == "differs"
    assert says(replace(ROW, p_adjusted=0.05)) == "differs"
    assert says(replace(ROW, p_adjusted=0.051)) == "not told apart"
    assert says(replace(ROW, p_adjusted=None)) == "not tested"
    assert [shows(replace(ROW, equivalent=e)) for e in (None, True, False)] == ["–", "shown", "not shown"]


def test_headlines_sort_by_p_and_keep_untested_rows():
    rows = [
        replace(ROW, axis="a", p_adjusted=0.04),
        replace(ROW, axis="b", p_adjusted=0.001),
        replace(ROW, axis="c", p_adjusted=0.6),
        replace(of(test="none", reason="it is empty"), axis="d", p_adjusted=None),
        replace(ROW, axis="e", headline=False),
    ]
    (headline,) = headlines(rows)
    assert [s.split(":")[0] for s in headline.told] == ["b", "a"]
    assert [s.split(":")[0] for s in headline.same] == ["c"]
    assert list(headline.untested) == ["d: not tested: it is empty"]


def test_rows_survive_json_and_frames_flatten_the_method():
    assert Verdict.from_row(ROW.row()) == ROW
    assert Verdict.from_row({**ROW.row(), "new": 1, "method": {"test": "permutation", "newer": 2}}).method.test == (
        "permutation"
    )
    with pytest.raises(ValueError, match="an older version"):
        Verdict.from_row({**ROW.row(), "method": "a sentence"})
    texts = ["word " * n for n in np.random.default_rng(0).integers(5, 30, 40)]
    comparison = momus.compare(
        Corpus.from_texts(texts), {"g": texts[:20]}, critics=["length"], permutations=99, resamples=99
    )
    frame = comparison.frame()
    assert set(frame["method_design"]) == {"documents"}
    assert set(frame["method_permutations"]) == {99}
