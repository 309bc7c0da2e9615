"""An HSMM over the features of pieces: states, how long they last, and how many of them there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from momus.estimator import Estimator
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats
from momus.progress import stage
from momus_critics.hsmm import HSMM, DiagonalGaussian, Parameters
from momus_critics.hsmm.model import Batch

CELLS = 16_384
"""Observations in a batch: bounds memory whatever the lengths."""
HELD_OUT = 0.2


class Segmenter(Estimator):
    """Parameters
    ----------
    states
        K, or 0 for the smallest of ``candidates`` within a standard error of the best held-out likelihood.
    candidates
        Numbers of states to choose from.
    longest
        D, most pieces of one segment; a longer stretch is two segments of one state, and is read as one.
    temper
        Weight of the log-density of a piece. Neighbouring pieces are not independent given their state, as the model
        has it; at 1 they would outvote the chain.
    steps
        Most steps of EM.
    seed
        Seeds k-means, and the documents held out.
    """

    device: str = "cpu"

    def __init__(
        self,
        *,
        states: int = 0,
        candidates: tuple[int, ...] = (4, 6, 8, 10, 12, 16),
        longest: int = 24,
        temper: float = 0.2,
        steps: int = 12,
        seed: int = 0,
    ) -> None:
        self.states = states
        self.candidates = candidates
        self.longest = longest
        self.temper = temper
        self.steps = steps
        self.seed = seed

    def fit(self, x: Floats, offsets: NDArray[np.int64]) -> Self:
        """Learn from features (N, V) of documents that begin at ``offsets``."""
        n = len(offsets) - 1
        self.curve_: list[list[float]] = []
        count = min(self.states, len(x)) if self.states else 0
        if not count:
            held = np.random.default_rng(self.seed).permutation(n)[: max(1, round(HELD_OUT * n))]
            rest = np.setdiff1d(np.arange(n), held)
            count = self._choose(_take(x, offsets, rest), _take(x, offsets, held))
        with stage(f"EM with {count} states", self.steps) as advance:
            model = self._learn(x, offsets, count, advance)
        p, e = model.parameters, model.emission
        assert isinstance(e, DiagonalGaussian)
        self.initial_, self.transition_, self.duration_, self.final_, self.mean_, self.variance_ = (
            t.cpu().numpy() for t in (p.initial, p.transition, p.duration, p.final, e.mean, e.variance)
        )
        return self

    def _choose(self, train: tuple[Floats, NDArray[np.int64]], held: tuple[Floats, NDArray[np.int64]]) -> int:
        """Smallest number of states within one standard error of the best, by paired differences over documents."""
        each, tried = [], [k for k in sorted(self.candidates) if k <= len(train[0])] or [1]
        lengths = np.diff(held[1])
        with stage("choosing the number of states", len(tried)) as advance:
            for i, k in enumerate(tried):
                model = self._learn(*train, k)
                each.append(self._likelihoods(model, *held) / max(lengths.mean(), 1e-9))
                advance(i + 1)
        means = [float(e.mean()) for e in each]
        best = int(np.argmax(means))
        self.curve_ = [[float(k), m] for k, m in zip(tried, means, strict=True)]
        for k, values in zip(tried, each, strict=True):
            lost = each[best] - values
            if lost.mean() <= lost.std(ddof=1) / np.sqrt(len(lost)) if len(lost) > 1 else lost.mean() <= 0:
                return k
        return tried[best]

    def _learn(self, x: Floats, offsets: NDArray[np.int64], k: int, advance: object = None) -> HSMM:
        model = self._start(x, offsets, k)
        batches = [b for b, _ in self._batches(x, offsets)]

        def report(step: int, value: float) -> None:
            if callable(advance):
                advance(step + 1)

        model.fit(batches, steps=self.steps, tolerance=1e-3, report=report)
        return model

    def _start(self, x: Floats, offsets: NDArray[np.int64], k: int) -> HSMM:
        """k-means over features averaged with their neighbours, and over the place in the document."""
        from sklearn.cluster import KMeans

        lengths = np.diff(offsets)
        document = np.repeat(np.arange(len(lengths)), lengths)
        total, weight = x.copy(), np.ones(len(x))
        for shift in (1, -1):
            near = np.roll(np.arange(len(x)), shift)
            same = document[near] == document
            total[same] += x[near[same]]
            weight += same
        place = (np.arange(len(x)) - offsets[:-1][document] + 0.5) / lengths[document]
        points = np.column_stack([total / weight[:, None], 2 * place])
        labels = KMeans(k, n_init=3, random_state=self.seed).fit_predict(points)
        spread = x.var(axis=0) + 1e-6
        mean = np.stack([x[labels == c].mean(axis=0) if (labels == c).any() else x.mean(axis=0) for c in range(k)])
        variance = np.stack([x[labels == c].var(axis=0) if (labels == c).sum() > 1 else spread for c in range(k)])
        flat = torch.full((k, k + 1), -float(np.log(k + 1)))
        lasting = torch.log_softmax(-0.35 * torch.arange(self.longest, dtype=torch.float32), 0).expand(k, -1).clone()
        prior = Parameters(torch.full((k,), -float(np.log(k))), flat[:, :k].clone(), lasting, flat[:, k].clone())
        floor = 0.01 * float(spread.mean())
        emission = DiagonalGaussian(_tensor(mean), _tensor(np.maximum(variance, floor)), floor, self.temper)
        return HSMM(prior.to(self.device), emission.to(self.device), smoothing=0.1)

    def _batches(self, x: Floats, offsets: NDArray[np.int64]) -> list[tuple[Batch, NDArray[np.int64]]]:
        """Padded batches of documents of similar length, with their row numbers."""
        lengths = np.diff(offsets)
        order = np.argsort(lengths, kind="stable")
        groups: list[list[int]] = [[]]
        for i in order[lengths[order] > 0]:
            if groups[-1] and (len(groups[-1]) + 1) * lengths[i] > CELLS:
                groups.append([])
            groups[-1].append(int(i))
        found = []
        for rows in groups:
            if rows:
                parts = [_tensor(x[offsets[i] : offsets[i + 1]]) for i in rows]
                padded = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True).to(self.device)
                found.append(((padded, torch.from_numpy(lengths[rows]).to(self.device)), np.array(rows)))
        return found

    def _likelihoods(self, model: HSMM, x: Floats, offsets: NDArray[np.int64]) -> Floats:
        out = np.zeros(len(offsets) - 1)
        for batch, rows in self._batches(x, offsets):
            out[rows] = model.log_likelihood([batch]).double().cpu().numpy()
        return out

    def decode(self, x: Floats, offsets: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Most probable segmentation of each document: states, and where each segment begins (a last one: the end).

        Neighbouring segments of one state are read as one.
        """
        parts = (self.initial_, self.transition_, self.duration_, self.final_)
        prior = Parameters(*(torch.from_numpy(np.array(p)) for p in parts)).to(self.device)
        emission = DiagonalGaussian(_tensor(self.mean_), _tensor(self.variance_), temper=self.temper).to(self.device)
        model = HSMM(prior, emission)
        empty = np.zeros(0, dtype=np.int64)
        found = [(empty, empty)] * (len(offsets) - 1)
        for batch, rows in self._batches(x, offsets):
            for i, s in zip(rows, model.decode([batch]), strict=True):
                states = np.repeat(s.states, s.durations)
                starts = np.flatnonzero(np.concatenate([[True], states[1:] != states[:-1]]))
                found[i] = (states[starts].astype(np.int64), np.append(starts, len(states)).astype(np.int64))
        return found


def _tensor(x: Sequence[float] | Floats) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))


def _take(x: Floats, offsets: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    rows = np.sort(rows)
    parts = [x[offsets[i] : offsets[i + 1]] for i in rows]
    return np.concatenate(parts), offsets_of([len(p) for p in parts])
