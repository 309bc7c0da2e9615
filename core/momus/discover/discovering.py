"""Discoveries: half of the prompts propose what tells two texts apart, and the other half verifies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from momus.discover.covariates import design_within
from momus.discover.proposing import Vocabulary, propose
from momus.discover.verifying import Discovery, labelled, verify
from momus.discover.wordings import Wordings
from momus.errors import UsageError
from momus.inference.matching import unit_keys
from momus.numeric.types import Ints
from momus.progress import Reporter, Silent
from momus.text.corpus import Corpus
from momus.text.counting import counted

FEWEST = 20
"""Documents of each text, in each half, that discoveries are made from."""
_HALVES = 41


@dataclass(frozen=True)
class Discoveries:
    """What was proposed and verified.

    Attributes
    ----------
    reference, generated
        Names of the texts.
    design
        The units of the test: ``pairs``, ``prompts``, ``clusters`` or ``documents``; ``bins`` of covariates.
    units
        Numbers of units that verified, of both texts.
    documents
        Documents that verified, of both texts; those without a partner or alike in the covariates are left out.
    control_for
        Covariates within which the texts were compared.
    level
        Chance, if the texts do not differ, that anything is called verified.
    verified, unverified
        By size and weight; what was proposed and did not hold is listed, too.
    proposing
        Ids of the documents that proposed, of both texts: those that another proposer may be shown.
    """

    reference: str
    generated: str
    design: str
    units: tuple[int, int]
    documents: tuple[int, int]
    level: float
    seed: int
    verified: tuple[Discovery, ...]
    unverified: tuple[Discovery, ...]
    proposing: tuple[Sequence[str], Sequence[str]] = field(repr=False, default=((), ()))
    control_for: tuple[str, ...] = ()


def discover(
    reference: Corpus,
    generated: Corpus,
    proposals: Mapping[str, Mapping[tuple[str, str], set[str]]] | None = None,
    *,
    control_for: Sequence[str] = (),
    level: float = 0.05,
    seed: int = 0,
    reporter: Reporter | None = None,
) -> Discoveries:
    """Find predicates of documents that hold more often in one of two texts, and verify them on other prompts.

    Parameters
    ----------
    reference, generated
        Documents; those of one prompt, group or id are in one half.
    proposals
        Predicates that another tool found: by source, the labels of the documents by (text, id), see
        `momus.discover.files.read_proposals`. They take part beside those found in the texts.
    control_for
        Covariates: fields of documents, such as the task, and ``length`` in words. Texts are compared among documents
        alike in them (`momus.discover.covariates`), so that what follows from another mix of tasks is no discovery.
    level
        Chance that anything is verified where the texts do not differ.

    Raises
    ------
    UsageError
        A half has too few documents, or too few alike in the covariates; a covariate is no field of both texts.

    >>> from momus import Corpus
    >>> old = Corpus.from_texts([f"It is {i} degrees." for i in range(200)], name="old")
    >>> new = Corpus.from_texts([f"Sure! It is {i} degrees." for i in range(200)], name="new")
    >>> sorted(d.features[0].item for d in discover(old, new).verified)[:1]
    ['an exclamation']
    """
    reporter = reporter or Silent()
    first, second = halves(reference, generated, seed)
    for name, rows in zip((reference.name, generated.name), second, strict=True):
        if len(rows) < FEWEST:
            raise UsageError(
                f"half of {name!r} has {counted(len(rows), 'document')}, {FEWEST} are needed",
                hint=f"give at least {2 * FEWEST + 2} documents of each text",
            )
    texts = reference, generated
    with reporter.stage("proposing"):
        proposing = tuple([c[i].text for i in rows.tolist()] for c, rows in zip(texts, first, strict=True))
        design = design_within(control_for, texts, first)
        vocabulary = Vocabulary(proposing[0], proposing[1])
        wordings = Wordings(proposing[0], proposing[1], design)
        proposed = propose(vocabulary.proposing.beside(wordings.proposing), design)
    with reporter.stage("verifying"):
        judged = tuple(corpus.take(rows) for corpus, rows in zip(texts, second, strict=True))
        both = [[document.text for document in corpus] for corpus in judged]
        every = vocabulary.holding(both[0], both[1]).beside(wordings.holding(both[0], both[1]))
        held = every.chosen(proposed) if proposed else None
        sources = ["text"] * len(proposed)
        for source, labels in (proposals or {}).items():
            named = labelled(labels, judged[0], judged[1])
            held = named if held is None else held.beside(named)
            sources += [source] * len(named.features)
        units = design_within(control_for, texts, second)
        results = verify(held, sources, judged, both, units, seed) if held is not None else []
    order = sorted(results, key=lambda d: (-abs(d.difference) * d.weight, d.features))
    return Discoveries(
        reference.name,
        generated.name,
        units.kind,
        units.units,
        (units.n_real, units.n_generated),
        level,
        seed,
        tuple(d for d in order if d.p_adjusted <= level),
        tuple(d for d in order if not d.p_adjusted <= level),
        (reference.take(first[0]).ids, generated.take(first[1]).ids),
        tuple(control_for),
    )


def halves(reference: Corpus, generated: Corpus, seed: int) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Rows of both texts in two halves of their groups, prompts or documents: those of one are in one half."""
    sides = ("first", reference), ("second", generated)
    keys = [unit_keys(text.groups, text.prompts, side, text.ids).tolist() for side, text in sides]
    known = [set(k) for k in keys]
    proposing: set[str] = set()
    rng = np.random.default_rng([seed, _HALVES])
    for of_side in (known[0] & known[1], known[0] - known[1], known[1] - known[0]):
        names = sorted(of_side)
        proposing |= {names[i] for i in rng.permutation(len(names))[: len(names) // 2].tolist()}
    marks = [np.array([key in proposing for key in side], dtype=bool) for side in keys]
    one, other = (tuple(np.flatnonzero(m == value) for m in marks) for value in (True, False))
    return (one[0], one[1]), (other[0], other[1])
