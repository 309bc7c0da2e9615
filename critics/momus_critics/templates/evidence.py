"""Evidence on templates: sequences of parts of speech that one text uses more, with concordance lines of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from momus.critic import Pooled
from momus.evidence import Evidence, MarkedDocument, Table, both
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.keyness.testing import LEAST, Usage
from momus_critics.marking import Mark, highest, mark_passage
from momus_critics.prose.examples import Exampled, first_of_each, ranks
from momus_critics.prose.reading import Prose

if TYPE_CHECKING:
    from momus_critics.templates.critic import Tagged

LENGTH, SHOWN, LINED, KEPT = 5, 15, 6, 2
"""Tags of a template, rows of a table, templates with lines, and lines of each."""
BASE = 64
"""Factor of the codes of tags, which count from 1."""


def summary(z: Tagged, opening: int) -> Exampled:
    """Numbers of templates, and of openings of sentences, with a few lines of each, whichever they are."""
    states, starts = np.asarray(z.states, dtype=np.int64), z.sentences
    sentence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    counts: dict[str, dict[str | float, float]] = {}
    examples: dict[str, list[tuple[float, str]]] = {}
    first = np.zeros(len(states), dtype=bool)
    first[starts[:-1]] = True
    for kind, length, at in (("templates", LENGTH, np.ones(len(states), dtype=bool)), ("openings", opening, first)):
        begin = _begins(sentence, at, length)
        codes = np.zeros(len(begin), dtype=np.int64)
        for k in range(length):
            codes = codes * BASE + states[begin + k] + 1
        distinct, where, number = np.unique(codes, return_inverse=True, return_counts=True)
        counts[kind] = {float(c): float(n) for c, n in zip(distinct.tolist(), number.tolist(), strict=True)}
        rank = ranks(z.prose.hashes, begin, range(length + 2))
        for i in first_of_each(where, rank, KEPT).tolist():
            line = _line(z.prose, starts, int(sentence[begin[i]]), int(begin[i]), length)
            examples.setdefault(f"{kind} {int(codes[i])}", []).append((float(rank[i]), line))
    sizes = np.array([len(states), len(starts) - 1], dtype=np.float64)
    return Exampled.of(Pooled(len(z), {"sizes": sizes}, counts), examples, KEPT)


def _begins(sentence: Ints, at: Bools, length: int) -> Ints:
    """Tokens at which so many tokens of one sentence begin."""
    count = max(len(sentence) - length + 1, 0)
    return np.flatnonzero(at[:count] & (sentence[:count] == sentence[length - 1 : length - 1 + count]))


def _line(prose: Prose, starts: Ints, sentence: int, begin: int, length: int) -> str:
    """A concordance line within the sentence, the template between « and »."""

    def text(a: int, b: int) -> str:
        return " ".join(prose.tokens(a, b))

    low, high = int(starts[sentence]), int(starts[sentence + 1])
    end = begin + length
    return " ".join(
        span
        for span in (text(max(low, begin - 5), begin), f"«{text(begin, end)}»", text(end, min(high, end + 5)))
        if span
    )


def show(real: Exampled, generated: Exampled, tags: Sequence[str]) -> list[Evidence]:
    """Tables of templates and openings, and their concordance."""
    tables: list[Evidence] = []
    lined: list[tuple[str, str]] = []
    for kind, title, unit, size in (
        ("templates", "Templates", "words", 0),
        ("openings", "Openings of sentences", "sentences", 1),
    ):
        a, b = (t.counts.get(kind, {}) for t in (real, generated))
        codes = sorted(c for c in {*map(float, a), *map(float, b)} if a.get(c, 0.0) + b.get(c, 0.0) >= LEAST)
        # number of words or sentences, then of each template, (1 + V,)
        p, q = (
            np.array([max(t.arrays["sizes"][size], 1.0), *(n.get(c, 0.0) for c in codes)])
            for t, n in ((real, a), (generated, b))
        )
        names, keys = [spelled(int(c), tags) for c in codes], [f"{kind} {int(c)}" for c in codes]
        usage = Usage(kind, title, "template", unit, names, keys, p, q)
        # only openings are tested, see `Templates.statistics`
        named = "over-used openings of sentences by part of speech" if kind == "openings" else ""
        for over in (True, False):
            table, listed = usage.table(real, generated, over, SHOWN, named)
            tables.append(table)
            lined += [(key, str(row[0])) for key, row in zip(listed[:LINED], table.rows, strict=False)]
    rows = [
        (name, role, line) for key, name in lined for role, text in both(real, generated) for line in text.texts(key)
    ]
    title = "Concordance lines of templates, of both texts"
    return [*tables, Table("template-lines", title, ("template", "text", "line"), rows)]


def spelled(code: int, tags: Sequence[str]) -> str:
    """The tags of a code.

    >>> spelled(1 * BASE + 2, ["ADJ", "NOUN"])
    'ADJ NOUN'
    """
    spellings = []
    while code:
        spellings.append(tags[code % BASE - 1])
        code //= BASE
    return " ".join(reversed(spellings))


def explain(
    document: Corpus, prose: Prose, states: NDArray[np.integer], nats: Floats, total: float, tags: Sequence[str]
) -> MarkedDocument:
    """Mark the words whose parts of speech are least likely."""
    words = prose.tokens()
    marks = {i: Mark(tags[int(states[i])], f"{nats[i]:.1f} nats") for i in highest(nats)}
    note = "Marked: words whose part of speech is least likely after those before it."
    return mark_passage(document, words, marks, value=total, unit="nats", values=nats, note=note)
