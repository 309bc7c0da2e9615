"""Fitted critics on disk: readable ``critic.json``, and ``arrays.safetensors`` for the arrays."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from scipy import sparse

from momus.errors import StoreError, UsageError
from momus.estimator import Estimator

if TYPE_CHECKING:
    from momus.critic.base import Critic

FORMAT = 1
JSON_NAME, ARRAYS_NAME = "critic.json", "arrays.safetensors"
_T = TypeVar("_T", bound=Estimator)


def save_critic(critic: Critic[Any], folder: Path) -> None:
    """Write a fitted critic, replacing any critic in the folder.

    Raises
    ------
    StoreError
        A parameter or fitted attribute has a type that cannot be stored.
    """
    from safetensors.numpy import save_file

    from momus.version import __version__

    arrays: dict[str, np.ndarray[Any, Any]] = {}
    content = {
        "format": FORMAT,
        "momus": __version__,
        "critic": critic.name,
        "class": f"{type(critic).__module__}:{type(critic).__qualname__}",
        "params": critic.get_params(),
        "state": _pack(critic, "", arrays),
    }
    try:
        text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"critic {critic.name!r} cannot be saved: {error}",
            hint="use only numbers, strings, lists, dicts, arrays and Estimators as parameters and fitted attributes",
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, folder / ARRAYS_NAME)
    (folder / JSON_NAME).write_text(text + "\n", encoding="utf-8")


def _pack(estimator: Estimator, prefix: str, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    """Turn the fitted state into JSON values, moving its arrays into ``arrays`` under dotted keys."""
    return {name: _pack_value(value, f"{prefix}{name}", arrays) for name, value in estimator.state().items()}


def _pack_value(value: Any, key: str, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """A JSON value; what JSON cannot hold becomes a tagged object (``@array``, ``@csr``, ``@part``, ``@float``)."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[key] = value
        return {"@array": key}
    if sparse.issparse(value):
        csr = sparse.csr_array(value)
        arrays.update({f"{key}.data": csr.data, f"{key}.indices": csr.indices, f"{key}.indptr": csr.indptr})
        return {"@csr": key, "shape": list(csr.shape)}
    if isinstance(value, Estimator):
        return {"@part": _pack(value, f"{key}.", arrays)}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"@float": repr(value)}
    return value


def read_critic_json(folder: Path) -> dict[str, Any]:
    """Read ``critic.json``.

    Raises
    ------
    StoreError
        The file is missing, or was written in a format that this version does not know.
    """
    path = folder / JSON_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(
            f"{folder}: no {JSON_NAME} in this folder", hint="name a folder that `momus fit` wrote"
        ) from error
    except (ValueError, OSError) as error:
        raise StoreError(f"{path}: not readable as JSON ({error})", hint="fit and save the critic again") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        version = content.get("format") if isinstance(content, dict) else type(content).__name__
        raise StoreError(f"{path}: format {version!r}, expected {FORMAT}", hint="another version of momus wrote it")
    return cast("dict[str, Any]", content)


def load_critic(folder: Path, cls: type[_T]) -> _T:
    """Rebuild a critic of class ``cls`` from a folder.

    Raises
    ------
    StoreError
        The folder holds another critic, or its files are damaged or incomplete.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    content = read_critic_json(folder)
    if content["critic"] != getattr(cls, "name", None):
        raise StoreError(
            f"{folder} holds critic {content['critic']!r}, not {getattr(cls, 'name', cls.__name__)!r}",
            hint="load it with momus.load_critic(folder), which looks up the class",
        )
    try:
        arrays = load_file(folder / ARRAYS_NAME)
    except (OSError, SafetensorError) as error:
        raise StoreError(f"{folder / ARRAYS_NAME}: not readable ({error})", hint="fit and save it again") from error
    try:
        critic = cls.with_params(content["params"], place=str(folder / JSON_NAME))
        _unpack(critic, content["state"], arrays)
    except (KeyError, TypeError) as error:
        raise StoreError(f"{folder}: the saved critic is incomplete ({error})", hint="fit and save it again") from error
    except UsageError as error:
        raise StoreError(error.message, hint=error.hint) from error
    return critic


def _unpack(estimator: Estimator, state: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Set the fitted attributes that `_pack` wrote."""
    for name, value in state.items():
        if not name.endswith("_") or name.startswith("_"):
            raise StoreError(f"{name!r} is not a fitted attribute", hint="fit and save the critic again")
        setattr(estimator, name, _unpack_value(estimator, name, value, arrays))


def _unpack_value(estimator: Estimator, name: str, value: Any, arrays: dict[str, Any]) -> Any:
    """The value that `_pack_value` wrote."""
    if not isinstance(value, dict):
        return value
    if "@array" in value:
        return arrays[value["@array"]]
    if "@csr" in value:
        key = value["@csr"]
        csr = (arrays[f"{key}.data"], arrays[f"{key}.indices"], arrays[f"{key}.indptr"])
        return sparse.csr_array(csr, shape=tuple(value["shape"]))
    if "@part" in value:
        inner = estimator.component(name)
        _unpack(inner, value["@part"], arrays)
        return inner
    return float(value["@float"]) if "@float" in value else value
