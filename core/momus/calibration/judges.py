"""The headline test of a critic on any split of documents; each document is scored once."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from momus.comparison.judge import all_statistics
from momus.critic import Counted, Critic, RunningTextCritic, Scores, Statistic, aligned
from momus.critic.scores import LATENT_NLL, LATENT_PPL
from momus.errors import MomusError
from momus.inference import ManyTests
from momus.inference.pooling import Rows
from momus.laws import Law, compare_law
from momus.laws.test import RELABELLINGS
from momus.numeric.types import Bools, Ints
from momus.text.corpus import Corpus
from momus.text.running import RunningText
from momus.text.tokens import TokenTable


class SplitJudge(Protocol):
    """Tests some real documents against other documents, which may carry a planted defect.

    Attributes
    ----------
    statistic
        Name of the headline statistic.
    usable
        bool (n,): documents that can be scored both unchanged and planted.
    repeatable
        Whether a split may hold a document twice.
    """

    statistic: str
    usable: Bools
    repeatable: bool

    def test(self, real: Ints, generated: Ints) -> tuple[float, float]:
        """Test two sets of row numbers: (p, difference), NaN if the test is undefined."""
        ...


class RowsJudge:
    """Permutation tests of rows, for critics of documents."""

    repeatable = True

    def __init__(
        self, statistic: Statistic, real: Scores, planted: Scores, permutations: int, wide: int, seed: int
    ) -> None:
        self.statistic = statistic.name
        self.usable = real.scored & planted.scored
        self._statistic, self._options = statistic, (permutations, wide, seed)
        self._real, self._planted = _matrices(real, planted, statistic.rows)
        self._tests: dict[tuple[int, int], ManyTests] = {}

    def test(self, real: Ints, generated: Ints) -> tuple[float, float]:
        """Test two sets of documents; permutations are drawn once per size and reused."""
        sizes = len(real), len(generated)
        if sizes not in self._tests:
            permutations, wide, seed = self._options
            self._tests = {sizes: ManyTests(self._statistic, *sizes, permutations, wide=wide, seed=seed)}
        return self._tests[sizes](self._real[real], self._planted[generated])


def _matrices(real: Scores, planted: Scores, key: str) -> tuple[Rows, Rows]:
    """One row per document of both corpora, with the same columns; rows of unscored documents are zero."""
    real_rows, planted_rows = (_rows(scores, key) for scores in (real, planted))
    if isinstance(real_rows, Counted) and isinstance(planted_rows, Counted):
        a, b = aligned([real_rows, planted_rows])
        return a.matrix, b.matrix
    return real_rows, planted_rows


def _rows(scores: Scores, key: str) -> Any:
    if key in (LATENT_NLL, LATENT_PPL):  # (n, 2): NLL and its denominator, documents or steps
        nll = np.where(scores.scored, scores.nll, 0.0)
        return np.column_stack([nll, np.ones(len(nll)) if key == LATENT_NLL else scores.steps])
    return scores.rows[key]


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

    def test(self, real: Ints, generated: Ints) -> tuple[float, float]:
        """Test two sets of documents."""
        a, b = (_running_text(table, rows) for table, rows in zip(self._tables, (real, generated), strict=True))
        try:
            result = compare_law(self._law, a, b, 0.95, self._relabellings)
        except (MomusError, ValueError):  # a text does not determine the law
            return float("nan"), float("nan")
        return float("nan") if result.p is None else result.p, result.difference


def _running_text(table: TokenTable, rows: Ints) -> RunningText:
    """Concatenate documents, and renumber their words: the vocabulary keeps only words that occur."""
    chosen = table.take(rows)
    used = np.flatnonzero(np.bincount(chosen.ids, minlength=len(table.vocabulary)))
    code = np.zeros(len(table.vocabulary), dtype=np.int32)  # code[old number] = new number, (V,)
    code[used] = np.arange(len(used))
    return RunningText(code[chosen.ids], [table.vocabulary[i] for i in used], chosen.offsets[1:])


def judge_for(
    critic: Critic[Any],
    real: tuple[Corpus, Scores | None],
    planted: tuple[Corpus, Scores | None],
    permutations: int,
    wide: int,
    seed: int,
) -> SplitJudge:
    """Build the judge of a fitted critic for a corpus and its planted version."""
    name = critic.headline_statistic
    if isinstance(critic, RunningTextCritic):
        law = next(s for s in critic.laws() if s.name == name)
        return LawJudge(critic, law, real[0], planted[0], wide)
    assert real[1] is not None
    assert planted[1] is not None
    statistic = next(s for s in all_statistics(critic, list(real[1].rows)) if s.name == name)
    return RowsJudge(statistic, real[1], planted[1], permutations, wide, seed)
