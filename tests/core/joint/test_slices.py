"""Slices and wins: level, power, what is said of them, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import momus
from momus import Corpus, Document, MomusError
from momus.against.versions import adjusted_by_text
from momus.critic import Statistic, StatisticCritic
from momus.critic.scores import Scores
from momus.history.rules import Limit
from momus.history.slice_checks import gap_in
from momus.joint.partners import interval, wins_of
from momus.joint.slice_tests import slices_of
from momus.joint.slices import codes_of, together
from momus.report.words.slices import alike_sentences, slice_blocks, slice_sentences, win_sentences
from momus.verdicts.settings import Settings


class Size(StatisticCritic):
    """The number that stands in a document."""

    name, axis, question = "size", "size of documents", "How large?"

    def fit(self, real):
        """Nothing to learn."""
        return self

    def sufficient_statistics(self, latents):
        """Not used: the tests build scores."""
        return {}

    def statistics(self):
        """The mean."""
        return (Statistic.ratio("mean_size", "sizes", "mean size", ("smaller", "larger"), unit="words"),)


def scores(name, values, prompts=None, groups=()):
    n = len(values)
    rows = {"sizes": np.column_stack([values, np.ones(n)])}
    ids = [f"{name}{i}" for i in range(n)]
    return Scores(
        "size", name, ids, prompts or [None] * n, np.zeros(n), np.ones(n, int), [None] * n, rows, None, None, groups
    )


def corpus(name, kinds):
    fields = [{} if k is None else {"kind": k} for k in kinds]
    return Corpus.from_documents([Document(f"{name}{i}", (), fields=f) for i, f in enumerate(fields)], name)


def judged(old, new, kinds, paired=True, groups=(), seed=0):
    prompts = [f"p{i}" for i in range(len(old))] if paired else None
    sides = [scores("old", old, prompts, groups), scores("new", new, prompts, groups)]
    codes = codes_of(("kind",), [corpus("old", kinds), corpus("new", kinds)])
    (slices,) = together(slices_of(Size(), sides, codes, Settings(seed=seed)), 0.05)
    return slices


KINDS = [f"k{i % 10}" for i in range(200)]


@pytest.mark.parametrize("paired", [True, False])
def test_the_level_holds_over_slices(paired):
    rng = np.random.default_rng(5)
    found = [judged(*np.exp(rng.normal(4, 0.5, (2, 200))), KINDS, paired) for _ in range(6)]
    assert sum(any(c.p <= 0.05 for c in s.cells) for s in found) <= 2
    assert not any(s.outstanding() for s in found)


@pytest.mark.parametrize("groups", [(), [f"g{i // 4}" for i in range(200)]], ids=["prompts", "groups"])
def test_a_slice_that_loses_text_is_found_and_named(groups):
    old = np.exp(np.random.default_rng(0).normal(4, 0.5, 200))
    new = np.where(np.array(KINDS) == "k3", 0.6 * old, old)
    found = judged(old, new, KINDS, groups=groups)
    assert [c.name for c in found.outstanding()] == ["k3"]
    (cell,) = found.outstanding()
    assert cell.low < cell.difference < cell.high < 0
    (line,) = slice_sentences([found], "old")
    assert line.startswith("By kind, new differs only in k3, 20 of 200 answers: 40 % smaller (mean size ")
    (table,) = slice_blocks([found])
    assert table.rows[0][:3] == ("k3", "20", "−40 %↓!")


def test_slices_that_all_move_are_said_to_move_alike():
    old = np.exp(np.random.default_rng(0).normal(4, 0.5, 200))
    found = judged(old, 0.7 * old, KINDS)
    assert all(c.p <= 0.05 for c in found.cells)
    assert slice_sentences([found], "old") == []
    assert alike_sentences([found]) == ["No slice of kind stands out: all 10 move alike, as far as is seen."]


def test_unpaired_slices_agree_with_welch():
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(1)
    old, new = rng.normal(size=200), rng.normal(size=200) + 1e6
    found = judged(old, new - 1e6, KINDS, paired=False)
    first = np.array(KINDS) == "k0"
    expected = ttest_ind((new - 1e6)[first], old[first], equal_var=False)
    assert found.cells[0].difference / found.cells[0].error == pytest.approx(expected.statistic)


def test_a_small_slice_is_drawn_to_the_others():
    old = np.random.default_rng(2).normal(100, 10, 200)
    found = judged(old, old + np.random.default_rng(3).normal(2, 10, 200), KINDS)
    differences = np.array([c.difference for c in found.cells])
    assert np.ptp([c.shrunk for c in found.cells]) < np.ptp(differences)


def test_a_slice_too_small_is_named_and_not_tested():
    kinds = ["large"] * 40 + ["rare"] * 4
    values = np.random.default_rng(0).normal(size=44)
    found = judged(values, values, kinds)
    assert found.small == ("rare",)
    assert {c.name for c in found.cells} == {"large"}
    assert alike_sentences([found])[-1] == "Too small to test: rare."


def test_fields_that_suit_are_taken_by_themselves():
    texts = [
        Corpus.from_documents(
            [Document(f"{i}", (), fields={"task": "ab"[i % 2], "id": str(i), "one": "x"}) for i in range(60)], name
        )
        for name in ("a", "b")
    ]
    assert [c.name for c in codes_of(("auto",), texts)] == ["task"]
    with pytest.raises(MomusError, match="field 'id' has 60 values, too many for slices"):
        codes_of(("id",), texts)
    with pytest.raises(MomusError, match="no document of 'a' has such a field") as error:
        codes_of(("tsk",), texts)
    assert "id, one, task" in error.value.hint


def test_wins_count_prompts_and_leave_ties_apart():
    old = np.arange(100.0)
    new = old + np.where(np.arange(100) < 10, 0, np.where(np.arange(100) < 95, 1, -1))
    prompts = [f"p{i}" for i in range(100)]
    (win,) = adjusted_by_text(wins_of(Size(), [scores("old", old, prompts), scores("new", new, prompts)], Settings()))
    assert (win.more, win.fewer, win.ties, win.prompts) == (85, 5, 10, 100)
    assert win.low < win.share == 0.85 < win.high
    assert win.p < 1e-9
    assert win_sentences([win], 0.05) == ["Prompt by prompt, new is larger in 85 of 100 pairs (10 ties)."]
    assert wins_of(Size(), [scores("old", old), scores("new", new)], Settings()) == ()


@pytest.mark.parametrize("size", [1, 5], ids=["prompts", "groups"])
def test_intervals_of_wins_hold(size):
    rng = np.random.default_rng(size)
    groups = np.arange(200) // size
    held = 0
    for _ in range(400):
        shift = rng.normal(size=200 // size)[groups] if size > 1 else 0.0
        low, high = interval(rng.normal(size=200) + shift > 0, groups, 0.05)
        held += low <= 0.5 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_runs_read_back_and_gates_fail_by_slices(tmp_path):
    from momus.history.gate import gate_run
    from momus.history.rules import Rules

    rng = np.random.default_rng(0)
    words = np.array(["a", "cat", "dog", "runs", "over", "hill", "and", "far", "away", "with", "friends"])

    def texts(name, share):
        documents = []
        for i in range(80):
            text = " ".join(rng.choice(words, 30 + i % 7)[: None if i % 4 else int(share * 30)])
            documents.append(replace(Document.plain(f"{name}{i}", text, f"p{i}"), fields={"kind": f"k{i % 4}"}))
        return Corpus.from_documents(documents, name)

    old, codes = texts("old", 1.0), {}
    for name, share in (("same", 1.0), ("new", 0.6)):
        out = tmp_path / name
        found = momus.compare(
            generated={name: texts(name, share)}, against={"old": old}, critics=["length"], by=("kind",), out=out,
            permutations=99, resamples=99,
        )  # fmt: skip
        assert momus.read_comparison(out).joint.slices == found.joint.slices
        codes[name] = gate_run(out, Rules(require=("not-beyond-itself",)))
    assert codes["same"].passed
    assert "length of documents in k0" in {c.axis for c in codes["new"].failed}
    assert str(momus.read_comparison(tmp_path / "new")).startswith("By kind, new differs only in k0, 20 of 80 answers:")


def test_values_that_are_equal_in_a_slice_are_no_difference():
    """Rounding of equal values, without variance, was the largest deviate of all: no other slice could be found."""
    rng = np.random.default_rng(0)
    rare = (rng.random(200) < 0.01).astype(float)
    common = np.where(np.arange(200) % 10 == 3, rng.random(200) < 0.9, rng.random(200) < 0.1).astype(float)
    old = [rng.permutation(rare), (rng.random(200) < 0.1).astype(float)]
    codes = codes_of(("kind",), [corpus("old", KINDS), corpus("new", KINDS)])
    sides = [[scores("old", a), scores("new", b)] for a, b in zip(old, (rare, common), strict=True)]
    (slices,) = together([s for x in sides for s in slices_of(Size(), x, codes, Settings())], 0.05)
    assert {c.name for c in slices.outstanding()} == {"k3"}


@pytest.mark.parametrize("paired", [True, False])
def test_the_log_of_a_ratio_has_the_error_that_resamples_of_its_slice_have(paired):
    rng = np.random.default_rng(0)
    old, kinds = np.exp(rng.normal(4, 0.3, 400)), [f"k{i // 200}" for i in range(400)]
    new = 0.8 * (old if paired else old[::-1]) * np.exp(rng.normal(0, 0.2, 400))
    cell = judged(old, new, kinds, paired).cells[0]
    rows = rng.integers(0, 200, (2000, 200))
    ours, theirs = old[rows].mean(axis=1), new[rows if paired else rng.integers(0, 200, (2000, 200))].mean(axis=1)
    assert cell.ratio.log_error == pytest.approx(np.log(theirs / ours).std(), rel=0.1)
    assert cell.ratio.real_error == pytest.approx(ours.std(), rel=0.1)
    for share in (-0.2, 0.5):
        error = (theirs - (1 + share) * ours).std()
        assert cell.ratio.error_at(cell.error, share) == pytest.approx(error, rel=0.1)
    (flat,) = {c.ratio.log_error for c in judged(old, new - 100, kinds, paired).cells}
    assert flat == 0  # no log of values below 0


@pytest.fixture
def quick(monkeypatch):
    """Gaps of slices need no relabellings."""
    monkeypatch.setattr("momus.joint.slice_tests.RELABELLINGS", 9)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("limit", "fall"), [("20 % fewer", 0.2), ("20 %", 0.2), ("25 % more", -0.25)])
def test_slices_at_a_limit_in_percent_rarely_fail_however_skewed_pairs_are(limit, fall):
    limit, failed, spread = Limit.parse(f"size={limit}"), 0, 0.8
    for seed in range(200):
        rng = np.random.default_rng(seed)
        old = np.exp(rng.normal(4, 0.6, 200))
        new = (1 - fall) * old * np.exp(rng.normal(-(spread**2) / 2, spread, 200))
        cells = judged(old, new, KINDS, seed=seed).cells
        p = [gap_in(c, limit).p_above(limit.value / 100 * c.real_value) for c in cells]
        failed += min(p) <= 0.05 / len(cells)
    assert failed <= 14


@pytest.mark.usefixtures("quick")
def test_a_share_that_rose_by_the_limit_rarely_fails():
    limit, failed = Limit.parse("size=20 % more"), 0
    for seed in range(400):
        old, new = (np.random.default_rng(seed).random((2, 400)) < [[0.3], [0.36]]) * 1.0
        cells = judged(old, new, [f"k{i % 5}" for i in range(400)], seed=seed).cells
        failed += min(gap_in(c, limit).p_above(0.2 * c.real_value) for c in cells) <= 0.05 / len(cells)
    assert failed <= 26


@pytest.mark.usefixtures("quick")
def test_what_would_have_been_found_in_a_slice_is_found_in_four_of_five_cases():
    limit, failed = Limit.parse("size=20 % fewer"), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        old, spread = np.exp(rng.normal(4, 0.6, 200)), np.exp(rng.normal(-0.08, 0.4, 200))
        whole = judged(old, old * spread, KINDS, seed=seed).cells[0]
        least = gap_in(whole, limit).detectable(0.2 * whole.real_value, 0.01) / whole.real_value
        cell = judged(old, (1 - least) * old * np.roll(spread, 10), KINDS, seed=seed).cells[0]
        failed += gap_in(cell, limit).p_above(0.2 * cell.real_value) <= 0.01
    assert 60 <= failed <= 95
