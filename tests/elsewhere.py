"""A device for tests on machines without a GPU: it computes on the CPU, but treats memory as a GPU does.

Within `Elsewhere`, torch's device ``meta`` holds data. A computation that mixes its tensors with those of the CPU
fails, and so does ``numpy()`` without ``cpu()``, as on a GPU. Numbers of no dimension, and index tensors, may come
from the CPU there too.
"""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("meta")
aten = torch.ops.aten
INDEXED = {aten.index.Tensor, aten.index_put_.default, aten.index_put.default, aten._index_put_impl_.default}


class Away(torch.Tensor):
    """A tensor on the device, which holds one of the CPU."""

    @staticmethod
    def __new__(cls, here: torch.Tensor) -> "Away":
        return torch.Tensor._make_wrapper_subclass(
            cls, here.size(), here.stride(), here.storage_offset(), dtype=here.dtype, device=DEVICE
        )

    def __init__(self, here: torch.Tensor) -> None:
        self.here = here

    def __repr__(self) -> str:
        return f"Away({self.here!r})"

    def tolist(self) -> Any:
        """The numbers, as of a tensor of any device; torch refuses this of subclasses."""
        return self.here.tolist()

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(func, args, kwargs or {})


def compute(func: Any, args: Any, kwargs: Any) -> Any:
    """Compute on the CPU; refuse what a GPU would refuse."""
    target = kwargs.get("device")
    if target is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    tensors = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
    away = [t for t in tensors if isinstance(t, Away)]
    moves = func in (aten._to_copy.default, aten.copy_.default)
    if away and not moves:
        checked = list(tree_leaves(args[:1])) if func in INDEXED else tensors
        for t in checked:
            if isinstance(t, torch.Tensor) and not isinstance(t, Away) and t.dim():
                raise RuntimeError(f"{func}: a tensor of the CPU, {tuple(t.shape)}, among those of the device")
    held = {id(t.here): t for t in away}
    out = func(
        *tree_map(lambda t: t.here if isinstance(t, Away) else t, args),
        **tree_map(lambda t: t.here if isinstance(t, Away) else t, kwargs),
    )
    there = bool(away) if target is None else torch.device(target).type == DEVICE.type
    if func is aten.copy_.default:
        return args[0]

    def wrapped(t: Any) -> Any:
        if not isinstance(t, torch.Tensor) or not there:
            return t
        return held.get(id(t)) if id(t) in held else Away(t)

    return tree_map(wrapped, out)


class Elsewhere(TorchDispatchMode):
    """The device exists within this context."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return compute(func, args, kwargs or {})
