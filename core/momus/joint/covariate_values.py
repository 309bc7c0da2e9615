"""Covariates of documents: values of a critic or of a metadata field, and the units that documents form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from momus.errors import UsageError
from momus.inference.adjustment import Column
from momus.joint.axes import Axis
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus


@dataclass(frozen=True)
class Covariate:
    """One number or name per document of both texts; NaN or None where it is missing."""

    name: str
    real: Column
    generated: Column


def units_of(
    prompts: tuple[Sequence[str | None], Sequence[str | None]],
    groups: tuple[Sequence[str | None], Sequence[str | None]],
) -> tuple[Ints, Ints] | None:
    """Number the independent unit of each document: its group, else its prompt, else itself; None if all are single.

    >>> units_of((["a", "a", None], ["b"]), ([], []))
    (array([0, 0, 1]), array([0]))
    """
    numbers = []
    for asked, named in zip(prompts, groups, strict=True):
        of_group = list(named) or [None] * len(asked)
        keys = [
            ("group", g) if g is not None else ("prompt", p) if p is not None else ("document", str(i))
            for i, (g, p) in enumerate(zip(of_group, asked, strict=True))
        ]
        order = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        numbers.append(np.array([order[key] for key in keys], dtype=np.int64))
    if all(max(Counter(side.tolist()).values(), default=0) <= 1 for side in numbers):
        return None
    return numbers[0], numbers[1]


def covariate(name: str, axes: Sequence[Axis], real: Corpus, generated: Corpus) -> Covariate:
    """Find a covariate by the name of a critic of documents, else by that of a metadata field.

    Raises
    ------
    UsageError
        No critic has the name, and no document of one of the texts the field.
    """
    for axis in axes:
        if axis.critic == name:
            return Covariate(name, axis.values[real.name], axis.values[generated.name])
    sides = [corpus.field(name) for corpus in (real, generated)]
    for corpus, side in zip((real, generated), sides, strict=True):
        if all(value is None for value in side):
            known = ", ".join(axis.critic for axis in axes) or "none"
            raise UsageError(
                f"cannot adjust for {name!r}: no critic of documents has this name, and no document of "
                f"{corpus.name!r} has such a field",
                hint=f"critics of documents that run are: {known}; a metadata field must be read with both texts",
            )
    numbers = [_numbers(side) for side in sides]
    if numbers[0] is not None and numbers[1] is not None:
        return Covariate(name, numbers[0], numbers[1])
    return Covariate(name, sides[0], sides[1])


def _numbers(side: Sequence[str | None]) -> Floats | None:
    """The values of a field as numbers, if all are."""
    try:
        return np.array([np.nan if value is None else float(value) for value in side])
    except ValueError:
        return None
