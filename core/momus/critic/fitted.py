"""Fitted state as JSON values and arrays, and back; checks of what was read: types, shapes, ranges, finiteness.

``critic.json`` holds the values, ``arrays.safetensors`` the arrays.
A class states what its `fit` leaves in ``_check_state``, by the methods of `Fitted`; a state that differs is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.errors import StoreError
from momus.estimator import Estimator, component, fitted_state
from momus.foreign import contained
from momus.parameters import Range
from momus.schema import build

Size = int | None
Arrays = dict[str, np.ndarray[Any, Any]]
AGAIN = "fit and save the critic again, with this version of momus"
SUMS_TO_ONE = 1e-6
_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_KINDS = {"f": "numbers", "i": "integers", "u": "unsigned integers", "b": "truth values"}


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


class Fitted:
    """The fitted attributes of an estimator, read with checks.

    Every method returns the value, and raises `StoreError` if it is missing or not as described.

    >>> class Mean(Estimator):
    ...     pass
    >>> mean = Mean()
    >>> mean.centre_, mean.shares_ = np.zeros(2), np.array([0.5, 0.6])
    >>> Fitted(mean).array("centre_", (2,)).tolist()
    [0.0, 0.0]
    >>> try:
    ...     Fitted(mean).probabilities("shares_", (2,))
    ... except StoreError as error:
    ...     print(error.message)
    fitted attribute 'shares_' of Mean: expected probabilities that sum to 1
    """

    def __init__(self, estimator: Estimator) -> None:
        self.estimator = estimator

    def fail(self, name: str, expected: str) -> StoreError:
        """The error to raise for an attribute that is not as expected."""
        return StoreError(
            f"fitted attribute {name!r} of {type(self.estimator).__name__}: expected {expected}",
            hint=AGAIN,
        )

    def value(self, name: str) -> Any:
        """An attribute of any kind."""
        if name not in vars(self.estimator):
            raise self.fail(name, "a value, found none")
        return vars(self.estimator)[name]

    def require(self, holds: bool, name: str, expected: str) -> None:
        """Raise unless a condition on an attribute holds."""
        if not holds:
            raise self.fail(name, expected)

    def number(self, name: str, low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf) -> float:
        """A finite number from ``low`` to ``high``, and larger than ``above``."""
        value = self.value(name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise self.fail(name, "a finite number")
        self.require(low <= value <= high and value > above, name, f"another number than {value!r:.40}")
        return float(value)

    def integer(self, name: str, low: int = 0, high: int = 2**62) -> int:
        """An integer from ``low`` to ``high``."""
        value = self.value(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.fail(name, f"an integer of at least {low}")
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.fail(name, "true or false")
        return value

    def text(self, name: str, among: Sequence[str] = ()) -> str:
        """A string, one of ``among`` if there are any."""
        value = self.value(name)
        if not isinstance(value, str) or (among and value not in among):
            raise self.fail(name, f"one of {', '.join(map(repr, among))}" if among else "a text")
        return value

    def texts(self, name: str, length: Size = None, *, distinct: bool = True, least: int = 0) -> list[str]:
        """A list of strings, by default all different."""
        value = self.value(name)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.fail(name, "a list of texts")
        self.require(length is None or len(value) == length, name, f"{length} texts, found {len(value)}")
        self.require(len(value) >= least, name, f"at least {least} texts, found {len(value)}")
        self.require(not distinct or len(set(value)) == len(value), name, "texts that differ from each other")
        return value

    def array(
        self,
        name: str,
        shape: Sequence[Size] | None = None,
        kind: str = "f",
        *,
        low: float | NDArray[Any] = -math.inf,
        high: float | NDArray[Any] = math.inf,
    ) -> NDArray[Any]:
        """An array of a shape (None: any size) and kind of type, with values from ``low`` to ``high``."""
        value = self.value(name)
        # fits leave float64, and networks float32; half precision is no result of either
        half = isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize < 4
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kind or half:
            raise self.fail(name, f"an array of {' or '.join(_KINDS[k] for k in kind)}")
        if shape is not None:
            fits = value.ndim == len(shape) and all(
                w is None or w == n for w, n in zip(shape, value.shape, strict=True)
            )
            wanted = ", ".join("any" if w is None else str(w) for w in shape)
            self.require(fits, name, f"an array of shape ({wanted}), found {value.shape}")
        self.require(bool(np.all(value >= low) and np.all(value <= high)), name, "values within their range")
        return value

    def ascending(self, name: str, kind: str = "f") -> NDArray[Any]:
        """A vector in ascending order, without equal values."""
        value = self.array(name, (None,), kind)
        # compared, not subtracted: differences of unsigned numbers wrap
        self.require(bool((value[1:] > value[:-1]).all()), name, "values in ascending order")
        return value

    def probabilities(self, name: str, shape: Sequence[Size], *, logarithms: bool = False) -> NDArray[Any]:
        """Probabilities, or their logarithms, that sum to 1 along the last axis."""
        value = self.array(name, shape, low=-math.inf if logarithms else 0.0, high=SUMS_TO_ONE if logarithms else 1.0)
        total = np.asarray((np.exp(value) if logarithms else value).sum(axis=-1, dtype=np.float64))
        # float32 tables add up less exactly, by about a rounding error per summand
        slack = SUMS_TO_ONE if value.dtype == np.float64 else 1e-4
        self.require(bool((np.abs(total - 1) <= slack).all()), name, "probabilities that sum to 1")
        return value

    def component(self, name: str, kind: type[Any] | None = None) -> Any:
        """A fitted component, whose own state is checked by itself."""
        value = self.value(name)
        if not isinstance(value, kind or Estimator):
            raise self.fail(name, "a fitted component")
        return value

    def measures(self, name: str) -> dict[str, float]:
        """A table of finite numbers by name, or none at all."""
        value = vars(self.estimator).get(name, {})
        good = isinstance(value, dict) and all(
            isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in value.values()
        )
        self.require(good, name, "a table of numbers")
        return dict(value)


def check_estimator(estimator: Estimator) -> None:
    """Check the state of an estimator and of its components, by what their classes say of it.

    Raises
    ------
    StoreError
        A floating-point value is not finite, and the class does not list it in ``may_be_infinite``; or ``_check_state``
        of the class refuses the state.
    """
    unbounded = getattr(type(estimator), "may_be_infinite", ())
    for name, value in fitted_state(estimator).items():
        if isinstance(value, Estimator):
            check_estimator(value)
        elif name not in unbounded and not _finite(value):
            raise Fitted(estimator).fail(name, "finite numbers")
    check = getattr(estimator, "_check_state", None)
    if check is None:
        return
    try:
        with contained:
            check(Fitted(estimator))
    except StoreError:
        raise
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError, SystemExit) as error:
        raise StoreError(
            f"the fitted state of {type(estimator).__name__} is not as its class expects it ({error})",
            hint=AGAIN,
        ) from error


def check_origin(critic: Estimator) -> None:
    """Check what every critic stores: what it was fitted on, and the hashes of those documents."""
    state = Fitted(critic)
    state.ascending("fitted_hashes_", kind="u")
    build(FittedOn, state.value("fitted_on_"), "fitted attribute 'fitted_on_'", AGAIN)


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
