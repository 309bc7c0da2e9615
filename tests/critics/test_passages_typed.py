"""Faults of order in running text, by types that were learned from titles."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import ttest_ind

from momus import Corpus, load_critic
from momus.critic.powers import headline_of
from momus_critics.passages import Passages
from momus_critics.passages.faults import SectionProcess
from momus_critics.passages.typed import type_names

RNG = np.random.default_rng(7)
K = 3
PARTS = ("aims", "means", "costs", "ends")


def process():
    p = RNG.dirichlet(np.full(K + 1, 0.4), K + 1) + 0.02
    p[K, K] = 0.0
    p /= p.sum(axis=1, keepdims=True)
    return SectionProcess(p, RNG.dirichlet(np.ones(K + 1)), RNG.uniform(0.2, 0.8, K), 3.0)


def chains(model):
    """Probabilities of sequences of types of at most three sections, of the chain and with each fault."""
    t, totals = model.transitions, [{} for _ in range(4)]

    def probability(types):
        path = [K, *types, K]
        return float(np.prod([t[a, b] for a, b in pairwise(path)]))

    def add(which, types, p):
        totals[which][types] = totals[which].get(types, 0.0) + p

    extra = model.chance[:K] / model.chance[:K].sum()
    for m in range(1, 5):
        for types in product(range(K), repeat=m):
            p = probability(types)
            add(0, types, p)
            for i in range(m - 1):
                if types[i] != types[i + 1]:
                    add(1, (*types[:i], types[i + 1], types[i], *types[i + 2 :]), p / (model.sections - 1))
            for i in range(m + 1):
                for x in range(K):
                    add(2, (*types[:i], x, *types[i:]), p * extra[x] / model.sections)
            if m > 1:
                for i in range(m):
                    add(3, (*types[:i], *types[i + 1 :]), p / (model.sections + 1))
    return totals


def likelihood(model, begin, inside, totals):
    """Σ over sequences of types and borders of P(types) P(lengths) P(y)."""
    n, value = len(begin), 0.0
    for types, p in totals.items():
        for lengths in product(range(1, n + 1), repeat=len(types)):
            if sum(lengths) != n:
                continue
            q, at = p, 0
            for k, d in zip(types, lengths, strict=True):
                q *= begin[at, k] * inside[at + 1 : at + d, k].prod() * model.stay[k] ** (d - 1) * (1 - model.stay[k])
                at += d
            value += q
    return value


def test_ratios_are_those_of_all_types_and_borders():
    model = process()
    lengths = np.array([2, 1, 3])
    offsets = np.append(0, np.cumsum(lengths))
    begin, inside = RNG.gamma(0.5, size=(2, 6, K)) + 1e-3
    found = model.log_ratios(begin, inside, offsets)
    plain = model.log_evidence(begin, inside, offsets)
    totals = chains(model)
    for i, (a, b) in enumerate(pairwise(offsets)):
        clean, *faulty = (likelihood(model, begin[a:b], inside[a:b], t) for t in totals)
        assert plain[i] == pytest.approx(np.log(clean))
        for kind in range(3):
            # one section has no neighbour to change places with
            assert np.exp(found[kind, i]) == pytest.approx(faulty[kind] / clean, rel=1e-9, abs=1e-200)


def titled(n, seed, order=None):
    """Titled documents of four sections, each with words of its own beside words of the document's subject."""
    rng = np.random.default_rng(seed)
    documents = []
    for _ in range(n):
        topic, sections = rng.integers(8), []
        for part in order(rng) if order else range(4):
            lines = []
            for _ in range(int(rng.integers(2, 5))):
                own = [f"{PARTS[part]}word{i}" for i in rng.integers(0, 30, 4)]
                about = [f"topic{topic}word{i}" for i in rng.integers(0, 30, 10)]
                lines.append(" ".join(rng.permutation([*own, *about])) + ".")
            sections.append((PARTS[part], " ".join(lines)))
        documents.append(sections)
    return Corpus.from_sections(documents, name=f"s{seed}")


def running(corpus):
    return Corpus.from_texts([d.text for d in corpus], corpus.ids, name=corpus.name)


@pytest.fixture(scope="module")
def critic():
    return Passages(piece_length=15, n_states=4).fit(titled(80, 0))


def test_titles_of_the_fitted_text_make_types_and_a_statistic_that_decides(critic):
    named = {s.name: s for s in critic.statistics()}
    assert named["fault_evidence"].decides
    assert headline_of(critic) == "misplacement"
    assert set(critic.typed_.types_) == {*PARTS, "<other>"}
    assert critic.notes()[-1].text.startswith("5 section types learned from the titles")
    for untyped, texts in (("auto", running(titled(80, 0))), ("never", titled(80, 0))):
        without = Passages(piece_length=15, n_states=4, titles=untyped).fit(texts)
        assert "fault_evidence" not in {s.name for s in without.statistics()}
        assert headline_of(without) == "misplacement"


def test_faults_of_order_are_found_and_order_is_not(critic):
    def evidence(corpus):
        return critic.score(running(corpus)).rows["fault_evidence"][:, 0]

    real, other = evidence(titled(40, 1)), evidence(titled(40, 2))
    swapped = evidence(titled(40, 3, lambda rng: [0, 2, 1, 3]))
    dropped = evidence(titled(40, 4, lambda rng: [0, 1, 3]))
    assert abs(real.mean() - other.mean()) < 4 * np.hypot(real.std(), other.std()) / np.sqrt(40)
    assert np.median(swapped) > np.quantile(real, 0.95)
    assert ttest_ind(real, dropped, equal_var=False).pvalue < 0.01
    assert dropped.mean() > real.mean()


def test_titles_and_breaks_of_scored_text_are_not_read(critic):
    marked = titled(6, 5)
    for name, rows in critic.score(running(marked)).rows.items():
        assert critic.score(marked).rows[name] == pytest.approx(rows), name


def test_a_saved_critic_finds_the_same(critic, tmp_path):
    critic.save(tmp_path / "critic")
    text = running(titled(6, 6))
    again = load_critic(tmp_path / "critic").score(text).rows["fault_evidence"]
    assert again == pytest.approx(critic.score(text).rows["fault_evidence"])


def test_text_without_recurring_titles_has_no_types():
    letters = "bcdefghijklmnopqrstu"
    assert type_names(Corpus.from_sections([[(f"alpha{c}", "x"), (f"omega{c}", "y")] for c in letters])) == []
