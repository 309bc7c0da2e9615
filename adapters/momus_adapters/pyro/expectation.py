"""E log P_c(z) of each document, from traces of a model and its guide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from pyro import poutine
from pyro.poutine.util import site_is_subsample
from torch import Tensor

from momus.errors import UsageError
from momus.numeric.draws import hashed
from momus_adapters.pyro.keyed import Keyed, Unkeyed
from momus_adapters.pyro.programs import Given, Programs, foreign

MOST_ROWS, MOST_NUMBERS = 1 << 14, 1 << 23
"""Draws that are scored at once: so many rows, and so many numbers in them."""


@dataclass
class Draw:
    """What draws from the guide give, one a row, all in nats.

    Attributes
    ----------
    sites
        log P_c of each latent site, (B,), by name: expected over sites that the guide enumerates.
    guide, data
        log density of the guide, and of the observed sites, (B,).
    values
        The values of the sites that were drawn, (B, d).
    """

    sites: dict[str, Tensor]
    guide: Tensor
    data: Tensor
    values: Tensor


@dataclass
class Sampler:
    """Draws from a guide, scored under a model.

    Attributes
    ----------
    parameters, fixed
        Values of parameters, and of latent sites outside of the plate (global ones).
    plate, plates
        Name of the plate over documents, and how many batch dimensions all plates take.
    """

    programs: Programs
    parameters: Mapping[str, Tensor]
    fixed: Mapping[str, Tensor]
    plate: str
    seed: int
    plates: int

    def draw(self, x: Tensor, keys: Tensor, draws: int) -> Draw:
        """Draw so many times for each document: B · S rows, the draws of a document one after the other.

        Raises
        ------
        UsageError
            A program fails, or does not keep the contract.
        """
        rows = min(MOST_ROWS, max(1, MOST_NUMBERS // max(1, x[:1].numel())))
        together = max(1, rows // draws)
        parts = []
        for start in range(0, len(x), together):
            some, own = x[start : start + together], keys[start : start + together]
            number = torch.arange(draws, device=own.device)
            own = hashed(own[:, None], self.seed, number[None, :]).flatten()
            parts.append(self._keyed(some.repeat_interleave(draws, dim=0), own))
        return _joined(parts)

    def _keyed(self, x: Tensor, keys: Tensor) -> Draw:
        """Draw by keys where every distribution has a rule, else one row at a time."""
        try:
            with foreign(f"on {len(x)} documents"), Keyed(keys, self.plate):
                return self._traced(x)
        except Unkeyed:
            parts = []
            for i, key in enumerate(keys.tolist()):
                torch.manual_seed(key & ((1 << 63) - 1))
                parts.append(self._traced(x[i : i + 1]))
            return _joined(parts)

    def nothing_drawn(self, x: Tensor) -> bool:
        """Whether the guide enumerates all that it knows, so that one draw is exact."""
        sites = _latent(self._guide_trace(x[:1]), self.plate)
        return all("_enumerate_dim" in s["infer"] or type(s["fn"]).__name__ == "Delta" for s in sites.values())

    def _guide_trace(self, x: Tensor) -> Any:
        guide = poutine.condition(self.programs.guide, data=dict(self.fixed))
        with Given(self.parameters):
            return poutine.trace(poutine.enum(guide, first_available_dim=-1 - self.plates)).get_trace(x, len(x))

    def _traced(self, x: Tensor) -> Draw:
        guide = self._guide_trace(x)
        conditioned = poutine.condition(self.programs.model, data=dict(self.fixed))
        with Given(self.parameters):
            model = poutine.trace(poutine.replay(conditioned, trace=guide)).get_trace(x, len(x))
        return _scored(model, guide, self.plate, len(x))


def _joined(parts: list[Draw]) -> Draw:
    sites = {k: torch.cat([p.sites[k] for p in parts]) for k in parts[0].sites}
    return Draw(sites, *(torch.cat([getattr(p, k) for p in parts]) for k in ("guide", "data", "values")))


def _latent(trace: Any, plate: str) -> dict[str, Any]:
    """Sites of the plate that are neither observed nor auxiliary."""
    return {
        name: site
        for name, site in trace.nodes.items()
        if site["type"] == "sample" and not site["is_observed"] and not site_is_subsample(site) and _dim(site, plate)
    }


def _dim(site: Any, plate: str) -> int:
    """The batch dimension of the documents, 0 where the site is outside of their plate."""
    return next((int(f.dim) for f in site["cond_indep_stack"] if f.name == plate), 0)


def _log_prob(site: Any) -> Tensor:
    value: Tensor = site["fn"].log_prob(site["value"])
    if site["mask"] is not None:
        value = torch.where(torch.as_tensor(site["mask"]), value, torch.zeros_like(value))
    return value


def _scored(model: Any, guide: Any, plate: str, size: int) -> Draw:
    latent, drawn = _latent(model, plate), _latent(guide, plate)
    missing = [n for n in latent if n not in drawn]
    if missing:
        raise UsageError(
            f"the guide has no site {missing[0]!r}, which the model has",
            hint="give the guide a posterior for every latent site of a document, enumerated ones too",
        )
    if not latent:
        raise UsageError(
            f"the model has no latent site in a plate called {plate!r}",
            hint="open the plate of the documents with momus_adapters.pyro.documents(x, size)",
        )
    log_q = {n: _log_prob(s) for n, s in drawn.items()}
    enumerated = {s["infer"]["_enumerate_dim"]: n for n, s in drawn.items() if "_enumerate_dim" in s["infer"]}

    def expected(site: Any, value: Tensor) -> Tensor:
        return per_document(marginal(value, log_q, enumerated), _dim(site, plate), size)

    zero = torch.zeros(size)
    observed = [s for s in model.nodes.values() if s["type"] == "sample" and s["is_observed"] and _dim(s, plate)]
    values = [
        _flat(s["value"], len(s["fn"].event_shape) - _dim(s, plate), size)
        for s in drawn.values()
        if "_enumerate_dim" not in s["infer"]
    ]
    return Draw(
        {n: expected(s, _log_prob(s)) for n, s in latent.items()},
        sum((expected(s, log_q[n]) for n, s in drawn.items()), zero),
        sum((expected(s, _log_prob(s)) for s in observed), zero),
        torch.cat(values, dim=1) if values else torch.zeros(size, 0),
    )


def marginal(value: Tensor, log_q: Mapping[str, Tensor], enumerated: Mapping[int, str]) -> Tensor:
    """Expect a value over the enumerated sites that it hangs on, directly or through their own posteriors.

    Parameters
    ----------
    value
        A tensor whose dimensions left of the plates run over enumerated values.
    log_q
        log probabilities under the guide, by site.
    enumerated
        The site of each such dimension (negative numbers).

    >>> log_q = {"k": torch.tensor([0.25, 0.75]).log()[:, None]}
    >>> marginal(torch.tensor([[4.0], [8.0]]), log_q, {-2: "k"}).tolist()
    [[7.0]]
    """
    wanted = [d for d in enumerated if _runs(value, d)]
    for d in wanted:  # grows while it is walked through
        wanted += [e for e in enumerated if e not in wanted and _runs(log_q[enumerated[d]], e)]
    if not wanted:
        return value
    log_weight = sum((log_q[enumerated[d]] for d in wanted), torch.zeros(()))
    weight = log_weight.exp()
    product = torch.where(weight > 0, weight * value, torch.zeros(()))
    return product.sum(dim=tuple(wanted), keepdim=True)


def _runs(value: Tensor, dim: int) -> bool:
    return value.dim() >= -dim and value.shape[dim] > 1


def per_document(value: Tensor, dim: int, size: int) -> Tensor:
    """Sum over all batch dimensions but that of the documents, (B,).

    >>> per_document(torch.ones(2, 3), -2, 2).tolist()
    [3.0, 3.0]
    """
    return _flat(value, -dim, size).sum(dim=1)


def _flat(value: Tensor, axis_from_right: int, size: int) -> Tensor:
    axis = value.dim() - axis_from_right
    if axis < 0:
        return value.reshape(1, -1).expand(size, -1)
    moved = value.movedim(axis, 0)
    moved = moved.reshape(moved.shape[0], -1)
    return moved.expand(size, -1) if len(moved) != size else moved
