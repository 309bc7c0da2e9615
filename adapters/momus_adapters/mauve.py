"""MAUVE as ``mauve-text`` computes it (Pillutla et al. 2021), reported with the settings that it depends on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.errors import MissingExtraError, UsageError
from momus.numeric.types import Floats
from momus.version import extra


@dataclass(frozen=True)
class MauveValue:
    """MAUVE over several k-means seeds.

    Attributes
    ----------
    values
        One value per seed.
    buckets
        Number of clusters of both texts together.
    """

    values: tuple[float, ...]
    seeds: tuple[int, ...]
    buckets: int
    n_real: int
    n_generated: int

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return float(np.mean(self.values))

    def __str__(self) -> str:
        low, high = min(self.values), max(self.values)
        return (
            f"MAUVE {self.mean:.4f} (from {low:.4f} to {high:.4f} over seeds {', '.join(map(str, self.seeds))}; "
            f"{self.buckets} clusters; n = {self.n_real:,} + {self.n_generated:,})"
        )


def mauve_value(real: Floats, generated: Floats, *, buckets: int = 0, seeds: tuple[int, ...] = (0, 1, 2)) -> MauveValue:
    """Compute MAUVE on features with ``mauve-text``.

    Parameters
    ----------
    real, generated
        (n, d) and (m, d).
    buckets
        Number of clusters; 0 uses a tenth of the size of the smaller text.

    Raises
    ------
    UsageError
        The features have incompatible shapes, or the package is not installed.
    """
    if real.ndim != 2 or generated.ndim != 2 or real.shape[1] != generated.shape[1]:
        raise UsageError(f"features have shapes {real.shape} and {generated.shape}", hint="give (n, d) and (m, d)")
    try:
        from mauve import compute_mauve
    except ImportError as error:
        raise MissingExtraError("MAUVE needs the package mauve-text", extra("mauve")) from error
    k = buckets or max(2, round(min(len(real), len(generated)) / 10))
    values = tuple(
        float(compute_mauve(p_features=real, q_features=generated, num_buckets=k, seed=s, verbose=False).mauve)
        for s in seeds
    )
    return MauveValue(values, tuple(seeds), k, len(real), len(generated))
