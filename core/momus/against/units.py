"""The units that a comparison of two texts of models counts, and the band of a model: how far its halves lie apart.

Units are groups, else prompts, else documents. Where the reference is text of a model, no author gives differences a
scale. What does is the reference itself: 95 % of random halves of its prompts lie no farther apart than 1. Where
prompts have several documents each, the halves are of the documents of each prompt: repeated generations. Unlike the
band of people, this one falls as prompts are added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import sparse

from momus.critic import Counted, Rows, Statistic
from momus.critic.scores import Scores
from momus.inference.matching import FEWEST_GROUPS, MATCHED, pools_of, unit_keys
from momus.inference.samples import Rows as Table
from momus.inference.spread import PAIR, Spread
from momus.numeric.types import Floats, Ints
from momus.verdicts.band import HumanBands, between_sums, form_of, values_of_sums

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


HALVES = 200
"""Random halves."""
LEAST_UNITS = 8
"""Smallest number of prompts (documents, generations) that a band is estimated from."""
REPEATED = 0.9
"""From this share of prompts with several documents on, halves are of the documents of each prompt."""
_OWN = 9
"""Number that keeps the random stream of the halves apart."""


@dataclass
class OwnBands(HumanBands):
    """Spreads of the statistics of one critic between halves of the reference, each estimated at most once.

    Parameters
    ----------
    prompts
        The prompt of each scored document of the reference, or None.

    >>> rng = np.random.default_rng(0)
    >>> rows = np.column_stack([rng.normal(size=400), np.ones(400)])
    >>> from momus.critic.statistic import mean
    >>> spread = OwnBands([], 0, prompts=[None] * 400).of(Statistic("x", "x", "value", mean), rows)
    >>> abs(spread.value - 1.96 * 2 / 20) < 0.03, spread.groups
    (True, 400)
    """

    of_reference: ClassVar[bool] = True

    prompts: Sequence[str | None] = ()
    summed: tuple[Rows, list[Table]] | None = field(default=None, init=False, repr=False)

    @property
    def units(self) -> Ints:
        """The unit of each document, (n,): its group, else its prompt, else itself."""
        keys = unit_keys(self.groups or [None] * len(self.prompts), self.prompts, "document")
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)

    def sides(self, halves: int = HALVES) -> Floats:
        """Which documents are in the first half, 0 or 1: (halves, n)."""
        units = self.units
        n, sizes = len(units), np.bincount(units)
        rng = np.random.default_rng([self.seed, _OWN])
        if not self.groups and len(sizes) and np.mean(sizes > 1) >= REPEATED:
            # ranks of random numbers within each prompt: even ones on one side
            order = np.argsort(units[None, :] + rng.random((halves, n)), axis=1)
            first = np.cumsum(sizes) - sizes  # first place of each prompt in `order`
            place = np.arange(n) - np.repeat(first, sizes)
            sides = np.zeros((halves, n))
            np.put_along_axis(sides, order, (place % 2 == 0).astype(np.float64)[None, :].repeat(halves, 0), axis=1)
            return sides
        ranks = np.argsort(rng.random((halves, len(sizes))), axis=1)  # a random permutation of units for each half
        return np.asarray((ranks < len(sizes) // 2)[:, units], dtype=np.float64)

    def estimated(self, s: Statistic, rows: Rows) -> Spread | None:
        """The distance that 95 % of halves do not exceed, on the scale of the statistic."""
        count = len(np.unique(self.units)) if len(self.prompts) else 0
        if count < LEAST_UNITS:
            return None
        sums = self._sums(rows)
        pairs = np.arange(HALVES)
        with np.errstate(divide="ignore", invalid="ignore"):
            if s.kind == "distance":
                both = sparse.vstack(sums, format="csr") if isinstance(rows, Counted) else np.concatenate(sums)
                # rows i and i + HALVES are the two halves of one split
                apart = between_sums(s, both, pairs, pairs + HALVES)
            else:
                a, b = (values_of_sums(s, side) for side in sums)
                apart = np.log(a / b) if s.effect == "log_ratio" else a - b
        apart = apart[np.isfinite(apart)]
        # a statistic that most halves lack (no word of a kind) has no band
        if len(apart) < HALVES / 2:
            return None
        if s.kind == "distance":
            # less chance, as between authors (`momus.inference.spread.of_distances`)
            power = 2.0 if form_of(s) == "linear" else 1.0
            excess = float(np.quantile(apart, 0.95) ** power - np.mean(apart**power))
            value = max(excess, 0.0) ** (1 / power)
        else:
            # PAIR/√2 is 1.96: the difference of halves has mean 0, so its root mean square is its standard deviation
            value = PAIR / math.sqrt(2) * float(np.sqrt(np.mean(apart**2)))
        error = 1.96 / math.sqrt(2 * (count - 1))  # relative error of a standard deviation from so many units
        usable = value > 0 and math.isfinite(value)
        return Spread(value, value * (1 - error), value * (1 + error), count) if usable else None

    def _sums(self, rows: Rows) -> list[Table]:
        """Rows summed by half, (HALVES, columns) each; kept for the next statistic, which often has the same rows."""
        if self.summed is None or self.summed[0] is not rows:
            one = self.sides()  # (HALVES, n)
            table = rows.matrix if isinstance(rows, Counted) else np.asarray(rows, dtype=np.float64)
            sums = [
                sparse.csr_array(side) @ table if isinstance(rows, Counted) else side @ table for side in (one, 1 - one)
            ]
            self.summed = rows, sums
        return self.summed[1]
