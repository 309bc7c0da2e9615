"""Models of other tools, saved without pickle: by name (``package.module:name``), as arrays, or as scikit-learn's own.

A scikit-learn estimator stores what it has learned in attributes whose names end in an underscore. If these are
numbers, strings, arrays, dictionaries of numbers, or scikit-learn estimators in turn, the estimator can be saved and
rebuilt from its class and its attributes. If there is anything else (a tree, a compiled function), saving raises an
error.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save
from scipy import sparse

from momus.critic import Critic
from momus.critic.fitted import Fitted
from momus.critic.hooks import check_fitted
from momus.critic.tools import resource
from momus.errors import StoreError, UsageError
from momus.estimator import Estimator, fitted_state


def resolve(named: str | Callable[..., Any], role: str) -> Callable[..., Any]:
    """Look up a function or class by name; a function or class itself is returned unchanged.

    Parameters
    ----------
    named
        ``package.module:name``, or the object. The module is imported: use only names from sources that you trust.
    role
        What error messages call it.

    Raises
    ------
    UsageError
        The name does not exist, is not callable, or belongs to Python's own library, which has no models but has
        functions that a saved critic must not be able to call.

    >>> resolve("momus.text.vocabulary:normalize_title", "function").__name__
    'normalize_title'
    """
    if not isinstance(named, str):
        if not callable(named):
            raise UsageError(f"{role} is {named!r}, which cannot be called", hint="give a function or a class")
        return named
    module, colon, path = named.partition(":")
    if not colon or not module or not path:
        raise UsageError(f"{role} is {named!r}", hint='write it as "package.module:name"')
    if module.partition(".")[0] in sys.stdlib_module_names and module != "__main__":
        raise UsageError(f"{role} is {named!r}, from Python's own library", hint="name an object of another package")
    try:
        target: Any = pkgutil.resolve_name(named)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{role} {named!r} cannot be imported: {error}", hint="install its package, or correct the name"
        ) from error
    if not callable(target):
        raise UsageError(f"{role} {named!r} is {type(target).__name__}, which cannot be called", hint="name a function")
    return target  # type: ignore[no-any-return]


def name_of(named: str | Callable[..., Any], role: str) -> str:
    """Return the name under which another process can import an object.

    Raises
    ------
    StoreError
        The object has no such name: it is a lambda, is defined inside a function, or belongs to a script.

    >>> from momus.text.vocabulary import normalize_title
    >>> name_of(normalize_title, "function")
    'momus.text.vocabulary:normalize_title'
    """
    if isinstance(named, str):
        return named
    module, path = getattr(named, "__module__", ""), getattr(named, "__qualname__", type(named).__qualname__)
    name = f"{module}:{path}"
    try:
        if module != "__main__" and "<" not in path and resolve(name, role) is named:
            return name
    except UsageError:
        pass
    raise StoreError(
        f"{role} {path} of {module} cannot be saved: it cannot be imported by name",
        hint='define it at the top level of a module, and pass "package.module:name"',
    )


def save_named(critic: Critic[Any], folder: str | Path, *roles: str) -> None:
    """Save a fitted critic whose parameters are objects: ``roles`` by their names, others as given.

    Raises
    ------
    StoreError
        An object cannot be imported by name: a lambda, or a function defined inside a function.
    """
    check_fitted(critic)
    names = {role: name_of(getattr(critic, role), role) for role in roles}
    named = type(critic)(**{**critic.get_params(deep=False), **names})
    vars(named).update(fitted_state(critic))
    Critic.save(named, folder)


class Tensors(Estimator):
    """Arrays by name, stored as the bytes of a safetensors file.

    >>> stored = Tensors.of({"b": np.eye(2), "a": np.arange(3)})
    >>> stored.arrays()["a"], stored.arrays()["b"].shape
    (array([0, 1, 2]), (2, 2))
    """

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Store these arrays."""
        stored = cls()
        content = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
        stored.bytes_ = np.frombuffer(content, dtype=np.uint8)
        return stored

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays, with their shapes and types."""
        arrays: dict[str, NDArray[Any]] = load(self.bytes_.tobytes())
        return arrays

    def check_finite(self, state: Fitted, name: str) -> None:
        """Refuse arrays with infinite values; ``state`` holds these arrays as the attribute ``name``."""
        for key, value in self.arrays().items():
            state.require(bool(np.isfinite(value).all()), name, f"finite numbers in {key!r}")

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        state.array("bytes_", (None,), "u")
        try:
            arrays = self.arrays().values()
        except (SafetensorError, ValueError, KeyError) as error:
            raise state.fail("bytes_", f"arrays that can be read ({error})") from error
        state.require(all(a.dtype.kind in "biuf" and not np.isnan(a).any() for a in arrays), "bytes_", "numbers")

    bytes_: NDArray[np.uint8]


PACKAGE = "sklearn."
"""Only classes of this package are constructed when a folder is read."""

ONLY_FOR_FITTING = ("_optimizer", "_random_state", "_no_improvement_count")


class SavedEstimator(Estimator):
    """A fitted scikit-learn estimator that can be saved.

    >>> from sklearn.naive_bayes import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0], [0, 4]], [0, 1])
    >>> again = SavedEstimator.of(model).build()
    >>> again.predict_proba([[2, 1]]).round(3).tolist() == model.predict_proba([[2, 1]]).round(3).tolist()
    True
    """

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Encode an estimator.

        Raises
        ------
        StoreError
            It holds something that neither JSON nor arrays can represent.
        """
        saved = cls()
        arrays: dict[str, Any] = {}
        saved.content_ = _encode(estimator, type(estimator).__name__, arrays)
        saved.arrays_ = Tensors.of(arrays)
        return saved

    def build(self) -> Any:
        """Rebuild the estimator.

        Raises
        ------
        StoreError
            The folder names a class that does not belong to scikit-learn.
        """
        return _decode(self.content_, self.arrays_.arrays())

    @property
    def classes_(self) -> Any:
        """The classes of a classifier."""
        return resource(SavedEstimator.build, self).classes_

    def predict_proba(self, rows: Any) -> Any:
        """Probabilities of the classes, one row per input.

        Raises
        ------
        StoreError
            The estimator fails: estimators trust their own state, and this one came from a folder.
        """
        estimator = resource(SavedEstimator.build, self)
        try:
            return estimator.predict_proba(rows)
        except Exception as error:  # of any kind
            raise StoreError(
                f"the saved {type(estimator).__name__} cannot be used ({type(error).__name__}: {error})",
                hint="the saved critic is damaged: fit and save it again",
            ) from error

    def new_arrays(self) -> Tensors:
        """What saved arrays are read into."""
        return Tensors()

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        state.require(isinstance(state.value("content_"), dict), "content_", "a description of an estimator")
        state.component("arrays_", Tensors)
        try:
            self.build()
        except (ImportError, RecursionError) as error:
            raise state.fail("content_", f"a scikit-learn estimator that this version can build ({error})") from error

    content_: Any
    arrays_: Tensors


def _encode(value: Any, path: str, arrays: dict[str, Any]) -> Any:
    """``value`` as JSON; arrays are added to ``arrays`` under their path within the estimator."""
    if value is None or isinstance(value, str | bool | int | float):
        return {"float": repr(value)} if isinstance(value, float) and not np.isfinite(value) else value
    if isinstance(value, np.generic):
        return _encode(value.item(), path, arrays)
    if isinstance(value, np.ndarray):
        return _encode_array(value, path, arrays)
    if isinstance(value, list | tuple):
        return {
            "list": [_encode(v, f"{path}[{i}]", arrays) for i, v in enumerate(value)],
            "kind": type(value).__name__,
        }
    if isinstance(value, dict):
        items = [[_encode(k, path, arrays), _encode(v, f"{path}[{k!r}]", arrays)] for k, v in value.items()]
        return {"dict": items}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"dtype": np.dtype(value).str}
    if sparse.issparse(value):
        return {"sparse": _encode_array(value.toarray(), path, arrays)}
    if type(value).__module__.startswith(PACKAGE) and hasattr(value, "get_params"):
        return _encode_estimator(value, path, arrays)
    raise StoreError(
        f"{path} is {type(value).__module__}.{type(value).__qualname__}, which cannot be saved without pickle",
        hint="score in this process without saving, or choose an estimator whose state is arrays and numbers",
    )


def _encode_array(value: np.ndarray, path: str, arrays: dict[str, Any]) -> Any:
    if value.dtype.kind in "biuf":
        arrays[path] = value
        return {"array": path}
    return {"objects": [_encode(v, path, arrays) for v in value.ravel().tolist()], "shape": list(value.shape)}


def _encode_estimator(value: Any, path: str, arrays: dict[str, Any]) -> Any:
    params = {k: _encode(v, f"{path}.{k}", arrays) for k, v in value.get_params(deep=False).items()}
    names = [k for k in vars(value) if k not in params and k not in ONLY_FOR_FITTING]
    return {
        "class": f"{type(value).__module__}:{type(value).__qualname__}",
        "params": params,
        "state": {k: _encode(vars(value)[k], f"{path}.{k}", arrays) for k in names},
    }


def _decode(content: Any, arrays: dict[str, Any]) -> Any:
    if not isinstance(content, dict):
        return content
    if "float" in content:
        return float(content["float"])
    if "array" in content:
        return arrays[content["array"]]
    if "objects" in content:
        return np.array([_decode(v, arrays) for v in content["objects"]]).reshape(content["shape"])
    if "list" in content:
        items = [_decode(v, arrays) for v in content["list"]]
        return tuple(items) if content["kind"] == "tuple" else items
    if "dict" in content:
        return {_decode(k, arrays): _decode(v, arrays) for k, v in content["dict"]}
    if "dtype" in content:
        return np.dtype(content["dtype"]).type
    if "sparse" in content:
        return sparse.csr_matrix(_decode(content["sparse"], arrays))
    return _decode_estimator(content, arrays)


def _decode_estimator(content: dict[str, Any], arrays: dict[str, Any]) -> Any:
    from sklearn.base import BaseEstimator

    module, _, name = str(content["class"]).partition(":")
    kind = getattr(importlib.import_module(module), name, None) if module.startswith(PACKAGE) else None
    if not (isinstance(kind, type) and issubclass(kind, BaseEstimator)):
        raise StoreError(f"{content['class']!r} is no scikit-learn estimator", hint="fit and save the critic again")
    estimator = kind(**{k: _decode(v, arrays) for k, v in content["params"].items()})
    for key, value in content["state"].items():
        setattr(estimator, key, _decode(value, arrays))
    return estimator
