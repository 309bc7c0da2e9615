"""An HSMM language model of raw symbols that infers its segments and states.

Segments come from `find_lexicon`, states from `find_states`, and EM refines both. Two more states spell segments
outside the lexicon symbol by symbol: every sequence has a probability, and probabilities sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from segment_process import hidden_markov

from hsmm_symbols.lexicon import Lexicon, cut, find_lexicon
from hsmm_symbols.states import States, bigrams, find_states
from hsmm_symbols.table import NGramTable, SymbolHSMM
from momus.numeric.types import Floats, Ints
from momus_critics.hsmm.model import Batch
from momus_critics.hsmm.passes import Parameters, viterbi

LEAK = 1e-3
"""Share of each state's initial emissions that is spread over all segments."""
SMOOTHING = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Candidates for the constant added to transition counts."""
Report = Callable[[str], None]


def _silent(message: str) -> None: ...


@dataclass
class SymbolModel:
    """An HSMM language model of symbols.

    Attributes
    ----------
    alphabet
        Number of symbols.
    lexicon, states
        Segments and states before EM.
    parameters
        The prior over K + 2 states: K states, one that spells symbols, and one that spells the delimiter. Sequences may
        end anywhere: ``final`` is 0 nats, and transitions sum to 1 without it.
    emission
        Emissions of the segments of the lexicon, then of single symbols.
    """

    alphabet: int
    lexicon: Lexicon
    states: States
    parameters: Parameters
    emission: NGramTable

    @property
    def segments(self) -> list[tuple[int, ...]]:
        """Segments in the order of the emission."""
        return [*self.lexicon.segments, *((c,) for c in range(self.alphabet))]

    def log_likelihood(self, sequences: Sequence[Sequence[int]], batch: int = 64) -> Floats:
        """log P(symbols) of each sequence, in nats: the sum over all segmentations and all states."""
        model = SymbolHSMM(self.parameters, self.emission)
        return _in_order(sequences, batch, lambda s: model.log_likelihood([self._batch(s)]).double().tolist())

    def segmentations(self, sequences: Sequence[Sequence[int]], batch: int = 64) -> list[list[int]]:
        """Ends of the segments in the most probable segmentation of each sequence."""

        def ends(chunk: list[Sequence[int]]) -> list[list[int]]:
            x, lengths = self._batch(chunk)
            best = viterbi(self.parameters, self.emission.scorer(x), lengths)
            return [np.cumsum(s.durations).tolist() for s in best]

        out: list[list[int]] = [[] for _ in sequences]
        for numbers in _sorted_batches(sequences, batch):
            for i, e in zip(numbers, ends([sequences[i] for i in numbers]), strict=True):
                out[i] = e
        return out

    def _batch(self, sequences: list[Sequence[int]]) -> Batch:
        """Padded numbers of the segments that end at each symbol, by duration, (B, T, D), and lengths, (B,)."""
        number = {s: i for i, s in enumerate(self.segments)}
        longest = self.parameters.longest
        x = np.full((len(sequences), max(map(len, sequences)), longest), -1, dtype=np.int64)
        for row, s in zip(x, sequences, strict=True):
            s = tuple(s)
            for t in range(1, len(s) + 1):
                row[t - 1, : min(t, longest)] = [number.get(s[t - d : t], -1) for d in range(1, min(t, longest) + 1)]
        return torch.from_numpy(x), torch.tensor([len(s) for s in sequences])

    def sample(self, sequences: int, segments: int, seed: int = 0) -> list[list[int]]:
        """Draw sequences of symbols with ``segments`` delimiters each."""
        p = self.parameters
        # P(segment | state) with its duration, (K, G)
        lasting = p.duration.exp()[:, self.emission.lengths - 1].T  # (G, K)
        table = (self.emission.log_probabilities.exp() * lasting).T.double().numpy()
        moves = p.transition.exp().double().numpy()
        # one more state, the last, starts a sequence and emits nothing
        first = np.append(p.initial.exp().double().numpy(), 0.0)
        start = np.zeros((len(moves) + 1, len(moves) + 1))
        start[:-1, :-1], start[-1] = moves, first
        table = np.concatenate([table, np.zeros((1, table.shape[1]))])
        segment_list = self.segments
        _, emitted = hidden_markov(start, table, len(moves), sequences, 2 * segments + 50, seed)
        out = []
        for row in emitted:
            spelled = [c for g in row.tolist() for c in segment_list[g]]
            ends = np.flatnonzero(np.array(spelled) == self.lexicon.delimiter)
            out.append(spelled[: ends[segments - 1] + 1])
        return out


def _sorted_batches(sequences: Sequence[Sequence[int]], batch: int) -> list[list[int]]:
    """Row numbers in batches of similar length."""
    order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))
    return [order[i : i + batch] for i in range(0, len(order), batch)]


def _in_order(
    sequences: Sequence[Sequence[int]], batch: int, score: Callable[[list[Sequence[int]]], list[float]]
) -> Floats:
    """Score sequences in batches of similar length; scores in the order of the sequences."""
    out = np.empty(len(sequences))
    for numbers in _sorted_batches(sequences, batch):
        out[numbers] = score([sequences[i] for i in numbers])
    return out


def learn_symbols(
    sequences: Sequence[Sequence[int]],
    held_out: Sequence[Sequence[int]],
    alphabet: int,
    most: int = 800,
    steps: int = 2,
    seed: int = 0,
    report: Report = _silent,
) -> SymbolModel:
    """Learn an HSMM language model from symbols alone.

    Parameters
    ----------
    held_out
        Sequences on which the number of states and the smoothing constant are chosen.
    most
        Initial, and largest, number of states.
    steps
        Number of EM steps over the segments.

    Raises
    ------
    ValueError
        Fewer than four kinds of segments are found.
    """
    lexicon = find_lexicon(sequences, alphabet)
    if len(lexicon.segments) < 4:
        raise ValueError(f"{len(lexicon.segments)} kinds of segments found; at least 4 are needed")
    report(f"{len(lexicon.segments)} segments, delimited by symbol {lexicon.delimiter}")
    number = {s: i for i, s in enumerate(lexicon.segments)}
    known = [np.array([number[g] for g in cut(s, lexicon.delimiter) if g in number], dtype=np.int64) for s in held_out]
    states = find_states(
        lexicon, most, known, seed, lambda k, v: report(f"{k} states: {v:.4f} nats per held-out segment")
    )
    constant = _smoothing(lexicon, states, known)
    report(f"smoothing constant {constant:g}, added to every transition count")
    prior, table = _refined(lexicon, states, constant, steps, report)
    parameters, emission = _with_spelling(lexicon, prior, table, alphabet)
    return SymbolModel(alphabet, lexicon, states, parameters, emission)


def _smoothing(lexicon: Lexicon, states: States, held_out: Sequence[Ints]) -> float:
    """Choose the constant, added to transition counts, that maximises the likelihood of held-out transitions."""
    counts = _moves(lexicon.sequences, states)
    test = _moves(held_out, states)

    def value(constant: float) -> float:
        moves = counts + constant
        return float((test * np.log(moves / moves.sum(axis=1, keepdims=True))).sum())

    return max(SMOOTHING, key=value)


def _refined(
    lexicon: Lexicon, states: States, constant: float, steps: int, report: Report
) -> tuple[Parameters, torch.Tensor]:
    """Run EM over fixed segments, initialised by counts; return the prior and log P(segment | state), shape (S, K)."""
    k, size = states.count, len(lexicon.segments)
    weight = np.bincount(np.concatenate(lexicon.sequences), minlength=size).astype(float)
    moves = _moves(lexicon.sequences, states) + constant
    first = np.bincount(states.owners[[s[0] for s in lexicon.sequences if len(s)]], minlength=k) + 1.0 / k
    emit = LEAK * np.outer(weight / weight.sum(), np.ones(k))  # allows EM to move a segment to another state
    emit[np.arange(size), states.owners] += (1 - LEAK) * (weight / np.bincount(states.owners, weight, k)[states.owners])
    prior = Parameters(
        _log(first / first.sum()), _log(moves / moves.sum(axis=1, keepdims=True)), torch.zeros(k, 1), torch.zeros(k)
    )
    model = SymbolHSMM(prior, NGramTable(_log(emit / emit.sum(axis=0))), smoothing=constant)
    order = sorted((s for s in lexicon.sequences if len(s)), key=len)
    batches = [_padded(order[i : i + 512]) for i in range(0, len(order), 512)]
    for step in range(steps):
        value = model.step(batches)
        report(f"EM step {step + 1}: {value / sum(map(len, order)):.4f} nats per segment before it")
    return model.parameters, model.emission.log_probabilities  # type: ignore[attr-defined]


def _moves(sequences: Sequence[Ints], states: States) -> Floats:
    """Count how often each state follows another, shape (K, K)."""
    owners = np.eye(states.count)[states.owners]
    return np.asarray(owners.T @ (bigrams(sequences, len(owners)) @ owners))


def _log(x: Floats) -> torch.Tensor:
    return torch.from_numpy(np.log(x)).float()


def _padded(rows: list[Ints]) -> Batch:
    """Padded numbers of segments, (B, T, 1), and lengths, (B,)."""
    lengths = torch.tensor([len(r) for r in rows])
    x = torch.full((len(rows), int(lengths.max()), 1), -1, dtype=torch.long)
    for i, r in enumerate(rows):
        x[i, : len(r), 0] = torch.from_numpy(r)
    return x, lengths


def _with_spelling(
    lexicon: Lexicon, prior: Parameters, table: torch.Tensor, alphabet: int
) -> tuple[Parameters, NGramTable]:
    """Add the states that spell unseen segments, with the Good–Turing share singletons / all (Good 1953)."""
    k, size = prior.states, len(lexicon.segments)
    # probability of an unseen segment; shares of symbols in spelling, (alphabet,), and the mean number of them
    counts = np.bincount(np.concatenate(lexicon.sequences), minlength=size)
    unseen = float(max(int((counts == 1).sum()), 0.5) / counts.sum())
    letters = np.bincount([c for s in lexicon.segments for c in s], minlength=alphabet) + 1.0
    letters[lexicon.delimiter] = 0.0
    mean = float(np.mean([len(s) - 1 for s in lexicon.segments]))
    # state k spells symbols, state k + 1 the delimiter; after it the next state does not depend on the one before
    moves = torch.zeros(k + 2, k + 2)
    moves[:k, :k] = prior.transition.exp() * (1 - unseen)
    moves[:k, k] = unseen
    moves[k, k], moves[k, k + 1] = 1 - 1 / mean, 1 / mean
    usual = _stationary(prior.transition.exp())
    moves[k + 1, :k], moves[k + 1, k] = usual * (1 - unseen), unseen
    initial = torch.cat([prior.initial.exp() * (1 - unseen), torch.tensor([unseen, 0.0])])
    lengths = torch.tensor([len(s) for s in lexicon.segments] + [1] * alphabet)
    emit = torch.zeros(size + alphabet, k + 2)
    emit[:size, :k] = table.exp()
    emit[size:, k] = torch.from_numpy(letters / letters.sum()).float()
    emit[size + lexicon.delimiter, k + 1] = 1.0
    # P(segment | state) = P(length | state) P(segment | state, length)
    lasting = torch.zeros(int(lengths.max()) + 1, k + 2).index_add_(0, lengths, emit)
    within = emit / lasting[lengths].clamp_min(1e-30)
    parameters = Parameters(initial.log(), moves.log(), lasting[1:].T.contiguous().log(), torch.zeros(k + 2))
    return parameters, NGramTable(within.log(), lengths)


def _stationary(moves: torch.Tensor) -> torch.Tensor:
    """Stationary distribution of a transition matrix, by power iteration, (K,)."""
    p = torch.full((len(moves),), 1 / len(moves))
    for _ in range(200):
        p = p @ moves
    return p / p.sum()
