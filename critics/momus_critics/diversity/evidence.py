"""Evidence on diversity: how alike answers are, and which of them are the same."""

from __future__ import annotations

import numpy as np

from momus.critic import Pooled
from momus.evidence import Axis, Chart, Evidence, MarkedDocument, Series, Step, Table, both
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.diversity.answers import Spread
from momus_critics.figures import rounded
from momus_critics.prose.examples import Exampled

SHOWN, LINES = 10, 3
"""Prompts of a table, and groups of answers shown of each."""


def summary(z: Spread) -> Exampled:
    """Numbers of prompts by similarity, and the prompts whose answers are most alike."""
    values, counts = np.unique(np.round(z.similarity, 3), return_counts=True)
    table: dict[str | float, float] = {
        float(v): float(n) for v, n in zip(values.tolist(), counts.tolist(), strict=True)
    }
    examples = []
    for i, groups in enumerate(z.groups):
        shown = " | ".join(f"{len(g)} × {z.texts[i][g[0]]} …" for g in groups[:LINES])
        more = f" | {len(groups) - LINES} more" if len(groups) > LINES else ""
        text = (
            f"{z.prompts[i]}: {counted(int(z.counts[i]), 'answer')} in {counted(len(groups), 'group')}: {shown}{more}"
        )
        examples.append((-float(z.similarity[i]), text))
    return Exampled.of(Pooled(len(z), {}, {"similarity": table}), {"prompts": examples}, SHOWN)


def show(real: Exampled, generated: Exampled) -> list[Evidence]:
    """The distribution of similarities, and the prompts with the least variety."""
    series = []
    for role, text in both(real, generated):
        x, n = np.array(sorted(text.counts["similarity"].items()), dtype=np.float64).T
        series.append(Series(role, x.tolist(), rounded(np.cumsum(n) / n.sum()), role, "steps"))
    rows = [
        (role, round(-rank, 3), answers)
        for role, text in (("generated", generated), ("real", real))
        for rank, answers in text.examples.get("prompts", ())
    ]
    return [
        Chart(
            "similarity",
            "Similarity of the answers to a prompt",
            Axis("mean cosine of two answers"),
            Axis("share of prompts"),
            series,
        ),
        Table("alike", "Prompts whose answers are most alike", ("text", "similarity", "answers in groups"), rows),
    ]


def explain(document: Corpus, z: Spread, value: float) -> MarkedDocument:
    """The answers to one prompt in groups."""
    steps = []
    for number, group in enumerate(z.groups[0], 1):
        for i in group:
            label = f"group {number}" if len(group) > 1 else ""
            steps.append(Step(label, z.texts[0][i], None, len(group) > 1))
    note = f"Mean similarity {z.similarity[0]:.2f}; effective number of distinct answers {z.distinct[0]:.2f}."
    return MarkedDocument(document.name, document.ids[0], value, "nats", steps, note)
