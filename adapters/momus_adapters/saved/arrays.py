"""Named arrays of any shape as one fitted component, which critics save without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.estimator import Estimator
from momus.numeric.types import Floats


class Tensors(Estimator):
    """Arrays by name, stored as one flat float64 array with their names, shapes and types.

    >>> stored = Tensors.of({"b": np.eye(2), "a": np.arange(3)})
    >>> stored.arrays()["a"], stored.arrays()["b"].shape
    (array([0, 1, 2]), (2, 2))
    """

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

    names_: list[str]
    shapes_: list[list[int]]
    types_: list[str]
    flat_: Floats
