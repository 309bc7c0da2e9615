"""Slices: the difference between two texts in each value of a field, such as the task, judged in all of them at once.

The statistics are those of each critic that are means over documents. Each prompt (or group, or document) counts once.
Largest standardised differences over all statistics, axes and slices are taken from common relabellings within slices
(max-T, Westfall & Young 1993), so that intervals hold at once, however many slices there are. A second family asks
whether a slice differs from all others together. The slice of a document is its value of a metadata field (`codes_of`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from momus.arguments import arg
from momus.errors import UsageError
from momus.evidence import Wording
from momus.joint.gap import Ratio
from momus.numeric.types import Floats, Ints
from momus.reading import ReadingOptions
from momus.text.corpus import Corpus
from momus.verdicts.table import speaking
from momus.verdicts.verdict import Verdict

FEWEST = 10
"""Units per side that a slice needs to be tested."""
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
    leading
        Whether other axes move with that of the critic, as all do with length.
    ratio
        By what limits in percent of the reference are decided.
    moved
        Prompts whose answers moved most, those that fell and those that rose; none without pairs.
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
    leading: bool = False
    ratio: Ratio = field(default_factory=Ratio)
    moved: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
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

    def moved_most(self, side: str = "") -> tuple[str, ...]:
        """Prompts whose answers moved most to ``more`` or ``fewer``, else as the slice did."""
        return self.moved[side != "fewer" if side in ("fewer", "more") else self.difference > 0]

    def stands_out(self, alpha: float) -> bool:
        """Whether the slice differs, and by more than the others together, or the other way."""
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

    @property
    def untested(self) -> list[str]:
        """Slices that are too small, or of whose documents too few have a score."""
        tested = {c.name for c in self.cells}
        return [name for name in self.names if name not in tested]

    def p_of(self, size: float, rest: bool = False) -> float:
        """The adjusted p-value of a deviate; beyond all relabellings, Bonferroni's bound if that is smaller."""
        maxima = np.asarray(self.rest_maxima if rest else self.maxima)
        if not len(self.cells) or not len(maxima):
            return 1.0
        p = (int((maxima >= size - 1e-9).sum()) + 1) / (len(maxima) + 1)
        if size > maxima.max():
            p = min(p, 2 * len(self.cells) * float(ndtr(-size)))
        return min(1.0, p * self.fields)

    def p_beyond(self, size: float, other: float) -> float:
        """p of a deviate beyond a limit on one side; ``other`` is that from the limit on the other side.

        One side has half of p, unless that is below Bonferroni's bound, since differences of statistics that go
        together may lie at limits on both sides.
        """
        p = self.p_of(size)
        bound = self.fields * len(self.cells) * float(ndtr(-size) + ndtr(-other))
        return min(p, max(p * (1 + p) / 2, bound))

    def critical(self, level: float) -> float:
        """The deviate that the largest of all exceeds with this probability."""
        level = min(level / self.fields, 0.99)
        if level * (len(self.maxima) + 1) < 1:
            bound = -float(ndtri(level / (2 * max(len(self.cells), 1))))
            return max(bound, max(self.maxima, default=0.0))
        return float(np.quantile(np.asarray(self.maxima), 1 - level, method="higher"))

    def outstanding(self) -> list[Slice]:
        """Cells of slices that stand out: what a reader can count and others move with first, then the largest."""
        cells = [c for c in self.cells if c.stands_out(self.alpha)]
        return sorted(cells, key=lambda c: (not c.wording.concrete, not c.leading, -c.size))


def normal(difference: float, error: float, freedom: float) -> float:
    """A difference as a normal deviate, of the same p as its t."""
    return float(deviates(np.array(difference), np.array(error**2), np.array(freedom)))


def deviates(difference: Floats, variance: Floats, freedom: Floats) -> Floats:
    """Differences as normal deviates, of the same p as their t."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(difference == 0, 0.0, np.minimum(np.abs(difference) / np.sqrt(variance), MOST))
    # of slices of few documents, t has heavy tails: deviates of all slices are alike
    return np.asarray(-ndtri(np.maximum(stdtr(np.maximum(freedom, 1.0), -t), 1e-300)))


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


def of_axes(s: Slices, verdicts: Sequence[Verdict]) -> list[list[tuple[Slice, float | None]]]:
    """One statistic of each axis in its slices, with shrunk differences in bands of the whole text; None without one.

    It is the statistic of the row that speaks for the axis, where slices have it, else that of the largest difference.
    """
    spoken = {v.critic: v.statistic for v in speaking(verdicts) if v.generated == s.generated}
    rows = {(v.critic, v.statistic): v for v in verdicts if v.generated == s.generated}
    axes: dict[str, dict[str, list[Slice]]] = {}
    for c in sorted(s.cells, key=lambda c: -c.size):
        axes.setdefault(c.critic, {}).setdefault(c.statistic, []).append(c)
    chosen = [axis.get(spoken.get(critic, ""), next(iter(axis.values()))) for critic, axis in axes.items()]
    return [[(c, _in_bands(c, rows.get((c.critic, c.statistic)))) for c in cells] for cells in chosen]


def _in_bands(c: Slice, v: Verdict | None) -> float | None:
    band = in_units(v, v.band, c.real_value, c.difference > 0, c.scale) if v is not None and v.band else None
    return c.shrunk / band if band else None


def frame_rows(slices: Sequence[Slices], verdicts: Sequence[Verdict], by: str) -> list[dict[str, Any]]:
    """One row per text, axis and slice of a field; `UsageError` if texts were not compared by it."""
    if by not in (known := [s.by for s in slices]):
        known = list(dict.fromkeys(known)) or ["none"]
        raise UsageError(f"{arg('by', by)}: no such slices", hint=f"those of this comparison: {', '.join(known)}")
    cells = ((s, *cell) for s in slices if s.by == by for cells in of_axes(s, verdicts) for cell in cells)
    left_out = {"wording", "leading", "scale", "ratio", "moved"}
    rows = ((s, bands, {k: x for k, x in vars(c).items() if k not in left_out}) for s, c, bands in cells)
    return [{"generated": s.generated, "by": by, "bands": bands, **row} for s, bands, row in rows]


def in_units(v: Verdict, size: float, value: float, rises: bool, scale: float = 0.0) -> float | None:
    """A size of the effect in units of the statistic, whose value in the reference is given; None of a distance.

    ``scale`` is a standard deviation of documents, where the effect of the verdict does not know its own.
    """
    if v.effect_kind == "log_ratio":
        return abs(value) * (math.expm1(size) if rises else -math.expm1(-size))
    if v.effect_kind == "hedges_g":
        return size * (abs(v.difference / v.effect) if v.effect and v.difference else scale) or None
    return size if v.effect_kind == "difference" else None


def _largest(maxima: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(np.max(np.array(maxima), axis=0).tolist()) if maxima else ()


AUTO = "auto"
MOST_VALUES, LEAST = 50, 20
"""Values that a field may have; documents of each that a field needs to be taken by itself."""
USUAL = tuple(f"{of}{name}" for of in ("", "metadata.") for name in ("task", "language", "category", "subject"))
"""Fields that ``auto`` reads of texts that have them, beside those that are kept anyway."""


@dataclass(frozen=True)
class Codes:
    """The slice of each document by one field.

    Attributes
    ----------
    names
        The slices.
    numbers
        For each text, the number of the slice of each document, −1 without one.
    """

    name: str
    names: tuple[str, ...]
    numbers: tuple[Ints, ...]


def reading_slices(reading: ReadingOptions, by: Sequence[str]) -> ReadingOptions:
    """Read the fields of slices too; for ``auto``, the usual ones where a text has them.

    >>> options = reading_slices(ReadingOptions(keep=("topic",)), ["task", "auto"])
    >>> options.keep, options.needs[:4]
    (('topic', 'task'), ('language', 'category', 'subject', 'metadata.task'))
    """
    named = [name for name in by if name != AUTO]
    kept = replace(reading, keep=tuple(dict.fromkeys((*reading.keep, *named))))
    return kept.needing(USUAL if AUTO in by else ())


def codes_of(by: Sequence[str], corpora: Sequence[Corpus]) -> list[Codes]:
    """The slices of documents by each field; ``auto`` takes fields of 2 to 50 values with 20 documents each.

    Raises
    ------
    UsageError
        No document of a text has a field, or it has too many values.

    >>> from momus.text.documents import Document
    >>> texts = [Corpus.from_documents([Document(f"{i}", (), fields={"task": "ab"[i % 2]}) for i in range(4)])]
    >>> codes_of(["task"], texts)[0].names, codes_of(["task"], texts)[0].numbers[0].tolist(), codes_of(["auto"], texts)
    (('a', 'b'), [0, 1, 0, 1], [])
    """
    chosen = [name for name in by if name != AUTO]
    if AUTO in by:
        for name in fields_of(corpora):
            counts = [Counter(v for v in corpus.field(name) if v is not None) for corpus in corpora]
            # a task that a text lacks is named, and hides no other
            shared = set.intersection(*map(set, counts))
            few = len(set().union(*counts)) <= MOST_VALUES
            if few and len(shared) >= 2 and all(c[v] >= LEAST for c in counts for v in shared):
                chosen.append(name)
    return [_codes(name, corpora) for name in dict.fromkeys(chosen)]


def fields_of(corpora: Sequence[Corpus]) -> list[str]:
    """Names of the metadata fields that some document of each text has."""
    rows = [corpus.table["fields"].to_pylist() for corpus in corpora]
    # `or ()`: a document without fields has null
    return sorted(set.intersection(*({key for row in side for key, _ in row or ()} for side in rows)))


def _codes(name: str, corpora: Sequence[Corpus]) -> Codes:
    sides = [corpus.field(name) for corpus in corpora]
    for corpus, side in zip(corpora, sides, strict=True):
        if all(value is None for value in side):
            known = ", ".join(fields_of(corpora)) or f"none ({arg('keep')} reads some)"
            raise UsageError(
                f"{arg('by', [name])}: no document of {corpus.name!r} has such a field",
                hint=f"fields of all texts: {known}",
            )
    names = sorted({str(v) for side in sides for v in side if v is not None})
    if len(names) > MOST_VALUES:
        raise UsageError(
            f"{arg('by', [name])}: field {name!r} has {len(names):,} values, too many for slices",
            hint=f"give a field with at most {MOST_VALUES} values, such as a kind of prompt",
        )
    number = {value: i for i, value in enumerate(names)}
    return Codes(name, tuple(names), tuple(np.array([number.get(str(v), -1) for v in side]) for side in sides))
