"""Draws from P(t | x) with φ and α fixed, with separate random numbers for each document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from momus.numeric.draws import document_keys, hashed, log_gammas, uniforms
from momus.numeric.ragged import places_of
from momus.numeric.types import Floats, Ints
from momus_critics.code_mixing.lda import Tokens

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
        log_theta = log_gammas(prior + counts, 2 * step[:, :, None], after=of_topic) * (sweep > 0)
        theta = (log_theta - log_theta.max(dim=2, keepdim=True).values).exp()
        total = (theta[:, rows] * likelihood).cumsum(dim=2)  # (chains, N, K)
        u = uniforms(2 * step + 1, after=of_token) * total[:, :, -1]
        t = (u[:, :, None] >= total[:, :, :-1]).sum(dim=2)
        counts = torch.bincount(cell + t.ravel(), minlength=chains * n * k).reshape(chains, n, k).double()
        if sweep >= sampling.burn_in:
            out[:, :, sweep - sampling.burn_in] = counts.transpose(0, 1).cpu().numpy()
    return out


def effective_sizes(draws: Floats) -> Floats:
    """Effective number of independent draws (n,) of a quantity (n, chains, sweeps) (Vehtari et al. 2021).

    A quantity that is constant over all chains is known exactly: all its draws count.
    """
    from pyro.ops.stats import effective_sample_size

    n, chains, sweeps = draws.shape
    sizes = np.full(n, float(chains * sweeps))
    moving = np.ptp(draws.reshape(n, -1), axis=1) > 1e-12 * np.abs(draws).reshape(n, -1).max(axis=1)
    if moving.any():
        x = torch.from_numpy(np.ascontiguousarray(draws[moving].transpose(1, 2, 0)))
        size = effective_sample_size(x, chain_dim=0, sample_dim=1).numpy()
        sizes[moving] = np.clip(np.nan_to_num(size, nan=1.0), 1.0, chains * sweeps)
    return sizes
