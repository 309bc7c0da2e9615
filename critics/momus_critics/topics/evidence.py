"""Evidence on topic co-occurrence: correlations, pairs, shares, and marked documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.special import softmax

from momus.critic import Pooled
from momus.critic.shifts import shift_table
from momus.evidence import Evidence, Heatmap, MarkedDocument, Step, Table
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus_critics.evidence import marked

if TYPE_CHECKING:
    from momus_critics.topics import TopicLatents, Topics

SHOWN_TOPICS, SHOWN_PAIRS, SHOWN_SHARES = 16, 20, 40
FULL = 0.95
"""Quantile of the correlations of real text at which the colours of the heat maps are full."""
LEAST = 0.1
"""Smallest correlation at which they may be full, so that noise does not fill the map."""


def correlations(summary: Pooled) -> Floats:
    """Correlations of centred log-odds of topics, (K, K); 0 if a topic does not vary."""
    n = max(summary.documents, 1)
    centre = summary.arrays["sum"] / n
    covariance = summary.arrays["products"] / n - np.outer(centre, centre)
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.outer(spread, spread)
    return np.asarray(np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 1e-12).clip(-1, 1))


def show(words: list[str], real: Pooled, generated: Pooled) -> list[Evidence]:
    """Build the evidence from two summaries; ``words`` are the top words of each topic."""
    names = [f"{', '.join(w.split()[:3])} ({k + 1})" for k, w in enumerate(words)]
    a, b = correlations(real), correlations(generated)
    share_a, share_b = (s.arrays["shares"] / max(s.arrays["shares"].sum(), 1e-300) for s in (real, generated))
    top = np.argsort(-(share_a + share_b), kind="stable")[:SHOWN_TOPICS]
    # the most frequent topics, in the order of a clustering of real text
    order = top[_clustered(a[np.ix_(top, top)])]
    limit = _limit(a[np.ix_(top, top)])
    topics, title = [f"{k}: {w}" for k, w in enumerate(words, 1)], "Topics whose share differs most"
    return [
        _pairs(words, a, b, share_a, share_b),
        _map("topic-correlations-real", "Topic correlations: real", names, a, order, limit),
        _map("topic-correlations-generated", "Topic correlations: generated", names, b, order, limit),
        shift_table("topic-shares", title, "topic", topics, (share_a, share_b), most=SHOWN_SHARES),
    ]


def _limit(correlation: Floats) -> float:
    """Correlation at which colours are full: a high quantile of those of real text, rounded up to twentieths.

    >>> _limit(np.array([[1.0, 0.31, -0.02], [0.31, 1.0, 0.1], [-0.02, 0.1, 1.0]]))
    0.3
    """
    pairs = np.abs(correlation[np.triu_indices(len(correlation), 1)])
    if not len(pairs):
        return LEAST
    return float(round(np.clip(np.ceil(20 * np.quantile(pairs, FULL) - 1e-9) / 20, LEAST, 1.0), 2))


def _clustered(correlation: Floats) -> Ints:
    """Leaves of an average-linkage tree over 1 − correlation, in optimal order."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(correlation) < 3:
        return np.arange(len(correlation))
    distance = np.maximum(1 - (correlation + correlation.T) / 2, 0.0)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def _pairs(words: list[str], a: Floats, b: Floats, share_a: Floats, share_b: Floats) -> Table:
    """Pairs of topics whose correlation differs most, weighted by their shares of the texts."""
    i, j = np.triu_indices(len(a), 1)  # all pairs, (K (K − 1) / 2,)
    share = (share_a + share_b) / 2
    weight = np.abs(b - a)[i, j] * np.sqrt(share[i] * share[j])
    rows = []
    for p in np.argsort(-weight, kind="stable")[:SHOWN_PAIRS]:
        x, y = int(i[p]), int(j[p])
        left, right = " ".join(words[x].split()[:5]), " ".join(words[y].split()[:5])
        rows.append((f"{x + 1}: {left}", f"{y + 1}: {right}", float(a[x, y]), float(b[x, y]), float(b[x, y] - a[x, y])))
    return Table(
        "topic-pairs",
        "Pairs of topics whose correlation differs most",
        ("topic", "topic", "correlation, real", "generated", "difference"),
        rows,
        note="Correlations of centred log-odds over documents; ranked by difference times the mean share (geometric).",
    )


def _map(name: str, title: str, names: list[str], correlation: Floats, order: Ints, limit: float) -> Heatmap:
    chosen = [names[k] for k in order]
    values = correlation[np.ix_(order, order)]
    np.fill_diagonal(values, 0.0)
    return Heatmap(
        name,
        title,
        chosen,
        chosen,
        values.round(3).tolist(),
        "correlation",
        limit=limit,
        note=f"The {len(order)} most frequent topics, by their three most probable words and their number, in the "
        "clustering order of real text. Colour: whether the shares of two topics rise together (+) or one at the "
        f"expense of the other (−); full at ±{limit:g}. Both maps have the same scale.",
    )


def explain(critic: Topics, document: Corpus, latents: TopicLatents, counts: sparse.csr_array) -> MarkedDocument | None:
    """Topics of a document by share, each with its part of the Mahalanobis distance, ½ a_k (Σ⁻¹ a)_k for a = λ − μ.

    A topic is marked if its part exceeds 3.32, the 99 % point of ½ χ²₁ (its reference under the prior).
    """
    if not counts.nnz:
        return None
    lam = np.append(latents.mean[0], 0.0)
    shares = softmax(lam)
    away = latents.mean[0] - critic.mean_
    parts = np.append(0.5 * away * (np.linalg.inv(critic.covariance_) @ away), 0.0)
    present = np.asarray(counts.todense())[0]
    # expected tokens of each word in each topic, (K, V)
    assigned = softmax(lam[:, None] + np.log(critic.phi_), axis=0) * present
    titles = critic.topic_words(4)
    steps = []
    order = np.argsort(-shares, kind="stable")
    shown = [k for k in order if shares[k] >= 0.03][:12]
    shown += [k for k in np.argsort(-parts, kind="stable")[:4] if k not in shown]
    for k in shown:
        best = [w for w in np.argsort(-assigned[k], kind="stable")[:10] if assigned[k, w] >= 0.5]
        text = ", ".join(f"{critic.vocabulary_[w]} {present[w]:.0f}" for w in best)
        usual = float(softmax(np.append(critic.mean_, 0.0))[k])
        note = f"{percentage(shares[k], 1)} of this document, {percentage(usual, 1)} at the prior's mean"
        steps.append(Step(f"{k + 1}: {titles[k]}", text, float(parts[k]), bool(parts[k] > 3.32), note))
    return marked(critic, document, latents, steps)
