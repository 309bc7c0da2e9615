"""Interfaces of the tools that critics use to read text: section classifiers and sentence embedders.

Adapters register a tool under the entry-point group ``momus.adapters`` as ``posterior.NAME`` or ``embedder.NAME``: a
callable that takes keyword parameters and returns a `momus.estimator.Estimator` with the methods below. Critics request
tools by name and never import them. What takes long to load is loaded once in a process (`resource`).
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from momus.errors import UsageError
from momus.estimator import Estimator, check_params, construct
from momus.numeric.temperature import calibration_error, fit_temperature, softmax
from momus.numeric.types import Floats, Ints
from momus.plugins import ADAPTERS, load_plugin, registered
from momus.text.corpus import Corpus

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


@runtime_checkable
class SectionPosterior(Protocol):
    """Classifier of sections: P_c(z_m | x_m), the type of a section given its text.

    Attributes
    ----------
    held_out
        Measurements on held-out sections: ``accuracy``, ``calibration_error``, ``sections``; empty before `fit`.
    """

    @property
    def held_out(self) -> Mapping[str, float]:
        """Accuracy and calibration on sections that were not used for fitting."""
        ...

    def fit(self, corpus: Corpus, labels: Ints, states: int) -> Self:
        """Learn from N labelled sections; those labelled −1 are ignored."""
        ...

    def predict(self, batch: Corpus) -> Floats:
        """Return P(z_m = k | x_m): float array (N, K) whose rows sum to 1."""
        ...


class CalibratedPosterior(Estimator):
    """A posterior whose logits are divided by a temperature, fitted on held-out sections (`SectionPosterior`)."""

    temperature_: float

    def calibrate(self, logits: Floats, truth: Ints) -> None:
        """Fit the temperature on the logits (N, K) and types (N,) of held-out sections; measure accuracy there."""
        self.temperature_ = fit_temperature(logits, truth)
        self.held_out_ = {
            "accuracy": float((logits.argmax(axis=1) == truth).mean()),
            "calibration_error": calibration_error(softmax(logits, self.temperature_), truth),
            "sections": len(truth),
        }

    @property
    def held_out(self) -> Mapping[str, float]:
        """Accuracy and calibration error on the held-out sections, on which the temperature was fitted."""
        return getattr(self, "held_out_", {})


@runtime_checkable
class Embedder(Protocol):
    """Vectors of short texts such as sentences."""

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn from real texts, if the embedder has parameters to learn."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one vector per text: float array (N, V); a vector does not depend on the rest of the batch."""
        ...


def adapter_names(role: str) -> list[str]:
    """List the names of the adapters registered for a role, without importing any."""
    return [n.removeprefix(f"{role}.") for n in registered(ADAPTERS) if n.startswith(f"{role}.")]


def make_adapter(
    role: str,
    name: str,
    parameters: Mapping[str, Any],
    builtin: Sequence[str] = (),
    kinds: Sequence[type[Any]] = (Estimator,),
) -> Any:
    """Construct an adapter by name.

    Parameters
    ----------
    role
        ``posterior``, ``embedder``, ``resolver`` or ``scorer``.
    parameters
        Keyword parameters of the adapter.
    builtin
        Names that the calling critic implements itself; the error message lists them too.
    kinds
        What the adapter must be, such as an `Embedder`.

    Raises
    ------
    UsageError
        There is no such adapter, it does not accept these parameters or their values, or it is of another kind.
    PluginError
        The adapter cannot be imported.
    """
    known = adapter_names(role)
    if name not in known:
        raise UsageError(f"{role} is {name!r}", hint=f"choose one of {', '.join([*builtin, *known])}")
    factory = load_plugin(ADAPTERS, f"{role}.{name}")
    if isinstance(factory, type) and issubclass(factory, Estimator):
        adapter: Any = construct(factory, dict(parameters), place=f"{role} {name!r}")
        check_params(adapter)
    else:
        try:
            adapter = factory(**parameters)
        except TypeError as error:
            raise UsageError(f"{role} {name!r}: {error}", hint="see the adapter's parameters") from error
    for expected in kinds:
        if not isinstance(adapter, expected):
            actual, wanted = type(adapter).__name__, f"{expected.__module__}.{expected.__qualname__}"
            raise UsageError(f"{role} {name!r} gives {actual}, not a {wanted}")
    return adapter
