"""E log P_c(z) per document, from draws of a guide, scored under a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from pyro import poutine
from torch import Tensor

from momus.errors import UsageError
from momus.numeric.draws import hashed
from momus_adapters.pyro.keyed import Keyed
from momus_adapters.pyro.programs import Given, Programs, Unkeyed, foreign, latent_sites, plate_dim

MOST_ROWS, MOST_NUMBERS = 1 << 14, 1 << 23
"""Maximum number of rows (draws) scored at once, and of numbers in them."""


@dataclass
class Draw:
    """Log densities of draws from the guide, in nats, one row per draw.

    Attributes
    ----------
    sites
        log P_c of each latent site, (B,), by name: the expectation over sites that the guide enumerates.
    values
        Values of the drawn sites, (B, d).
    """

    sites: dict[str, Tensor]
    values: Tensor


@dataclass
class Sampler:
    """Draws from a guide, scored under a model.

    Attributes
    ----------
    parameters
        Values of parameters.
    plates
        Number of batch dimensions that all plates take.
    """

    programs: Programs
    parameters: Mapping[str, Tensor]
    seed: int
    plates: int

    def draw(self, x: Tensor, keys: Tensor, draws: int) -> Draw:
        """Draw ``draws`` times per document: B · S rows, with the draws of a document in consecutive rows.

        Raises
        ------
        UsageError
            A program fails, or violates the contract.
        """
        rows = min(MOST_ROWS, max(1, MOST_NUMBERS // max(1, x[:1].numel())))
        documents = max(1, rows // draws)
        chunks = []
        for start in range(0, len(x), documents):
            chunk, chunk_keys = x[start : start + documents], keys[start : start + documents]
            # one key per draw, (documents, S) flattened, in the order of repeat_interleave
            number = torch.arange(draws, device=chunk_keys.device)
            draw_keys = hashed(chunk_keys[:, None], self.seed, number[None, :]).flatten()
            chunks.append(self._keyed(chunk.repeat_interleave(draws, dim=0), draw_keys))
        return _concatenated(chunks)

    def _keyed(self, x: Tensor, keys: Tensor) -> Draw:
        """Draw by keys if every distribution has a rule, else row by row with a seeded generator."""
        try:
            with foreign(f"on {len(x)} documents"), Keyed(keys):
                return self._traced(x)
        except Unkeyed:
            draws = []
            for i, key in enumerate(keys.tolist()):
                torch.manual_seed(key & ((1 << 63) - 1))
                draws.append(self._traced(x[i : i + 1]))
            return _concatenated(draws)

    def nothing_drawn(self, x: Tensor) -> bool:
        """Whether all sites of the guide are enumerated or fixed: one draw is then exact."""
        sites = latent_sites(self._guide_trace(x[:1]))
        return all("_enumerate_dim" in s["infer"] or type(s["fn"]).__name__ == "Delta" for s in sites.values())

    def _guide_trace(self, x: Tensor) -> Any:
        guide = poutine.enum(self.programs.guide, first_available_dim=-1 - self.plates)
        with Given(self.parameters):
            return poutine.trace(guide).get_trace(x, len(x))

    def _traced(self, x: Tensor) -> Draw:
        """Trace the guide, replay the model on the same values, and score both."""
        guide = self._guide_trace(x)
        with Given(self.parameters):
            model = poutine.trace(poutine.replay(self.programs.model, trace=guide)).get_trace(x, len(x))
        return _scored(model, guide, len(x))


def _concatenated(draws: list[Draw]) -> Draw:
    sites = {k: torch.cat([d.sites[k] for d in draws]) for k in draws[0].sites}
    return Draw(sites, torch.cat([d.values for d in draws]))


def _log_prob(site: Any) -> Tensor:
    value: Tensor = site["fn"].log_prob(site["value"])
    if site["mask"] is not None:
        value = torch.where(torch.as_tensor(site["mask"]), value, torch.zeros_like(value))
    return value


def _scored(model: Any, guide: Any, size: int) -> Draw:
    latent, posterior = latent_sites(model), latent_sites(guide)
    missing = [n for n in latent if n not in posterior]
    if missing:
        raise UsageError(
            f"the guide has no site {missing[0]!r}, but the model has",
            hint="add a posterior to the guide for every latent site of a document, including enumerated ones",
        )
    if not latent:
        raise UsageError(
            "the model has no latent site in the plate of the documents",
            hint="open the plate of the documents with momus_adapters.pyro.documents(x, size)",
        )
    log_q = {n: _log_prob(s) for n, s in posterior.items()}
    enumerated = {s["infer"]["_enumerate_dim"]: n for n, s in posterior.items() if "_enumerate_dim" in s["infer"]}

    def expected(site: Any, value: Tensor) -> Tensor:
        return per_document(marginal(value, log_q, enumerated), plate_dim(site), size)

    values = [
        _flat(s["value"], len(s["fn"].event_shape) - plate_dim(s), size)
        for s in posterior.values()
        if "_enumerate_dim" not in s["infer"]
    ]
    return Draw(
        {n: expected(s, _log_prob(s)) for n, s in latent.items()},
        torch.cat(values, dim=1) if values else torch.zeros(size, 0),
    )


def marginal(value: Tensor, log_q: Mapping[str, Tensor], enumerated: Mapping[int, str]) -> Tensor:
    """Expectation of a value over the enumerated sites that it depends on, directly or through their posteriors.

    Parameters
    ----------
    value
        A tensor whose dimensions left of the plates range over enumerated values.
    log_q
        Log-probabilities under the guide, by site.
    enumerated
        The site of each such dimension (a negative number).

    >>> log_q = {"k": torch.tensor([0.25, 0.75]).log()[:, None]}
    >>> marginal(torch.tensor([[4.0], [8.0]]), log_q, {-2: "k"}).tolist()
    [[7.0]]
    """
    summed = [d for d in enumerated if _varies(value, d)]
    for d in summed:  # grows during the loop: the posterior of a site may depend on another enumerated site
        summed += [e for e in enumerated if e not in summed and _varies(log_q[enumerated[d]], e)]
    if not summed:
        return value
    log_weight = sum((log_q[enumerated[d]] for d in summed), torch.zeros(()))
    weight = log_weight.exp()
    product = torch.where(weight > 0, weight * value, torch.zeros(()))
    return product.sum(dim=tuple(summed), keepdim=True)


def _varies(value: Tensor, dim: int) -> bool:
    return value.dim() >= -dim and value.shape[dim] > 1


def per_document(value: Tensor, dim: int, size: int) -> Tensor:
    """Sum over all batch dimensions except that of the documents, (B,).

    >>> per_document(torch.ones(2, 3), -2, 2).tolist()
    [3.0, 3.0]
    """
    return _flat(value, -dim, size).sum(dim=1)


def _flat(value: Tensor, axis_from_right: int, size: int) -> Tensor:
    """Move the axis of the documents to the front and flatten the others: (size, d)."""
    axis = value.dim() - axis_from_right
    if axis < 0:
        return value.reshape(1, -1).expand(size, -1)
    moved = value.movedim(axis, 0)
    moved = moved.reshape(moved.shape[0], -1)
    return moved.expand(size, -1) if len(moved) != size else moved
