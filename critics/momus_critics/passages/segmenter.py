"""An HSMM over the features of pieces; learns the states, their durations, and their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from momus.estimator import Estimator, parametrized
from momus.numeric.ragged import changes, items_of, owners_of, places_of
from momus.numeric.types import Floats, Ints
from momus.progress import stage

if TYPE_CHECKING:
    from torch import Tensor

    from momus_critics.hsmm import HSMM
    from momus_critics.hsmm.model import Batch

# torch and the HSMM are imported when they compute: other critics take pieces and features from this package

CELLS = 16_384
"""Maximum number of padded observations per batch; bounds memory."""
HELD_OUT = 0.2
"""Share of the documents on which the number of states is chosen."""
CANDIDATES = (4, 6, 9, 12, 16)
"""Numbers of states that are tried."""
LONGEST, STEPS = 16, 8
"""D, the most pieces of a segment (those of one state that follow each other are one stretch), and most steps of EM."""


@parametrized
class Segmenter(Estimator):
    """Segments documents into stretches of pieces, each in one of K states, by an explicit-duration HSMM.

    Parameters
    ----------
    states
        K, or 0 for the smallest of `CANDIDATES` within one standard error of the best held-out likelihood.
    seed
        Seeds k-means and the choice of held-out documents.
    """

    device = "cpu"

    states: int = 0
    seed: int = 0

    def fit(self, x: Floats, offsets: Ints) -> Self:
        """Learn from features (N, V) of documents that begin at ``offsets``."""
        from momus_critics.hsmm import DiagonalGaussian

        n = len(offsets) - 1
        self.curve_: list[list[float]] = []
        count = min(self.states, len(x)) if self.states else 0
        if not count:
            held = np.random.default_rng(self.seed).permutation(n)[: max(1, round(HELD_OUT * n))]
            rest = np.setdiff1d(np.arange(n), held)
            count = self._choose(_take(x, offsets, rest), _take(x, offsets, held))
        with stage(f"EM with {count} states", STEPS) as advance:
            model = self._learn(x, offsets, count, advance)
        p, e = model.parameters, model.emission
        assert isinstance(e, DiagonalGaussian)
        self.initial_, self.transition_, self.duration_, self.final_, self.mean_, self.variance_ = (
            t.cpu().numpy() for t in (p.initial, p.transition, p.duration, p.final, e.mean, e.variance)
        )
        return self

    def _choose(self, train: tuple[Floats, Ints], held: tuple[Floats, Ints]) -> int:
        """Smallest number of states within one standard error of the best, by paired differences over documents."""
        candidates = [k for k in CANDIDATES if k <= len(train[0])] or [1]
        curves = []  # for each candidate, log-likelihood of each held-out document over the mean length, (n,)
        lengths = np.diff(held[1])
        with stage("choosing the number of states", len(candidates)) as advance:
            for i, k in enumerate(candidates):
                model = self._learn(*train, k)
                curves.append(self._likelihoods(model, *held) / max(lengths.mean(), 1e-9))
                advance(i + 1)
        means = [float(values.mean()) for values in curves]
        best = int(np.argmax(means))
        self.curve_ = [[float(k), m] for k, m in zip(candidates, means, strict=True)]
        for k, values in zip(candidates, curves, strict=True):
            loss = curves[best] - values  # (n,), paired: documents differ more than models
            if loss.mean() <= loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else loss.mean() <= 0:
                return k
        return candidates[best]

    def _learn(self, x: Floats, offsets: Ints, k: int, advance: Callable[[int], None] = lambda _: None) -> HSMM:
        """Fit an HSMM with K states by EM."""
        model = self._start(x, offsets, k)
        batches = [b for b, _ in self._batches(x, offsets)]
        model.fit(batches, steps=STEPS, tolerance=1e-3, report=lambda step, _: advance(step + 1))
        return model

    def _start(self, x: Floats, offsets: Ints, k: int) -> HSMM:
        """Initial HSMM, by k-means over features averaged with their neighbours, and over the place in the document."""
        import torch
        from sklearn.cluster import KMeans

        from momus_critics.hsmm import HSMM, DiagonalGaussian, Parameters

        lengths, document = np.diff(offsets), owners_of(offsets)
        # mean of each piece and its neighbours in the same document: sums (N, V) and numbers of summands (N,)
        total, weight = x.copy(), np.ones(len(x))
        for shift in (1, -1):
            near = np.roll(np.arange(len(x)), shift)
            # `roll` wraps around: the first piece would get the last one of all
            same = document[near] == document
            total[same] += x[near[same]]
            weight += same
        place = (places_of(offsets) + 0.5) / lengths[document]  # in (0, 1)
        points = np.column_stack([total / weight[:, None], 2 * place])
        labels = KMeans(k, n_init=3, random_state=self.seed).fit_predict(points)
        # moments of each cluster, (K, V); an empty cluster gets the overall mean, a single piece the overall variance
        spread = x.var(axis=0) + 1e-6
        mean = np.stack([x[labels == c].mean(axis=0) if (labels == c).any() else x.mean(axis=0) for c in range(k)])
        variance = np.stack([x[labels == c].var(axis=0) if (labels == c).sum() > 1 else spread for c in range(k)])
        # uniform over first states and over successors with the end; durations fall off as exp(−0.35 d)
        flat = torch.full((k, k + 1), -float(np.log(k + 1)))
        lasting = torch.log_softmax(-0.35 * torch.arange(LONGEST, dtype=torch.float32), 0).expand(k, -1).clone()
        prior = Parameters(torch.full((k,), -float(np.log(k))), flat[:, :k].clone(), lasting, flat[:, k].clone())
        floor = 0.01 * float(spread.mean())
        emission = DiagonalGaussian(_tensor(mean), _tensor(np.maximum(variance, floor)), floor)
        return HSMM(prior.to(self.device), emission.to(self.device), smoothing=0.1)

    def _batches(self, x: Floats, offsets: Ints) -> list[tuple[Batch, Ints]]:
        """Padded batches of documents of similar length, with their row numbers."""
        import torch

        lengths = np.diff(offsets)
        # similar lengths together: padding costs as much as text
        order = np.argsort(lengths, kind="stable")
        groups: list[list[int]] = [[]]
        for i in order[lengths[order] > 0]:
            if groups[-1] and (len(groups[-1]) + 1) * lengths[i] > CELLS:
                groups.append([])
            groups[-1].append(int(i))
        batches = []
        for rows in groups:
            if rows:
                documents = [_tensor(x[offsets[i] : offsets[i + 1]]) for i in rows]
                padded = torch.nn.utils.rnn.pad_sequence(documents, batch_first=True).to(self.device)  # (B, T, V)
                batches.append(((padded, torch.from_numpy(lengths[rows]).to(self.device)), np.array(rows)))
        return batches

    def _likelihoods(self, model: HSMM, x: Floats, offsets: Ints) -> Floats:
        """log P(x) of each document, (n,)."""
        out = np.zeros(len(offsets) - 1)
        for batch, rows in self._batches(x, offsets):
            out[rows] = model.log_likelihood([batch]).double().cpu().numpy()
        return out

    def log_density(self, x: Floats) -> Floats:
        """log P(x_i | z_i = k) of features (N, V), float array (N, K)."""
        # −½ Σ_v ((x − μ)² / σ² + log 2πσ²), the square multiplied out: no array (N, K, V)
        precision = 1 / self.variance_.astype(np.float64)
        squares = x**2 @ precision.T - 2 * x @ (self.mean_ * precision).T + (self.mean_**2 * precision).sum(axis=1)
        return np.asarray(-0.5 * (squares + np.log(2 * np.pi * self.variance_).sum(axis=1)))

    def decode(self, x: Floats, offsets: Ints) -> list[tuple[Ints, Ints]]:
        """Most probable segmentation of each document: states of the segments (M,), and their borders (M + 1,).

        Consecutive segments of one state are merged.
        """
        import torch

        from momus_critics.hsmm import HSMM, DiagonalGaussian, Parameters

        arrays = (self.initial_, self.transition_, self.duration_, self.final_)
        prior = Parameters(*(torch.from_numpy(np.array(a)) for a in arrays)).to(self.device)
        emission = DiagonalGaussian(_tensor(self.mean_), _tensor(self.variance_)).to(self.device)
        model = HSMM(prior, emission)
        empty = np.zeros(0, dtype=np.int64)
        chains = [(empty, empty)] * (len(offsets) - 1)
        for batch, rows in self._batches(x, offsets):
            for i, s in zip(rows, model.decode([batch]), strict=True):
                # the state of each piece; a stretch starts wherever it changes
                states = np.repeat(s.states, s.durations)
                starts = np.flatnonzero(changes(states))
                chains[i] = (states[starts].astype(np.int64), np.append(starts, len(states)).astype(np.int64))
        return chains


def _tensor(x: Sequence[float] | Floats) -> Tensor:
    import torch

    return torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))


def _take(x: Floats, offsets: Ints, rows: Ints) -> tuple[Floats, Ints]:
    """Features and offsets of some documents, in the order of the corpus."""
    pieces, bounds = items_of(np.sort(rows), offsets)
    return x[pieces], bounds
