"""Answers as arrays, and rows of corpora and raters, of studies that are written down by hand."""

from dataclasses import replace

import numpy as np
import pytest

from momus.errors import UsageError
from momus.limits import MOST_SEED
from momus_people.answers import scores_of
from momus_people.protocol import Protocol
from momus_people.result import analysed, level_of, rater_rows

from .by_hand import answers_of, hand_study, said, table_of

PAIRS = hand_study([("a", "p"), ("b", "p"), ("b", "q"), ("c", "q")], [(0, 1), (2, 3)], "pair", ties=True)


def test_choices_in_the_order_of_the_item():
    assert [said(PAIRS, 0, 0, v)["category"] for v in ("left", "equal", "right")] == [2, 1, 0]
    turned = [said(PAIRS, 0, 1, v, (3, 2))["category"] for v in ("left", "equal", "right")]
    assert turned == [0, 1, 2]
    ratings = hand_study([("a", None)] * 2, [(0,), (1,)])
    assert said(ratings, 0, 1, 4)["category"] == 4


def test_levels_of_measurement():
    assert [level_of(replace(PAIRS.protocol, ties=ties)) for ties in (True, False)] == ["ordinal", "nominal"]
    assert level_of(Protocol()) == "ordinal"


def test_scores_of_pairs():
    listed = [said(PAIRS, 0, 0, "left"), said(PAIRS, 0, 1, "equal"), said(PAIRS, 2, 1, "right")]
    found = scores_of(PAIRS, table_of(listed))
    assert found.is_paired.all()
    rows = found[["rater", "passage", "corpus", "unit", "stratum", "score"]].to_numpy().tolist()
    assert rows == [
        *([0, 0, "a", 0, 0, 1], [0, 1, "b", 0, 0, 0], [0, 2, "b", 1, 1, 0.5], [0, 3, "c", 1, 1, 0.5]),
        *([2, 2, "b", 1, 1, 0], [2, 3, "c", 1, 1, 1]),
    ]


@pytest.mark.parametrize(
    ("prompts", "strata"),
    [
        ("ppqqrstu", [0, 0, 1, 1, 2, 3, 4, 5]),  # two of eight passages share a prompt with one before
        ("ppqrstuv", [0] * 8),  # one of eight: too few
        (["p", "p", "q", "q", None, None, None, None], [0, 0, 1, 1, 2, 2, 2, 2]),
        ([None] * 8, [0] * 8),
    ],
)
def test_ratings_are_compared_within_prompts_where_enough_share_one(prompts, strata):
    made = hand_study([("a", p) for p in prompts], [(k,) for k in range(8)])
    found = scores_of(made, table_of([said(made, r, u, (u + r) % 5) for r in (0, 1) for u in range(8)]))
    assert found.stratum.tolist() == strata * 2
    assert found.score.tolist() == [(u + r) % 5 / 4 for r in (0, 1) for u in range(8)]
    assert found.unit.tolist() == list(range(8)) * 2


def test_only_answers_to_items_of_the_named_raters_count():
    listed = [said(PAIRS, r, 0, "left", role=role) for r in (0, 1, 2) for role in ("item", "repeat", "check")]
    found = answers_of(PAIRS, listed).items([2, 0, 5])
    assert list(zip(found.rater, found.role, strict=True)) == [(0, "item"), (2, "item")]


RATED = hand_study([("abc"[k % 3], None) for k in range(24)], [(k,) for k in range(24)], raters=4)


def rated(rater, values, seconds=np.nan):
    return [said(RATED, rater, u, v, seconds=seconds) for u, v in enumerate(values)]


def rows_of(listed, kept=(0, 1, 2, 3), out=()):
    return rater_rows(RATED, answers_of(RATED, listed), out, kept, 0)


def test_hasty_raters_are_more_than_three_times_as_fast_as_the_median():
    values = [u % 5 for u in range(24)]
    for seconds, hasty in ((10.0, False), (9.9, True)):
        listed = [a for r in (0, 1, 2) for a in rated(r, values, 30.0)] + rated(3, values, seconds)
        assert ["hasty" in r.flags for r in rows_of(listed)] == [False, False, False, hasty]
    (row,) = rows_of([said(RATED, 0, u, 1, seconds=s) for u, s in enumerate([4.0, np.nan, 0, 7.0, 6.0])])
    assert row.seconds == 6
    assert np.isnan(rows_of(rated(0, values))[0].seconds)


@pytest.mark.parametrize(("bad", "checks", "flagged"), [(2, 5, True), (1, 2, True), (1, 3, False), (0, 0, False)])
def test_two_failed_checks_of_five_are_flagged_and_one_of_three_is_not(bad, checks, flagged):
    listed = rated(0, [u % 5 for u in range(24)])
    listed += [said(RATED, 0, 0, 3, role="check", expected=2 if k < bad else 3) for k in range(checks)]
    (row,) = rows_of(listed)
    assert (row.failed, row.checks, "failed checks" in row.flags) == (bad, checks, flagged)


def test_one_answer_only_is_told_from_five_items_on():
    assert ["one answer only" in rows_of(rated(0, [3] * n))[0].flags for n in (4, 5)] == [False, True]
    assert "one answer only" not in rows_of(rated(0, [3] * 5 + [2]))[0].flags


def test_who_agrees_no_better_than_chance_stands_out_where_most_others_agree():
    rng = np.random.default_rng(0)
    truth = [u % 5 for u in range(24)]
    lazy = [rng.permutation(truth).tolist() for _ in range(3)]
    flag = "agrees no better than chance"
    one = [a for r in range(3) for a in rated(r, truth)] + rated(3, lazy[0])
    assert [flag in r.flags for r in rows_of(one)] == [False, False, False, True]
    most = [*rated(0, truth), *(a for r in range(3) for a in rated(r + 1, lazy[r]))]
    assert not any(flag in r.flags for r in rows_of(most))
    two = [*rated(0, truth), *rated(1, lazy[0])]
    assert not any(flag in r.flags for r in rows_of(two)), "of two, nobody knows which"


def test_repeats_and_counts():
    listed = rated(0, [1, 2, 3, 4]) + [said(RATED, 0, u, v, role="repeat") for u, v in ((0, 1), (1, 3), (9, 1))]
    answers = answers_of(RATED, listed)
    answers.missing[0], answers.invalid[0] = 5, 2
    (row,) = rater_rows(RATED, answers, {0}, [], 0)
    assert (row.same, row.repeats) == (1, 2), "a repeat of an item without an answer does not count"
    assert (row.answered, row.missing, row.invalid, row.left_out) == (7, 5, 2, True)


def test_raters_are_compared_with_those_who_take_part():
    truth = [u % 5 for u in range(24)]
    listed = [*rated(0, truth), *rated(1, truth), *rated(2, [4 - v for v in truth])]
    assert rows_of(listed)[0].rho < 0.9
    rows = rows_of(listed, kept=[0, 1], out=[2])
    assert [round(r.rho, 6) for r in rows] == [1, 1, -1]


def checked(rater, bad, checks):
    return [said(RATED, rater, 0, 3, role="check", expected=2 if k < bad else 3) for k in range(checks)]


def test_raters_who_fail_more_than_that_share_of_checks_are_left_out():
    rng = np.random.default_rng(1)
    listed = [a for r in range(4) for a in rated(r, np.clip(np.arange(24) % 3 + rng.integers(0, 3, 24), 0, 4).tolist())]
    listed += [*checked(0, 1, 2), *checked(1, 2, 3)]
    assert [r.left_out for r in analysed(RATED, answers_of(RATED, listed)).raters] == [False, True, False, False]
    found = analysed(RATED, answers_of(RATED, listed), max_failed=0.0)
    assert [r.left_out for r in found.raters] == [True, True, False, False]
    assert (found.answers, found.expected) == (48, 96)
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="not a share"):
            analysed(RATED, answers_of(RATED, listed), max_failed=share)
    analysed(RATED, answers_of(RATED, listed), max_failed=1, seed=MOST_SEED)
    for seed in (-1, MOST_SEED + 1):
        with pytest.raises(UsageError, match="not a seed"):
            analysed(RATED, answers_of(RATED, listed), seed=seed)
    with pytest.raises(UsageError, match="no rater is left"):
        analysed(RATED, answers_of(RATED, listed[:24] + checked(0, 2, 2)))


def test_rows_of_corpora_and_contrasts():
    rng = np.random.default_rng(2)
    values = [np.clip(2 - np.arange(24) % 3 + rng.integers(0, 3, 24), 0, 4).tolist() for _ in range(4)]
    found = analysed(RATED, answers_of(RATED, [a for r in range(4) for a in rated(r, values[r])][:90]))
    assert [(c.corpus, c.passages, c.answers) for c in found.corpora] == [("a", 8, 30), ("b", 8, 30), ("c", 8, 30)]
    assert [c.value for c in found.corpora] == sorted((c.value for c in found.corpora), reverse=True)
    assert [(c.first, c.second) for c in found.contrasts] == [("a", "b"), ("a", "c"), ("b", "c")]
    for c in found.contrasts:
        assert 0 < c.low < c.preference < c.high < 1
        assert c.preference > 0.5
    for c in found.corpora:
        assert 1 <= c.low < c.value < c.high <= 5


def test_only_ratings_have_a_scale():
    pairs = analysed(PAIRS, answers_of(PAIRS, [said(PAIRS, 0, 0, "left"), said(PAIRS, 1, 0, "right")]))
    assert (pairs.kind, pairs.scale, pairs.answers, pairs.expected) == ("pair", (), 2, 6)
    ratings = analysed(RATED, answers_of(RATED, rated(0, [u % 5 for u in range(24)])))
    assert (ratings.kind, ratings.scale) == ("rating", RATED.protocol.scale)


def test_of_a_scale_of_two_the_share_of_the_better_answer_is_shown():
    made = hand_study(
        [("real" if k % 2 else "m", None) for k in range(24)], [(k,) for k in range(24)], scale=("no", "yes")
    )
    rng = np.random.default_rng(3)
    listed = [said(made, r, u, int(rng.random() < (0.7 if u % 2 else 0.3))) for r in range(3) for u in range(24)]
    found = analysed(made, answers_of(made, listed))
    assert [(c.first, c.second) for c in found.contrasts] == [("m", "real")]
    assert all(0 < c.low < c.value < c.high < 1 for c in found.corpora)
    by = {c.corpus: c.value for c in found.corpora}
    shares = {n: np.mean([a["value"] for a in listed if (a["unit"] % 2 == 1) == (n == "real")]) for n in by}
    assert by == pytest.approx(shares)
