"""What the answers of a study say, as fields; `momus_people.view` makes sentences of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.errors import FittingError, UsageError
from momus.files import plain
from momus.limits import MOST_SEED
from momus.numeric.types import Floats
from momus_people.answers import RaterAnswer, RaterAnswers
from momus_people.axis import AxisRow, axis_rows
from momus_people.judged import Agreement, agreement, counted_answers, judgements_of, scores_of, values_of_units
from momus_people.models import QualityEstimate, estimate
from momus_people.raters import RaterRow, failed_checks, rater_rows
from momus_people.store import Study

REAL = "real"
MOST_FAILED = 0.5
"""Raters who fail more than this share of their attention checks are left out."""


@dataclass(frozen=True)
class CorpusRow:
    """One corpus.

    Attributes
    ----------
    effect, low, high
        Latent quality in logits, relative to the mean of all corpora, with simultaneous 95 % intervals.
    shown, shown_low, shown_high
        The same as readers see it: the expected rating from 1 (scales of two: the share of the better answer), or the
        probability of being preferred to a passage of an average corpus.
    passages, answers
        Its passages, and answers about them.
    """

    corpus: str
    effect: float
    low: float
    high: float
    shown: float
    shown_low: float
    shown_high: float
    passages: int
    answers: int


@dataclass(frozen=True)
class ContrastRow:
    """Two corpora: difference in logits, with simultaneous 95 % intervals over all rows, and the probability that a
    reader prefers the first (for ratings: rates it higher).
    """  # noqa: D205

    first: str
    second: str
    difference: float
    low: float
    high: float
    preference: float
    preference_low: float
    preference_high: float


@dataclass(frozen=True)
class StudyResult:
    """Everything that `momus study read` reports.

    Attributes
    ----------
    question, kind
        What was asked, and how.
    estimated
        Why there is no estimate; empty if there is one.
    sds
        Standard deviations of the random effects, in logits: they serve to plan the next study.
    """

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
    sds: dict[str, float]
    raters: Sequence[RaterRow]
    axis: Sequence[AxisRow]
    notes: Sequence[str]
    estimated: str = ""

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
    values = values_of_units(study, counted)
    fitted: QualityEstimate | None = None
    why = ""
    try:
        fitted = estimate(judgements_of(study, counted))
    except FittingError as error:
        why = error.message
    passages = study.design.passages
    rows = axis_rows(
        scores_of(study, counted),
        study.values,
        study.axes,
        [e.yardsticks for e in passages],
        seed,
    )
    in_items = sum(t.role == "item" for t in study.design.trials)
    return StudyResult(
        study.name,
        study.protocol.question,
        study.protocol.asked,
        study.protocol.kind,
        study.protocol.scale if study.protocol.kind == "rating" else (),
        len(counted),
        in_items,
        agreement(values.unit, values.value, values.level, seed),
        _corpus_rows(study, fitted, counted),
        _contrast_rows(fitted),
        dict(fitted.sds) if fitted else {},
        rater_rows(study, answers, out, fitted, kept, seed),
        rows,
        list(answers.notes),
        why,
    )


def _corpus_rows(study: Study, fitted: QualityEstimate | None, answers: Sequence[RaterAnswer]) -> list[CorpusRow]:
    items, passages = study.design.items, study.design.passages
    judged = [k for a in answers for k in items[a.trial.unit]]
    rows = []
    names = list(fitted.corpora) if fitted else list(study.corpora)
    if fitted is not None:
        effects, low, high = fitted.contrasts(np.eye(len(names)))
    for i, name in enumerate(names):
        mine = [k for k in judged if passages[k].corpus == name]
        logits, shown = [float("nan")] * 3, [float("nan")] * 3
        if fitted is not None:
            logits = [float(v[i]) for v in (effects, low, high)]
            shown = [_shown(fitted, e, study) for e in logits]
        rows.append(
            CorpusRow(name, logits[0], logits[1], logits[2], shown[0], shown[1], shown[2], len(set(mine)), len(mine))
        )
    return rows


def _shown(fitted: QualityEstimate, effect: float, study: Study) -> float:
    if study.protocol.kind == "rating":
        mean = fitted.mean_rating(effect)
        return mean - 1 if len(study.protocol.scale) == 2 else mean
    return fitted.preference(effect)


def _contrast_rows(fitted: QualityEstimate | None) -> list[ContrastRow]:
    """All pairs of corpora; with real text, only those with it."""
    if fitted is None:
        return []
    names = list(fitted.corpora)
    pairs = [(i, j) for i in range(len(names)) for j in range(len(names)) if i < j]
    if REAL in names:
        pairs = [(i, names.index(REAL)) for i in range(len(names)) if names[i] != REAL]
    matrix = np.zeros((len(pairs), len(names)))
    for row, (i, j) in enumerate(pairs):
        matrix[row, i], matrix[row, j] = 1, -1
    found: list[Floats] = list(fitted.contrasts(matrix))
    return [
        ContrastRow(names[i], names[j], *(float(v[k]) for v in found), *(fitted.preference(float(v[k])) for v in found))
        for k, (i, j) in enumerate(pairs)
    ]
