"""Named arrays of any shape as one fitted part, so that critics can keep them without pickle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.estimator import Estimator


class Tensors(Estimator):
    """Arrays by name, kept as one flat float64 array with names, shapes and types beside it.

    >>> kept = Tensors.of({"b": np.eye(2), "a": np.arange(3)})
    >>> kept.arrays()["a"], kept.arrays()["b"].shape
    (array([0, 1, 2]), (2, 2))
    """

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Keep these; integers above 2⁵³ would be rounded."""
        made = cls()
        made.names_ = sorted(arrays)
        values = [np.asarray(arrays[k]) for k in made.names_]
        made.shapes_ = [list(v.shape) for v in values]
        made.types_ = [v.dtype.str for v in values]
        made.flat_ = np.concatenate([np.zeros(0), *(v.ravel().astype(np.float64) for v in values)])
        return made

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, with their shapes and types."""
        found, start = {}, 0
        for name, shape, kind in zip(self.names_, self.shapes_, self.types_, strict=True):
            size = int(np.prod(shape))
            found[name] = self.flat_[start : start + size].reshape(shape).astype(kind)
            start += size
        return found

    names_: list[str]
    shapes_: list[list[int]]
    types_: list[str]
    flat_: NDArray[np.float64]
