"""Conformal p-values are valid under any dependence of the critics, and their choice keeps its false-discovery rate."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import false_discovery_control

from momus.outliers.conformal import Calibrated, Tail, fewest_chosen, largest_rank, q_values


def documents(rng, n):
    """Three dependent critics: a heavy tail, its near copy with ties, and a discrete one with missing values."""
    one = rng.standard_t(3, n)
    two = np.round(one + 0.3 * rng.normal(size=n), 1)
    three = rng.poisson(3, n).astype(float)
    three[rng.random(n) < 0.1] = np.nan
    return np.column_stack([one, two, three])


SIDES = (True, False, False)


def test_p_values_of_real_documents_are_never_too_small():
    rng = np.random.default_rng(0)
    below = np.zeros((3, 4))
    runs, levels = 400, np.array([0.01, 0.05, 0.2])
    for _ in range(runs):
        real = documents(rng, 300)
        calibrated, new = Calibrated.of(real, SIDES, rng.permutation(300)), documents(rng, 50)
        p = np.column_stack([calibrated.judge(new).ranks, calibrated.alone(new)]) / 201
        below += (p[:, None, :] <= levels[:, None]).mean(axis=0)
    share = below / runs
    # the standard error is below that of 400 independent documents: 0.005, 0.011, 0.02
    assert (share <= levels[:, None] + 3 * np.array([[0.005], [0.011], [0.02]])).all()
    assert share[1, 0] > 0.03  # and not far too large


@pytest.mark.parametrize("odd", [0, 20])
def test_of_the_documents_chosen_few_are_real(odd):
    rng = np.random.default_rng(1)
    false, found, runs = [], [], 200
    for _ in range(runs):
        calibrated = Calibrated.of(documents(rng, 900), SIDES, rng.permutation(900))
        test = documents(rng, 200)
        test[:odd, 0] += 15
        judged = calibrated.judge(test)
        counts = np.bincount(judged.ranks, minlength=len(calibrated) + 2)
        chosen = judged.ranks <= largest_rank(counts, len(calibrated), 0.2)
        false.append(chosen[odd:].sum() / max(chosen.sum(), 1))
        found.append(chosen[:odd].mean() if odd else 0)
    error = np.std(false) / np.sqrt(runs)
    assert np.mean(false) <= 0.2 + 3 * error
    if odd:
        assert np.mean(found) > 0.8


def chosen(calibrated, new, fdr):
    ranks = calibrated.judge(new).ranks
    return ranks <= largest_rank(np.bincount(ranks, minlength=len(calibrated) + 2), len(calibrated), fdr)


def test_documents_that_are_a_little_odd_in_one_way_are_found_together():
    """Three of six critics are moved by 1.7 standard deviations: no single document is odd, but many lean one way."""
    rng = np.random.default_rng(6)
    false, found, alone = [], [], []
    for _ in range(60):
        real, new = rng.normal(size=(600, 6)), rng.normal(size=(200, 6))
        new[:60, :3] += 1.7
        calibrated = Calibrated.of(real, (True,) * 6, np.arange(600))
        leaning = calibrated.leaning(lambda new=new: [new[:50], new[50:]])
        goes = chosen(leaning, new, 0.1)
        false.append(goes[60:].sum() / max(goes.sum(), 1))
        found.append(goes[:60].mean())
        alone.append(chosen(calibrated, new, 0.1)[:60].mean())
    assert np.mean(false) <= 0.1 + 3 * np.std(false) / 60**0.5
    assert np.mean(found) > 0.6
    assert np.mean(alone) < 0.1
    worst = leaning.judge(new).critic[:60]
    assert np.isin(worst, [0, 1, 2]).mean() > 0.9


def test_rare_documents_that_are_very_odd_are_ranked_by_the_largest_surprise():
    rng = np.random.default_rng(7)
    real, new = rng.normal(size=(3000, 4)), rng.normal(size=(300, 4))
    new[[0, 1, 2], [0, 1, 2]] = 12, -12, 12
    calibrated = Calibrated.of(real, (True,) * 4, np.arange(3000))
    assert calibrated.leaning(lambda: [new]) is calibrated
    assert (calibrated.judge(new).ranks[:3] == 1).all()
    few = Calibrated.of(real[:90], (True,) * 4, np.arange(90))
    assert few.leaning(lambda: [new + 3]) is few, "too few real documents to learn a direction"


def test_a_document_that_leans_and_is_odd_under_another_critic_too_still_goes():
    rng = np.random.default_rng(8)
    real, new = rng.normal(size=(900, 3)), rng.normal(size=(200, 3))
    real[:, 2] += real[:, 1]  # so that the second one gets a negative weight
    new[:, 2] += new[:, 1]
    new[:80, 2] += 4
    new[0, 1] += 15
    leaning = Calibrated.of(real, (True,) * 3, np.arange(900)).leaning(lambda: [new])
    assert leaning.direction.weights[1] < 0
    assert chosen(leaning, new, 0.05)[0]


def test_the_choice_is_that_of_benjamini_and_hochberg():
    rng = np.random.default_rng(2)
    for _ in range(50):
        calibrating, n = int(rng.integers(5, 200)), int(rng.integers(1, 300))
        ranks = rng.integers(1, calibrating + 2, n) ** 2 // (calibrating + 1) + 1
        p = ranks / (calibrating + 1)
        counts = np.bincount(ranks, minlength=calibrating + 2)
        q = q_values(counts, calibrating)[ranks]
        assert np.allclose(q, false_discovery_control(np.minimum(p, 1)), atol=1e-12)
        for fdr in (0.05, 0.3, 0.9):
            assert ((ranks <= largest_rank(counts, calibrating, fdr)) == (q <= fdr + 1e-12)).all()


def test_nothing_can_be_chosen_below_the_fewest():
    for n, calibrating, fdr in ((1000, 99, 0.05), (37, 450, 0.1), (10, 5, 0.5)):
        fewest = fewest_chosen(n, calibrating, fdr)
        for odd in (fewest - 1, fewest):
            counts = np.zeros(calibrating + 2, dtype=np.int64)
            counts[1], counts[-1] = min(odd, n), n - min(odd, n)
            assert (largest_rank(counts, calibrating, fdr) >= 1) == (odd == fewest and fewest <= n)


@given(
    sample=arrays(float, st.integers(1, 40), elements=st.floats(-5, 5) | st.just(np.nan)),
    values=arrays(float, 20, elements=st.floats(-1e6, 1e6)),
)
@example(sample=np.array([0.0, 1.95e-305]), values=np.full(20, 3510.0))  # farther out than a float can say
def test_surprise_grows_with_the_value(sample, values):
    tail = Tail.of(sample)
    surprise = tail.surprise(np.sort(values))
    assert (np.diff(surprise) >= 0).all()
    assert (surprise >= 0).all()
    assert tail.surprise(np.array([np.nan])).tolist() == [0.0]


def test_the_tail_begins_without_a_step():
    tail = Tail.of(np.random.default_rng(3).exponential(size=10_000))
    assert tail.shape < 0.05
    start, after = tail.surprise(np.array([tail.start, np.nextafter(tail.start, 9)]))
    assert start == pytest.approx(after)
    # of an exponential sample, −log P(X ≥ x) is x
    assert np.allclose(tail.surprise(np.array([1.0, 2.0, 6.0, 12.0])), [1, 2, 6, 12], rtol=0.05)


def test_heavy_tails_outshout_no_others():
    rng = np.random.default_rng(6)
    heavy = rng.pareto(1.5, size=20_000)
    tail = Tail.of(heavy[:2000])
    # of a sample from its own distribution, −log P(X ≥ x) is exponential, also where the reference does not reach
    far = np.quantile(heavy, [0.99, 0.999])
    assert np.allclose(tail.surprise(far), np.log([100, 1000]), rtol=0.2)


def test_a_document_is_judged_alike_alone_and_among_others():
    rng = np.random.default_rng(4)
    calibrated = Calibrated.of(documents(rng, 90), SIDES, np.arange(90))
    test = documents(rng, 7)
    whole = calibrated.judge(test)
    for i in range(7):
        one = calibrated.judge(test[i : i + 1])
        assert one.ranks[0] == whole.ranks[i]
        assert one.critic[0] == whole.critic[i]
        assert one.small[0] == whole.small[i]
    assert calibrated.alone(test).shape == (7, 3)
    assert len(calibrated) == 60


def test_both_tails_are_odd_only_where_they_are_asked_for():
    calibrated = Calibrated.of(np.random.default_rng(5).normal(size=(600, 2)), (True, False), np.arange(600))
    judged = calibrated.judge(np.array([[-9.0, 0.0], [0.0, -9.0], [9.0, 0.0]]))
    assert judged.ranks.tolist()[::2] == [1, 1]
    assert judged.ranks[1] > 100
    assert judged.small.tolist()[::2] == [True, False]


def authors(rng, n, each, icc=0.5):
    """Values of documents of n authors, who differ."""
    return np.repeat(np.sqrt(icc) * rng.normal(size=n), each)[:, None] + np.sqrt(1 - icc) * rng.normal(
        size=(n * each, 1)
    )


def test_documents_of_other_authors_are_no_odder_than_authors_are():
    """Real text of 30 authors with 10 documents each; by documents, p ≤ 0.05 in more than 8 % of new authors' texts."""
    rng = np.random.default_rng(7)
    names = [str(i // 10) for i in range(300)]
    shares = {"documents": [], "authors": []}
    for _ in range(400):
        real, new = authors(rng, 30, 10), authors(rng, 1, 10)
        for kind, groups, order in (
            ("documents", (), rng.permutation(300)),
            ("authors", names, (10 * rng.permutation(30)[:, None] + np.arange(10)).ravel()),
        ):
            calibrated = Calibrated.of(real, (False,), order, groups)
            shares[kind].append((calibrated.judge(new).ranks / (len(calibrated) + 1) <= 0.0501).mean())
    assert np.mean(shares["authors"]) <= 0.05 + 3 * np.std(shares["authors"]) / 20


def test_pooled_shares_by_hand():
    real = np.arange(12.0)[:, None]
    calibrated = Calibrated.of(real, (False,), np.arange(12), ["a"] * 3 + ["b"] * 6 + ["c"] * 3)
    assert (calibrated.units, len(calibrated)) == (2, 9)  # a third of three groups is the reference
    # of a value above all but one of b's: two in six of b lie above 6.5, and all of c
    (rank,) = calibrated.judge(np.array([[6.5]])).ranks
    assert rank == np.ceil((1 + 2 / 6 + 1) / 3 * 10)
    (rank,) = calibrated.judge(np.array([[99.0]])).ranks
    assert rank == np.ceil(10 / 3)


def test_groups_of_one_document_are_documents():
    rng = np.random.default_rng(8)
    real, new, order = documents(rng, 90), documents(rng, 20), rng.permutation(90)
    plain, grouped = (Calibrated.of(real, SIDES, order, g) for g in ((), [str(i) for i in range(90)]))
    assert plain.judge(new).ranks.tolist() == grouped.judge(new).ranks.tolist()
    assert plain.alone(new).tolist() == grouped.alone(new).tolist()
