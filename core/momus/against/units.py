"""The units that a comparison of two texts of models counts: groups, else prompts, else documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from momus.critic.scores import Scores
from momus.inference.matching import FEWEST_GROUPS, MATCHED, pools_of
from momus.numeric.types import Floats, Ints

Side = tuple[sparse.csr_array, sparse.csr_array]
"""A matrix for each text."""


@dataclass(frozen=True)
class Pairs:
    """The units of a comparison of two texts.

    Attributes
    ----------
    prompts
        Prompts in common; empty where there are fewer than two.
    means
        For each text, CSR (rows, documents): the weight of each document in the mean of its row. Rows are prompts, or
        scored documents where there are no prompts.
    units
        For each text, CSR (units, rows): the weight of each row in the mean of its unit, where units are coarser than
        rows: groups of prompts or documents, or documents of one prompt. None where rows are the units.
    paired
        Whether the units of both texts are the same, in the same order.
    """

    prompts: tuple[str, ...]
    means: Side
    units: Side | None
    paired: bool

    @classmethod
    def of(cls, old: Scores, new: Scores) -> Pairs:
        """The units of the scored documents."""
        sides = old, new
        # an unscored document has no part in the mean of its prompt
        prompts = [[p if s else None for p, s in zip(x.prompts, x.scored, strict=True)] for x in sides]
        units = units_of(sides)
        common = sorted({p for p in prompts[0] if p is not None} & {p for p in prompts[1] if p is not None})
        if len(common) >= 2:
            number = {p: i for i, p in enumerate(common)}
            means = tuple(_averages([number.get(p, -1) if p else -1 for p in side], len(common)) for side in prompts)
            # all documents of a prompt are of one unit, in both texts
            of_prompt = {p: u for p, u in zip(prompts[0], units[0].tolist(), strict=True) if p in number}
            average = _coarser(np.array([of_prompt[p] for p in common]))
            return cls(tuple(common), (means[0], means[1]), None if average is None else (average, average), True)
        rows = [np.flatnonzero(x.scored) for x in sides]
        alone = tuple(
            _averages(np.where(x.scored, np.cumsum(x.scored) - 1, -1), len(r)) for x, r in zip(sides, rows, strict=True)
        )
        of_row = [u[r] for u, r in zip(units, rows, strict=True)]
        shared = np.intersect1d(of_row[0], of_row[1])
        fewest = min(of_row, key=len)
        if len(shared) >= FEWEST_GROUPS and np.isin(fewest, shared).sum() >= MATCHED * len(fewest):
            matched = [np.where(np.isin(u, shared), np.searchsorted(shared, u), -1) for u in of_row]
            return cls((), (alone[0], alone[1]), tuple(_averages(f, len(shared)) for f in matched), True)
        coarse = [_coarser(u) for u in of_row]
        if all(c is None for c in coarse):
            return cls((), (alone[0], alone[1]), None, False)
        whole = [
            sparse.eye_array(len(u), format="csr") if c is None else c for c, u in zip(coarse, of_row, strict=True)
        ]
        return cls((), (alone[0], alone[1]), (whole[0], whole[1]), False)

    def averaged(self, rows: Sequence[sparse.sparray | Floats]) -> list[sparse.sparray | Floats]:
        """Means by unit, for each text, of means by row."""
        return list(rows) if self.units is None else [u @ x for u, x in zip(self.units, rows, strict=True)]


def units_of(sides: Sequence[Scores]) -> list[Ints]:
    """The unit of each document of several texts: its group, else its prompt, else itself; the same number for each."""
    names = [str(k) for k in range(len(sides))]
    prompts = {name: x.prompts for name, x in zip(names, sides, strict=True)}
    groups = {name: x.groups for name, x in zip(names, sides, strict=True)}
    pooled = pools_of(prompts, groups).units
    return [pooled[name] for name in names]


def of_units(units: Ints, values: Floats) -> Floats:
    """Sums of values by unit, those of units without a document left out."""
    numbers = np.unique(units, return_inverse=True)[1]
    return np.bincount(numbers, weights=values).astype(np.float64)


def _coarser(units: Ints) -> sparse.csr_array | None:
    """The mean over the rows of each unit, (units, rows); None where each row is one."""
    numbers = np.unique(units, return_inverse=True)[1]
    size = int(numbers.max(initial=-1)) + 1
    return None if size == len(units) else _averages(numbers, size)


def _averages(numbers: Sequence[int] | Ints, size: int) -> sparse.csr_array:
    """The mean over the rows of each number, (size, rows); those with −1 have no part."""
    numbers = np.asarray(numbers, dtype=np.int64)
    held = np.flatnonzero(numbers >= 0)
    counts = np.bincount(numbers[held], minlength=size)
    weights = 1.0 / counts[numbers[held]]
    return sparse.csr_array((weights, (numbers[held], held)), shape=(size, len(numbers)))  # rows sum to 1
