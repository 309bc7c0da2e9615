"""Evidence on discourse: how sentences open, what classes they have, and which class follows which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from momus.critic import Counted, Pooled
from momus.evidence import Cell, Evidence, Heatmap, MarkedDocument, Step, Table, both
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.discourse.classes import PARAGRAPH, STATES, Moves
from momus_critics.figures import percent
from momus_critics.keyness.testing import LEAST, Usage
from momus_critics.marking import highest
from momus_critics.prose.examples import KEPT, Exampled, first_of_each, ranks

if TYPE_CHECKING:
    from momus_critics.discourse.critic import Discourse

SHOWN, WORDS = 20, 2
"""Openings of a table, and words of an opening."""
EXAMPLE = 14
"""Tokens of an example."""


def summary(z: Moves) -> Exampled:
    """Numbers of classes, of pairs, and of openings, with examples of each opening."""
    size, states = len(STATES), np.asarray(z.states)
    pairs = states[:-1] * size + states[1:]
    inside = np.ones(max(len(states) - 1, 0), dtype=bool)
    cuts = z.offsets[1:-1] - 1
    inside[cuts[(cuts >= 0) & (cuts < len(inside))]] = False
    openings, examples = _openings(z)
    arrays = {
        "classes": np.bincount(states, minlength=size).astype(np.float64),
        "pairs": np.bincount(pairs[inside], minlength=size * size).astype(np.float64),
    }
    return Exampled.of(Pooled(len(z), arrays, {"openings": openings}), examples)


@dataclass(frozen=True)
class Openings:
    """The first two words of sentences; symbols between them are left out, and so are sentences of one word.

    Attributes
    ----------
    names
        Distinct openings, (V,).
    starts, which
        The first token of each sentence, and the number of its opening, (S,).
    """

    names: list[str]
    starts: Ints
    which: Ints

    @classmethod
    def of(cls, z: Moves) -> Openings:
        """Find the openings of all sentences."""
        prose = z.prose
        starts = z.starts[np.asarray(z.states) != PARAGRAPH]
        words = np.flatnonzero(prose.alphabetic)
        at = np.searchsorted(words, starts)
        starts, at = starts[at + WORDS <= len(words)], at[at + WORDS <= len(words)]
        if len(at):
            same = prose.sentences[words[at + WORDS - 1]] == prose.sentences[starts]
            starts, at = starts[same], at[same]
        pairs = prose.ids[words[at]] * len(prose.words) + prose.ids[words[at + 1]] if len(at) else at
        distinct, which = np.unique(pairs, return_inverse=True)
        names = [f"{prose.words[p // len(prose.words)]} {prose.words[p % len(prose.words)]}" for p in distinct.tolist()]
        return cls(names, starts, which)

    def rows(self, z: Moves, sentences: Floats) -> Counted:
        """Numbers of ``sentences`` by document, (n,), then of those with each opening: (n, 1 + V)."""
        owner = np.searchsorted(z.prose.offsets, self.starts, side="right") - 1
        shape = len(sentences), len(self.names)
        counts = sparse.csr_array((np.ones(len(owner)), (owner, self.which)), shape=shape)
        first = sparse.csr_array(np.asarray(sentences, dtype=np.float64)[:, None])
        return Counted(sparse.csr_array(sparse.hstack([first, counts])), ["", *self.names])


def _openings(z: Moves) -> tuple[dict[str | float, float], dict[str, list[tuple[float, str]]]]:
    """Number of sentences by their first two words, and a few examples of each, whichever they are."""
    prose, openings = z.prose, Openings.of(z)
    starts, where = openings.starts, openings.which
    rank = ranks(prose.hashes, starts, range(8))
    examples: dict[str, list[tuple[float, str]]] = {}
    for i in first_of_each(where, rank, KEPT).tolist():
        start, stop = int(starts[i]), int(starts[i]) + EXAMPLE
        codes = prose.codes[start:stop][prose.sentences[start:stop] == prose.sentences[start]]
        text = " ".join(prose.spelled[c] for c in codes.tolist())
        examples.setdefault(openings.names[int(where[i])], []).append((float(rank[i]), text))
    counts = np.bincount(where, minlength=len(openings.names)).tolist()
    return {n: float(c) for n, c in zip(openings.names, counts, strict=True)}, examples


def show(real: Exampled, generated: Exampled) -> list[Evidence]:
    """Tables of openings and of classes, and the map of differences between pairs of classes."""
    a, b = (t.counts.get("openings", {}) for t in (real, generated))
    names = sorted({str(n) for n in (*a, *b) if a.get(n, 0.0) + b.get(n, 0.0) >= LEAST})
    # number of sentences, then of sentences with each opening, (1 + V,)
    p, q = (np.array([_sentences(t), *(c.get(n, 0.0) for n in names)]) for t, c in ((real, a), (generated, b)))
    usage = Usage("openings", "Openings of sentences", "opening", "sentences", names, names, p, q)
    what = "over-used openings of sentences"
    openings = [usage.table(real, generated, over, SHOWN, what)[0] for over in (True, False)]
    return [*openings, _classes(real, generated), _pairs(real, generated)]


def _sentences(text: Pooled) -> float:
    return max(float(text.arrays["classes"].sum() - text.arrays["classes"][PARAGRAPH]), 1.0)


def _classes(real: Pooled, generated: Pooled) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for i, name in enumerate(STATES):
        if i != PARAGRAPH:
            rows.append((name, *(percent(t.arrays["classes"][i] / _sentences(t)) for t in (real, generated))))
    columns = ("class", "real, % of sentences", "generated, % of sentences")
    return Table("classes", "Classes of sentences", columns, rows)


def _pairs(real: Pooled, generated: Pooled) -> Heatmap:
    size = len(STATES)
    shares = [t.arrays["pairs"].reshape(size, size) for _, t in both(real, generated)]
    # how often each class follows, after each class, in percent
    rates: list[Floats] = [100 * s / np.maximum(s.sum(axis=1, keepdims=True), 1.0) for s in shares]
    return Heatmap(
        "class-transitions",
        "Which class follows which: generated less real text",
        STATES,
        STATES,
        np.round(rates[1] - rates[0], 2).tolist(),
        "percentage points",
        "after",
        "follows",
    )


def explain(critic: Discourse, document: Corpus) -> MarkedDocument | None:
    """The sentences of one document with their classes, the tenth of least likely ones marked."""
    z = critic.project(document)
    if not len(z.states):
        return None
    values, _ = critic.process_.log_probabilities(z.states, z.offsets)
    odd = set(highest(-values[: len(z.states)]))
    steps = []
    for i, (state, start) in enumerate(zip(z.states.tolist(), z.starts.tolist(), strict=True)):
        same = z.prose.codes[z.prose.sentences == z.prose.sentences[start]][:EXAMPLE]
        text = "" if state == PARAGRAPH else " ".join(z.prose.spelled[c] for c in same.tolist())
        steps.append(Step(STATES[state], text, -float(values[i]), i in odd))
    note = "Each sentence by its first words; marked: least likely classes."
    return MarkedDocument(document.name, document.ids[0], -float(values.sum()), "nats", steps, note)
