"""What the answers of a study say, as fields; `momus.study.words` makes sentences of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from momus.errors import FittingError, UsageError
from momus.files import plain
from momus.numeric.types import Floats
from momus.study.agreement import Agreement, agreement, repeated_share, with_others
from momus.study.answers import Answer, Answers
from momus.study.axis import AxisRow, axis_rows
from momus.study.judged import choice, counted_answers, judgements_of, scores_of, values_of_units
from momus.study.models import Estimate, estimate
from momus.study.store import Study, rater_name

REAL = "real"
MOST_FAILED = 0.5
"""Raters who fail more than this share of their attention checks are left out."""
CHANCE, SURE = 0.05, 0.05
HASTE = 3.0
"""A rater is hasty who answers this many times faster than the median of all raters."""
Flag = Literal["failed checks", "agrees no better than chance", "one answer only", "hasty"]


@dataclass(frozen=True)
class RaterRow:
    """One rater.

    Attributes
    ----------
    answered, missing, invalid
        Answers to all trials.
    failed, checks, same, repeats
        Failed attention checks of those answered; repeated items with the same answer of those answered twice.
    seconds
        Median time per item; NaN if unknown.
    rho, p
        Rank correlation with the mean of the other raters, and its permutation p.
    leniency
        Effect in logits; NaN where the model has none.
    flags
        What is odd about the answers.
    left_out
        Whether the answers take no part.
    """

    name: str
    answered: int
    missing: int
    invalid: int
    failed: int
    checks: int
    same: int
    repeats: int
    seconds: float
    rho: float
    p: float
    leniency: float
    flags: tuple[Flag, ...]
    left_out: bool
    comment: str = ""


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
    answers: Answers,
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
    unknown = [n for n in exclude if n not in study.raters]
    if unknown:
        raise UsageError(f"no rater is called {unknown[0]!r}", hint=f"raters are {', '.join(study.raters)}")
    if not any(answers.by_rater.values()):
        raise UsageError("there are no answers", hint="pass the files that the raters saved")
    failed = {r: _checks(study, a) for r, a in answers.by_rater.items()}
    out = {r for r, (bad, n) in failed.items() if n and bad / n > max_failed}
    out |= {study.raters.index(n) for n in exclude}
    kept = [r for r in answers.by_rater if r not in out]
    counted = counted_answers(answers, kept)
    if not counted:
        raise UsageError("no rater is left", hint="pass a larger --max-failed, or exclude fewer raters")
    values = values_of_units(study, counted)
    fitted: Estimate | None = None
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
        [e.corpus for e in passages],
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
        agreement(values.unit, values.value, values.level, seed, values.cluster),
        _corpus_rows(study, fitted, counted),
        _contrast_rows(fitted),
        dict(fitted.sds) if fitted else {},
        _rater_rows(study, answers, failed, out, fitted, kept, seed),
        rows,
        list(answers.notes),
        why,
    )


def _checks(study: Study, answers: Sequence[Answer]) -> tuple[int, int]:
    """Failed attention checks, and those answered."""
    checks = [a for a in answers if a.trial.role == "check"]
    return sum(a.value != a.trial.expected for a in checks), len(checks)


def _corpus_rows(study: Study, fitted: Estimate | None, answers: Sequence[Answer]) -> list[CorpusRow]:
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


def _shown(fitted: Estimate, effect: float, study: Study) -> float:
    if study.protocol.kind == "rating":
        mean = fitted.mean_rating(effect)
        return mean - 1 if len(study.protocol.scale) == 2 else mean
    return fitted.preference(effect)


def _contrast_rows(fitted: Estimate | None) -> list[ContrastRow]:
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


def _rater_rows(
    study: Study,
    answers: Answers,
    failed: dict[int, tuple[int, int]],
    out: set[int],
    fitted: Estimate | None,
    kept: Sequence[int],
    seed: int,
) -> list[RaterRow]:
    everyone = counted_answers(answers, answers.by_rater)
    values = values_of_units(study, everyone)
    times = {r: [a.seconds for a in mine if a.seconds] for r, mine in answers.by_rater.items()}
    medians = {r: float(np.median(t)) if t else float("nan") for r, t in times.items()}
    usual = float(np.nanmedian(list(medians.values()))) if any(times.values()) else float("nan")
    leniency = dict(zip(sorted(kept), fitted.leniency if fitted else (), strict=False))
    others = {}
    for r in answers.by_rater:  # the others are those who take part
        among = np.isin(values.rater, [*kept, r])
        others[r] = with_others(values.unit[among], values.value[among], values.rater[among], r, seed)
    sure = sum(w.p <= SURE for w in others.values())
    rows = []
    for r, mine in sorted(answers.by_rater.items()):
        first = {a.trial.unit: choice(study, a) for a in mine if a.trial.role == "item"}
        again = [(first.get(a.trial.unit), choice(study, a)) for a in mine if a.trial.role == "repeat"]
        again = [pair for pair in again if pair[0] is not None]
        same, repeats = repeated_share([a for a, _ in again], [b for _, b in again])
        flags: list[Flag] = []
        bad, n = failed[r]
        if n and bad / n >= 0.5:
            flags.append("failed checks")
        # where most raters agree with the others, one who does not stands out
        if others[r].p > CHANCE and sure * 2 >= len(others) > 2:
            flags.append("agrees no better than chance")
        if len(first) > 4 and len({str(a.value) for a in mine if a.trial.role == "item"}) == 1:
            flags.append("one answer only")
        if medians[r] * HASTE < usual:
            flags.append("hasty")
        rows.append(
            RaterRow(
                rater_name(r),
                len(mine),
                answers.missing[r],
                answers.invalid[r],
                bad,
                n,
                same,
                repeats,
                medians[r],
                others[r].rho,
                others[r].p,
                float(leniency.get(r, float("nan"))),
                tuple(flags),
                r in out,
                answers.comments.get(r, ""),
            )
        )
    return rows
