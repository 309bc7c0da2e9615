"""Estimator scikit-learn estimators as JSON and arrays, without pickle.

What an estimator has learned lies in attributes whose names end in an underscore. Where those are numbers, texts,
arrays, dictionaries of numbers, or further scikit-learn estimators, the estimator can be written down and built again
from its class and these; where there is anything else (a tree, a compiled function), it cannot, and an error says so.
"""

from __future__ import annotations

import importlib
from typing import Any, Self

import numpy as np
from scipy import sparse

from momus.errors import StoreError
from momus.estimator import Estimator
from momus_adapters.saved.arrays import Tensors

PACKAGE = "sklearn."
"""Only classes of this package are constructed from what a folder says."""

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
        """Write an estimator down.

        Raises
        ------
        StoreError
            It holds what can be written neither as JSON nor as arrays.
        """
        made = cls()
        arrays: dict[str, Any] = {}
        made.content_ = _encode(estimator, type(estimator).__name__, arrays)
        made.arrays_ = Tensors.of(arrays)
        return made

    def build(self) -> Any:
        """Make the estimator again.

        Raises
        ------
        StoreError
            The folder names a class that is none of scikit-learn's.
        """
        return _decode(self.content_, self.arrays_.arrays())

    def component(self, attribute: str) -> Estimator:
        """Make the empty part for arrays."""
        return Tensors() if attribute == "arrays_" else super().component(attribute)

    content_: Any
    arrays_: Tensors


def _encode(value: Any, place: str, arrays: dict[str, Any]) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return {"float": repr(value)} if isinstance(value, float) and not np.isfinite(value) else value
    if isinstance(value, np.generic):
        return _encode(value.item(), place, arrays)
    if isinstance(value, np.ndarray):
        return _encode_array(value, place, arrays)
    if isinstance(value, list | tuple):
        return {
            "list": [_encode(v, f"{place}[{i}]", arrays) for i, v in enumerate(value)],
            "kind": type(value).__name__,
        }
    if isinstance(value, dict):
        items = [[_encode(k, place, arrays), _encode(v, f"{place}[{k!r}]", arrays)] for k, v in value.items()]
        return {"dict": items}
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"dtype": np.dtype(value).str}
    if sparse.issparse(value):
        return {"sparse": _encode_array(value.toarray(), place, arrays)}
    if type(value).__module__.startswith(PACKAGE) and hasattr(value, "get_params"):
        return _encode_estimator(value, place, arrays)
    raise StoreError(
        f"{place} is {type(value).__module__}.{type(value).__qualname__}, which cannot be saved without pickle",
        hint="score with the critic in this process, or choose an estimator whose state is arrays and numbers",
    )


def _encode_array(value: np.ndarray, place: str, arrays: dict[str, Any]) -> Any:
    if value.dtype.kind in "biuf":
        arrays[place] = value
        return {"array": place}
    return {"objects": [_encode(v, place, arrays) for v in value.ravel().tolist()], "shape": list(value.shape)}


def _encode_estimator(value: Any, place: str, arrays: dict[str, Any]) -> Any:
    params = {k: _encode(v, f"{place}.{k}", arrays) for k, v in value.get_params(deep=False).items()}
    names = [k for k in vars(value) if k not in params and k not in ONLY_FOR_FITTING]
    return {
        "class": f"{type(value).__module__}:{type(value).__qualname__}",
        "params": params,
        "state": {k: _encode(vars(value)[k], f"{place}.{k}", arrays) for k in names},
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
    found = getattr(importlib.import_module(module), name, None) if module.startswith(PACKAGE) else None
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        raise StoreError(f"{content['class']!r} is no estimator of scikit-learn", hint="fit and save the critic again")
    made = found(**{k: _decode(v, arrays) for k, v in content["params"].items()})
    for key, value in content["state"].items():
        setattr(made, key, _decode(value, arrays))
    return made
