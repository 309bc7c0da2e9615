"""The run folder: what a comparison leaves, for people and for programs.

While a run is under way each finished critic is kept under ``critics/<name>/`` (fitted critic, result, scores), so
that an interrupted run goes on where it stopped. The tables of the whole run are written from these parts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from momus.errors import StoreError
from momus.results import CriticResult
from momus.verdicts import Verdict

RUN, VERDICTS, DOCUMENTS, REPORT, LOCK = "run.json", "verdicts.jsonl", "documents.parquet", "report.html", ".lock"
PAIRS = "pairs.jsonl"
RESULT, SCORES = "result.json", "scores.parquet"


def write_json(path: Path, content: Any) -> None:
    """Write JSON so that a reader sees the old file or the new one, never half of it."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(path)


class RunFolder:
    """A run folder.

    Parameters
    ----------
    path
        Where it is, or will be.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def open_for_writing(self, *, overwrite: bool = False, resume: bool = False) -> None:
        """Take the folder.

        Raises
        ------
        StoreError
            It is a file, holds something else, holds a finished run (unless ``overwrite`` or ``resume``), or another
            process is writing into it.
        """
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"{self.path} is a file, not a folder", hint="name another folder with --out")
        if self.path.is_dir() and any(self.path.iterdir()):
            if not ((self.path / RUN).exists() or (self.path / LOCK).exists() or (self.path / "critics").exists()):
                raise StoreError(
                    f"{self.path} holds files that are no run", hint="name a new or empty folder with --out"
                )
            self._check_lock()
            if not (overwrite or resume):
                raise StoreError(
                    f"{self.path} already holds a run",
                    hint="go on with --resume, replace it with --overwrite, or name another folder with --out",
                )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / LOCK).write_text(str(os.getpid()), encoding="ascii")
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written ({error.strerror})", hint="name another --out") from error
        if overwrite and not resume:
            for part in self.path.glob(f"critics/*/{RESULT}"):
                part.unlink()

    def _check_lock(self) -> None:
        try:
            pid = int((self.path / LOCK).read_text(encoding="ascii"))
            os.kill(pid, 0)
        except (OSError, ValueError):
            return
        if pid != os.getpid():
            raise StoreError(
                f"{self.path} is in use by process {pid}", hint="wait for it, or name another folder with --out"
            )

    def release(self) -> None:
        """Let others write."""
        (self.path / LOCK).unlink(missing_ok=True)

    def critic_folder(self, name: str) -> Path:
        """Where a critic's parts lie."""
        return self.path / "critics" / name

    def keep(self, result: CriticResult, scores: pa.Table) -> None:
        """Keep what a critic found, last of all its result: a critic without one has not finished."""
        folder = self.critic_folder(result.name)
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(scores, folder / SCORES, compression="zstd")
        write_json(folder / RESULT, result.to_json())

    def kept(self, name: str) -> CriticResult | None:
        """What a finished critic found, or None."""
        path = self.critic_folder(name) / RESULT
        if not path.exists():
            return None
        try:
            return CriticResult.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint="run again with --overwrite") from error

    def finish(self, run: dict[str, Any], verdicts: Sequence[Verdict], pairs: Sequence[Verdict] = ()) -> None:
        """Write the tables of the whole run."""
        if pairs:
            rows = [json.dumps(v.row(), ensure_ascii=False, allow_nan=False) for v in pairs]
            (self.path / PAIRS).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
        else:
            (self.path / PAIRS).unlink(missing_ok=True)
        lines = [json.dumps(v.row(), ensure_ascii=False, allow_nan=False) for v in verdicts]
        (self.path / VERDICTS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        names = [c["name"] for c in run["critics"]]
        tables = [pq.read_table(self.critic_folder(n) / SCORES) for n in names]
        if tables:
            pq.write_table(pa.concat_tables(tables), self.path / DOCUMENTS, compression="zstd")
        write_json(self.path / RUN, run)

    def read_run(self) -> dict[str, Any]:
        """Read ``run.json``.

        Raises
        ------
        StoreError
            The folder holds no finished run.
        """
        path = self.path / RUN
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            hint = "name a folder that `momus compare --out` wrote"
            if (self.path / "calibration.json").exists():
                hint = "this is a calibration: open its report.html, or run `momus calibrate` again"
            elif (self.path / "critics").exists():
                hint = "the run was interrupted: go on with `momus compare … --resume`"
            raise StoreError(f"{self.path}: no {RUN} here", hint=hint) from error
        except (OSError, ValueError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint="run `momus compare` again") from error
        if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in ("critics", "warnings")):
            raise StoreError(f"{path}: not the record of a run", hint="run `momus compare` again")
        return content

    def read_verdicts(self) -> list[Verdict]:
        """Read ``verdicts.jsonl``."""
        path = self.path / VERDICTS
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            return [Verdict.from_row(json.loads(line)) for line in lines]
        except (OSError, ValueError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint="run `momus compare` again") from error

    def read_pairs(self) -> list[Verdict]:
        """Read ``pairs.jsonl``, where generated corpora were compared with each other."""
        path = self.path / PAIRS
        if not path.exists():
            return []
        try:
            return [Verdict.from_row(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint="run `momus compare` again") from error

    def results(self, names: Iterable[str]) -> list[CriticResult]:
        """What these critics found."""
        found = [(name, self.kept(name)) for name in names]
        missing = [name for name, result in found if result is None]
        if missing:
            raise StoreError(f"{self.path}: no result of {', '.join(missing)}", hint="run `momus compare` again")
        return [result for _, result in found if result is not None]
