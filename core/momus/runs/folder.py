"""The run folder: the files that a comparison writes, for people and for programs.

During a run, the files of each critic are written to ``.next/critics/<name>/`` (fitted critic, result, scores) as soon
as it has finished; an interrupted run can then be resumed. The tables of the whole run are assembled from these files,
and the run is published at once (`momus.runs.manifest`). Readers check the manifest first.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from momus import ownership
from momus.arguments import arg
from momus.errors import StoreError
from momus.files import write_json
from momus.joint.dependence import Dependence
from momus.joint.partners import Win
from momus.joint.ranks import Joint
from momus.joint.slices import Slices
from momus.locking import Lock
from momus.outputs import delete, make_folder, replacing, write_bytes, writing
from momus.ownership import check_folder
from momus.parameters import shown
from momus.runs.kept import HEADLINE, read_axis, write_axis
from momus.runs.manifest import (
    AGAIN,
    MANIFEST,
    NEXT,
    begin,
    check_manifest,
    check_strangers,
    complete,
    is_pending,
    publish,
    write_manifest,
)
from momus.runs.result import CriticResult, Results, RunRecord, contradiction
from momus.schema import build, parse_json, read_json
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.joint.axes import AxisRows

RUN, VERDICTS, DOCUMENTS, REPORT, LOCK = "run.json", "verdicts.jsonl", "documents.parquet", "report.html", ".lock"
PAIRS, JOINT = "pairs.jsonl", "joint.json"
RESULT, SCORES = "result.json", "scores.parquet"

UNFINISHED = "an unfinished run"
CONTINUE = "unless it is still running, finish it"
INSTEAD = {
    ownership.CALIBRATION.name: "read its calibration.csv, or run `momus calibrate` again",
    ownership.ROWS.name: "give it to `momus compare` in place of the text that was scored",
    ownership.CRITIC.name: "name the run folder that holds it",
}
"""What to do with other folders of Momus that are taken for runs."""
WAIT = 5.0
"""Seconds to wait for another process that is publishing a run."""


class RunFolder:
    """Reads and writes a run folder.

    Parameters
    ----------
    path
        An existing folder, or one to be created.

    Attributes
    ----------
    work
        Where files are written and kept results are read: the folder itself, or a generation of it (`begin`).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = self.work = Path(path)
        self.lock = Lock(self.path / LOCK, str(path))

    def open_for_writing(self, *, overwrite: bool = False, resume: bool = False) -> None:
        """Create and lock the folder.

        Raises
        ------
        StoreError
            The path is a file, the folder holds other files or a run (unless ``overwrite`` or ``resume``), or another
            process is writing to it.
        """
        if check_folder(self.path, ownership.RUN, leftovers=[LOCK]):
            if not (overwrite or resume):
                held, how = (UNFINISHED, CONTINUE) if self._unfinished() else ("a run already", "update it")
                raise StoreError(
                    f"{self.path} holds {held}",
                    hint=f"{how} with {arg('resume', True)}, replace it with {arg('overwrite', True)}, "
                    f"or name another folder with {arg('out')}",
                )
            self._complete()
            check_strangers(self.path)
        with writing(self.path, f"name another folder with {arg('out')}"):
            make_folder(self.path)
        self.lock.acquire()

    def begin(self, *, resume: bool) -> None:
        """Begin a generation: what is written stays beside the published files until `publish`.

        With ``resume``, finished critics of an interrupted generation, else those of the published run, are kept.

        Raises
        ------
        StoreError
            The folder cannot be written.
        """
        with writing(self.path, f"name another folder with {arg('out')}"):
            self.work = begin(self.path, keep=resume)

    def publish(self) -> None:
        """Publish the generation by one rename; the run is then in the folder under the names that others read."""
        publish(self.path)
        self.work = self.path

    def release(self) -> None:
        """Unlock the folder."""
        self.lock.release()

    def critic_folder(self, name: str) -> Path:
        """Folder of the files of one critic."""
        return self.work / "critics" / name

    def keep(self, result: CriticResult, scores: Iterable[pa.Table], axis: AxisRows | None = None) -> None:
        """Write scores (a table for each text), headline rows and result of a critic.

        The result is written last: it marks the critic as finished.
        """
        folder = self.critic_folder(result.name)
        make_folder(folder)
        _write_tables(folder / SCORES, scores)
        if axis is None:
            delete(folder / HEADLINE)
        else:
            write_axis(axis, folder)
        write_json(folder / RESULT, result.to_json(), indent=None)
        write_manifest(folder)

    def kept_axis(self, critic: Critic[Any]) -> AxisRows | None:
        """Read the headline rows of a critic, which need not be fitted; None if there are none."""
        folder = self.critic_folder(critic.name)
        if not (folder / HEADLINE).exists():
            return None
        return read_axis(folder, type(critic).load(folder, configured=critic.get_params()))

    def kept(self, name: str) -> CriticResult | None:
        """Read the result of a critic; None if the critic has not finished."""
        path = self.critic_folder(name) / RESULT
        if not path.exists() or not path.with_name(MANIFEST).exists():
            return None
        if self.work != self.path:  # the manifest of a published run was checked as a whole
            check_manifest(path.parent)
        return read_json(path, CriticResult, "run it again, and overwrite the folder")

    def finish(self, run: dict[str, Any], verdicts: Sequence[Verdict], pairs: Sequence[Verdict] = ()) -> None:
        """Write ``run.json`` and the tables of the whole run."""
        if pairs:
            _write_rows(self.work / PAIRS, pairs)
        else:
            delete(self.work / PAIRS)
        _write_rows(self.work / VERDICTS, verdicts)
        paths = [self.critic_folder(c["name"]) / SCORES for c in run["critics"]]
        tables = _row_groups(path for path in paths if path.exists())
        if first := next(tables, None):
            _write_tables(self.work / DOCUMENTS, chain([first], tables))
        else:
            delete(self.work / DOCUMENTS)
        write_json(self.work / RUN, run)

    def read_run(self) -> dict[str, Any]:
        """Read ``run.json``.

        Raises
        ------
        StoreError
            The folder holds no finished run.
        """
        self._complete()
        path = self.path / RUN
        try:
            content = read_json(path, dict[str, Any], AGAIN)
        except FileNotFoundError as error:
            if self._unfinished():
                raise StoreError(
                    f"{self.path} holds {UNFINISHED}", hint=f"{CONTINUE} with {arg('resume', True)}"
                ) from error
            kind = ownership.kind_of(self.path)
            name = kind.name if kind is not None else ""
            raise StoreError(
                f"{self.path}: {f'{name}, not a run' if name else f'no {RUN} in this folder'}",
                hint=INSTEAD.get(name, "name a folder that `momus compare` wrote"),
            ) from error
        check_manifest(self.path)
        record = build(RunRecord, content, str(path), AGAIN)
        wrong = contradiction(record)
        if wrong:
            raise StoreError(f"{path}: {wrong}", hint=AGAIN)
        return dict(record)

    def _unfinished(self) -> bool:
        """Whether all that the folder holds is a run that was begun."""
        return (self.path / NEXT).is_dir() and not (self.path / RUN).exists()

    def _complete(self) -> None:
        """Finish a publication that was interrupted, or wait for the process that is at it."""
        if not is_pending(self.path):
            return
        try:
            self.lock.wait(WAIT)
        except StoreError:  # it is still at it, or the folder takes no lock
            return
        try:
            complete(self.path)
        finally:
            self.lock.release()

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


def _row_groups(paths: Iterable[Path]) -> Iterator[pa.Table]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            yield from map(file.read_row_group, range(file.num_row_groups))


def _write_tables(path: Path, tables: Iterable[pa.Table]) -> None:
    """Write tables into one file, a row group each; one is in memory at a time."""
    remaining = iter(tables)
    kept = [next(remaining)]
    with replacing(path) as temporary, pq.ParquetWriter(temporary, kept[0].schema, compression="zstd") as writer:
        while kept:
            writer.write_table(kept.pop())  # gone before the next is made
            kept.extend(islice(remaining, 1))


def _write_rows(path: Path, verdicts: Sequence[Verdict]) -> None:
    rows = [json.dumps(v.row(), ensure_ascii=False, allow_nan=False) for v in verdicts]
    write_bytes(path, "".join(f"{row}\n" for row in rows).encode("utf-8", "backslashreplace"))


def _read_rows(path: Path) -> list[Verdict]:
    try:
        # only line feeds end rows: a name may hold other line ends, such as U+2028
        lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", hint=AGAIN) from error
    places = ((f"{path}, line {number}", line) for number, line in enumerate(lines, 1) if line)
    return [build(Verdict, parse_json(line, place, AGAIN), place, AGAIN) for place, line in places]


def write_joint(joint: Joint, path: Path) -> None:
    """Write the analyses of all axes."""
    write_json(path, joint.to_json(), indent=None)


def read_joint(path: Path) -> Joint:
    """Read what `write_joint` wrote; empty if there is no such file.

    Raises
    ------
    StoreError
        The file cannot be read, or holds something else.
    """
    return read_json(path, Joint, AGAIN) if path.exists() else Joint()


def read_results(run: str | Path) -> Results:
    """Read a finished run back from its folder; per-document scores stay in ``documents.parquet``.

    Raises
    ------
    StoreError
        The folder holds no finished run.
    """
    folder = RunFolder(run)
    signature = folder.read_run()
    comparison = Results(
        verdicts=folder.read_verdicts(),
        results=folder.results(c["name"] for c in signature["critics"]),
        signature=signature,
        warnings=list(signature["warnings"]),
        pairs=folder.read_pairs(),
        joint=read_joint(folder.path / JOINT),
        left_out=signature.get("left_out", {}),
        folder=folder.path,
    )
    _check_names(comparison, folder.path)
    return comparison


def _check_names(comparison: Results, path: Path) -> None:
    """Raise `StoreError` if a file of a run names a critic or a text that the run does not have."""
    critics = {c["name"] for c in comparison.signature["critics"]}
    corpora = {c["name"]: c["role"] for c in comparison.signature["corpora"] if c["role"] != "fit"}
    generated = {name for name, role in corpora.items() if role == "generated"}
    rows = [(VERDICTS, v) for v in comparison.verdicts] + [(PAIRS, v) for v in comparison.pairs]
    named: list[tuple[str, str, str, Collection[str]]] = []
    for r in comparison.results:
        file = f"critics/{r.name}/{RESULT}"
        rows += [(file, v) for v in (*r.verdicts, *r.pairs)]
        beside = (d for e in (*r.references, *r.examples) for d in (e.document, e.human))
        of_texts = [*(u.corpus for u in r.unscored), *(d.corpus for d in (*r.outliers, *r.odd_real, *beside))]
        named += [(file, "critic", r.name, critics), *((file, "corpus", name, corpora) for name in of_texts)]
        named += [(file, "corpus", name, generated) for name, _ in r.evidence]
    named += [(file, "critic", v.critic, critics) for file, v in rows]
    named += [(file, "corpus", name, corpora) for file, v in rows for name in (v.generated, v.reference)]
    depend = comparison.joint.dependences
    of_joint: list[Slices | Win | Dependence] = [*comparison.joint.slices, *comparison.joint.wins, *depend]
    named += [(JOINT, "corpus", x.generated, generated) for x in of_joint]
    named += [(JOINT, "critic", x.critic, critics) for x in depend]
    for file, what, name, known in named:
        if name not in known:
            raise StoreError(f"{path / file}: {what} is {shown(name)}, expected one of {', '.join(known)}", hint=AGAIN)
