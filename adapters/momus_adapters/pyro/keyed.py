"""Draws that depend on the document alone, not on the rest of the batch.

Pyro draws from one sequential generator, with which a document's draws would depend on its position in the batch. Here
the random numbers of a sample site come from a hash of the document, the seed, the draw, the site and the element
(`momus.numeric.draws`), by the inverse distribution function or by normal and gamma variates.
"""

from __future__ import annotations

from typing import Any

import torch
from pyro.poutine.messenger import Messenger
from torch import Tensor
from torch import distributions as td

from momus.numeric.draws import log_gammas, uniforms
from momus_adapters.pyro.programs import Unkeyed, plate_dim


class Noise:
    """Random numbers of one site; ``keys`` (B,) run along ``axis`` of the requested shape.

    >>> noise = Noise(torch.arange(3), 0, (1, 2))
    >>> several = noise.uniform(torch.Size([3, 4]))
    >>> bool((Noise(torch.arange(1, 2), 0, (1, 2)).uniform(torch.Size([1, 4])) == several[1]).all())
    True
    """

    def __init__(self, keys: Tensor, axis: int, place: tuple[int, ...]) -> None:
        self.keys, self.axis, self.place = keys, axis, place

    def parts(self, shape: torch.Size, stream: int) -> tuple[Tensor | int, ...]:
        """The integers that each element's number is hashed from, broadcasting to ``shape``."""
        # elements numbers all axes but that of the documents; the keys have length 1 on all axes but that
        within = list(shape)
        within[self.axis] = 1
        elements = torch.arange(torch.Size(within).numel(), device=self.keys.device).reshape(within)
        across = [1] * len(shape)
        across[self.axis] = len(self.keys)
        return (self.keys.reshape(across), elements, *self.place, stream)

    def uniform(self, shape: torch.Size, stream: int = 0) -> Tensor:
        """Uniform numbers in (0, 1)."""
        drawn: Tensor = uniforms(*self.parts(shape, stream))
        return drawn.to(torch.get_default_dtype())

    def normal(self, shape: torch.Size, stream: int = 0) -> Tensor:
        """Standard normal numbers (Box & Muller 1958)."""
        one: Tensor = uniforms(*self.parts(shape, 2 * stream))
        other: Tensor = uniforms(*self.parts(shape, 2 * stream + 1))
        radius, angle = (-2 * one.log()).sqrt(), 2 * torch.pi * other
        return (radius * angle.cos()).to(torch.get_default_dtype())

    def log_gamma(self, concentration: Tensor, stream: int = 0) -> Tensor:
        """Logarithms of draws from Gamma(concentration, 1)."""
        parts = self.parts(concentration.shape, stream)
        drawn: Tensor = log_gammas(concentration, *parts)
        return drawn.to(torch.get_default_dtype())


def draw(fn: Any, noise: Noise) -> Tensor:
    """Draw from a distribution.

    Raises
    ------
    Unkeyed
        The distribution has no rule.
    """
    inner = getattr(fn, "base_dist", None)
    if isinstance(fn, td.Independent) or type(fn).__name__ in ("MaskedDistribution", "ExpandedDistribution"):
        return draw(inner, noise)
    if type(fn).__name__ == "Delta":
        return fn.v  # type: ignore[no-any-return]
    for kind, rule in _RULES:
        if isinstance(fn, kind):
            return rule(fn, noise)  # type: ignore[no-any-return]
    if isinstance(fn, td.TransformedDistribution):
        value = draw(inner, noise)
        for transform in fn.transforms:
            value = transform(value)
        return value
    try:
        return fn.icdf(noise.uniform(fn.batch_shape + fn.event_shape))  # type: ignore[no-any-return]
    except (NotImplementedError, AttributeError) as error:
        raise Unkeyed(type(fn).__name__) from error


def _low_rank(fn: Any, noise: Noise) -> Tensor:
    shape = fn.batch_shape + fn.event_shape
    factors = noise.normal(fn.batch_shape + fn.cov_factor.shape[-1:], 1)
    return fn.loc + (fn.cov_factor @ factors[..., None])[..., 0] + fn.cov_diag.sqrt() * noise.normal(shape)  # type: ignore[no-any-return]


def _categorical(fn: Any, noise: Noise) -> Tensor:
    above = fn.probs.cumsum(-1) < noise.uniform(fn.batch_shape)[..., None]
    return above.sum(-1).clamp_max(fn.probs.shape[-1] - 1)  # type: ignore[no-any-return]


def _one_hot(fn: Any, noise: Noise) -> Tensor:
    index = _categorical(fn, noise)
    return torch.nn.functional.one_hot(index, fn.probs.shape[-1]).to(fn.probs.dtype)


def _beta(fn: Any, noise: Noise) -> Tensor:
    a, b = (noise.log_gamma(c, i) for i, c in enumerate((fn.concentration1, fn.concentration0)))
    return torch.sigmoid(a - b)


_RULES: tuple[tuple[Any, Any], ...] = (
    (td.Normal, lambda fn, noise: fn.loc + fn.scale * noise.normal(fn.batch_shape)),
    (
        td.MultivariateNormal,
        lambda fn, n: fn.loc + (fn.scale_tril @ n.normal(fn.batch_shape + fn.event_shape)[..., None])[..., 0],
    ),
    (td.LowRankMultivariateNormal, _low_rank),
    (td.Categorical, _categorical),
    (td.OneHotCategorical, _one_hot),
    (td.Bernoulli, lambda fn, noise: (noise.uniform(fn.batch_shape) < fn.probs).to(fn.probs.dtype)),
    (td.Gamma, lambda fn, noise: noise.log_gamma(fn.concentration).exp() / fn.rate),
    (td.Dirichlet, lambda fn, noise: noise.log_gamma(fn.concentration).softmax(-1)),
    (td.Beta, _beta),
)


class Keyed(Messenger):  # type: ignore[misc]
    """Set every latent site of the documents' plate to a value drawn by the keys of the documents."""

    def __init__(self, keys: Tensor) -> None:
        super().__init__()
        self.keys = keys
        self.sites = 0

    def _pyro_sample(self, msg: Any) -> None:
        fn = msg["fn"]
        if msg["is_observed"] or msg["value"] is not None or type(fn).__name__ == "_Subsample":
            return
        if msg["infer"].get("enumerate") == "parallel":
            return
        self.sites += 1
        noise = Noise(self.keys, len(fn.batch_shape) + plate_dim(msg), (self.sites,))
        value = draw(fn, noise)
        if value.shape != fn.batch_shape + fn.event_shape:
            raise Unkeyed(msg["name"])
        msg["value"] = value
