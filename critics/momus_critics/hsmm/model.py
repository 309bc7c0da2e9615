"""EM for an explicit-duration HSMM, and its emissions P(segment | state).

Emissions of single observations, such as Gaussians over embeddings, are summed over a segment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from math import log, pi
from typing import Any

import torch
from torch import Tensor

from momus_critics.hsmm.passes import Parameters, Posterior, Segments, SegmentScores, forward, posterior, viterbi


class Emission(ABC):
    """Emissions of K states."""

    @abstractmethod
    def scorer(self, x: Any) -> SegmentScores:
        """Log-likelihoods of the segments of a padded batch under each state."""

    @abstractmethod
    def begin(self) -> None:
        """Reset the statistics gathered for the M step."""

    @abstractmethod
    def collect(self, x: Any, posterior: Posterior, segments: list[tuple[int, int, Tensor]]) -> None:
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

    def collect(self, x: Tensor, posterior: Posterior, segments: list[tuple[int, int, Tensor]]) -> None:
        """Add occupancy-weighted moments."""
        weight = posterior.occupancy.flatten(0, 1)
        flat = x[:, : posterior.occupancy.shape[1]].flatten(0, 1)
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


Batch = tuple[Any, Tensor]
"""Padded observations in the form that the emission takes, and true lengths (B,)."""


class HSMM:
    """An HSMM, a prior over segments with emissions, fitted by expectation maximisation.

    Parameters
    ----------
    parameters
        The initial prior; events of probability zero keep probability zero.
    emission
        The initial emissions.
    smoothing
        Constant added to the expected counts of first states, transitions, ends and durations that are possible.

    >>> from momus_critics.hsmm import DiagonalGaussian
    >>> two = torch.log(torch.tensor([0.5, 0.5]))
    >>> prior = Parameters(two, torch.log(torch.full((2, 2), 0.4)), torch.log(torch.full((2, 3), 1 / 3)),
    ...                    torch.log(torch.tensor([0.2, 0.2])))
    >>> model = HSMM(prior, DiagonalGaussian(torch.tensor([[0.0], [4.0]]), torch.ones(2, 1)))
    >>> x = torch.tensor([[[0.1], [-0.2], [4.2], [3.9]]])
    >>> model.decode([(x, torch.tensor([4]))])[0].states[-1]
    1
    """

    def __init__(self, parameters: Parameters, emission: Emission, smoothing: float = 0.0) -> None:
        self.parameters = parameters
        self.emission = emission
        self.smoothing = smoothing

    def log_likelihood(self, batches: Sequence[Batch]) -> Tensor:
        """log P(x) of each sequence, in the order of the batches."""
        return torch.cat([forward(self.parameters, self.emission.scorer(x), n).log_likelihood for x, n in batches])

    def expectations(self, batch: Batch) -> Posterior:
        """Posterior expectations of one batch."""
        x, lengths = batch
        return posterior(self.parameters, self.emission.scorer(x), lengths)

    def decode(self, batches: Sequence[Batch]) -> list[Segments]:
        """Most probable segmentations, in the order of the batches."""
        return [s for x, n in batches for s in viterbi(self.parameters, self.emission.scorer(x), n)]

    def fit(
        self,
        batches: Sequence[Batch],
        steps: int = 50,
        tolerance: float = 1e-4,
        report: Callable[[int, float], None] | None = None,
    ) -> list[float]:
        """Run EM until the log-likelihood grows by less than ``tolerance`` per sequence.

        Returns
        -------
        The total log-likelihood before each step; without smoothing it never decreases.
        """
        curve: list[float] = []
        sequences = sum(len(n) for _, n in batches)
        for step in range(steps):
            curve.append(self.step(batches))
            if report is not None:
                report(step, curve[-1])
            if len(curve) > 1 and curve[-1] - curve[-2] < tolerance * sequences:
                break
        return curve

    def step(self, batches: Iterable[Batch], ends: bool = True) -> float:
        """Take one step of EM.

        Parameters
        ----------
        ends
            Whether ends are part of the process; if not, ``final`` is kept and transitions sum to 1 without it.

        Returns
        -------
        The total log-likelihood before the step, in nats.
        """
        p = self.parameters
        initial, last = torch.zeros_like(p.initial), torch.zeros_like(p.final)
        transition, duration = torch.zeros_like(p.transition), torch.zeros_like(p.duration)
        self.emission.begin()
        total = 0.0
        for x, lengths in batches:
            # posterior probabilities of segments are kept only for emissions that are estimated from whole segments
            segments: list[tuple[int, int, Tensor]] = []
            keep = (lambda t, n, m: segments.append((t, n, m))) if self.emission.wants_segments else None  # noqa: B023
            expected = posterior(p, self.emission.scorer(x), lengths, keep)
            total += float(expected.log_likelihood.double().sum())
            initial += expected.initial.sum(dim=0)
            last += expected.final.sum(dim=0)
            transition += expected.transitions
            duration += expected.durations
            self.emission.collect(x, expected, segments)
        self.emission.update()
        self.parameters = self._normalized(initial, transition, duration, last if ends else None)
        return total

    def _normalized(self, initial: Tensor, transition: Tensor, duration: Tensor, final: Tensor | None) -> Parameters:
        """Turn expected counts, smoothed, into log-probabilities; without ``final``, ends are not estimated."""
        p, s = self.parameters, self.smoothing
        initial = initial + s * torch.isfinite(p.initial)
        lasting = _rows(duration + s * torch.isfinite(p.duration), p.duration)
        if final is None:
            leaving = _rows(transition + s * torch.isfinite(p.transition), p.transition)
            return Parameters((initial / initial.sum()).log(), leaving, lasting, p.final)
        # successors and the end share one distribution per state, (K, K + 1)
        counts = torch.cat([transition, final[:, None]], dim=1)
        possible = torch.cat([p.transition, p.final[:, None]], dim=1)
        leaving = _rows(counts + s * torch.isfinite(possible), possible)
        return Parameters(
            (initial / initial.sum()).log(), leaving[:, :-1].contiguous(), lasting, leaving[:, -1].clone()
        )


def _rows(counts: Tensor, old: Tensor) -> Tensor:
    """Log of rows divided by their sums; a row without counts keeps its old value."""
    total = counts.sum(dim=1, keepdim=True)
    return torch.where(total > 0, (counts / total.clamp_min(1e-300)).log(), old)
