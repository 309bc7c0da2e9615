"""Initialise states from the order of segments, before EM.

From a random start, EM is slow to leave the region where every state emits every segment; this start is close to the
optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hsmm_symbols.lexicon import Lexicon
from momus.numeric.types import Floats, Ints

FALL = 0.05
"""Nats per segment below the best value at which the search ends; later merges may undo a smaller loss."""
Progress = Callable[[int, float], None]
"""Called with a number of states and its held-out log-likelihood."""


def _silent(states: int, value: float) -> None: ...


def bigrams(sequences: Sequence[Ints], size: int) -> sparse.csr_array:
    """Count how often each segment follows another, shape (S, S)."""
    left = np.concatenate([s[:-1] for s in sequences])
    right = np.concatenate([s[1:] for s in sequences])
    return sparse.csr_array((np.ones(len(left)), (left, right)), shape=(size, size))


def embed(counts: sparse.csr_array, rank: int, seed: int) -> Floats:
    """Unit vectors (S, 2 rank) from the singular vectors of normalised bigrams; segments of one state are close."""
    from scipy.sparse.linalg import svds

    row = np.sqrt(np.asarray(counts.sum(axis=1)).ravel() + 1.0)
    column = np.sqrt(np.asarray(counts.sum(axis=0)).ravel() + 1.0)
    scaled = sparse.diags_array(1 / row) @ counts @ sparse.diags_array(1 / column)
    rank = min(rank, counts.shape[0] - 2)
    start = np.random.default_rng(seed).normal(size=counts.shape[0])
    u, s, v = svds(scaled.tocsr(), k=rank, v0=start)
    # left vectors describe a segment by its successors, right ones by its predecessors
    vectors = np.concatenate([u * s / row[:, None], v.T * s / column[:, None]], axis=1)
    norm = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norm, 1e-12))


@dataclass(frozen=True)
class States:
    """The assignment of segments to states.

    Attributes
    ----------
    owners
        (S,) the state of each segment.
    curve
        Held-out log-likelihood (nats per segment) by number of states, in the order tried.
    """

    owners: Ints
    curve: dict[int, float]

    @property
    def count(self) -> int:
        """K."""
        return int(self.owners.max()) + 1


def find_states(
    lexicon: Lexicon, most: int, held_out: Sequence[Ints], seed: int = 0, progress: Progress = _silent
) -> States:
    """Assign segments to states: k-means into ``most``, then merging while held-out likelihood improves.

    Each merge joins the two states whose union loses the least likelihood of transitions from and to them (as in the
    class-based n-grams of Brown et al. 1992). Between merges, every segment moves to the state under which its
    neighbours are most likely. The number of states maximises held-out likelihood; it is searched in steps of 3 %, then
    one by one.
    """
    from sklearn.cluster import KMeans

    size = len(lexicon.segments)
    counts = bigrams(lexicon.sequences, size)
    weight = np.bincount(np.concatenate(lexicon.sequences), minlength=size).astype(float)
    points = embed(counts, min(300, most), seed)
    means = KMeans(min(most, size), n_init=1, random_state=seed).fit(points, sample_weight=np.sqrt(weight))
    owners = reassign(counts, compact(means.labels_))
    curve: dict[int, float] = {}
    for step in (0.03, 0.0):  # the second search starts one coarse step before the best value of the first
        tried = [owners]
        values = [_held_out(lexicon, held_out, owners, weight, curve)]
        while values[-1] > max(values) - FALL and tried[-1].max() > 1:
            times = max(1, round(step * int(tried[-1].max())))
            tried.append(reassign(counts, merge(counts, tried[-1], times)))
            values.append(_held_out(lexicon, held_out, tried[-1], weight, curve))
            progress(int(tried[-1].max()) + 1, values[-1])
        best = int(np.argmax(values))
        owners = tried[max(best - 1, 0)] if step else tried[best]
    return States(owners, curve)


def compact(labels: NDArray[np.integer]) -> Ints:
    """Number labels 0, 1, … without gaps."""
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def _grouped(counts: sparse.csr_array, owners: Ints) -> Floats:
    """Bigram counts of states, (K, K)."""
    k = int(owners.max()) + 1
    member = sparse.csr_array((np.ones(len(owners)), (owners, np.arange(len(owners)))), shape=(k, len(owners)))
    return np.asarray((member @ counts @ member.T).todense())


def _xlogx(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.maximum(x, 1.0)))


def merge(counts: sparse.csr_array, owners: Ints, times: int) -> Ints:
    """Merge the disjoint pairs of states whose union loses the least likelihood, at most ``times`` of them."""
    moves = _grouped(counts, owners)
    # loss of each pair, (K, K), from transitions out of and into it; pairs a < b in order of loss
    loss = _merging_loss(moves) + _merging_loss(moves.T.copy())
    np.fill_diagonal(loss, np.inf)
    order = np.argsort(np.triu(loss) + np.tril(np.full(loss.shape, np.inf)), axis=None, kind="stable")
    used: set[int] = set()
    label = np.arange(len(moves))
    for flat in order[: 20 * times]:
        a, b = divmod(int(flat), len(moves))
        if a in used or b in used:
            continue
        label[b] = a
        used |= {a, b}
        if len(used) >= 2 * times:
            break
    return compact(np.asarray(label[owners]))


def _merging_loss(rows: Floats) -> Floats:
    """Log-likelihood lost when two rows of counts share one distribution, for all pairs, shape (K, K)."""
    separate = _xlogx(rows).sum(axis=1) - _xlogx(rows.sum(axis=1))  # log-likelihood of each row by itself, (K,)
    loss = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        union = rows + row
        loss[i] = separate[i] + separate - (_xlogx(union).sum(axis=1) - _xlogx(union.sum(axis=1)))
    return loss


def reassign(counts: sparse.csr_array, owners: Ints, rounds: int = 3) -> Ints:
    """Move every segment to the state under which its neighbours are most likely; empty states are removed."""
    for _ in range(rounds):
        k = int(owners.max()) + 1
        member = sparse.csr_array((np.ones(len(owners)), (np.arange(len(owners)), owners)), shape=(len(owners), k))
        moves = _grouped(counts, owners) + 0.1
        forward = np.log(moves / moves.sum(axis=1, keepdims=True))
        backward = np.log(moves / moves.sum(axis=0, keepdims=True))
        # counts of each segment's successors and predecessors by state, (S, K), and their log-likelihood for each state
        # of the segment, (S, K)
        after, before = (counts @ member).todense(), (counts.T @ member).todense()
        score = np.asarray(after @ forward.T) + np.asarray(before @ backward)
        reassigned = compact(score.argmax(axis=1))
        if np.array_equal(reassigned, owners):
            break
        owners = reassigned
    return owners


def _held_out(
    lexicon: Lexicon,
    held_out: Sequence[Ints],
    owners: Ints,
    weight: Floats,
    curve: dict[int, float],
) -> float:
    """Held-out log-likelihood per segment, entered into the curve too."""
    value = held_out_likelihood(lexicon.sequences, held_out, owners, weight)
    curve[int(owners.max()) + 1] = value
    return value


def held_out_likelihood(train: Sequence[Ints], test: Sequence[Ints], owners: Ints, weight: Floats) -> float:
    """Held-out log-likelihood per segment; a segment determines its state, and 0.5 is added to counts."""
    k = int(owners.max()) + 1
    # transition counts of states, (K, K), first states, (K,), and P(segment | state), (S,), of the training sequences
    a = np.concatenate([owners[s[:-1]] for s in train])
    b = np.concatenate([owners[s[1:]] for s in train])
    moves = np.bincount(a * k + b, minlength=k * k).reshape(k, k) + 0.5
    log_moves = np.log(moves / moves.sum(axis=1, keepdims=True))
    first = np.bincount([owners[s[0]] for s in train if len(s)], minlength=k) + 1.0 / k
    log_first = np.log(first / first.sum())
    mass = weight + 0.5
    log_emit = np.log(mass / np.bincount(owners, mass, k)[owners])
    nonempty = [s for s in test if len(s)]
    total = sum(log_moves[owners[s[:-1]], owners[s[1:]]].sum() + log_emit[s].sum() for s in nonempty)
    total += log_first[owners[[s[0] for s in nonempty]]].sum()
    return float(total / sum(map(len, test)))
