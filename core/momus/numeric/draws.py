"""Random draws that belong to a document: the same whatever its batch, its place in the corpus, or the device's state.

Numbers come from a counter, not from a generator that steps on: a hash of the document's key, a stream and a place
(Salmon et al. 2011), by the mixing function of SplitMix64.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from momus.numeric.ragged import owners_of, places_of

_GOLDEN = -7046029254386353131  # 2⁶⁴ / φ, as a signed number
_FIRST, _SECOND = -4658895280553007687, -7723592293110705685


def _mixed(x: Tensor) -> Tensor:
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        x = (x ^ ((x >> shift) & ((1 << (64 - shift)) - 1))) * factor
    return x ^ ((x >> 31) & ((1 << 33) - 1))


def hashed(*parts: Tensor | int) -> Tensor:
    """Mix integers, broadcast against one another, into int64 hashes."""
    x = torch.zeros((), dtype=torch.int64)
    for part in parts:
        p = part if isinstance(part, Tensor) else torch.tensor(part, dtype=torch.int64)
        x = _mixed(x.to(p.device) * 31 + p + _GOLDEN) if p.ndim else _mixed(x * 31 + p.to(x.device) + _GOLDEN)
    return x


def uniforms(*parts: Tensor | int) -> Tensor:
    """Numbers in (0, 1), float64, one for each combination of the parts.

    >>> u = uniforms(torch.arange(20_000), 1)
    >>> bool((u > 0).all() and (u < 1).all()), round(float(u.mean()), 1), round(float(12 * u.var()), 1)
    (True, 0.5, 1.0)
    """
    bits = (hashed(*parts) >> 11) & ((1 << 53) - 1)
    return (bits.double() + 0.5) / (1 << 53)


def log_gammas(shape: Tensor, *parts: Tensor | int) -> Tensor:
    """Logarithms of draws from Gamma(shape, 1), float64, by the method of Marsaglia & Tsang (2000).

    Parameters
    ----------
    shape
        Positive; broadcast against the parts.

    >>> x = log_gammas(torch.full((20_000,), 0.3), torch.arange(20_000)).exp()
    >>> round(float(x.mean()), 1), round(float(x.var()), 1)
    (0.3, 0.3)
    """
    key = hashed(*parts)
    shape, key = torch.broadcast_tensors(shape.double(), key)  # type: ignore[no-untyped-call]
    d = shape + 2 / 3  # of shape + 1; brought down below, since shapes under 1 have no mode to sample around
    c = 1 / (9 * d).sqrt()
    out = torch.zeros_like(d)
    missing = torch.ones_like(d, dtype=torch.bool)
    for attempt in range(32):
        k, dd, cc = key[missing], d[missing], c[missing]
        normal = (-2 * uniforms(k, 3 * attempt).log()).sqrt() * (2 * torch.pi * uniforms(k, 3 * attempt + 1)).cos()
        v = (1 + cc * normal) ** 3
        log_v = v.clamp_min(1e-300).log()
        good = (v > 0) & (uniforms(k, 3 * attempt + 2).log() < 0.5 * normal**2 + dd - dd * v + dd * log_v)
        where = torch.nonzero(missing, as_tuple=True)
        taken = tuple(w[good] for w in where)
        out[taken] = (dd.log() + log_v)[good]
        missing[taken] = False
        if not bool(missing.any()):
            break
    return out + uniforms(key, 97).log() / shape


def document_keys(codes: NDArray[np.integer], offsets: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """A key for each document from its codes in their order, int64 (n,); equal documents have equal keys.

    >>> a, b, c = document_keys(np.array([1, 2, 2, 1, 1, 2]), np.array([0, 2, 4, 6]), 0)
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    lengths = np.diff(offsets)
    place = torch.from_numpy(places_of(offsets))
    each = hashed(torch.from_numpy(codes.astype(np.int64)), place)
    sums = torch.zeros(len(lengths), dtype=torch.int64)
    sums.index_add_(0, torch.from_numpy(owners_of(offsets)), each)
    return np.asarray(hashed(sums, torch.from_numpy(lengths.astype(np.int64)), seed).numpy())
