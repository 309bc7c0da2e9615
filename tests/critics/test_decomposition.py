"""The parts of log P(x) against enumeration of all z, and against numerical integrals where z is continuous."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import integrate, sparse, stats
from scipy.special import logsumexp

from momus import Corpus
from momus_critics.chains import posterior as chains
from momus_critics.sections import Sections
from momus_critics.topics.bound import expected_log_likelihood
from momus_critics.topics.fitting import Options, infer

K = 3


def chain_of(rng):
    """Transitions with start and end at index K, and a prior of the states."""
    transitions = rng.dirichlet(np.ones(K + 1), size=K + 1)
    transitions[K, K] = 0.0
    return transitions / transitions.sum(axis=1, keepdims=True), rng.dirichlet(np.full(K, 3.0))


def enumerated(marginals, prior, transitions, q=None):
    """The parts of log P(x) of one document, summed over all chains; q(z) defaults to the posterior of the chain."""
    paths = list(product(range(K), repeat=len(marginals)))
    log_prior = np.array([sum(np.log(transitions[a, b]) for a, b in pairwise((K, *z, K))) for z in paths])
    log_likelihood = np.array([sum(np.log(marginals[m, k] / prior[k]) for m, k in enumerate(z)) for z in paths])
    log_evidence = logsumexp(log_prior + log_likelihood)
    if q is None:
        q = np.exp(log_prior + log_likelihood - log_evidence)
    else:
        q = np.array([np.prod([q[m, k] for m, k in enumerate(z)]) for z in paths])
    entropy = -np.sum(q[q > 0] * np.log(q[q > 0]))
    return np.sum(q * log_prior), np.sum(q * log_likelihood), entropy, log_evidence


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", ["chain", "exact", "map"])
def test_parts_of_chains_are_those_of_all_paths(seed, how):
    rng = np.random.default_rng(seed)
    transitions, prior = chain_of(rng)
    lengths = [1, 4, 2]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    marginals = rng.dirichlet(np.full(K, 0.7), size=offsets[-1])
    states = marginals.argmax(axis=1)
    if how == "chain":
        latents = chains.chained(marginals, offsets, prior, transitions)
    else:
        soft = marginals if how == "exact" else None
        latents = chains.factorised(states, offsets, soft, prior, transitions, marginals if how == "map" else None)
    parts = chains.decompose(latents, transitions)
    q = {"chain": None, "exact": marginals, "map": np.eye(K)[states]}[how]
    expected = np.array(
        [
            enumerated(marginals[a:b], prior, transitions, None if q is None else q[a:b])
            for a, b in pairwise(offsets.tolist())
        ]
    )
    assert parts.columns == pytest.approx(expected, abs=1e-9)
    if how == "chain":
        assert parts.columns[:, :3].sum(axis=1) == pytest.approx(expected[:, 3], abs=1e-9)
    else:
        assert (parts.gap > 1e-4).all()
    assert (parts.entropy == 0).all() == (how == "map")


def test_certain_states_have_no_entropy_and_no_gap():
    transitions, prior = chain_of(np.random.default_rng(9))
    latents = chains.factorised(np.array([0, 2, 1]), np.array([0, 3]), None, prior, transitions)
    parts = chains.decompose(latents, transitions)
    assert parts.entropy.tolist() == [0.0]
    assert parts.gap == pytest.approx(0.0, abs=1e-9)
    assert parts.log_likelihood == pytest.approx(-np.log(prior).sum())


def documents(rng, n):
    """Documents of three titled sections in a fixed order, each with words of its own and words of another type."""
    words = {t: [f"{t}{i}" for i in range(30)] for t in ("aim", "way", "end")}
    out = []
    for _ in range(n):
        sections = []
        for title in ("aim", "way", "end"):
            other = str(rng.choice(["aim", "way", "end"]))
            text = " ".join([*rng.choice(words[title], 1), *rng.choice(words[other], 3)])
            sections.append((title, text))
        out.append(sections)
    return Corpus.from_sections(out)


def test_scores_hold_the_parts_and_the_three_readings_share_the_evidence():
    fit, corpus = documents(np.random.default_rng(0), 40), documents(np.random.default_rng(1), 20)
    found = {}
    for how in ("chain", "exact", "map"):
        scores = Sections(expectation=how, titles="never").fit(fit).score(corpus)
        assert scores.parts[:, 0] == pytest.approx(-scores.nll)
        found[how] = scores.parts
        frame = scores.frame()
        assert frame["log_evidence"].tolist() == scores.parts[:, 3].tolist()
        assert frame["entropy"].tolist() == scores.parts[:, 2].tolist()
        assert scores.take(np.array([3])).parts.tolist() == scores.parts[3:4].tolist()
    gaps = {how: parts[:, 3] - parts[:, :3].sum(axis=1) for how, parts in found.items()}
    for how in ("exact", "map"):
        assert found[how][:, 3] == pytest.approx(found["chain"][:, 3], abs=1e-9)
        assert gaps[how].min() > -1e-9
    assert np.abs(gaps["chain"]).max() < 1e-9
    assert gaps["map"].mean() > 0.01


def test_parts_of_topics_bound_the_integral_over_log_odds():
    phi = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    mean, covariance = np.array([0.3]), np.array([[1.5]])
    counts = sparse.csr_array(np.array([[3.0, 1, 0], [0, 2, 5], [1, 0, 0]]))
    lam, var, best = infer(counts, phi, mean, covariance, Options(topics=2))
    likelihood = expected_log_likelihood(counts, phi, lam, var)
    prior = -0.5 * (np.log(2 * np.pi * 1.5) + ((lam - mean) ** 2 + var)[:, 0] / 1.5)
    entropy = 0.5 * np.log(2 * np.pi * np.e * var[:, 0])
    assert prior + likelihood + entropy == pytest.approx(
        np.asarray(best), abs=1e-4
    )  # infer computes in single precision
    for i, row in enumerate(counts.toarray()):

        def log_p(eta, row=row):
            shares = np.array([1 / (1 + np.exp(-eta)), 1 / (1 + np.exp(eta))])
            return float(row @ np.log(shares @ phi))

        q = stats.norm(lam[i, 0], np.sqrt(var[i, 0]))
        exact = integrate.quad(lambda x, f=log_p, q=q: q.pdf(x) * f(x), -12, 12)[0]
        assert likelihood[i] <= exact + 1e-6
        whole = integrate.quad(lambda x, f=log_p: np.exp(f(x)) * stats.norm.pdf(x, mean[0], np.sqrt(1.5)), -12, 12)[0]
        assert prior[i] + likelihood[i] + entropy[i] <= np.log(whole) + 1e-6
        assert prior[i] + likelihood[i] + entropy[i] > np.log(whole) - 1.0
