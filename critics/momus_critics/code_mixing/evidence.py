"""Evidence on code mixing: distributions of shares, distinctive words, and switches within a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from momus.critic import Pooled
from momus.evidence import Axis, Chart, Evidence, Heatmap, MarkedDocument, Series, Step, Table, both
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.figures import percent, rounded

if TYPE_CHECKING:
    from momus_critics.code_mixing.critic import CodeMixing


@dataclass(frozen=True)
class Span:
    """Tokens ``start`` to ``stop`` (excluded) of a document, in one topic."""

    topic: int
    start: int
    stop: int


def decode(log_phi: Floats, codes: NDArray[np.integer], span: int) -> list[Span]:
    """Find the best spans by the Viterbi algorithm; topics last ``span`` tokens on average, code −1 is no evidence.

    >>> decode(np.log([[0.9, 0.1], [0.1, 0.9]]), np.array([0, 0, -1, 0, 1, 1, 1, 0, 1]), 5)
    [Span(topic=0, start=0, stop=4), Span(topic=1, start=4, stop=9)]
    """
    k, n = len(log_phi), len(codes)
    if not n:
        return []
    log_likelihood = np.where(codes[:, None] >= 0, log_phi.T[np.maximum(codes, 0)], 0.0)  # (n, K)
    stay, switch = np.log1p(-1 / max(span, 2)), -np.log(max(span, 2) * max(k - 1, 1))
    back = np.zeros((n, k), dtype=np.int64)  # the best previous topic, for each token and topic
    score = log_likelihood[0]
    for i in range(1, n):
        best = int(score.argmax())
        leave = score[best] + switch
        keep = score + stay
        back[i] = np.where(keep >= leave, np.arange(k), best)
        score = np.maximum(keep, leave) + log_likelihood[i]
    path = np.zeros(n, dtype=np.int64)
    path[-1] = score.argmax()
    for i in range(n - 1, 0, -1):
        path[i - 1] = back[i, path[i]]
    starts = np.flatnonzero(np.concatenate([[True], path[1:] != path[:-1]]))
    stops = np.append(starts[1:], n)
    return [Span(int(path[a]), int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


BINS, GRID, SHOWN_WORDS = 25, 10, 25


def summarize(shares: Floats, sizes: Floats) -> Pooled:
    """Pool shares (n, K) and effective numbers of draws (n,)."""
    n, k = shares.shape
    index = 1 - shares.max(axis=1) if n else np.zeros(0)
    arrays = {
        "shares": shares.sum(axis=0),
        "mixing": np.histogram(index, BINS, (0.0, 1.0))[0].astype(np.float64),
        "effective": np.array([sizes.sum(), float(len(sizes))]),
    }
    if k == 3:
        cells = np.minimum((shares[:, :2] * GRID).astype(np.int64), GRID - 1)
        arrays["simplex"] = np.bincount(cells @ [GRID, 1], minlength=GRID * GRID).reshape(GRID, GRID).astype(np.float64)
    return Pooled(n, arrays)


def telling(phi: Floats, count: int) -> Ints:
    """Most distinctive words of each topic, by φ_kv log (φ_kv / max_{j≠k} φ_jv): int64 (K, count)."""
    k = len(phi)
    others = np.stack([np.delete(phi, i, axis=0).max(axis=0) for i in range(k)])
    return np.asarray(np.argsort(-phi * np.log(phi / others), axis=1, kind="stable")[:, :count])


def show(words: list[str], real: Pooled, generated: Pooled) -> list[Evidence]:
    """Build the evidence from two summaries; ``words`` are the distinctive words of each topic."""
    centres = ((np.arange(BINS) + 0.5) / BINS).tolist()
    curves = []
    for role, summary in both(real, generated):
        counts = summary.arrays["mixing"]
        curves.append(Series(str(role), centres, rounded(counts / max(counts.sum(), 1)), role, "steps"))
    a, b = (s.arrays["shares"] / max(s.arrays["shares"].sum(), 1e-300) for s in (real, generated))
    rows = [(f"{i + 1}: {w}", percent(a[i]), percent(b[i])) for i, w in enumerate(words)]
    items: list[Evidence] = [
        Chart(
            "mixing-index",
            "Mixing index of documents",
            Axis("mixing index: 1 − the largest share"),
            Axis("share of documents"),
            curves,
            note="0: a document in one language; 0.5: half of it in others. Mean effective draws per document: "
            f"{_effective(real)} real, {_effective(generated)} generated.",
        ),
        Table("mixing-topics", "Topics and their shares", ("topic", "real %", "generated %"), rows),
    ]
    if "simplex" in real.arrays:
        items += [_simplex(str(role), summary, words) for role, summary in both(real, generated)]
    return items


def _effective(summary: Pooled) -> str:
    """Mean effective number of draws per document."""
    total, n = summary.arrays["effective"]
    return f"{total / n:.0f}" if n else "–"


def _simplex(role: str, summary: Pooled, words: list[str]) -> Heatmap:
    counts = summary.arrays["simplex"]
    share = 100 * counts / max(counts.sum(), 1)
    steps = [f"{i / GRID:.1f}–{(i + 1) / GRID:.1f}" for i in range(GRID)]
    # cells (i, j) that the simplex reaches: the shares of the first two topics sum to at most 1
    inside = np.add.outer(np.arange(GRID), np.arange(GRID)) < GRID
    values = [[float(v) if ok else None for v, ok in zip(*row, strict=True)] for row in zip(share, inside, strict=True)]
    return Heatmap(
        f"mixing-simplex-{role}",
        f"Documents by their shares of three topics: {role}",
        steps,
        steps,
        values,
        "% of documents",
        row_label=f"share of topic 1 ({' '.join(words[0].split()[:3])})",
        column_label=f"share of topic 2 ({' '.join(words[1].split()[:3])})",
        diverging=False,
        note="Documents in a corner are in one topic; the remaining share is that of topic 3.",
    )


def explain(critic: CodeMixing, document: Corpus) -> MarkedDocument | None:
    """Show the spans of a document; all except those of its main topic are marked."""
    spans = critic.spans(document)
    table = document.tokens(critic.tokenizer)
    if not spans:
        return None
    names = critic.topic_words(3)
    words = [table.vocabulary[i] for i in table.ids[table.offsets[0] : table.offsets[-1]]]
    lengths = np.zeros(len(names))
    np.add.at(lengths, [s.topic for s in spans], [s.stop - s.start for s in spans])
    main = int(lengths.argmax())
    steps = []
    for s in spans:
        text = " ".join(words[s.start : s.stop][:SHOWN_WORDS]) + (" …" if s.stop - s.start > SHOWN_WORDS else "")
        note = f"words {s.start + 1}–{s.stop}"
        steps.append(Step(f"{s.topic + 1}: {names[s.topic]}", text, None, s.topic != main, note))
    prior = critic.log_prior(critic.project(document))
    return MarkedDocument(document.name, document.ids[0], -float(prior.values[0]), "nats", steps)
