"""The work of a calibration in one process or in a pool of them.

In each process, every critic is fitted once, the real text scored once, and each planted text once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from momus.calibration.cells import RandomSplits, SplitCell, SplitJudge, judge_for, measure
from momus.calibration.plan import NULL, PROMPT, CalibrationPlan, units_of
from momus.calibration.store import CellFolder
from momus.controls import DEFECTS, Planted
from momus.critic import Critic, RunningTextCritic
from momus.critic.fitted import Source
from momus.critic.guard import blamed
from momus.critic.hooks import moved, row_unit, scored_units, settled
from momus.critic.saved import read_critic_json
from momus.critic.scores import Scores
from momus.critic.source import source_change
from momus.critic.splitting import usable_documents
from momus.errors import MissingExtraError, MomusError, StoreError
from momus.estimator import clone
from momus.locking import Lock
from momus.processes import pool_of
from momus.progress import Advance
from momus.text.corpus import Corpus

FITTED = "critics"
CELLS = "cells"
KEPT_EVERY = 10.0
"""Seconds between two writes of an unfinished cell."""
Task = tuple[str, float, tuple[str, ...]]
"""A defect, its strength, and the critics to measure."""


@dataclass(frozen=True)
class CalibrationWork:
    """Texts, critics and settings that all processes of a calibration share.

    Attributes
    ----------
    fit, real
        The text to fit on, and the text to split and to plant defects in.
    critics
        Critics that are not fitted yet.
    folder
        Folder for fitted critics and cells.
    files
        The files that parameters of critics name, by name of the critic: read once, for all processes.
    sources
        Digests of the code of each critic, by its name.
    """

    fit: Corpus
    real: Corpus
    critics: Sequence[Critic[Any]]
    plan: CalibrationPlan
    folder: Path
    device: str
    files: Mapping[str, Mapping[str, str]]
    sources: Mapping[str, Source]

    def cells(self) -> CellFolder:
        """The folder of cells."""
        key = {
            "fit": self.fit.identity,
            "real": self.real.identity,
            "files": self.files,
            **self.plan.key(),
        }
        return CellFolder(self.folder / CELLS, key)

    def changed_code(self) -> list[str]:
        """Warn of the critics in the folder whose code has changed: they are fitted and measured again."""
        warnings = []
        for name, source in self.sources.items():
            with suppress(StoreError):  # there is none, or it is damaged
                fitted_on = read_critic_json(self.folder / FITTED / name)["state"].get("fitted_on_", {})
                why = source_change(fitted_on.get("source"), source)
                warnings += [f"Critic {name!r} was fitted and measured again: {why}."] if why else []
        return warnings

    def settings(self, critic: Critic[Any]) -> dict[str, Any]:
        """What cells of a critic depend on, beside what all depend on."""
        return {"name": critic.name, "params": critic.get_params(deep=False), "source": self.sources[critic.name]}


class Worker:
    """Does tasks; keeps fitted critics and the scores of the real text in memory between them.

    Parameters
    ----------
    advance
        Called with the number of splits done since the last call.
    """

    def __init__(self, work: CalibrationWork, advance: Advance = lambda splits: None) -> None:
        self.work, self.advance = work, advance
        self.folder = work.cells()
        self._fitted: dict[str, Critic[Any]] = {}
        self._real: dict[str, Scores | None] = {}

    def fit(self, name: str) -> str | None:
        """Fit a critic and save it, unless it is saved already; return why it cannot be fitted, or None."""
        try:
            with blamed(self._unfitted(name)):
                self._critic(name)
        except MomusError as error:
            if not error.critic:
                raise
            hint = f" ({error.hint})" if isinstance(error, MissingExtraError) else ""
            return f"{error.message}{hint}"
        return None

    def _unfitted(self, name: str) -> Critic[Any]:
        return next(c for c in self.work.critics if c.name == name)

    def _critic(self, name: str) -> Critic[Any]:
        """The fitted critic: from memory, else from the folder, else fitted now."""
        if name not in self._fitted:
            unfitted = self._unfitted(name)
            folder = self.work.folder / FITTED / name
            critic = _saved(unfitted, folder, usable_documents(self.work.fit).identity, self.work.sources[name])
            if critic is None:
                critic = moved(clone(unfitted), self.work.device).fit(self.work.fit)
                settled(critic, [self.work.real])
                critic.save(folder)
            self._fitted[name] = moved(critic, self.work.device)
        return self._fitted[name]

    def _scores(self, critic: Critic[Any], corpus: Corpus) -> Scores | None:
        return None if isinstance(critic, RunningTextCritic) else critic.score(corpus)

    def _real_scores(self, critic: Critic[Any]) -> Scores | None:
        if critic.name not in self._real:
            self._real[critic.name] = self._scores(critic, self.work.real)
        return self._real[critic.name]

    def run(self, task: Task) -> Iterator[SplitCell]:
        """Yield all cells of a task; cells on disk are reused, and resumed if they have too few splits."""
        defect, strength, names = task
        plan = self.work.plan
        splits = plan.splits if defect == NULL else plan.power_splits
        planted: Planted | None = None
        by = units_of(self.work.real, plan.by)
        for name in names:
            unfitted = self._unfitted(name)
            settings = self.work.settings(unfitted)
            judge = None
            # a critic of prompts has one row per prompt, which any split keeps whole
            units = None if row_unit(unfitted) == PROMPT else by
            rows = scored_units(unfitted, self.work.real) if units is None else units
            for size in plan.pairs(len(rows)):
                begun = self.folder.find(settings, defect, strength, size)
                done = 0 if begun is None else min(len(begun.p), splits)
                self.advance(done)
                if begun is None or (done < splits and not _too_few_documents(begun)):
                    if planted is None:  # once per task, and only if some cell needs it
                        planted = self._planted(defect, strength)
                    if judge is None:
                        with blamed(unfitted):
                            judge = self._judge(name, planted.corpus, defect == NULL)
                    draws = RandomSplits(judge, size, plan.seed, plan.replacement, units)
                    cell = SplitCell(name, judge.statistic, defect, strength, *size)
                    cell = replace(cell, changed=len(planted.changes), places=planted.count)
                    if begun is not None:
                        cell = replace(cell, p=begun.p, led=begun.led, difference=begun.difference)
                    with blamed(unfitted):
                        cell = measure(cell, draws, splits, self._keeper(settings))
                    self.folder.keep(cell, settings)
                else:
                    cell = begun.first(splits)
                self.advance(splits - max(done, len(cell.p)))
                yield cell

    def _keeper(self, settings: dict[str, Any]) -> Callable[[SplitCell], None]:
        """Return a function that reports each split, and writes the unfinished cell every ``KEPT_EVERY`` seconds."""
        last_written = time.monotonic()

        def after_split(cell: SplitCell) -> None:
            nonlocal last_written
            self.advance(1)
            if time.monotonic() - last_written > KEPT_EVERY:
                self.folder.keep(cell, settings)
                last_written = time.monotonic()

        return after_split

    def _planted(self, defect: str, strength: float) -> Planted:
        if defect == NULL:
            return Planted(self.work.real, {})
        return DEFECTS[defect].plant(self.work.real, strength, self.work.plan.seed)

    def _judge(self, name: str, planted: Corpus, null: bool) -> SplitJudge:
        critic, plan = self._critic(name), self.work.plan
        # as in a comparison, which looks at both texts before it scores them
        if settled(critic, [self.work.real] if null else [self.work.real, planted]):
            self._real.pop(name, None)
        real = self._real_scores(critic)
        other = real if null else self._scores(critic, planted)
        return judge_for(critic, (self.work.real, real), (planted, other), plan.permutations, plan.wide, plan.seed)


def _too_few_documents(cell: SplitCell) -> bool:
    """Whether no split was tested because too few documents can be scored; more splits cannot help then."""
    return bool(cell.reason) and not cell.p


def _saved(unfitted: Critic[Any], folder: Path, identity: str, source: Source) -> Critic[Any] | None:
    """Load the critic; None unless it was fitted on this text, with these parameters, by this code."""
    if not (folder / "critic.json").exists():
        return None
    try:
        critic = type(unfitted).load(folder, configured=unfitted.get_params(deep=False))
    except StoreError:  # written in part when the machine stopped; it is fitted again
        return None
    same = (
        critic.get_params(deep=False) == unfitted.get_params(deep=False)
        and critic.fitted_on_.get("identity") == identity
        and critic.fitted_on_.get("source") == source
    )
    return critic if same else None


class Crew:
    """Distributes fits and tasks over a process pool; without a pool, does them in this process."""

    def __init__(self, work: CalibrationWork, pool: ProcessPoolExecutor | None) -> None:
        self.pool, self.worker = pool, Worker(work)

    def fit(self, names: Sequence[str]) -> Iterator[tuple[str, str | None]]:
        """Fit critics: yield (name, why it cannot be fitted or None), in order of completion."""
        if self.pool is None:
            yield from ((name, self.worker.fit(name)) for name in names)
            return
        futures = {self.pool.submit(_fit, name): name for name in names}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def run(self, tasks: Sequence[Task], advance: Advance) -> list[SplitCell]:
        """Measure the cells of all tasks, in any order; ``advance`` is called with the number of splits done.

        That is after each split in this process, after each task of a pool.

        Raises
        ------
        MomusError
            A task fails; no other one is then still running.
        """
        if self.pool is None:
            self.worker.advance = _cumulative(advance)
            return [cell for task in tasks for cell in self.worker.run(task)]
        plan, more, cells = self.worker.work.plan, _cumulative(advance), list[SplitCell]()
        futures = [self.pool.submit(_run, task) for task in tasks]
        try:
            for future in as_completed(futures):
                cells += future.result()
                more(sum(plan.splits if cell.defect == NULL else plan.power_splits for cell in future.result()))
        except MomusError:
            wait([future for future in futures if not future.cancel()])
            raise
        return cells


def _cumulative(advance: Advance) -> Advance:
    """Wrap ``advance`` so that it can be called with the splits done since the last call, not in total."""
    total = 0

    def more(splits: int) -> None:
        nonlocal total
        total += splits
        advance(total)

    return more


_WORKER: list[Worker] = []
"""The worker of a pool process, set once by `_start_worker`."""


def _start_worker(work: CalibrationWork, lock: Lock | None) -> None:
    """Prepare a pool process; it holds the lock, too, once it has been unpickled here."""
    _WORKER[:] = [Worker(work)]


def _fit(name: str) -> str | None:
    return _WORKER[0].fit(name)


def _run(task: Task) -> list[SplitCell]:
    return list(_WORKER[0].run(task))


@contextmanager
def crew_of(work: CalibrationWork, jobs: int, lock: Lock | None = None) -> Iterator[Crew]:
    """Start ``jobs`` processes for the work (none for one job), and end them with the context."""
    if jobs == 1:
        yield Crew(work, None)
        return
    with pool_of(jobs, _start_worker, work, lock) as pool:
        yield Crew(work, pool)
