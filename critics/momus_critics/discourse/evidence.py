"""Evidence on discourse: how sentences open, what classes they have, and which class follows which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from momus.critic import Counted, Pooled
from momus.evidence import Cell, Evidence, Heatmap, MarkedDocument, Overuse, Overused, Step, Table, both
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.discourse.classes import PARAGRAPH, STATES, Moves
from momus_critics.figures import percent
from momus_critics.keyness.testing import log_odds, share_gaps
from momus_critics.marking import highest
from momus_critics.prose.examples import KEPT, Exampled

if TYPE_CHECKING:
    from momus_critics.discourse.critic import Discourse

SHOWN, LEAST, WORDS = 20, 5, 2
"""Openings of a table, sentences that an opening needs in both texts together, and its words."""
EXAMPLE = 14
"""Tokens of an example."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor that mixes hashes of words."""


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
    # an arbitrary rank that depends on the first words of the sentence alone
    ranks = np.zeros(len(starts), dtype=np.uint64)
    for k in range(8 if len(starts) else 0):
        ranks = ranks * MIX + prose.hashes[np.minimum(starts + k, len(prose.ids) - 1)]
    ranks >>= np.uint64(11)
    order = np.lexsort((ranks, where))
    place = np.arange(len(order)) - np.searchsorted(where[order], where[order])
    examples: dict[str, list[tuple[float, str]]] = {}
    for i in order[place < KEPT].tolist():
        start, stop = int(starts[i]), int(starts[i]) + EXAMPLE
        codes = prose.codes[start:stop][prose.sentences[start:stop] == prose.sentences[start]]
        text = " ".join(prose.spelled[c] for c in codes.tolist())
        examples.setdefault(openings.names[int(where[i])], []).append((float(ranks[i]), text))
    counts = np.bincount(where, minlength=len(openings.names)).tolist()
    return {n: float(c) for n, c in zip(openings.names, counts, strict=True)}, examples


def show(real: Exampled, generated: Exampled) -> list[Evidence]:
    """Tables of openings and of classes, and the map of differences between pairs of classes."""
    return [
        _opening_table(real, generated, over=True),
        _opening_table(real, generated, over=False),
        _classes(real, generated),
        _pairs(real, generated),
    ]


def _sentences(text: Pooled) -> float:
    return max(float(text.arrays["classes"].sum() - text.arrays["classes"][PARAGRAPH]), 1.0)


def _opening_table(real: Exampled, generated: Exampled, over: bool) -> Table:
    a, b = (t.counts.get("openings", {}) for t in (real, generated))
    names = sorted({str(n) for n in (*a, *b) if a.get(n, 0.0) + b.get(n, 0.0) >= LEAST})
    # number of sentences, then of sentences with each opening, (1 + V,)
    p, q = (np.array([_sentences(t), *(c.get(n, 0.0) for n in names)]) for t, c in ((real, a), (generated, b)))
    delta, z = log_odds(p, q)
    sign = 1.0 if over else -1.0
    order = [i for i in np.argsort(-sign * z, kind="stable").tolist() if sign * z[i] > 0][:SHOWN]
    source = generated if over else real
    rows: list[tuple[Cell, ...]] = [
        (
            names[i],
            round(1000 * float(p[i + 1] / p[0]), 2),
            round(1000 * float(q[i + 1] / q[0]), 2),
            round(float(delta[i]), 2),
            round(float(z[i]), 1),
            next(iter(source.texts(names[i])), ""),
        )
        for i in order
    ]
    kind = "over" if over else "under"
    sizes = np.abs(share_gaps(p, q))
    named = tuple(
        Overused(
            names[i], round(1000 * float(p[i + 1] / p[0]), 2), round(1000 * float(q[i + 1] / q[0]), 2), str(row[-1]),
            float(sizes[i]),
        )
        for i, row in zip(order, rows, strict=True)
        if over
    )  # fmt: skip
    return Table(
        f"openings-{kind}-used",
        f"Openings of sentences that generated text {kind}-uses",
        ("opening", "real, per 1,000 sentences", "generated, per 1,000 sentences", "log-odds", "z", "for example"),
        rows,
        note="Log-odds and z with an informative prior (Monroe et al. 2008) on numbers of sentences; sentences of one "
        "document depend on each other, so z orders the openings and is no test.",
        overuse=Overuse("over-used openings of sentences", "per 1,000 sentences", named, "largest_gap")
        if named
        else None,
    )


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
