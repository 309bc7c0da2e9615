"""Estimates of μ and Σ from the full covariance of each posterior, with φ fixed.

Mean-field variational EM underestimates Σ: its posteriors have no correlations and are too narrow (Giordano et al.
2018), and every M step inherits their variances. Here the posterior of a document is the Laplace approximation at its
mode, with the observed information of its words (Wang & Blei 2013, section 3.1) and a mean corrected for skewness; μ
and Σ are iterated to their fixed point under it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from momus.progress import stage
from momus_critics.topics.bound import Batch, Prior, batches_of, newton, rest, word_part
from momus_critics.topics.fitting import Model, Options

ROUNDS, TOLERANCE = 40, 2e-3
"""Largest number of rounds, each through all documents, and the change of log-variances below which they end."""
STRETCH = 1.8
"""Over-relaxation of the steps of Σ."""
HALF_NORMAL = 0.7979
"""√(2/π): the mean of |N(0, 1)|, which is how far the mean of a half-normal distribution lies from its mode."""


def refine(counts: sparse.csr_array, model: Model, options: Options) -> Model | None:
    """Iterate μ and Σ until no log-variance in any direction moves by more than `TOLERANCE`.

    Returns
    -------
    The model with new μ, Σ, λ and ν²; φ and the curve of the ELBO are unchanged. None if Σ grows without bound, because
    documents have either much of a topic or none and no log-odds is too extreme for them. The words of a document of
    length N cannot distinguish log-odds beyond log N, so a standard deviation (of log-odds against the average topic)
    beyond that has no basis.
    """
    dtype = torch.float64
    phi = torch.from_numpy(np.ascontiguousarray(model.weights.T)).to(options.device, dtype)
    lam, var = (torch.from_numpy(x).to(options.device, dtype) for x in (model.lam, model.var))
    mean, covariance = (torch.from_numpy(x).to(options.device, dtype) for x in (model.mean, model.covariance))
    n = counts.shape[0]
    limit = np.log(counts.sum() / n) ** 2  # (log of the mean length)²
    batches = batches_of(counts, len(mean) + 1, options.device)
    with stage("covariance of topics", ROUNDS) as advance:
        for i in range(ROUNDS):
            prior = Prior.of(mean, covariance)
            spread, expected = torch.zeros_like(covariance), torch.empty_like(lam)
            for rows in batches:
                batch = Batch.of(counts[rows], options.device, dtype)
                # three steps, as modes move little from one round to the next
                lam[rows] = climb(batch, phi, prior, lam[rows], 3)
                expected[rows], covariances = posterior_moments(batch, phi, prior, lam[rows])
                spread += covariances.sum(dim=0)  # (D, D)
            mean = expected.mean(dim=0)
            away = expected - mean  # (n, D)
            # D / 10 pseudo-documents of unit variance, lest a direction vanish or diverge
            extra, one = len(covariance) / 10, torch.eye(len(covariance), dtype=dtype, device=options.device)
            covariance, moved = _towards(covariance, (away.T @ away + spread + extra * one) / (n + extra))
            advance(i + 1)
            # variances of log-odds against the average topic, (K,), whichever topic is the last, whose log-odds are 0
            whole = torch.nn.functional.pad(covariance, (0, 1, 0, 1))
            centring = torch.eye(len(whole), dtype=dtype, device=options.device) - 1 / len(whole)
            if float((centring @ whole @ centring).diagonal().max()) > limit:
                return None
            if moved < TOLERANCE:
                break
    mean_, covariance_, lam_, var_ = (x.cpu().numpy() for x in (mean, covariance, lam, var))
    return replace(model, mean=mean_, covariance=covariance_, lam=lam_, var=var_)


def _towards(old: Tensor, target: Tensor) -> tuple[Tensor, float]:
    """Step towards the target, or beyond it if that is safe; return Σ and the largest change of a log-variance."""
    # eigenvalues of L⁻¹ target L⁻ᵀ with old = L Lᵀ: ratios of target to old variances in their common directions, (D,)
    factor = torch.linalg.cholesky(old)
    half = torch.linalg.solve_triangular(factor, target, upper=False)
    ratio = torch.linalg.eigvalsh(torch.linalg.solve_triangular(factor, half.T, upper=False))
    # beyond the target, a variance may fall below 0; it keeps a fifth at least
    stretch = STRETCH if 1 + STRETCH * (float(ratio.min()) - 1) > 0.2 else 1.0
    new = old + stretch * (target - old)
    # symmetric but for rounding: Cholesky factors of the next round need it
    return (new + new.T) / 2, float((1 + stretch * (ratio - 1)).log().abs().max())


def climb(batch: Batch, phi: Tensor, prior: Prior, lam: Tensor, steps: int) -> Tensor:
    """Take Newton steps of λ towards the mode of P(η | words)."""
    word_phi = batch.gather(phi)
    # at ν² = 0 the bound is log P(words, η): its maximum is the mode
    no_variance = torch.full_like(lam, 1e-12)
    value, expected = word_part(batch, word_phi, lam)
    best = value + rest(batch, prior, lam, no_variance)
    for _ in range(steps):
        lam, best, expected, value = newton(batch, word_phi, prior, lam, no_variance, best, expected, value)
    return lam


def posterior_moments(batch: Batch, phi: Tensor, prior: Prior, lam: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (B, D) and covariance (B, D, D) of P(η | words) around its mode λ.

    The covariance V is the inverse of the negative Hessian (without the words' own curvature if that is not positive
    definite). Because posteriors of shares are skewed, the mean is λ + ½ V g with
    g_k = Σ_ij ∂³ log P / ∂η_k ∂η_i ∂η_j V_ij. The shift is limited to that of a half-normal distribution, because the
    expansion fails if words hardly bound a topic. For log Σ_k a_k e^{η_k} with shares p, the contraction is
    p_k (q_k − Σ_i p_i q_i), q_k = (e_k − p)ᵀ V (e_k − p).
    """
    d = lam.shape[1]
    p = torch.softmax(torch.cat([lam, lam.new_zeros(len(lam), 1)], dim=1), dim=1)
    # topic probabilities of each stored word, (B, L, D); padding has count 0
    words = p[:, None, :] * batch.gather(phi)  # (B, L, K)
    words = (words / words.sum(dim=2, keepdim=True).clamp_min(1e-300))[:, :, :d]
    counts = batch.counts
    shares, total = p[:, None, :d], batch.total[:, None]
    observed = _curvature(shares, total) - _curvature(words, counts)
    # where the observed information is not positive definite, leave out the words' own curvature
    factor, failed = torch.linalg.cholesky_ex(prior.precision + observed)
    if bool(failed.any()):
        safe = torch.linalg.cholesky(prior.precision + _curvature(shares, total))
        factor = torch.where((failed == 0)[:, None, None], factor, safe)
    v = torch.cholesky_inverse(factor)  # (B, D, D)
    skew = _skewness(words, counts, v) - _skewness(shares, total, v)
    limit = HALF_NORMAL * v.diagonal(dim1=1, dim2=2).sqrt()  # (B, D)
    shift = (0.5 * v @ skew[:, :, None])[:, :, 0]
    return lam + shift.clamp(-limit, limit), v


def _curvature(shares: Tensor, counts: Tensor) -> Tensor:
    """Σ_l c_l (diag r_l − r_l r_lᵀ), (B, D, D), of shares (B, L, D) and counts (B, L)."""
    weighted = counts[:, :, None] * shares  # (B, L, D)
    return torch.diag_embed(weighted.sum(dim=1)) - weighted.transpose(1, 2) @ shares


def _skewness(shares: Tensor, counts: Tensor, v: Tensor) -> Tensor:
    """Σ_l c_l r_lk (q_lk − Σ_i r_li q_li), (B, D)."""
    # q_k = V_kk − 2 (r V)_k + r V rᵀ for k < K, and r V rᵀ for the last topic, whose coordinate is fixed, (B, L, D)
    moved = shares @ v  # (B, L, D)
    inner = (shares * moved).sum(dim=2, keepdim=True)  # r V rᵀ, (B, L, 1)
    q = v.diagonal(dim1=1, dim2=2)[:, None, :] - 2 * moved + inner
    last = (1 - shares.sum(dim=2, keepdim=True)).clamp_min(0.0)
    # q of the last topic is `inner`: its coordinate is fixed, so only r moves
    average = (shares * q).sum(dim=2, keepdim=True) + last * inner
    return (counts[:, :, None] * shares * (q - average)).sum(dim=1)
