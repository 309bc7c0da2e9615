"""Differences that depend on few documents: axes on which texts no longer differ once these are set aside.

Documents that are broken are set aside on both sides; else, one document of a generated text may carry a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, nan

import numpy as np
from scipy import sparse

from momus.errors import UsageError
from momus.inference.design import Design
from momus.inference.matching import design_of, in_blocks
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import NARROW, Rows, Tables, total
from momus.inference.testing import axis_test, difference_of
from momus.joint.axes import AxisRows
from momus.numeric.types import Bools
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict

HALF, MOVED = 0.5, 0.25
"""What is left at most of a difference that goes with broken documents, and what one document moves at least that
carries it: fewer documents are less certain, and that alone must not make a difference vanish."""
HEAVIEST = 16
"""Documents of wide rows that may carry a difference: those with the largest sums."""
FEW, CLEAR = 199, 0.1
"""Relabellings of a first test, and p from which it needs no second one."""
Sides = tuple[Bools, Bools]
"""Which documents of the reference, and which of a generated text, are kept: (n,) and (m,)."""


@dataclass(frozen=True)
class Dependence:
    """A difference that documents of a generated text make.

    Attributes
    ----------
    statistic
        The row that leads the axis.
    document
        Id of the one document that carries it; empty where it goes with those that are broken.
    left
        Part of the difference that is left without them.
    p, level
        Smallest p of the rows of the axis that differ, tested without them, and the level at which the axis differs.
    """

    generated: str
    critic: str
    axis: str
    statistic: str
    document: str
    left: float
    p: float
    level: float

    @property
    def vanishes(self) -> bool:
        """Whether the texts do not differ on the axis without the documents."""
        return self.p > self.level


@dataclass(frozen=True)
class Difference:
    """A row that differs, and the rows of its documents in the reference and in the generated text."""

    verdict: Verdict
    rows: AxisRows
    corpora: tuple[Corpus, Corpus]
    settings: Settings

    @cached_property
    def scored(self) -> Sides:
        """Which documents have scores."""
        one, other = (self.rows.scored[c.name] for c in self.corpora)
        return one, other

    @property
    def level(self) -> float:
        """The level of the axis as it is adjusted over axes."""
        v = self.verdict
        return v.alpha * min(v.p_axis / v.p_axis_adjusted, 1.0) if v.p_axis and v.p_axis_adjusted else v.alpha

    def taken(self, kept: Sides) -> tuple[Rows, Rows, Design]:
        """Rows of the scored documents that are kept, and their design."""
        numbers = [np.flatnonzero(k & s) for k, s in zip(kept, self.scored, strict=True)]
        prompts, groups = (
            [[labels[i] for i in of.tolist()] if len(labels) else [] for labels, of in zip(both, numbers, strict=True)]
            for both in ([c.prompts for c in self.corpora], [c.groups for c in self.corpora])
        )
        paired, names = self.settings.paired, (self.corpora[0].name, self.corpora[1].name)
        design = design_of(prompts[0], prompts[1], paired, names, groups=(groups[0], groups[1]))
        real, generated = (self.rows.rows[n][of] for n, of in zip(names, numbers, strict=True))
        return real, generated, in_blocks(design, self.settings.seed)

    @cached_property
    def size(self) -> float:
        """The difference of all documents."""
        return difference_of(self.rows.statistic, *self.taken(self.scored), self.settings.seed)

    def left(self, kept: Sides) -> float:
        """Part of the difference that is left of some documents; NaN where they cannot be compared."""
        try:
            return difference_of(self.rows.statistic, *self.taken(kept), self.settings.seed) / (self.size or nan)
        except UsageError:  # too few pairs
            return nan

    def p(self, kept: Sides) -> float:
        """p of the row for some documents, of as many relabellings as its level needs; NaN if it does not exist."""
        statistic, (real, generated, design) = self.rows.statistic, self.taken(kept)
        p = nan
        for n in (FEW, max(FEW, ceil(4 / self.level))):
            sides, seed = ({statistic.rows: real}, {statistic.rows: generated}), self.settings.seed
            p, *_ = axis_test([statistic], *sides, design=design, permutations=n, wide=n, seed=seed)
            if not p < CLEAR:
                break
        return p

    def heaviest(self) -> int | None:
        """Number of the generated document that moves the difference most; None if it hardly does."""
        statistic, numbers = self.rows.statistic, np.flatnonzero(self.scored[1])
        tables = Tables.of(*(self.rows.rows[c.name][s] for c, s in zip(self.corpora, self.scored, strict=True)))
        order = np.argsort(-np.asarray(abs(tables.generated).sum(axis=1)).ravel(), kind="stable")
        some = order[:HEAVIEST] if tables.width > NARROW else order
        rows = tables.generated[some]
        # sums of the generated text, whole and without each of k documents: (1 + k, V)
        sums = total(tables.generated) - np.vstack(
            [np.zeros((1, tables.width)), rows.toarray() if sparse.issparse(rows) else rows]
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            prepared = Prepared(np.tile(total(tables.real), (len(sums), 1)), sums)
            values = both_values(statistic, prepared)[1]  # the value of the reference stays as it is
        moves = np.nan_to_num(np.abs(values[1:] - values[0]))
        k = int(moves.argmax(initial=0)) if len(moves) else 0
        return int(numbers[some[k]]) if len(moves) and moves[k] >= MOVED / 2 * abs(self.size) > 0 else None

    def without(self, documents: Sides) -> Sides:
        """All scored documents but these."""
        (real, generated), (one, other) = self.scored, documents
        return real & ~one, generated & ~other


def dependences(
    verdicts: Iterable[Verdict],
    axes: Iterable[AxisRows],
    corpora: Sequence[Corpus],
    broken: Mapping[str, Sequence[tuple[str, str]]],
    settings: Settings,
) -> tuple[Dependence, ...]:
    """The differences that go with broken documents, and those that one other document carries.

    Parameters
    ----------
    verdicts
        Adjusted rows of all axes.
    axes
        Rows of documents by critic and statistic; a row that differs is left out if there are none of it.
    corpora
        The reference and the generated texts.
    broken
        By generated text, the critics and statistics of the faults that are told of it.
    """
    by_row, by_name = {(a.critic, a.statistic.name): a for a in axes}, {c.name: c for c in corpora}
    by_axis: dict[tuple[str, str], list[Difference]] = {}
    for v in sorted((v for v in verdicts if v.is_finding), key=lambda v: not v.leads):
        rows = by_row.get((v.critic, v.statistic))
        if rows is not None and v.critic not in {critic for critic, _ in broken.get(v.generated, ())}:
            pair = corpora[0], by_name[v.generated]
            by_axis.setdefault((v.critic, v.generated), []).append(Difference(v, rows, pair, settings))
    flags = {
        name: _flags([by_row[k] for k in faults if k in by_row], corpora[0].name, name)
        for name, faults in broken.items()
    }
    told = (_of_axis(rows, flags.get(name)) for (_, name), rows in by_axis.items() if rows[0].verdict.leads)
    return tuple(d for d in told if d is not None)


def _flags(faults: Sequence[AxisRows], real: str, generated: str) -> Sides | None:
    """Which documents of both texts have any of the faults, whose rows are [has it, 1]; None if none is known."""
    if not faults:
        return None
    one, other = (np.any([f.rows[name][:, 0] > 0 for f in faults], axis=0) for name in (real, generated))
    return one, other


def _of_axis(rows: Sequence[Difference], broken: Sides | None) -> Dependence | None:
    """On what the difference of an axis depends, given its rows that differ, the leading one first."""
    first = rows[0]
    if broken is not None:
        kept = first.without(broken)
        if all(abs(row.left(kept)) <= HALF for row in rows):
            dependence = _without(rows, kept, "")
            if dependence.vanishes:
                return dependence
    document = first.heaviest()
    if document is None:
        return None
    other = np.arange(len(first.corpora[1])) == document
    kept = first.without((np.zeros_like(first.scored[0]), other))
    moved = abs(1 - first.left(kept))
    if not moved >= MOVED:
        return None
    dependence = _without(rows, kept, first.corpora[1].ids[document])
    return dependence if dependence.vanishes or moved > HALF else None


def _without(rows: Sequence[Difference], kept: Sides, document: str) -> Dependence:
    """What is left of a difference, whose rows are all tested again."""
    first, v = rows[0], rows[0].verdict
    p = min((row.p(kept) for row in rows), key=lambda p: -1.0 if p != p else p)  # NaN: it does not vanish
    p = 0.0 if p != p else p
    return Dependence(v.generated, v.critic, v.axis, v.statistic, document, first.left(kept), p, first.level)
