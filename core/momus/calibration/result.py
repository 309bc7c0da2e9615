"""The result of a calibration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from momus.calibration.cells import Cell
from momus.calibration.plan import Plan


@dataclass
class Calibration:
    """The measurements of `momus.calibration.calibrate`; printing one shows its tables.

    Attributes
    ----------
    plan
        What was measured.
    cells
        One cell per critic, defect, strength and size.
    critics
        Name, axis and parameters of each critic.
    signature
        Provenance: version, command, seed, device, corpus fingerprints.
    warnings
        What a reader must know.
    """

    plan: Plan
    cells: list[Cell]
    critics: list[dict[str, Any]]
    signature: dict[str, Any]
    warnings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        from momus.calibration.view import calibration_text

        return calibration_text(self)
