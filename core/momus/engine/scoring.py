"""`score_parts`: a large text scored part by part, by several critics at once, and resumed after any interruption.

An engine is registered under ``momus.adapters`` as ``engine.NAME``: a callable that takes a `Job`, a number of workers
and an address, and returns an `Engine`. The processes of this machine need none (`momus.engine.worker.score_here`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from momus.arguments import arg
from momus.critic.effects import is_trusted
from momus.critic.hooks import DeviceMixin, with_needs
from momus.critic.registry import critic_class, load_critic, located
from momus.critic.saved import ARRAYS_NAME, JSON_NAME, read_critic_json
from momus.critic.splitting import other_splitting
from momus.engine.worker import CriticFolders, Done, Job, done_of, score_here
from momus.errors import StoreError, UsageError
from momus.numeric.devices import resolve_device
from momus.outputs import make_folder, write_bytes, writing
from momus.ownership import check_no_input
from momus.parameters import exclude, need
from momus.plugins import ADAPTERS, load_plugin
from momus.progress import stage
from momus.reading import ReadingOptions
from momus.reading.parts import InputFile, list_inputs
from momus.rows.folder import ROOM, RowFolder
from momus.rows.plan import PART_DOCUMENTS, Plan, critic_digest, differences, make_plan
from momus.text.documents import LeftOut

LOCAL = "local"


class OtherPlanError(StoreError):
    """The folder holds parts of other critics, texts, options, versions or code; ``changed`` says which."""

    def __init__(self, folder: RowFolder, changed: str) -> None:
        self.changed = changed
        super().__init__(
            f"{folder.path} cannot be resumed: changed since it was begun: {changed}",
            hint=f"undo the change, score into another folder, or begin again with {arg('overwrite', True)}",
        )


@dataclass
class ScoringRun:
    """How far a run is: its finished parts, and what they hold.

    Attributes
    ----------
    folder
        The folder of parts.
    kept
        How many of these were finished before this run.
    done
        Finished parts.
    left_out
        Files that folders leave out.
    notes
        What a reader must know about how the run was resumed.
    failed
        Why critics are left out that were not named.
    """

    folder: Path
    kept: int = 0
    done: list[Done] = field(default_factory=list)
    left_out: Sequence[LeftOut] = ()
    notes: list[str] = field(default_factory=list)
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        """Documents of the finished parts."""
        return sum(d.documents for d in self.done)

    def unscored(self, critic: str) -> Counter[str]:
        """Documents without a score under a critic, by reason."""
        total: Counter[str] = Counter()
        for done in self.done:
            total.update(done.unscored[critic])
        return total


def score_parts(
    critics: Sequence[str | Path] | CriticFolders,
    texts: Sequence[str | Path],
    out: str | Path,
    *,
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    part_size: int | None = None,
    reading: ReadingOptions | None = None,
    device: str = "auto",
    trust: Sequence[Path] = (),
    engine: str = LOCAL,
    address: str | None = None,
) -> ScoringRun:
    """Score texts by fitted critics into a folder of parts, one Parquet file per part of a text.

    Its progress is that of a `momus.progress.stage`.

    Parameters
    ----------
    critics
        Folders of fitted critics, or run folders, which stand for all critics in them.
    texts
        Files, folders and patterns.
    out
        The folder of parts.
    workers
        Number of processes. A script that asks for several calls this under ``if __name__ == "__main__":``.
    resume
        Score what is missing in the folder, whose parts must be of the same critics, inputs, options and versions.
    overwrite
        Replace the parts in the folder.
    part_size
        Documents per part at most, and about 4 MB of text; default: those of the parts that are resumed, or 10,000.
    engine, address
        ``local``, or the name of another engine (``ray``) and the address of its cluster.

    Returns
    -------
    ScoringRun

    Raises
    ------
    StoreError
        The folder is in use, holds other files, or holds parts of something else (the message names the difference).
    MomusError
        A critic or a text cannot be read.
    """
    exclude(resume=resume, overwrite=overwrite)
    need("engine", engine != LOCAL, address=address)
    elsewhere = None if engine == LOCAL else load_plugin(ADAPTERS, f"engine.{engine}")
    if workers < 1 or (part_size is not None and part_size < 1):
        raise UsageError("workers and documents per part are at least 1")
    folders = critics if isinstance(critics, CriticFolders) else CriticFolders.of(critics)
    check_no_input(Path(out), [*folders.paths.values(), *texts])
    reading = with_needs(reading, map(critic_class, folders.paths))
    inputs, left_out = list_inputs([str(t) for t in texts], reading)
    folder = RowFolder(out)

    def attempt(replace: bool) -> ScoringRun:
        begun = replace or not folder.manifest.exists()
        plan, notes = _settled(folder, folders, inputs, reading, part_size, resume, replace)
        parts = range(len(plan))
        for file, part in [] if begun else map(plan.piece, parts):
            if file.has_changed(part):  # since the plan was made: size and time do not show it
                raise OtherPlanError(folder, f"the content of {file.path}")
        run = ScoringRun(folder.path, left_out=left_out, notes=notes, failed=folders.failed)
        records = {i: folder.finished(i, plan.belongs(i)) for i in parts}
        run.done = [done_of(record) for record in records.values() if record is not None]
        run.kept = len(run.done)
        for name in folders.paths:
            has_tokens = "tokenizer" in read_critic_json(folder.critic(name))["state"].get("fitted_on_", {})
            words = other_splitting(load_critic(folder.critic(name))) if has_tokens else ""
            run.notes += [f"Critic {name!r}: {words}"] if words else []
        waiting = [i for i, record in records.items() if record is None]
        if waiting:
            computing = any(issubclass(critic_class(name), DeviceMixin) for name in folders.paths)
            trusted = tuple(name for name, path in folders.paths.items() if is_trusted(path, trust))
            where = resolve_device(device) if computing else "cpu"
            job = Job(folder.path.absolute(), where, trusted, tuple(located().values()))
            finished: Iterator[Done] = (
                score_here(job, workers, waiting)
                if elsewhere is None
                else elsewhere(job, workers, address=address).run(waiting)
            )
            with stage("scoring parts", len(parts)) as advance:
                for done in finished:
                    run.done.append(done)
                    advance(len(run.done))
        folder.sweep(parts)
        return run

    with folder.locked():
        while True:
            with folders.leaving_out():
                return attempt(overwrite)
            overwrite = True  # the other critics score the text from the start


def _settled(
    folder: RowFolder,
    critics: CriticFolders,
    inputs: Sequence[InputFile],
    reading: ReadingOptions,
    part_size: int | None,
    resume: bool,
    overwrite: bool,
) -> tuple[Plan, list[str]]:
    """Make the plan, check it against the one in the folder, and put manifest and critics there.

    Raises
    ------
    StoreError
        The folder holds parts, and is neither to be resumed nor replaced, or is of another plan.
    """
    notes: list[str] = []
    earlier: Plan | None = None
    if overwrite:
        folder.clear()
    elif folder.manifest.exists():
        if not resume:
            raise StoreError(
                f"{folder.path} already holds rows of scores",
                hint=f"score what is missing with {arg('resume', True)}, replace them with {arg('overwrite', True)}, "
                "or name another folder",
            )
        try:
            earlier = Plan.read(folder.manifest)
        except StoreError as error:
            if "format" in error.message and "parts of format" in error.message:
                raise
            notes.append(
                f"{folder.manifest} was damaged and is written again; parts that belong to the same plan are kept."
            )
        else:  # one whose code has changed since is tried again
            same = {name for name, source in critics.sources().items() if earlier.sources.get(name) == source}
            critics.leave_out({name: why for name, why in earlier.left_out.items() if name in same})
    digests = {name: critic_digest(path) for name, path in critics.paths.items()}
    documents = part_size or (PART_DOCUMENTS if earlier is None else earlier.documents)
    plan = make_plan(digests, critics.sources(), inputs, reading, documents, earlier, critics.failed)
    if earlier is not None:
        changed = differences(earlier, plan)
        if changed or earlier.digest != plan.digest:
            raise OtherPlanError(folder, "; ".join(changed) or "the plan")
    for name, path in critics.paths.items():
        _copy_critic(path, folder.critic(name), digests[name])
    if earlier is None or earlier != plan:  # also where only times of files differ
        plan.write(folder.manifest)
    return plan, notes


def _copy_critic(source: Path, target: Path, digest: str) -> None:
    """Copy the two files of a fitted critic, unless they are there, and check that they can be read."""
    with writing(target, ROOM):
        try:
            same = critic_digest(target) == digest
        except StoreError:
            same = False
        if same:
            return
        make_folder(target)
        for name in (ARRAYS_NAME, JSON_NAME):
            write_bytes(target / name, (source / name).read_bytes())
