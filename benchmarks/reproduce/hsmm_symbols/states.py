"""Find states from the order of segments, before EM.

From a random start, EM stays for a long time where every state emits everything; this start is close to the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hsmm_symbols.lexicon import Lexicon
from momus.numeric.types import Floats

FALL = 0.05  # nats per segment below the best value at which the search ends: later merges may undo a loss
Progress = Callable[[int, float], None]
"""Function called with a number of states and its held-out log-likelihood."""


def _silent(states: int, value: float) -> None: ...


def bigrams(sequences: Sequence[NDArray[np.int64]], size: int) -> sparse.csr_array:
    """Count how often each segment follows another, shape (S, S)."""
    left = np.concatenate([s[:-1] for s in sequences])
    right = np.concatenate([s[1:] for s in sequences])
    return sparse.csr_array((np.ones(len(left)), (left, right)), shape=(size, size))


def embed(counts: sparse.csr_array, rank: int, seed: int) -> Floats:
    """Unit vectors from both singular vectors of normalised bigrams: segments of one state are close."""
    from scipy.sparse.linalg import svds

    row = np.sqrt(np.asarray(counts.sum(axis=1)).ravel() + 1.0)
    column = np.sqrt(np.asarray(counts.sum(axis=0)).ravel() + 1.0)
    scaled = sparse.diags_array(1 / row) @ counts @ sparse.diags_array(1 / column)
    rank = min(rank, counts.shape[0] - 2)
    start = np.random.default_rng(seed).normal(size=counts.shape[0])
    u, s, v = svds(scaled.tocsr(), k=rank, v0=start)
    both = np.concatenate([u * s / row[:, None], v.T * s / column[:, None]], axis=1)
    norm = np.linalg.norm(both, axis=1, keepdims=True)
    return np.asarray(both / np.maximum(norm, 1e-12))


@dataclass(frozen=True)
class States:
    """States of segments.

    Attributes
    ----------
    owners
        (S,) the state of each segment.
    curve
        Held-out log-likelihood (nats per segment) by number of states, in the order tried.
    """

    owners: NDArray[np.int64]
    curve: dict[int, float]

    @property
    def count(self) -> int:
        """K."""
        return int(self.owners.max()) + 1


def find_states(
    lexicon: Lexicon, most: int, held_out: Sequence[NDArray[np.int64]], seed: int = 0, progress: Progress = _silent
) -> States:
    """Assign segments to states: k-means into ``most``, then merging while held-out likelihood improves.

    Each merge takes the two groups that lose the least likelihood of transitions from and to them (as in the
    class-based n-grams of Brown et al. 1992); between merges every segment moves to the state that its neighbours make
    most likely. The number of states maximises held-out likelihood: searched in steps of 3 %, then one by one.
    """
    from sklearn.cluster import KMeans

    size = len(lexicon.segments)
    counts = bigrams(lexicon.sequences, size)
    weight = np.bincount(np.concatenate(lexicon.sequences), minlength=size).astype(float)
    points = embed(counts, min(300, most), seed)
    means = KMeans(min(most, size), n_init=1, random_state=seed).fit(points, sample_weight=np.sqrt(weight))
    owners = reassign(counts, compact(means.labels_))
    curve: dict[int, float] = {}
    for step in (0.03, 0.0):
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


def compact(labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """Number labels 0, 1, … without gaps."""
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def _grouped(counts: sparse.csr_array, owners: NDArray[np.int64]) -> Floats:
    k = int(owners.max()) + 1
    member = sparse.csr_array((np.ones(len(owners)), (owners, np.arange(len(owners)))), shape=(k, len(owners)))
    return np.asarray((member @ counts @ member.T).todense())


def _xlogx(x: Floats) -> Floats:
    return np.asarray(x * np.log(np.maximum(x, 1.0)))


def merge(counts: sparse.csr_array, owners: NDArray[np.int64], times: int) -> NDArray[np.int64]:
    """Merge the disjoint pairs of states whose union loses the least likelihood, at most ``times`` of them."""
    moves = _grouped(counts, owners)
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
    own = _xlogx(rows).sum(axis=1) - _xlogx(rows.sum(axis=1))
    out = np.empty((len(rows), len(rows)))
    for i, row in enumerate(rows):
        both = rows + row
        out[i] = own[i] + own - (_xlogx(both).sum(axis=1) - _xlogx(both.sum(axis=1)))
    return out


def reassign(counts: sparse.csr_array, owners: NDArray[np.int64], rounds: int = 3) -> NDArray[np.int64]:
    """Move every segment to the state under which its neighbours are most likely; empty states vanish."""
    for _ in range(rounds):
        k = int(owners.max()) + 1
        member = sparse.csr_array((np.ones(len(owners)), (np.arange(len(owners)), owners)), shape=(len(owners), k))
        moves = _grouped(counts, owners) + 0.1
        forward = np.log(moves / moves.sum(axis=1, keepdims=True))
        backward = np.log(moves / moves.sum(axis=0, keepdims=True))
        after, before = (counts @ member).todense(), (counts.T @ member).todense()
        score = np.asarray(after @ forward.T) + np.asarray(before @ backward)
        fresh = compact(score.argmax(axis=1))
        if np.array_equal(fresh, owners):
            break
        owners = fresh
    return owners


def _held_out(
    lexicon: Lexicon,
    held_out: Sequence[NDArray[np.int64]],
    owners: NDArray[np.int64],
    weight: Floats,
    curve: dict[int, float],
) -> float:
    value = held_out_likelihood(lexicon.sequences, held_out, owners, weight)
    curve[int(owners.max()) + 1] = value
    return value


def held_out_likelihood(
    train: Sequence[NDArray[np.int64]], test: Sequence[NDArray[np.int64]], owners: NDArray[np.int64], weight: Floats
) -> float:
    """Held-out log-likelihood per segment, with states known from segments and 0.5 added to counts."""
    k = int(owners.max()) + 1
    a = np.concatenate([owners[s[:-1]] for s in train])
    b = np.concatenate([owners[s[1:]] for s in train])
    moves = np.bincount(a * k + b, minlength=k * k).reshape(k, k) + 0.5
    log_moves = np.log(moves / moves.sum(axis=1, keepdims=True))
    first = np.bincount([owners[s[0]] for s in train if len(s)], minlength=k) + 1.0 / k
    log_first = np.log(first / first.sum())
    mass = weight + 0.5
    log_emit = np.log(mass / np.bincount(owners, mass, k)[owners])
    some = [s for s in test if len(s)]
    total = sum(log_moves[owners[s[:-1]], owners[s[1:]]].sum() + log_emit[s].sum() for s in some)
    total += log_first[owners[[s[0] for s in some]]].sum()
    return float(total / sum(map(len, test)))
