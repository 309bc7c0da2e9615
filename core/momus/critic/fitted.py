"""Fitted state as JSON values and arrays, and back; checks of what was read: form and finiteness.

``critic.json`` holds the values, ``arrays.safetensors`` the arrays.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
from scipy import sparse

from momus.errors import StoreError
from momus.estimator import Estimator, component, fitted_state
from momus.parameters import Range
from momus.schema import build

Arrays = dict[str, np.ndarray[Any, Any]]
AGAIN = "fit and save the critic again, with this version of momus"
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class Source(TypedDict):
    """Digests of the code that defines a critic: of core, and of the critic's own modules."""

    core: str
    critic: str


class FittedOn(TypedDict):
    """What a critic was fitted on, and by what code; older versions did not note that."""

    corpus: str
    documents: Annotated[int, Range(0)]
    left_out: Annotated[int, Range(0)]
    fingerprint: str
    source: NotRequired[Source]


def misfit(estimator: Estimator, name: str, expected: str) -> StoreError:
    """The error for a fitted attribute that is not as expected."""
    return StoreError(f"fitted attribute {name!r} of {type(estimator).__name__}: expected {expected}", hint=AGAIN)


def check_finite(estimator: Estimator) -> None:
    """Check that the state of an estimator and of its components holds no NaN and no infinity.

    Raises
    ------
    StoreError
        A floating-point value is not finite, and the class does not list it in ``may_be_infinite``.
    """
    unbounded = getattr(type(estimator), "may_be_infinite", ())
    for name, value in fitted_state(estimator).items():
        if isinstance(value, Estimator):
            check_finite(value)
        elif name not in unbounded and not _finite(value):
            raise misfit(estimator, name, "finite numbers")


def check_origin(critic: Estimator) -> None:
    """Check what every critic stores: what it was fitted on, and the hashes of those documents."""
    state = fitted_state(critic)
    hashes = state.get("fitted_hashes_")
    # compared, not subtracted: differences of unsigned numbers wrap
    unsigned = hashes if isinstance(hashes, np.ndarray) and hashes.dtype.kind == "u" else None
    if unsigned is None or unsigned.ndim != 1 or (unsigned[1:] <= unsigned[:-1]).any():
        raise misfit(critic, "fitted_hashes_", "unsigned integers in ascending order")
    build(FittedOn, state.get("fitted_on_"), "fitted attribute 'fitted_on_'", AGAIN)


def _finite(value: Any) -> bool:
    """Whether an array or number holds neither NaN nor infinity; other values do not."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "f" or bool(np.isfinite(value).all())
    if isinstance(value, float):
        return math.isfinite(value)
    return not sparse.issparse(value) or _finite(value.data)


def pack(estimator: Estimator, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Turn the fitted state into JSON values, moving its arrays into ``arrays`` under dotted keys."""
    return {name: _pack_value(value, f"{prefix}{name}", arrays) for name, value in fitted_state(estimator).items()}


def _pack_value(value: Any, key: str, arrays: Arrays) -> Any:
    """A JSON value; what JSON cannot hold becomes a tagged object (``@array``, ``@csr``, ``@part``, ``@float``)."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[key] = value
        return {"@array": key}
    if sparse.issparse(value):
        csr = sparse.csr_array(value)
        arrays.update({f"{key}.data": csr.data, f"{key}.indices": csr.indices, f"{key}.indptr": csr.indptr})
        return {"@csr": key, "shape": list(csr.shape)}
    if isinstance(value, Estimator):
        return {"@part": pack(value, f"{key}.", arrays)}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"@float": repr(value)}
    return value


def unpack(estimator: Estimator, state: dict[str, Any], arrays: Arrays, prefix: str = "") -> None:
    """Set the fitted attributes that `pack` wrote; arrays that are used are removed from ``arrays``.

    Raises
    ------
    StoreError
        A name is no fitted attribute, a tagged object is malformed, or an array is missing.
    """
    for name, value in state.items():
        if not name.endswith("_") or name.startswith("_") or not name.isidentifier():
            raise StoreError(f"{name!r} is not a fitted attribute", hint=AGAIN)
        if hasattr(type(estimator), name) and callable(getattr(type(estimator), name)):
            raise StoreError(f"{name!r} is a method, not a fitted attribute", hint=AGAIN)
        setattr(estimator, name, _unpack_value(estimator, name, value, arrays, f"{prefix}{name}"))


def _unpack_value(estimator: Estimator, name: str, value: Any, arrays: Arrays, key: str) -> Any:
    """The value that `_pack_value` wrote under this key."""
    if not isinstance(value, dict) or not any(k.startswith("@") for k in value):
        return value
    if value == {"@array": key}:
        return _taken(arrays, key)
    if value.get("@csr") == key and value.keys() == {"@csr", "shape"}:
        return _matrix(arrays, key, value["shape"])
    if value.keys() == {"@part"} and isinstance(value["@part"], dict):
        inner = component(estimator, name)
        unpack(inner, value["@part"], arrays, f"{key}.")
        return inner
    if value.keys() == {"@float"} and value["@float"] in _FLOATS:
        return _FLOATS[value["@float"]]
    raise StoreError(f"fitted attribute {key!r} is malformed", hint=AGAIN)


def _taken(arrays: Arrays, key: str) -> np.ndarray[Any, Any]:
    if key not in arrays:
        raise StoreError(f"array {key!r} is missing", hint=AGAIN)
    return arrays.pop(key)


def _matrix(arrays: Arrays, key: str, shape: Any) -> sparse.csr_array:
    """A sparse matrix whose indices lie within its shape."""
    parts = tuple(_taken(arrays, f"{key}.{name}") for name in ("data", "indices", "indptr"))
    sizes = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 0 <= n < 2**40 for n in shape)
    try:
        if not sizes or any(p.dtype.kind != "i" for p in parts[1:]):
            raise ValueError("its shape or its indices are no integers")
        matrix = sparse.csr_array(parts, shape=tuple(shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise StoreError(f"matrix {key!r} is malformed ({error})", hint=AGAIN) from error
    return matrix
