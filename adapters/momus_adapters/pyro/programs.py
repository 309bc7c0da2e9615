"""Model and guide as callables for Pyro: resolved from names, with learned or given parameters.

They are trained by stochastic variational inference with mini-batches (Hoffman et al. 2013; Kingma & Welling 2014).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyro
import torch
from numpy.typing import NDArray
from pyro import infer, optim, poutine
from pyro.poutine.messenger import Messenger
from pyro.poutine.util import site_is_subsample
from torch import Tensor

from momus.errors import FittingError, MomusError, StoreError, UsageError
from momus.numeric.types import Floats
from momus.progress import stage
from momus_adapters.saved import resolve

Arrays = dict[str, NDArray[Any]]
PLATE = "documents"


def documents(x: Tensor, size: int, dim: int = -1) -> Any:
    """The plate over documents that a model and its guide share.

    Parameters
    ----------
    x
        Rows of the batch, (B, …).
    size
        Number of documents that the batch represents: the second argument of the model and the guide.
    dim
        Batch dimension of the plate; further left if there are plates within a document.
    """
    return pyro.plate(PLATE, size, subsample=torch.arange(len(x), device=x.device), dim=dim)


@contextmanager
def numerics(device: str) -> Iterator[None]:
    """Run programs with a separate parameter store, on a device, in double precision; restore torch's generators."""
    before = torch.get_default_dtype()
    cuda = [torch.device(device).index or 0] if device.startswith("cuda") else []
    torch.set_default_dtype(torch.float64)
    try:
        with torch.random.fork_rng(devices=cuda), torch.device(device), pyro.get_param_store().scope():
            yield
    finally:
        torch.set_default_dtype(before)


class Unkeyed(Exception):
    """A distribution has no rule for drawing by keys."""


@contextmanager
def foreign(place: str) -> Iterator[None]:
    """Turn any exception of a user's program into an error that says where it occurred.

    Raises
    ------
    UsageError
        The program raised an exception.
    """
    try:
        yield
    except (MomusError, Unkeyed):
        raise
    except Exception as error:  # a user's program may raise anything
        raise UsageError(
            f"the model or the guide fails {place}: {type(error).__name__}: {error}",
            hint="both take (x, size): the rows of any number of documents, and the number of documents that these "
            "represent. Parameters must not depend on the number of rows: compute the posterior from x",
        ) from error


class Given(Messenger):  # type: ignore[misc]
    """Set parameters to their learned values."""

    def __init__(self, values: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.values = values

    def _pyro_param(self, msg: Any) -> None:
        if msg["name"] in self.values:
            msg["value"] = self.values[msg["name"]]


@dataclass
class Programs:
    """A model and a guide, each taking ``(x, size)``."""

    model: Callable[[Tensor, int], Any]
    guide: Callable[[Tensor, int], Any]

    @classmethod
    def of(cls, critic: Any, rows: Floats) -> Programs:
        """Resolve those of a critic; instantiate classes, and bind the options of functions.

        Raises
        ------
        UsageError
            One cannot be imported, or does not accept its options.
        """
        named = ((role, getattr(critic, role), getattr(critic, f"{role}_options") or {}) for role in ("model", "guide"))
        return cls(*(_callable(role, program, options, rows) for role, program, options in named))

    @property
    def networks(self) -> dict[str, torch.nn.Module]:
        """The programs that are torch modules, by role."""
        return {role: p for role, p in vars(self).items() if isinstance(p, torch.nn.Module)}

    def weights(self) -> Arrays:
        """Parameters and buffers of the programs that are torch modules."""
        state = {f"{role}/{k}": v for role, p in self.networks.items() for k, v in p.state_dict().items()}
        return arrays_of(state)

    def restore(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Load the result of `weights`, and switch to evaluation mode.

        Raises
        ------
        StoreError
            The weights are those of another network.
        """
        for role, network in self.networks.items():
            state = {k.split("/", 1)[1]: torch.as_tensor(v) for k, v in weights.items() if k.startswith(role + "/")}
            try:
                network.load_state_dict(state)
            except RuntimeError as error:  # names or shapes of another network
                raise StoreError(
                    f"the saved weights are not those of the {role}: {str(error).strip().splitlines()[-1].strip()}",
                    hint="the saved critic is damaged, or its program has changed: fit and save it again",
                ) from error
            network.eval()

    def check_networks(self, names: list[str]) -> None:
        """Refuse networks outside of the programs, since two critics would share their weights.

        Raises
        ------
        UsageError
            A function registers a network with ``pyro.module``.
        """
        registered = sorted(n.split("$$$")[0] for n in names if "$$$" in n)
        if registered and not self.networks:
            raise UsageError(
                f"network {registered[0]!r} is registered by a function: every fit would continue from the one before",
                hint="write the program as a class of torch.nn.Module or PyroModule that constructs its networks",
            )


def _callable(role: str, named: Any, options: Mapping[str, Any], rows: Floats) -> Callable[[Tensor, int], Any]:
    program = resolve(named, role)
    try:
        if not isinstance(program, type):
            return functools.partial(program, **options) if options else program
        if not issubclass(program, torch.nn.Module):
            raise UsageError(
                f"{role} is {program.__name__}, no torch.nn.Module", hint="give such a class or a function"
            )
        accepted = inspect.signature(program).parameters
        offered = {"shape": rows.shape[1:], "rows": rows}
        module: Any = program(**{**{k: v for k, v in offered.items() if k in accepted}, **options})
        for parameter in module.parameters():  # otherwise Pyro's store trains a copy, and the network never changes
            parameter.data = parameter.data.contiguous()
        return module  # type: ignore[no-any-return]
    except TypeError as error:
        raise UsageError(f"{role} {program!r} cannot be constructed: {error}", hint=f"see {role}_options") from error


def arrays_of(values: Mapping[str, Tensor]) -> Arrays:
    """Tensors as arrays on the host."""
    return {k: np.asarray(v.detach().cpu().numpy()).copy() for k, v in values.items()}


def latent_sites(trace: Any) -> dict[str, Any]:
    """The sample sites of a trace that are neither observed nor auxiliary."""
    sites = ((name, site) for name, site in trace.nodes.items() if site["type"] == "sample")
    return {name: site for name, site in sites if not site["is_observed"] and not site_is_subsample(site)}


def plate_dim(site: Any) -> int:
    """The batch dimension of the documents, a negative number; 0 if the site is outside of their plate."""
    return next((int(f.dim) for f in site["cond_indep_stack"] if f.name == PLATE), 0)


def shape_of(programs: Programs, x: Tensor) -> tuple[int, bool]:
    """Number of batch dimensions that the plates of both programs take, and whether the guide enumerates a site.

    Raises
    ------
    UsageError
        A program fails on one document, or has a latent site outside of the plate of the documents.
    """
    store = pyro.get_param_store()
    with foreign("on one document"), store.scope(), torch.random.fork_rng(devices=[]):  # leaves no parameter behind
        guide = poutine.trace(programs.guide).get_trace(x[:1], 1)
        model = poutine.trace(poutine.replay(programs.model, trace=guide)).get_trace(x[:1], 1)
    shared = [n for t in (guide, model) for n, s in latent_sites(t).items() if not plate_dim(s)]
    if shared:
        raise UsageError(
            f"latent site {shared[0]!r} is outside of the plate of the documents",
            hint="make it a parameter (pyro.param), or open momus_adapters.pyro.documents(x, size) around it",
        )
    sites = [(t, s) for t in (guide, model) for s in t.nodes.values() if s["type"] == "sample"]
    plates = max((-f.dim for _, s in sites for f in s["cond_indep_stack"] if f.dim is not None), default=0)
    return plates, any(t is guide and s["infer"].get("enumerate") == "parallel" for t, s in sites)


def train(programs: Programs, x: Tensor, critic: Any) -> Floats:
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
    size, steps = len(x), critic.steps
    rng = np.random.default_rng(critic.seed)
    plates, enumerates = shape_of(programs, x)
    elbo = infer.TraceEnum_ELBO if enumerates else infer.Trace_ELBO
    loss = elbo(max_plate_nesting=plates)
    scaled = [poutine.scale(p, 1 / size) for p in (programs.model, programs.guide)]
    schedule = optim.ClippedAdam({"lr": critic.rate, "lrd": critic.decay ** (1 / steps)})
    svi: Any = infer.SVI(*scaled, schedule, loss)
    curve, order = [], np.zeros(0, dtype=np.int64)  # order: rows of this epoch that are still to be used
    with stage("SVI", steps) as advance:
        for step in range(steps):
            if len(order) < min(critic.batch, size):
                order = rng.permutation(size)
            rows, order = order[: critic.batch], order[critic.batch :]
            with foreign(f"at step {step + 1} of SVI"):
                value = -float(svi.step(x[torch.as_tensor(rows)], size))
            if not np.isfinite(value):
                raise FittingError(f"the ELBO is {value} at step {step + 1} of SVI", hint="lower rate")
            curve.append(value)
            advance(step + 1)
    return np.array(curve)
