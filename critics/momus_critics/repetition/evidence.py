"""Evidence on repetition: how far back copied words were said, and the longest loops and copies themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from momus.critic import Pooled
from momus.evidence import Axis, Chart, Evidence, MarkedDocument, Overuse, Overused, Series, Table, both
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.figures import percent, rounded
from momus_critics.marking import Mark, mark_passage, words_of
from momus_critics.prose.examples import Exampled
from momus_critics.prose.reading import BREAK
from momus_critics.repetition.copies import STATES, Copies, doubling_class

if TYPE_CHECKING:
    from momus_critics.repetition.critic import Repetition

SHOWN, CLASSES = 8, 24
WORDS = 24
"""Words of a copy that are shown."""


def summary(copies: Copies, n: int) -> Exampled:
    """Copied tokens by class of distance, tokens by state, documents with a loop; the longest loops and copies."""
    copied = copies.distances > 0
    distance = np.bincount(doubling_class(copies.distances[copied], CLASSES), minlength=CLASSES)
    states = np.bincount(copies.states, minlength=len(STATES))
    spans, loops = copies.spans, copies.spans.loops
    arrays = {
        "distance": distance.astype(np.float64),
        "states": states.astype(np.float64),
        "loops": np.array([len(np.unique(spans.documents[loops]))], dtype=np.float64),
    }
    examples: dict[str, list[tuple[float, str]]] = {}
    for key, kind in (("loops", loops), ("copies", ~loops)):
        rows = np.flatnonzero(kind)
        longest = rows[np.argsort(-spans.lengths[rows], kind="stable")[: 4 * SHOWN]]
        # what is shown of a span: its words, of a loop only one round
        for i in longest.tolist():
            start, length = int(spans.starts[i]), int(spans.lengths[i])
            shown = min(int(spans.distances[i]) if kind is loops else length, WORDS)
            text = " ".join(copies.words[j] for j in copies.ids[start : start + shown].tolist())
            more = " …" if kind is not loops and length > shown else ""
            n = 1 + length / spans.distances[i]
            times = f" × {n:,.0f}" if n >= 10 else f" × {n:.2g}"
            times *= kind is loops
            examples.setdefault(key, []).append((-float(length), f"{text}{more}{times}"))
    return Exampled.of(Pooled(len(copies), arrays), examples, SHOWN)


def show(real: Exampled, generated: Exampled) -> list[Evidence]:
    """The chart of distances, and tables of the longest loops and copies."""
    series = []
    rows = []
    back = 2.0 ** np.arange(1, CLASSES + 1) - 1  # the largest distance of each class, exclusive of the next
    for role, text in both(real, generated):
        arrays = text.arrays
        total = max(float(arrays["states"].sum()), 1.0)
        share = np.cumsum(arrays["distance"]) / total
        reach = int(np.flatnonzero(arrays["distance"]).max(initial=0)) + 1
        series.append(Series(role, rounded(back[:reach]), rounded(100 * share[:reach]), role, "steps"))
        shares = [percent(x) for x in (arrays["states"] / total)]
        rows.append((role, text.documents, int(arrays["loops"][0]), *shares[1:], round(sum(shares[1:]), 2)))
    columns = ("text", "documents", "with a loop", "% sentence", "% paragraph", "% document", "% in all")
    note = "Copies are counted with their first words. The curve ends at the farthest copy."
    return [
        Chart(
            "copies-by-distance",
            "Words that were said before, by how far back",
            Axis("words and symbols back, at most", "log"),
            Axis("% of words and symbols"),
            series,
            note=note,
        ),
        Table("copies", "Copied words by where they were said, and documents with a loop", columns, rows),
        _longest("loops", "Longest loops: one round, and how many of them follow each other", real, generated),
        _longest("copies", "Longest copies that are no loops", real, generated),
    ]


def _longest(key: str, title: str, real: Exampled, generated: Exampled) -> Table:
    rows = [
        (role, int(-rank), text)
        for role, side in (("generated", generated), ("real", real))
        for rank, text in side.examples.get(key, ())
    ]
    overuse = _overuse(real, generated) if key == "loops" else None
    return Table(f"longest-{key}", title, ("text", "words and symbols", "what is said again"), rows, overuse=overuse)


def _overuse(real: Exampled, generated: Exampled) -> Overuse | None:
    """The longest loop, with the shares of documents that loop; None if generated text loops no more than real."""
    a, b = (percent(float(t.arrays["loops"][0]) / max(t.documents, 1)) for t in (real, generated))
    longest = generated.texts("loops")
    if b <= a or not longest:
        return None
    return Overuse("loops", "% of documents loop", (Overused(longest[0], a, b),), of="looping_share")


def explain(critic: Repetition, document: Corpus) -> MarkedDocument | None:
    """Mark the copies of one document: where they were said before, and loops."""
    words = words_of(document, critic.tokenizer, BREAK)
    if not words:
        return None
    copies = critic.project(document)
    spans = copies.spans
    marks: dict[int, Mark] = {}
    for start, length, back, loop in zip(
        spans.starts.tolist(), spans.lengths.tolist(), spans.distances.tolist(), spans.loops.tolist(), strict=True
    ):
        mark = Mark("loop" if loop else "copy", f"as {counted(back, 'word')} and symbols before")
        marks |= dict.fromkeys(range(start, start + length), mark)
    expected = float(critic.process_.expected(copies).sum())
    note = (
        f"{len(marks):,} of {len(words):,} words and symbols are copies; {expected:,.0f} are expected in real text of "
        f"this length. {counted(int(spans.loops.sum()), 'loop')}."
    )
    values: Floats = -critic.process_.log_probabilities(copies)
    prior = critic.log_prior(copies)
    return mark_passage(document, words, marks, value=-float(prior.values[0]), unit="nats", values=values, note=note)
