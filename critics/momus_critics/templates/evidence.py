"""Evidence on templates: sequences of parts of speech that one text uses more, with concordance lines of both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from momus.critic import Pooled
from momus.evidence import Cell, Evidence, MarkedDocument, Overuse, Overused, Table, both
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus_critics.keyness.testing import log_odds, share_gaps
from momus_critics.marking import Mark, highest, mark_passage
from momus_critics.prose.examples import Exampled
from momus_critics.prose.reading import Prose
from momus_critics.templates.tagged import Tagged

LENGTH, SHOWN, LINED, KEPT, LEAST = 5, 15, 6, 2, 5
"""Tags of a template, rows of a table, templates with lines, lines of each, and occurrences that are needed."""
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
        ranks = _ranks(z.prose, begin, length)
        order = np.lexsort((ranks, where))
        place = np.arange(len(order)) - np.searchsorted(where[order], where[order])
        for i in order[place < KEPT].tolist():
            line = _line(z.prose, starts, int(sentence[begin[i]]), int(begin[i]), length)
            examples.setdefault(f"{kind} {int(codes[i])}", []).append((float(ranks[i]), line))
    sizes = np.array([len(states), len(starts) - 1], dtype=np.float64)
    return Exampled.of(Pooled(len(z), {"sizes": sizes}, counts), examples, KEPT)


def _begins(sentence: Ints, at: Bools, length: int) -> Ints:
    """Tokens at which so many tokens of one sentence begin."""
    count = max(len(sentence) - length + 1, 0)
    return np.flatnonzero(at[:count] & (sentence[:count] == sentence[length - 1 : length - 1 + count]))


def _ranks(prose: Prose, begin: Ints, length: int) -> Floats:
    """An arbitrary number that depends on the words alone."""
    total = np.zeros(len(begin), dtype=np.uint64)
    for k in range(length + 2):
        total = total * np.uint64(0x9E3779B97F4A7C15) + prose.hashes[np.minimum(begin + k, len(prose.ids) - 1)]
    return (total >> np.uint64(11)).astype(np.float64)


def _line(prose: Prose, starts: Ints, sentence: int, begin: int, length: int) -> str:
    """A concordance line within the sentence, the template between « and »."""

    def text(a: int, b: int) -> str:
        return " ".join(prose.spelled[c] for c in prose.codes[a:b].tolist())

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
    for kind, noun, size in (("templates", "words", 0), ("openings", "sentences", 1)):
        for over in (True, False):
            table, keys = _table(kind, noun, size, over, real, generated, tags)
            tables.append(table)
            lined += [(key, str(row[0])) for key, row in zip(keys[:LINED], table.rows, strict=False)]
    rows = [
        (name, role, line) for key, name in lined for role, text in both(real, generated) for line in text.texts(key)
    ]
    title = "Concordance lines of templates, of both texts"
    return [*tables, Table("template-lines", title, ("template", "text", "line"), rows)]


def _table(
    kind: str, noun: str, size: int, over: bool, real: Exampled, generated: Exampled, tags: Sequence[str]
) -> tuple[Table, list[str]]:
    """The templates that generated text uses more, or less, and the keys of their examples."""
    a, b = (t.counts.get(kind, {}) for t in (real, generated))
    codes = sorted(c for c in {*map(float, a), *map(float, b)} if a.get(c, 0.0) + b.get(c, 0.0) >= LEAST)
    # number of words or sentences, then of each template, (1 + V,)
    p, q = (
        np.array([max(t.arrays["sizes"][size], 1.0), *(n.get(c, 0.0) for c in codes)])
        for t, n in ((real, a), (generated, b))
    )
    delta, z = log_odds(p, q)
    sizes = np.abs(share_gaps(p, q))
    sign = 1.0 if over else -1.0
    order = [i for i in np.argsort(-sign * z, kind="stable").tolist() if sign * z[i] > 0][:SHOWN]
    source = generated if over else real
    keys = [f"{kind} {int(codes[i])}" for i in order]
    rows: list[tuple[Cell, ...]] = [
        (
            spelled(int(codes[i]), tags),
            round(1000 * float(p[i + 1] / p[0]), 2),
            round(1000 * float(q[i + 1] / q[0]), 2),
            round(float(delta[i]), 2),
            round(float(z[i]), 1),
            next(iter(source.texts(key)), ""),
        )
        for i, key in zip(order, keys, strict=True)
    ]
    # only openings are tested, see `Templates.statistics`
    named = tuple(
        Overused(
            str(row[0]), 1000 * float(p[i + 1] / p[0]), 1000 * float(q[i + 1] / q[0]), str(row[-1]), float(sizes[i])
        )
        for i, row in zip(order, rows, strict=False)
        if over and kind == "openings"
    )
    what = "over-used openings of sentences by part of speech"
    overuse = Overuse(what, f"per 1,000 {noun}", named, of="largest_gap") if named else None
    word = "over" if over else "under"
    what = "Templates" if kind == "templates" else "Openings of sentences"
    table = Table(
        f"{kind}-{word}-used",
        f"{what} that generated text {word}-uses",
        ("template", f"real, per 1,000 {noun}", f"generated, per 1,000 {noun}", "log-odds", "z", "for example"),
        rows,
        note="Log-odds and z with an informative prior (Monroe et al. 2008); occurrences in one document depend on "
        "each other, so z orders the templates and is no test.",
        overuse=overuse,
    )
    return table, keys


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
    words = [prose.spelled[c] for c in prose.codes.tolist()]
    marks = {i: Mark(tags[int(states[i])], f"{nats[i]:.1f} nats") for i in highest(nats)}
    note = "Marked: words whose part of speech is least likely after those before it."
    return mark_passage(document, words, marks, value=total, unit="nats", values=nats, note=note)
