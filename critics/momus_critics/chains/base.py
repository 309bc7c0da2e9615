"""Base class of the chain critics: a Markov chain with start and end, its latents, statistics and evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from momus.critic import LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.base import TextCritic
from momus.critic.powers import Decomposition, DecompositionMixin
from momus.critic.shifts import shift_table
from momus.evidence import Edge, Evidence, Graph, MarkedDocument, Step, Table
from momus.numeric.ragged import items_of, places_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.counting import clipped, percentage
from momus_critics.chains import posterior as chain
from momus_critics.chains.posterior import UNLIKELY, ChainLatents, decompose
from momus_critics.chains.repair import LESS, ORDER, best_repairs
from momus_critics.evidence import marked

FOLDS = 5
SHOWN_TRANSITIONS = 25
SHOWN_EDGES = 16
START, END = "(start)", "(end)"


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

    def _learn_chain(self, labels: Ints, offsets: Ints, seed: int) -> None:
        """Count transitions, and choose the smoothing constant by cross-validation over documents."""
        visits = self._learn_counts(counts_by_fold(labels, offsets, self.states, seed))
        self.positions_ = np.bincount(labels, relative_places(offsets), self.states) / np.maximum(visits, 1)

    def _learn_counts(self, folds: Sequence[Floats]) -> Floats:
        """Learn the chain from transition counts by fold, (K + 1, K + 1); return the visits to each state, (K,)."""
        self.counts_, self.constant_, self.transitions_ = smoothed(folds)
        visits = np.asarray(self.counts_[:, : self.states].sum(axis=0))
        self.shares_ = (visits + 0.5) / (visits + 0.5).sum()
        return visits

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

    tested: ClassVar[Sequence[Statistic]] = (
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
        # share of each transition among all of a text, (K + 1, K + 1)
        share_r, share_g = (c / max(c.sum(), 1e-300) for c in (t.arrays["transitions"] for t in (real, generated)))
        return [error_table(self, share_r, share_g), difference_graph(self, share_g - share_r)]

    def _shown(self, document: Corpus, pieces: Sequence[str]) -> MarkedDocument:
        """Show the chain of one document: one step per section and one for the end.

        Parameters
        ----------
        pieces
            The text of each step but the last.
        """
        latents = self.project(document)
        path = [self.states, *latents.states.tolist(), self.states]
        sources, targets = _names(self)
        texts = [*pieces, ""]
        steps = []
        for before, after, text in zip(path[:-1], path[1:], texts, strict=True):
            p = float(self.transitions_[before, after])
            best = int(self.transitions_[before].argmax())
            usual = percentage(self.transitions_[before, best], 0)
            expected = f"usual after {sources[before]}: {targets[best]}, {usual}"
            note = expected if p < UNLIKELY else f"P = {p:.2g}"
            steps.append(Step(targets[after], clipped(text, 240), -float(np.log(p)), p < UNLIKELY, note))
        return marked(self, document, latents, steps, "nats per step")

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


def _names(critic: ChainCritic) -> tuple[list[str], list[str]]:
    """Names of the rows and of the columns of a transition matrix."""
    return [*critic.titles_, START], [*critic.titles_, END]


def error_table(critic: ChainCritic, share_r: Floats, share_g: Floats) -> Table:
    """Transitions ranked by their contribution to the difference in Latent NLL per step."""
    p = critic.transitions_
    # (K + 1, K + 1): the contributions sum to the difference in mean −log P_c per transition
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(p > 0, -np.log(p), 0.0)
    contribution = ((share_g - share_r) * surprise).ravel()
    sources, targets = _names(critic)
    # transitions that weigh against generated text, by number in the flat matrix
    at = np.argsort(-contribution, kind="stable")[:SHOWN_TRANSITIONS]
    at = at[contribution[at] > 0]
    pairs = [divmod(int(t), len(targets)) for t in at]
    kinds = ["repetition" if i == j else "unlikely" if p[i, j] < UNLIKELY else "" for i, j in pairs]
    total_r, total_g = (float(share[p < UNLIKELY].sum()) for share in (share_r, share_g))
    return shift_table(
        "transition-errors",
        "Transitions that contribute most to the difference",
        "transition",
        [f"{sources[i]} → {targets[j]}" for i, j in pairs],
        (share_r.ravel()[at], share_g.ravel()[at]),
        "% of transitions",
        effect=contribution[at],
        measure="contribution, nats per step",
        more={"P_c": p.ravel()[at].tolist(), "kind": kinds},
        note=f"Transitions with P_c < {UNLIKELY}: {percentage(total_r, 2)} in real text, "
        f"{percentage(total_g, 2)} in generated text. "
        f"Smoothing constant {critic.constant_:.3g}, {critic.states} states.",
    )


def difference_graph(critic: ChainCritic, difference: Floats) -> Graph:
    """Arrows where the share of a transition differs most: P_generated − P_real, over all transitions of a text."""
    sources, targets = _names(critic)
    largest = np.argsort(-np.abs(difference), axis=None, kind="stable")[:SHOWN_EDGES]
    edges, used = [], set()
    for i, j in zip(*np.unravel_index(largest, difference.shape), strict=True):
        if abs(difference[i, j]) < 5e-4:
            continue
        marked = bool(difference[i, j] > 0 and critic.transitions_[i, j] < UNLIKELY)
        edges.append(Edge(sources[i], targets[j], float(difference[i, j]), marked))
        # nodes by number: the start is −1, the end K
        used |= {int(i) if i < critic.states else -1, int(j) if j < critic.states else critic.states}
    # the start before all states (−1), the end after them (2); relative positions of states are within (0, 1)
    order = sorted(used, key=lambda s: critic.positions_[s] if 0 <= s < critic.states else float(s > 0) * 3 - 1)
    nodes = [START if s < 0 else END if s == critic.states else critic.titles_[s] for s in order]
    return Graph(
        "transition-graph",
        "Transitions whose share differs most",
        nodes,
        edges,
        "P_generated − P_real of transitions; width: size of the difference, dashed: fewer than in real text",
        note=f"The {len(edges)} largest differences; numbers label transitions with P_c < {UNLIKELY} that are more "
        "frequent in generated text. States are placed clockwise in their order in real documents.",
    )


def repaired(critic: ChainCritic, document: Corpus, explained: MarkedDocument) -> MarkedDocument:
    """Add to a marked document what would make it likelier, as its note; nothing, if no repair does."""
    latents = critic.project(document)
    repairs = best_repairs(latents.emission, latents.offsets, critic.transitions_)
    gain, kind, place = float(repairs.gain[0]), int(repairs.kind[0]), int(repairs.place[0])
    if gain <= 0:
        return explained
    names = [critic.titles_[z] for z in latents.states]
    after = f"before {names[place]}" if place < len(names) else "at the end"
    what = (
        f"if {names[place + 1]} stood before {names[place]}"
        if kind == ORDER
        else f"without {names[place]} (section {place + 1:,})"
        if kind == LESS
        else f"with another section {after}"
    )
    return replace(explained, note=f"{gain:.{0 if gain >= 10 else 1}f} nats more likely {what}")
