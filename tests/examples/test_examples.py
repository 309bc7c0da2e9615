"""The examples run, at small settings, and write what they say."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal

from momus import Corpus

FOLDER = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(FOLDER))


def run(name, out, *more):
    return importlib.import_module(name).main(["--out", str(out), *map(str, more)])


@pytest.mark.slow
def test_compare_decoders(tmp_path):
    found = run("compare_decoders", tmp_path, "--most", 40, "--permutations", 99)
    assert {v.critic for v in found.verdicts} == set(importlib.import_module("compare_decoders").CRITICS)
    assert (tmp_path / "effects.svg").read_text().lstrip().startswith("<?xml")
    assert (tmp_path / "run" / "report.html").exists()


def test_outliers(tmp_path, capsys):
    frame = run("outliers", tmp_path, "--most", 100, "--top", 2)
    assert set(frame["corpus"]) == {"real", "generated"}
    ranked = pd.read_csv(tmp_path / "outliers.csv")["per_step"].dropna()
    assert ranked.is_monotonic_decreasing
    assert "95 % interval" in capsys.readouterr().out
    assert (tmp_path / "explained.txt").read_text().count("nats by the best repair") == 4


@pytest.mark.slow
def test_own_critic(tmp_path, capsys):
    found = run("own_critic", tmp_path, "--permutations", 199)
    printed = capsys.readouterr().out
    assert ", 0 failed" in printed
    (verdict,) = [v for v in found.verdicts if v.headline]
    assert verdict.p < 0.05
    assert (tmp_path / "turns.svg").exists()


def test_a_critic_of_ones_own_counts_turns():
    turns = importlib.import_module("own_critic").Turns()
    z = turns.project(Corpus.from_texts(['He came.\n\n"Yes," he said.\n“No.”']))
    assert z.states.tolist() == [0, 1, 1]
    assert turns.pairs(z)[0].tolist() == [[0, 1, 0], [0, 1, 1], [1, 0, 0]]


@pytest.mark.slow
def test_pyro_topics(tmp_path):
    found = run("pyro_topics", tmp_path, "--steps", 300, "--topics", 5, "--permutations", 99)
    assert {v.critic for v in found.verdicts} == {"pyro-topics", "topics"}
    from pyro_topics import PyroTopics

    corpus = importlib.import_module("shared").corpus("real.jsonl.gz", "real")
    again = PyroTopics.load(tmp_path / "pyro-topics", trust=True).score(corpus)
    assert again.nll == pytest.approx(found.scores["pyro-topics", "real"].nll, nan_ok=True)


def simulated(seed):
    """Two texts of a correlated topic model with 4 topics, and Latent NLL of the second's own η."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(80, 0.05), size=4)
    root = rng.normal(size=(3, 3))
    mu, sigma = 0.5 * rng.normal(size=3), 2 * root @ root.T / 3 + 0.3 * np.eye(3)
    words = np.array([chr(97 + i // 26) + chr(97 + i % 26) for i in range(80)])
    made = []
    for part, n in ((1, 1000), (2, 300)):
        own = np.random.default_rng(seed + part)
        eta = own.multivariate_normal(mu, sigma, n)
        shares = softmax(np.c_[eta, np.zeros(n)], axis=1)
        texts = [" ".join(np.repeat(words, own.multinomial(150, t @ phi))) for t in shares]
        made.append(Corpus.from_texts(texts, name=f"part-{part}"))
    return *made, -multivariate_normal(mu, sigma).logpdf(eta).mean()


def agree(seed, apart, from_truth):
    from momus_critics.topics import Topics

    program = importlib.import_module("pyro_topics")
    fit, held, truth = simulated(seed)
    options = {"min_count": 1, "max_share": 1.0}
    topics = Topics(n_topics=4, language="", **options).fit(fit)
    z = topics.project(held)
    # of η alone: the program has no coordinate of known words
    nll = topics.known_.log_prior(z.known) - topics.log_prior(z).values
    fitted = program.critic(4, options).fit(fit)
    other = fitted.score(held)
    assert other.latent_nll == pytest.approx(nll.mean(), rel=apart)
    assert nll.mean() == pytest.approx(truth, rel=from_truth)
    assert other.latent_nll == pytest.approx(truth, rel=from_truth)
    assert np.corrcoef(nll, other.nll)[0, 1] > 0.95


@pytest.mark.slow
def test_a_pyro_program_and_the_critic_of_topics_agree():
    """Measured: 4.82 and 5.03 nats, 4.90 under the true parameters; correlation 0.975."""
    agree(0, apart=0.06, from_truth=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [20, 30])
def test_they_agree_on_other_seeds(seed):
    """Measured: apart by 6.7 and 5.3 %, from the truth by at most 3.4 %."""
    agree(seed, apart=0.08, from_truth=0.05)


@pytest.mark.parametrize("name", ["compare_decoders", "outliers", "own_critic", "pyro_topics"])
def test_each_says_what_it_does(name):
    assert importlib.import_module(name).__doc__.split("\n")[2] == f"    python examples/{name}.py --out folder"
    assert f"`{name}.py`" in (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_error_is_no_traceback(tmp_path):
    command = [sys.executable, str(FOLDER / "outliers.py"), "--out", str(tmp_path), "--most", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "→" in done.stderr
