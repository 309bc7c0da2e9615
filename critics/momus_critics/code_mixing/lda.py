"""Latent Dirichlet allocation by blocked Gibbs sampling: all assignments given θ and φ, then θ and φ given those.

z ~ Dir(α), t_i ~ z, x_i ~ φ_{t_i}, φ_k ~ Dir(β) (Blei, Ng & Jordan 2003; smoothed, section 5.4).

The posterior of a document, with φ and α fixed, is draws from P(t | x); each document has random numbers of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import digamma
from torch import Tensor

from momus.numeric.draws import document_keys, hashed, log_gammas, uniforms
from momus.numeric.ragged import Ragged, changes, places_of
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
    report: Callable[[int], None] = lambda _: None,
) -> Lda:
    """Sample a fifth of the sweeps from each start, then all sweeps from the result that explains the words best.

    Gibbs chains do not leave their mode if topics are as far apart as languages are, for instance a mode with two
    languages in one topic and boilerplate in another.
    """
    trial = max(sweeps // 5, 2)
    trials = []
    for i, phi in enumerate(starts):
        trials.append(fit(tokens, phi, beta, trial, seed + i, device))
        report((i + 1) * trial)
    best = max(trials, key=lambda model: model.curve[-1])
    return fit(tokens, best.phi, beta, sweeps, seed, device, lambda sweep: report(len(starts) * trial + sweep))


def fit(
    tokens: Tokens,
    phi: Floats,
    beta: float,
    sweeps: int,
    seed: int,
    device: str = "cpu",
    report: Callable[[int], None] = lambda _: None,
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
        # the first draws are those of the start, and α would fit them
        if sweep >= sweeps // 10:
            alpha = minka(alpha, topics.cpu().numpy(), lengths, 2)
        theta = _dirichlet(topics + torch.from_numpy(alpha).to(device), generator)
        current = _dirichlet(counts + beta, generator)
        if sweep >= sweeps // 2:
            phi_sum += (counts + beta) / (counts + beta).sum(dim=1, keepdim=True)
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
        numerator = (digamma(topics + alpha) - digamma(alpha)).sum(axis=0)  # (K,)
        denominator = (digamma(lengths + alpha.sum()) - digamma(alpha.sum())).sum()
        alpha = np.clip(alpha * numerator / max(denominator, 1e-12), 1e-3, 1e3)
    return alpha


CELLS = 8_000_000
"""Largest number of entries of a (chains, tokens, K) array."""


@dataclass(frozen=True)
class Sampling:
    """How long to sample: number of chains, burn-in and kept sweeps per chain, and the seed."""

    chains: int = 4
    burn_in: int = 15
    sweeps: int = 40
    seed: int = 0


def sample(tokens: Tokens, phi: Floats, alpha: Floats, sampling: Sampling, device: str = "cpu") -> Floats:
    """Sample numbers of tokens per topic: float64 (n, chains, sweeps, K).

    Chains start with equal shares: from a draw of the prior, where most shares are nearly 0, they would hardly ever
    reach the other topics. Batches are limited by their tokens; a document's draws do not depend on its batch.
    """
    n, k = len(tokens.offsets) - 1, len(alpha)
    out = np.zeros((n, sampling.chains, sampling.sweeps, k))
    keys = document_keys(tokens.words, tokens.offsets, sampling.seed)
    most = max(CELLS // (sampling.chains * k), 1)
    first = 0
    while first < n:
        stop = int(np.searchsorted(tokens.offsets, tokens.offsets[first] + most, side="right")) - 1
        stop = min(max(stop, first + 1), n)
        a, b = tokens.offsets[first], tokens.offsets[stop]
        batch = Tokens(tokens.words[a:b], tokens.offsets[first : stop + 1] - a)
        out[first:stop] = _sample(batch, keys[first:stop], phi, alpha, sampling, device)
        first = stop
    return out


def _sample(tokens: Tokens, keys: Ints, phi: Floats, alpha: Floats, sampling: Sampling, device: str) -> Floats:
    """Sample one batch; ``keys`` (n,) seed its documents."""
    n, k, chains = len(keys), len(alpha), sampling.chains
    words, rows = (torch.from_numpy(x).to(device) for x in (tokens.words, tokens.documents))
    place = torch.from_numpy(places_of(tokens.offsets)).to(device)
    key = torch.from_numpy(keys).to(device)
    prior = torch.from_numpy(alpha).to(device)
    likelihood = torch.from_numpy(phi).to(device).T[words]  # φ of each token's word, (N, K)
    # random numbers depend on the document, the topic or the token's place, and the chain and the sweep
    of_topic, of_token = hashed(key[:, None], torch.arange(k, device=device)), hashed(key[rows], place)
    first_step = 1_000_003 * torch.arange(chains, device=device)[:, None]
    # the first cell of each token's counts in an array (chains, n, K): (chains · N,)
    cell = ((torch.arange(chains, device=device)[:, None] * n + rows) * k).ravel()
    out = np.zeros((n, chains, sampling.sweeps, k))
    counts = torch.zeros(chains, n, k, dtype=torch.float64, device=device)
    for sweep in range(sampling.burn_in + sampling.sweeps):
        step = first_step + sweep  # (chains, 1)
        # the logarithm of gamma draws: with α near 0 the draws themselves underflow; 0 in the first sweep: equal shares
        log_theta = log_gammas(prior + counts, 2 * step[:, :, None], after=of_topic) * (sweep > 0)
        theta = (log_theta - log_theta.max(dim=2, keepdim=True).values).exp()
        total = (theta[:, rows] * likelihood).cumsum(dim=2)  # (chains, N, K)
        u = uniforms(2 * step + 1, after=of_token) * total[:, :, -1]
        t = (u[:, :, None] >= total[:, :, :-1]).sum(dim=2)  # topic of each token, (chains, N)
        counts = torch.bincount(cell + t.ravel(), minlength=chains * n * k).reshape(chains, n, k).double()
        if sweep >= sampling.burn_in:
            out[:, :, sweep - sampling.burn_in] = counts.transpose(0, 1).cpu().numpy()
    return out


def effective_sizes(draws: Floats) -> Floats:
    """Effective number of independent draws (n,) of a quantity (n, chains, sweeps) (Vehtari et al. 2021).

    Autocorrelations count in pairs of lags, as long as their sums are positive and fall (Geyer 1992). A quantity that
    is constant over all chains is known exactly: all its draws count.
    """
    n, chains, sweeps = draws.shape
    sizes = np.full(n, float(chains * sweeps))
    moving = np.ptp(draws.reshape(n, -1), axis=1) > 1e-12 * np.abs(draws).reshape(n, -1).max(axis=1)
    if moving.any() and sweeps > 1:
        x = draws[moving]
        # autocovariances at the lags 0 … sweeps − 1, (n, chains, sweeps); zeros at the end keep it from the beginning
        power = np.abs(np.fft.rfft(x - x.mean(axis=2, keepdims=True), 2 * sweeps, axis=2)) ** 2
        covariances = np.fft.irfft(power, 2 * sweeps, axis=2)[:, :, :sweeps] / np.arange(sweeps, 0, -1)
        within = total = x.var(axis=2).mean(axis=1)
        if chains > 1:
            within, total = within * sweeps / (sweeps - 1), total + x.mean(axis=2).var(axis=1, ddof=1)
        correlations = 1 - (within[:, None] - covariances.mean(axis=1)) / total[:, None]
        correlations[:, 0] = 1
        pairs = correlations[:, : sweeps // 2 * 2].reshape(len(x), -1, 2).sum(axis=2)
        falling = np.minimum.accumulate(pairs[:, 1:].clip(min=0), axis=1)  # Geyer's initial monotone sequence
        size = chains * sweeps / (2 * (pairs[:, 0] + falling.sum(axis=1)) - 1)
        sizes[moving] = np.clip(np.nan_to_num(size, nan=1.0), 1.0, chains * sweeps)
    return sizes


@dataclass(frozen=True)
class Span:
    """Tokens ``start`` to ``stop`` (excluded) of a document, in one topic."""

    topic: int
    start: int
    stop: int


def decode(log_phi: Floats, codes: NDArray[np.integer], span: int) -> list[Span]:
    """Find the best spans by the Viterbi algorithm; topics last ``span`` tokens on average, code −1 is no evidence.

    >>> decode(np.log([[0.9, 0.1], [0.1, 0.9]]), np.array([0, 0, -1, 0, 1, 1, 1, 0, 1]), 5)
    [Span(topic=0, start=0, stop=4), Span(topic=1, start=4, stop=9)]
    """
    k, n = len(log_phi), len(codes)
    if not n:
        return []
    log_likelihood = np.where(codes[:, None] >= 0, log_phi.T[np.maximum(codes, 0)], 0.0)  # (n, K)
    stay, switch = np.log1p(-1 / max(span, 2)), -np.log(max(span, 2) * max(k - 1, 1))
    back = np.zeros((n, k), dtype=np.int64)  # the best previous topic, for each token and topic
    score = log_likelihood[0]
    for i in range(1, n):
        best = int(score.argmax())
        leave = score[best] + switch
        keep = score + stay
        back[i] = np.where(keep >= leave, np.arange(k), best)
        score = np.maximum(keep, leave) + log_likelihood[i]
    path = np.zeros(n, dtype=np.int64)
    path[-1] = score.argmax()
    for i in range(n - 1, 0, -1):
        path[i - 1] = back[i, path[i]]
    starts = np.flatnonzero(changes(path))
    stops = np.append(starts[1:], n)
    return [Span(int(path[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]
