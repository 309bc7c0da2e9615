"""Latent Dirichlet allocation by blocked Gibbs sampling: all tokens at once given θ and φ, then θ and φ given them.

z ~ Dir(α), t_i ~ z, x_i ~ φ_{t_i}, φ_k ~ Dir(β) (Blei, Ng & Jordan 2003; smoothed, section 5.4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import digamma
from torch import Tensor

from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats


@dataclass(frozen=True)
class Tokens:
    """Known tokens of documents: word numbers (N,), and where each document's begin (n + 1,)."""

    words: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def documents(self) -> NDArray[np.int64]:
        """The document of each token (N,)."""
        return owners_of(self.offsets)


@dataclass(frozen=True)
class Lda:
    """α (K,), φ (K, V), and log P(words | assignments' θ, φ) after each sweep, in nats a token."""

    alpha: Floats
    phi: Floats
    curve: list[float]


def fit_best(
    tokens: Tokens,
    starts: Sequence[Floats],
    beta: float,
    sweeps: int,
    seed: int,
    device: str = "cpu",
    report: Callable[[int], None] | None = None,
) -> Lda:
    """Sample a fifth of the sweeps from each start, and go on from the one that explains the words best.

    Gibbs chains stay where they begin when topics are as far apart as languages are: two languages in one topic, and
    another topic for boilerplate, is such a place.
    """
    trial = max(sweeps // 5, 2)
    found = []
    for i, phi in enumerate(starts):
        found.append(fit(tokens, phi, beta, trial, seed + i, device))
        if report is not None:
            report((i + 1) * trial)
    best = max(found, key=lambda f: f.curve[-1])

    def later(sweep: int) -> None:
        if report is not None:
            report(len(starts) * trial + sweep)

    return fit(tokens, best.phi, beta, sweeps, seed, device, later)


def fit(
    tokens: Tokens,
    phi: Floats,
    beta: float,
    sweeps: int,
    seed: int,
    device: str = "cpu",
    report: Callable[[int], None] | None = None,
) -> Lda:
    """Sample from the posterior of θ, t and φ, α optimised as it goes (Minka 2000); the first half is burn-in.

    Parameters
    ----------
    phi
        Where to start (K, V).
    beta
        Prior of φ.

    Returns
    -------
    α, and E φ over the second half of the sweeps.
    """
    generator = torch.Generator(device).manual_seed(seed)
    words, rows = (torch.from_numpy(x).to(device) for x in (tokens.words, tokens.documents))
    (k, v), n = phi.shape, len(tokens.offsets) - 1
    lengths = np.diff(tokens.offsets)
    alpha = np.full(k, 1.0 / k)
    theta = torch.full((n, k), 1.0 / k, dtype=torch.float64, device=device)
    now = torch.from_numpy(phi.copy()).to(device)
    kept = torch.zeros_like(now)
    curve = []
    for sweep in range(sweeps):
        joint = theta[rows] * now.T[words]
        total = joint.cumsum(dim=1)
        u = torch.rand(len(words), 1, dtype=torch.float64, device=device, generator=generator) * total[:, -1:]
        t = (u >= total[:, :-1]).sum(dim=1)
        curve.append(float(total[:, -1].clamp_min(1e-300).log().mean()))
        topics = torch.bincount(rows * k + t, minlength=n * k).reshape(n, k).double()
        counts = torch.bincount(t * v + words, minlength=k * v).reshape(k, v).double()
        if sweep >= sweeps // 10:
            alpha = minka(alpha, topics.cpu().numpy(), lengths, 2)
        theta = _dirichlet(topics + torch.from_numpy(alpha).to(device), generator)
        now = _dirichlet(counts + beta, generator)
        if sweep >= sweeps // 2:
            kept += (counts + beta) / (counts + beta).sum(dim=1, keepdim=True)
        if report is not None:
            report(sweep + 1)
    mean = kept / (sweeps - sweeps // 2)
    return Lda(alpha, (mean / mean.sum(dim=1, keepdim=True)).cpu().numpy(), curve)


def _dirichlet(shape: Tensor, generator: torch.Generator) -> Tensor:
    draws = torch._standard_gamma(shape, generator=generator).clamp_min(1e-300)
    return draws / draws.sum(dim=1, keepdim=True)


def minka(alpha: Floats, topics: Floats, lengths: NDArray[np.int64], steps: int) -> Floats:
    """Fixed-point steps of α towards the maximum of the Dirichlet-multinomial likelihood (Minka 2000, equation 55).

    Parameters
    ----------
    topics
        Tokens of each topic in each document (n, K).
    """
    for _ in range(steps):
        up = (digamma(topics + alpha) - digamma(alpha)).sum(axis=0)
        down = (digamma(lengths + alpha.sum()) - digamma(alpha.sum())).sum()
        alpha = np.clip(alpha * up / max(down, 1e-12), 1e-3, 1e3)
    return alpha
