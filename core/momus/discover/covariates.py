"""Covariates of discoveries: texts are compared among documents of one task, or of about one length.

A difference in shares is that within bins of the covariates, each with its Mantel–Haenszel weight, and documents are
relabelled within bins, as by `momus.joint.adjusted`. Texts that answer the same prompts are compared within prompts if
a covariate is one of prompts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.inference.design import Design
from momus.inference.matching import design_of
from momus.joint.adjusted import bin_codes, binned
from momus.joint.axes import covariate, units_of
from momus.joint.slices import fields_of
from momus.numeric.types import Ints
from momus.text.corpus import Corpus

LENGTH = "length"
"""The covariate that every document has: its number of words."""


def design_within(names: Sequence[str], texts: tuple[Corpus, Corpus], rows: tuple[Ints, Ints]) -> Design:
    """The design of some documents of two texts, within bins of the covariates if there are any.

    Raises
    ------
    UsageError
        A name is neither ``length`` nor a field of both texts, or too few documents are alike in the covariates.

    >>> texts = [Corpus.from_texts(["To be."] * 60, name=name).with_field("task", "ab" * 30) for name in "xy"]
    >>> design_within(["task"], (texts[0], texts[1]), (np.arange(60), np.arange(60))).kind
    'bins'
    """
    one, other = (corpus.take(taken) for corpus, taken in zip(texts, rows, strict=True))
    of_units = (one.prompts, other.prompts), (one.groups, other.groups)
    design = design_of(*of_units[0], names=(one.name, other.name), groups=of_units[1])
    if not names:
        return design
    one, other = (c.with_field(LENGTH, [str(len(document.text.split())) for document in c]) for c in (one, other))
    known = fields_of((one, other))
    if unknown := [name for name in names if name not in known]:
        hint = f"known: {', '.join(known)}; other fields must be in the records of both texts"
        raise UsageError(f"{arg('control_for', unknown)}: no field of both texts", hint=hint)
    columns = [covariate(name, (), one, other) for name in names]
    codes = bin_codes([column[0] for column in columns], [column[1] for column in columns])
    if design.together and _of_prompts(codes, design):
        return design
    within, overlap = binned(codes, units_of(*of_units))
    if overlap.refusal == "constant":
        return design
    if within is None:
        raise UsageError(
            f"{arg('control_for', list(names))}: half of {one.name!r} and half of {other.name!r} cannot be compared "
            f"among documents alike in these ({overlap.refusal})",
            hint="give more documents, or name fewer covariates",
        )
    return within


def _of_prompts(codes: tuple[Ints, Ints], design: Design) -> bool:
    """Whether all documents of a prompt are in one bin, so that prompts are the finer bins."""
    rows = design.rows or (np.arange(design.n_real), np.arange(design.n_generated))
    bins = np.concatenate([side[taken] for side, taken in zip(codes, rows, strict=True)])
    pairs = np.column_stack([np.concatenate(design.numbers or rows), bins])  # (documents, 2)
    return len(np.unique(pairs, axis=0)) == len(np.unique(pairs[:, 0]))
