"""Random draws per document that depend on neither the batch, the document order, nor the device's generator state.

The generator is counter-based (Salmon et al. 2011): each number is a hash of the document's key, a stream and a place,
by the mixing function of SplitMix64.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from momus.numeric.ragged import owners_of, places_of
from momus.numeric.types import Ints

_GOLDEN = -7046029254386353131  # 2⁶⁴ / φ, as a signed number
_FIRST, _SECOND = -4658895280553007687, -7723592293110705685


def _mix(x: Tensor) -> Tensor:
    """SplitMix64 on int64; the masks clear the sign bits that a right shift of a negative number brings in."""
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        x = (x ^ ((x >> shift) & ((1 << (64 - shift)) - 1))) * factor
    return x ^ ((x >> 31) & ((1 << 33) - 1))


def hashed(*parts: Tensor | int) -> Tensor:
    """Hash integers, broadcast against one another, to int64."""
    x = torch.zeros((), dtype=torch.int64)
    for part in parts:
        p = part if isinstance(part, Tensor) else torch.tensor(part, dtype=torch.int64)
        # compute on the device of the arrays: scalars move to it
        x = _mix(x.to(p.device) * 31 + p + _GOLDEN) if p.ndim else _mix(x * 31 + p.to(x.device) + _GOLDEN)
    return x


def uniforms(*parts: Tensor | int) -> Tensor:
    """Draw uniformly from (0, 1): float64, one number per element of the broadcast parts.

    >>> u = uniforms(torch.arange(20_000), 1)
    >>> bool((u > 0).all() and (u < 1).all()), round(float(u.mean()), 1), round(float(12 * u.var()), 1)
    (True, 0.5, 1.0)
    """
    # the upper 53 bits of the hash; half a step is added to exclude 0
    bits = (hashed(*parts) >> 11) & ((1 << 53) - 1)
    return (bits.double() + 0.5) / (1 << 53)


def log_gammas(shape: Tensor, *parts: Tensor | int) -> Tensor:
    """Draw from Gamma(shape, 1) by the method of Marsaglia & Tsang (2000) and return the logarithms, float64.

    Parameters
    ----------
    shape
        Shape parameters, positive; broadcast against the parts.

    >>> x = log_gammas(torch.full((20_000,), 0.3), torch.arange(20_000)).exp()
    >>> round(float(x.mean()), 1), round(float(x.var()), 1)
    (0.3, 0.3)
    """
    key = hashed(*parts)
    shape, key = torch.broadcast_tensors(shape.double(), key)  # type: ignore[no-untyped-call]
    # sample Gamma(shape + 1), since the method needs a shape of at least 1; the last line maps it to Gamma(shape)
    d = shape + 2 / 3
    c = 1 / (9 * d).sqrt()
    out = torch.zeros_like(d)
    missing = torch.ones_like(d, dtype=torch.bool)
    # rejection: each attempt draws for the elements that still lack one, shape (m,), from three streams of its number
    for attempt in range(32):
        k, dd, cc = key[missing], d[missing], c[missing]
        normal = (-2 * uniforms(k, 3 * attempt).log()).sqrt() * (2 * torch.pi * uniforms(k, 3 * attempt + 1)).cos()
        v = (1 + cc * normal) ** 3
        log_v = v.clamp_min(1e-300).log()
        accepted = (v > 0) & (uniforms(k, 3 * attempt + 2).log() < 0.5 * normal**2 + dd - dd * v + dd * log_v)
        where = torch.nonzero(missing, as_tuple=True)
        drawn = tuple(w[accepted] for w in where)
        out[drawn] = (dd.log() + log_v)[accepted]
        missing[drawn] = False
        if not bool(missing.any()):
            break
    return out + uniforms(key, 97).log() / shape  # log of Gamma(shape + 1) · U^(1 / shape)


def document_keys(codes: NDArray[np.integer], offsets: Ints, seed: int) -> Ints:
    """Hash the codes of each document, in order, to a key: int64 (n,); equal documents have equal keys.

    >>> a, b, c = document_keys(np.array([1, 2, 2, 1, 1, 2]), np.array([0, 2, 4, 6]), 0)
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    lengths = np.diff(offsets)
    # hash each code with its place in the document, shape (codes,), and add the hashes per document (modulo 2⁶⁴)
    hashes = hashed(torch.from_numpy(codes.astype(np.int64)), torch.from_numpy(places_of(offsets)))
    sums = torch.zeros(len(lengths), dtype=torch.int64)
    sums.index_add_(0, torch.from_numpy(owners_of(offsets)), hashes)
    return np.asarray(hashed(sums, torch.from_numpy(lengths.astype(np.int64)), seed).numpy())
