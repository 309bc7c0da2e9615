"""Attribution: which alarms remain when documents are compared within bins of another alarm's values.

An alarm that is gone within such bins *goes with* the other axis. That is no statement about causes: a noisy measure of
the cause leaves much of the difference within its bins, and a precise measure of an effect leaves little, so the axis
that is measured best takes most alarms with it; and two axes that are correlated in every text go with each other
although their causes differ (benchmarks/validity/TABLES.md has the rates).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from momus.joint.adjusted import AdjustedRow, Sides
from momus.joint.axes import Axis, Covariate
from momus.verdicts.verdict import Verdict

SHARE_LEFT = 0.5
"""An alarm goes with an axis only if less than this share of its difference is left."""


@dataclass(frozen=True)
class Account:
    """An alarm that goes with another axis.

    Attributes
    ----------
    alarm, by
        The critic whose alarm it is, and the critic among whose bins it is gone.
    row
        The adjusted row.
    mutual
        Whether the other critic's alarm is also gone within the bins of this one.
    """

    alarm: str
    by: str
    row: AdjustedRow
    mutual: bool


@dataclass(frozen=True)
class Attribution:
    """The matrix of adjusted alarms of one generated corpus, and its reading.

    Attributes
    ----------
    generated
        The generated corpus.
    alarms
        Critics of documents whose headline row differs, in the order of the axes.
    rows
        One row per alarm and other axis.
    accounts
        Every alarm and axis that it goes with.
    survivors
        Alarms that go with no axis, although at least one other axis has enough overlap to be adjusted for.
    undetermined
        Alarms that could not be adjusted for any axis.
    """

    generated: str
    alarms: tuple[str, ...]
    rows: tuple[AdjustedRow, ...]
    accounts: tuple[Account, ...]
    survivors: tuple[str, ...]
    undetermined: tuple[str, ...]

    def cell(self, alarm: str, covariate: str) -> AdjustedRow | None:
        """The row of an alarm adjusted for another axis."""
        return next((r for r in self.rows if r.critic == alarm and r.covariates == (covariate,)), None)

    def accounted_by(self, critic: str) -> tuple[str, ...]:
        """Alarms that go with a critic's axis."""
        return tuple(a.alarm for a in self.accounts if a.by == critic)

    @property
    def leading(self) -> tuple[str, tuple[str, ...]] | None:
        """The survivor that most other alarms go with, and these; None if none goes with any."""
        counted = [(s, self.accounted_by(s)) for s in self.survivors]
        best = max(counted, key=lambda item: len(item[1]), default=None)
        return best if best is not None and best[1] else None


def accounted(row: AdjustedRow) -> bool:
    """Whether the alarm of an adjusted row goes with its covariate.

    It does if documents in the same bins raise no alarm, less than half of the difference is left (of either sign), and
    the interval of the share left lies below 1: the difference has shrunk for certain. That an alarm is gone is not
    enough, as fewer comparable documents have less power. An alarm that remains goes with nothing even if little of
    it is left: an axis that follows another one leaves little of it too. benchmarks/validity/TABLES.md compares
    this rule with others.
    """
    return not row.alarm and abs(row.share) < SHARE_LEFT and row.share_high < 1


def alarms_of(verdicts: Sequence[Verdict], generated: str) -> tuple[str, ...]:
    """Critics whose headline row differs, after adjustment over the table."""
    return tuple(v.critic for v in verdicts if v.headline and v.generated == generated and v.differs)


def attribution(axes: Sequence[Axis], sides: Sides, alarms: Collection[str]) -> Attribution:
    """Adjust each alarm for each other axis, and read the matrix.

    Parameters
    ----------
    axes
        Headline rows of the critics of documents, of both corpora (`momus.joint.axes.axis_of`).
    alarms
        Critics whose headline rows differ (`alarms_of`); those without an axis, such as critics of running text, take
        no part.
    """
    alarmed = [axis for axis in axes if axis.critic in alarms]
    rows = []
    for covariate in axes:  # one covariate after another, so that all alarms share its relabellings
        values = Covariate(covariate.critic, covariate.values[sides.real], covariate.values[sides.generated])
        rows += [sides.adjusted(axis, [values]) for axis in alarmed if axis.critic != covariate.critic]
    return read_matrix(sides.generated, [a.critic for a in alarmed], rows)


def read_matrix(generated: str, alarms: Sequence[str], rows: Sequence[AdjustedRow]) -> Attribution:
    """Find the alarms that go with other axes, those that survive, and those that could not be adjusted."""
    emptied = {(r.critic, r.covariates[0]): r for r in rows if not r.reason and accounted(r)}
    accounts = tuple(Account(a, by, row, (by, a) in emptied) for (a, by), row in emptied.items())
    adjustable = {r.critic for r in rows if not r.reason}
    return Attribution(
        generated,
        tuple(alarms),
        tuple(rows),
        accounts,
        tuple(a for a in alarms if a in adjustable and all(a != x.alarm for x in accounts)),
        tuple(a for a in alarms if a not in adjustable),
    )
