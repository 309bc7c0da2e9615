"""A model and a guide as Pyro runs them: made from names, with parameters that are given or learned."""

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
from pyro.poutine.messenger import Messenger
from torch import Tensor

from momus.errors import MomusError, UsageError
from momus_adapters.pyro.keyed import Unkeyed
from momus_adapters.saved.names import resolve

Arrays = dict[str, NDArray[Any]]
TYPES = {"float64": torch.float64, "float32": torch.float32}


def documents(x: Tensor, size: int, dim: int = -1, name: str = "documents") -> Any:
    """The plate over documents that a model and its guide share.

    Parameters
    ----------
    x
        The rows of the batch, (B, …).
    size
        How many documents the batch stands for, as the model and the guide are told.
    dim
        Batch dimension of the plate; further left where there are plates within a document.
    """
    return pyro.plate(name, size, subsample=torch.arange(len(x), device=x.device), dim=dim)


@contextmanager
def numerics(precision: str, device: str) -> Iterator[None]:
    """Run programs in a parameter store of their own, on a device, in a precision, with torch's generators put back.

    Raises
    ------
    UsageError
        There is no such precision.
    """
    if precision not in TYPES:
        raise UsageError(f"precision is {precision!r}", hint=f"choose one of {', '.join(TYPES)}")
    before = torch.get_default_dtype()
    cuda = [torch.device(device).index or 0] if device.startswith("cuda") else []
    torch.set_default_dtype(TYPES[precision])
    try:
        with torch.random.fork_rng(devices=cuda), torch.device(device), pyro.get_param_store().scope():
            yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def foreign(place: str) -> Iterator[None]:
    """Turn whatever a user's program raises into an error that says where.

    Raises
    ------
    UsageError
        Something was raised.
    """
    try:
        yield
    except (MomusError, Unkeyed):
        raise
    except Exception as error:
        raise UsageError(
            f"the model or the guide fails {place}: {type(error).__name__}: {error}",
            hint="both take (x, size), the rows of any number of documents and how many these stand for; parameters "
            "must not depend on how many there are: compute the posterior from x",
        ) from error


class Given(Messenger):  # type: ignore[misc]
    """Give parameters their learned values."""

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
    def made(
        cls,
        model: str | Callable[..., Any],
        guide: str | Callable[..., Any],
        options: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None],
        rows: NDArray[np.float64],
    ) -> Programs:
        """Look both up; classes are constructed, functions get their options as further arguments.

        Raises
        ------
        UsageError
            One cannot be imported, or does not take its options.
        """
        roles = zip(("model", "guide"), (model, guide), options, strict=True)
        return cls(*(_made(resolve(given, role), role, dict(own or {}), rows) for role, given, own in roles))

    def weights(self) -> Arrays:
        """States of those programs that are torch modules, parameters and buffers."""
        found: Arrays = {}
        for role, program in (("model", self.model), ("guide", self.guide)):
            if isinstance(program, torch.nn.Module):
                found |= {f"{role}/{k}": v.detach().cpu().numpy().copy() for k, v in program.state_dict().items()}
        return found

    def restore(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Load what `weights` gave, and leave training."""
        for role, program in (("model", self.model), ("guide", self.guide)):
            if isinstance(program, torch.nn.Module):
                own = {k.split("/", 1)[1]: torch.as_tensor(v) for k, v in weights.items() if k.startswith(role + "/")}
                program.load_state_dict(own)
                program.eval()

    def check_networks(self, names: list[str]) -> None:
        """Refuse networks that live outside of the programs, since two critics would share their weights.

        Raises
        ------
        UsageError
            A function registers a network with ``pyro.module``.
        """
        networks = sorted({n.split("$$$")[0] for n in names if "$$$" in n})
        if networks and not any(isinstance(p, torch.nn.Module) for p in (self.model, self.guide)):
            raise UsageError(
                f"network {networks[0]!r} is registered by a function, so that every fit would go on from the last",
                hint="write the program as a class of torch.nn.Module or PyroModule that constructs its networks",
            )


def _made(
    program: Callable[..., Any], role: str, options: dict[str, Any], rows: NDArray[np.float64]
) -> Callable[[Tensor, int], Any]:
    try:
        if not isinstance(program, type):
            return functools.partial(program, **options) if options else program
        if not issubclass(program, torch.nn.Module):
            raise UsageError(
                f"{role} is {program.__name__}, no torch.nn.Module", hint="give such a class or a function"
            )
        taken = inspect.signature(program).parameters
        offered = {"shape": rows.shape[1:], "rows": rows}
        made: Any = program(**{**{k: v for k, v in offered.items() if k in taken}, **options})
        if isinstance(made, torch.nn.Module):
            for parameter in made.parameters():  # else Pyro's store trains a copy, and the network stands still
                parameter.data = parameter.data.contiguous()
        return made  # type: ignore[no-any-return]
    except TypeError as error:
        raise UsageError(f"{role} {program!r} cannot be constructed: {error}", hint=f"see {role}_options") from error


def arrays_of(values: Mapping[str, Tensor]) -> Arrays:
    """Tensors on the host."""
    return {k: np.asarray(v.detach().cpu().numpy()).copy() for k, v in values.items()}


def tensors_of(values: Mapping[str, NDArray[Any]], device: str) -> dict[str, Tensor]:
    """Arrays on a device, in the precision of the moment."""
    kind = torch.get_default_dtype()
    made = {k: torch.as_tensor(v, device=device) for k, v in values.items()}
    return {k: v.to(kind) if v.is_floating_point() else v for k, v in made.items()}
