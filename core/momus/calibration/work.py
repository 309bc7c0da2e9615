"""What all critics of a calibration share, and the cells of one critic: fitted once, and each text scored once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from momus.calibration.cells import RandomSplits, SplitCell, SplitJudge, judge_for, measure
from momus.calibration.plan import NULL, PROMPT, CalibrationPlan, units_of
from momus.calibration.store import CELLS, CellFolder
from momus.controls import DEFECTS, Planted
from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import moved, row_unit, scored_units, settled
from momus.critic.scores import Scores
from momus.critic.source import source_change, source_digest
from momus.engine.reuse import files_named
from momus.estimator import clone
from momus.locking import Lock
from momus.progress import Timed
from momus.runs.result import Again
from momus.text.corpus import Corpus


@dataclass(frozen=True)
class CriticCells:
    """All cells of a critic, and what an earlier run had done and was done again."""

    cells: list[SplitCell]
    again: list[Again]


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

    def run(self, critic: Critic[Any], timed: Timed) -> CriticCells:
        """Measure the cells of one critic; those that the folder holds are not measured again."""
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
                    judge, planted = judges.judge(defect, strength)
                    if cell is None:
                        cell = SplitCell(critic.name, judge.statistic, defect, strength, *size, source=source)
                    cell = replace(cell, changed=len(planted.changes), places=planted.count)
                    draws = RandomSplits(judge, size, self.plan.seed, self.plan.replacement, units)
                    with timed.stage(
                        "measuring", f"splits, {defect} {strength:g}".removesuffix(" 0"), splits
                    ) as advance:
                        cell = measure(cell, draws, splits, advance)
                    if kept is not None:
                        kept.keep(cell)
                cells.append(cell.first(splits))
        cells.sort(key=lambda c: (c.n_real, c.n_generated))  # stable: defects and strengths in order within a size
        return CriticCells(cells, [Again(critic.name, "fitted and measured", why) for why in sorted(reasons)])

    def _kept(self, critic: Critic[Any]) -> CellFolder | None:
        """The cells that the folder holds of a critic with these parameters, of these texts."""
        if self.folder is None:
            return None
        params = critic.get_params(deep=False)
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

    def _judge(self, defect: str, strength: float) -> tuple[SplitJudge, Planted]:
        """The judge of the real text and of one with a planted defect."""
        critic, real, plan = self._fitted, self._work.real, self._work.plan
        planted = Planted(real, {}) if defect == NULL else DEFECTS[defect].plant(real, strength, plan.seed)
        # as in a comparison, which looks at both texts before it scores them
        if settled(critic, [real] if defect == NULL else [real, planted.corpus]):
            vars(self).pop("_real", None)
        other = self._real if defect == NULL else self._scores(planted.corpus)
        sides = (real, self._real), (planted.corpus, other)
        return judge_for(critic, *sides, plan.permutations, plan.wide, plan.seed), planted
