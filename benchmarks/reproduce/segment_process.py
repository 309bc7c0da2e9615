"""Hidden Markov chains, and the synthetic process of Deng et al. (2022): delimited sub-sequences with known states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from momus.numeric.types import Floats, Ints


def hidden_markov(
    transitions: Floats, emissions: Floats, first: int, sequences: int, length: int, seed: int
) -> tuple[Ints, Ints]:
    """Sample hidden Markov chains; the first state follows state ``first``.

    Parameters
    ----------
    transitions
        (K, K), rows sum to 1.
    emissions
        (K, G), rows sum to 1.

    Returns
    -------
    States and emitted symbol numbers, both int64 (sequences, length).

    >>> states, emitted = hidden_markov(np.eye(2)[::-1], np.eye(2), 0, sequences=1, length=4, seed=0)
    >>> states.tolist(), emitted.tolist()
    ([[1, 0, 1, 0]], [[1, 0, 1, 0]])
    """
    rng = np.random.default_rng(seed)
    # cumulated rows, for inverse-transform sampling: (K, K) and (K, G)
    moves, symbols = np.cumsum(transitions, axis=1), np.cumsum(emissions, axis=1)
    states = np.empty((sequences, length), dtype=np.int64)
    emitted = np.empty_like(states)
    before = np.full(sequences, first, dtype=np.int64)
    for m in range(length):
        before = _choose(moves, before, rng.random(sequences))
        states[:, m] = before
        emitted[:, m] = _choose(symbols, before, rng.random(sequences))
    return states, emitted


def _choose(cumulated: Floats, rows: Ints, u: Floats) -> Ints:
    """Sample one column for each of ``rows`` from cumulated probabilities; columns of probability 0 never occur."""
    out = np.empty(len(rows), dtype=np.int64)
    for k in np.unique(rows):
        mine = np.flatnonzero(rows == k)
        out[mine] = np.searchsorted(cumulated[k], u[mine] * cumulated[k, -1], side="right")
    return out


LETTERS = 52
DELIMITER = LETTERS


@dataclass(frozen=True)
class SegmentProcess:
    """A hidden Markov process that emits delimited sub-sequences of symbols.

    It is the synthetic process of Deng et al. (2022, section 3 and appendix D). A chain of M hidden states emits M
    sub-sequences of symbols. Each sub-sequence belongs to one state and ends in a delimiter, so a valid sequence
    determines its states. True transitions, Latent PPL and word PPL are known.

    Attributes
    ----------
    transitions
        (K, K): P(z_m | z_{m−1}); the first state of every sequence follows state 0.
    emissions
        (S,): P(sub-sequence | its state).
    owners
        (S,): the state of each sub-sequence.
    symbols
        The S sub-sequences, each a tuple of symbols that ends in the delimiter.
    """

    transitions: Floats
    emissions: Floats
    owners: Ints
    symbols: list[tuple[int, ...]]

    @classmethod
    def make(cls, states: int = 256, segments: int = 10_000, seed: int = 0) -> SegmentProcess:
        """Draw a random process: transition logits N(0, 1)/0.5; emission logits N(0, 1)/0.3, masked to the owner.

        All sub-sequences differ, and have 4 to 11 symbols including the delimiter.
        """
        rng = np.random.default_rng(seed)
        distinct: dict[tuple[int, ...], None] = {}
        while len(distinct) < segments:
            length = int(rng.integers(4, 12))
            distinct.setdefault((*rng.integers(0, LETTERS, length - 1).tolist(), DELIMITER))
        owners = rng.integers(0, states, segments)
        owners[:states] = rng.permutation(states) if segments >= states else owners[:states]  # no state stays empty
        transitions = np.exp(rng.normal(size=(states, states)) / 0.5)
        # softmax of the logits within each state, (S,)
        weights = np.exp(rng.normal(size=segments) / 0.3)
        emissions = weights / np.bincount(owners, weights, states)[owners]
        return cls(transitions / transitions.sum(axis=1, keepdims=True), emissions, owners, list(distinct))

    @property
    def states(self) -> int:
        """Number of states K."""
        return len(self.transitions)

    @cached_property
    def numbers(self) -> dict[tuple[int, ...], int]:
        """Number of each sub-sequence, by its symbols."""
        return {s: i for i, s in enumerate(self.symbols)}

    def sample(self, sequences: int, length: int = 50, seed: int = 0) -> Ints:
        """Sample sequences of sub-sequence numbers, int64 (sequences, length)."""
        table = np.zeros((self.states, len(self.symbols)))
        table[self.owners, np.arange(len(self.symbols))] = self.emissions
        return hidden_markov(self.transitions, table, 0, sequences, length, seed)[1]

    def log_likelihood(self, sequences: Ints) -> tuple[Floats, Floats]:
        """Return (log P(z), log P(x | z)) of each row of sub-sequence numbers, each (sequences,)."""
        states = self.owners[sequences]
        # each step's previous state; the state before the first step is 0
        before = np.concatenate([np.zeros((len(states), 1), dtype=np.int64), states[:, :-1]], axis=1)
        prior = np.log(self.transitions[before, states]).sum(axis=1)
        return prior, np.log(self.emissions[sequences]).sum(axis=1)

    def spell(self, sequence: Ints) -> list[int]:
        """Concatenate the symbols of a sequence of sub-sequence numbers."""
        return [c for s in sequence.tolist() for c in self.symbols[s]]

    def read(self, symbols: list[int]) -> list[int]:
        """Return the sub-sequence numbers of a sequence of symbols; −1 for sub-sequences that the process lacks.

        >>> p = SegmentProcess.make(4, 20, seed=0)
        >>> x = p.sample(1, 5)[0]
        >>> p.read(p.spell(x)) == x.tolist(), p.read([0, 1, DELIMITER])
        (True, [-1])
        """
        numbers, start = [], 0
        for i, c in enumerate(symbols):
            if c == DELIMITER:
                numbers.append(self.numbers.get(tuple(symbols[start : i + 1]), -1))
                start = i + 1
        return numbers + ([-1] if start < len(symbols) else [])


def latent_perplexity(process: SegmentProcess, sequences: list[list[int]]) -> tuple[float, float, float]:
    """Latent PPL of sequences under the true process, its standard error, and the share of invalid sub-sequences.

    An invalid sub-sequence has no state, so the transitions to and from it are not scored; reporting their share
    instead of dropping whole sequences keeps them visible. The standard error is that of a ratio of totals over
    sequences, by the delta method.
    """
    nll, steps, invalid, total = [], [], 0, 0
    for numbers in sequences:
        states = [0, *(int(process.owners[s]) if s >= 0 else -1 for s in numbers)]
        total += len(numbers)
        invalid += sum(s < 0 for s in numbers)
        pairs = [(a, b) for a, b in pairwise(states) if a >= 0 and b >= 0]
        nll.append(-sum(float(np.log(process.transitions[a, b])) for a, b in pairs))
        steps.append(len(pairs))
    t, m = np.array(nll), np.array(steps, dtype=float)
    mean = t.sum() / m.sum()
    error = np.sqrt(((t - mean * m) ** 2).sum()) / m.sum()
    return float(np.exp(mean)), float(np.exp(mean) * error), invalid / max(total, 1)
