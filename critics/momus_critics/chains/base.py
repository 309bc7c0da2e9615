"""Base class of the chain critics: a Markov chain with start and end, its latents, statistics and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from momus.critic import LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import TextCritic
from momus.critic.fitted import Fitted
from momus.critic.powers import Decomposition, DecompositionMixin
from momus.evidence import Evidence
from momus.numeric.ragged import items_of, places_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.chains import evidence
from momus_critics.chains import posterior as chain
from momus_critics.chains.posterior import UNLIKELY, ChainLatents, decompose

FOLDS = 5


class ChainCritic(TextCritic[ChainLatents], DecompositionMixin):
    """P_c(z) is a first-order Markov chain over K named states, with a start and an end that emit nothing.

    A subclass sets ``titles_`` and calls `learn_chain` in `fit`, and implements `project`.
    """

    sequence = True
    evidence_of = "the sections, relative to how probable each is on its own"
    reporting = Reporting(
        directions=directions(
            "in a more|in a less probable order", "in a more|in a less usual order", "less|more varied in section types"
        ),
    )

    @property
    def states(self) -> int:
        """K."""
        return len(self.titles_)

    @property
    def state_names(self) -> Sequence[str]:
        """Names of the K states."""
        return list(self.titles_)

    @property
    def chance(self) -> Floats:
        """P_0 of each next state, and of the end (the last), whatever came before: (K + 1,)."""
        end = self.counts_[:, -1].sum() / self.counts_.sum()  # ends per step
        return np.append((1 - end) * self.shares_, end)

    def learn_chain(self, labels: Ints, offsets: Ints, seed: int) -> None:
        """Count transitions, and choose the smoothing constant by cross-validation over documents."""
        visits = self.learn_counts(counts_by_fold(labels, offsets, self.states, seed))
        self.positions_ = np.bincount(labels, relative_places(offsets), self.states) / np.maximum(visits, 1)

    def learn_counts(self, folds: Sequence[Floats]) -> Floats:
        """Learn the chain from transition counts by fold, (K + 1, K + 1); return the visits to each state, (K,)."""
        self.counts_, self.constant_, self.transitions_ = smoothed(folds)
        visits = np.asarray(self.counts_[:, : self.states].sum(axis=0))
        self.shares_ = (visits + 0.5) / (visits + 0.5).sum()
        return visits

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        k = len(state.texts("titles_", least=1, distinct=False))
        state.array("counts_", (k + 1, k + 1), low=0.0)
        state.number("constant_", above=0.0)
        transitions = state.probabilities("transitions_", (k + 1, k + 1))
        smoothed = np.allclose(transitions, chain.smooth(self.counts_, self.constant_), atol=1e-9)
        state.require(smoothed, "transitions_", "the smoothed counts")
        visits = self.counts_[:, :k].sum(axis=0) + 0.5
        shares = state.probabilities("shares_", (k,))
        state.require(np.allclose(shares, visits / visits.sum(), atol=1e-9), "shares_", "the shares of the counts")
        state.array("positions_", (k,), low=0.0, high=1.0)

    def log_prior(self, latents: ChainLatents) -> LogPrior:
        """E log P_c(z), over M sections and the end state: M + 1 scored steps."""
        with np.errstate(divide="ignore"):
            log_p = np.log(self.transitions_)  # −∞ from start to end, which has probability 0
        return LogPrior(latents.expected_sum(log_p), latents.lengths + 1)

    def decompose(self, batch: Corpus, latents: ChainLatents) -> Decomposition:
        """The parts of log P_c(x) relative to sections that are independent of each other (`posterior.decompose`)."""
        return decompose(latents, self.transitions_)

    def sufficient_statistics(self, latents: ChainLatents) -> Mapping[str, Rows]:
        """Expected numbers of unlikely and of repeated transitions, and disorder, beside the number of transitions."""
        steps = (latents.lengths + 1).astype(np.float64)
        # 0/1 matrices over transitions, (K + 1, K + 1); start to end never happens
        unlikely = (self.transitions_ < UNLIKELY).astype(np.float64)
        unlikely[-1, -1] = 0.0
        repeats = np.eye(self.states + 1)
        repeats[-1, -1] = 0.0
        return {
            "unlikely": np.column_stack([latents.expected_sum(unlikely), steps]),
            "repeats": np.column_stack([latents.expected_sum(repeats), steps]),
            "disorder": np.column_stack([latents.disorder, steps]),
        }

    tested = (
        Statistic.share(
            "unlikely_share", "unlikely", "share of unlikely transitions", "less|more often out of order", decides=False
        ),
        Statistic.share("repetition_share", "repeats", "share of repetitions", "less|more repetitive"),
        Statistic.ratio("disorder", "disorder", "disorder", "more|less orderly", unit="nats per step", decides=False),
    )
    """Disorder is in nats per step: how much worse the chain explains the text than independent draws of each type
    would (below 0 for text in order)."""

    def summarize(self, latents: ChainLatents) -> Pooled:
        """Expected transition counts."""
        return Pooled(len(latents), {"transitions": latents.expected_count()})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Transition errors, and the graph of differences."""
        return evidence.show(self, real, generated)

    titles_: list[str]
    counts_: Floats
    constant_: float
    transitions_: Floats
    shares_: Floats
    positions_: Floats


def counts_by_fold(labels: Ints, offsets: Ints, k: int, seed: int) -> list[Floats]:
    """Transition counts, (K + 1, K + 1), of each of `FOLDS` folds of documents."""
    fold = np.random.default_rng(seed).permutation(len(offsets) - 1) % FOLDS  # of each document, (n,)
    folds = (items_of(np.flatnonzero(fold == f), offsets) for f in range(FOLDS))
    return [chain.count(labels[items], bounds, k) for items, bounds in folds]


def smoothed(folds: Sequence[Floats]) -> tuple[Floats, float, Floats]:
    """Transition counts, the smoothing constant (by cross-validation over folds), and smoothed transitions."""
    counts = np.asarray(sum(folds))
    # training counts are all counts minus those of the fold
    constant, _ = chain.choose_constant([counts - fold for fold in folds], list(folds))
    return counts, constant, chain.smooth(counts, constant)


def relative_places(offsets: Ints) -> Floats:
    """Where each section stands in its document, in (0, 1): (N,)."""
    lengths = np.diff(offsets)
    return np.asarray((places_of(offsets) + 0.5) / np.repeat(lengths, lengths))
