"""Fitted scikit-learn estimators as JSON and arrays, without pickle.

A scikit-learn estimator stores what it has learned in attributes whose names end in an underscore. If these are
numbers, strings, arrays, dictionaries of numbers, or scikit-learn estimators in turn, the estimator can be saved and
rebuilt from its class and its attributes. If there is anything else (a tree, a compiled function), saving raises an
error.
"""

from __future__ import annotations

import importlib
from typing import Any, Self

import numpy as np
from scipy import sparse

from momus.critic.fitted import Fitted
from momus.errors import StoreError
from momus.estimator import ComponentsMixin, Estimator
from momus_adapters.saved.objects import Tensors

PACKAGE = "sklearn."
"""Only classes of this package are constructed when a folder is read."""

ONLY_FOR_FITTING = ("_optimizer", "_random_state", "_no_improvement_count")


class Rebuilt:
    """An estimator that was rebuilt from a folder: what goes wrong in it is a damaged folder, and is said so."""

    def __init__(self, saved: SavedEstimator) -> None:
        self.estimator = saved.build()

    @property
    def classes_(self) -> Any:
        """The classes of a classifier."""
        return self.estimator.classes_

    def predict_proba(self, rows: Any) -> Any:
        """Probabilities of the classes, one row per input.

        Raises
        ------
        StoreError
            The estimator fails.
        """
        try:
            return self.estimator.predict_proba(rows)
        except Exception as error:  # of any kind: estimators trust their own state, and this one came from a folder
            name = type(self.estimator).__name__
            raise StoreError(
                f"the saved {name} cannot be used ({type(error).__name__}: {error})",
                hint="the saved critic is damaged: fit and save it again",
            ) from error


class SavedEstimator(Estimator, ComponentsMixin):
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
        estimator = estimator.estimator if isinstance(estimator, Rebuilt) else estimator
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

    def new_arrays(self) -> Tensors:
        """What saved arrays are read into."""
        return Tensors()

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
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
