"""`calibrate`: fit critics once, split real text many times, plant defects, and count each critic's alarms.

Each text is scored once by each critic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.calibration.cells import RandomSplits, SplitCell, SplitJudge, judge_for, measure
from momus.calibration.plan import NULL, PROMPT, CalibrationPlan, units_of
from momus.calibration.store import CELLS, RESULTS, Calibration, CellFolder, write_calibration
from momus.controls import DEFECTS
from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import DeviceMixin, moved, row_unit, scored_units, settled, with_needs
from momus.critic.powers import headline_of
from momus.critic.scores import Scores
from momus.critic.source import source_change, source_digest
from momus.critic.splitting import usable_documents
from momus.engine.chosen import Chosen, chosen_critics, none_fitted
from momus.engine.jobs import outcomes, processes_of
from momus.engine.reuse import again_warnings, files_named
from momus.errors import UsageError
from momus.estimator import clone
from momus.locking import Lock
from momus.numeric.devices import resolve_device
from momus.outputs import make_folder, write_bytes, writing
from momus.ownership import CALIBRATION, MARK, check_folder, check_own, check_place
from momus.parameters import check_values
from momus.progress import Reporter, Timed, default_reporter
from momus.reading import ReadingOptions, TextSource
from momus.runs.folder import LOCK
from momus.runs.result import Again
from momus.runs.texts import Texts, read_texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.version import __version__


@dataclass(frozen=True)
class CalibrationWork:
    """Texts and settings that all critics of a calibration share (`momus.engine.jobs.CriticWork`).

    Attributes
    ----------
    fit, real
        The text to fit on, and the text to split and to plant defects in.
    folder
        The folder of the calibration; None if nothing is kept.
    lock
        Its lock, which processes hold, too, once it has been unpickled there.
    """

    fit: Corpus
    real: Corpus
    plan: CalibrationPlan
    device: str
    folder: Path | None
    lock: Lock | None

    def run(self, critic: Critic[Any], timed: Timed) -> tuple[list[SplitCell], list[Again]]:
        """Measure the cells of one critic, and say which of an earlier run had to be measured again, and why."""
        kept = self._kept(critic)
        source = source_digest(critic)
        judges = _Judges(critic, self, timed)
        # a critic of prompts has one row per prompt, which any split keeps whole
        units = None if row_unit(critic) == PROMPT else units_of(self.real, self.plan.by)
        rows = scored_units(critic, self.real) if units is None else units
        cells, reasons = [], set[str]()
        for defect, strength in ((NULL, 0.0), *product(self.plan.defects, sorted(self.plan.strengths))):
            splits = self.plan.splits if defect == NULL else self.plan.power_splits
            for size in self.plan.pairs(len(rows)):
                cell = None if kept is None else kept.find(defect, strength, size)
                if cell is not None and (why := source_change(cell.source, source)):
                    reasons.add(why)
                    cell = None
                if cell is None or (len(cell.p) < splits and not cell.too_few):
                    judge = judges.judge(defect, strength)
                    if cell is None:
                        cell = SplitCell(critic.name, judge.statistic, defect, strength, *size, source=source)
                    draws = RandomSplits(judge, size, self.plan.seed, self.plan.replacement, units)
                    with timed.stage(
                        "measuring", f"splits, {defect} {strength:g}".removesuffix(" 0"), splits
                    ) as advance:
                        cell = measure(cell, draws, splits, advance)
                    if kept is not None:
                        kept.keep(cell)
                cells.append(cell.first(splits))
        cells.sort(key=lambda c: (c.n_real, c.n_generated))  # stable: defects and strengths in order within a size
        return cells, [Again(critic.name, "fitted and measured", why) for why in sorted(reasons)]

    def _kept(self, critic: Critic[Any]) -> CellFolder | None:
        """The cells that the folder holds of a critic with these parameters, of these texts."""
        if self.folder is None:
            return None
        params = critic.get_params()
        key = {"params": params, "files": files_named(params), "fit": self.fit.identity, "real": self.real.identity}
        return CellFolder(self.folder / CELLS / critic.name, {**key, **self.plan.key()})


class _Judges:
    """The judges of a critic, which is fitted for the first of them: cells that were kept need none."""

    def __init__(self, critic: Critic[Any], work: CalibrationWork, timed: Timed) -> None:
        self._critic, self._work, self._timed = critic, work, timed
        # the last one, which serves texts of all sizes
        self.judge = lru_cache(maxsize=1)(self._judge)

    @cached_property
    def _fitted(self) -> Critic[Any]:
        with self._timed.stage("fitting"):
            fitted = moved(clone(self._critic), self._work.device).fit(self._work.fit)
            settled(fitted, [self._work.real])
        return fitted

    @cached_property
    def _real(self) -> Scores | None:
        return self._scores(self._work.real)

    def _scores(self, corpus: Corpus) -> Scores | None:
        if isinstance(self._critic, RunningTextCritic):
            return None
        with self._timed.stage("scoring", corpus.name):
            return self._fitted.score(corpus)

    def _judge(self, defect: str, strength: float) -> SplitJudge:
        """The judge of the real text and of one with a planted defect."""
        critic, real, plan = self._fitted, self._work.real, self._work.plan
        planted = real if defect == NULL else DEFECTS[defect].plant(real, strength, plan.seed)
        # as in a comparison, which looks at both texts before it scores them
        if settled(critic, [real] if defect == NULL else [real, planted]):
            vars(self).pop("_real", None)
        other = self._real if defect == NULL else self._scores(planted)
        return judge_for(critic, (real, self._real), (planted, other), plan.permutations, plan.wide, plan.seed)


def calibrate(
    real: TextSource,
    *,
    fit: TextSource | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: Mapping[str, dict[str, Any]] | None = None,
    out: str | Path | None = None,
    plan: CalibrationPlan | None = None,
    reading: ReadingOptions | None = None,
    jobs: int = 1,
    device: str = "auto",
    reporter: Reporter | None = None,
    command: str | None = None,
    **options: Any,
) -> Calibration:
    """Measure each critic's false-alarm rate and power on real text.

    Parameters
    ----------
    real
        Real text to split and to plant defects in: a corpus, a path, or a list of texts.
    fit
        Other real text, on which critics are fitted once; default: half of ``real``, drawn by the seed.
    critics, config
        As in `momus.compare`.
    out
        Folder for results. Cells that it already holds for the same texts and settings are not measured again.
    plan, **options
        `CalibrationPlan`, or its fields one by one.
    reading
        How paths are read: field, format, encoding.
    jobs
        Number of processes, each of which measures one critic at a time.

    Raises
    ------
    MomusError
        A text cannot be read, no critic can be fitted, the plan cannot be carried out, …

    >>> texts = [f"word{i % 7} and word{i % 3} " * (i % 5 + 1) for i in range(60)]
    >>> calibration = calibrate(texts, critics=["length"], defects=["length-truncation"], strengths=[0.8], splits=100,
    ...                         power_splits=20, seed=1)
    >>> [(c.defect, c.n_real, c.n_generated, c.tested) for c in calibration.cells]
    [('none', 15, 15, 100), ('length-truncation', 15, 15, 20)]
    """
    plan = _plan(plan, options)
    if jobs < 1:
        raise UsageError(f"{arg('jobs', jobs)}: at least one process is needed", hint=f"write {arg('jobs', 2)}")
    selection = chosen_critics(critics, dict(config or {}))
    _leave_out_unsplittable(selection, plan, named=critics is not None)
    chosen = selection.critics
    timed = Timed(reporter or default_reporter())
    check_place(None if out is None else Path(out), [t for t in (real, fit) if isinstance(t, str | Path)])
    with timed.stage("reading"):
        texts = read_texts(real, {}, fit, plan.seed, with_needs(reading, chosen), timed.inner, check=False)
    held_out, warnings = _held_out(texts)
    units = units_of(held_out, plan.by)
    plan.check(len(held_out if units is None else units))
    device = resolve_device(device) if any(isinstance(c, DeviceMixin) for c in chosen) else "cpu"
    with ExitStack() as stack:
        lock = None if out is None else _locked(Path(out), stack)
        work = CalibrationWork(texts.fit.unsorted, held_out, plan, device, None if out is None else Path(out), lock)
        pool = stack.enter_context(processes_of(work, chosen, jobs))
        stack.enter_context(timed.overall("critic", len(chosen)))
        measured = {}
        for critic, outcome in outcomes(chosen, work, timed, pool):
            if isinstance(outcome, Exception):
                selection.leave_out(critic.name, outcome, named=critics is not None)
            else:
                measured[critic.name] = outcome
        warnings = [*selection.warnings, *warnings, *selection.left_out_warnings]
        warnings += again_warnings(again for _, some in measured.values() for again in some)
        if not measured:
            raise none_fitted(warnings)
        described = [_described(c) for c in chosen if c.name in measured]
        signature = _signature(work, jobs, command, warnings)
        calibration = Calibration(
            plan, [c for cells, _ in measured.values() for c in cells], described, signature, warnings
        )
        if out is not None:
            write_calibration(calibration, Path(out))
    return calibration


def _plan(plan: CalibrationPlan | None, options: dict[str, Any]) -> CalibrationPlan:
    try:
        plan = replace(plan or CalibrationPlan(), **options)
    except TypeError as error:
        raise UsageError(
            f"calibrate: {error}", hint=f"options are: {', '.join(CalibrationPlan.__dataclass_fields__)}"
        ) from error
    check_values(CalibrationPlan, vars(plan), "calibrate")
    return plan


def _leave_out_unsplittable(selection: Chosen, plan: CalibrationPlan, *, named: bool) -> None:
    """Leave out critics of prompts if whole groups are to be split, since their rows belong to no group."""
    prompts = [c.name for c in selection.critics if row_unit(c) == PROMPT] if plan.by == "group" else []
    for name in prompts:
        problem = f"critic {name!r} compares prompts, which cannot be split by group"
        error = UsageError(problem, hint=f"leave it out, or write {arg('by', PROMPT)}")
        selection.leave_out(name, error, named=named)
    selection.critics = [c for c in selection.critics if c.name not in prompts]


def _held_out(texts: Texts) -> tuple[Corpus, list[str]]:
    """The documents with text to calibrate with, sorted by id, and what a reader must know of the texts."""
    warnings = list(texts.warnings)
    shared = 0 if texts.split else int(np.isin(texts.real.hashes, texts.fit.hashes).sum())
    if shared:
        warnings.append(
            f"{shared:,} of {counted(len(texts.real), 'document')} are also in the text that critics are fitted on."
        )
    usable = usable_documents(texts.real)
    if len(usable) < len(texts.real):
        warnings.append(f"{counted(len(texts.real) - len(usable), 'document')} without text left out.")
    by_id = np.argsort(np.asarray(usable.ids, dtype=object), kind="stable")  # splits must not depend on document order
    return usable.take(by_id), warnings


def _locked(path: Path, stack: ExitStack) -> Lock:
    """Open the folder for results, and lock it until the stack unwinds."""
    check_folder(path, CALIBRATION, leftovers=[LOCK])
    with writing(path, f"name another folder with {arg('out')}"):
        make_folder(path)
        lock = Lock(path / LOCK, str(path)).acquire()
        stack.callback(lock.release)
        write_bytes(path / MARK, CALIBRATION.name.encode("ascii"))
        make_folder(path / CELLS)
    for name, kind in RESULTS.items():  # now, and not after hours of work
        check_own(path / name, kind)
    return lock


def _described(critic: Critic[Any]) -> dict[str, Any]:
    return {
        "name": critic.name,
        "axis": critic.axis,
        "unit": row_unit(critic),
        "statistic": headline_of(critic),
        "params": critic.get_params(),
        "source": source_digest(critic),
    }


def _signature(work: CalibrationWork, jobs: int, command: str | None, warnings: Sequence[str]) -> dict[str, Any]:
    corpora = [(work.fit, "fit"), (work.real, "real")]
    return {
        "momus": __version__,
        "command": command,
        "seed": work.plan.seed,
        "device": work.device,
        "jobs": jobs,
        "corpora": [
            {"name": c.name, "role": role, "documents": len(c), "fingerprint": c.fingerprint} for c, role in corpora
        ],
        "warnings": list(warnings),
    }
