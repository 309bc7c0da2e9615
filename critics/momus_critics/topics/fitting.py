"""Variational EM for the correlated topic model, over mini-batches of documents, deterministic given a seed.

One step goes through all documents: it improves λ and ν² of each from their last values, then sets μ, Σ and φ to the
maximum of the bound. φ has a Dirichlet posterior (Blei, Ng & Jordan 2003, section 5.4), or is a point, which overfits
if documents are few. No part of a step lowers the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from scipy import sparse
from scipy.special import digamma, gammaln, softmax
from torch import Tensor

from momus.numeric.ragged import owners_of
from momus.numeric.types import Floats
from momus_critics.fits.mixtures import cluster_counts, smoothed
from momus_critics.topics.bound import Batch, Prior, ascend, batches_of

TRIAL_DOCUMENTS, TRIAL_STEPS = 2000, 20


def halves(counts: sparse.csr_array, seed: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Split the tokens of each document at random into two halves, CSR (n, V) each."""
    rng = np.random.default_rng(seed)
    half = counts.copy()
    # each token goes to either half by itself: both are samples of the same document
    half.data = rng.binomial(counts.data.astype(np.int64), 0.5).astype(np.float64)
    other = sparse.csr_array(counts - half)
    # stored zeros would count as types of the document
    half.eliminate_zeros()
    other.eliminate_zeros()
    return sparse.csr_array(half), other


def log_likelihoods(theta: Floats, phi: Floats, other: sparse.csr_array) -> Floats:
    """Log-likelihood of each document's held-out half, in nats: float64 (n,)."""
    rows = owners_of(other.indptr)
    total = np.zeros(other.shape[0])
    # p[i] = Σ_k θ_dk φ_kv for the document d and the word v of stored count i, some counts at a time to bound memory
    for first in range(0, len(rows), 200_000):
        chunk = slice(first, first + 200_000)
        p = np.einsum("nk,kn->n", theta[rows[chunk]], phi[:, other.indices[chunk]])
        np.add.at(total, rows[chunk], other.data[chunk] * np.log(p))
    return total


def completed(model: Model, held: tuple[sparse.csr_array, sparse.csr_array], options: Options) -> Floats:
    """Log-likelihood of each second half given the first, in nats: float64 (n,)."""
    lam, _, _ = infer(held[0], model.weights, model.mean, model.covariance, options, 20)
    theta = softmax(np.concatenate([lam, np.zeros((len(lam), 1))], axis=1), axis=1)  # (n, K)
    return log_likelihoods(theta, model.phi, held[1])


def point_is_enough(counts: sparse.csr_array, options: Options) -> bool:
    """Whether point estimates of φ complete held-out documents as well as Dirichlet posteriors, to one standard error.

    Both are fitted on at most 2,000 documents for 20 steps of EM; a fifth is held out. Point estimates give less biased
    Latent NLLs, but overfit topics with few tokens.
    """
    n = counts.shape[0]
    order = np.random.default_rng(options.seed).permutation(n)[:TRIAL_DOCUMENTS]
    cut = max(1, len(order) // 5)
    held, train = halves(sparse.csr_array(counts[np.sort(order[:cut])]), options.seed), np.sort(order[cut:])
    if len(train) < 2 or not held[1].sum():
        return False
    scores = []
    for point in (True, False):
        trial = replace(options, steps=min(TRIAL_STEPS, options.steps), point=point)
        scores.append(completed(fit(sparse.csr_array(counts[train]), trial), held, trial))
    gain = scores[0] - scores[1]  # of points over Dirichlet posteriors, in nats per held-out document
    return bool(gain.mean() >= -gain.std() / np.sqrt(cut))


@dataclass
class Model:
    """A correlated topic model while it is fitted.

    Attributes
    ----------
    phi
        (K, V), rows sum to 1: E φ under q(φ), Dirichlet distributions.
    weights
        (K, V): exp E log φ, which stands for φ in the bound.
    divergence
        KL(q(φ) ‖ its prior), in nats.
    mean, covariance
        μ (D,) and Σ (D, D), where D = K − 1.
    lam, var
        (n, D): the current variational posterior of each document.
    curve
        The ELBO after each step, in nats.
    """

    phi: Floats
    weights: Floats
    divergence: float
    mean: Floats
    covariance: Floats
    lam: Floats
    var: Floats
    curve: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Options:
    """Options of a fit.

    Attributes
    ----------
    topics
        K.
    steps, tolerance
        Largest number of steps of EM, and the relative growth of the ELBO below which EM stops.
    inner
        Largest number of rounds of the E step per document and step of EM.
    smoothing
        β: the prior of φ_k is Dir(β).
    point
        Whether φ is its most probable value (under Dir(1 + β)) rather than a distribution.
    seed, device, dtype
        Seed of the starting point; device and floating-point type of the E step.
    """

    topics: int
    steps: int = 300
    tolerance: float = 2e-6
    inner: int = 2
    smoothing: float = 0.02
    point: bool = False
    seed: int = 0
    device: str = "cpu"
    dtype: torch.dtype = torch.float32


def start(counts: sparse.csr_array, options: Options) -> Model:
    """Start from clusters of documents."""
    phi = smoothed(cluster_counts(counts, options.topics, options.seed))
    n, d = counts.shape[0], options.topics - 1
    # η at the prior's mean: topics have equal shares in all documents, and only φ breaks the symmetry
    return Model(phi, phi, np.nan, np.zeros(d), np.eye(d), np.zeros((n, d)), np.full((n, d), 0.5))


def fit(counts: sparse.csr_array, options: Options, report: Callable[[int, Model], None] | None = None) -> Model:
    """Run EM until the ELBO converges.

    Parameters
    ----------
    counts
        CSR (n, V).
    report
        Called after each step with its number (from 1) and the model.
    """
    model = start(counts, options)
    _step(counts, options, model)  # the start is not a distribution q(φ), so its bound is not on the curve
    for step in range(options.steps):
        elbo = _step(counts, options, model)
        model.curve.append(elbo)
        if report is not None:
            report(step + 1, model)
        # the first steps may grow little before topics part
        if step > 4 and elbo - model.curve[-2] < options.tolerance * abs(elbo):
            break
    return model


def _step(counts: sparse.csr_array, options: Options, model: Model) -> float:
    """Run one step of EM; return the ELBO between E and M step, below which no later step falls."""
    device, dtype = options.device, options.dtype
    phi = torch.from_numpy(np.ascontiguousarray(model.weights.T)).to(device, dtype)
    prior = Prior.of(_tensor(model.mean, options), _tensor(model.covariance, options))
    words = torch.zeros_like(phi, dtype=torch.float64)
    total = 0.0
    for rows in batches_of(counts, options.topics, device):
        batch = Batch.of(counts[rows], device, dtype)
        word_phi = batch.gather(phi)  # (B, L, K)
        lam, var = _tensor(model.lam[rows], options), _tensor(model.var[rows], options)
        lam, var, value, _ = ascend(batch, word_phi, prior, lam, var, options.inner, 1e-5)
        model.lam[rows], model.var[rows] = lam.cpu().numpy(), var.cpu().numpy()
        # topic probabilities of each stored word, times its count; factors common to all topics cancel
        weight = torch.softmax(torch.cat([lam, lam.new_zeros(len(lam), 1)], dim=1), dim=1)  # (B, K)
        joint = weight[:, None, :] * word_phi
        joint *= (batch.counts / joint.sum(dim=2).clamp_min(1e-30))[:, :, None]
        words += torch.zeros_like(phi).index_add_(0, batch.words.flatten(), joint.flatten(0, 1)).double()
        total += float(value.double().sum())
    elbo = total - model.divergence
    _maximise(model, words.cpu().numpy().T, options)
    return elbo


def _maximise(model: Model, words: Floats, options: Options) -> None:
    """The M step, in place: φ from expected counts (K, V), μ and Σ from λ and ν²."""
    estimate = points if options.point else dirichlets
    model.phi, model.weights, model.divergence = estimate(words, options.smoothing)
    model.mean = model.lam.mean(axis=0)
    away = model.lam - model.mean
    n = len(away)
    scatter = away.T @ away + np.diag(model.var.sum(axis=0))  # Σ over documents of E (η − μ)(η − μ)ᵀ, (D, D)
    # a topic that no document varies in would make Σ singular
    scatter[np.diag_indices(len(scatter))] += 1e-6 * n
    model.covariance = scatter / n


def dirichlets(words: Floats, smoothing: float) -> tuple[Floats, Floats, float]:
    """Posterior of φ given expected counts (K, V): its mean, exp E log φ, and the divergence from the prior.

    >>> mean, weights, kl = dirichlets(np.array([[3.0, 1.0]]), 1.0)
    >>> mean.round(3).tolist(), weights.round(3).tolist(), round(kl, 3)
    ([[0.667, 0.333]], [[0.638, 0.277]], 0.362)
    """
    alpha, v = words + smoothing, words.shape[1]  # (K, V)
    total = alpha.sum(axis=1, keepdims=True)
    log_phi = digamma(alpha) - digamma(total)
    # KL of two Dirichlet distributions, whose parameters differ by the counts
    inside = (words * log_phi - gammaln(alpha)).sum()
    outside = gammaln(total).sum() - len(words) * (gammaln(v * smoothing) - v * gammaln(smoothing))
    # with β near 0, exp E log φ of unseen words underflows, and its logarithm would be −∞
    return alpha / total, np.maximum(np.exp(log_phi), 1e-30), float(inside + outside)


def points(words: Floats, smoothing: float) -> tuple[Floats, Floats, float]:
    """Most probable φ under Dir(1 + β), twice, and minus its log prior up to a constant.

    >>> points(np.array([[3.0, 1.0]]), 1.0)[0].round(3).tolist()
    [[0.667, 0.333]]
    """
    phi = (words + smoothing) / (words + smoothing).sum(axis=1, keepdims=True)
    return phi, phi, -float(smoothing * np.log(phi).sum())


def _tensor(x: Floats, options: Options) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(x)).to(options.device, options.dtype)


def infer(
    counts: sparse.csr_array, weights: Floats, mean: Floats, covariance: Floats, options: Options, rounds: int = 60
) -> tuple[Floats, Floats, Floats]:
    """Posterior of new documents: λ and ν² (n, D), and the bound (n,); a document without words keeps the prior.

    ``weights`` (K, V) are φ if it is a point, and exp E log φ if it has a distribution. Every document starts at the
    prior's mean and is optimised independently, so results do not depend on batches.
    """
    n, d = counts.shape[0], len(mean)
    lam, var, values = np.zeros((n, d)), np.zeros((n, d)), np.zeros(n)
    phi_t = torch.from_numpy(np.ascontiguousarray(weights.T)).to(options.device, options.dtype)
    prior = Prior.of(_tensor(mean, options), _tensor(covariance, options))
    # the optimum of ν² without words: a document without any is done at once
    spread = 1 / prior.precision.diagonal()
    for rows in batches_of(counts, d + 1, options.device):
        batch = Batch.of(counts[rows], options.device, options.dtype)
        start_lam, start_var = prior.mean.expand(len(rows), d).clone(), spread.expand(len(rows), d).clone()
        posterior = ascend(batch, batch.gather(phi_t), prior, start_lam, start_var, rounds, 1e-7)
        lam[rows], var[rows], values[rows] = (x.double().cpu().numpy() for x in posterior[:3])
    return lam, var, values
