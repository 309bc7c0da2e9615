"""Slices: the difference between two texts in each value of a field, such as the task, judged in all of them at once.

The statistics are those of each critic that are means over documents. Each prompt (or group, or document) counts once.
Largest standardised differences over all statistics, axes and slices are taken from common relabellings within slices
(max-T, Westfall & Young 1993), so that intervals hold at once, however many slices there are. A second family asks
whether a slice differs from all others together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from momus.critic.scores import Scores
from momus.evidence import Wording
from momus.inference.samples import indicator
from momus.inference.spread import PAIR, between
from momus.inference.weights import chunks
from momus.joint.partners import Cells, Measure, Units, measures, shuffled
from momus.joint.sliced import Codes
from momus.numeric.types import Floats, Ints
from momus.verdicts.settings import Settings

if TYPE_CHECKING:
    from momus.critic import Critic

FEWEST = 10
"""Units per side that a slice needs to be tested."""
RELABELLINGS = 999
MOST = 1e6
"""Largest standardised difference, of values that do not vary."""


@dataclass(frozen=True)
class Slice:
    """One statistic in one slice.

    Attributes
    ----------
    name
        The value of the field.
    n_real, n_generated
        Prompts, groups or documents of each text in the slice.
    real_value, generated_value
        Means over these.
    difference, low, high
        generated − real, with its interval; those of all slices, statistics and axes hold at once.
    error, freedom
        Standard error of the difference and its degrees of freedom.
    shrunk
        The difference drawn to the mean of all slices, by the spread τ between slices and its own error (random
        effects, as for bands).
    rest, rest_error
        The difference in all other slices together, and the standard error of what the slice differs from it by.
    p, p_rest
        Adjusted over all slices, statistics and axes: of no difference, and of no other difference than elsewhere.
    scale
        Standard deviation of the units of the reference over all slices.
    effect_kind
        Effect of the statistic, in whose unit bands are.
    """

    critic: str
    axis: str
    statistic: str
    wording: Wording
    name: str
    n_real: int
    n_generated: int
    real_value: float
    generated_value: float
    difference: float
    error: float
    freedom: float
    shrunk: float
    rest: float
    rest_error: float
    scale: float
    effect_kind: str
    low: float = 0.0
    high: float = 0.0
    p: float = 1.0
    p_rest: float = 1.0

    @property
    def size(self) -> float:
        """The difference as a normal deviate."""
        return normal(abs(self.difference), self.error, self.freedom)

    @property
    def apart(self) -> float:
        """What it differs from all other slices by, as a normal deviate."""
        return normal(abs(self.difference - self.rest), self.rest_error, self.freedom)

    def stands_out(self, alpha: float) -> bool:
        """Whether the slice differs, and more than, or otherwise than, the others together."""
        beyond = (self.difference - self.rest) * self.difference > 0
        return self.p <= alpha and self.p_rest <= alpha and beyond


@dataclass(frozen=True)
class Slices:
    """All slices of one field of one generated text, of one critic or of all.

    Attributes
    ----------
    by
        The field.
    cells
        One per statistic and slice that is tested.
    names, small
        All slices, and those with too few documents to be tested.
    maxima, rest_maxima
        The largest deviate of each relabelling, of differences and of what slices differ from the others by.
    fields
        Number of fields, among which the level is shared.
    alpha
        Level of the findings.
    """

    generated: str
    by: str
    cells: tuple[Slice, ...]
    names: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    maxima: tuple[float, ...] = field(default=(), repr=False)
    rest_maxima: tuple[float, ...] = field(default=(), repr=False)
    fields: int = 1
    alpha: float = 0.05

    def p_of(self, size: float, rest: bool = False) -> float:
        """The adjusted p-value of a deviate; beyond all relabellings, Bonferroni's bound if that is smaller."""
        maxima = np.asarray(self.rest_maxima if rest else self.maxima)
        if not len(self.cells) or not len(maxima):
            return 1.0
        p = (int((maxima >= size - 1e-9).sum()) + 1) / (len(maxima) + 1)
        if size > maxima.max():
            p = min(p, 2 * len(self.cells) * float(ndtr(-size)))
        return min(1.0, p * self.fields)

    def critical(self, level: float) -> float:
        """The deviate that the largest of all exceeds with this probability."""
        level /= self.fields
        if level * (len(self.maxima) + 1) < 1:
            bound = -float(ndtri(level / (2 * max(len(self.cells), 1))))
            return max(bound, max(self.maxima, default=0.0))
        return float(np.quantile(np.asarray(self.maxima), 1 - level, method="higher"))

    def outstanding(self) -> list[Slice]:
        """Cells of slices that stand out: what a reader can count first, then the largest."""
        found = [c for c in self.cells if c.stands_out(self.alpha)]
        return sorted(found, key=lambda c: (not c.wording.concrete, -c.size))


def normal(difference: float, error: float, freedom: float) -> float:
    """A difference as a normal deviate, of the same p as its t."""
    return float(_deviates(np.array(difference), np.array(error**2), np.array(freedom)))


def _deviates(difference: Floats, variance: Floats, freedom: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(difference == 0, 0.0, np.minimum(np.abs(difference) / np.sqrt(variance), MOST))
    # of slices of few documents, t has heavy tails: deviates of all slices are alike
    return np.asarray(-ndtri(np.maximum(stdtr(np.maximum(freedom, 1.0), -t), 1e-300)))


def slices_of(
    critic: Critic[Any], scored: list[Scores], codes: Sequence[Codes], settings: Settings
) -> tuple[Slices, ...]:
    """The slices of a critic, not adjusted over critics yet; none if its rows are not documents.

    Parameters
    ----------
    scored
        Scores of the reference and of each generated text.
    codes
        The slice of each document of all texts, by field.
    """
    known = measures(critic, scored)
    if not known or not codes:
        return ()
    found = []
    for k, other in enumerate(scored[1:], 1):
        units = Units.of(scored[0], other, settings.paired)
        for of_field in codes:
            sides = of_field.numbers[0], of_field.numbers[k]
            found.append(_of_field(critic, known, k, units, sides, of_field, other.corpus, settings))
    return tuple(found)


def _of_field(
    critic: Critic[Any],
    known: Sequence[Measure],
    k: int,
    units: Units,
    sides: tuple[Ints, Ints],
    of_field: Codes,
    generated: str,
    settings: Settings,
) -> Slices:
    size = len(of_field.names)
    cells = Cells.of(units, sides, size)
    counts = np.array([np.bincount(side, minlength=size) for side in cells.slices])  # (2, K)
    large = np.flatnonzero(counts.min(axis=0) >= FEWEST)
    small = tuple(of_field.names[i] for i in range(size) if i not in set(large.tolist()))
    tables = [Table.of(cells.means(m.values[0], m.values[k]), cells.slices, large, units.matched) for m in known]
    tables_of = [(m, t) for m, t in zip(known, tables, strict=True) if len(t.kept)]
    maxima = [np.zeros(RELABELLINGS), np.zeros(RELABELLINGS)]
    for number, count in chunks(0, RELABELLINGS if tables_of else 0):
        labels: Floats
        if units.matched:
            labels = units.signs(settings.seed, number, count)[cells.units[0]]
        else:
            labels = shuffled(cells.slices, settings.seed, number, count)
        place = slice(number * 64, number * 64 + count)
        for _, table in tables_of:
            for family, deviates in enumerate(table.relabelled(labels)):
                maxima[family][place] = np.maximum(maxima[family][place], deviates)
    rows = [c for m, table in tables_of for c in _cells_of(critic, m, table, of_field.names)]
    kept = [tuple(np.round(side, 4).tolist()) if rows else () for side in maxima]
    return Slices(generated, of_field.name, tuple(rows), of_field.names, small, kept[0], kept[1])


@dataclass(frozen=True)
class Table:
    """The values of one statistic by cell, and how they are summed by slice.

    Attributes
    ----------
    real, generated
        Means of cells, 0 where they are missing: (cells,).
    slices
        The slice of each cell, −1 where it is not tested or has no value.
    kept
        Numbers of the slices that are tested, K of them, in the order of rows of all that follows.
    """

    real: Floats
    generated: Floats
    slices: tuple[Ints, Ints]
    kept: Ints
    matched: bool

    @classmethod
    def of(cls, values: tuple[Floats, Floats], slices: tuple[Ints, Ints], large: Ints, matched: bool) -> Table:
        """From the means of cells, NaN where there are none."""
        finite = [np.isfinite(v) for v in values]
        if matched:
            finite = [finite[0] & finite[1]] * 2
        size = int(max((s.max(initial=-1) for s in slices), default=-1)) + 1
        counts = np.array([np.bincount(s[f], minlength=size) for s, f in zip(slices, finite, strict=True)])
        kept = np.array([i for i in large.tolist() if counts[:, i].min() >= FEWEST], dtype=np.int64)
        place = np.full(size, -1)
        place[kept] = np.arange(len(kept))
        a, b = (np.where(f, place[s], -1) for s, f in zip(slices, finite, strict=True))
        real, generated = (np.where(f, v, 0.0) for v, f in zip(values, finite, strict=True))
        return cls(real, generated, (a, b), kept, matched)

    def sums(self, values: Floats, numbers: Ints) -> Floats:
        """Sums over the cells of each slice, of values (cells, B): (K, B)."""
        held = numbers >= 0
        return np.asarray(indicator(numbers[held], len(self.kept), np.ones(int(held.sum()))) @ values[held])

    def counts(self) -> tuple[Floats, Floats]:
        """Cells of each text in each slice, (K, 1)."""
        a, b = (np.bincount(s[s >= 0], minlength=len(self.kept))[:, None].astype(np.float64) for s in self.slices)
        return a, b

    def differences(self, centred: bool = False, labels: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """Differences of means by slice, their variances and degrees of freedom, under labels: (K, B) each.

        With ``centred``, the mean difference over all cells is taken off first.
        """
        difference = self._matched if self.matched else self._apart
        return difference(centred, labels)

    def _matched(self, centred: bool, labels: Floats | None) -> tuple[Floats, Floats, Floats]:
        numbers, n = self.slices[0], self.counts()[0]
        d = (self.generated - self.real)[:, None]
        if centred:
            d = d - d[numbers >= 0].mean()
        moved = d if labels is None else d * labels
        return (*_mean_and_variance(self.sums(moved, numbers), self.sums(d**2, numbers), n), n - 1)

    def _apart(self, centred: bool, labels: Floats | None) -> tuple[Floats, Floats, Floats]:
        numbers = np.concatenate(self.slices)
        x = np.concatenate([self.real, self.generated])[:, None]
        real = (np.arange(len(x)) < len(self.real)).astype(np.float64)[:, None]
        # sums of squares lose digits where values are large beside their spread
        x = x - x[numbers >= 0].mean()
        if centred:
            sides = [x[(numbers >= 0) & (real[:, 0] == side)].mean() for side in (1.0, 0.0)]
            x = x - (sides[1] - sides[0]) * (1 - real)
        labels = real if labels is None else labels
        n = self.sums(labels, numbers)
        whole = [self.sums(c, numbers) for c in (np.ones_like(x), x, x * x)]
        ours = [n, self.sums(labels * x, numbers), self.sums(labels * x * x, numbers)]
        theirs = [w - o for w, o in zip(whole, ours, strict=True)]
        (a, va), (b, vb) = (_mean_and_variance(s, q, m) for m, s, q in (ours, theirs))
        return b - a, va + vb, ours[0] + theirs[0] - 2

    def rest(self, d: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The difference in all other slices together, by slice, and its variance."""
        n = np.minimum(*self.counts())
        others = n.sum() - n
        with np.errstate(divide="ignore", invalid="ignore"):
            return ((n * d).sum(axis=0) - n * d) / others, ((n**2 * v).sum(axis=0) - n**2 * v) / others**2

    def relabelled(self, labels: Floats) -> tuple[Floats, Floats]:
        """The largest deviate of each relabelling, (B,): of differences, and from the other slices."""
        deviates = np.nan_to_num(_deviates(*self.differences(False, labels))).max(axis=0)
        d, v, freedom = self.differences(True, labels)
        rest, variance = self.rest(d, v)
        apart = np.nan_to_num(_deviates(d - rest, v + np.maximum(variance, 0.0), freedom)).max(axis=0)
        return deviates, apart if len(self.kept) > 1 else np.zeros_like(deviates)


def _mean_and_variance(sums: Floats, squares: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Means, and the variances of means; what is left of equal values by rounding is no variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / n
        scatter = squares - n * mean**2
        return mean, np.where(scatter > 1e-12 * squares, scatter, 0.0) / ((n - 1) * n)


def _cells_of(critic: Critic[Any], m: Measure, table: Table, names: Sequence[str]) -> list[Slice]:
    d, v, freedom = (np.broadcast_to(x, (len(table.kept), 1))[:, 0] for x in table.differences())
    rest, rest_v = (x[:, 0] for x in table.rest(d[:, None], v[:, None])) if len(d) > 1 else (np.zeros(1), np.zeros(1))
    n = [c[:, 0] for c in table.counts()]
    sides = zip((table.real, table.generated), table.slices, n, strict=True)
    values = [table.sums(x[:, None], s)[:, 0] / c for x, s, c in sides]
    held = table.real[table.slices[0] >= 0]
    shrunk = _shrunk(d, v, freedom)
    wording = m.statistic.wording
    return [
        Slice(
            critic.name,
            critic.axis,
            m.statistic.name,
            wording,
            names[int(number)],
            *(int(c[i]) for c in n),
            *(float(x[i]) for x in values),
            float(d[i]),
            float(np.sqrt(v[i])),
            float(freedom[i]),
            float(shrunk[i]),
            float(rest[i]),
            float(np.sqrt(v[i] + max(rest_v[i], 0.0))),
            float(held.std(ddof=1)),
            m.statistic.effect,
        )
        for i, number in enumerate(table.kept)
    ]


def _shrunk(d: Floats, v: Floats, freedom: Floats) -> Floats:
    """Differences drawn to their mean, by τ between slices (Paule & Mandel 1982) and the error of each."""
    if len(d) < 3:
        return d
    tau2 = (between(d, v, float(freedom.mean())).value / PAIR) ** 2
    total = tau2 + v
    weights = 1 / np.where(total > 0, total, max(float(total.max()), 1.0))
    centre = float(weights @ d / weights.sum())
    return np.asarray(np.where(total > 0, centre + tau2 / np.where(total > 0, total, 1.0) * (d - centre), d))


def together(of_critics: Sequence[Slices], alpha: float) -> tuple[Slices, ...]:
    """Put together the slices of all critics, by text and field, with p-values and intervals adjusted over all."""
    fields = len({s.by for s in of_critics})
    whole = []
    for generated, by in dict.fromkeys((s.generated, s.by) for s in of_critics):
        several = [s for s in of_critics if (s.generated, s.by) == (generated, by)]
        filled = [s for s in several if s.cells]
        joined = replace(
            several[0],
            cells=tuple(c for s in filled for c in s.cells),
            maxima=_largest([s.maxima for s in filled]),
            rest_maxima=_largest([s.rest_maxima for s in filled]),
            fields=fields,
            alpha=round(alpha, 12),
        )
        critical = joined.critical(alpha) if joined.cells else 0.0
        cells = [
            replace(
                c,
                low=c.difference - reach(c, critical),
                high=c.difference + reach(c, critical),
                p=joined.p_of(c.size),
                p_rest=joined.p_of(c.apart, rest=True),
            )
            for c in joined.cells
        ]
        whole.append(replace(joined, cells=tuple(cells)))
    return tuple(whole)


def reach(c: Slice, critical: float) -> float:
    """How far the interval of a cell reaches, at a deviate that is critical."""
    return -float(stdtrit(max(c.freedom, 1.0), max(float(ndtr(-critical)), 1e-300))) * c.error


def _largest(maxima: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(np.max(np.array(maxima), axis=0).tolist()) if maxima else ()
