"""What the answers of a study say, as fields; `momus_people.view` makes sentences of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.files import plain
from momus.limits import MOST_SEED
from momus_people.answers import RaterAnswers, counted_answers
from momus_people.axis import AxisRow, axis_rows
from momus_people.estimate import ReaderScores, mean_score, preference
from momus_people.judged import Agreement, agreement, level_of, scores_of, values_of_units
from momus_people.raters import RaterRow, failed_checks, rater_rows
from momus_people.study import Study

REAL = "real"
MOST_FAILED = 0.5
"""Raters who fail more than this share of their attention checks are left out."""


@dataclass(frozen=True)
class CorpusRow:
    """One corpus.

    Attributes
    ----------
    value, low, high
        Mean rating from 1 (scales of two: the share of the better answer), or the share of its pairs in which it is
        preferred, with simultaneous 95 % intervals.
    passages, answers
        Its passages, and answers about them.
    """

    corpus: str
    value: float
    low: float
    high: float
    passages: int
    answers: int


@dataclass(frozen=True)
class ContrastRow:
    """Two corpora: the probability that a reader prefers a passage of the first (of ratings: rates it higher), ties
    counting half, with simultaneous 95 % intervals over all rows.
    """  # noqa: D205

    first: str
    second: str
    preference: float
    low: float
    high: float


@dataclass(frozen=True)
class StudyResult:
    """Everything that `momus study read` reports; ``question`` and ``kind`` say what was asked, and how."""

    study: str
    question: str
    asked: str
    kind: str
    scale: Sequence[str]
    answers: int
    expected: int
    agreement: Agreement | None
    corpora: Sequence[CorpusRow]
    contrasts: Sequence[ContrastRow]
    raters: Sequence[RaterRow]
    axis: Sequence[AxisRow]
    notes: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Plain lists, strings and numbers; None for what does not exist."""
        return dict(plain(asdict(self)))


def analysed(
    study: Study,
    answers: RaterAnswers,
    *,
    max_failed: float = MOST_FAILED,
    exclude: Sequence[str] = (),
    seed: int = 0,
) -> StudyResult:
    """Analyse the answers of a study.

    Parameters
    ----------
    max_failed
        Raters who fail more than this share of their attention checks are left out.
    exclude
        Names of raters to leave out in any case.

    Raises
    ------
    UsageError
        There are no answers, or a rater to exclude does not exist.
    """
    if not 0 <= max_failed <= 1:  # which NaN is not
        raise UsageError(f"{arg('max_failed', max_failed)}: not a share", hint="give a number from 0 to 1, such as 0.5")
    if not 0 <= seed <= MOST_SEED:
        raise UsageError(f"{arg('seed', seed)}: not a seed", hint=f"give a whole number from 0 to {MOST_SEED}")
    unknown = [n for n in exclude if n not in study.raters]
    if unknown:
        raise UsageError(f"no rater is called {unknown[0]!r}", hint=f"raters are {', '.join(study.raters)}")
    if not any(answers.by_rater.values()):
        raise UsageError("there are no answers", hint="pass the files that the raters saved")
    failed = {r: failed_checks(a) for r, a in answers.by_rater.items()}
    out = {r for r, (bad, n) in failed.items() if n and bad / n > max_failed}
    out |= {study.raters.index(n) for n in exclude}
    kept = [r for r in answers.by_rater if r not in out]
    counted = counted_answers(answers, kept)
    if not counted:
        raise UsageError("no rater is left", hint=f"pass a larger {arg('max_failed')}, or exclude fewer raters")
    unit, value, _ = values_of_units(study, counted)
    scores, p = scores_of(study, counted), study.protocol
    names = [n for n in study.corpora if n in scores.corpus]
    contrasts, notes = _contrast_rows(scores, names)
    return StudyResult(
        study=study.name,
        question=p.question,
        asked=p.asked,
        kind=p.kind,
        scale=p.scale if p.kind == "rating" else (),
        answers=len(counted),
        expected=sum(t.role == "item" for t in study.design.trials),
        agreement=agreement(unit, value, level_of(p), seed),
        corpora=_corpus_rows(scores, names, len(p.scale) if p.kind == "rating" else 2),
        contrasts=contrasts,
        raters=rater_rows(study, answers, out, kept, seed),
        axis=axis_rows(scores, study.values, study.axes, [e.yardsticks for e in study.design.passages], seed),
        notes=[*answers.notes, *notes],
    )


def _corpus_rows(scores: ReaderScores, names: Sequence[str], categories: int) -> list[CorpusRow]:
    """One row per corpus; shares become ratings from 1 where there are more than two categories."""
    rows = []
    for name in names:
        share, judged = mean_score(scores, name, len(names)), scores.columns(name)
        ends = np.array([share.value, share.low, share.high])
        value, low, high = (ends if categories == 2 else 1 + (categories - 1) * ends).tolist()
        answers = int(np.isfinite(scores.table[:, judged]).sum())
        rows.append(CorpusRow(name, value, low, high, int(judged.sum()), answers))
    return rows


def _contrast_rows(scores: ReaderScores, names: Sequence[str]) -> tuple[list[ContrastRow], list[str]]:
    """All pairs of corpora, or with real text only those with it, and notes about those that nobody judged both of."""
    pairs = [(n, REAL) for n in names if n != REAL] if REAL in names else list(combinations(names, 2))
    shares = {pair: preference(scores, *pair, tests=len(pairs)) for pair in pairs}
    rows = [ContrastRow(*pair, s.value, s.low, s.high) for pair, s in shares.items() if s is not None]
    return rows, [f"no reader judged both {a} and {b}" for (a, b), s in shares.items() if s is None]
