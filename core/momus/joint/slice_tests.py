"""The tests of slices: differences by slice and their relabellings, of one critic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from momus.critic import Critic
from momus.critic.scores import Scores
from momus.inference.samples import indicator
from momus.inference.spread import PAIR, between
from momus.inference.weights import CHUNK, chunks
from momus.joint.gap import Ratio
from momus.joint.partners import Cells, Measure, Units, measures, shuffled
from momus.joint.slices import FEWEST, Codes, Slice, Slices, deviates
from momus.numeric.types import Floats, Ints
from momus.verdicts.settings import Settings

RELABELLINGS = 999
MOVED, LONGEST = 3, 200
"""Prompts of a slice that are named, and characters of each."""
ZEROS = 0.1
"""The most values of 0 of which logs of means are taken."""
RAISED = 3.0
"""Standard errors of its own variance by which that of few documents may be raised to that of all slices."""


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
    by_text = []
    for k, other in enumerate(scored[1:], 1):
        units = Units.of(scored[0], other, settings.paired)
        for of_field in codes:
            sides = of_field.numbers[0], of_field.numbers[k]
            texts = scored[0].prompts, other.corpus
            by_text.append(_of_field(critic, known, k, units, sides, of_field, texts, settings))
    return tuple(by_text)


def _of_field(
    critic: Critic[Any],
    known: Sequence[Measure],
    k: int,
    units: Units,
    sides: tuple[Ints, Ints],
    of_field: Codes,
    texts: tuple[Sequence[str | None], str],
    settings: Settings,
) -> Slices:
    prompts, generated = texts
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
        place = slice(number * CHUNK, number * CHUNK + count)
        for _, table in tables_of:
            for family, largest in enumerate(table.relabelled(labels)):
                maxima[family][place] = np.maximum(maxima[family][place], largest)
    # the later of several documents of a prompt name it likewise
    named = dict(zip(units.real.tolist(), prompts, strict=True)) if units.matched else {}
    cell_names = [named.get(unit) for unit in cells.units[0].tolist()]
    rows = [c for m, table in tables_of for c in _cells_of(critic, m, table, of_field.names, cell_names)]
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
        # what rounding leaves of equal values is no difference, which would have no variance either
        d = np.where(np.abs(b - a) > 1e-12 * np.abs(x).max(initial=0.0), b - a, 0.0)
        return d, va + vb, ours[0] + theirs[0] - 2

    def ratios(self) -> Floats:
        """The fields of the `Ratio` of each slice, (K, 4).

        The variance of the log is raised to that of all slices, by `RAISED` of its own standard errors at most.
        """
        moments = np.array([self._moments(i) for i in range(len(self.kept))])  # (K, 6)
        real, covariance, variance, skewness, of_variance, n = moments.T
        log, held = np.zeros((len(n), 2)), (variance > 0) & np.isfinite(variance)
        tested = np.concatenate([x[s >= 0] for x, s in zip((self.real, self.generated), self.slices, strict=True)])
        if held.any() and tested.min() >= 0 and (tested == 0).mean() <= ZEROS:
            most = variance * (1 + RAISED * np.sqrt(max(of_variance[held].mean(), 0.0)))
            raised = np.maximum(variance, np.minimum((variance * n)[held].mean() / n, most))
            log[held] = np.column_stack([np.sqrt(raised), np.full(len(n), min(skewness[held].mean(), 0.0))])[held]
        return np.column_stack([np.sqrt(real), covariance, log])

    def _moments(self, i: int) -> tuple[float, ...]:
        """Of slice i: variance of the old mean, its covariance with the difference, and moments of the log of both."""
        sides = [x[s == i] for x, s in zip((self.real, self.generated), self.slices, strict=True)]
        # by how much each cell moves the mean of its text
        a, b = ((x - x.mean()) / np.sqrt(len(x) * (len(x) - 1)) for x in sides)
        if not self.matched:
            a, b = np.append(a, 0 * b), np.append(0 * a, b)
        real, covariance = a @ a, (b - a) @ a
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = a / sides[0].mean(), b / sides[1].mean()
            r = b - a
            variance = r @ r
            # the third cumulant has a term of the curvature of both logs; below 0, falls look too large
            cumulant = ((r**3).sum() + 3 * ((a @ r) ** 2 - (b @ r) ** 2)) / variance**1.5
            of_variance = (r**4).sum() / variance**2 - 1 / len(r)
        return real, covariance, variance, cumulant / 2, of_variance, 1 / sum(1 / len(x) for x in sides)

    def moved(self, i: int, prompts: Sequence[str | None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The first prompts of slice i whose answers fell most, and rose most."""
        rows = np.flatnonzero(self.slices[0] == i) if self.matched else np.arange(0)
        d = (self.generated - self.real)[rows] if self.matched else np.zeros(0)
        first = (k[x[k] < 0][:MOVED] for x in (d, -d) for k in (np.argsort(x, kind="stable"),))
        fell, rose = (tuple(p[:LONGEST] for k in side if (p := prompts[rows[k]])) for side in first)
        return fell, rose

    def rest(self, d: Floats, v: Floats) -> tuple[Floats, Floats]:
        """The difference in all other slices together, by slice, and its variance."""
        n = np.minimum(*self.counts())
        others = n.sum() - n
        with np.errstate(divide="ignore", invalid="ignore"):
            return ((n * d).sum(axis=0) - n * d) / others, ((n**2 * v).sum(axis=0) - n**2 * v) / others**2

    def relabelled(self, labels: Floats) -> tuple[Floats, Floats]:
        """The largest deviate of each relabelling, (B,): of differences, and from the other slices."""
        moved = np.nan_to_num(deviates(*self.differences(False, labels))).max(axis=0)
        d, v, freedom = self.differences(True, labels)
        rest, variance = self.rest(d, v)
        apart = np.nan_to_num(deviates(d - rest, v + np.maximum(variance, 0.0), freedom)).max(axis=0)
        return moved, apart if len(self.kept) > 1 else np.zeros_like(moved)


def _mean_and_variance(sums: Floats, squares: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Means, and the variances of means; what is left of equal values by rounding is no variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / n
        scatter = squares - n * mean**2
        return mean, np.where(scatter > 1e-12 * squares, scatter, 0.0) / ((n - 1) * n)


def _cells_of(
    critic: Critic[Any], m: Measure, table: Table, names: Sequence[str], prompts: Sequence[str | None]
) -> list[Slice]:
    d, v, freedom = (np.broadcast_to(x, (len(table.kept), 1))[:, 0] for x in table.differences())
    rest, rest_v = (x[:, 0] for x in table.rest(d[:, None], v[:, None])) if len(d) > 1 else (np.zeros(1), np.zeros(1))
    n = [c[:, 0] for c in table.counts()]
    sides = zip((table.real, table.generated), table.slices, n, strict=True)
    values = [table.sums(x[:, None], s)[:, 0] / c for x, s, c in sides]
    held = table.real[table.slices[0] >= 0]
    shrunk = _shrunk(d, v, freedom)
    ratios = [Ratio(*row) for row in table.ratios().tolist()]
    scale = float(held.std(ddof=1))
    return [
        Slice(
            critic=critic.name,
            axis=critic.axis,
            statistic=m.statistic.name,
            wording=m.statistic.wording,
            name=names[int(number)],
            n_real=int(n[0][i]),
            n_generated=int(n[1][i]),
            real_value=float(values[0][i]),
            generated_value=float(values[1][i]),
            difference=float(d[i]),
            error=float(np.sqrt(v[i])),
            freedom=float(freedom[i]),
            shrunk=float(shrunk[i]),
            rest=float(rest[i]),
            rest_error=float(np.sqrt(v[i] + max(rest_v[i], 0.0))),
            scale=scale,
            leading=critic.reporting.leading,
            ratio=ratios[i],
            moved=table.moved(i, prompts),
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
