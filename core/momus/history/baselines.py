"""Baselines: names for runs that later runs are compared with, kept in a small folder beside the project."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from momus.errors import StoreError, UsageError
from momus.files import write_json
from momus.history.kept import KeptRun
from momus.outputs import make_folder, writing
from momus.ownership import check_output
from momus.schema import read_json

FOLDER = Path(".momus") / "baselines"
FORMAT: Literal["momus-baseline-1"] = "momus-baseline-1"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True)
class Baseline:
    """A name for a run.

    Attributes
    ----------
    name
        Letters, digits, dots, hyphens and underscores.
    path
        Run folder, relative to the registry folder.
    identity
        `KeptRun.identity` when the baseline was set.
    real, fit
        Fingerprints of the real text, or of the text of a model in its place, and of the text that critics are fitted
        on.
    momus, started
        Version that wrote the run, and when it began.
    set_at
        When the baseline was set.
    format
        Version of the file's format.
    """

    name: str
    path: str
    identity: str
    real: str
    fit: str
    momus: str
    started: str
    set_at: str
    format: Literal["momus-baseline-1"]


class Baselines:
    """The registry: one JSON file per baseline.

    Parameters
    ----------
    folder
        The registry folder; it is created when a baseline is set.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def find(cls, folder: Path | None = None, start: Path | None = None) -> Baselines:
        """The registry in this folder; default: ``.momus/baselines`` in the current folder or the nearest one above."""
        if folder is not None:
            return cls(folder)
        here = (start or Path.cwd()).resolve()
        known = (parent / FOLDER for parent in (here, *here.parents) if (parent / FOLDER).is_dir())
        return cls(next(known, here / FOLDER))

    def set(self, name: str, run: str | Path) -> Baseline:
        """Give a run a name; an earlier baseline of this name is replaced.

        Raises
        ------
        UsageError
            The name has characters that a file name should not have.
        StoreError
            The folder holds no finished run, or the registry cannot be written.
        """
        kept = KeptRun.read(run)
        path = self._file(name)
        baseline = Baseline(
            name,
            Path(os.path.relpath(kept.path.resolve(), self.folder.resolve())).as_posix(),
            kept.identity,
            kept.fingerprint(kept.reference),
            kept.fingerprint("fit"),
            str(kept.signature.get("momus", "")),
            kept.started,
            datetime.now(UTC).isoformat(timespec="seconds"),
            FORMAT,
        )
        with writing(path, "name another --registry"):
            make_folder(self.folder)
            check_output(path, "a baseline")
            write_json(path, asdict(baseline), own="a baseline")
        return baseline

    def names(self) -> list[str]:
        """Names of all baselines."""
        return sorted(p.stem for p in self.folder.glob("*.json") if _NAME.fullmatch(p.stem))

    def get(self, name: str) -> Baseline:
        """Read a baseline.

        Raises
        ------
        UsageError
            There is none of this name.
        StoreError
            Its file is damaged.
        """
        path = self._file(name)
        try:
            return read_json(path, Baseline, f"momus gate RUN --save-as {name}")
        except FileNotFoundError as error:
            known = ", ".join(self.names()) or "none"
            raise UsageError(
                f"no baseline {name!r} in {self.folder}",
                hint=f"momus gate RUN --save-as {name} sets it; known: {known}",
            ) from error

    def resolve(self, name: str) -> KeptRun:
        """Find a run by its folder, or by the name of a baseline.

        Raises
        ------
        UsageError
            It is neither.
        StoreError
            The run is gone, or another run has taken its place since the baseline was set.
        """
        if Path(name).is_dir() or not _NAME.fullmatch(name):
            return KeptRun.read(name)
        baseline = self.get(name)
        run = KeptRun.read(self.folder / baseline.path)
        if run.identity != baseline.identity:
            raise StoreError(
                f"{run.path}: another run has replaced the one that baseline {name!r} was set to",
                hint=f"momus gate {run.path} --save-as {name}, if that is what you want",
            )
        return run

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} cannot name a baseline", hint="use letters, digits, dots, hyphens and underscores"
            )
        return self.folder / f"{name}.json"
