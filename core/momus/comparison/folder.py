"""The run folder: the files that a comparison writes, for people and for programs.

During a run, the files of each critic are written to ``critics/<name>/`` (fitted critic, result, scores) as soon as it
has finished; an interrupted run can then be resumed. The tables of the whole run are assembled from these files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from momus.comparison.axis_file import read_axis, write_axis
from momus.comparison.joint_file import read_joint
from momus.comparison.result import Comparison, CriticResult
from momus.comparison.verdict import Verdict
from momus.errors import StoreError
from momus.files import write_json

if TYPE_CHECKING:
    from momus.comparison.axes import Axis
    from momus.critic import Critic

RUN, VERDICTS, DOCUMENTS, REPORT, LOCK = "run.json", "verdicts.jsonl", "documents.parquet", "report.html", ".lock"
PAIRS, JOINT = "pairs.jsonl", "joint.json"
RESULT, SCORES, ROWS = "result.json", "scores.parquet", "headline.parquet"


class RunFolder:
    """Reads and writes a run folder.

    Parameters
    ----------
    path
        An existing folder, or one to be created.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def open_for_writing(self, *, overwrite: bool = False, resume: bool = False) -> None:
        """Create and lock the folder.

        Raises
        ------
        StoreError
            The path is a file, the folder holds other files or a run (unless ``overwrite`` or ``resume``), or another
            process is writing to it.
        """
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"{self.path} is a file, not a folder", hint="name another folder with --out")
        if self.path.is_dir() and any(self.path.iterdir()):
            if not ((self.path / RUN).exists() or (self.path / LOCK).exists() or (self.path / "critics").exists()):
                raise StoreError(
                    f"{self.path} holds files that do not belong to a run",
                    hint="name a new or empty folder with --out",
                )
            self._check_lock()
            if not (overwrite or resume):
                raise StoreError(
                    f"{self.path} already holds a run",
                    hint="resume it with --resume, replace it with --overwrite, or name another folder with --out",
                )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / LOCK).write_text(str(os.getpid()), encoding="ascii")
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written ({error.strerror})", hint="name another --out") from error
        if overwrite and not resume:
            for result in self.path.glob(f"critics/*/{RESULT}"):
                result.unlink()

    def _check_lock(self) -> None:
        """Raise StoreError if another living process holds the lock."""
        try:
            pid = int((self.path / LOCK).read_text(encoding="ascii"))
            os.kill(pid, 0)  # signal 0 only checks that the process exists
        except (OSError, ValueError):
            return
        if pid != os.getpid():
            raise StoreError(
                f"{self.path} is in use by process {pid}", hint="wait for it, or name another folder with --out"
            )

    def release(self) -> None:
        """Unlock the folder."""
        (self.path / LOCK).unlink(missing_ok=True)

    def critic_folder(self, name: str) -> Path:
        """Folder of the files of one critic."""
        return self.path / "critics" / name

    def keep(self, result: CriticResult, scores: pa.Table, axis: Axis | None = None) -> None:
        """Write scores, headline rows and result of a critic, the result last: it marks the critic as finished."""
        folder = self.critic_folder(result.name)
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(scores, folder / SCORES, compression="zstd")
        if axis is None:
            (folder / ROWS).unlink(missing_ok=True)
        else:
            write_axis(axis, folder / ROWS)
        write_json(folder / RESULT, result.to_json())

    def kept_axis(self, critic: Critic[Any]) -> Axis | None:
        """Read the headline rows of a critic, which need not be fitted; None if there are none."""
        folder = self.critic_folder(critic.name)
        if not (folder / ROWS).exists():
            return None
        return read_axis(folder / ROWS, type(critic).load(folder))

    def kept(self, name: str) -> CriticResult | None:
        """Read the result of a critic; None if the critic has not finished."""
        path = self.critic_folder(name) / RESULT
        if not path.exists():
            return None
        try:
            return CriticResult.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint="run again with --overwrite") from error

    def finish(self, run: dict[str, Any], verdicts: Sequence[Verdict], pairs: Sequence[Verdict] = ()) -> None:
        """Write ``run.json`` and the tables of the whole run."""
        if pairs:
            _write_rows(self.path / PAIRS, pairs)
        else:
            (self.path / PAIRS).unlink(missing_ok=True)
        _write_rows(self.path / VERDICTS, verdicts)
        tables = [pq.read_table(self.critic_folder(c["name"]) / SCORES) for c in run["critics"]]
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
                hint = "the run was interrupted: resume it with `momus compare … --resume`"
            raise StoreError(f"{self.path}: no {RUN} in this folder", hint=hint) from error
        except (OSError, ValueError) as error:
            raise StoreError(f"{path}: not readable ({error})", hint="run `momus compare` again") from error
        if not isinstance(content, dict) or not all(isinstance(content.get(k), list) for k in ("critics", "warnings")):
            raise StoreError(f"{path}: not a run record", hint="run `momus compare` again")
        return content

    def read_verdicts(self) -> list[Verdict]:
        """Read ``verdicts.jsonl``."""
        return _read_rows(self.path / VERDICTS)

    def read_pairs(self) -> list[Verdict]:
        """Read ``pairs.jsonl``; an empty list if the generated corpora were not compared with each other."""
        path = self.path / PAIRS
        return _read_rows(path) if path.exists() else []

    def results(self, names: Iterable[str]) -> list[CriticResult]:
        """Read the results of these critics.

        Raises
        ------
        StoreError
            A critic has no result.
        """
        results = {name: self.kept(name) for name in names}
        missing = [name for name, result in results.items() if result is None]
        if missing:
            raise StoreError(f"{self.path}: no result of {', '.join(missing)}", hint="run `momus compare` again")
        return [result for result in results.values() if result is not None]


def _write_rows(path: Path, verdicts: Sequence[Verdict]) -> None:
    rows = [json.dumps(v.row(), ensure_ascii=False, allow_nan=False) for v in verdicts]
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def _read_rows(path: Path) -> list[Verdict]:
    try:
        return [Verdict.from_row(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise StoreError(f"{path}: not readable ({error})", hint="run `momus compare` again") from error


def read_comparison(run: str | Path) -> Comparison:
    """Read a finished run back from its folder; per-document scores stay in ``documents.parquet``.

    Raises
    ------
    StoreError
        The folder holds no finished run.
    """
    folder = RunFolder(run)
    signature = folder.read_run()
    return Comparison(
        verdicts=folder.read_verdicts(),
        results=folder.results(c["name"] for c in signature["critics"]),
        signature=signature,
        warnings=list(signature["warnings"]),
        pairs=folder.read_pairs(),
        joint=read_joint(folder.path / JOINT),
        folder=folder.path,
    )
