"""Evidence on mixed languages: distributions of the mixing index, shares of topics, and the simplex."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momus.critic import Pooled
from momus.critic.shifts import shift_table
from momus.evidence import Axis, Evidence, Heatmap, Step, both
from momus.numeric.types import Floats
from momus_critics.code_mixing.lda import Span
from momus_critics.evidence import curves

BINS, GRID = 25, 10
"""Bins of the mixing index, and cells of the simplex along a side."""
SHOWN_WORDS = 25
"""Words of a span that are shown."""


def show(words: list[str], real: Pooled, generated: Pooled) -> list[Evidence]:
    """Build the evidence from two summaries; ``words`` are the characteristic words of each topic."""
    centres = (np.arange(BINS, dtype=np.float64) + 0.5) / BINS

    def points(summary: Pooled) -> tuple[Floats, Floats]:
        counts = summary.arrays["mixing"]
        return centres, counts / max(counts.sum(), 1)

    a, b = (s.arrays["shares"] / max(s.arrays["shares"].sum(), 1e-300) for s in (real, generated))
    topics = [f"{k}: {w}" for k, w in enumerate(words, 1)]
    items: list[Evidence] = [
        curves(
            (real, generated),
            points,
            "mixing-index",
            "Mixing index of documents",
            (Axis("mixing index: 1 − the largest share"), Axis("share of documents")),
            "0: a document in one language; 0.5: half of it in others. Mean effective draws per document: "
            f"{_effective(real)} real, {_effective(generated)} generated.",
            "steps",
        ),
        shift_table("mixing-topics", "Topics and their shares", "topic", topics, (a, b)),
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


def steps_of(spans: Sequence[Span], words: Sequence[str], names: Sequence[str]) -> list[Step]:
    """The spans of a document as steps; all but those of its main topic are marked. ``names`` are those of topics."""
    lengths = np.zeros(len(names))
    np.add.at(lengths, [s.topic for s in spans], [s.stop - s.start for s in spans])
    main = int(lengths.argmax())
    steps = []
    for s in spans:
        text = " ".join(words[s.start : s.stop][:SHOWN_WORDS]) + (" …" if s.stop - s.start > SHOWN_WORDS else "")
        note = f"words {s.start + 1}–{s.stop}"
        steps.append(Step(f"{s.topic + 1}: {names[s.topic]}", text, None, s.topic != main, note))
    return steps
