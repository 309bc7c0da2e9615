"""Outcomes of conformance checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from momus.text.counting import percentage

Status = Literal["passed", "failed", "skipped", "expected", "stopped"]
LEAST_SHARE = 0.7
"""A report passes only if at least this share of the checks has run."""


class Skip(Exception):
    """Raised by a check that does not apply to a critic, with the reason."""


@dataclass(frozen=True)
class Record:
    """The outcome of one check.

    Attributes
    ----------
    name
        Name of the check, as in ``expected_failed_checks``.
    status
        ``expected`` is a failure listed in ``expected_failed_checks``; ``stopped``: the same error as in an earlier
        check, ``by``.
    detail
        Why the check failed or does not apply.
    by
        The check that failed by the same error, of a check that is ``stopped``.
    """

    name: str
    status: Status
    detail: str = ""
    by: str = ""


@dataclass(frozen=True)
class Report:
    """The outcome of all checks of one critic.

    >>> Report("c", [Record("a", "passed"), Record("b", "skipped", "no states")]).ok
    False
    """

    critic: str
    records: Sequence[Record]

    @property
    def counts(self) -> dict[str, int]:
        """Number of checks per status."""
        counter = Counter(r.status for r in self.records)
        usual = {s: counter[s] for s in ("passed", "failed", "skipped", "expected")}
        return usual | ({"stopped": counter["stopped"]} if counter["stopped"] else {})

    @property
    def enough(self) -> bool:
        """Whether enough checks ran for a pass to mean something."""
        return sum(r.status != "skipped" for r in self.records) >= LEAST_SHARE * len(self.records)

    @property
    def ok(self) -> bool:
        """Whether no check failed and enough ran."""
        return self.enough and not self.counts["failed"]

    def failures(self) -> list[str]:
        """Names of the checks that failed, those among them that an earlier error stopped."""
        return [r.name for r in self.records if r.status in ("failed", "stopped")]

    def shown(self) -> list[Record]:
        """The records for readers: one error is shown once, with the checks that it stopped.

        >>> error = "AttributeError: no 'lenght' (mine.py, line 7)"
        >>> records = [Record("a", "failed", error), Record("b", "stopped", error, "a"), Record("c", "passed")]
        >>> [r.detail for r in Report("mine", records).shown()]
        ["AttributeError: no 'lenght' (mine.py, line 7); the same error stopped 1 other check: b", '']
        """
        rows = []
        for record in self.records:
            stopped = [r.name for r in self.records if r.by == record.name]
            if stopped:
                others = "1 other check" if len(stopped) == 1 else f"{len(stopped)} other checks"
                detail = f"{record.detail}; the same error stopped {others}: {', '.join(stopped)}"
                record = replace(record, detail=detail)
            if record.status != "stopped":
                rows.append(record)
        return rows

    def __str__(self) -> str:
        lines = [f"{r.status:<9}{r.name}{': ' + r.detail if r.detail else ''}" for r in self.shown()]
        counts = ", ".join(f"{n} {s}" for s, n in self.counts.items())
        few = (
            "" if self.enough else f"; too few ran (at least {percentage(LEAST_SHARE, 0)} of {len(self.records)} must)"
        )
        return "\n".join([f"critic {self.critic!r}: {counts}{few}", *lines])
