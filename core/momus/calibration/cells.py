"""The cells of a calibration: a critic's axis tested on many splits, against one defect at one strength.

Each document is scored once; a judge tests any split of the documents.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from momus.calibration.plan import NULL, SplitUnits, draw, split
from momus.critic import Critic, RunningTextCritic
from momus.critic.fitted import Source
from momus.critic.powers import headline_of
from momus.critic.scores import Scores
from momus.errors import MomusError
from momus.inference import Design, axis_test
from momus.joint.axes import document_rows
from momus.laws.law import Law
from momus.laws.relabelled import RELABELLINGS
from momus.numeric.types import Bools, Ints
from momus.progress import Advance
from momus.text.corpus import Corpus
from momus.text.running import RunningText
from momus.text.tokens import TokenTable
from momus.verdicts.judge import same_columns
from momus.verdicts.running_text import compare_law
from momus.verdicts.statistics import tested_statistics

Tested = tuple[float, str, float]
"""p of an axis, the statistic that leads, and its difference; NaN where the test is undefined."""
Groups = tuple[Ints, Ints]
"""The number of the group of each real and of each generated document; documents of one group are consecutive."""


class RowsJudge:
    """Permutation tests of the family of an axis, for critics of documents.

    Attributes
    ----------
    statistic
        Name of the headline statistic, which leads where no other does.
    usable
        bool (n,): documents that can be scored both unchanged and planted.
    repeatable
        Whether a split may hold a document twice.
    """

    repeatable = True

    def __init__(
        self, critic: Critic[Any], real: Scores, planted: Scores, permutations: int, wide: int, seed: int
    ) -> None:
        self.statistic = headline_of(critic)
        self.usable = real.scored & planted.scored
        self._statistics = [s for s in tested_statistics(critic, list(real.rows)) if s.decides]
        self._options = {"permutations": permutations, "wide": wide, "seed": seed}
        sides = ({s.rows: document_rows(side, s.rows) for s in self._statistics} for side in (real, planted))
        self._rows = same_columns(*sides)

    def test(self, real: Ints, generated: Ints, groups: Groups | None = None) -> Tested:
        """Test two sets of documents, by row; with ``groups``, whole groups are the units of the test."""
        of_real, of_planted = self._rows
        return axis_test(
            self._statistics,
            {key: rows[real] for key, rows in of_real.items()},
            {key: rows[generated] for key, rows in of_planted.items()},
            design=None if groups is None else Design.clusters(*groups),
            headline=self.statistic,
            **self._options,
        )


class LawJudge:
    """Tests of a law, for critics of running text: the documents of a side, in the split's random order, are its text.

    The test assumes that groups of text are independent. If documents stood in the order of their sources, groups would
    differ more than the two sides of a random split do, and the test would hardly ever alarm.
    """

    repeatable = False  # a text that holds a document twice has too few types

    def __init__(
        self, critic: RunningTextCritic[Any], law: Law, real: Corpus, planted: Corpus, relabellings: int = RELABELLINGS
    ) -> None:
        self.statistic = law.name
        tokenizer = critic.tokenizer
        self._law, self._relabellings = law, relabellings
        self._tables = real.tokens(tokenizer), planted.tokens(tokenizer)
        self.usable = (self._tables[0].lengths > 0) & (self._tables[1].lengths > 0)

    def test(self, real: Ints, generated: Ints, groups: Groups | None = None) -> Tested:
        """Test two sets of documents, as `RowsJudge.test`."""
        sides = zip(self._tables, (real, generated), groups or (None, None), strict=True)
        a, b = (_running_text(*side) for side in sides)
        try:
            result = compare_law(self._law, a, b, 0.95, relabellings=self._relabellings)
        except (MomusError, ValueError):  # a text does not determine the law
            return float("nan"), self.statistic, float("nan")
        p, difference = (np.nan if x is None else x for x in (result.p, result.difference))
        return p, self.statistic, difference


def _running_text(table: TokenTable, rows: Ints, groups: Ints | None) -> RunningText:
    """Concatenate documents, and renumber their words: the vocabulary keeps only words that occur.

    ``groups`` are the numbers of the documents' groups, which are consecutive.
    """
    chosen = table.take(rows)
    used = np.flatnonzero(np.bincount(chosen.ids, minlength=len(table.vocabulary)))
    code = np.zeros(len(table.vocabulary), dtype=np.int32)  # code[old number] = new number, (V,)
    code[used] = np.arange(len(used))
    ends = chosen.offsets[1:]
    # a group ends with its last document, whose successor has another number
    group_ends = None if groups is None else ends[np.append(groups[1:] != groups[:-1], True)]
    return RunningText(code[chosen.ids], [table.vocabulary[i] for i in used], ends, group_ends)


SplitJudge = RowsJudge | LawJudge
"""Tests some real documents against other documents, which may carry a planted defect."""


def judge_for(
    critic: Critic[Any],
    real: tuple[Corpus, Scores | None],
    planted: tuple[Corpus, Scores | None],
    permutations: int,
    wide: int,
    seed: int,
) -> SplitJudge:
    """Build the judge of a fitted critic for a corpus and its planted version."""
    if isinstance(critic, RunningTextCritic):
        law = next(s for s in critic.laws() if s.name == headline_of(critic))
        return LawJudge(critic, law, real[0], planted[0], wide)
    assert real[1] is not None
    assert planted[1] is not None
    return RowsJudge(critic, real[1], planted[1], permutations, wide, seed)


MISSING = "the statistic is undefined for texts of this size"


@dataclass(frozen=True)
class SplitCell:
    """The tests of one critic's axis on random splits with one planted defect.

    Attributes
    ----------
    critic, statistic
        The critic and its headline statistic.
    defect, strength
        The defect planted in the generated side; ``none`` and 0 for null splits.
    n_real, n_generated
        Documents per side, or groups or prompts (`CalibrationPlan.by`).
    p, led, difference
        One value per split: p of the axis, the statistic that leads its family, and the difference of that (of a
        distance, the estimate of that between the two populations). None if the test is undefined.
    usable
        Number of held-out documents (groups, prompts) that the critic could score both unchanged and planted.
    reason
        Why nothing was measured; empty if something was.
    source
        Digest of the code of the critic.
    """

    critic: str
    statistic: str
    defect: str
    strength: float
    n_real: int
    n_generated: int
    p: tuple[float | None, ...] = ()
    led: tuple[str, ...] = ()
    difference: tuple[float | None, ...] = ()
    usable: int = 0
    reason: str = ""
    source: Source | None = None

    @property
    def too_few(self) -> bool:
        """Whether no split was tested because too few documents can be scored; more splits cannot help then."""
        return bool(self.reason) and not self.p

    @property
    def tested(self) -> int:
        """Number of splits with a p-value."""
        return sum(p is not None for p in self.p)

    def alarms(self, alpha: float) -> int:
        """Number of splits with p ≤ α."""
        return sum(p is not None and p <= alpha for p in self.p)

    def first(self, splits: int) -> SplitCell:
        """Return the cell cut to at most so many splits."""
        if len(self.p) <= splits:
            return self
        p = self.p[:splits]
        reason = self.reason if any(v is not None for v in p) else MISSING
        return replace(self, p=p, led=self.led[:splits], difference=self.difference[:splits], reason=reason)

    @property
    def leading(self) -> str:
        """The statistic that leads in most splits; the headline where no defect was planted."""
        most = Counter(self.led).most_common(1)
        return most[0][0] if most and self.defect != NULL else self.statistic

    @property
    def mean_difference(self) -> float | None:
        """Mean difference of the leading statistic, over the splits in which it leads."""
        pairs = zip(self.led, self.difference, strict=True)
        differences = [d for name, d in pairs if name == self.leading and d is not None]
        return float(np.mean(differences)) if differences else None


@dataclass(frozen=True)
class RandomSplits:
    """Random splits into two sides, of what a critic can score both unchanged and planted.

    Attributes
    ----------
    size
        Documents (or groups) of the real and of the generated side.
    replacement
        Draw documents (or groups) with replacement if too few can be scored.
    units
        Groups of documents that are split as wholes and counted by ``size``; None: single documents.
    """

    judge: SplitJudge
    size: tuple[int, int]
    seed: int
    replacement: bool = False
    units: SplitUnits | None = None

    @cached_property
    def usable(self) -> Bools:
        """Which documents (or groups) can be scored."""
        return self.judge.usable if self.units is None else self.units.usable(self.judge.usable)

    @property
    def too_few(self) -> bool:
        """Whether fewer can be scored than the two sides hold."""
        return sum(self.size) > int(self.usable.sum())

    @property
    def lacking(self) -> str:
        """Why nothing can be drawn; empty if something can."""
        usable = int(self.usable.sum())
        if not self.too_few or (self.replacement and self.judge.repeatable and usable):
            return ""
        return f"only {usable:,} {'documents' if self.units is None else 'groups'} can be scored"

    def test(self, number: int) -> tuple[float | None, str, float | None]:
        """Draw the split of this number, and test it: p and difference are None where they are undefined."""
        usable = self.usable
        # order (at least n_real + n_generated,): row numbers of documents, or numbers of groups, the real side first
        if self.too_few:
            order = draw(self.seed, number, np.flatnonzero(usable), sum(self.size))
        else:
            order = split(self.seed, number, len(usable))
            order = order[usable[order]]
        sides = order[: self.size[0]], order[self.size[0] : sum(self.size)]
        if self.units is None:
            p, led, difference = self.judge.test(*sides)
        else:
            (real, one), (generated, other) = (self.units.expand(side, self.judge.usable) for side in sides)
            p, led, difference = self.judge.test(real, generated, (one, other))
        return _finite(p), led, _finite(difference)


def measure(cell: SplitCell, draws: RandomSplits, splits: int, advance: Advance = lambda done: None) -> SplitCell:
    """Test the splits that a cell lacks of so many, and return it with them."""
    cell = replace(cell, usable=int(draws.usable.sum()), reason="")
    if draws.lacking:
        return replace(cell, p=(), led=(), difference=(), reason=draws.lacking)
    tested = list(zip(cell.p, cell.led, cell.difference, strict=True))
    for number in range(len(tested), splits):
        tested.append(draws.test(number))
        advance(len(tested))
    p, led, difference = zip(*tested, strict=True)
    return replace(cell, p=p, led=led, difference=difference, reason="" if any(v is not None for v in p) else MISSING)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
