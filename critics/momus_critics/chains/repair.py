"""The best repair of a document's order: how much likelier it would be with one fault less.

Latent NLL adds up all that is unusual of a document: a long one has more of it, and so has a plain one with rare
sections. A fault is rather something that a small change mends. Three repairs are tried on every document:

* other order: neighbouring sections change places, as long as that makes the document likelier (greedy, at most
  `ROUNDS` times);
* one section less;
* one section more, of unknown type and text, before any section or at the end.

The gain is log P_c(x') − log P_c(x) in nats, under the posterior of the whole chain. The likelihood of a section's text
enters relative to that of any section, P(z_m | x_m) / P(z_m), which is 1 for a section that is unknown, so documents
of different lengths compare.

All single repairs together, and the alternative of steps by chance, give the posterior probability that a document has
faults of order, and the nats of evidence for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from momus.numeric.ragged import items_of, owners_of
from momus.numeric.types import Floats, Ints
from momus.sequences.forward_backward import TINY, forward_backward

ROUNDS = 8
LEAST_GAIN = 0.01
"""Nats that a change of places must gain to be made."""
ORDER, LESS, MORE = 0, 1, 2
FAULTY = 0.2
"""Prior probability that a document has a fault."""
KINDS = np.array([3, 1, 2, 2, 8]) / 16
"""Prior probabilities of the kinds of a fault: those that `ORDER`, `LESS` and `MORE` repair, a repetition (one section
too many, of the type of the one before), and steps by chance."""
CHANCE = 0.3
"""Probability that a step of a document with steps by chance is one."""


@dataclass(frozen=True)
class Repairs:
    """The best repair of each of n documents.

    Attributes
    ----------
    gain
        (n,) in nats; below 0 where every repair makes the document less likely.
    kind
        int (n,): `ORDER`, `LESS` or `MORE`.
    place
        int (n,): the section, from 0, that the next one should precede (first change of places), that should not be
        there, or before which one is missing (the number of sections: at the end).
    """

    gain: Floats
    kind: Ints
    place: Ints


def best_repairs(emission: Floats, offsets: Ints, transitions: Floats) -> Repairs:
    """The best repair of each document.

    Parameters
    ----------
    emission
        (N, K): P(z_m | x_m) / P(z_m) of the sections of all documents, one after another.
    offsets
        int (n + 1,): document i owns the sections ``offsets[i]:offsets[i + 1]``, at least one.
    transitions
        (K + 1, K + 1) P_c, start and end at index K.

    >>> chain = np.array([[0.02, 0.96, 0.02], [0.02, 0.02, 0.96], [0.96, 0.02, 0.02]])  # first, second, end
    >>> found = best_repairs(np.eye(2)[[1, 0]] * 2, np.array([0, 2]), chain)
    >>> round(float(found.gain[0]), 1), int(found.kind[0]) == ORDER, int(found.place[0])
    (11.6, True, 0)
    """
    single = _gains(emission, offsets, transitions)
    order, first = _best(single.swaps, offsets)  # (n,) each
    order = _climb(emission, offsets, transitions, order, first)
    out, out_at = _best(single.less, offsets)
    # a document of M sections has M + 1 places for another one
    add, add_at = _best(single.more, offsets + np.arange(len(offsets)))
    gains, places = np.stack([order, out, add]), np.stack([first, out_at, add_at])  # (3, n)
    kind = gains.argmax(axis=0)  # `ORDER`, `LESS`, `MORE`: the order of the rows
    rows = np.arange(len(kind))
    return Repairs(gains[kind, rows], kind, places[kind, rows])


def fault_evidence(emission: Floats, offsets: Ints, transitions: Floats, chance: Floats) -> Floats:
    """Evidence that each document has faults of order, −log P(no fault | x) ≥ 0 in nats, (n,).

    A document x with one fault comes from a repaired one, x' ~ P_c, by a change at a random place. In a document with
    many, steps are by chance (`CHANCE`): the next state, or the end, does not depend on the one before. With
    ε = `FAULTY` and R = Σ P(kind) P(x | kind) / P_c(x) over `KINDS`, P(no fault | x) = (1 − ε) / (1 − ε + ε R).

    Parameters
    ----------
    chance
        (K + 1,) probability of each next state, and of the end, whatever came before.
    emission, offsets, transitions
        See `best_repairs`.

    >>> chain = np.array([[0.02, 0.96, 0.02], [0.02, 0.02, 0.96], [0.96, 0.02, 0.02]])  # first, second, end
    >>> ordered, swapped = np.eye(2)[[0, 1]] * 2, np.eye(2)[[1, 0]] * 2
    >>> evidence = fault_evidence(np.vstack([ordered, swapped]), np.array([0, 2, 4]), chain, np.full(3, 1 / 3))
    >>> evidence.round(2).tolist()
    [0.06, 8.56]
    """
    single = _gains(emission, offsets, transitions)
    lengths, k = np.diff(offsets), len(transitions) - 1
    jumps = (1 - CHANCE) * transitions + CHANCE * chance  # rows still sum to 1
    log_evidence = single.log_evidence
    # log mean ratio of each kind, (5, n); the last section has no next one: its gain is −∞
    ratios = [
        _log_sum(single.swaps, offsets) - np.log(np.maximum(lengths - 1, 1)),
        _log_sum(single.less, offsets) - np.log(lengths),
        _log_sum(single.more, offsets + np.arange(len(offsets))) - np.log(lengths + 1),
        _log_sum(single.merged, offsets) - np.log(np.maximum(lengths - 1, 1)),
        forward_backward(emission, offsets, jumps[k, :k], jumps[:k, :k], jumps[:k, k])[2] - log_evidence,
    ]
    log_ratio = logsumexp(ratios, axis=0, b=KINDS[:, None])
    return np.asarray(np.logaddexp(0.0, log_ratio + np.log(FAULTY / (1 - FAULTY))))


@dataclass(frozen=True)
class _Gains:
    """Gains of all single repairs, in nats.

    Attributes
    ----------
    swaps, merged
        (N,): each section changes places with the next; both are one section, of one type. −∞ for the last section.
    less
        (N,): each section is left out.
    more
        (N + n,): another one is there, before each section or at the end.
    log_evidence
        (n,): log P_c(x) of each document.
    """

    swaps: Floats
    merged: Floats
    less: Floats
    more: Floats
    log_evidence: Floats


def _gains(emission: Floats, offsets: Ints, transitions: Floats) -> _Gains:
    """All single repairs of each document.

    Evidence around a place needs only the messages there: the forward message before a section, and the backward
    message after it. Scales of messages cancel in each ratio.
    """
    k = len(transitions) - 1
    start, move, end = transitions[k, :k], transitions[:k, :k], transitions[:k, k]
    forward, backward, evidence = forward_backward(emission, offsets, start, move, end)
    heads, tails = offsets[:-1], offsets[1:] - 1
    # message before each section, (N, K); the first of a document got the last one's of another
    before = np.roll(forward @ move, 1, axis=0)
    before[heads] = start
    swaps, merged, less = (np.full(len(emission), -np.inf) for _ in range(3))
    a = np.setdiff1d(np.arange(len(emission)), tails)  # all sections but the last ones, each with the next one, b
    b = a + 1
    # log P of the sections as they are, in the scale of these messages: what all gains are relative to
    both = _log(((before[a] * emission[a]) @ move * emission[b] * backward[b]).sum(axis=1))
    swaps[a] = _log(((before[a] * emission[b]) @ move * emission[a] * backward[b]).sum(axis=1)) - both
    merged[a] = _log((before[a] * emission[a] * emission[b] * backward[b]).sum(axis=1)) - both
    less[a] = _log((before[a] * emission[b] * backward[b]).sum(axis=1)) - both
    # without its only section, a document would be empty, which P_c does not know
    last = tails[tails > heads]
    less[last] = _log(forward[last - 1] @ end) - _log((before[last] * emission[last]) @ end)
    here = _log((before * emission * backward).sum(axis=1))
    more = np.empty(len(emission) + len(heads))
    more[np.arange(len(emission)) + owners_of(offsets)] = _log(((before @ move) * emission * backward).sum(1)) - here
    # another section before the end: one more move, whose section may be of any type
    more[offsets[1:] + np.arange(len(heads))] = _log(forward[tails] @ move @ end) - _log(forward[tails] @ end)
    return _Gains(swaps, merged, less, more, evidence)


def _climb(emission: Floats, offsets: Ints, transitions: Floats, gain: Floats, place: Ints) -> Floats:
    """The total gain of swapping neighbours, the best pair first, until nothing is gained; (n,).

    ``gain`` and ``place`` are those of the first pair, (n,).
    """
    total = gain.copy()
    rows = np.flatnonzero(gain > LEAST_GAIN)
    sections, bounds = items_of(rows, offsets)
    changed, at = emission[sections], place[rows]
    for _ in range(ROUNDS - 1):
        if not len(rows):
            break
        pair = bounds[:-1] + at
        # the right side is evaluated first, and fancy indices copy; `copy` keeps that true if they become slices
        changed[pair], changed[pair + 1] = changed[pair + 1], changed[pair].copy()
        best, at = _best(_gains(changed, bounds, transitions).swaps, bounds)
        better = np.flatnonzero(best > LEAST_GAIN)
        total[rows[better]] += best[better]
        # documents that gain nothing leave, so that later rounds cost less
        sections, bounds = items_of(better, bounds)
        changed, rows, at = changed[sections], rows[better], at[better]
    return total


def _best(values: Floats, offsets: Ints) -> tuple[Floats, Ints]:
    """The largest value of each document and its first place within the document, (n,) both."""
    best = np.maximum.reduceat(values, offsets[:-1]) if len(values) else np.zeros(0)
    owners = owners_of(offsets)
    hits = np.flatnonzero(values == best[owners])
    _, first = np.unique(owners[hits], return_index=True)  # of equal places, the first
    return best, np.asarray(hits[first] - offsets[:-1])


def _log_sum(values: Floats, offsets: Ints) -> Floats:
    """log Σ exp of the values of each document, (n,)."""
    if not len(values):
        return np.zeros(0)
    # all gains may be −∞, as in a document of one section
    top = np.maximum(np.maximum.reduceat(values, offsets[:-1]), np.log(TINY))
    return np.asarray(top + _log(np.add.reduceat(np.exp(values - top[owners_of(offsets)]), offsets[:-1])))


def _log(values: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(values, TINY)))
