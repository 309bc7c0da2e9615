"""The parts of log P(x) under latent Dirichlet allocation with φ and α fixed, from the draws of the posterior."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp

from momus.critic import Decomposition, LogPrior
from momus.numeric.types import Floats
from momus_critics.code_mixing.lda import Tokens

DRAWS = 40
"""Draws of the shares over which log P(x | z) is averaged; neighbours in a chain tell little more."""
CELLS = 1 << 22
"""Largest number of entries of a (tokens, draws, K) array."""


def parts(tokens: Tokens, draws: Floats, counts: Floats, alpha: Floats, phi: Floats, prior: LogPrior) -> Decomposition:
    """Decompose log P(x) = log ∫ Dir(z; α) Π_i Σ_k z_k φ_k(x_i) dz of each document.

    For every z, log P(x) = log P(z) + log P(x | z) − log P(z | x) (Deng et al. 2022, appendix A). It is
    evaluated at the posterior's mean, with P(z | x) averaged over the Dirichlet distributions of the sampled counts
    (Chib 1995). The entropy is what the other parts leave of it.

    Parameters
    ----------
    draws
        (n, S, K) draws of z.
    counts
        (n, chains, sweeps, K) numbers of tokens by topic that the draws are conditioned on, S = chains · sweeps.
    alpha, phi
        (K,) and (K, V).
    prior
        E log P(z) of each document.
    """
    n, k = len(draws), len(alpha)
    shape = alpha + counts.reshape(n, -1, k)  # (n, S, K)
    mean = (shape / shape.sum(axis=-1, keepdims=True)).mean(axis=1)
    density = logsumexp(_log_dirichlet(mean[:, None], shape), axis=1) - np.log(shape.shape[1])
    log_evidence = _log_dirichlet(mean, alpha) + log_likelihoods(tokens, mean[:, None], phi)[:, 0] - density
    chosen = np.linspace(0, draws.shape[1] - 1, min(DRAWS, draws.shape[1])).astype(np.int64)
    likelihood = log_likelihoods(tokens, draws[:, chosen], phi).mean(axis=1)
    log_prior = np.asarray(prior.values, dtype=np.float64)
    return Decomposition(log_prior, likelihood, log_evidence - log_prior - likelihood, log_evidence)


def log_likelihoods(tokens: Tokens, shares: Floats, phi: Floats) -> Floats:
    """Σ_i log Σ_k z_k φ_k(x_i) of each document under each of its S shares (n, S, K): (n, S).

    >>> tokens = Tokens(np.array([0, 1]), np.array([0, 2]))
    >>> log_likelihoods(tokens, np.array([[[0.5, 0.5]]]), np.array([[0.9, 0.1], [0.1, 0.9]])).round(4).tolist()
    [[-1.3863]]
    """
    out = np.zeros(shares.shape[:2])
    step = max(CELLS // (shares.shape[1] * shares.shape[2]), 1)
    owners = tokens.documents
    for first in range(0, len(tokens.words), step):
        rows = slice(first, first + step)
        # probabilities of these tokens under each draw of their document, (tokens, S)
        p = np.einsum("isk,ki->is", shares[owners[rows]], phi[:, tokens.words[rows]], optimize=True)
        log_p = np.log(np.maximum(p, np.finfo(np.float64).tiny))
        starts = np.flatnonzero(np.diff(owners[rows], prepend=-1))  # where another document begins
        out[owners[rows][starts]] += np.add.reduceat(log_p, starts, axis=0)
    return out


def _log_dirichlet(z: Floats, shape: Floats) -> Floats:
    """log Dir(z; shape), over the last axis; both broadcast."""
    log_z = np.log(np.maximum(z, np.finfo(np.float64).tiny))
    value: Floats = gammaln(shape.sum(axis=-1)) - gammaln(shape).sum(axis=-1) + ((shape - 1) * log_z).sum(axis=-1)
    return value
