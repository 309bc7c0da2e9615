"""One cell of a calibration: a critic against one defect at one strength, over many splits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from momus.calibration.judges import SplitJudge
from momus.calibration.plan import NULL, draw, split
from momus.errors import StoreError
from momus.files import write_json

MISSING = "the statistic does not exist for texts of this size"


@dataclass(frozen=True)
class Cell:
    """What was measured.

    Attributes
    ----------
    critic, statistic
        Whose headline test.
    defect, strength
        What was planted in the generated side; ``none`` and 0 for null splits.
    n_real, n_generated
        Documents a side.
    p, difference
        Of each split, None where the test does not exist; differences are those of the statistic, of a distance the
        excess over its mean under relabelling.
    changed, places
        Documents that the defect changed, of all held-out ones, and places in them.
    usable
        Held-out documents that the critic could score, as they are and planted.
    reason
        Why nothing was measured; empty where something was.
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
        """The cell with no more than so many splits."""
        if len(self.p) <= splits:
            return self
        p = self.p[:splits]
        reason = self.reason if any(v is not None for v in p) else MISSING
        return replace(self, p=p, difference=self.difference[:splits], reason=reason)

    @property
    def mean_difference(self) -> float | None:
        """Mean difference over splits."""
        found = [d for d in self.difference if d is not None]
        return float(np.mean(found)) if found else None


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
) -> Cell:
    """Test one size over many splits; with replacement where asked for and where documents are too few.

    Parameters
    ----------
    begun
        The same cell with fewer splits: it is gone on with.
    each
        Called with the cell so far, after each split.
    """
    n, usable = len(judge.usable), int(judge.usable.sum())
    p, difference = ([], []) if begun is None else (list(begun.p), list(begun.difference))
    found = Cell(critic, judge.statistic, defect, strength, *size, p, difference, *changed, usable)
    few = sum(size) > usable
    if few and not (replacement and judge.repeatable and usable):
        return replace(found, p=[], difference=[], reason=f"only {usable:,} documents can be scored")
    for k in range(len(p), splits):
        if few:
            order = draw(seed, k, np.flatnonzero(judge.usable), sum(size))
        else:
            order = split(seed, k, n)
            order = order[judge.usable[order]]
        tested = judge.test(order[: size[0]], order[size[0] : sum(size)])
        p.append(_finite(tested[0]))
        difference.append(_finite(tested[1]))
        if each is not None:
            each(found)
    none = "" if found.tested else MISSING
    return replace(found, reason=none)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


class CellFolder:
    """Cells on disk, one JSON file each, written whole or not at all; found again by what they depend on.

    How many splits a cell has it does not depend on: one with fewer is gone on with.

    Parameters
    ----------
    path
        Where they lie.
    key
        What all of them depend on: texts, version, seed, …
    """

    def __init__(self, path: Path, key: dict[str, Any]) -> None:
        self.path, self.key = path, key

    def _file(self, critic: dict[str, Any], defect: str, strength: float, size: tuple[int, int]) -> Path:
        text = json.dumps({"key": self.key, "critic": critic}, sort_keys=True, default=str)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        what = defect if defect == NULL else f"{defect}-{strength:g}"
        return self.path / str(critic["name"]) / f"{what}-{size[0]}x{size[1]}-{digest}.json"

    def find(self, critic: dict[str, Any], defect: str, strength: float, size: tuple[int, int]) -> Cell | None:
        """A kept cell, or None."""
        path = self._file(critic, defect, strength, size)
        if not path.exists():
            return None
        try:
            return Cell(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint="remove this file, and run again") from error

    def keep(self, cell: Cell, critic: dict[str, Any]) -> None:
        """Keep a cell, finished or not."""
        path = self._file(critic, cell.defect, cell.strength, (cell.n_real, cell.n_generated))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, asdict(cell))
        except OSError as error:
            raise StoreError(f"{path}: cannot be written ({error.strerror})", hint="name another --out") from error
