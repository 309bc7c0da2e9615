"""Evidence on keyness: over-used and under-used terms, and their concordance lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from momus.critic import Pooled
from momus.critic.shifts import shift_table
from momus.evidence import Evidence, MarkedDocument, Overuse, Overused, Table
from momus.inference.multiplicity import benjamini_hochberg
from momus.numeric.types import Floats
from momus.text.corpus import Corpus
from momus.text.counting import percentage
from momus_critics.evidence import Mark, mark_passage, percent, words_of
from momus_critics.keyness.latents import LONGEST, TermLatents
from momus_critics.prose.examples import (
    Exampled,
    counts_of,
    first_of_each,
    log_odds,
    proportions_z,
    ranks,
    share_gaps,
    two_sided,
)
from momus_critics.prose.reading import BREAK

if TYPE_CHECKING:
    from momus_critics.keyness import Keyness

SHOWN, MARKED = 20, 12
"""Terms of a table, and terms that are marked in a document."""
FALSE = 0.05
"""Expected share of false discoveries among the listed terms."""
MISSING = 0.5
"""A missing term is in at most this share of the documents, of those of real text."""
UNEQUAL = 1.5
"""Documents are told to be of unequal length from this ratio on: the longer ones have more terms anyway."""
ALIKE = 0.8
"""A phrase stands for a shorter one within it if at least this share of the documents with the shorter one have it."""


@dataclass(frozen=True)
class Key:
    """One term in two texts.

    Attributes
    ----------
    term
        Its tokens, joined by spaces.
    real, generated
        Shares of the whole documents that have the term.
    size
        |h| of the shares of windows (`momus_critics.prose.examples.share_gaps`), by which the term is tested.
    log_odds, z, q
        Of windows: log-odds ratio of generated against real text and its z
        (`momus_critics.prose.examples.log_odds`), and the p of equal shares, adjusted by Benjamini & Hochberg (1995).
    """

    term: str
    real: float
    generated: float
    size: float
    log_odds: float
    z: float
    q: float


def summary(latents: TermLatents, asked: AbstractSet[str]) -> Exampled:
    """Windows and documents by term, and of each term the concordance line that comes first in an arbitrary order."""
    windows = np.asarray(latents.matrix.sum(axis=0)).ravel()
    documents = np.bincount(latents.matrix.indices, minlength=len(windows))  # a document is one entry of a term it has
    present = [i for i in np.flatnonzero(documents).tolist() if latents.columns[i] in asked]
    counts: dict[str, dict[str | float, float]] = {
        key: {latents.columns[i]: float(sums[i]) for i in present}
        for key, sums in (("windows", windows), ("documents", documents))
    }
    tokens = np.array([latents.prose.lengths.sum()], dtype=np.float64)
    # arbitrary numbers that depend on the words around a term alone
    order, terms = ranks(latents.prose.hashes, latents.first, range(-3, LONGEST + 3)), latents.matrix.indices
    lines = (
        (latents.columns[terms[i]], float(order[i]), latents.line(i))
        for i in first_of_each(terms, order).tolist()
        if latents.columns[terms[i]] in asked
    )
    return Exampled.of(Pooled(len(latents), {"tokens": tokens}, counts), lines)


def keys_of(real: Pooled, generated: Pooled) -> list[Key]:
    """All terms with their log-odds, those most over-used in generated text first."""
    # expected numbers of windows, then of documents, with each term, (1 + V,)
    terms, p, q = counts_of(real, generated, "windows")
    documents = (s.counts.get("documents", {}) for s in (real, generated))
    shares = (
        np.array([d.get(t, 0.0) for t in terms]) / max(s.documents, 1)
        for s, d in zip((real, generated), documents, strict=True)
    )
    delta, z = log_odds(p, q)
    adjusted = benjamini_hochberg(two_sided(proportions_z(p, q)).tolist())
    sizes = np.abs(share_gaps(p, q))
    order = np.lexsort((np.arange(len(terms)), -z))
    columns = (*shares, sizes, delta, z, adjusted)
    return [Key(terms[i], *(float(values[i]) for values in columns)) for i in order.tolist()]


def listed(keys: Iterable[Key], over: bool) -> list[Key]:
    """The terms of a table: significant ones; of phrases within each other, the longest that occurs about as often."""
    chosen: list[Key] = []

    def documents(key: Key) -> float:
        return key.generated if over else key.real

    for key in keys:
        if len(chosen) >= SHOWN or (key.z > 0) != over:
            break
        if key.q > FALSE:
            continue
        within = [k for k in chosen if _contains(k.term, key.term)]
        around = [i for i, k in enumerate(chosen) if _contains(key.term, k.term)]
        if any(documents(k) >= ALIKE * documents(key) for k in within):
            continue
        alike = [i for i in around if documents(key) >= ALIKE * documents(chosen[i])]
        if alike:
            chosen[alike[0]] = key
            chosen = [k for i, k in enumerate(chosen) if i not in alike[1:]]
        elif not around:
            chosen.append(key)
    return chosen


def _contains(longer: str, shorter: str) -> bool:
    """Whether the tokens of one term are within those of another."""
    return len(longer) > len(shorter) and f" {shorter} " in f" {longer} "


def show(real: Exampled, generated: Exampled) -> list[Evidence]:
    """Tables of over-used and under-used terms, each with a concordance line."""
    keys = keys_of(real, generated)
    over, under = listed(keys, over=True), listed(keys[::-1], over=False)
    tested = (
        f"{len(keys):,} terms tested; listed are those with a false discovery rate of {percentage(FALSE)} at most. "
        "Log-odds and z with an informative prior (Monroe et al. 2008), of windows of equal length, because long "
        "documents have more terms; shares are of whole documents."
    )
    # phrases of three words first, then of two, then single words, which say less on their own; sorting is stable
    excess = sorted((k for k in over if k.generated > k.real), key=lambda k: -min(k.term.count(" "), 2))
    lack = [k for k in under if k.generated <= MISSING * k.real]
    # tokens per document
    length, human = (max(float(s.arrays["tokens"][0]) / max(s.documents, 1), 1.0) for s in (generated, real))
    longer, unit = length / human, "% of documents"
    if max(longer, 1 / longer) > UNEQUAL:
        unit += f", {longer:.2g} times as long"
    more = _named("over-used words and phrases", excess, unit, generated)
    less = _named("missing words and phrases", lack, unit, generated)
    return [
        _terms("over-used", "Words and phrases that generated text over-uses", over, generated, tested, more),
        _terms("under-used", "Words and phrases that generated text under-uses", under, real, tested, less),
    ]


def _terms(name: str, title: str, keys: Sequence[Key], lines: Exampled, note: str, named: Overuse | None) -> Table:
    real, generated, odds, z = np.array([(k.real, k.generated, k.log_odds, k.z) for k in keys]).reshape(-1, 4).T
    table = shift_table(
        name,
        title,
        "term",
        [k.term for k in keys],
        (real, generated),
        "% of documents",
        effect=odds,
        measure="log-odds",
        by=z,
        more={"z": z.round(1).tolist(), "q": [k.q for k in keys]},
        examples=lines.first(k.term for k in keys),
        note=note,
    )
    return replace(table, overuse=named)


def _named(what: str, keys: Sequence[Key], unit: str, generated: Exampled) -> Overuse | None:
    """Terms for the first screen of a report, over-used ones with a line of generated text."""
    lines = generated.first(k.term if k.z > 0 else "" for k in keys)
    items = tuple(
        Overused(k.term, percent(k.real), percent(k.generated), line, k.size)
        for k, line in zip(keys, lines, strict=True)
    )
    return Overuse(what, unit, items, of="largest_gap") if items else None


def explain(critic: Keyness, document: Corpus) -> MarkedDocument | None:
    """Mark the terms of one document that are least likely in real text of its length."""
    words = words_of(document, critic.tokenizer, BREAK)
    latents = critic.project(document)
    terms = latents.matrix.indices
    known = np.flatnonzero(terms < len(critic.terms_))
    if not len(known):
        return None
    p: Floats = critic.process_.of(np.repeat(latents.lengths, len(known)), terms[known])
    marks: dict[int, Mark] = {}
    for i in np.lexsort((known, p))[:MARKED].tolist():
        start, term = int(latents.first[known[i]]), latents.columns[int(terms[known[i]])]
        mark = Mark(term, f"in {percentage(float(p[i]))} of fitted documents of this length")
        marks |= {t: mark for t in range(start, start + term.count(" ") + 1) if t not in marks}
    note = f"{len(known):,} of {len(critic.terms_):,} terms; marked: those least likely in text of this length."
    return mark_passage(critic, document, latents, words, marks, note=note)
