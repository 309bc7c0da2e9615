"""The correlated topic model against numerical integration, simulation, and itself."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse, stats
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp, softmax

import momus
from momus import Corpus
from momus.errors import FittingError, UsageError
from momus.text.tokens import get_tokenizer
from momus.text.vocabulary import VocabularyRules, build_vocabulary, count_words
from momus_critics.topics import Topics
from momus_critics.topics.bound import Batch, Prior, rest, word_part
from momus_critics.topics.fitting import Options, fit, infer, point_is_enough
from momus_critics.topics.laplace import climb, posterior_moments, refine

EXACT = Options(3, dtype=torch.float64)
TEXTS = {
    "eips": "sectioned/eips.jsonl.gz",
    "ercs": "sectioned/ercs.jsonl.gz",
    "rust": "sectioned/rust-rfcs.jsonl.gz",
    "novels": "litbank/novels.jsonl.gz",
}


def process(k, v, seed):
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(v, 0.05), size=k)
    a = rng.normal(size=(k - 1, k - 1))
    return phi, 0.5 * rng.normal(size=k - 1), 2 * a @ a.T / (k - 1) + 0.3 * np.eye(k - 1)


def simulate(phi, mu, sigma, n, length, seed):
    rng = np.random.default_rng(seed)
    eta = rng.multivariate_normal(mu, sigma, n)
    theta = softmax(np.c_[eta, np.zeros(n)], axis=1)
    return sparse.csr_array(np.stack([rng.multinomial(length, t @ phi) for t in theta]).astype(float)), eta


def centred(sigma):
    """Covariance of centred log-odds: the same whichever topic is the last."""
    k = len(sigma) + 1
    whole = np.zeros((k, k))
    whole[:-1, :-1] = sigma
    j = np.eye(k) - 1 / k
    return j @ whole @ j


@pytest.fixture(scope="module")
def recovered():
    phi, mu, sigma = process(10, 500, 0)
    counts, _ = simulate(phi, mu, sigma, 2000, 150, 1)
    options = Options(10, seed=0, point=True)
    model = fit(counts, options)
    return phi, mu, sigma, model, refine(counts, model, options)


@pytest.mark.slow
def test_few_simulated_topics_are_recovered():
    phi, mu, sigma = process(4, 200, 1)
    model = fit(simulate(phi, mu, sigma, 300, 150, 1)[0], Options(4, seed=0, point=True))
    match = np.corrcoef(np.concatenate([phi, model.phi]))[:4, 4:]
    rows, columns = linear_sum_assignment(-match)
    assert match[rows, columns].min() >= 0.95
    found = centred(model.covariance)[np.ix_(columns, columns)]
    assert np.corrcoef(centred(sigma).ravel(), found.ravel())[0, 1] >= 0.9
    assert (np.diff(model.curve) >= -1e-6 * np.abs(model.curve[1:])).all()


@pytest.mark.slow
def test_simulated_topics_are_recovered(recovered):
    phi, _, sigma, _, model = recovered
    assert model is not None
    match = np.corrcoef(np.concatenate([phi, model.phi]))[:10, 10:]
    rows, columns = linear_sum_assignment(-match)
    assert match[rows, columns].min() >= 0.95
    found = centred(model.covariance)[np.ix_(columns, columns)]
    assert np.corrcoef(centred(sigma).ravel(), found.ravel())[0, 1] >= 0.9


@pytest.mark.slow
def test_held_out_latent_nll_is_near_that_under_the_true_parameters(recovered):
    phi, mu, sigma, plain, model = recovered
    counts, _ = simulate(phi, mu, sigma, 400, 150, 2)

    def latent_nll(p, m, s, trace=1.0):
        lam, var, _ = infer(counts, p, m, s, EXACT)
        precision = np.linalg.inv(s)
        away = lam - m
        quadratic = np.einsum("nd,de,ne->n", away, precision, away) + trace * var @ np.diag(precision)
        return 0.5 * (len(m) * np.log(2 * np.pi) + np.linalg.slogdet(s)[1] + quadratic).mean()

    # topics may be permuted, the last included: between two choices of the last topic the Jacobian is 1
    truth = latent_nll(phi, mu, sigma)
    assert latent_nll(model.weights, model.mean, model.covariance) == pytest.approx(truth, rel=0.02)
    assert latent_nll(plain.weights, plain.mean, plain.covariance) < 0.95 * truth  # why Σ is found again
    truth = latent_nll(phi, mu, sigma, 0.0)
    assert latent_nll(model.weights, model.mean, model.covariance, 0.0) == pytest.approx(truth, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("point", [True, False])
def test_few_words_want_a_distribution_of_phi(recovered, point):
    """Many tokens a topic: points do as well. Few: they do not."""
    phi, mu, sigma = recovered[:3]
    if point:
        assert point_is_enough(simulate(phi, mu, sigma, 2000, 150, 1)[0], Options(10))
    else:
        few = simulate(*process(20, 2000, 0), 150, 80, 1)[0]
        assert not point_is_enough(few, Options(20))


@pytest.mark.slow
def test_both_estimates_of_phi_are_recovered(recovered):
    phi, mu, sigma = recovered[:3]
    model = fit(simulate(phi, mu, sigma, 2000, 150, 1)[0], Options(10, seed=0))
    match = np.corrcoef(np.concatenate([phi, model.phi]))[:10, 10:]
    assert match[linear_sum_assignment(-match)].min() >= 0.95
    assert (np.diff(model.curve) >= -1e-6 * np.abs(model.curve[1:])).all()


@pytest.mark.parametrize("point", [True, False])
def test_the_elbo_never_falls_to_the_last_digit(point):
    phi, mu, sigma = process(4, 60, 3)
    options = Options(4, steps=40, tolerance=0.0, point=point, dtype=torch.float64)
    model = fit(simulate(phi, mu, sigma, 80, 20, 4)[0], options)
    assert len(model.curve) == 40
    assert (np.diff(model.curve) >= -1e-7).all()


@pytest.mark.slow
def test_the_elbo_never_falls(recovered):
    curve = np.array(recovered[3].curve)
    assert len(curve) > 10
    assert (np.diff(curve) >= -1e-6 * np.abs(curve[1:])).all()


def integrated(phi, mu, sigma, words):
    """Exact log P(words), and mean, covariance and E log P(η) of the posterior, K = 3, on a grid."""
    axis = np.linspace(-14, 14, 561)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    prior = stats.multivariate_normal(mu, sigma).logpdf(grid)
    joint = prior + np.log(softmax(np.c_[grid, np.zeros(len(grid))], axis=1) @ phi) @ words
    weight = np.exp(joint - logsumexp(joint))
    mean = weight @ grid
    spread = (weight[:, None] * (grid - mean)).T @ (grid - mean)
    return logsumexp(joint) + 2 * np.log(axis[1] - axis[0]), mean, spread, weight @ prior


@pytest.mark.slow
def test_the_posteriors_against_numerical_integration():
    """K = 3, bounds as stated in the assertions: in nats, and in standard deviations of the exact posterior."""
    phi, mu, sigma = process(3, 40, 5)
    counts, _ = simulate(phi, mu, sigma, 40, 60, 6)
    lam, var, value = infer(counts, phi, mu, sigma, EXACT)
    prior = Prior.of(torch.from_numpy(mu), torch.from_numpy(sigma))
    batch, phi_t = Batch.of(counts, "cpu", torch.float64), torch.from_numpy(phi.T.copy())
    mode = climb(batch, phi_t, prior, torch.from_numpy(lam), 30)
    corrected, around = (x.numpy() for x in posterior_moments(batch, phi_t, prior, mode))
    exact = [integrated(phi, mu, sigma, words) for words in counts.toarray()]
    gap = np.array([e[0] for e in exact]) - value
    assert gap.min() > -1e-8
    assert gap.max() < 2.6
    assert gap.mean() < 1.6
    deviation = np.array([np.sqrt(np.diag(e[2])) for e in exact])
    means = np.array([e[1] for e in exact])
    for found, most, average in ((lam, 0.6, 0.2), (mode.numpy(), 0.7, 0.22), (corrected, 0.2, 0.04)):
        off = np.abs(found - means) / deviation
        assert off.max() < most
        assert off.mean() < average
    volumes = np.array([np.linalg.slogdet(e[2])[1] for e in exact])
    assert abs((np.linalg.slogdet(around)[1] - volumes).mean()) < 0.4
    assert (np.log(var).sum(axis=1) - volumes).mean() < -2.5  # q without covariance is far too narrow
    p, away = np.linalg.inv(sigma), lam - mu
    quadratic = np.einsum("nd,de,ne->n", away, p, away) + var @ np.diag(p)
    log_prior = -0.5 * (2 * np.log(2 * np.pi) + np.linalg.slogdet(sigma)[1] + quadratic)
    off = log_prior - np.array([e[3] for e in exact])
    assert np.abs(off).max() < 0.6
    assert abs(off.mean()) < 0.25


def test_inference_is_at_a_maximum_and_ignores_company():
    phi, mu, sigma = process(3, 40, 7)
    counts, _ = simulate(phi, mu, sigma, 20, 30, 8)
    lam, var, value = infer(counts, phi, mu, sigma, EXACT)
    batch = Batch.of(counts, "cpu", torch.float64)
    prior = Prior.of(torch.from_numpy(mu), torch.from_numpy(sigma))
    x = [torch.from_numpy(a.copy()).requires_grad_() for a in (lam, var)]
    total = word_part(batch, torch.from_numpy(phi.T.copy())[batch.words], x[0])[0] + rest(batch, prior, *x)
    assert total.detach().numpy() == pytest.approx(value)
    total.sum().backward()
    assert max(float(a.grad.abs().max()) for a in x) < 0.02
    alone = np.concatenate([infer(counts[[i]], phi, mu, sigma, EXACT)[0] for i in range(20)])
    assert alone == pytest.approx(lam, abs=1e-9)


def test_a_document_without_words_keeps_the_prior():
    phi, mu, sigma = process(3, 40, 9)
    lam, var, _ = infer(sparse.csr_array((1, 40)), phi, mu, sigma, EXACT)
    assert lam[0] == pytest.approx(mu)
    assert var[0] == pytest.approx(1 / np.diag(np.linalg.inv(sigma)))


def corpus(n, seed, company=0.9):
    """Documents of six topics of 26 words; log-odds of topics 1 and 2, 3 and 4 are correlated by ``company``."""
    rng = np.random.default_rng(seed)
    stems = ("star", "moon", "cook", "dish", "ship", "port")
    words = np.array([[f"{stem}{chr(97 + i)}" for i in range(26)] for stem in stems])
    sigma = 2.5 * np.eye(5)
    sigma[0, 1] = sigma[1, 0] = sigma[2, 3] = sigma[3, 2] = 2.5 * company
    shares = softmax(np.c_[rng.multivariate_normal(np.zeros(5), sigma, n), np.zeros(n)], axis=1)
    topics = [rng.choice(6, 80, p=share) for share in shares]
    return Corpus.from_texts([" ".join(words[t, rng.integers(26, size=80)]) for t in topics], name=f"c{seed}")


@pytest.mark.slow
def test_broken_company_is_found():
    critic = Topics(n_topics=6, seed=1).fit(corpus(300, 0))
    real, other, mixed = (critic.score(c) for c in (corpus(150, 1), corpus(150, 2), corpus(150, 3, company=-0.9)))
    assert stats.ttest_ind(real.nll, other.nll).pvalue > 0.01
    assert stats.ttest_ind(mixed.nll, real.nll).statistic > 5
    shown = critic.evidence(real.summary, mixed.summary)
    assert [e.name for e in shown] == [
        "topic-pairs",
        "topic-correlations-real",
        "topic-correlations-generated",
        "topic-shares",
    ]
    assert shown[0].rows[0][4] != 0
    assert critic.explain(corpus(1, 4)).steps


@pytest.mark.slow
def test_a_comparison_tells_how_much_the_start_of_the_fit_matters():
    fit, real, alike, other = corpus(60, 1), corpus(60, 2), corpus(60, 3), corpus(60, 4, company=-0.9)
    texts = {"alike": alike, "g": other}
    critic = Topics(n_topics=3, steps=20)
    found, same = (
        momus.compare(real, {n: texts[n] for n in names}, fit=fit, critics=[critic], permutations=99)
        for names in (["g"], ["alike"])
    )
    assert all(v.refit_spread is None for v in same.verdicts if v.p is None or v.p > 0.05), "nothing to doubt"
    differences = []
    for seed in range(3):
        critic = Topics(n_topics=3, steps=20, seed=seed).fit(fit)
        differences.append([np.mean(critic.score(side).rows["distance"][:, 0]) for side in (other, real)])
    one = next(v for v in found.verdicts if v.statistic == "distance")
    assert one.refit_spread == pytest.approx(np.std([a - b for a, b in differences], ddof=1), rel=1e-6)


@pytest.fixture(scope="module")
def fitted():
    return Topics(n_topics=4).fit(corpus(60, 0))


def test_mean_posterior_drops_the_trace(fitted):
    full, only_mean = fitted, copy.copy(fitted)
    only_mean.expectation = "mean"
    z = full.project(corpus(5, 1))
    gap = full.log_prior(z).values - only_mean.log_prior(z).values
    traces = z.variance @ np.diag(np.linalg.inv(full.covariance_)) + z.known.variance / full.known_.variance_
    assert gap == pytest.approx(-0.5 * traces)


def test_density_is_that_of_the_normal_distribution(fitted):
    critic, z = fitted, fitted.project(corpus(5, 1))
    known = replace(z.known, variance=np.zeros_like(z.known.variance))
    certain = replace(z, variance=np.zeros_like(z.variance), known=known)
    expected = stats.multivariate_normal(critic.mean_, critic.covariance_).logpdf(z.mean)
    expected += stats.norm(critic.known_.mean_, np.sqrt(critic.known_.variance_)).logpdf(z.known.mean)
    assert critic.log_prior(certain).values == pytest.approx(expected)


def test_little_vocabulary_and_wrong_names_are_errors():
    with pytest.raises(FittingError, match="words of"):
        Topics().fit(Corpus.from_texts(["same words here"] * 20))
    with pytest.raises(UsageError, match="expectation is 'sharp'"):
        Topics(expectation="sharp").fit(corpus(20, 0))


def test_vocabulary_rules():
    table = Corpus.from_texts(["the cat xmathq 12 a", "the cat dog dog", "the dog mouse mouse"]).tokens(
        get_tokenizer("words")
    )
    rules = VocabularyRules(least_count=2, most_documents=0.7)
    assert build_vocabulary(table, rules) == ["dog", "cat", "mouse"]
    assert build_vocabulary(table, replace(rules, most_documents=1.0, dropped=("dog",))) == ["the", "cat", "mouse"]
    assert build_vocabulary(table, replace(rules, most_words=1)) == ["dog"]
    assert count_words(table, ["dog", "cat"]).toarray().tolist() == [[0, 1], [2, 1], [1, 0]]


def test_text_about_other_things_is_less_usual():
    """The negative control of Deng et al. (2022, figure 5): what hardly has a known word lies near the mean of η."""
    short_fit = {"n_topics": 4, "steps": 30}
    critic = Topics(**short_fit).fit(corpus(120, 0))
    real = corpus(60, 1)
    # two of five words are known, the others of no text; and as many known words alone
    other = Corpus.from_texts(
        [" ".join(w if i % 5 < 2 else f"odd{w}" for i, w in enumerate(d.text.split())) for d in real]
    )
    few = Corpus.from_texts([" ".join(w for i, w in enumerate(d.text.split()) if i % 5 < 2) for d in real])
    known, foreign, short = (critic.score(text) for text in (real, other, few))
    away = [s.rows["distance"][:, 0] for s in (known, foreign, short)]
    assert away[0].mean() > away[2].mean()  # the fewer words, the nearer to the mean
    assert away[1].mean() > 2 * away[0].mean()
    assert foreign.nll.mean() > known.nll.mean() + 3
    found = momus.compare(real, {"odd": other}, fit=corpus(120, 0), critics=[Topics(**short_fit)], permutations=199)
    tested = {v.statistic: v for v in found.verdicts}
    shares = tested["known_words"].real_value, tested["known_words"].generated_value
    assert shares == pytest.approx((1.0, 0.4))
    assert max(tested["known_words"].p, tested["distance"].p) < 0.05 < tested["distance"].difference


@pytest.mark.slow
def test_the_negative_control_on_proposals_and_novels(data):
    """K = 20 topics of proposals: most usual are others of these, then those of another community, then novels."""
    read = {name: [d.text for d in momus.read_corpus(data / path)] for name, path in TEXTS.items()}
    proposals = [text for pair in zip(read["eips"], read["ercs"], strict=False) for text in pair]
    cut = {"fit": proposals[150:], "real": proposals[:150], "rust": read["rust"][:150]}
    texts = {name: [" ".join(text.split()[:250]) for text in side] for name, side in cut.items()}
    texts["novels"] = [" ".join(text.split()[5000:5250]) for text in read["novels"]]
    critic = Topics(n_topics=20, word_posterior="point").fit(Corpus.from_texts(texts.pop("fit")))
    nats = {name: np.nanmean(critic.score(Corpus.from_texts(side)).nll) for name, side in texts.items()}
    assert nats["real"] + 1 < nats["rust"] < nats["novels"] - 5
