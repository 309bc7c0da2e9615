"""Latent Dirichlet allocation by blocked Gibbs sampling: all assignments given θ and φ, then θ and φ given those.

z ~ Dir(α), t_i ~ z, x_i ~ φ_{t_i}, φ_k ~ Dir(β) (Blei, Ng & Jordan 2003; smoothed, section 5.4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import digamma
from torch import Tensor

from momus.numeric.ragged import Ragged
from momus.numeric.types import Floats, Ints


@dataclass(frozen=True)
class Tokens(Ragged):
    """Known tokens of documents, ragged: word numbers (N,), and offsets of documents (n + 1,)."""

    words: Ints
    offsets: Ints


@dataclass(frozen=True)
class Lda:
    """A fitted model: α (K,), φ (K, V), and log P(words | θ, φ) in each sweep, in nats per token."""

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
    """Sample a fifth of the sweeps from each start, then all sweeps from the result that explains the words best.

    Gibbs chains do not leave their mode if topics are as far apart as languages are, for instance a mode with two
    languages in one topic and boilerplate in another.
    """
    trial = max(sweeps // 5, 2)
    trials = []
    for i, phi in enumerate(starts):
        trials.append(fit(tokens, phi, beta, trial, seed + i, device))
        if report is not None:
            report((i + 1) * trial)
    best = max(trials, key=lambda model: model.curve[-1])

    def report_rest(sweep: int) -> None:
        if report is not None:
            report(len(starts) * trial + sweep)

    return fit(tokens, best.phi, beta, sweeps, seed, device, report_rest)


def fit(
    tokens: Tokens,
    phi: Floats,
    beta: float,
    sweeps: int,
    seed: int,
    device: str = "cpu",
    report: Callable[[int], None] | None = None,
) -> Lda:
    """Sample from the posterior of θ, t and φ while optimising α (Minka 2000); the first half is burn-in.

    Parameters
    ----------
    phi
        Starting point (K, V).
    beta
        The prior of φ_k is Dir(β).

    Returns
    -------
    α, E φ over the second half of the sweeps, and the curve.
    """
    generator = torch.Generator(device).manual_seed(seed)
    words, rows = (torch.from_numpy(x).to(device) for x in (tokens.words, tokens.documents))
    (k, v), n = phi.shape, len(tokens.offsets) - 1
    lengths = np.diff(tokens.offsets)
    alpha = np.full(k, 1.0 / k)
    theta = torch.full((n, k), 1.0 / k, dtype=torch.float64, device=device)
    current = torch.from_numpy(phi.copy()).to(device)
    phi_sum = torch.zeros_like(current)
    curve = []
    for sweep in range(sweeps):
        # t ∝ θ_dt φ_tw for all tokens at once, by inverting the cumulative sums over topics, (N, K)
        joint = theta[rows] * current.T[words]
        total = joint.cumsum(dim=1)
        u = torch.rand(len(words), 1, dtype=torch.float64, device=device, generator=generator) * total[:, -1:]
        t = (u >= total[:, :-1]).sum(dim=1)
        curve.append(float(total[:, -1].clamp_min(1e-300).log().mean()))
        # tokens of each topic in each document, (n, K), and of each word in each topic, (K, V)
        topics = torch.bincount(rows * k + t, minlength=n * k).reshape(n, k).double()
        counts = torch.bincount(t * v + words, minlength=k * v).reshape(k, v).double()
        if sweep >= sweeps // 10:
            alpha = minka(alpha, topics.cpu().numpy(), lengths, 2)
        theta = _dirichlet(topics + torch.from_numpy(alpha).to(device), generator)
        current = _dirichlet(counts + beta, generator)
        if sweep >= sweeps // 2:
            phi_sum += (counts + beta) / (counts + beta).sum(dim=1, keepdim=True)
        if report is not None:
            report(sweep + 1)
    mean = phi_sum / (sweeps - sweeps // 2)
    return Lda(alpha, (mean / mean.sum(dim=1, keepdim=True)).cpu().numpy(), curve)


def _dirichlet(shape: Tensor, generator: torch.Generator) -> Tensor:
    """Draw each row from a Dirichlet distribution."""
    draws = torch._standard_gamma(shape, generator=generator).clamp_min(1e-300)
    return draws / draws.sum(dim=1, keepdim=True)


def minka(alpha: Floats, topics: Floats, lengths: Ints, steps: int) -> Floats:
    """Take fixed-point steps of α towards the maximum Dirichlet-multinomial likelihood (Minka 2000, equation 55).

    Parameters
    ----------
    topics
        Tokens of each topic in each document, (n, K).
    """
    for _ in range(steps):
        numerator = (digamma(topics + alpha) - digamma(alpha)).sum(axis=0)
        denominator = (digamma(lengths + alpha.sum()) - digamma(alpha.sum())).sum()
        alpha = np.clip(alpha * numerator / max(denominator, 1e-12), 1e-3, 1e3)
    return alpha
