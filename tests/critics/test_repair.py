"""The best repair of a chain of sections: against every changed document, and as what ranks outliers."""

from dataclasses import replace

import numpy as np
import pytest

from momus.critic.powers import headline_of
from momus.text.corpus import Corpus
from momus.verdicts.judge import judge
from momus_critics.chains.repair import CHANCE, FAULTY, KINDS, LESS, MORE, ORDER, best_repairs, fault_evidence
from momus_critics.sections import Sections

RNG = np.random.default_rng(5)
K = 4


def chain():
    p = RNG.dirichlet(np.full(K + 1, 0.3), K + 1) + 0.01
    p[K, K] = 0.0  # no document is empty
    return p / p.sum(axis=1, keepdims=True)


def log_evidence(emission, p):
    message = p[K, :K] * emission[0]
    for e in emission[1:]:
        message = (message @ p[:K, :K]) * e
    return np.log(message @ p[:K, K])


def by_hand(emission, p):
    """(gain, kind, place) of the best single change, each changed document scored from scratch."""
    m, whole = len(emission), log_evidence(emission, p)
    changes = []
    for t in range(m - 1):
        order = np.arange(m)
        order[[t, t + 1]] = t + 1, t
        changes.append((log_evidence(emission[order], p), ORDER, t))
    if m > 1:
        changes += [(log_evidence(np.delete(emission, t, 0), p), LESS, t) for t in range(m)]
    changes += [(log_evidence(np.insert(emission, t, 1.0, 0), p), MORE, t) for t in range(m + 1)]
    gain, kind, place = max(changes)
    return (
        gain - whole,
        kind,
        place,
        {k: max(c for c in changes if c[1] == k)[0] - whole for k in {c[1] for c in changes}},
    )


def test_the_best_repair_is_that_of_all_single_changes_and_more_swaps_only_gain():
    p = chain()
    lengths = RNG.integers(1, 7, 60)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    emission = RNG.gamma(0.3, size=(offsets[-1], K)) + 1e-3
    found = best_repairs(emission, offsets, p)
    single = 0
    for i in range(60):
        e = emission[offsets[i] : offsets[i + 1]]
        gain, kind, place, best = by_hand(e, p)
        alone = best_repairs(e, np.array([0, len(e)]), p)
        assert (alone.gain[0], alone.kind[0], alone.place[0]) == pytest.approx(
            (found.gain[i], found.kind[i], found.place[i])
        )
        assert found.gain[i] >= gain - 1e-9
        if found.kind[i] != ORDER:
            assert (found.gain[i], found.kind[i], found.place[i]) == (pytest.approx(gain), kind, place)
            single += 1
        else:
            assert found.gain[i] >= best[ORDER] - 1e-9
    assert 10 < single < 60
    assert {int(k) for k in found.kind} == {ORDER, LESS, MORE}


def test_the_evidence_of_a_fault_is_that_of_bayes_over_all_single_faults_and_steps_by_chance():
    p = chain()
    lengths = RNG.integers(1, 6, 40)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    emission = RNG.gamma(0.3, size=(offsets[-1], K)) + 1e-3
    chance = RNG.dirichlet(np.ones(K + 1))
    found = fault_evidence(emission, offsets, p, chance)
    for i, m in enumerate(lengths):
        e = emission[offsets[i] : offsets[i + 1]]
        whole = log_evidence(e, p)
        orders = [[*range(t), t + 1, t, *range(t + 2, m)] for t in range(m - 1)]
        repairs = {
            ORDER: [e[order] for order in orders],
            LESS: [np.delete(e, t, 0) for t in range(m)] if m > 1 else [],  # no document is empty
            MORE: [np.insert(e, t, 1.0, 0) for t in range(m + 1)],
            # two neighbours are one section of one type
            3: [np.vstack([e[:t], e[t] * e[t + 1], e[t + 2 :]]) for t in range(m - 1)],
        }
        ratio = sum(
            KINDS[kind] * np.mean([np.exp(log_evidence(x, p) - whole) for x in changed])
            for kind, changed in repairs.items()
            if changed
        )
        ratio += KINDS[-1] * np.exp(log_evidence(e, (1 - CHANCE) * p + CHANCE * chance) - whole)
        assert found[i] == pytest.approx(-np.log((1 - FAULTY) / (1 - FAULTY + FAULTY * ratio)))
    assert found.min() < -np.log(1 - FAULTY) < found.max()
    assert len(KINDS) == 5
    assert KINDS.sum() == pytest.approx(1)
    assert fault_evidence(emission[:0], offsets[:1], p, chance).shape == (0,)


def test_two_pairs_out_of_order_are_put_in_order_one_after_the_other():
    k, n = 4, 4
    p = np.full((k + 1, k + 1), 1e-3)
    for a, b in [(k, 0), *((t, t + 1) for t in range(k))]:
        p[a, b] = 1.0
    p /= p.sum(axis=1, keepdims=True)
    states = np.eye(k)[[1, 0, 3, 2]] * k
    found = best_repairs(states, np.array([0, n]), p)
    whole = log_evidence(np.eye(k) * k, p) - log_evidence(states, p)
    assert int(found.kind[0]) == ORDER
    assert found.gain[0] == pytest.approx(whole)


TYPES = ("summary", "motivation", "design", "drawbacks")


def documents(n, swapped=()):
    rng = np.random.default_rng(n)
    corpus = Corpus.from_sections(
        ([(t, " ".join([t] * 3 + rng.choice(["a", "b", "c"], 8).tolist())) for t in TYPES] for _ in range(n)), name="x"
    )
    rows = [
        replace(d, sections=(d.sections[1], d.sections[0], *d.sections[2:])) if i in swapped else d
        for i, d in enumerate(corpus)
    ]
    return Corpus.from_documents(rows, "x")


@pytest.mark.parametrize("posterior", ["titles", "linear"])
def test_the_headline_and_the_share_of_documents_with_a_fault_find_what_is_damaged(posterior):
    critic = Sections(posterior=posterior, seed=0).fit(documents(40))
    damaged = range(0, 60, 4)
    real, other = critic.score(documents(60)), critic.score(documents(60, swapped=damaged))
    verdicts = judge(critic, real, other, paired=False, seed=0, permutations=999, resamples=99, only_headline=False)
    (headline,) = [v for v in verdicts if v.headline]
    assert headline.statistic == headline_of(critic) == "fault_evidence"
    assert headline.p is not None
    assert headline.p <= 0.01
    (found,) = [v for v in verdicts if v.statistic == "fault_share"]
    assert found.p_in_axis is not None
    assert found.real_value == pytest.approx(0.0, abs=0.04)
    assert found.generated_value == pytest.approx(len(damaged) / 60, abs=0.04)
    assert found.p is not None
    assert found.p <= 0.01


def test_evidence_of_faults_goes_on_rising_with_the_number_of_faults():
    k, n = 6, 6
    p = np.full((k + 1, k + 1), 1e-3)
    for a, b in [(k, 0), *((t, t + 1) for t in range(k))]:
        p[a, b] = 1.0
    p /= p.sum(axis=1, keepdims=True)
    orders = [range(k), (1, 0, 2, 3, 4, 5), (1, 0, 3, 2, 4, 5), (5, 3, 1, 4, 0, 2)]
    chance = np.full(k + 1, 1 / (k + 1))
    found = fault_evidence(np.vstack([np.eye(k)[list(o)] * k for o in orders]), n * np.arange(5), p, chance)
    assert found[0] < 0.1
    assert (np.diff(found[[0, 1, 3]]) > 1).all()
    assert found[2] > 5  # no single repair mends it, chance explains it


@pytest.mark.parametrize("posterior", ["titles", "linear"])
def test_sections_ranks_by_repair_and_says_which(posterior):
    critic = Sections(posterior=posterior, seed=0).fit(documents(40))
    text = documents(30, swapped=(3, 17))
    scores = critic.score(text)
    assert {text.ids[i] for i in scores.ranked(True)[:2]} == {"x:4", "x:18"}
    assert scores.table()["oddity"].to_pylist() == pytest.approx(scores.oddity.tolist())
    note = critic.explain(text.slice(3, 4)).note
    assert note.endswith(" nats more likely if summary stood before motivation")
    batches = critic.score(text, batch_size=7)
    np.testing.assert_allclose(batches.oddity, scores.oddity, rtol=1e-9)
