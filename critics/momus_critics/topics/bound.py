"""The variational bound of the correlated topic model and its maximisation, batched over documents.

A document has η ∈ R^{K−1}, η ~ N(μ, Σ); its topic shares are softmax([η, 0]), the last coordinate being fixed at 0
(Blei & Lafferty 2007). With q(η) = N(λ, diag ν²), and with word assignments and ζ at their optimum, the bound of a
document with counts c and length N is

    Σ_v c_v log Σ_k φ_kv e^{λ_k} − N log Σ_k e^{λ_k + ν_k²/2} − ½ (λ − μ)ᵀ Σ⁻¹ (λ − μ) − ½ Σ_k Σ⁻¹_kk ν_k²
    + ½ Σ_k log ν_k² − ½ log |Σ| + ½ (K − 1)

(a lower bound of log P(words), without the multinomial coefficient). Steps that would lower it are rejected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from momus.numeric.ragged import owners_of, places_of
from momus.numeric.types import Floats


@dataclass(frozen=True)
class Prior:
    """The normal prior of η: μ (D,), Σ⁻¹ (D, D) and log |Σ|, where D = K − 1."""

    mean: Tensor
    precision: Tensor
    log_det: float

    @classmethod
    def of(cls, mean: Tensor, covariance: Tensor) -> Prior:
        """Invert the covariance (D, D)."""
        # the inverse and the determinant from one factor: log |Σ| = 2 Σ log L_kk never overflows
        factor = torch.linalg.cholesky(covariance)
        return cls(mean, torch.cholesky_inverse(factor), float(2 * factor.diagonal().log().sum()))


CPU_CELLS, CELLS, MOST = 1_500_000, 20_000_000, 512
"""Largest number of entries of a (documents, types, K) array, on a CPU and elsewhere, and most documents of a batch.

On a CPU the memory of one small array is used again for the next one; but each call for a batch costs as much as the
sums of some documents of ten topics do."""


def batches_of(counts: sparse.csr_array, topics: int, device: str) -> list[NDArray[np.intp]]:
    """Row numbers of documents, in batches of similar numbers of types that suit a device."""
    cells = CPU_CELLS if device == "cpu" else CELLS
    types = np.diff(counts.indptr)
    order = np.argsort(-types, kind="stable")  # the most types first: the first of a batch sets its padding
    batches, first = [], 0
    while first < len(order):
        count = int(np.clip(cells // max(int(types[order[first]]) * topics, 1), 1, MOST))
        batches.append(order[first : first + count])
        first += count
    return batches


@dataclass(frozen=True)
class Batch:
    """Word counts of B documents, on a device, padded to the largest number of types L of a document.

    Products of small matrices sum over words and topics three times as fast as sums by the index of a document do.

    Attributes
    ----------
    words, counts
        (B, L): the number of each stored word and its count; padding is word 0 with count 0.
    total
        (B,): the length of each document.
    """

    words: Tensor
    counts: Tensor
    total: Tensor

    @classmethod
    def of(cls, counts: sparse.csr_array, device: str, dtype: torch.dtype) -> Batch:
        """Pad the counts of some documents, CSR (B, V)."""
        rows, places = owners_of(counts.indptr), places_of(counts.indptr)
        padded = np.zeros((2, counts.shape[0], max(int(places.max(initial=0)) + 1, 1)))
        padded[:, rows, places] = counts.indices, counts.data
        stored = torch.from_numpy(padded[1]).to(device, dtype)
        return cls(torch.from_numpy(padded[0].astype(np.int64)).to(device), stored, stored.sum(dim=1))

    def at(self, rows: Tensor) -> Batch:
        """Some of the documents."""
        return self if len(rows) == len(self.total) else Batch(self.words[rows], self.counts[rows], self.total[rows])

    def gather(self, phi: Tensor) -> Tensor:
        """Gather φ of each stored word, (B, L, K), from φᵀ (V, K)."""
        return phi[self.words]


def _extended(lam: Tensor) -> Tensor:
    """λ with the last coordinate 0, (B, K)."""
    return torch.cat([lam, lam.new_zeros(len(lam), 1)], dim=1)


def word_part(batch: Batch, word_phi: Tensor, lam: Tensor) -> tuple[Tensor, Tensor]:
    """Σ_v c_v log Σ_k φ_kv e^{λ_k} of each document (B,), and expected topic counts n_dk (B, K)."""
    full = _extended(lam)
    # exponentials relative to the largest coordinate of each document, against overflow
    top = full.max(dim=1, keepdim=True).values
    weight = (full - top).exp()  # (B, K)
    s = (word_phi @ weight[:, :, None])[:, :, 0].clamp_min(1e-30)  # Σ_k φ_kv e^{λ_k} of each stored word, (B, L)
    value = (batch.counts * s.log()).sum(dim=1)
    # c_v φ_kv e^{λ_k} / s_v summed over words; e^{λ_k} is the same for all words of a document, and multiplied last
    expected = ((batch.counts / s)[:, None, :] @ word_phi)[:, 0]  # (B, K)
    # each of the N tokens has e^top taken out of its logarithm
    return value + batch.total * top[:, 0], weight * expected


def rest(batch: Batch, prior: Prior, lam: Tensor, var: Tensor) -> Tensor:
    """The terms of the bound other than the word part (B,)."""
    inside = torch.cat([lam + var / 2, lam.new_zeros(len(lam), 1)], dim=1)
    away = lam - prior.mean  # (B, D)
    return (
        -batch.total * torch.logsumexp(inside, dim=1)
        - 0.5 * ((away @ prior.precision) * away).sum(dim=1)
        - 0.5 * (var * prior.precision.diagonal()).sum(dim=1)
        + 0.5 * var.log().sum(dim=1)
        + 0.5 * (lam.shape[1] - prior.log_det)
    )


def expected_log_likelihood(counts: sparse.csr_array, phi: Floats, lam: Floats, var: Floats) -> Floats:
    """The bound's part for E_q log P(words | η), (n,) in nats: its first two terms (see the module).

    Parameters
    ----------
    counts
        CSR (n, V).
    phi
        (K, V).
    lam, var
        (n, K − 1).
    """
    batch = Batch.of(counts, "cpu", torch.float64)
    means, variances = (torch.from_numpy(np.asarray(x, dtype=np.float64)) for x in (lam, var))
    value, _ = word_part(batch, batch.gather(torch.from_numpy(np.ascontiguousarray(phi.T))), means)
    inside = torch.cat([means + variances / 2, means.new_zeros(len(means), 1)], dim=1)
    return np.asarray((value - batch.total * torch.logsumexp(inside, dim=1)).numpy())


def _shares(lam: Tensor, var: Tensor) -> Tensor:
    """e^{λ_k + ν_k²/2} / ζ for k < K, (B, D)."""
    inside = torch.cat([lam + var / 2, lam.new_zeros(len(lam), 1)], dim=1)
    return torch.softmax(inside, dim=1)[:, :-1]


def ascend(
    batch: Batch, word_phi: Tensor, prior: Prior, lam: Tensor, var: Tensor, steps: int, tolerance: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Maximise the bound over λ and ν², independently for each document.

    Parameters
    ----------
    word_phi
        φ of each stored word, (B, L, K).
    lam, var
        Starting point, (B, D).
    steps
        Largest number of rounds, each a Newton step of λ and a fixed-point step of ν².
    tolerance
        A document is done when its bound grows by less than this per token.

    Returns
    -------
    λ, ν², the bound (B,), and expected topic counts (B, K).
    """
    value, expected = word_part(batch, word_phi, lam)
    best = value + rest(batch, prior, lam, var)
    done = torch.zeros_like(best, dtype=torch.bool)  # finished documents are frozen: results do not depend on the batch
    for _ in range(steps):
        # kept, so that documents that are done can be set back below
        old = lam, var, best, expected, value
        lam, best, expected, value = newton(batch, word_phi, prior, lam, var, best, expected, value)
        var, best = _spread(batch, prior, lam, var, best, value)
        old_and_new = zip((old[0], old[1], old[3]), (lam, var, expected), strict=True)
        lam, var, expected = (torch.where(done[:, None], a, b) for a, b in old_and_new)
        best, value = torch.where(done, old[2], best), torch.where(done, old[4], value)
        done |= (best - old[2]) <= tolerance * batch.total.clamp_min(1.0)
        if bool(done.all()):
            break
    return lam, var, best, expected


def newton(
    batch: Batch,
    word_phi: Tensor,
    prior: Prior,
    lam: Tensor,
    var: Tensor,
    best: Tensor,
    expected: Tensor,
    value: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """One Newton step of λ with word assignments fixed, shortened for documents whose bound would fall."""
    p = _shares(lam, var)  # (B, D)
    n = batch.total[:, None]
    gradient = expected[:, :-1] - n * p - (lam - prior.mean) @ prior.precision  # (B, D)
    # negative Hessian Σ⁻¹ + N (diag p − p pᵀ), (B, D, D); where it cannot be factored, a diagonal step is taken
    hessian = prior.precision + torch.diag_embed(n * p) - (n[:, :, None] * p[:, :, None]) * p[:, None, :]
    factor, info = torch.linalg.cholesky_ex(hessian)
    step = torch.cholesky_solve(gradient[:, :, None], factor)[:, :, 0]
    # a factor that failed leaves numbers without meaning in its own document only
    step = torch.where((info == 0)[:, None] & torch.isfinite(step), step, gradient / prior.precision.diagonal())
    # at a maximum, bounds differ by rounding alone, which would have every document try all sizes
    least = best - torch.finfo(best.dtype).eps * best.abs()
    lam, best, expected, value = lam.clone(), best.clone(), expected.clone(), value.clone()
    # backtracking: documents whose step does not raise their bound try a quarter of it
    rows = torch.arange(len(lam), device=lam.device)
    for _ in range(6):
        part, tried = batch.at(rows), lam[rows] + step[rows]
        new_value, new_expected = word_part(part, word_phi if part is batch else word_phi[rows], tried)
        new = new_value + rest(part, prior, tried, var[rows])
        better = new >= least[rows]
        moved = rows[better]
        lam[moved], best[moved], expected[moved], value[moved] = (
            x[better] for x in (tried, new, new_expected, new_value)
        )
        rows = rows[~better]
        if not len(rows):
            break
        step = step / 4
    return lam, best, expected, value


def _spread(batch: Batch, prior: Prior, lam: Tensor, var: Tensor, best: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Fixed-point steps ν_k² = 1 / (Σ⁻¹_kk + N e^{λ_k + ν_k²/2} / ζ), taken where the bound does not fall."""
    diagonal = prior.precision.diagonal()
    for _ in range(2):
        # where the derivative of the bound by ν² is 0, given ν² on the right
        tried = 1 / (diagonal + batch.total[:, None] * _shares(lam, var))
        new = value + rest(batch, prior, lam, tried)
        better = new >= best
        var = torch.where(better[:, None], tried, var)
        best = torch.where(better, new, best)
    return var, best
