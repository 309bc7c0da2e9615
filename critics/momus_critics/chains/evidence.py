"""Evidence on the order of sections: transition errors, the graph of differences, and marked documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from momus.critic import Pooled
from momus.critic.shifts import Shifts
from momus.evidence import Edge, Evidence, Graph, MarkedDocument, Step, Table
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import clipped, percentage
from momus_critics.chains.posterior import UNLIKELY
from momus_critics.chains.repair import LESS, ORDER, best_repairs
from momus_critics.evidence import marked

if TYPE_CHECKING:
    from momus_critics.chains.base import ChainCritic

SHOWN_TRANSITIONS = 25
SHOWN_EDGES = 16
START, END = "(start)", "(end)"


def show(critic: ChainCritic, real: Pooled, generated: Pooled) -> list[Evidence]:
    """Evidence from expected transition counts (K + 1, K + 1) of both texts."""
    counts = real.arrays["transitions"], generated.arrays["transitions"]
    # share of each transition among all of a text
    shares = [c / max(c.sum(), 1e-300) for c in counts]
    return [error_table(critic, *shares), difference_graph(critic, shares[1] - shares[0])]


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
    items = Shifts.of_shares(
        "transition",
        [f"{sources[i]} → {targets[j]}" for i, j in pairs],
        (share_r.ravel()[at], share_g.ravel()[at]),
        "% of transitions",
        effect=contribution[at],
        measure="contribution, nats per step",
        more={"P_c": p.ravel()[at].tolist(), "kind": kinds},
    )
    total_r, total_g = (float(share[p < UNLIKELY].sum()) for share in (share_r, share_g))
    return items.table(
        "transition-errors",
        "Transitions that contribute most to the difference",
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


def explain(critic: ChainCritic, document: Corpus, pieces: Sequence[str]) -> MarkedDocument:
    """Show the chain of one document: one step per section and one for the end.

    Parameters
    ----------
    pieces
        The text of each step but the last.
    """
    latents = critic.project(document)
    path = [critic.states, *latents.states.tolist(), critic.states]
    sources, targets = _names(critic)
    texts = [*pieces, ""]
    steps = []
    for before, after, text in zip(path[:-1], path[1:], texts, strict=True):
        p = float(critic.transitions_[before, after])
        best = int(critic.transitions_[before].argmax())
        usual = percentage(critic.transitions_[before, best], 0)
        expected = f"usual after {sources[before]}: {targets[best]}, {usual}"
        note = expected if p < UNLIKELY else f"P = {p:.2g}"
        steps.append(Step(targets[after], clipped(text, 240), -float(np.log(p)), p < UNLIKELY, note))
    return marked(critic, document, latents, steps, "nats per step")


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
