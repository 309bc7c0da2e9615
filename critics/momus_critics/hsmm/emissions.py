"""Emissions of an HSMM: P(segment | state).

Emissions of single observations are summed over a segment (Gaussian, von Mises–Fisher over embeddings); an n-gram table
scores whole segments of symbols.
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


class _Additive(Emission):
    """Emissions that are summed over the observations of a segment: x is (B, T, V).

    ``temper`` multiplies their log-densities; 1 is the plain model. Below 1, observations count for less than if they
    were independent given the state; the M step is the same.
    """

    temper: float = 1.0

    def scorer(self, x: Tensor) -> SegmentScores:
        """Log-likelihoods of segments, as differences of the running total of log-densities."""
        log_density = self.temper * self.log_density(x)  # (B, T, K)
        total = torch.cat([torch.zeros_like(log_density[:, :1]), log_density.cumsum(dim=1)], dim=1)  # (B, T + 1, K)

        def scores(t: int, n: int) -> Tensor:
            return total[:, t, None] - total[:, t - n : t].flip(1)  # durations 1 … n, (B, n, K)

        return scores

    @abstractmethod
    def log_density(self, x: Tensor) -> Tensor:
        """Log density of each observation under each state: (B, T, K)."""


class DiagonalGaussian(_Additive):
    """A normal distribution with diagonal covariance for each state.

    Parameters
    ----------
    mean, variance
        (K, V).
    floor
        Minimum variance; prevents a state from collapsing onto one observation.
    temper
        Weight of the log-densities.
    """

    def __init__(self, mean: Tensor, variance: Tensor, floor: float = 1e-4, temper: float = 1.0) -> None:
        self.mean, self.variance, self.floor, self.temper = mean, variance, floor, temper
        self.begin()

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


class VonMisesFisher(_Additive):
    """Directions on the unit sphere, with one mean direction per state (Banerjee et al. 2005).

    The normaliser C_V(κ) uses the uniform expansion of the Bessel function for large order (Abramowitz & Stegun 9.7.7).

    Parameters
    ----------
    direction
        (K, V), unit vectors.
    concentration
        (K,), κ > 0.
    largest
        Maximum κ.
    """

    def __init__(self, direction: Tensor, concentration: Tensor, largest: float = 1e4) -> None:
        self.direction, self.concentration, self.largest = direction, concentration, largest
        self.begin()

    def log_density(self, x: Tensor) -> Tensor:
        """Log density of each unit vector under each state: (B, T, K)."""
        return self.concentration * (x @ self.direction.T) + log_vmf_normalizer(self.concentration, x.shape[-1])

    def begin(self) -> None:
        """Reset the statistics gathered for the M step."""
        self._n = torch.zeros_like(self.concentration)
        self._x = torch.zeros_like(self.direction)

    def collect(self, x: Tensor, found: Posterior, segments: list[tuple[int, int, Tensor]]) -> None:
        """Add occupancy-weighted resultants."""
        weight = found.occupancy.flatten(0, 1)
        self._n += weight.sum(dim=0)
        self._x += weight.T @ x[:, : found.occupancy.shape[1]].flatten(0, 1)

    def update(self) -> None:
        """Mean directions, and κ ≈ (r̄V − r̄³)/(1 − r̄²) (Banerjee et al. 2005, equation 4.4)."""
        length = self._x.norm(dim=1)
        r = (length / self._n.clamp_min(1e-12)).clamp(1e-6, 1 - 1e-6)
        kappa = ((r * self._x.shape[1] - r**3) / (1 - r**2)).clamp_max(self.largest)
        visited = self._n > 1e-6
        self.direction = torch.where(visited[:, None], self._x / length.clamp_min(1e-12)[:, None], self.direction)
        self.concentration = torch.where(visited, kappa, self.concentration)


def log_vmf_normalizer(kappa: Tensor, dimension: int) -> Tensor:
    """log C_V(κ) = (V/2 − 1) log κ − (V/2) log 2π − log I_{V/2−1}(κ)."""
    v = dimension / 2 - 1
    z = kappa / v
    root = torch.sqrt(1 + z**2)
    eta = root + torch.log(z / (1 + root))
    u = 1 / root
    series = 1 + (3 * u - 5 * u**3) / (24 * v)
    log_bessel = v * eta - 0.5 * log(2 * pi * v) - 0.5 * torch.log(root) + torch.log(series)
    return v * kappa.log() - dimension / 2 * log(2 * pi) - log_bessel


class NGramTable(Emission):
    """A categorical distribution over whole segments of symbols for each state.

    Segments are looked up by number: ``x`` is an int64 array (B, T, D); ``x[b, t, d]`` is the number of the segment
    that ends with symbol t and lasts d + 1 symbols, −1 if the table lacks it.

    Parameters
    ----------
    log_probabilities
        (G, K): log P(segment | state, duration); −inf if a state does not emit the segment.
    lengths
        int64 (G,): symbols per segment. A state's distribution sums to 1 over the segments of each length; without
        lengths, over all segments.
    smoothing
        Constant added to the expected count of each possible segment in the M step.
    """

    wants_segments = True

    def __init__(self, log_probabilities: Tensor, lengths: Tensor | None = None, smoothing: float = 0.0) -> None:
        self.log_probabilities, self.smoothing = log_probabilities, smoothing
        self.lengths = torch.zeros(len(log_probabilities), dtype=torch.long) if lengths is None else lengths
        self.begin()

    def scorer(self, x: Tensor) -> SegmentScores:
        """Log-probabilities from the table; unknown segments are impossible."""
        g, k = self.log_probabilities.shape
        # row G, all −inf, stands for unknown segments
        table = torch.cat([self.log_probabilities, self.log_probabilities.new_full((1, k), -torch.inf)])
        numbers = torch.where(x >= 0, x, torch.full_like(x, g))

        def scores(t: int, n: int) -> Tensor:
            return table[numbers[:, t - 1, :n]]

        return scores

    def begin(self) -> None:
        """Reset the statistics gathered for the M step."""
        self._counts = torch.zeros_like(self.log_probabilities)

    def collect(self, x: Tensor, found: Posterior, segments: list[tuple[int, int, Tensor]]) -> None:
        """Add the expected number of each segment."""
        for t, n, mass in segments:  # mass: (B, n, K), durations 1 … n
            numbers = x[:, t - 1, :n].reshape(-1)
            known = numbers >= 0
            self._counts.index_add_(0, numbers[known], mass.reshape(-1, mass.shape[-1])[known])

    def update(self) -> None:
        """Relative frequencies within each state and length."""
        # sums of counts over the segments of each length, (lengths, K), then read back per segment, (G, K)
        counts = self._counts + self.smoothing * torch.isfinite(self.log_probabilities)
        by_length = counts.new_zeros((int(self.lengths.max()) + 1, counts.shape[1]))
        total = by_length.index_add_(0, self.lengths, counts)[self.lengths]
        estimate = (counts / total.clamp_min(1e-300)).log()
        self.log_probabilities = torch.where(total > 0, estimate, self.log_probabilities)
