"""Evidence on rhythm: lengths of sentences, their memory, and one document of each text side by side."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from momus.critic import Pooled
from momus.evidence import Axis, Chart, Evidence, MarkedDocument, Series, both
from momus.numeric.ragged import group_sums
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus_critics.figures import Distribution, rounded
from momus_critics.marking import Mark, highest, mark_passage, words_of
from momus_critics.prose.reading import BREAK
from momus_critics.rhythm.lengths import SentenceLengths, moments, sentence_lengths

if TYPE_CHECKING:
    from momus_critics.rhythm.critic import Rhythm

LAGS, SHOWN = 10, 40
"""Distances of the correlation, and sentences of the documents that are shown."""


@dataclass(frozen=True)
class RhythmSummary(Pooled):
    """Totals, and the sentence lengths of one document: of those with most sentences, up to 40, an arbitrary one."""

    example: tuple[int, ...] = ()

    def __add__(self, other: Pooled) -> RhythmSummary:
        total = super().__add__(other)
        theirs = other.example if isinstance(other, RhythmSummary) else ()
        return RhythmSummary(total.documents, total.arrays, total.counts, max(self.example, theirs, key=_rank))


def _rank(lengths: tuple[int, ...]) -> tuple[int, int]:
    """Order of documents: their number of sentences, then a number that depends on the lengths alone."""
    return len(lengths), zlib.crc32(np.array(lengths, dtype="<i8").tobytes())


def summary(z: SentenceLengths) -> RhythmSummary:
    """Totals over documents."""
    _, products, variances = moments(z, LAGS)
    values, counts = np.unique(z.words, return_counts=True)
    starts = z.offsets.tolist()
    examples = (tuple(z.words[a : min(b, a + SHOWN)].tolist()) for a, b in pairwise(starts))
    return RhythmSummary(
        len(z),
        {"products": products.sum(axis=0), "variances": variances.sum(axis=0)},
        {"words": {float(v): float(c) for v, c in zip(values.tolist(), counts.tolist(), strict=True)}},
        max(examples, key=_rank, default=()),
    )


def show(real: RhythmSummary, generated: RhythmSummary) -> list[Evidence]:
    """Charts of lengths, correlation, and two documents."""
    lengths, lags, documents = [], [], []
    for role, text in both(real, generated):
        lengths.append(Distribution.of(text.counts["words"]).steps(role))
        products, variances = text.arrays["products"], text.arrays["variances"]
        known = np.flatnonzero(variances > 0)
        lags.append(Series(role, (known + 1.0).tolist(), rounded(products[known] / variances[known], 4), role, "line"))
        documents.append(
            Series(role, [float(i + 1) for i in range(len(text.example))], [*map(float, text.example)], role)
        )
    return [
        Chart(
            "sentence-lengths",
            "Cumulative distribution of sentence length",
            Axis("words per sentence", "log"),
            Axis("share of sentences"),
            lengths,
        ),
        Chart(
            "sentence-correlation",
            "Correlation of sentence lengths within a document, by distance",
            Axis("sentences apart"),
            Axis("correlation of log lengths"),
            lags,
            note="Corrected for the length of documents: 0 if lengths follow each other at random.",
        ),
        Chart(
            "two-documents",
            "Sentence lengths of one document of each text",
            Axis("sentence"),
            Axis("words"),
            documents,
            note=f"Up to {SHOWN} sentences of a document with as many, chosen without regard to its lengths.",
        ),
    ]


def explain(critic: Rhythm, document: Corpus) -> MarkedDocument | None:
    """Mark the tenth of the sentences whose lengths are least likely."""
    words = words_of(document, critic.tokenizer, BREAK)
    prose = critic.prose(document)
    z = sentence_lengths(prose)
    if not len(z.words):
        return None
    nats, means = -critic.process_.log_probabilities(z), critic.process_.means(z)
    counts = np.bincount(prose.sentences, prose.alphabetic)
    numbers = np.flatnonzero(counts > 0)  # number in the text of each sentence with a word
    values: Floats = np.zeros(len(words))
    marks: dict[int, Mark] = {}
    odd = set(highest(nats))
    for i, number in enumerate(numbers.tolist()):
        tokens = np.flatnonzero(prose.sentences == number)
        values[tokens[0]] = nats[i]  # a sentence's nats stand with its first token
        if i in odd:
            mark = Mark(f"{int(z.words[i])} words", f"{means[i]:.0f} expected here")
            marks |= dict.fromkeys(tokens.tolist(), mark)
    total = float(group_sums(nats, z.offsets)[0])
    note = f"{len(z.words):,} sentences of {float(z.words.mean()):.1f} words on average. Marked: least likely lengths."
    return mark_passage(document, words, marks, value=total, unit="nats", values=values, note=note)
