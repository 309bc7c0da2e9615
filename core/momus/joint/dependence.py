"""Differences that depend on few documents: on those that are broken, or on one that carries them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan

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

HALF, MOVED = 0.5, 0.25
"""What is left at most of a difference that goes with broken documents, and what one document that carries it moves at
least: fewer documents are less certain, which alone makes nothing vanish."""
HEAVIEST = 16
"""Documents of wide rows that may carry a difference: those with the largest sums."""
FEW, CLEAR = 199, 0.1
"""Relabellings of a first test, and p from which there is no second one."""
Sides = tuple[Bools, Bools]
"""Documents of the reference, (n,), and of a generated text, (m,)."""


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
    """

    generated: str
    critic: str
    axis: str
    statistic: str
    document: str
    left: float
    vanishes: bool


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
        left = p = nan
        for n in (FEW, max(FEW, ceil(4 / level))):
            blocks = in_blocks(design, seed)
            p, _, size = axis_test([s], real, generated, design=blocks, permutations=n, wide=n, seed=seed)
            left = size / (v.difference or nan)
            if p >= CLEAR or not abs(left) <= most:
                break
        return left, abs(left) <= most and p > level

    def heaviest(self) -> Sides | None:
        """The generated document that moves the difference most; None if it hardly does."""
        scored = [self.rows.scored[c.name] for c in self.corpora]
        tables = Tables.of(*(self.rows.rows[c.name][of] for c, of in zip(self.corpora, scored, strict=True)))
        order = np.argsort(-np.asarray(abs(tables.generated).sum(axis=1)).ravel(), kind="stable")
        order = order[:HEAVIEST] if tables.width > NARROW else order
        rows = tables.generated[order]
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
        alone = [document for *_, document in of_text if document]
        # rows of a fault are [whether a document has it, 1]
        tables = [known[c, s].rows for c, s, document in of_text if not document and (c, s) in known]
        flags = np.zeros(len(real), bool), np.isin(text.ids, alone)
        for of_side, corpus in zip(flags, (real, text), strict=True):
            of_side |= np.any([t[corpus.name][:, 0] > 0 for t in tables], axis=0)
        faults = {critic for critic, _, document in of_text if not document}
        findings = [v for v in verdicts if v.is_finding and v.generated == text.name and v.critic not in faults]
        for leading in (v for v in findings if v.leads):
            of_axis = [leading, *(v for v in findings if v.critic == leading.critic and v is not leading)]
            if all((v.critic, v.statistic) in known for v in of_axis):
                rows = [_Difference(v, known[v.critic, v.statistic], (real, text), settings) for v in of_axis]
                told.append(_of_axis(rows, flags))
    return tuple(d for d in told if d is not None)


def _of_axis(rows: Sequence[_Difference], broken: Sides) -> Dependence | None:
    """On what the difference of an axis depends, of which the leading row comes first."""
    first, v = rows[0], rows[0].verdict
    names = v.generated, v.critic, v.axis, v.statistic
    if broken[1].any():
        left, vanishes = first.without(broken, HALF)
        if vanishes and all(row.without(broken, HALF)[1] for row in rows[1:]):
            return Dependence(*names, "", left, True)
    if (one := first.heaviest()) is None:
        return None
    left, vanishes = first.without(one, 1 - MOVED)
    # of the other rows, loss of certainty is enough
    vanishes = vanishes and all(row.without(one, inf)[1] for row in rows[1:])
    moved = isfinite(left) and abs(1 - left) > HALF
    return Dependence(*names, first.corpora[1].ids[int(one[1].argmax())], left, vanishes) if vanishes or moved else None
