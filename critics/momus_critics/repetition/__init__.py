"""Repetition: what a document says again, how soon, and for how long; a renewal process over new and copied tokens."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Annotated, Self

import numpy as np

from momus.critic import Counts, LogPrior, MergeableMixin, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.hooks import AdvancedMixin
from momus.estimator import parametrized
from momus.evidence import Axis, Evidence, MarkedDocument, Table
from momus.numeric.ragged import float_sums
from momus.numeric.types import Floats
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.text.plain import read_as
from momus_critics.evidence import Mark, curves, mark_passage, words_of
from momus_critics.prose.examples import Exampled
from momus_critics.prose.reading import BREAK, ProseCritic
from momus_critics.repetition.copies import (
    DOCUMENT,
    PARAGRAPH,
    SENTENCE,
    STATES,
    Copies,
    CopyProcess,
    copies_of,
    doubling_class,
)

SHOWN, CLASSES = 8, 24
"""Copies that are shown, and classes of distance."""
WORDS = 24
"""Words of a copy that are shown."""


@parametrized
class Repetition(MergeableMixin, ProseCritic[Copies], AdvancedMixin):
    """z says of each token whether it is new or a copy, and how far back it was said; P_c is a renewal process.

    A token is a copy if it belongs to an n-gram that occurs earlier in its document. A copied stretch goes on from one
    source as long as the text agrees, and its source is the nearest one. The states are *new*, and copies from the same
    sentence, paragraph or document. P_c is an alternating renewal process: a copy begins with a probability that
    depends on how much was said before, and continues with one that depends on how long it is.

    Parameters
    ----------
    min_length
        Smallest number of tokens of a copy.

    >>> from momus import Corpus
    >>> critic = Repetition(min_length=2).fit(Corpus.from_texts(["a b c d a b", "e f g h", "a b c. a b d"]))
    >>> critic.project(Corpus.from_texts(["You view weeds. Xylem, you view, you view"])).states.tolist()
    [0, 0, 0, 0, 0, 0, 2, 2, 1, 1, 1]
    """

    name = "repetition"
    axis = "repetition"
    question = (
        "Does text repeat itself as much as real text of its length does? z says of each token whether it is new, or "
        "how far back it was said before."
    )
    reporting = Reporting(
        oddity_unit="copied words per word, beyond expectation",
        headline="relative_copying",
        directions=directions("more|less usual in repetition", "more|less usual in repetition"),
        layout=("breaks",),
        limits="It cannot see paraphrases, nor whether a repetition is meant: a refrain and a loop look alike.",
        aggregated=False,
    )
    sequence = True
    min_documents = 3

    min_length: Annotated[int, Range(2, 100)] = 4

    _new_process = CopyProcess

    state_names = STATES

    def fit_counts(self, real: Corpus) -> Counts:
        """Count how often copies begin and go on."""
        return self._new_process().count(self.project(real))

    def fit_from(self, counts: Counts) -> Self:
        """Turn counts into hazards."""
        self.process_ = self._new_process().learn(counts)
        return self

    def project(self, batch: Corpus) -> Copies:
        """Find the copied stretches of each document."""
        prose = self._prose(batch)
        states, distances, ages = copies_of(
            prose.ids, prose.offsets, prose.sentences, prose.paragraphs, self.min_length
        )
        texts = [read_as(d.text, "prose").encode("utf-8", "replace") for d in batch]
        sizes = np.array([(len(t), len(zlib.compress(t))) for t in texts], dtype=np.int64).reshape(-1, 2)  # (n, 2)
        return Copies(
            states, prose.offsets, None, distances, ages, prose.ids, tuple(prose.words), sizes[:, 0], sizes[:, 1]
        )

    def log_prior(self, latents: Copies) -> LogPrior:
        """Sum of log P_c over the tokens of each document."""
        return LogPrior(float_sums(self.process_.log_probabilities(latents), latents.offsets), latents.lengths)

    def oddity(self, latents: Copies) -> Floats:
        """Share of copied words beyond that of real text of the same length."""
        excess = float_sums((latents.distances > 0) - self.process_.expected(latents), latents.offsets)  # (n,)
        return np.asarray(excess / np.maximum(latents.lengths, 1))

    def sufficient_statistics(self, latents: Copies) -> Mapping[str, Rows]:
        """Copied words beside their expectation, and by source beside all words; longest copies; bytes."""
        copied = float_sums(latents.distances > 0, latents.offsets)
        expected = float_sums(self.process_.expected(latents), latents.offsets)
        total, ones = latents.lengths.astype(np.float64), np.ones(len(latents))
        by_source = [float_sums(latents.states == s, latents.offsets) for s in (SENTENCE, PARAGRAPH, DOCUMENT)]
        spans = latents.spans
        longest = np.zeros(len(latents))
        # `at`: a document may have many spans
        np.maximum.at(longest, spans.documents, spans.lengths)
        return {
            "copied": np.column_stack([copied, expected]),
            **{f"from_{s}": np.column_stack([c, total]) for s, c in enumerate(by_source, 1)},
            "longest": np.column_stack([longest, ones]),
            "bytes": np.column_stack([latents.packed, latents.raw]).astype(np.float64),
        }

    tested = (
        Statistic.relative(
            "relative_copying",
            "copied",
            "copied words, relative to expectation",
            "less|more repetitive",
            clause="copies {} times the expected words",
            needs="a copied word",
        ),
        *(
            Statistic.share(
                f"{where}_share",
                f"from_{source}",
                f"words copied from the same {where}",
                f"less|more repetitive within its {where}s",
                decides=False,
            )
            for source, where in enumerate(("sentence", "paragraph", "document"), SENTENCE)
        ),
        Statistic.ratio(
            "longest_copy",
            "longest",
            "mean of the longest copy",
            "shorter|longer in its copies",
            unit="words and symbols",
        ),
        Statistic.share(
            "compressed_share", "bytes", "size after compression by zlib", "easier|harder to compress", decides=False
        ),
    )

    def summarize(self, latents: Copies) -> Exampled:
        """Copied tokens by class of distance, tokens; the longest copies."""
        copied = latents.distances > 0
        distance = np.bincount(doubling_class(latents.distances[copied], CLASSES), minlength=CLASSES)
        spans = latents.spans
        arrays = {
            "distance": distance.astype(np.float64),
            "words": np.array([len(copied)], dtype=np.float64),
        }
        examples: list[tuple[str, float, str]] = []
        for i in np.argsort(-spans.lengths, kind="stable")[: 4 * SHOWN].tolist():
            start, length = int(spans.starts[i]), int(spans.lengths[i])
            text = " ".join(latents.words[j] for j in latents.ids[start : start + min(length, WORDS)].tolist())
            examples.append(("copies", -float(length), f"{text}{' …' * (length > WORDS)}"))
        return Exampled.of(Pooled(len(latents), arrays), examples, SHOWN)

    def evidence(self, real: Exampled, generated: Exampled) -> list[Evidence]:
        """Share of words by how far back they were said, and the longest copies."""
        # the largest distance of each class, exclusive of the next
        back = 2.0 ** np.arange(1, CLASSES + 1, dtype=np.float64) - 1

        def points(text: Exampled) -> tuple[Floats, Floats]:
            share = np.cumsum(text.arrays["distance"]) / max(float(text.arrays["words"][0]), 1.0)
            reach = int(np.flatnonzero(text.arrays["distance"]).max(initial=0)) + 1
            return back[:reach], 100 * share[:reach]

        return [
            curves(
                (real, generated),
                points,
                "copies-by-distance",
                "Words that were said before, by how far back",
                (Axis("words and symbols back, at most", "log"), Axis("% of words and symbols")),
                "Copies are counted with their first words. The curve ends at the farthest copy.",
                "steps",
            ),
            _longest(real, generated),
        ]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the copies where they stand, each with its distance."""
        words = words_of(document, self.tokenizer, BREAK)
        if not words:
            return None
        copies = self.project(document)
        spans = copies.spans
        marks: dict[int, Mark] = {}
        for start, length, back in zip(
            spans.starts.tolist(), spans.lengths.tolist(), spans.distances.tolist(), strict=True
        ):
            mark = Mark("copy", f"as {counted(back, 'word')} and symbols before")
            marks |= dict.fromkeys(range(start, start + length), mark)
        expected = float(self.process_.expected(copies).sum())
        note = (
            f"{len(marks):,} of {len(words):,} words and symbols are copies; {expected:,.0f} are expected at this "
            "length."
        )
        values: Floats = -self.process_.log_probabilities(copies)
        return mark_passage(self, document, copies, words, marks, values=values, note=note)


def _longest(real: Exampled, generated: Exampled) -> Table:
    rows = [
        (role, int(-rank), text)
        for role, side in (("generated", generated), ("real", real))
        for rank, text in side.examples.get("copies", ())
    ]
    return Table("longest-copies", "Longest copies", ("text", "words and symbols", "what is said again"), rows)
