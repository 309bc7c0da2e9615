"""One cell of a calibration: a critic tested against one defect at one strength, over many splits."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from momus.calibration.judges import SplitJudge
from momus.calibration.plan import NULL, Units, draw, split
from momus.files import write_sealed
from momus.numeric.types import Bools
from momus.outputs import make_folder, writing
from momus.schema import read_json

MISSING = "the statistic is undefined for texts of this size"


@dataclass(frozen=True)
class Cell:
    """The tests of one critic's axis on random splits with one planted defect.

    Attributes
    ----------
    critic, statistic
        The critic and its headline statistic.
    defect, strength
        The defect planted in the generated side; ``none`` and 0 for null splits.
    n_real, n_generated
        Documents per side, or groups or prompts (`Plan.by`).
    p, led, difference
        One value per split: p of the axis, the statistic that leads its family, and the difference of that (of a
        distance, the estimate of that between the two populations). None if the test is undefined.
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
    p: tuple[float | None, ...] = ()
    led: tuple[str, ...] = ()
    difference: tuple[float | None, ...] = ()
    changed: int = 0
    places: int = 0
    usable: int = 0
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
        return replace(self, p=p, led=self.led[:splits], difference=self.difference[:splits], reason=reason)

    @property
    def leading(self) -> str:
        """The statistic that leads in most splits; the headline where no defect was planted."""
        most = Counter(self.led).most_common(1)
        return most[0][0] if most and self.defect != NULL else self.statistic

    @property
    def mean_difference(self) -> float | None:
        """Mean difference of the leading statistic, over the splits in which it leads."""
        pairs = zip(self.led, self.difference, strict=True)
        differences = [d for name, d in pairs if name == self.leading and d is not None]
        return float(np.mean(differences)) if differences else None


@dataclass(frozen=True)
class Draws:
    """Random splits into two sides, of what a critic can score both unchanged and planted.

    Attributes
    ----------
    size
        Documents (or groups) of the real and of the generated side.
    replacement
        Draw documents (or groups) with replacement if too few can be scored.
    units
        Groups of documents that are split as wholes and counted by ``size``; None: single documents.
    """

    judge: SplitJudge
    size: tuple[int, int]
    seed: int
    replacement: bool = False
    units: Units | None = None

    @cached_property
    def usable(self) -> Bools:
        """Which documents (or groups) can be scored."""
        return self.judge.usable if self.units is None else self.units.usable(self.judge.usable)

    @property
    def too_few(self) -> bool:
        """Whether fewer can be scored than the two sides hold."""
        return sum(self.size) > int(self.usable.sum())

    @property
    def lacking(self) -> str:
        """Why nothing can be drawn; empty if something can."""
        usable = int(self.usable.sum())
        if not self.too_few or (self.replacement and self.judge.repeatable and usable):
            return ""
        return f"only {usable:,} {'documents' if self.units is None else 'groups'} can be scored"

    def test(self, number: int) -> tuple[float | None, str, float | None]:
        """Draw the split of this number, and test it: p and difference are None where they are undefined."""
        usable = self.usable
        # order (at least n_real + n_generated,): row numbers of documents, or numbers of groups, the real side first
        if self.too_few:
            order = draw(self.seed, number, np.flatnonzero(usable), sum(self.size))
        else:
            order = split(self.seed, number, len(usable))
            order = order[usable[order]]
        sides = order[: self.size[0]], order[self.size[0] : sum(self.size)]
        if self.units is None:
            p, led, difference = self.judge.test(*sides)
        else:
            (real, one), (generated, other) = (self.units.expand(side, self.judge.usable) for side in sides)
            p, led, difference = self.judge.test(real, generated, (one, other))
        return _finite(p), led, _finite(difference)


def measure(cell: Cell, draws: Draws, splits: int, after_split: Callable[[Cell], None] | None = None) -> Cell:
    """Test the splits that a cell lacks, and return it with them.

    Parameters
    ----------
    splits
        Number of splits that it then has.
    after_split
        Called with the cell so far, after each split.
    """
    cell = replace(cell, usable=int(draws.usable.sum()), reason="")
    if draws.lacking:
        return replace(cell, p=(), led=(), difference=(), reason=draws.lacking)
    for number in range(len(cell.p), splits):
        p, led, difference = draws.test(number)
        cell = replace(cell, p=(*cell.p, p), led=(*cell.led, led), difference=(*cell.difference, difference))
        if after_split is not None:
            after_split(cell)
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
        with writing(path, "name another folder with --out"):
            make_folder(path.parent)
            write_sealed(path, asdict(cell))
