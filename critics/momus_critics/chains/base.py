"""Base class of the chain critics: a Markov chain with start and end, its latents, statistics and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from momus.critic import Critic, EvidenceMixin, LogPrior, Pooled, Reporting, Rows, Statistic, StatisticsMixin
from momus.critic.fitted import Fitted
from momus.critic.powers import Decomposition, DecompositionMixin
from momus.evidence import Evidence
from momus.numeric.ragged import offsets_of, places_of, ranges_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.chains import evidence
from momus_critics.chains import transitions as chain
from momus_critics.chains.posterior import ChainLatents, decompose
from momus_critics.chains.transitions import UNLIKELY

FOLDS = 5


class ChainCritic(Critic[ChainLatents], StatisticsMixin, EvidenceMixin, DecompositionMixin):
    """P_c(z) is a first-order Markov chain over K named states, with a start and an end that emit nothing.

    A subclass sets ``titles_`` and calls `learn_chain` in `fit`, and implements `project`.
    """

    sequence = True
    evidence_of = "the sections, relative to how probable each is on its own"
    reporting = Reporting(
        directions={
            "latent_nll": ("in a more probable order", "in a less probable order"),
            "latent_ppl": ("in a more usual order", "in a less usual order"),
            "posterior_entropy": ("less varied in section types", "more varied in section types"),
        },
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
        k = self.states
        self.counts_, self.constant_, self.transitions_ = smoothed_counts(labels, offsets, k, seed)
        visits = self.counts_[:, :k].sum(axis=0) + 0.5
        self.shares_ = visits / visits.sum()
        # relative position in (0, 1) of each section, (N,), averaged per state, (K,)
        lengths = np.diff(offsets)
        relative = (places_of(offsets) + 0.5) / np.repeat(lengths, lengths)
        totals = np.bincount(labels, relative, k)
        self.positions_ = totals / np.maximum(np.bincount(labels, minlength=k), 1)

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
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

    def statistics(self) -> Sequence[Statistic]:
        """Share of transition errors, share of repetitions, and disorder.

        Disorder is in nats per step: how much worse the chain explains the text than independent draws of each type
        would (below 0 for text in order).
        """
        return (
            Statistic.share(
                "unlikely_share",
                "unlikely",
                "share of unlikely transitions",
                ("less often out of order", "more often out of order"),
                decides=False,
            ),
            Statistic.share(
                "repetition_share", "repeats", "share of repetitions", ("less repetitive", "more repetitive")
            ),
            Statistic.ratio(
                "disorder",
                "disorder",
                "disorder",
                ("more orderly", "less orderly"),
                unit="nats per step",
                decides=False,
            ),
        )

    def summarize(self, latents: ChainLatents) -> Pooled:
        """Expected transition counts."""
        return Pooled(len(latents), {"transitions": latents.expected_count()})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Transition errors, and the graph of differences."""
        return evidence.show(self, real.arrays["transitions"], generated.arrays["transitions"])

    titles_: list[str]
    counts_: Floats
    constant_: float
    transitions_: Floats
    shares_: Floats
    positions_: Floats


def smoothed_counts(labels: Ints, offsets: Ints, k: int, seed: int) -> tuple[Floats, float, Floats]:
    """Transition counts, the smoothing constant (by cross-validation over documents), and smoothed transitions."""
    counts = chain.count(labels, offsets, k)
    # fold[i] is the test fold of document i, (n,); training counts are all counts minus those of the fold
    fold = np.random.default_rng(seed).permutation(len(offsets) - 1) % FOLDS
    test = [_count_documents(labels, offsets, np.flatnonzero(fold == f), k) for f in range(FOLDS)]
    constant, _ = chain.choose_constant([counts - fold_counts for fold_counts in test], test)
    return counts, constant, chain.smooth(counts, constant)


def _count_documents(labels: Ints, offsets: Ints, rows: Ints, k: int) -> Floats:
    """Transition counts of some documents, (K + 1, K + 1)."""
    lengths = np.diff(offsets)[rows]
    return chain.count(labels[ranges_of(offsets[rows], lengths)], offsets_of(lengths), k)
