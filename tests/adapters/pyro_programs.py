"""Pyro programs whose posteriors are known."""

import math

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from pyro.distributions import constraints
from pyro.nn import PyroModule

from momus_adapters.pyro import documents

NOISE = 0.5


def log_characters(corpus):
    """One number a document."""
    return np.log(np.maximum(corpus.characters, 1.0))[:, None]


def numbers(corpus):
    """Documents that hold numbers, as rows; all have as many."""
    return np.array([[float(w) for w in d.text.split()] for d in corpus])


def normal_model(x, size, fixed=None):
    mu, sd = _normal_parameters() if fixed is None else map(torch.tensor, fixed)
    with documents(x, size):
        z = pyro.sample("z", dist.Normal(mu, sd))
        pyro.sample("x", dist.Normal(z, NOISE), obs=x[:, 0])


def _normal_parameters():
    return (
        pyro.param("mu", torch.tensor(0.0)),
        pyro.param("sd", torch.tensor(1.0), constraint=constraints.positive),
    )


def normal_guide(x, size, fixed=None):
    mu, sd = _normal_parameters() if fixed is None else map(torch.tensor, fixed)
    precision = 1 / sd**2 + 1 / NOISE**2
    with documents(x, size):
        pyro.sample("z", dist.Normal((mu / sd**2 + x[:, 0] / NOISE**2) / precision, precision**-0.5))


def mixture_parts():
    share = pyro.param("share", torch.tensor([0.5, 0.5]), constraint=constraints.simplex)
    centre = pyro.param("centre", torch.tensor([-1.0, 1.0]))
    return share, centre


def mixture_model(x, size):
    share, centre = mixture_parts()
    with documents(x, size):
        k = pyro.sample("k", dist.Categorical(share))
        pyro.sample("x", dist.Normal(centre[k], 1.0), obs=x[:, 0])


def mixture_guide(x, size, enumerate_=True):
    share, centre = mixture_parts()
    logits = share.log() + dist.Normal(centre, 1.0).log_prob(x[:, :1])
    with documents(x, size):
        pyro.sample("k", dist.Categorical(logits=logits), infer={"enumerate": "parallel"} if enumerate_ else {})


def nested_model(x, size):
    """Two sections a document, a vector of two numbers in each; rows are (B, 4)."""
    with documents(x, size, dim=-2), pyro.plate("sections", 2, dim=-1):
        z = pyro.sample("z", dist.Normal(torch.zeros(2), torch.tensor([1.0, 2.0])).to_event(1))
        pyro.sample("x", dist.Normal(z, 1.0).to_event(1), obs=x.reshape(-1, 2, 2))


def nested_guide(x, size):
    variance = 1 / (1 / torch.tensor([1.0, 4.0]) + 1)
    with documents(x, size, dim=-2), pyro.plate("sections", 2, dim=-1):
        pyro.sample("z", dist.MultivariateNormal(variance * x.reshape(-1, 2, 2), torch.diag(variance)))


def chain_model(x, size):
    """A discrete latent of the document, and one of each of two sections that hangs on it."""
    with documents(x, size, dim=-2):
        k = pyro.sample("k", dist.Categorical(torch.tensor([0.3, 0.7])))
        with pyro.plate("sections", 2, dim=-1):
            table = torch.tensor([[0.9, 0.1], [0.2, 0.8]])
            s = pyro.sample("s", dist.Categorical(table[k]))
            pyro.sample("x", dist.Normal(2.0 * s, 1.0), obs=x)


def chain_guide(x, size):
    infer = {"enumerate": "parallel"}
    p = torch.sigmoid(x.sum(dim=1, keepdim=True))
    with documents(x, size, dim=-2):
        k = pyro.sample("k", dist.Categorical(torch.stack([1 - p, p], dim=-1)), infer=infer)
        with pyro.plate("sections", 2, dim=-1):
            up = torch.sigmoid(x + k)
            pyro.sample("s", dist.Categorical(torch.stack([1 - up, up], dim=-1)), infer=infer)


def von_mises_model(x, size):
    with documents(x, size):
        z = pyro.sample("z", dist.VonMises(torch.tensor(0.0), torch.tensor(2.0)))
        pyro.sample("x", dist.Normal(z, 1.0), obs=x[:, 0])


def von_mises_guide(x, size):
    with documents(x, size):
        pyro.sample("z", dist.VonMises(torch.tanh(x[:, 0]), torch.tensor(2.0)))


def global_model(x, size):
    mu = pyro.sample("mu", dist.Normal(0.0, 10.0))
    with documents(x, size):
        z = pyro.sample("z", dist.Normal(mu, 1.0))
        pyro.sample("x", dist.Normal(z, NOISE), obs=x[:, 0])


def global_guide(x, size):
    loc = pyro.param("loc", torch.tensor(0.0))
    scale = pyro.param("scale", torch.tensor(0.1), constraint=constraints.positive)
    mu = pyro.sample("mu", dist.Normal(loc, scale))
    precision = 1 + 1 / NOISE**2
    with documents(x, size):
        pyro.sample("z", dist.Normal((mu + x[:, 0] / NOISE**2) / precision, precision**-0.5))


class BagModel(PyroModule):
    """A small topic model: words given a normal vector."""

    def __init__(self, shape, width=2):
        super().__init__()
        self.width = width
        self.decoder = torch.nn.Linear(width, shape[0])

    def forward(self, x, size):
        pyro.module("decoder", self.decoder)
        with documents(x, size):
            z = pyro.sample("z", dist.Normal(torch.zeros(self.width), 1.0).to_event(1))
            pyro.factor("words", (x * self.decoder(z).log_softmax(-1)).sum(-1))


class BagGuide(PyroModule):
    def __init__(self, shape, width=2):
        super().__init__()
        self.encoder = torch.nn.Linear(shape[0], 2 * width)

    def forward(self, x, size):
        pyro.module("encoder", self.encoder)
        mean, log_sd = self.encoder(torch.log1p(x)).chunk(2, dim=-1)
        with documents(x, size):
            pyro.sample("z", dist.Normal(mean, (log_sd.clamp(-5, 2)).exp()).to_event(1))


shared = torch.nn.Linear(1, 1)


def shared_guide(x, size):
    pyro.module("shared", shared)
    with documents(x, size):
        pyro.sample("z", dist.Normal(shared(x.to(shared.weight.dtype))[:, 0].to(x.dtype), 1.0))


def guide_per_document(x, size):
    loc = pyro.param("loc", torch.zeros(len(x)))
    with documents(x, size):
        pyro.sample("z", dist.Normal(loc, 1.0))


def empty_guide(x, size):
    with documents(x, size):
        pass


LOG_2PI = math.log(2 * math.pi)
