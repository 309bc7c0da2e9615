"""The files of a calibration: finished cells, and its result as calibration.json and calibration.csv."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from momus.arguments import arg
from momus.calibration.cells import SplitCell
from momus.calibration.plan import NULL, CalibrationPlan
from momus.calibration.rates import family_wise, rows
from momus.files import TABLE, write_json, write_sealed, write_table
from momus.outputs import make_folder, writing
from momus.schema import read_json


@dataclass
class Calibration:
    """The measurements of `momus.calibration.calibrate`; printing one shows its table.

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

    plan: CalibrationPlan
    cells: list[SplitCell]
    critics: list[dict[str, Any]]
    signature: dict[str, Any]
    warnings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        from momus.calibration.rates import calibration_view
        from momus.report.words.format import plain_text

        return plain_text(calibration_view(self), 150)


CALIBRATION, TABLE_CSV, CELLS = "calibration.json", "calibration.csv", "cells"
RESULTS = {CALIBRATION: "a calibration", TABLE_CSV: TABLE}
"""Files that are written anew when all cells are measured, and their kinds."""


def write_calibration(calibration: Calibration, folder: Path) -> None:
    """Write both files, each atomically.

    Raises
    ------
    StoreError
        The folder cannot be written.
    """
    plan = calibration.plan
    table = pa.Table.from_pylist([asdict(row) for row in rows(calibration.cells, plan.alpha, plan.power)])
    with writing(folder, f"name another folder with {arg('out')}"):
        write_table(table, folder / TABLE_CSV)
        write_json(folder / CALIBRATION, as_json(calibration), kind=RESULTS[CALIBRATION])


def as_json(calibration: Calibration) -> dict[str, Any]:
    """The content of ``calibration.json``: plan, critics, the table, rates of any alarm after adjustment, signature."""
    plan = calibration.plan
    families = []
    for size in dict.fromkeys((c.n_real, c.n_generated) for c in calibration.cells):
        r, critics = family_wise(calibration.cells, plan.alpha, size)
        if critics:
            families.append({"n_real": size[0], "n_generated": size[1], "critics": critics, **asdict(r)})
    return {
        "plan": asdict(plan),
        "critics": calibration.critics,
        "table": [asdict(row) for row in rows(calibration.cells, plan.alpha, plan.power)],
        "family_wise": families,
        "signature": calibration.signature,
    }


class CellFolder:
    """Cells of a critic on disk: one JSON file per cell, named by a hash of everything that the cell depends on.

    The number of splits is not part of the hash: a cell with fewer splits than asked for is resumed. Neither is the
    code of the critic, so that it can be said that it has changed.

    Parameters
    ----------
    path
        The folder.
    key
        Everything that all cells depend on: texts, parameters, seed, …
    """

    def __init__(self, path: Path, key: dict[str, Any]) -> None:
        self.path = path
        text = json.dumps(key, sort_keys=True, default=str)
        self._digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def _file(self, defect: str, strength: float, size: tuple[int, int]) -> Path:
        label = defect if defect == NULL else f"{defect}-{strength:g}"
        return self.path / f"{label}-{size[0]}x{size[1]}-{self._digest}.json"

    def find(self, defect: str, strength: float, size: tuple[int, int]) -> SplitCell | None:
        """Read a cell; None if there is no file of it."""
        path = self._file(defect, strength, size)
        return read_json(path, SplitCell, "remove this file and run again", sealed=True) if path.exists() else None

    def keep(self, cell: SplitCell) -> None:
        """Write a cell."""
        path = self._file(cell.defect, cell.strength, (cell.n_real, cell.n_generated))
        with writing(path, f"name another folder with {arg('out')}"):
            make_folder(path.parent)
            write_sealed(path, asdict(cell))
