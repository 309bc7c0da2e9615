"""Collections of sectioned documents, split at random into three parts, and defects planted in a share of documents.

A critic is fitted on one part; the second is the real text; the third is the other text, unchanged (a false alarm if
found) or with one defect in each of a share of its documents. What a study does with a collection:

    for split in splits(collection("rust-rfcs")):
        critic = Sections().fit(split.fit)
        found = p_values(critic, split, DEFECTS)        # {(defect, statistic): p}

(A module called ``collections`` would hide the standard library's from the scripts of this folder.)

Data: ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from more_defects import MORE

from momus import Corpus, Critic, read_corpus
from momus.controls import DEFECTS as CONTROLS
from momus.controls.planting import generator
from momus.critic.hooks import settled
from momus.critic.powers import headline_of
from momus.text.corpus import Document
from momus.verdicts.judge import judge

COLLECTIONS = ("rust-rfcs", "swift-proposals")
SPLITS = 6
SIDE = 182
"""Most documents on a side; a third of the smaller collection."""
LEVEL = 0.01
NULL = "unchanged"

Plant = Callable[[Corpus, int], Corpus]
"""Plants a defect: (corpus, seed) → corpus with the same ids."""


def collection(name: str) -> Corpus:
    """Read a collection by its name, or by the path of a file that `momus prepare` wrote."""
    if Path(name).is_file():
        return read_corpus(name, name=collection_name(name))
    named = os.environ.get("MOMUS_DATA")
    data = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    return read_corpus(data / "sectioned" / f"{name}.jsonl.gz", name=name)


def collection_name(source: str) -> str:
    """The name of a collection that is given by name or path: that of its file without endings."""
    return Path(source).name.split(".")[0]


def running(corpus: Corpus) -> Corpus:
    """The same documents without titles and section breaks."""
    return Corpus.from_texts([d.text for d in corpus], corpus.ids, name=corpus.name)


def untitled(corpus: Corpus) -> Corpus:
    """The same documents with section breaks, but without titles."""
    documents = [replace(d, sections=tuple(replace(s, title=None) for s in d.sections)) for d in corpus]
    return Corpus.from_documents(documents, corpus.name)


@dataclass(frozen=True)
class Split:
    """A collection split at random: documents to fit on, the real text, and the text in which defects are planted."""

    seed: int
    fit: Corpus
    real: Corpus
    other: Corpus


def splits(corpus: Corpus, number: int = SPLITS, side: int = SIDE) -> Iterator[Split]:
    """Split a collection in thirds (at most ``side`` documents each) by the seeds 0, 1, …"""
    n = min(side, len(corpus) // 3)
    for seed in range(number):
        order = np.random.default_rng(seed).permutation(len(corpus))
        fit, real, other = (corpus.take(np.sort(order[i * n : (i + 1) * n])) for i in range(3))
        yield Split(seed, fit, real, other)


Edit = Callable[[Document, np.random.Generator], Document]


def in_documents(edit: Edit, share: float) -> Plant:
    """Edit a random share of the documents; the choice depends on seed and id alone."""

    def plant(corpus: Corpus, seed: int) -> Corpus:
        documents = []
        for document in corpus:
            random = generator(seed, "documents", document.id)
            documents.append(edit(document, random) if random.random() < share else document)
        return Corpus.from_documents(documents, corpus.name)

    return plant


def swapped(document: Document, random: np.random.Generator) -> Document:
    """Swap two neighbouring sections."""
    sections = list(document.sections)
    if len(sections) > 1:
        i = int(random.integers(len(sections) - 1))
        sections[i], sections[i + 1] = sections[i + 1], sections[i]
    return replace(document, sections=tuple(sections))


def repeated(document: Document, random: np.random.Generator) -> Document:
    """Repeat one section right after itself."""
    i = int(random.integers(len(document.sections)))
    return replace(document, sections=(*document.sections[: i + 1], *document.sections[i:]))


def dropped(document: Document, random: np.random.Generator) -> Document:
    """Drop one section, if there are two."""
    if len(document.sections) < 2:
        return document
    i = int(random.integers(len(document.sections)))
    return replace(document, sections=(*document.sections[:i], *document.sections[i + 1 :]))


def shuffled(corpus: Corpus, seed: int) -> Corpus:
    """Move every section of every document."""
    return CONTROLS["section-order"].plant(corpus, 1.0, seed)


def exchanged(corpus: Corpus, seed: int, share: float) -> Corpus:
    """Replace one section, in a share of the documents, by one of the same title of another document."""
    planted = {d.id: d for d in MORE["section-exchange"].plant(corpus, 1.0, seed)}

    def one(document: Document, random: np.random.Generator) -> Document:
        new = planted[document.id].sections
        changed = [i for i, s in enumerate(document.sections) if s != new[i]]
        if not changed:
            return document
        i = int(random.choice(changed))
        return replace(document, sections=(*document.sections[:i], new[i], *document.sections[i + 1 :]))

    return in_documents(one, share)(corpus, seed)


DEFECTS: Mapping[str, Plant] = {
    NULL: lambda corpus, seed: corpus,
    "shuffle": shuffled,
    "swap 100 %": in_documents(swapped, 1.0),
    "swap 20 %": in_documents(swapped, 0.2),
    "repeat 20 %": in_documents(repeated, 0.2),
    "drop 100 %": in_documents(dropped, 1.0),
    "exchange 100 %": partial(exchanged, share=1.0),
    "exchange 20 %": partial(exchanged, share=0.2),
}
"""Planted defects; those with a share change one section in each of the chosen documents."""

P = dict[tuple[str, str], float]


def p_values(
    critic: Critic[Any],
    split: Split,
    defects: Sequence[str] = tuple(DEFECTS),
    *,
    view: Callable[[Corpus], Corpus] = lambda corpus: corpus,
    statistics: Sequence[str] = (),
) -> P:
    """p of each (defect, statistic) of a fitted critic, unpaired.

    Parameters
    ----------
    view
        How the critic gets the documents, after the defect was planted (`running`, `untitled`).
    statistics
        Statistics beside the headline.
    """
    settled(critic, [view(split.real), view(split.other)])
    wanted = (headline_of(critic), *statistics)
    real = critic.score(view(split.real))
    found: P = {}
    for defect in defects:
        other = critic.score(view(DEFECTS[defect](split.other, split.seed)))
        verdicts = judge(
            critic, real, other, paired=False, seed=split.seed, permutations=1999, resamples=99,
            only_headline=not statistics,
        )  # fmt: skip
        for v in verdicts:
            if v.statistic in wanted:
                found[defect, v.statistic] = 1.0 if v.p is None else v.p
    return found


def table(rows: Mapping[str, tuple[Sequence[P], str]]) -> str:
    """Markdown: splits found at p ≤ .01 of each row, (p-values of its splits, the statistic)."""
    named = [d for d in DEFECTS if any((d, s) in p for every, s in rows.values() for p in every)]
    lines = [f"| found at p ≤ {LEVEL:g} | " + " | ".join(named) + " |", "|---|" + "---:|" * len(named)]
    for label, (every, statistic) in rows.items():
        cells = []
        for defect in named:
            ps = [p[defect, statistic] for p in every if (defect, statistic) in p]
            cells.append(f"{sum(p <= LEVEL for p in ps)}/{len(ps)}" if ps else "–")
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
