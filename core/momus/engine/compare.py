"""`compare`: fit critics on real text, project real and generated text, test the two against each other.

    request ─▶ planned ─▶ read, or scored in parts ─▶ judged ─▶ analysed ─▶ published

Each step is a function of what the steps before it left in a `Run`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from momus.against.versions import adjusted_by_text
from momus.arguments import arg
from momus.checks.labellers import labelling
from momus.critic import RunningTextCritic
from momus.critic.hooks import DeviceMixin, with_needs
from momus.engine.chosen import Chosen, check_asked, chosen_critics
from momus.engine.crossfit import check_folds
from momus.engine.in_parts import scored_in_parts
from momus.engine.jobs import adjust_all, claiming, processes_of, run_critics, server_of
from momus.engine.large import (
    LargeTexts,
    critics_of_rows,
    large_texts,
    scored_by_parts,
    whole_note,
)
from momus.engine.provenance import signature_of
from momus.engine.request import Request, set_aside, with_labels
from momus.engine.reuse import Reuse
from momus.engine.run_critic import Work
from momus.errors import UsageError
from momus.joint.better import Preference, nearer_in_slices, nearer_of
from momus.joint.dependence import dependences
from momus.joint.ranks import analyse
from momus.joint.slices import reading_slices, together
from momus.numeric.devices import resolve_device
from momus.processes import usable_cores
from momus.progress import Timed, default_reporter
from momus.runs.broken import broken_of
from momus.runs.folder import JOINT, REPORT, RunFolder, write_joint
from momus.runs.kept import write_texts
from momus.runs.result import Results
from momus.runs.texts import Texts, read_texts, read_versions
from momus.verdicts.settings import Settings

Page = Callable[[Results, Path], object]
"""Writes the report of a run into a file."""
MANY_CRITICS, MANY_CHARACTERS = 4, 1_000_000
"""From so many critics and characters of text on, several processes pay."""


@dataclass
class Run:
    """A comparison on its way: what was planned, and what there is of the results.

    Attributes
    ----------
    settings
        Those of the request, with the device that is there.
    large
        The texts, where they are scored in parts; None where they are read whole.
    earlier
        The run to reuse.
    plain
        Texts that are scored in parts, read whole for critics that must see them so.
    open
        What is closed at the end: the folder's lock, processes, temporary folders.
    """

    request: Request
    settings: Settings
    selection: Chosen
    large: LargeTexts | None
    notes: list[str]
    earlier: Reuse | None
    folder: RunFolder | None
    results: Results
    timed: Timed
    plain: Texts | None = None
    open: ExitStack = field(default_factory=ExitStack)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    clock: float = field(default_factory=time.perf_counter)

    def work_folder(self) -> Path:
        """Open the run folder, or a temporary one, and return where files are written."""
        if self.folder is None:
            return Path(self.open.enter_context(TemporaryDirectory(prefix="momus-")))
        # locked before anything is deleted in it; the lock is released last, when the stack unwinds
        self.folder.open_for_writing(overwrite=self.request.overwrite, resume=self.request.resume)
        self.open.callback(self.folder.release)
        self.folder.begin(resume=self.request.resume)
        return self.folder.work


def compare(request: Request, page: Page | None = None) -> Results:
    """Compare texts along the axes of several critics, as a request says; see `momus.compare`.

    Parameters
    ----------
    page
        Writes the report of a run that has a folder.
    """
    run = planned(request)
    files = [label for label in request.labels if label.path]
    labels = [labelling(e.name, e.path, kind=e.kind, gold=e.gold, second=e.second) for e in files]
    with run.open:
        texts = judged(run)
        # after the verdicts, whose reference it leaves as it is
        if request.real is not None:
            compared_with_real(run, texts)
        run.results.signature = signature_of(
            run.results, texts, run.selection.critics, run.settings, request.command, run.started
        )
        run.results.signature["labels"] = labels
        depended(run, texts)
        if run.folder is not None:
            published(run, run.folder, page)
        run.results.signature["seconds"] = _seconds(run)  # again: of a run without a folder too
    return run.results


def planned(request: Request) -> Run:
    """Choose critics and the way to score; nothing is written yet, and texts are looked at, not read."""
    timed = Timed(request.reporter or default_reporter())
    started, clock = datetime.now(UTC), time.perf_counter()
    settings, notes = request.settings, list[str]()
    request = replace(request, reading=reading_slices(request.reading, settings.by))
    if not settings.against:
        request.reading.check_names(["real", *request.generated, "fit"])
    large = large_texts(request.reference, request.generated, request.reading)
    if settings.against and large is not None:
        notes, large = [whole_note(large)], None
    # rows were scored by fitted critics, which their folder holds: no others can be compared
    if large is not None and large.rows:
        if request.labels:
            raise UsageError("rows that were scored before have no labels", hint="give texts with their labels")
        selection = critics_of_rows(request, large)
    else:
        config = dict(request.config or {})
        selection = with_labels(chosen_critics(request.critics, config), request.labels, config)
        selection.asked |= {Preference.parse(text).critic for text in settings.better}
    if settings.against:
        _check_versions(selection, request)
    earlier = None if request.reuse is None else Reuse(request.reuse)
    if earlier is not None:
        earlier.check_split(request.fit is not None)
    # looking for a device imports torch, which takes seconds
    computing = any(isinstance(c, DeviceMixin) for c in selection.critics)
    request = replace(request, reading=with_needs(request.reading, selection.critics))
    settings = replace(settings, device=resolve_device(settings.device) if computing else "cpu")
    folder = None if request.out is None else RunFolder(request.out)
    results = Results(folder=None if folder is None else folder.path)
    return Run(
        request, settings, selection, large, notes, earlier, folder, results, timed, started=started, clock=clock
    )


def read(run: Run) -> Texts:
    """Read all texts into memory, and open the run folder."""
    request, settings, chosen = run.request, run.settings, run.selection.critics
    size = sum(path.stat().st_size for path in map(Path, request.paths) if path.is_file())
    # processes import critics while the texts are read
    run.open.enter_context(server_of(chosen, _jobs(run, size)))
    with run.timed.stage("reading", "whole" if run.notes else ""):
        texts = _read(request, settings, run.timed)
    # before the folder is opened: a wrong option must not cost the earlier run in it
    check_asked(settings, chosen, texts)
    if run.folder is not None:
        run.work_folder()
    return texts


def _read(request: Request, settings: Settings, timed: Timed) -> Texts:
    notes = list[str]()
    if settings.without:
        request, notes = set_aside(request, timed.inner)
    generated, reading = request.generated, request.reading
    if not settings.against:
        texts = read_texts(request.reference, generated, request.fit, settings.seed, reading, timed.inner)
    else:
        texts = read_versions((settings.against, request.reference), generated, reading, timed.inner)
        check_folds(texts, settings)
    return replace(texts, warnings=[*notes, *texts.warnings])


def read_plain(run: Run, texts: Texts) -> Texts | None:
    """Texts that are scored in parts, read whole for critics that read across documents; None without any."""
    if run.large is None or all(map(scored_by_parts, run.selection.critics)):
        return None
    with run.timed.stage("reading", "whole texts"):
        sources, seed = (run.request.reference, run.request.generated, run.request.fit), run.settings.seed
        plain = read_texts(*sources, seed, run.request.reading, run.timed.inner, check=False)
    return replace(plain, checks=texts.checks, languages=texts.languages, scripts=texts.scripts)


def judged(run: Run) -> Texts:
    """Read the texts, run all critics on them, adjust verdicts for each other, and analyse all axes together."""
    texts = read(run) if run.large is None else scored_in_parts(run, run.large)
    run.plain = read_plain(run, texts)
    request, settings, results = run.request, run.settings, run.results
    selection = replace(run.selection, critics=[*run.selection.critics])
    results.warnings += [*run.notes, *texts.warnings, *run.selection.warnings, *texts.sample_notes]
    if run.folder is not None:
        write_texts(texts, run.folder.work)
    run.open.enter_context(run.timed.overall("critic", len(selection.critics)))
    results.warnings += claiming(selection, texts, named=not request.unnamed)
    corpora = len(texts.generated) if settings.multiplicity.endswith("-table") else 1
    family = len(selection.critics) * corpora  # axes that are adjusted together
    work = Work(texts, run.plain, settings, run.folder, request.resume, family, run.earlier)
    size = sum(int(c.characters.sum()) for c in (texts.fit, texts.real, *texts.generated))
    # scored already, and tables on disk are read by one process, whose sums serve all critics
    jobs = 1 if run.large is not None else _jobs(run, size)
    with processes_of(work, selection.critics, jobs) as pool:
        run_critics(results, selection, work, run.timed, request.unnamed, pool)
        # before the joint analyses, whose ranks read the bands of these verdicts
        adjust_all(results, texts, settings)
        few, *others = texts.analysed
        joint = analyse(results.axes, results.verdicts, few, others, settings, run.timed, pool)
    alpha = 1 - settings.confidence
    results.joint = replace(
        joint,
        slices=together([s for r in results.results for s in r.slices], alpha),
        wins=tuple(adjusted_by_text([w for r in results.results for w in r.wins])),
    )
    return texts


def depended(run: Run, texts: Texts) -> None:
    """Say which differences go with documents that are broken, and which one document carries."""
    results = run.results
    told = broken_of(results.results, results.signature) or ()
    broken = [(b.generated, b.critic, b.fault.of, b.fault.ids[0] if b.alone else "") for b in told]
    with run.timed.stage("all axes", "documents that differences depend on"):
        rows = [*results.axes, *results.behind]
        depend = dependences(results.verdicts, rows, texts.analysed, broken, run.settings)
    results.joint, results.behind = replace(results.joint, dependences=depend), []


def compared_with_real(run: Run, texts: Texts) -> None:
    """Say which of the reference and each new text is nearer to real text; the texts are not read again."""
    # in the order given, as the texts of any request
    as_given = [corpus.unsorted for corpus in (texts.real, *texts.generated)]
    other = planned(run.request.with_real(as_given[0], {corpus.name: corpus for corpus in as_given[1:]}))
    with other.open:
        again, both = judged(other), other.results
    bands = {v.critic: v.band for v in both.verdicts if v.headline}
    nearer = nearer_of(both.axes, bands, both.joint.ranking, run.settings.against)
    in_slices = nearer_in_slices(both.axes, bands, again.analysed, run.settings)
    run.results.joint = replace(run.results.joint, nearer=nearer, nearer_in_slices=in_slices)
    known = run.results.warnings
    run.results.warnings = [*known, *(f"With real text: {w}" for w in both.warnings if w not in known)]


def published(run: Run, folder: RunFolder, page: Page | None) -> None:
    """Write the tables, the report and the record of the run, and publish its folder."""
    results = run.results
    folder.finish(results.signature, results.verdicts, results.pairs)
    write_joint(results.joint, folder.work / JOINT)
    if page is not None:
        with run.timed.stage("report"):
            page(results, folder.work / REPORT)
    results.signature["seconds"] = _seconds(run)
    folder.finish(results.signature, results.verdicts, results.pairs)
    folder.publish()


def _check_versions(selection: Chosen, request: Request) -> None:
    """Leave out critics of running text, and refuse options that need real text.

    Raises
    ------
    UsageError
        Such a critic or option was asked for.
    """
    laws = [c.name for c in selection.critics if isinstance(c, RunningTextCritic)]
    if laws and not request.unnamed:
        raise UsageError(
            f"{', '.join(laws)}: critics of running text have no prompts to be compared by",
            hint=f"leave them out, or compare both texts with {arg('real')}",
        )
    if request.reuse is not None:
        raise UsageError(
            "critics are fitted anew on the texts of models that are compared", hint=f"leave out {arg('reuse')}"
        )
    selection.critics = [c for c in selection.critics if c.name not in laws]


def _jobs(run: Run, size: int) -> int:
    """Processes: as asked, else one per core where critics take longer on so much text than processes to start."""
    if run.request.jobs is not None:
        return run.request.jobs
    return usable_cores() if len(run.selection.critics) >= MANY_CRITICS and size >= MANY_CHARACTERS else 1


def _seconds(run: Run) -> dict[str, float]:
    seconds = {k: round(v, 3) for k, v in run.timed.seconds.items()}
    return {**seconds, "total": round(time.perf_counter() - run.clock, 3)}
