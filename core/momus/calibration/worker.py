"""The work of a calibration, in one process: critics fitted once, real text scored once, each planted text once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momus.calibration.cells import Cell, CellFolder, measure
from momus.calibration.judges import SplitJudge, judge_for
from momus.calibration.plan import NULL, Plan
from momus.controls import DEFECTS, Planted
from momus.critic import Critic, RunningTextCritic, Scores, usable_documents
from momus.errors import FittingError, MissingExtraError, StoreError
from momus.progress import Advance
from momus.text.corpus import Corpus
from momus.version import __version__

FITTED = "critics"
CELLS = "cells"
KEPT_EVERY = 10.0
"""Seconds after which an unfinished cell is kept."""
Task = tuple[str, float, tuple[str, ...]]
"""A defect, its strength, and the critics to measure."""


@dataclass(frozen=True)
class Work:
    """What all processes of a calibration share.

    Attributes
    ----------
    fit, real, donor
        What critics are fitted on, what is split and planted, what defects take pieces from.
    critics
        Critics, not fitted yet.
    folder
        Where critics and cells are kept.
    """

    fit: Corpus
    real: Corpus
    donor: Corpus | None
    critics: Sequence[Critic[Any]]
    plan: Plan
    folder: Path
    device: str

    def cells(self) -> CellFolder:
        """The cells that are kept."""
        key = {
            "momus": __version__,
            "fit": self.fit.fingerprint,
            "real": self.real.fingerprint,
            "ids": sorted(self.real.ids),
            "donor": None if self.donor is None else self.donor.fingerprint,
            **self.plan.key(),
        }
        return CellFolder(self.folder / CELLS, key)


class Worker:
    """Does tasks, and keeps fitted critics and scores of the real text between them.

    Parameters
    ----------
    advance
        Told how many splits more are done.
    """

    def __init__(self, work: Work, advance: Advance = lambda splits: None) -> None:
        self.work, self.advance = work, advance
        self.folder = work.cells()
        self._fitted: dict[str, Critic[Any]] = {}
        self._real: dict[str, Scores | None] = {}

    def fit(self, name: str) -> str | None:
        """Fit a critic and keep it, unless it is kept; returns why it cannot be fitted, or None."""
        try:
            self._critic(name)
        except (FittingError, MissingExtraError) as error:
            how = f" ({error.hint})" if isinstance(error, MissingExtraError) else ""
            return f"{error.message}{how}"
        return None

    def _critic(self, name: str) -> Critic[Any]:
        if name not in self._fitted:
            made = next(c for c in self.work.critics if c.name == name)
            folder = self.work.folder / FITTED / name
            critic = _kept(made, folder, usable_documents(self.work.fit).fingerprint)
            if critic is None:
                critic = made.clone().to(self.work.device).fit(self.work.fit)
                critic.save(folder)
            self._fitted[name] = critic.to(self.work.device)
        return self._fitted[name]

    def _scores(self, critic: Critic[Any], corpus: Corpus) -> Scores | None:
        return None if isinstance(critic, RunningTextCritic) else critic.score(corpus)

    def _of_real(self, critic: Critic[Any]) -> Scores | None:
        if critic.name not in self._real:
            self._real[critic.name] = self._scores(critic, self.work.real)
        return self._real[critic.name]

    def run(self, task: Task) -> Iterator[Cell]:
        """Measure all cells of a task; those that are kept are taken as they are, or gone on with."""
        defect, strength, names = task
        plan = self.work.plan
        splits = plan.splits if defect == NULL else plan.power_splits
        planted: Planted | None = None
        for name in names:
            settings = _settings(next(c for c in self.work.critics if c.name == name))
            judge = None
            for size in plan.pairs(len(self.work.real)):
                begun = self.folder.find(settings, defect, strength, size)
                done = 0 if begun is None else min(len(begun.p), splits)
                self.advance(done)
                if begun is None or (done < splits and not _hopeless(begun)):
                    if planted is None:
                        planted = self._planted(defect, strength)
                    if judge is None:
                        judge = self._judge(name, planted.corpus, defect == NULL)
                    changed = len(planted.changes), planted.count
                    each = self._keeper(settings)
                    cell = measure(
                        judge, name, defect, strength, size, splits, plan.seed, changed, plan.replacement, begun, each
                    )
                    self.folder.keep(cell, settings)
                else:
                    cell = begun.first(splits)
                self.advance(splits - max(done, len(cell.p)))
                yield cell

    def _keeper(self, settings: dict[str, Any]) -> Callable[[Cell], None]:
        """Counts splits, and keeps unfinished cells from time to time, so that little is lost where work is stopped."""
        kept = [time.monotonic()]

        def each(cell: Cell) -> None:
            self.advance(1)
            if time.monotonic() - kept[0] > KEPT_EVERY:
                self.folder.keep(cell, settings)
                kept[0] = time.monotonic()

        return each

    def _planted(self, defect: str, strength: float) -> Planted:
        if defect == NULL:
            return Planted(self.work.real, [])
        return DEFECTS[defect].plant(self.work.real, strength, self.work.plan.seed, self.work.donor)

    def _judge(self, name: str, planted: Corpus, null: bool) -> SplitJudge:
        critic, plan = self._critic(name), self.work.plan
        real = self._of_real(critic)
        other = real if null else self._scores(critic, planted)
        return judge_for(critic, (self.work.real, real), (planted, other), plan.permutations, plan.wide, plan.seed)


def _hopeless(cell: Cell) -> bool:
    """Whether nothing was measured since there are too few documents."""
    return bool(cell.reason) and not cell.p


def _settings(critic: Critic[Any]) -> dict[str, Any]:
    return {"name": critic.name, "params": critic.get_params()}


def _kept(made: Critic[Any], folder: Path, fingerprint: str) -> Critic[Any] | None:
    """The critic that was fitted on the same text with the same parameters, if it is kept."""
    if not (folder / "critic.json").exists():
        return None
    try:
        critic = type(made).load(folder)
    except StoreError:  # half written when the machine stopped: it is fitted again
        return None
    same = critic.get_params() == made.get_params() and critic.fitted_on_["fingerprint"] == fingerprint
    return critic if same else None
