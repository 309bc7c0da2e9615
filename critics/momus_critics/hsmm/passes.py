"""Dynamic programmes of an explicit-duration HSMM, batched in log space on any device.

A sequence of T observations is cut into segments; each has a state k and a duration d ≤ D (Yu 2010, *Hidden semi-Markov
models*). Two log-probabilities are kept for every boundary t = 0 … T between observations: ``enter[t, k]`` of the
observations before t and a segment of state k beginning at t, and ``leave[t, k]`` of the observations before t and a
segment of state k ending at t. Segments are scored on the fly, (B, D, K) at a time: memory is linear in T. True lengths
are respected; padding has no effect.

All log-probabilities are in nats; −inf is probability zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

SegmentScores = Callable[[int, int], Tensor]
"""Maps a boundary t and a number n to log-likelihoods of the segments that end at t and last 1 … n, (B, n, K)."""


@dataclass(frozen=True)
class Parameters:
    """The prior process over segments.

    Attributes
    ----------
    initial
        (K,) log P(first state).
    transition
        (K, K) log P(next state | state); each row sums to 1 together with ``final``.
    duration
        (K, D) log P(duration = d + 1 | state).
    final
        (K,) log P(end | state).
    """

    initial: Tensor
    transition: Tensor
    duration: Tensor
    final: Tensor

    @property
    def states(self) -> int:
        """K."""
        return int(self.initial.shape[0])

    @property
    def longest(self) -> int:
        """D."""
        return int(self.duration.shape[1])

    def to(self, device: str | torch.device) -> Parameters:
        """Move to a device."""
        return Parameters(*(p.to(device) for p in (self.initial, self.transition, self.duration, self.final)))


@dataclass(frozen=True)
class Lattice:
    """Result of the forward pass: ``enter`` and ``leave``, both (T + 1, B, K), and log P(x), (B,)."""

    enter: Tensor
    leave: Tensor
    log_likelihood: Tensor


@dataclass(frozen=True)
class Posterior:
    """Expectations under P(segments | x).

    Attributes
    ----------
    log_likelihood
        (B,) log P(x).
    occupancy
        (B, T, K) probability that observation t lies in a segment of state k; rows sum to 1, padding is 0.
    initial, final
        (B, K) probabilities of the first and of the last state.
    transitions
        (K, K) expected numbers of transitions in the whole batch.
    durations
        (K, D) expected numbers of segments of each duration.
    """

    log_likelihood: Tensor
    occupancy: Tensor
    initial: Tensor
    final: Tensor
    transitions: Tensor
    durations: Tensor


@dataclass(frozen=True)
class Segments:
    """One segmentation of one sequence: states, durations, and the log-probability if it is the maximum (else nan)."""

    states: list[int]
    durations: list[int]
    score: float = float("nan")


def log_matmul(a: Tensor, b: Tensor) -> Tensor:
    """log(exp(a) @ exp(b)) for (…, K) and (K, M), as a shifted matrix product; rows of −inf stay −inf.

    >>> log_matmul(torch.zeros(1, 2), torch.zeros(2, 1)).exp().item()
    2.0
    """
    top = a.max(dim=-1, keepdim=True).values
    # −∞ − −∞ is NaN: a row without any mass is shifted by 0 instead
    safe = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    peak = b.max(dim=0, keepdim=True).values
    peak = torch.where(torch.isfinite(peak), peak, torch.zeros_like(peak))
    return safe + peak + torch.log((a - safe).exp() @ (b - peak).exp())


def forward(parameters: Parameters, scores: SegmentScores, lengths: Tensor) -> Lattice:
    """Run the forward pass over a padded batch.

    Parameters
    ----------
    scores
        See `SegmentScores`.
    lengths
        int64 (B,): true lengths, each at least 1.
    """
    b, k, t_max = len(lengths), parameters.states, int(lengths.max())
    enter = parameters.initial.new_full((t_max + 1, b, k), -torch.inf)
    leave = torch.full_like(enter, -torch.inf)
    enter[0] = parameters.initial
    for t in range(1, t_max + 1):
        n = min(t, parameters.longest)
        segments = scores(t, n)  # (B, n, K)
        before = enter[t - n : t].flip(0).permute(1, 0, 2)  # (B, n, K), durations 1 … n
        leave[t] = torch.logsumexp(before + segments + parameters.duration.T[:n], dim=1)  # (B, K), over durations
        if t < t_max:
            enter[t] = log_matmul(leave[t], parameters.transition)
    last = leave.gather(0, lengths.view(1, b, 1).expand(1, b, k))[0]  # at the true end of each sequence, (B, K)
    return Lattice(enter, leave, torch.logsumexp(last + parameters.final, dim=-1))


def posterior(
    parameters: Parameters,
    scores: SegmentScores,
    lengths: Tensor,
    collect: Callable[[int, int, Tensor], None] | None = None,
) -> Posterior:
    """Run both passes and return expectations.

    Parameters
    ----------
    collect
        Called with t, n and the posterior probabilities (B, n, K) of the segments that end at t and last 1 … n;
        needed by emissions that are estimated from whole segments.

    Raises
    ------
    ValueError
        A sequence has probability zero.
    """
    lattice = forward(parameters, scores, lengths)
    if not torch.isfinite(lattice.log_likelihood).all():
        raise ValueError("a sequence has probability zero under the model")
    b, k, t_max = len(lengths), parameters.states, int(lengths.max())
    longest = parameters.longest
    # log-probabilities, (T + 1, B, K): after_leave[t] of the observations after t given that a segment ends at t,
    # after_enter[t] of the same observations given that a segment begins at t
    after_leave = torch.full_like(lattice.leave, -torch.inf)
    after_enter = torch.full_like(lattice.enter, -torch.inf)
    back = parameters.transition.T.contiguous()
    starts = parameters.initial.new_zeros((t_max + 1, b, k))
    ends = torch.zeros_like(starts)
    durations = torch.zeros_like(parameters.duration)
    for t in range(t_max, 0, -1):
        onward = log_matmul(after_enter[t], back) if t < t_max else torch.full_like(after_leave[0], -torch.inf)
        at_end = (lengths == t)[:, None]
        after_leave[t] = torch.where(at_end, parameters.final.expand(b, k), onward)
        n = min(t, longest)
        ending = scores(t, n) + parameters.duration.T[:n] + after_leave[t][:, None]  # (B, n, K)
        for d in range(1, n + 1):
            after_enter[t - d] = torch.logaddexp(after_enter[t - d], ending[:, d - 1])
        before = lattice.enter[t - n : t].flip(0).permute(1, 0, 2)
        # posterior probability of each segment that ends at t, (B, n, K)
        mass = (before + ending - lattice.log_likelihood[:, None, None]).exp()
        durations[:, :n] += mass.sum(dim=0).T
        ends[t] = mass.sum(dim=1)
        for d in range(1, n + 1):
            starts[t - d] += mass[:, d - 1]
        if collect is not None:
            collect(t, n, mass)
    transitions = _transitions(parameters, lattice, after_enter)
    # observation t lies in a segment of state k: segments begun up to t minus those ended by then
    occupancy = (starts - ends).cumsum(dim=0)[:-1].permute(1, 0, 2).clamp_min(0.0)
    last = ends.gather(0, lengths.view(1, b, 1).expand(1, b, k))[0]
    return Posterior(lattice.log_likelihood, occupancy, starts[0], last, transitions, durations)


def _transitions(parameters: Parameters, lattice: Lattice, after_enter: Tensor) -> Tensor:
    """Expected transition counts, (K, K): one matrix product over all boundaries and sequences."""
    # rows are (boundary, sequence), ((T − 1) B, K); each is shifted by its maximum, whose factor goes into the weight
    left, right = lattice.leave[1:-1].flatten(0, 1), after_enter[1:-1].flatten(0, 1)
    if left.shape[0] == 0:
        return torch.zeros_like(parameters.transition)
    evidence = lattice.log_likelihood.repeat(lattice.leave.shape[0] - 2)
    top_l, top_r = left.max(dim=1, keepdim=True).values, right.max(dim=1, keepdim=True).values
    # padding and impossible boundaries have rows of −∞, and −∞ − −∞ would be NaN
    used = torch.isfinite(top_l + top_r)[:, 0]
    left, right, top_l, top_r, evidence = left[used], right[used], top_l[used], top_r[used], evidence[used]
    weight = (top_l + top_r - evidence[:, None]).exp()
    return ((left - top_l).exp() * weight).T @ (right - top_r).exp() * parameters.transition.exp()


def viterbi(parameters: Parameters, scores: SegmentScores, lengths: Tensor) -> list[Segments]:
    """Find the most probable segmentation of each sequence."""
    b, k, t_max = len(lengths), parameters.states, int(lengths.max())
    enter = parameters.initial.new_full((t_max + 1, b, k), -torch.inf)
    leave = torch.full_like(enter, -torch.inf)
    # back pointers, (T + 1, B, K): duration of the best segment that ends at t, and the state before one that begins
    best_duration = torch.zeros((t_max + 1, b, k), dtype=torch.int32, device=enter.device)
    best_source = torch.zeros_like(best_duration)
    enter[0] = parameters.initial
    for t in range(1, t_max + 1):
        n = min(t, parameters.longest)
        before = enter[t - n : t].flip(0).permute(1, 0, 2)
        leave[t], best = (before + scores(t, n) + parameters.duration.T[:n]).max(dim=1)
        best_duration[t] = (best + 1).int()
        if t < t_max:
            enter[t], source = (leave[t][:, :, None] + parameters.transition).max(dim=1)  # (B, K, K) before the maximum
            best_source[t] = source.int()
    last = leave.gather(0, lengths.view(1, b, 1).expand(1, b, k))[0] + parameters.final
    value, state = last.max(dim=-1)
    best_duration, best_source = best_duration.cpu(), best_source.cpu()
    traced = []
    for i in range(b):  # follow the back pointers of each sequence from its end
        t, at = int(lengths[i]), int(state[i])
        states: list[int] = []
        durations: list[int] = []
        while t > 0:
            states.append(at)
            durations.append(int(best_duration[t, i, at]))
            t -= durations[-1]
            at = int(best_source[t, i, at])
        traced.append(Segments(states[::-1], durations[::-1], float(value[i])))
    return traced
