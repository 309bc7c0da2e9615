"""Stochastic variational inference with mini-batches (Hoffman et al. 2013; Kingma & Welling 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyro
import torch
from pyro import infer, optim, poutine
from pyro.distributions.transforms import biject_to
from pyro.poutine.util import site_is_subsample
from torch import Tensor

from momus.errors import FittingError, UsageError
from momus.numeric.types import Floats
from momus.progress import stage
from momus_adapters.pyro.programs import Programs, foreign

GLOBAL_DRAWS = 200


def nesting_of(programs: Programs, x: Tensor) -> int:
    """Number of batch dimensions that the plates of both programs take.

    Raises
    ------
    UsageError
        A program fails on one document.
    """
    store = pyro.get_param_store()
    with foreign("on one document"), store.scope(), torch.random.fork_rng(devices=[]):  # leaves no parameter behind
        guide = poutine.trace(programs.guide).get_trace(x[:1], 1)
        model = poutine.trace(poutine.replay(programs.model, trace=guide)).get_trace(x[:1], 1)
    sites = [s for t in (guide, model) for s in t.nodes.values() if s["type"] == "sample"]
    return max((-f.dim for s in sites for f in s["cond_indep_stack"] if f.dim is not None), default=0)


def train(
    programs: Programs, x: Tensor, steps: int, batch: int, rate: float, decay: float, particles: int, seed: int
) -> Floats:
    """Maximise the ELBO with ADAM; the parameters stay in Pyro's store.

    Returns
    -------
    An unbiased estimate of the ELBO at each step, in nats per document.

    Raises
    ------
    FittingError
        The ELBO is no longer finite.
    UsageError
        A program fails on a batch.
    """
    size = len(x)
    rng = np.random.default_rng(seed)
    elbo = infer.TraceEnum_ELBO if _enumerates(programs, x) else infer.Trace_ELBO
    loss = elbo(num_particles=particles, max_plate_nesting=nesting_of(programs, x), vectorize_particles=False)
    scaled = [poutine.scale(p, 1 / size) for p in (programs.model, programs.guide)]
    schedule = optim.ClippedAdam({"lr": rate, "lrd": decay ** (1 / max(steps, 1))})
    svi: Any = infer.SVI(*scaled, schedule, loss)
    curve, order = [], np.zeros(0, dtype=np.int64)  # order: rows of this epoch that are still to be used
    with stage("SVI", steps) as advance:
        for step in range(steps):
            if len(order) < min(batch, size):
                order = rng.permutation(size)
            rows, order = order[:batch], order[batch:]
            with foreign(f"at step {step + 1} of SVI"):
                value = -float(svi.step(x[torch.as_tensor(rows)], size))
            if not np.isfinite(value):
                raise FittingError(f"the ELBO is {value} at step {step + 1} of SVI", hint="lower rate")
            curve.append(value)
            advance(step + 1)
    return np.array(curve)


def _enumerates(programs: Programs, x: Tensor) -> bool:
    with pyro.get_param_store().scope(), torch.random.fork_rng(devices=[]):
        guide = poutine.trace(programs.guide).get_trace(x[:1], 1)
    return any(s["infer"].get("enumerate") == "parallel" for s in guide.nodes.values() if s["type"] == "sample")


def global_values(programs: Programs, x: Tensor, plate: str) -> dict[str, Tensor]:
    """Posterior means of the guide's latent sites outside of the plate, taken on the unconstrained scale.

    Raises
    ------
    UsageError
        One of these sites is discrete.
    """
    sums: dict[str, Tensor] = {}
    sites: dict[str, Any] = {}
    with torch.no_grad(), foreign("on one document"):
        for number in range(GLOBAL_DRAWS):
            trace = poutine.trace(programs.guide).get_trace(x[:1], 1)
            sites = {
                n: s
                for n, s in trace.nodes.items()
                if s["type"] == "sample"
                and not s["is_observed"]
                and not site_is_subsample(s)
                and all(f.name != plate for f in s["cond_indep_stack"])
            }
            if not sites:
                break
            for name, site in sites.items():
                if site["fn"].support.is_discrete:
                    raise UsageError(
                        f"latent site {name!r} is discrete and outside of the plate {plate!r}",
                        hint="sum it out, or make it a parameter",
                    )
                unconstrained = biject_to(site["fn"].support).inv(site["value"])
                sums[name] = unconstrained if number == 0 else sums[name] + unconstrained
    return {n: biject_to(s["fn"].support)(sums[n] / GLOBAL_DRAWS) for n, s in sites.items()}
