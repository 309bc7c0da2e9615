"""One cell of a calibration: a critic tested against one defect at one strength, over many splits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from momus.calibration.judges import SplitJudge
from momus.calibration.plan import NULL, Units, draw, split
from momus.errors import StoreError
from momus.files import write_sealed
from momus.outputs import make_folder
from momus.schema import read_json

MISSING = "the statistic is undefined for texts of this size"


@dataclass(frozen=True)
class Cell:
    """The headline tests of one critic on random splits with one planted defect.

    Attributes
    ----------
    critic, statistic
        The critic and its headline statistic.
    defect, strength
        The defect planted in the generated side; ``none`` and 0 for null splits.
    n_real, n_generated
        Documents per side, or groups or prompts (`Plan.by`).
    p, difference
        One value per split, None if the test is undefined. Differences are those of the statistic; for distances, the
        excess over the mean under relabelling.
    changed, places
        Number of held-out documents that the defect changed, and of places in them.
    usable
        Number of held-out documents (groups, prompts) that the critic could score both unchanged and planted.
    reason
        Why nothing was measured; empty if something was.
    """

    critic: str
    statistic: str
    defect: str
    strength: float
    n_real: int
    n_generated: int
    p: Sequence[float | None]
    difference: Sequence[float | None]
    changed: int
    places: int
    usable: int
    reason: str = ""

    @property
    def tested(self) -> int:
        """Number of splits with a p-value."""
        return sum(p is not None for p in self.p)

    def alarms(self, alpha: float) -> int:
        """Number of splits with p ≤ α."""
        return sum(p is not None and p <= alpha for p in self.p)

    def first(self, splits: int) -> Cell:
        """Return the cell cut to at most so many splits."""
        if len(self.p) <= splits:
            return self
        p = self.p[:splits]
        reason = self.reason if any(v is not None for v in p) else MISSING
        return replace(self, p=p, difference=self.difference[:splits], reason=reason)

    @property
    def mean_difference(self) -> float | None:
        """Mean difference over splits."""
        differences = [d for d in self.difference if d is not None]
        return float(np.mean(differences)) if differences else None


def measure(
    judge: SplitJudge,
    critic: str,
    defect: str,
    strength: float,
    size: tuple[int, int],
    splits: int,
    seed: int,
    changed: tuple[int, int] = (0, 0),
    replacement: bool = False,
    begun: Cell | None = None,
    each: Callable[[Cell], None] | None = None,
    units: Units | None = None,
) -> Cell:
    """Test one size over many splits.

    Parameters
    ----------
    replacement
        Draw documents (or groups) with replacement if too few can be scored.
    begun
        The same cell with fewer splits, to be resumed.
    each
        Called with the cell so far, after each split.
    units
        Groups of documents that are split as wholes and counted by ``size``; None: single documents.
    """
    takes_part = judge.usable if units is None else units.usable(judge.usable)
    n, usable = len(takes_part), int(takes_part.sum())
    p, difference = ([], []) if begun is None else (list(begun.p), list(begun.difference))
    cell = Cell(critic, judge.statistic, defect, strength, *size, p, difference, *changed, usable)  # p grows below
    too_few = sum(size) > usable
    if too_few and not (replacement and judge.repeatable and usable):
        what = "documents" if units is None else "groups"
        return replace(cell, p=[], difference=[], reason=f"only {usable:,} {what} can be scored")
    for k in range(len(p), splits):
        # order (at least n_real + n_generated,): row numbers of documents, or numbers of groups, the real side first
        if too_few:
            order = draw(seed, k, np.flatnonzero(takes_part), sum(size))
        else:
            order = split(seed, k, n)
            order = order[takes_part[order]]
        sides = order[: size[0]], order[size[0] : sum(size)]
        if units is None:
            split_p, split_difference = judge.test(*sides)
        else:
            (real, one), (generated, other) = (units.expand(side, judge.usable) for side in sides)
            split_p, split_difference = judge.test(real, generated, (one, other))
        p.append(_finite(split_p))
        difference.append(_finite(split_difference))
        if each is not None:
            each(cell)
    return replace(cell, reason="" if cell.tested else MISSING)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


class CellFolder:
    """Cells on disk: one JSON file per cell, named by a hash of everything that the cell depends on.

    The number of splits is not part of the hash: a cell with fewer splits than asked for is resumed. Files are written
    atomically.

    Parameters
    ----------
    path
        The folder.
    key
        Everything that all cells depend on: texts, version, seed, …
    """

    def __init__(self, path: Path, key: dict[str, Any]) -> None:
        self.path, self.key = path, key

    def _file(self, critic: dict[str, Any], defect: str, strength: float, size: tuple[int, int]) -> Path:
        text = json.dumps({"key": self.key, "critic": critic}, sort_keys=True, default=str)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        label = defect if defect == NULL else f"{defect}-{strength:g}"
        return self.path / str(critic["name"]) / f"{label}-{size[0]}x{size[1]}-{digest}.json"

    def find(self, critic: dict[str, Any], defect: str, strength: float, size: tuple[int, int]) -> Cell | None:
        """Read a cell; None if there is no file of it."""
        path = self._file(critic, defect, strength, size)
        if not path.exists():
            return None
        return read_json(path, Cell, "remove this file and run again", sealed=True)

    def keep(self, cell: Cell, critic: dict[str, Any]) -> None:
        """Write a cell, finished or not."""
        path = self._file(critic, cell.defect, cell.strength, (cell.n_real, cell.n_generated))
        try:
            make_folder(path.parent)
            write_sealed(path, asdict(cell))
        except OSError as error:
            raise StoreError(
                f"{path}: cannot be written ({error.strerror})", hint="name another folder with --out"
            ) from error
