"""Emissions of an HSMM: P(segment | state).

Emissions of single observations, such as Gaussians over embeddings, are summed over a segment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import log, pi
from typing import Any

import torch
from torch import Tensor

from momus_critics.hsmm.passes import Posterior, SegmentScores


class Emission(ABC):
    """Emissions of K states."""

    @abstractmethod
    def scorer(self, x: Any) -> SegmentScores:
        """Log-likelihoods of the segments of a padded batch under each state."""

    @abstractmethod
    def begin(self) -> None:
        """Reset the statistics gathered for the M step."""

    @abstractmethod
    def collect(self, x: Any, found: Posterior, segments: list[tuple[int, int, Tensor]]) -> None:
        """Add a batch's expectations to the statistics."""

    @abstractmethod
    def update(self) -> None:
        """M step: set the parameters to their maximum-likelihood (or maximum a posteriori) values."""

    wants_segments: bool = False
    """Whether `collect` needs the posterior probabilities of single segments."""


class DiagonalGaussian(Emission):
    """A normal distribution with diagonal covariance for each state; x is (B, T, V).

    Parameters
    ----------
    mean, variance
        (K, V).
    floor
        Minimum variance; prevents a state from collapsing onto one observation.
    temper
        Weight of the log-densities; 1 is the plain model. Below 1, observations count for less than if they were
        independent given the state; the M step is the same.
    """

    def __init__(self, mean: Tensor, variance: Tensor, floor: float = 1e-4, temper: float = 1.0) -> None:
        self.mean, self.variance, self.floor, self.temper = mean, variance, floor, temper
        self.begin()

    def scorer(self, x: Tensor) -> SegmentScores:
        """Log-likelihoods of segments, as differences of the running total of log-densities."""
        log_density = self.temper * self.log_density(x)  # (B, T, K)
        total = torch.cat([torch.zeros_like(log_density[:, :1]), log_density.cumsum(dim=1)], dim=1)  # (B, T + 1, K)

        def scores(t: int, n: int) -> Tensor:
            return total[:, t, None] - total[:, t - n : t].flip(1)  # durations 1 … n, (B, n, K)

        return scores

    def log_density(self, x: Tensor) -> Tensor:
        """Log density of each observation under each state: (B, T, K)."""
        precision = 1.0 / self.variance
        # expand the squared distance into matrix products: no (B, T, K, V) array is built
        constant = -0.5 * (self.variance.log().sum(dim=1) + self.mean.shape[1] * log(2 * pi))
        quadratic = (x * x) @ precision.T - 2 * x @ (self.mean * precision).T + (self.mean**2 * precision).sum(dim=1)
        return constant - 0.5 * quadratic

    def to(self, device: str | torch.device) -> DiagonalGaussian:
        """Move to a device."""
        return DiagonalGaussian(self.mean.to(device), self.variance.to(device), self.floor, self.temper)

    def begin(self) -> None:
        """Reset the statistics gathered for the M step."""
        self._n = torch.zeros_like(self.mean[:, 0])
        self._x, self._xx = torch.zeros_like(self.mean), torch.zeros_like(self.mean)

    def collect(self, x: Tensor, found: Posterior, segments: list[tuple[int, int, Tensor]]) -> None:
        """Add occupancy-weighted moments."""
        weight = found.occupancy.flatten(0, 1)
        flat = x[:, : found.occupancy.shape[1]].flatten(0, 1)
        self._n += weight.sum(dim=0)
        self._x += weight.T @ flat
        self._xx += weight.T @ (flat * flat)

    def update(self) -> None:
        """Weighted means and variances; an unvisited state keeps its parameters."""
        n = self._n.clamp_min(1e-12)[:, None]
        mean = self._x / n
        variance = (self._xx / n - mean**2).clamp_min(self.floor)
        visited = (self._n > 1e-6)[:, None]
        self.mean = torch.where(visited, mean, self.mean)
        self.variance = torch.where(visited, variance, self.variance)
