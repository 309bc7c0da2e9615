"""Outcomes of conformance checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["passed", "failed", "skipped", "expected"]
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
        ``expected`` is a failure listed in ``expected_failed_checks``.
    detail
        Why the check failed or does not apply.
    """

    name: str
    status: Status
    detail: str = ""


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
        return {s: counter[s] for s in ("passed", "failed", "skipped", "expected")}

    @property
    def enough(self) -> bool:
        """Whether enough checks ran for a pass to mean something."""
        return self.counts["passed"] + self.counts["expected"] + self.counts["failed"] >= LEAST_SHARE * len(
            self.records
        )

    @property
    def ok(self) -> bool:
        """Whether no check failed and enough ran."""
        return self.enough and not self.counts["failed"]

    def failures(self) -> list[str]:
        """Names of the checks that failed."""
        return [r.name for r in self.records if r.status == "failed"]

    def __str__(self) -> str:
        lines = [f"{r.status:<9}{r.name}{': ' + r.detail if r.detail else ''}" for r in self.records]
        counts = ", ".join(f"{n} {s}" for s, n in self.counts.items())
        few = "" if self.enough else f"; too few ran (at least {LEAST_SHARE:.0%} of {len(self.records)} must)"
        return "\n".join([f"critic {self.critic!r}: {counts}{few}", *lines])
