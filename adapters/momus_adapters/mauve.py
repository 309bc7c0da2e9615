"""The value that ``mauve-text`` gives (Pillutla et al. 2021), with what it depends on beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.errors import MissingExtraError, UsageError
from momus.numeric.types import Floats


@dataclass(frozen=True)
class MauveValue:
    """MAUVE over several seeds of its k-means.

    Attributes
    ----------
    values
        One for each seed.
    buckets
        Clusters of both texts together.
    """

    values: tuple[float, ...]
    seeds: tuple[int, ...]
    buckets: int
    n_real: int
    n_generated: int

    @property
    def mean(self) -> float:
        """Over seeds."""
        return float(np.mean(self.values))

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        return (
            f"MAUVE {self.mean:.4f} (from {low:.4f} to {high:.4f} over seeds {', '.join(map(str, self.seeds))}; "
            f"{self.buckets} clusters; n = {self.n_real:,} + {self.n_generated:,})"
        )


def mauve_value(real: Floats, generated: Floats, *, buckets: int = 0, seeds: tuple[int, ...] = (0, 1, 2)) -> MauveValue:
    """Ask ``mauve-text`` for MAUVE on features.

    Parameters
    ----------
    real, generated
        (n, d) and (m, d).
    buckets
        Number of clusters; 0 takes a tenth of the smaller text.

    Raises
    ------
    UsageError
        The features do not fit one another, or the package is not installed.
    """
    if real.ndim != 2 or generated.ndim != 2 or real.shape[1] != generated.shape[1]:
        raise UsageError(f"features of shapes {real.shape} and {generated.shape}", hint="give (n, d) and (m, d)")
    try:
        from mauve import compute_mauve
    except ImportError as error:
        raise MissingExtraError("MAUVE is computed by mauve-text", hint="pip install mauve-text") from error
    k = buckets or max(2, round(min(len(real), len(generated)) / 10))
    values = tuple(
        float(compute_mauve(p_features=real, q_features=generated, num_buckets=k, seed=s, verbose=False).mauve)
        for s in seeds
    )
    return MauveValue(values, tuple(seeds), k, len(real), len(generated))
