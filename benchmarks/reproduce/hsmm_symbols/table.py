"""Emissions of whole segments of symbols, for the semi-Markov model."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import torch
from torch import Tensor

from momus_critics.hsmm.model import HSMM, Batch, normalized
from momus_critics.hsmm.passes import Parameters, SegmentScores, posterior


class NGramTable:
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

    def collect(self, x: Tensor, t: int, n: int, mass: Tensor) -> None:
        """Add the expected number of each segment that ends at t, from their posterior probabilities (B, n, K)."""
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


class SymbolHSMM(HSMM):
    """An HSMM over whole segments of symbols; ends are no part of the process: transitions sum to 1 without them."""

    emission: NGramTable

    def step(self, batches: Iterable[Batch]) -> float:
        """Take one step of EM; return the total log-likelihood before it, in nats."""
        p, s = self.parameters, self.smoothing
        initial, transition, duration = (torch.zeros_like(x) for x in (p.initial, p.transition, p.duration))
        self.emission.begin()
        total = 0.0
        for x, lengths in batches:
            expected = posterior(p, self.emission.scorer(x), lengths, partial(self.emission.collect, x))
            total += float(expected.log_likelihood.double().sum())
            initial += expected.initial.sum(dim=0)
            transition += expected.transitions
            duration += expected.durations
        self.emission.update()
        initial = initial + s * torch.isfinite(p.initial)
        leaving = normalized(transition + s * torch.isfinite(p.transition), p.transition)
        lasting = normalized(duration + s * torch.isfinite(p.duration), p.duration)
        self.parameters = Parameters((initial / initial.sum()).log(), leaving, lasting, p.final)
        return total
