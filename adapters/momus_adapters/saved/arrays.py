"""Named arrays of any shape as one fitted component, which critics save without pickle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic.fitted import Fitted
from momus.estimator import Estimator
from momus.numeric.types import Floats


class Tensors(Estimator):
    """Arrays by name, stored as one flat float64 array with their names, shapes and types.

    >>> stored = Tensors.of({"b": np.eye(2), "a": np.arange(3)})
    >>> stored.arrays()["a"], stored.arrays()["b"].shape
    (array([0, 1, 2]), (2, 2))
    """

    nonfinite: ClassVar[tuple[str, ...]] = ("flat_",)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Store these arrays; integers above 2⁵³ would be rounded."""
        stored = cls()
        stored.names_ = sorted(arrays)
        values = [np.asarray(arrays[k]) for k in stored.names_]
        stored.shapes_ = [list(v.shape) for v in values]
        stored.types_ = [v.dtype.str for v in values]
        stored.flat_ = np.concatenate([np.zeros(0), *(v.ravel().astype(np.float64) for v in values)])
        return stored

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays, with their shapes and types."""
        arrays, start = {}, 0
        for name, shape, kind in zip(self.names_, self.shapes_, self.types_, strict=True):
            size = int(np.prod(shape))
            arrays[name] = self.flat_[start : start + size].reshape(shape).astype(kind)
            start += size
        return arrays

    def check_values(self, state: Fitted, name: str, *, infinite: bool = False) -> None:
        """Refuse arrays with NaN, and with infinite values unless ``infinite``.

        Parameters
        ----------
        state, name
            The state that holds these arrays, and the attribute, for the message.
        """
        for key, value in self.arrays().items():
            good = not np.isnan(value).any() if infinite else np.isfinite(value).all()
            state.require(bool(good), name, f"{'numbers' if infinite else 'finite numbers'} in {key!r}")

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        names = state.texts("names_")
        shapes, types = state.value("shapes_"), state.texts("types_", len(names), distinct=False)
        state.require(all(t[1:2] in ("b", "i", "u", "f") and len(t) <= 4 for t in types), "types_", "types of numbers")
        whole = isinstance(shapes, list) and all(
            isinstance(shape, list) and all(type(n) is int and 0 <= n < 2**40 for n in shape) for shape in shapes
        )
        state.require(whole and len(shapes) == len(names), "shapes_", "a shape for each name")
        state.array("flat_", (sum(math.prod(shape) for shape in shapes),))

    names_: list[str]
    shapes_: list[list[int]]
    types_: list[str]
    flat_: Floats
