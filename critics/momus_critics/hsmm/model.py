"""EM for an explicit-duration HSMM, whose emissions P(segment | state) are normal densities, summed over a segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log, pi
from typing import Any

import torch
from torch import Tensor

from momus_critics.hsmm.passes import Parameters, Posterior, Segments, SegmentScores, forward, posterior, viterbi


class DiagonalGaussian:
    """A normal distribution with diagonal covariance for each state; x is (B, T, V).

    Parameters
    ----------
    mean, variance
        (K, V).
    floor
        Minimum variance; prevents a state from collapsing onto one observation.
    """

    def __init__(self, mean: Tensor, variance: Tensor, floor: float = 1e-4) -> None:
        self.mean, self.variance, self.floor = mean, variance, floor
        self.begin()

    def scorer(self, x: Tensor) -> SegmentScores:
        """Log-likelihoods of segments, as differences of the running total of log-densities."""
        log_density = self.log_density(x)  # (B, T, K)
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
        return DiagonalGaussian(self.mean.to(device), self.variance.to(device), self.floor)

    def begin(self) -> None:
        """Reset the statistics gathered for the M step."""
        self._n = torch.zeros_like(self.mean[:, 0])
        self._x, self._xx = torch.zeros_like(self.mean), torch.zeros_like(self.mean)

    def collect(self, x: Tensor, posterior: Posterior) -> None:
        """Add occupancy-weighted moments."""
        weight = posterior.occupancy.flatten(0, 1)  # (B · T, K)
        flat = x[:, : posterior.occupancy.shape[1]].flatten(0, 1)
        self._n += weight.sum(dim=0)
        self._x += weight.T @ flat
        self._xx += weight.T @ (flat * flat)

    def update(self) -> None:
        """Weighted means and variances; an unvisited state keeps its parameters."""
        n = self._n.clamp_min(1e-12)[:, None]
        mean = self._x / n
        # a difference of large numbers, which rounding may put below 0
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

    def __init__(self, parameters: Parameters, emission: DiagonalGaussian, smoothing: float = 0.0) -> None:
        self.parameters = parameters
        self.emission = emission
        self.smoothing = smoothing

    def log_likelihood(self, batches: Sequence[Batch]) -> Tensor:
        """log P(x) of each sequence, in the order of the batches."""
        return torch.cat([forward(self.parameters, self.emission.scorer(x), n).log_likelihood for x, n in batches])

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

    def step(self, batches: Iterable[Batch]) -> float:
        """Take one step of EM; return the total log-likelihood before it, in nats."""
        p, s = self.parameters, self.smoothing
        # expected counts of first states, (K,), of successors and the end, (K, K + 1), and of durations, (K, D)
        possible = torch.cat([p.transition, p.final[:, None]], dim=1)
        initial, successors, durations = (torch.zeros_like(x) for x in (p.initial, possible, p.duration))
        self.emission.begin()
        total = 0.0
        for x, lengths in batches:
            expected = posterior(p, self.emission.scorer(x), lengths)
            total += float(expected.log_likelihood.double().sum())
            initial += expected.initial.sum(dim=0)
            successors += torch.cat([expected.transitions, expected.final.sum(dim=0)[:, None]], dim=1)
            durations += expected.durations
            self.emission.collect(x, expected)
        self.emission.update()
        initial = initial + s * torch.isfinite(p.initial)
        # transitions and the end share one row, which sums to 1
        leaving = normalized(successors + s * torch.isfinite(possible), possible)
        lasting = normalized(durations + s * torch.isfinite(p.duration), p.duration)
        self.parameters = Parameters(
            (initial / initial.sum()).log(),
            leaving[:, :-1].contiguous(),
            lasting,
            leaving[:, -1].clone(),
        )
        return total


def normalized(counts: Tensor, old: Tensor) -> Tensor:
    """Log of rows divided by their sums; a row without counts keeps its old value."""
    total = counts.sum(dim=1, keepdim=True)
    return torch.where(total > 0, (counts / total.clamp_min(1e-300)).log(), old)
