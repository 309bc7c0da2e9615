"""Compare the correlated topic model as a Pyro program with the ``topics`` critic of Momus.

    python examples/pyro_topics.py --out folder

Fits both on documentation of Python packages, and compares real with generated documents, all of which ship with Momus.
Writes ``latent-nll.svg`` (Latent NLL of each document under both critics), ``verdicts.csv``, ``topics.csv`` (the most
probable words of each topic of the Pyro model) and the saved Pyro critic; prints the verdicts and the agreement of the
two critics. Takes less than a minute on one core.

The model is that of Blei & Lafferty (2007): η ~ N(μ, Σ), words ~ Categorical(softmax([η, 0]) φ), with the topics of
words summed out given η. The guide is a normal distribution with a full covariance that a network computes from the
word counts.

Measured agreement on simulated documents (4 topics, 80 words, 1,000 documents of 150 words; 4 seeds): Latent NLL of 300
held-out documents is 4 to 7 % higher in Pyro on three seeds, and 22 % on the seed with the smallest Σ. Latent NLL of
the true η under the true parameters lies between the two: ``topics`` is 1.5 to 7 % below it, Pyro 3 to 13 % above it.

On the documentation, topics are all or none in a document, and Σ is not bounded. The means over 340 documents differ
by 2 % (19.0 and 19.4 nats with 8 topics), but the two critics learn different topics and rank documents differently
(correlation 0.09, n = 340): a Latent NLL of topics depends on the topics that were learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from pyro.nn import PyroModule
from shared import GENERATED, REAL, corpus, figure, options, run
from sklearn.decomposition import NMF

import momus
from momus.critic.registry import critic_class
from momus_adapters.pyro import PyroCritic, documents


class Topics(PyroModule):
    """K topics over V words; rows are counts (B, V)."""

    def __init__(self, rows: np.ndarray, topics: int = 10, smoothing: float = 0.02) -> None:
        super().__init__()
        k = topics - 1
        self.smoothing = smoothing
        self.logits = torch.nn.Parameter(start(rows, topics))
        self.mu = torch.nn.Parameter(torch.zeros(k))
        self.below = torch.nn.Parameter(torch.zeros(k, k))
        self.log_scale = torch.nn.Parameter(torch.zeros(k))

    def forward(self, x: torch.Tensor, size: int) -> None:
        """Sample the log-odds of topics, and observe the words."""
        log_phi = self.logits.log_softmax(-1)
        pyro.factor("phi", self.smoothing * log_phi.sum())  # a Dirichlet prior: every word keeps some mass
        root = self.below.tril(-1) + torch.diag(self.log_scale.exp())
        with documents(x, size):
            eta = pyro.sample("eta", dist.MultivariateNormal(self.mu, scale_tril=root))
            shares = torch.cat([eta, torch.zeros_like(eta[..., :1])], dim=-1).softmax(-1)
            pyro.factor("words", (x * (shares @ log_phi.exp()).log()).sum(-1))


def start(rows: np.ndarray, topics: int) -> torch.Tensor:
    """Initial logits of φ from a factorisation of word shares: SVI does not escape a start with merged topics."""
    if not len(rows):
        return torch.zeros(topics, rows.shape[1])
    shares = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    phi = NMF(topics, init="nndsvda", max_iter=300, tol=1e-3).fit(shares).components_
    phi = phi / np.maximum(phi.sum(axis=1, keepdims=True), 1e-9)
    return torch.as_tensor(np.log(0.99 * phi + 0.01 / phi.shape[1]))


class Guide(PyroModule):
    """A normal posterior with a full covariance, computed from the word counts."""

    def __init__(self, shape: tuple[int, ...], topics: int = 10, hidden: int = 64) -> None:
        super().__init__()
        self.k = topics - 1
        self.inner = PyroModule[torch.nn.Linear](shape[0], hidden)
        self.outer = PyroModule[torch.nn.Linear](hidden, 2 * self.k + self.k * self.k)
        with torch.no_grad():
            self.outer.weight.mul_(0.1)

    def forward(self, x: torch.Tensor, size: int) -> None:
        """Sample the log-odds of topics."""
        unit = torch.log1p(x) / torch.log1p(x).norm(dim=-1, keepdim=True).clamp_min(1e-9)
        hidden = torch.nn.functional.softplus(self.inner(8 * unit))
        out = self.outer(hidden)
        mean, log_scale, below = out.split([self.k, self.k, self.k * self.k], dim=-1)
        scale = torch.nn.functional.softplus(log_scale) + 0.01
        root = below.reshape(*below.shape[:-1], self.k, self.k).tril(-1) + torch.diag_embed(scale)
        with documents(x, size):
            pyro.sample("eta", dist.MultivariateNormal(mean, scale_tril=root))


class PyroTopics(PyroCritic):
    """The correlated topic model as a Pyro program."""

    name = "pyro-topics"
    axis = "topic co-occurrence, in Pyro"
    question = "Do topics co-occur as in real documents?"


def critic(topics: int, words: dict[str, Any] | None = None, **settings: Any) -> PyroTopics:
    """Construct the unfitted critic."""
    options = {"topics": topics}
    settings = {"steps": 1500, "batch": 128, "rate": 0.02, "decay": 0.1, "draws": 64, **settings}
    return PyroTopics(
        model="pyro_topics:Topics",
        guide="pyro_topics:Guide",
        model_options=options,
        guide_options=options,
        feature_options=words,
        **settings,
    )


def main(argv: Sequence[str] | None = None) -> momus.Comparison:
    """Fit both critics, compare, print and plot."""
    chosen = options(
        __doc__,
        argv,
        topics={"type": int, "default": 8},
        steps={"type": int, "default": 1500},
        permutations={"type": int, "default": 999},
    )
    pyro_critic = critic(chosen.topics, {"vocabulary_size": 1500}, steps=chosen.steps, seed=chosen.seed)
    topics_critic = critic_class("topics")(n_topics=chosen.topics, language="", vocabulary_size=1500, seed=chosen.seed)
    comparison = momus.compare(
        corpus("real.jsonl.gz", "real"),
        {"ancestral": corpus("generated-ancestral.jsonl.gz", "ancestral")},
        fit=corpus("fit.jsonl.gz", "fit"),
        critics=[pyro_critic, topics_critic],
        seed=chosen.seed,
        permutations=chosen.permutations,
        device="cpu",
    )
    print(comparison)
    comparison.frame().to_csv(chosen.out / "verdicts.csv", index=False)
    pyro_critic.save(chosen.out / "pyro-topics")
    lines = [f"{i + 1},{' '.join(words)}" for i, words in enumerate(top_words(pyro_critic))]
    (chosen.out / "topics.csv").write_text("topic,words\n" + "\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    draw(comparison, chosen.out / "latent-nll.svg")
    return comparison


def top_words(fitted: PyroCritic, count: int = 8) -> list[list[str]]:
    """The most probable words of each topic."""
    logits = fitted.weights_.arrays()["model/logits"]
    return [[fitted.features_.words_[i] for i in np.argsort(-row)[:count]] for row in logits]


def draw(comparison: momus.Comparison, path: Path) -> None:
    """Plot Latent NLL of each document under both critics, with their correlation."""
    axes, write = figure(path, width=5.0, height=4.2)
    for name, colour in (("real", REAL), ("ancestral", GENERATED)):
        a, b = (comparison.scores[c, name] for c in ("topics", "pyro-topics"))
        both = a.scored & b.scored
        r = np.corrcoef(a.nll[both], b.nll[both])[0, 1]
        half = 1.96 / np.sqrt(both.sum() - 3)
        low, high = np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)
        label = f"{name}: r = {r:.2f} ({low:.2f} to {high:.2f}), n = {both.sum()}"
        print(f"Latent NLL under both critics, {label}")
        axes.plot(a.nll[both], b.nll[both], ".", ms=3, color=colour, label=label)
    axes.set_xlabel("critic topics, variational EM (nats)")
    axes.set_ylabel("Pyro program, SVI (nats)")
    axes.legend(frameon=False, fontsize=7)
    write()


if __name__ == "__main__":
    run(main)
