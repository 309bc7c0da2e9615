"""Loaded models: one home in each process for what critics and adapters load, and never save.

A critic calls `resource` wherever it needs its model. Nothing is stored on the critic, so that the model takes no part
in saving, pickling, cloning or comparing critics; another process loads it anew when it first needs it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Ints

P = ParamSpec("P")
T = TypeVar("T")
MOST = 8
"""Resources kept in a process; then the one that was used longest ago is dropped."""
_Key = tuple[Hashable, ...]
_LOADED: OrderedDict[_Key, tuple[Any, list[Any]]] = OrderedDict()
_LOCK = threading.RLock()


def resource(load: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return ``load(*args, **kwargs)``, loaded once in this process.

    Equal parameters share one resource, over all critics; a device is a parameter like the others, so each device has
    its own copy of a model. What is returned must not be changed.

    Parameters
    ----------
    load
        A function or class of a module. A lambda or a function within a function is another one at each call.
    args, kwargs
        Its parameters. Numbers, texts, lists and mappings are compared by value; other objects, such as fitted arrays,
        by identity, and once they are gone so is the resource.

    Raises
    ------
    UsageError
        ``load`` is not at the level of a module or class.

    >>> def encoder(model: str, device: str) -> list[str]:
    ...     print("loading", model)
    ...     return [model, device]
    >>> resource(encoder, "tiny", device="cpu")
    loading tiny
    ['tiny', 'cpu']
    >>> resource(encoder, "tiny", device="cpu") is resource(encoder, "tiny", device="cpu")
    True
    """
    name = getattr(load, "__qualname__", "<object>")
    if "<" in name:
        raise UsageError(f"resource cannot be loaded by {name}", hint="give a function at the level of a module")
    kept: list[Any] = []
    key: _Key = (load, _key([*args], kept), _key(kwargs, kept))
    with _LOCK:
        if key not in _LOADED:
            value = load(*args, **kwargs)
            _LOADED[key] = value, [_watched(o, key) for o in kept]
            while len(_LOADED) > MOST:
                _LOADED.popitem(last=False)
        _LOADED.move_to_end(key)
        loaded: T = _LOADED[key][0]
        return loaded


def release() -> None:
    """Drop all resources of this process, and with them their memory."""
    with _LOCK:
        _LOADED.clear()


def _key(value: Any, kept: list[Any]) -> Hashable:
    """What a parameter is compared by; objects that are compared by identity are added to ``kept``."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bytes | int | float | os.PathLike):
        return type(value), value
    if isinstance(value, Mapping):
        return dict, tuple((str(k), _key(value[k], kept)) for k in sorted(value, key=str))
    if isinstance(value, list | tuple):
        return list, tuple(_key(v, kept) for v in value)
    kept.append(value)
    return type(value), id(value)


def _watched(value: Any, key: _Key) -> Any:
    """A reference that drops the resource when the object dies: its id is then free for another object."""
    try:
        return weakref.ref(value, lambda _: _LOADED.pop(key, None))
    except TypeError:  # not weakly referable: kept alive with the resource
        return value


def token_batches(lengths: Sequence[int] | Ints, tokens: int) -> list[Ints]:
    """Rows of a corpus in batches of similar length, the longest first, each of at most ``tokens`` with its padding.

    A network then computes little padding, in batches of bounded memory; the first batch takes the most.

    Parameters
    ----------
    lengths
        Tokens of each row, (N,).

    Returns
    -------
    Row numbers of each batch; a row longer than ``tokens`` is a batch by itself.

    >>> [b.tolist() for b in token_batches([3, 9, 4, 1], 12)]
    [[1], [2, 0, 3]]
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-sizes, kind="stable")
    batches, start = [], 0
    while start < len(order):
        # the first row is the longest: all rows of the batch are padded to its length
        stop = start + max(1, tokens // max(1, int(sizes[order[start]])))
        batches.append(order[start:stop])
        start = stop
    return batches
