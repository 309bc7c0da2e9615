"""Pyro programs as critics, against posteriors and priors that are known exactly."""

import sys
from pathlib import Path

import numpy as np
import pyro
import pyro.distributions as dist
import pytest
import torch
from scipy import stats

import momus
from momus import Corpus
from momus.conformance import check_critic
from momus.errors import StoreError, UsageError
from momus_adapters.pyro import PyroCritic
from momus_adapters.pyro.keyed import Noise, Unkeyed, draw

sys.path.insert(0, str(Path(__file__).parent))  # programs are saved by name, and found again by it
import pyro_programs as programs

NOISE = programs.NOISE
MU, SD = 1.3, 0.8


def named(name):
    return f"pyro_programs:{name}"


def of_numbers(rows):
    return Corpus.from_texts([" ".join(f"{v:.12g}" for v in np.atleast_1d(row)) for row in rows])


def made(prefix, **options):
    given = {"model": named(f"{prefix}_model"), "guide": named(f"{prefix}_guide"), "features": named("numbers")}
    return PyroCritic(**{**given, "steps": 1, **options})


def fixed(**options):
    """The conjugate model with its parameters given."""
    own = {"fixed": [MU, SD]}
    return made("normal", model_options=own, guide_options=own, **options)


def expected_normal(x):
    """Exact E log N(z; μ, σ²) under the posterior of the conjugate model, and its variance under it."""
    v = 1 / (1 / SD**2 + 1 / NOISE**2)
    m = v * (MU / SD**2 + x / NOISE**2)
    spread = 2 * v**2 / (4 * SD**4) + 4 * v * (m - MU) ** 2 / (4 * SD**4)
    return stats.norm(MU, SD).logpdf(m) - v / (2 * SD**2), spread


@pytest.fixture(scope="module")
def conjugate():
    rng = np.random.default_rng(0)
    return rng.normal(MU, np.hypot(SD, NOISE), 400)


@pytest.mark.slow
def test_a_conjugate_model_is_learned_and_scored_exactly(conjugate):
    critic = made("normal", steps=2500, rate=0.05, decay=0.01, draws=400).fit(of_numbers(conjugate))
    found = critic.parameters_.arrays()
    assert found["mu"] == pytest.approx(conjugate.mean(), abs=0.05)  # the maximum of the marginal likelihood
    assert found["sd"] == pytest.approx(np.sqrt(conjugate.var() - NOISE**2), abs=0.06)
    assert critic.curve_[:100].mean() < critic.curve_[-500:].mean()
    exact = fixed(draws=400).fit(of_numbers(conjugate)).score(of_numbers(conjugate))
    truth, spread = expected_normal(conjugate)
    off = (-exact.nll - truth) / np.sqrt(spread / 400)
    assert abs(off.mean()) < 0.2
    assert off.std() == pytest.approx(1, abs=0.12)  # Monte-Carlo errors as large as theory says, document by document
    assert exact.errors == pytest.approx(np.sqrt(spread / 400), rel=0.35)


@pytest.mark.slow
def test_an_enumerated_mixture_is_exact():
    rng = np.random.default_rng(1)
    x = np.where(rng.random(600) < 0.3, -2.0, 2.0) + rng.normal(size=600)
    critic = made("mixture", steps=500, rate=0.05).fit(of_numbers(x))
    found = critic.parameters_.arrays()
    order = np.argsort(found["centre"])
    assert found["share"][order] == pytest.approx([0.3, 0.7], abs=0.06)
    assert found["centre"][order] == pytest.approx([-2, 2], abs=0.2)
    joint = np.log(found["share"]) + stats.norm.logpdf(x[:, None], found["centre"])
    p = np.exp(joint - joint.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    scores = critic.score(of_numbers(x))
    assert -scores.nll == pytest.approx(p @ np.log(found["share"]), abs=1e-9)
    assert scores.errors is None
    drawn = made("mixture", guide_options={"enumerate_": False}, draws=500)
    drawn = drawn.fit(of_numbers(x))
    share, centre = (drawn.parameters_.arrays()[k] for k in ("share", "centre"))
    logits = np.log(share) + stats.norm.logpdf(x[:50, None], centre)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    again = drawn.score(of_numbers(x[:50]))
    assert abs(-again.nll - p @ np.log(share)).max() < 0.15


def test_vectors_in_a_nested_plate():
    x = np.random.default_rng(2).normal(size=(60, 4)) * 2
    scores = made("nested", draws=1500).fit(of_numbers(x)).score(of_numbers(x))
    prior = np.array([1.0, 4.0, 1.0, 4.0])
    v = 1 / (1 / prior + 1)
    truth = (stats.norm(0, np.sqrt(prior)).logpdf(v * x) - v / (2 * prior)).sum(axis=1)
    assert abs(-scores.nll - truth).max() < 0.25
    assert abs((-scores.nll - truth).mean()) < 0.02


def test_discrete_sites_that_hang_on_one_another_are_summed_over():
    x = np.random.default_rng(3).normal(1, 1, size=(20, 2))
    scores = made("chain").fit(of_numbers(x)).score(of_numbers(x))
    table = np.log([[0.9, 0.1], [0.2, 0.8]])
    truth = []
    for row in x:
        p = 1 / (1 + np.exp(-row.sum()))
        total = 0.0
        for k, q in enumerate([1 - p, p]):
            up = 1 / (1 + np.exp(-(row + k)))
            inner = sum((1 - u) * table[k, 0] + u * table[k, 1] for u in up)
            total += q * (np.log([0.3, 0.7][k]) + inner)
        truth.append(total)
    assert -scores.nll == pytest.approx(truth, abs=1e-9)


@pytest.mark.slow
def test_a_family_without_a_rule_is_drawn_document_by_document():
    x = np.random.default_rng(4).normal(size=6)
    critic = made("von_mises", draws=100).fit(of_numbers(x))
    whole = critic.score(of_numbers(x))
    assert critic.score(of_numbers(x), batch_size=4).nll == pytest.approx(whole.nll, abs=1e-12)
    grid = np.linspace(-np.pi, np.pi, 20_001)
    truth = [
        np.trapezoid(stats.vonmises.pdf(grid, 2, loc=np.tanh(v)) * stats.vonmises.logpdf(grid, 2), grid) for v in x
    ]
    assert abs(-whole.nll - truth).max() < 0.6
    assert abs((-whole.nll - truth).mean()) < 0.15


@pytest.mark.slow
@pytest.mark.parametrize(
    "critic",
    [
        PyroCritic(
            model=named("normal_model"), guide=named("normal_guide"), features=named("log_characters"), steps=80
        ),
        PyroCritic(model=named("BagModel"), guide=named("BagGuide"), steps=60, draws=4, seed=2),
    ],
    ids=["conjugate", "networks"],
)
def test_conformance(critic):
    report = check_critic(critic)
    assert report.ok, str(report)


@pytest.mark.slow
def test_two_critics_do_not_meet(conjugate):
    low, high = (of_numbers(conjugate[:50] + c) for c in (-5, 5))
    options = {"steps": 400, "rate": 0.1}
    first, second = made("normal", **options).fit(low), made("normal", **options).fit(high)
    alone = made("normal", **options).fit(low)
    assert len(pyro.get_param_store()) == 0
    assert torch.get_default_dtype() == torch.float32
    assert first.parameters_.arrays()["mu"] < 0 < second.parameters_.arrays()["mu"]
    assert alone.score(low).nll == pytest.approx(first.score(low).nll)


def test_saving_wants_names(tmp_path, conjugate):
    texts = of_numbers(conjugate[:20])
    critic = fixed().fit(texts)
    scores = critic.score(texts)
    live = PyroCritic(**{**critic.get_params(), "model": programs.normal_model, "guide": programs.normal_guide}).fit(
        texts
    )
    live.save(tmp_path / "named")
    again = PyroCritic.load(tmp_path / "named", trust=True)
    assert again.model == "pyro_programs:normal_model"
    assert again.score(texts).nll == pytest.approx(scores.nll)
    closed = PyroCritic(**{**critic.get_params(), "guide": lambda x, size: programs.normal_guide(x, size, [MU, SD])})
    closed.guide_options = None
    closed.fit(texts)
    with pytest.raises(StoreError, match=r"guide .*<lambda>.* cannot be saved"):
        closed.save(tmp_path / "closed")


def test_progress_is_reported_and_the_seed_counts(conjugate):
    from momus.progress import Silent, Timed, reporting

    timed = Timed(Silent())
    with reporting(timed):
        first = fixed(draws=4, seed=0).fit(of_numbers(conjugate[:30]))
    assert "SVI" in timed.seconds
    a, b = (
        c.score(of_numbers(conjugate[:30])) for c in (first, fixed(draws=4, seed=1).fit(of_numbers(conjugate[:30])))
    )
    assert (a.nll != b.nll).all()
    assert abs((a.nll - b.nll) / np.hypot(a.errors, b.errors)).mean() < 4


def test_a_comparison_takes_it(conjugate):
    rng = np.random.default_rng(5)
    real, other = of_numbers(conjugate), of_numbers(rng.normal(MU + 2, 1, 100))
    found = momus.compare(real, {"shifted": other}, critics=[fixed(draws=8)], seed=1, permutations=199)
    (verdict,) = [v for v in found.verdicts if v.headline]
    assert verdict.statistic == "latent_nll"
    assert verdict.difference > 0.5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"guide": "nowhere:guide"}, "guide 'nowhere:guide' cannot be imported"),
        ({"guide": "plain"}, "guide is 'plain'"),
        ({"guide": "os:system"}, "Python's own library"),
        ({"guide": named("empty_guide")}, "no site 'z'"),
        ({"guide": named("guide_per_document"), "steps": 30, "batch": 7}, "compute the posterior from x"),
        ({"guide": named("shared_guide")}, "registered by a function"),
        ({"draws": 0}, "draws is 0"),
        ({"model": named("global_model"), "guide": named("global_guide")}, "'mu' is outside of the plate"),
        ({"model": named("BagModel"), "model_options": {"wings": 2}}, "cannot be constructed"),
    ],
)
def test_errors_say_what_to_do(options, said, conjugate):
    with pytest.raises(UsageError, match=said) as caught:
        made("normal", **options).fit(of_numbers(conjugate[:20]))
    assert caught.value.hint


FAMILIES = {
    "normal": dist.Normal(1.0, 2.0),
    "log-normal": dist.LogNormal(0.0, 0.5),
    "gamma": dist.Gamma(2.0, 3.0),
    "beta": dist.Beta(2.0, 3.0),
    "exponential": dist.Exponential(2.0),
    "laplace": dist.Laplace(1.0, 0.5),
    "half-normal": dist.HalfNormal(1.5),
    "bernoulli": dist.Bernoulli(0.3),
    "categorical": dist.Categorical(torch.tensor([0.2, 0.5, 0.3])),
    "inverse-gamma": dist.InverseGamma(5.0, 2.0),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_keyed_draws_have_their_distribution(family):
    fn = FAMILIES[family].expand([20_000])
    found = draw(fn, Noise(torch.arange(20_000), 0, (7,))).double()
    torch.manual_seed(0)
    other = fn.sample().double()
    if family in ("bernoulli", "categorical"):
        counts = [np.bincount(v.long().numpy(), minlength=3) for v in (found, other)]
        assert abs(counts[0] - counts[1]).max() / 20_000 < 0.02
    else:
        assert stats.ks_2samp(found, other).pvalue > 1e-3


@pytest.mark.parametrize(
    "fn",
    [
        dist.MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 0.8], [0.8, 1.0]])),
        dist.LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [0.5]]), torch.ones(2)),
        dist.Dirichlet(torch.tensor([1.0, 2.0, 3.0])),
    ],
    ids=["normal", "low rank", "dirichlet"],
)
def test_keyed_vectors_have_mean_and_covariance(fn):
    found = draw(fn.expand([20_000]), Noise(torch.arange(20_000), 0, (7,))).double().numpy()
    other = fn.expand([20_000]).sample().double().numpy()
    assert found.mean(axis=0) == pytest.approx(fn.mean.numpy(), abs=0.04)
    assert np.cov(found.T) == pytest.approx(np.cov(other.T), abs=0.06)


def test_what_has_no_rule_is_refused():
    with pytest.raises(Unkeyed, match="VonMises"):
        draw(dist.VonMises(0.0, 1.0).expand([3]), Noise(torch.arange(3), 0, (1,)))
