"""Evidence on consistency: where strangers are, how well sections fit, and one document section by section."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from momus.critic import Pooled
from momus.evidence import Axis, Cell, Chart, Evidence, MarkedDocument, Series, Step, Table, both
from momus.numeric.ragged import places_of
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.counting import clipped
from momus_critics.figures import percent, rounded

if TYPE_CHECKING:
    from momus_critics.consistency.critic import Memberships

SIZES = (50, 200, 800)
"""Borders of the classes of length, in tokens."""
PLACES = ("first", "middle", "last")
EDGES: Floats = np.linspace(-20.0, 60.0, 161)
"""Bins of fit, in nats; the outer ones are open."""
NEAREST = 2
ODD_WORDS = 6
SHOWN_CHARACTERS = 240


def totals(latents: Memberships) -> dict[str, Floats]:
    """Sums over sections: (3, 2) by place and (4, 2) by length of [sections, expected strangers]; (161,) of fit."""
    assert latents.marginals is not None
    stranger = latents.marginals[:, 1]
    counts = np.column_stack([np.ones(len(stranger)), stranger])
    places = places_of(latents.offsets)
    last = places == np.repeat(latents.lengths, latents.lengths) - 1
    bins = np.clip(np.searchsorted(EDGES, latents.fit, side="right"), 0, len(EDGES) - 1)
    return {
        "places": _sums(counts, np.where(last, 2, np.minimum(places, 1)), len(PLACES)),
        "sizes": _sums(counts, np.searchsorted(SIZES, latents.lengths_in_tokens, side="right"), len(SIZES) + 1),
        "fit": np.bincount(bins, minlength=len(EDGES)).astype(np.float64),
    }


def _sums(counts: Floats, classes: Ints, number: int) -> Floats:
    return np.column_stack([np.bincount(classes, column, number) for column in counts.T])


def show(real: Pooled, generated: Pooled) -> list[Evidence]:
    """A table of strangers by place and length, and the distribution of fit."""
    return [stranger_table(real, generated), fit_chart(real, generated)]


def stranger_table(real: Pooled, generated: Pooled) -> Table:
    """Sections and the share of strangers of both texts, by place and by length."""
    names = (
        f"under {SIZES[0]}",
        *(f"{a} to {b - 1}" for a, b in pairwise(SIZES)),
        f"{SIZES[-1]} up",
    )
    rows: list[tuple[Cell, ...]] = []
    for key, labels in (("places", [f"{p} section" for p in PLACES]), ("sizes", [f"{n} tokens" for n in names])):
        for i, label in enumerate(labels):
            cells: list[Cell] = [label]
            for pooled in (real, generated):
                sections, strangers = pooled.arrays[key][i].tolist()
                cells += [int(sections), percent(strangers / sections) if sections else None]
            rows.append(tuple(cells))
    return Table(
        "strangers",
        "Sections that do not belong to their document",
        ("sections", "real", "strangers in real, %", "generated", "strangers in generated, %"),
        rows,
        note="Expected shares. A section of few words is rarely a stranger for sure.",
    )


def fit_chart(real: Pooled, generated: Pooled) -> Chart:
    """Cumulative distributions of fit."""
    series = []
    for role, pooled in both(real, generated):
        counts = pooled.arrays["fit"]
        share = np.cumsum(counts) / max(counts.sum(), 1.0)
        # bin i ends at EDGES[i]; the last one is open
        series.append(Series(str(role), rounded(EDGES), rounded(share), role, "steps"))
    return Chart(
        "fit",
        "Share of sections up to a fit",
        Axis("fit of a section to its document, nats"),
        Axis("sections"),
        series,
        note="Log Bayes factor of “belongs” against “stranger”; below 0 the words speak for a stranger.",
    )


def explain(
    document: Corpus, latents: Memberships, x: sparse.csr_array, vocabulary: Sequence[str], value: float, rate: float
) -> MarkedDocument:
    """Show each section with its nearest sections; of strangers, the heaviest words that no other section has."""
    assert latents.marginals is not None
    gram = np.asarray((x @ x.T).todense())
    cost = latents.marginals @ -np.log([1 - rate, rate])
    titles, texts = document.section_titles, document.section_texts.to_pylist()
    steps = []
    for m, (title, text) in enumerate(zip(titles, texts, strict=True)):
        stranger = bool(latents.states[m])
        remarks = [f"P(stranger) = {latents.marginals[m, 1]:.2g}", f"nearest: {_nearest(gram, m, titles)}"]
        words = odd_words(x, m, vocabulary) if stranger else []
        if words:
            remarks.append(f"words that no other section has: {', '.join(words)}")
        label = f"{title or f'section {m + 1}'}: {'stranger' if stranger else 'belongs'}"
        steps.append(Step(label, clipped(text, SHOWN_CHARACTERS), float(cost[m]), stranger, "; ".join(remarks)))
    return MarkedDocument(document.name, document.ids[0], value, "nats per section", steps)


def _nearest(gram: Floats, m: int, titles: Sequence[str | None]) -> str:
    """The sections with the highest cosine to section m, with it."""
    others = [n for n in np.argsort(-gram[m], kind="stable").tolist() if n != m][:NEAREST]
    return ", ".join(f"{titles[n] or f'section {n + 1}'} ({gram[m, n]:.2f})" for n in others)


def odd_words(x: sparse.csr_array, m: int, vocabulary: Sequence[str], number: int = ODD_WORDS) -> list[str]:
    """The words with the highest weight in section m that the other sections lack.

    >>> x = sparse.csr_array(np.array([[0.5, 0.8, 0.1], [0.9, 0.0, 0.0]]))
    >>> odd_words(x, 0, ["a", "b", "c"])
    ['b', 'c']
    """
    row = x[[m]].toarray().ravel()
    elsewhere = np.asarray(x.sum(axis=0)).ravel() - row  # (V,): 0 for words of section m alone
    weight = np.where(elsewhere <= 1e-12, row, 0.0)
    best = np.argsort(-weight, kind="stable")[:number]
    return [vocabulary[i] for i in best.tolist() if weight[i] > 0]
