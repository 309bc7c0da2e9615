"""Random draws per document that depend on neither the batch, the document order, nor the device's generator state.

The generator is counter-based (Salmon et al. 2011): each number is a hash of the document's key, a stream and a place,
by the mixing function of SplitMix64. All functions take NumPy arrays or torch tensors, and return the same kind;
the hashes and uniform numbers are equal to the last bit, logarithms to a few units in the last place.
"""

from __future__ import annotations

import math
import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import group_sums, places_of
from momus.numeric.types import Ints

Array: TypeAlias = Any
"""A NumPy array or a torch tensor; torch is not imported here, for installations without it."""

_GOLDEN = -7046029254386353131  # 2⁶⁴ / φ, as a signed number
_FIRST, _SECOND = -4658895280553007687, -7723592293110705685


def mixed(x: Any) -> Any:
    """The finaliser of SplitMix64 on 64-bit integers, in place for arrays and tensors in main memory.

    torch masks the sign bits that a right shift of a negative number brings in.
    """
    if isinstance(x, np.ndarray):
        bits = x.view(np.uint64)  # shifts bring in zeros
        for shift, factor in ((30, _FIRST), (27, _SECOND)):
            bits ^= bits >> np.uint64(shift)
            bits *= np.uint64(factor % 2**64)
        bits ^= bits >> np.uint64(31)
        return x
    if not isinstance(x, np.generic) and x.is_cpu:
        mixed(x.numpy())  # the same memory; NumPy needs fewer operations
        return x
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        x = (x ^ ((x >> shift) & ((1 << (64 - shift)) - 1))) * factor
    return x ^ ((x >> 31) & ((1 << 33) - 1))


def _integers(parts: tuple[Array | int, ...]) -> list[Array]:
    """The parts as int64 arrays of one library and one device: torch's if any of them is a tensor."""
    torch: Any = sys.modules.get("torch")  # without it, no part is a tensor
    tensors = [p for p in parts if torch is not None and isinstance(p, torch.Tensor)]
    if not tensors:
        return [np.asarray(p, dtype=np.int64) for p in parts]
    # compute on the device of the arrays: scalars move to it
    device = next((t.device for t in tensors if t.ndim), tensors[0].device)
    return [torch.asarray(p, dtype=torch.int64, device=device) for p in parts]


def _library(x: Array) -> Any:
    """The module that computes with an array."""
    return np if isinstance(x, np.ndarray | np.generic) else sys.modules["torch"]


def hashed(*parts: Array | int, after: Array | int = 0) -> Array:
    """Hash integers, broadcast against one another, to int64.

    Parameters
    ----------
    after
        The hash of parts that come before these: ``hashed(b, after=hashed(a))`` is ``hashed(a, b)``. It saves hashing
        ``a`` again for every ``b``.

    >>> [int(x) for x in hashed(np.arange(2), 1)]
    [-5821677484683391100, 5306726986202815968]
    """
    x, *rest = _integers((after, *parts))
    with np.errstate(over="ignore"):  # modulo 2⁶⁴ is meant; NumPy warns of it for scalars only
        for key in rest:
            x = mixed((x * 31 + _GOLDEN) + key)  # a new array each time, which the mixing may overwrite
    return x


def uniforms(*parts: Array | int, after: Array | int = 0) -> Array:
    """Draw uniformly from (0, 1): float64, one number per element of the broadcast parts; ``after`` as in `hashed`.

    >>> u = uniforms(np.arange(20_000), 1)
    >>> bool((u > 0).all() and (u < 1).all()), round(float(u.mean()), 1), round(float(12 * u.var()), 1)
    (True, 0.5, 1.0)
    """
    bits = (hashed(*parts, after=after) >> 11) & ((1 << 53) - 1)
    library = _library(bits)
    # the middles of 2⁵³ equal parts of (0, 1)
    return (library.asarray(bits, dtype=library.float64) + 0.5) / (1 << 53)


def log_gammas(shape: Array, *parts: Array | int, after: Array | int = 0) -> Array:
    """Draw from Gamma(shape, 1) by the method of Marsaglia & Tsang (2000) and return the logarithms, float64.

    Parameters
    ----------
    shape
        Shape parameters, positive; broadcast against the parts.
    after
        The hash of parts that come before these, as in `hashed`.

    >>> x = np.exp(log_gammas(np.full(20_000, 0.3), np.arange(20_000)))
    >>> round(float(x.mean()), 1), round(float(x.var()), 1)
    (0.3, 0.3)
    """
    key = hashed(*parts, after=after)
    xp = _library(key)
    shape = xp.asarray(shape, dtype=xp.float64)
    size = np.broadcast_shapes(tuple(shape.shape), tuple(key.shape))
    # one element per row, (N,)
    shape, key = (xp.broadcast_to(x, size).reshape(-1) for x in (shape, key))
    # sample Gamma(shape + 1), since the method needs a shape of at least 1; the last line maps it to Gamma(shape)
    d = shape + 2 / 3
    c = 1 / xp.sqrt(9 * d)
    streams = hashed(key)  # what the random numbers of all attempts have in common
    out = xp.zeros_like(d)
    missing = xp.ones_like(d, dtype=bool)
    # rejection: each attempt draws for the elements that still lack one, shape (m,), from three streams of its number
    for attempt in range(32):
        k, dd, cc = streams[missing], d[missing], c[missing]
        radius = xp.sqrt(-2 * xp.log(uniforms(3 * attempt, after=k)))
        normal = radius * xp.cos(2 * math.pi * uniforms(3 * attempt + 1, after=k))
        v = (1 + cc * normal) ** 3
        log_v = xp.log(xp.clip(v, 1e-300, None))
        accepted = (v > 0) & (xp.log(uniforms(3 * attempt + 2, after=k)) < 0.5 * normal**2 + dd - dd * v + dd * log_v)
        drawn = xp.where(missing)[0][accepted]
        out[drawn] = (xp.log(dd) + log_v)[accepted]
        missing[drawn] = False
        if not bool(missing.any()):
            break
    # log of Gamma(shape + 1) · U^(1 / shape)
    return (out + xp.log(uniforms(97, after=streams)) / shape).reshape(size)


def document_keys(codes: NDArray[np.integer], offsets: Ints, seed: int) -> Ints:
    """Hash the codes of each document, in order, to a key: int64 (n,); equal documents have equal keys.

    >>> a, b, c = document_keys(np.array([1, 2, 2, 1, 1, 2]), np.array([0, 2, 4, 6]), 0)
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    # hash each code with its place in the document, shape (codes,), and add the hashes per document (modulo 2⁶⁴)
    sums = group_sums(hashed(codes, places_of(offsets)), offsets - offsets[0])
    return np.asarray(hashed(sums, np.diff(offsets), seed))
