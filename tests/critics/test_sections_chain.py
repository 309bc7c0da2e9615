"""The chain against enumeration over all state sequences."""

from itertools import pairwise, product

import numpy as np
import pytest

from momus import Corpus
from momus.critic.hooks import settled
from momus.text.vocabulary import frequent_titles, normalize_title
from momus_critics.chains import posterior as chain
from momus_critics.chains import posterior as joint
from momus_critics.sections import Sections
from momus_critics.sections.posterior import LinearPosterior, contrasted, regress


def random_batch(seed: int, k: int = 3, lengths=(1, 4, 2)):
    rng = np.random.default_rng(seed)
    marginals = rng.dirichlet(np.ones(k), size=sum(lengths))
    counts = rng.integers(0, 5, (k + 1, k + 1)).astype(float)
    counts[-1, -1] = 0
    return marginals, np.concatenate([[0], np.cumsum(lengths)]), chain.smooth(counts, 0.3)


@pytest.mark.parametrize("seed", range(5))
def test_expected_log_prior_equals_enumeration(seed):
    marginals, offsets, p = random_batch(seed)
    k = marginals.shape[1]
    with np.errstate(divide="ignore"):
        z = joint.factorised(marginals.argmax(axis=1), offsets, marginals, np.full(k, 1 / k), p)
        found = z.expected_sum(np.log(p))
    for d, (start, stop) in enumerate(pairwise(offsets)):
        expected = 0.0
        for z in product(range(k), repeat=stop - start):
            weight = np.prod([marginals[start + m, s] for m, s in enumerate(z)])
            path = [k, *z, k]
            expected += weight * sum(np.log(p[a, b]) for a, b in pairwise(path))
        assert found[d] == pytest.approx(expected)


def test_expected_counts_equal_counts_of_certain_states():
    states, offsets, k = np.array([0, 2, 2, 1, 0]), np.array([0, 1, 4, 5]), 3
    flat = np.full(k, 1 / k)
    certain = joint.factorised(
        states, offsets, None, flat, chain.smooth(np.zeros((k + 1, k + 1)), 1.0)
    ).expected_count()
    assert np.array_equal(certain, chain.count(states, offsets, k))
    assert certain.sum() == len(states) + 3
    assert certain[k, 0] == 2
    assert certain[2, 2] == 1


@pytest.mark.parametrize("seed", range(5))
def test_posterior_of_the_chain_equals_enumeration(seed):
    marginals, offsets, p = random_batch(seed, lengths=(3, 1, 4, 2))
    k = marginals.shape[1]
    prior = np.random.default_rng(seed + 100).dirichlet(np.ones(k))
    z = joint.chained(marginals, offsets, prior, p)
    with np.errstate(divide="ignore"):
        found = z.expected_sum(np.log(p))
    counts = np.zeros((k + 1, k + 1))
    for d, (start, stop) in enumerate(pairwise(offsets)):
        paths, weights = [], []
        for s in product(range(k), repeat=stop - start):
            path = [k, *s, k]
            e = np.prod([marginals[start + m, c] / prior[c] for m, c in enumerate(s)])
            paths.append(path)
            weights.append(e * np.prod([p[a, b] for a, b in pairwise(path)]))
        total = sum(weights)
        expected, single = 0.0, np.zeros((stop - start, k))
        for path, weight in zip(paths, weights, strict=True):
            expected += weight / total * sum(np.log(p[a, b]) for a, b in pairwise(path))
            for a, b in pairwise(path):
                counts[a, b] += weight / total
            single[np.arange(stop - start), path[1:-1]] += weight / total
        assert found[d] == pytest.approx(expected)
        assert z.disorder[d] == pytest.approx(-np.log(total))
        assert np.allclose(z.marginals[start:stop], single)
    assert np.allclose(z.expected_count(), counts)


def test_all_sequences_up_to_a_length_have_the_probability_of_ending_by_then():
    _, _, p = random_batch(3, k=2)
    k, total = 2, 0.0
    for m in range(1, 12):
        for z in product(range(k), repeat=m):
            path = [k, *z, k]
            total += np.prod([p[a, b] for a, b in pairwise(path)])
    alive = np.array([p[k, :k]])
    for _ in range(11):
        alive = alive @ p[:k, :k]
    assert total + alive.sum() == pytest.approx(1.0)


def test_smoothing_constant_is_the_best_of_its_grid():
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(4), size=4)
    train, test = (np.array([rng.multinomial(n, row) for row in truth], dtype=float) for n in (30, 1000))
    constant, curve = chain.choose_constant([train], [test])
    direct = []
    for c in chain.CONSTANTS:
        prior = np.full((4, 4), c)
        prior[-1, -1] = 0.0  # the start never leads to the end
        p = (train + prior) / (train + prior).sum(axis=1, keepdims=True)
        direct.append((test * np.log(p)).sum() / test.sum())
    assert curve == pytest.approx(direct)
    assert constant == chain.CONSTANTS[np.argmax(direct)]
    assert chain.CONSTANTS[0] < constant < chain.CONSTANTS[-1]
    assert curve.argmax() != curve.argmin()


def test_an_empty_document_does_not_decide_the_constant():
    train, test = np.array([[0.0, 6.0, 0.0], [3.0, 3.0, 3.0], [4.0, 2.0, 0.0]]), np.ones((3, 3))
    test[-1, -1] = 0.0
    (best, curve), (empty, other) = (chain.choose_constant([train], [t]) for t in (test, test + np.diag([0, 0, 2.0])))
    assert empty == best != chain.CONSTANTS[0]
    assert np.isfinite(curve).sum() == np.isfinite(other).sum()


def test_posterior_is_proper_and_learns():
    rng = np.random.default_rng(1)
    words = [["ape", "bear", "cat"], ["red", "blue", "pink"], ["one", "two", "six"]]
    documents = [[(None, " ".join(rng.choice(words[s], 8))) for s in (0, 1, 2)] for _ in range(40)]
    corpus = Corpus.from_sections(documents)
    labels = np.tile([0, 1, 2], 40)
    posterior = LinearPosterior().fit(corpus, labels, 4)
    p = posterior.predict(corpus)
    assert p.shape == (120, 4)
    assert np.allclose(p.sum(axis=1), 1)
    assert (p.argmax(axis=1) == labels).all()
    assert posterior.held_out["accuracy"] == 1.0


def test_titles():
    assert normalize_title("  3) RELATED work ") == "related work"
    assert normalize_title("A. Appendix") == "appendix"
    assert normalize_title("Introduction") == "introduction"
    assert frequent_titles(["", "", "x"], np.array([0, 1, 1]), 1) == ["x"]


def test_a_weak_posterior_is_a_warning_that_is_printed_and_kept(tmp_path):
    """Sections whose words say nothing of their types, in a text without titles; and titles read directly."""
    import momus
    from momus.comparison import read_comparison

    rng = np.random.default_rng(0)
    titles = ["Abstract", "Motivation", "Design", "Tests", "Copyright"]
    words = [f"w{i}" for i in range(50)]

    def documents(n, name, titled=True):
        rows = [[(t if titled else None, " ".join(rng.choice(words, 20))) for t in titles] for _ in range(n)]
        return momus.Corpus.from_sections(rows, name=name)

    fit, real, made = documents(60, "fit"), documents(30, "real"), documents(30, "made")
    untitled = documents(30, "made", titled=False)
    found = momus.compare(real, {"made": untitled}, fit=fit, critics=["sections"], seed=0, out=tmp_path / "run")
    assert any("held-out real sections" in w for w in found.warnings)
    assert read_comparison(tmp_path / "run").warnings == found.warnings
    config = {"sections": {"posterior": "titles"}}
    by_titles = momus.compare(real, {"made": made}, fit=fit, critics=["sections"], config=config, seed=0)
    assert not any("held-out real sections" in w for w in by_titles.warnings)


def titled(n, seed, titles=("Abstract", "Motivation", "Design", "Copyright"), extra=(), name="text"):
    """Documents whose sections say nothing of their type: titles alone tell."""
    rng = np.random.default_rng(seed)
    rows = [[(t, " ".join(f"w{k}" for k in rng.integers(0, 40, 12))) for t in (*titles, *extra)] for _ in range(n)]
    return Corpus.from_sections(rows, name=name)


def without_titles(corpus):
    return Corpus.from_sections([[(None, s.text) for s in d.sections] for d in corpus], name="untitled")


def test_titles_are_read_only_if_all_texts_have_them():
    critic = Sections().fit(titled(30, 0))
    real = titled(12, 1)
    turned = Corpus.from_sections([[(s.title, s.text) for s in reversed(d.sections)] for d in real], name="turned")
    assert settled(critic, [real, turned])
    assert not settled(critic, [real, turned])  # nothing changes the second time
    names = [critic.state_names[i] for i in critic.project(turned).states[:4]]
    assert names == ["copyright", "design", "motivation", "abstract"]
    assert "latent_ppl_by_bodies" in {s.name for s in critic.statistics()}
    assert settled(critic, [real, without_titles(turned)])
    assert "latent_ppl_by_bodies" not in {s.name for s in critic.statistics()}
    bodies = critic.score(real)
    assert np.allclose(bodies.nll, critic.score(without_titles(real)).nll)
    assert any("bodies: not all texts" in n.text for n in critic.notes())


def test_titles_are_never_read_if_asked_so():
    critic = Sections(titles="never").fit(titled(30, 0))
    assert not settled(critic, [titled(12, 1)])
    assert not hasattr(critic, "titled_")


def test_a_comparison_reads_titles_if_all_texts_have_them_and_reports_both(tmp_path):
    import momus

    fit, real = titled(30, 0, name="fit"), titled(20, 1, name="real")
    turned = Corpus.from_sections([[(s.title, s.text) for s in reversed(d.sections)] for d in real], name="turned")
    found = momus.compare(real, {"turned": turned}, fit=fit, critics=["sections"], seed=0, out=tmp_path / "run")
    rows = {v.statistic: v for v in found.results[0].verdicts}
    assert rows["latent_ppl"].p < 0.02  # .8 to the power of 20: of 20 documents that hardly vary
    assert rows["latent_ppl_by_bodies"].p > 0.01  # words say nothing of types here
    again = momus.load_critic(tmp_path / "run" / "critics" / "sections")
    assert again.reads_ == "titles and bodies"


def test_a_rare_title_is_read_by_its_words():
    """'Motivation and goals' is in no fitted document."""
    rows = [
        [("Abstract", f"short {i}"), (f"Motivation {'of it' * (i % 2)}", f"why {i}"), ("End", "bye")] for i in range(40)
    ]
    critic = Sections().fit(Corpus.from_sections(rows))
    text = Corpus.from_sections([[("Abstract", "short"), ("Motivation and goals", "unseen"), ("End", "bye")]])
    settled(critic, [text])
    assert critic.state_names[critic.project(text).states[1]].startswith("motivation")


def test_contrast_is_a_symmetric_matrix():
    """P = (1 + 1/M) I − J/M within each document."""
    offsets = np.array([0, 3, 4])
    p = contrasted(np.eye(4), offsets)
    expected = np.zeros((4, 4))
    expected[:3, :3] = np.eye(3) * 4 / 3 - 1 / 3
    expected[3, 3] = 1.0
    assert p == pytest.approx(expected)


def test_regression_is_that_of_scikit_learn():
    """Against scikit-learn, where each document has one section, so that nothing is contrasted."""
    from scipy import sparse
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 5)), rng.integers(0, 3, 200)
    x[:, 0] += y
    weights, bias = regress(sparse.csr_array(x), np.arange(201), y, 4, 2.0)
    theirs = LogisticRegression(C=2.0, tol=1e-8, max_iter=1000).fit(x, y)
    mine = x @ weights[:, :3] + bias[:3]
    expected = x @ theirs.coef_.T + theirs.intercept_
    centred = [a - a.mean(axis=1, keepdims=True) for a in (mine, expected)]
    assert centred[0] == pytest.approx(centred[1], abs=0.02)
    assert bias[3] < -40
