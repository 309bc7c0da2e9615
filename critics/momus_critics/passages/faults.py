"""Evidence of faults of order in running text, summed over all ways to divide it into sections.

Pieces y_1 … y_M are emitted by a chain of sections: a section of type k lasts another piece with probability s_k, or
the next one begins, of type j with probability P_c(j | k). Borders are not observed. One forward pass sums over all
types and borders, for the chain P_c and for chains with one fault:

* two neighbouring sections have changed places: both are remembered until the second has ended, K² states;
* a section is there that the chain has not: the type before it is remembered, (K + 1) K states;
* a section of the chain is missing: a transition in two steps.

A document in which every section may be out of place takes steps by chance, see `momus_critics.chains.repair`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from momus.numeric.ragged import items_of
from momus.numeric.types import Floats, Ints
from momus.sequences.forward_backward import TINY, forward_backward
from momus_critics.chains.repair import CHANCE, FAULTY

KINDS = np.array([3, 3, 2, 8]) / 16
"""Prior probabilities of the kinds of a fault, in the order of `SectionProcess.log_ratios`. Without borders, a section
that is repeated looks like a longer one."""

CELLS = 2_000_000
"""Most cells of a message of a batch; bounds memory."""


@dataclass(frozen=True)
class SectionProcess:
    """A chain of sections that emits pieces.

    Attributes
    ----------
    transitions
        (K + 1, K + 1) P_c(next type | type), start and end at index K.
    chance
        (K + 1,) probability of each next type, and of the end, whatever came before.
    stay
        (K,) probability that a section of each type goes on after a piece, below 1.
    sections
        Mean number of sections of a document.
    """

    transitions: Floats
    chance: Floats
    stay: Floats
    sections: float

    def log_evidence(self, begin: Floats, inside: Floats, offsets: Ints, transitions: Floats | None = None) -> Floats:
        """log P(y) of each document, summed over types and borders, (n,); see `log_ratios`."""
        t, k = self.transitions if transitions is None else transitions, len(self.stay)
        # two states of each type: on its first piece, and on the others, which come second
        leave = (1 - self.stay)[:, None] * t[:k]
        move = np.hstack([leave[:, :k], np.diag(self.stay)])
        start = np.append(t[k, :k], np.zeros(k))
        end = np.tile(leave[:, k], 2)
        return forward_backward(np.hstack([begin, inside]), offsets, start, np.tile(move, (2, 1)), end)[2]

    def by_chance(self, share: float = 1.0) -> Floats:
        """Transitions of which a share is by chance, (K + 1, K + 1); no document is empty."""
        mixed = (1 - share) * self.transitions + share * self.chance
        mixed[-1, -1] = 0.0
        mixed[-1] /= mixed[-1].sum()
        return np.asarray(mixed)

    def log_ratios(self, begin: Floats, inside: Floats, offsets: Ints) -> Floats:
        """log P(y | kind of fault) / P_c(y): neighbours swapped, one section more, one less, steps by chance; (4, n).

        Parameters
        ----------
        begin, inside
            (N, K) P(y_i | type) up to a factor per piece, of a piece that begins a section, and of another one.
        offsets
            int (n + 1,): document i owns the pieces ``offsets[i]:offsets[i + 1]``, at least one.
        """
        k = len(self.stay)
        ratios = np.empty((4, len(offsets) - 1))
        for rows in _batches(np.diff(offsets), k * (k + 1)):
            pieces, bounds = items_of(rows, offsets)
            ratios[:3, rows] = _FaultPass(self, begin[pieces], inside[pieces], bounds).run()
        jumping = self.log_evidence(begin, inside, offsets, self.by_chance(CHANCE))
        ratios[3] = jumping - self.log_evidence(begin, inside, offsets)
        return ratios

    def fault_evidence(self, begin: Floats, inside: Floats, offsets: Ints) -> Floats:
        """−log P(no fault | y) ≥ 0 of each document in nats, (n,), see `momus_critics.chains.repair.fault_evidence`."""
        log_ratio = logsumexp(self.log_ratios(begin, inside, offsets), axis=0, b=KINDS[:, None])
        return np.asarray(np.logaddexp(0.0, log_ratio + np.log(FAULTY / (1 - FAULTY))))

    def disorder(self, begin: Floats, inside: Floats, offsets: Ints) -> Floats:
        """log P_0(y) − log P_c(y) of each document in nats, (n,), where P_0 takes all steps by chance."""
        ordered = self.log_evidence(begin, inside, offsets)
        return np.asarray(self.log_evidence(begin, inside, offsets, self.by_chance()) - ordered)


class _FaultPass:
    """Forward messages of documents side by side, the longest first: ``rows`` is the number that still run, r.

    All messages are divided by the same totals, so their ratios are those of probabilities.
    """

    def __init__(self, process: SectionProcess, begin: Floats, inside: Floats, offsets: Ints) -> None:
        self.begin, self.inside, self.stay, self.leave = begin, inside, process.stay, 1 - process.stay
        k = self.k = len(process.stay)
        self.lengths = np.diff(offsets)
        self.order = np.argsort(-self.lengths, kind="stable")
        self.first = offsets[:-1][self.order]
        t = process.transitions
        self.start, self.move, self.end = t[k, :k], t[:k, :k], t[:k, k]
        self.all_moves = t[:, :k]  # from the start too
        # z_b, z_c in the chain, c first in the text: [c, b]; two sections of one type change nothing
        self.reverse = self.move.T * (1 - np.eye(k)) / max(process.sections - 1, 1.0)
        self.extra = process.chance[:k] / process.chance[:k].sum() / process.sections
        self.skip = t[:, :k] @ t[:k] / (process.sections + 1)  # (K + 1, K + 1), over a missing section

    def run(self) -> Floats:
        """log ratios of three faults, (3, n), in the order of the documents."""
        n, k = len(self.lengths), self.k
        totals = np.empty((4, n))  # of the chain itself, and with each fault
        clean = np.zeros((n, k + 1))  # the chain so far, by its last type; column K: at the start
        clean[:, k] = 1.0
        mended = np.zeros((3, n, k))  # after the fault
        early, late = np.zeros((n, k, k)), np.zeros((n, k, k))  # [c, b]: in c, before b; in b, after c
        extra = np.zeros((n, k + 1, k))  # [j, x]: in the additional section x, after j
        for m in range(int(self.lengths.max())):
            r = int((self.lengths > m).sum())
            rows = self.first[:r] + m
            b, i = self.begin[rows], self.inside[rows] * self.stay
            clean, mended, early, late, extra = clean[:r], mended[:, :r], early[:r], late[:r], extra[:r]
            left = self._left(clean)
            # types that are entered after the fault, (3, r, K)
            entered = (mended * self.leave) @ self.move
            entered[0] += (late * self.leave).sum(axis=2) @ self.move
            entered[1] += (extra * self.leave).sum(axis=2) @ self.all_moves
            entered[2] += left @ self.skip[:, :k]
            step = left @ self.all_moves
            mended = i * mended + b * entered
            late = i[:, None, :] * late + b[:, None, :] * (early * self.leave[:, None])
            early = i[:, :, None] * early + b[:, :, None] * (step[:, None, :] * self.reverse)
            extra = i[:, None, :] * extra + (left[:, :, None] * self.extra) * b[:, None, :]
            clean = np.column_stack([i * clean[:, :k] + b * step, np.zeros(r)])
            scale = 1 / np.maximum(
                clean.sum(1) + mended.sum((0, 2)) + (early + late).sum((1, 2)) + extra.sum((1, 2)), TINY
            )
            clean *= scale[:, None]
            mended *= scale[:, None]
            for message in (early, late, extra):
                message *= scale[:, None, None]
            done = np.flatnonzero(self.lengths[self.order[:r]] == m + 1)
            totals[:, self.order[done]] = self._ended(clean[done], mended[:, done], late[done], extra[done])
        logs = np.log(np.maximum(totals, TINY))
        return np.asarray(logs[1:] - logs[0])

    def _left(self, clean: Floats) -> Floats:
        """Probability that the section before has ended, by its type, the start included, (r, K + 1)."""
        return np.asarray(clean * np.append(self.leave, 1.0))

    def _ended(self, clean: Floats, mended: Floats, late: Floats, extra: Floats) -> Floats:
        """Messages of documents that end here: of the chain itself, and with each fault, (4, r)."""
        left = self._left(clean)[:, :-1]
        faults = (mended * self.leave) @ self.end  # (3, r)
        faults[0] += (late * self.leave).sum(axis=2) @ self.end
        # an additional section is not all that there is
        faults[1] += (extra * self.leave).sum(axis=2)[:, :-1] @ self.end
        faults[2] += left @ self.skip[:-1, -1]
        return np.vstack([(left @ self.end)[None], faults])


def _batches(lengths: Ints, cells: int) -> Iterator[Ints]:
    """Documents of similar length, as many together as `CELLS` allows."""
    order = np.argsort(-lengths, kind="stable")
    size = max(1, CELLS // cells)
    for first in range(0, len(order), size):
        yield order[first : first + size]
