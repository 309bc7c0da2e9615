"""Differences that depend on few documents: on those that are broken, or on one that carries them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan
from typing import Any

import numpy as np
from scipy import sparse

from momus.errors import UsageError
from momus.inference.matching import design_of, in_blocks
from momus.inference.pvalues import Prepared, both_values
from momus.inference.samples import NARROW, Tables, total
from momus.inference.testing import axis_test
from momus.joint.axes import AxisRows
from momus.numeric.types import Bools
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict

HALF, MOVED, HEAVIEST = 0.5, 0.25, 16
"""What is left at most of a difference that goes with broken documents, and what one document that carries it moves at
least: fewer documents are less certain, which alone makes nothing vanish. Documents of wide rows that may carry one."""
Sides = tuple[Bools, Bools]  # documents of the reference, (n,), and of a generated text, (m,)


@dataclass(frozen=True)
class Dependence:
    """A difference that some documents make.

    Attributes
    ----------
    statistic
        The row that leads the axis.
    document
        Id of the generated document that carries it; empty where it goes with those that are broken.
    left
        Part of the difference that is left without them.
    vanishes
        Whether no row of the axis that differs does so without them, at the level at which the axis differs.
    rows
        The statistics that differ, and do not without the documents that are broken.
    """

    generated: str
    critic: str
    axis: str
    statistic: str
    document: str
    left: float
    vanishes: bool
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Difference:
    """A row that differs, with the rows of its documents in the reference and in the generated text."""

    verdict: Verdict
    rows: AxisRows
    corpora: tuple[Corpus, Corpus]
    settings: Settings

    def without(self, documents: Sides, most: float) -> tuple[float, bool]:
        """Part of the difference that is left without documents, and whether it is at most that and not significant."""
        s, v, seed, names = self.rows.statistic, self.verdict, self.settings.seed, [c.name for c in self.corpora]
        numbers = [np.flatnonzero(self.rows.scored[n] & ~of) for n, of in zip(names, documents, strict=True)]
        a, b = (c.subset(of) for c, of in zip(self.corpora, numbers, strict=True))
        try:
            design = design_of(a.prompts, b.prompts, self.settings.paired, groups=(a.groups, b.groups))
        except UsageError:  # too few pairs
            return nan, False
        real, generated = ({s.rows: self.rows.rows[n][of]} for n, of in zip(names, numbers, strict=True))
        level = v.alpha * min(v.p_axis / v.p_axis_adjusted, 1.0) if v.p_axis and v.p_axis_adjusted else v.alpha
        options: dict[str, Any] = {"design": in_blocks(design, seed), "seed": seed}
        for n in (199, ceil(4 / level)):  # the second one decides where p is small
            p, _, size = axis_test([s], real, generated, permutations=n, wide=n, **options)
            left = size / (v.difference or nan)
            if p >= 2 * v.alpha or not abs(left) <= most:
                break
        return left, abs(left) <= most and p > level

    def heaviest(self) -> Sides | None:
        """The generated document that moves the difference most; None if it hardly does."""
        scored = [self.rows.scored[c.name] for c in self.corpora]
        tables = Tables.of(*(self.rows.rows[c.name][of] for c, of in zip(self.corpora, scored, strict=True)))
        order = np.argsort(-np.asarray(abs(tables.generated).sum(axis=1)).ravel(), kind="stable")
        rows = tables.generated[order[: HEAVIEST if tables.width > NARROW else None]]
        # sums of the generated text, whole and without each of k documents: (1 + k, V)
        less = np.vstack([np.zeros((1, tables.width)), rows.toarray() if sparse.issparse(rows) else rows])
        prepared = Prepared(np.tile(total(tables.real), (len(less), 1)), total(tables.generated) - less)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = both_values(self.rows.statistic, prepared)[1]
            moves = np.nan_to_num(np.abs(values[1:] - values[0]), posinf=0.0)  # (k,)
        if moves.max() < MOVED / 2 * abs(self.verdict.difference or 0.0):
            return None
        document = np.flatnonzero(scored[1])[order[moves.argmax()]]
        return np.zeros_like(scored[0]), np.arange(len(scored[1])) == document


def dependences(
    verdicts: Sequence[Verdict],
    axes: Iterable[AxisRows],
    corpora: Sequence[Corpus],
    broken: Sequence[tuple[str, str, str, str]],
    settings: Settings,
) -> tuple[Dependence, ...]:
    """The differences that go with broken documents, and those that one other document carries.

    Parameters
    ----------
    verdicts
        Adjusted rows of all axes.
    axes
        Rows of documents by critic and statistic; an axis without them for each row that differs is left out.
    corpora
        The reference and the generated texts.
    broken
        Of each fault that is told: generated text, critic, statistic, and the document where it is the only one.
    """
    known, (real, *texts) = {(a.critic, a.statistic.name): a for a in axes}, corpora
    told = []
    for text in texts:
        of_text = [fault for name, *fault in broken if name == text.name]
        faults = {(critic, statistic) for critic, statistic, document in of_text if not document}
        flags = np.zeros(len(real), bool), np.isin(text.ids, [document for *_, document in of_text])
        for table in (known[key].rows for key in faults if key in known):  # [whether a document has the fault, 1]
            flags = flags[0] | (table[real.name][:, 0] > 0), flags[1] | (table[text.name][:, 0] > 0)
        findings = [v for v in verdicts if v.is_finding and v.generated == text.name and v.critic not in dict(faults)]
        for critic in (v.critic for v in findings if v.leads):
            of_axis = sorted((v for v in findings if v.critic == critic), key=lambda v: not v.leads)
            if all((critic, v.statistic) in known for v in of_axis):
                rows = [_Difference(v, known[critic, v.statistic], (real, text), settings) for v in of_axis]
                told.append(_of_axis(rows, flags))
    return tuple(d for d in told if d is not None)


def _of_axis(rows: Sequence[_Difference], broken: Sides) -> Dependence | None:
    """On what the difference of an axis depends, of which the leading row comes first."""
    first, v = rows[0], rows[0].verdict
    names = v.generated, v.critic, v.axis, v.statistic
    if broken[1].any():
        parts = [row.without(broken, HALF) for row in rows]
        gone = tuple(row.verdict.statistic for row, (_, vanishes) in zip(rows, parts, strict=True) if vanishes)
        if gone:
            return Dependence(*names, "", parts[0][0], len(gone) == len(rows), gone)
    if (one := first.heaviest()) is None:
        return None
    left, vanishes = first.without(one, 1 - MOVED)
    # of the other rows, loss of certainty is enough
    vanishes = vanishes and all(row.without(one, inf)[1] for row in rows[1:])
    moved = isfinite(left) and abs(1 - left) > HALF
    return Dependence(*names, first.corpora[1].ids[int(one[1].argmax())], left, vanishes) if vanishes or moved else None
