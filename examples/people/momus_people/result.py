"""What the answers of a study say, as fields; `momus_people.view` makes sentences of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

from momus.arguments import arg
from momus.errors import UsageError
from momus.files import plain
from momus.inference.agreement import Agreement, Level, agreement
from momus.limits import MOST_SEED
from momus_people.agreement import same_answers, with_others
from momus_people.answers import RaterAnswers, scores_of
from momus_people.axis import AxisRow, axis_rows
from momus_people.estimate import Share, mean_score, preference
from momus_people.protocol import Protocol
from momus_people.study import Study

REAL = "real"
MOST_FAILED = 0.5
"""Raters who fail more than this share of their attention checks are left out."""
CHANCE = 0.05
"""Largest p of a rater who agrees with the others."""
FAILED = 0.4
"""Share of failed attention checks from which on a rater is flagged: 1 of 2, 2 of 5."""
HASTE = 3.0
"""A rater is hasty who answers this many times faster than the median of all raters."""
Flag = Literal[
    "failed checks", "agrees no better than chance", "one answer only", "hasty", "same answers as another rater"
]


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
    flags
        What is odd about the answers.
    left_out
        Whether the answers are left out.
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
    flags: tuple[Flag, ...]
    left_out: bool


def rater_rows(
    study: Study, answers: RaterAnswers, out: Collection[int], kept: Collection[int], seed: int
) -> list[RaterRow]:
    """One row per rater; ``out`` are left out, and ``kept`` take part."""
    table, names = answers.table, sorted(answers.missing)
    items = answers.items(names)
    others = {}
    for r in names:  # the others are those who take part
        among = items[items.rater.isin([*kept, r])]
        others[r] = with_others(among.unit, among.category, among.rater, r, seed)
    sure = sum(p <= CHANCE for _, p in others.values())
    seconds = table.seconds.where(table.seconds > 0).groupby(table.rater).median().reindex(names)
    chosen = {r: dict(zip(mine.unit, mine.category, strict=True)) for r, mine in items.groupby("rater")}
    copies = same_answers(chosen)
    rows = []
    for r in names:
        mine = table[table.rater == r]
        item, again, checks = (mine[mine.role == role] for role in ("item", "repeat", "check"))
        first = again.unit.map(chosen.get(r, {})).dropna()
        rho, p = others[r]
        failed = int((~checks.is_right.astype(bool)).sum())
        odd: dict[Flag, bool] = {
            "failed checks": len(checks) > 0 and failed / len(checks) >= FAILED,
            # where most raters agree with the others, one who does not stands out
            "agrees no better than chance": p > CHANCE and sure * 2 >= len(others) > 2,
            "one answer only": item.unit.nunique() > 4 and item.value.nunique() == 1,
            "hasty": seconds[r] * HASTE < seconds.median(),
            "same answers as another rater": r in copies,
        }
        rows.append(
            RaterRow(
                name=study.raters[r],
                answered=len(mine),
                missing=answers.missing[r],
                invalid=answers.invalid[r],
                failed=failed,
                checks=len(checks),
                same=int((first == again.category[first.index]).sum()),
                repeats=len(first),
                seconds=float(seconds[r]),
                rho=rho,
                p=p,
                flags=tuple(flag for flag, is_odd in odd.items() if is_odd),
                left_out=r in out,
            )
        )
    return rows


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
    if answers.table.empty:
        raise UsageError("there are no answers", hint="pass the files that the raters saved")
    out = left_out(answers, max_failed) | {study.raters.index(n) for n in exclude}
    kept = [r for r in answers.missing if r not in out]
    items, p = answers.items(kept), study.protocol
    if items.empty:
        raise UsageError("no rater is left", hint=f"pass a larger {arg('max_failed')}, or exclude fewer raters")
    scores = scores_of(study, items)
    names = [n for n in study.corpora if (scores.corpus == n).any()]
    contrasts, notes = _contrast_rows(scores, names)
    return StudyResult(
        study=study.name,
        question=p.question,
        asked=p.asked,
        kind=p.kind,
        scale=p.scale if p.kind == "rating" else (),
        answers=len(items),
        expected=sum(t.role == "item" for t in study.design.trials),
        agreement=agreement(items.unit, items.category, level_of(p), seed),
        corpora=_corpus_rows(scores, names, len(p.scale) if p.kind == "rating" else 2),
        contrasts=contrasts,
        raters=rater_rows(study, answers, out, kept, seed),
        axis=axis_rows(scores, study.values, study.axes, [e.yardsticks for e in study.design.passages], seed),
        notes=[*answers.notes, *notes],
    )


def left_out(answers: RaterAnswers, max_failed: float = MOST_FAILED) -> set[int]:
    """Raters who fail more than this share of their attention checks."""
    checks = answers.table[answers.table.role == "check"]
    failed = (~checks.is_right.astype(bool)).groupby(checks.rater).mean()
    return set(failed.index[failed > max_failed].tolist())


def level_of(protocol: Protocol) -> Level:
    """Level of measurement of the categories: of passages, or of pairs."""
    return "nominal" if protocol.kind == "pair" and not protocol.ties else "ordinal"


def _corpus_rows(scores: Any, names: Sequence[str], categories: int) -> list[CorpusRow]:
    """One row per corpus; shares become ratings from 1 where there are more than two categories."""
    rows = []
    for name in names:
        judged, share = scores[scores.corpus == name].passage, mean_score(scores, name, len(names))
        ends = share if categories == 2 else Share(*(1 + (categories - 1) * v for v in share))
        rows.append(CorpusRow(name, *ends, passages=judged.nunique(), answers=len(judged)))
    return rows


def _contrast_rows(scores: Any, names: Sequence[str]) -> tuple[list[ContrastRow], list[str]]:
    """All pairs of corpora, or with real text only those with it, and notes about those that nobody judged both of."""
    pairs = [(n, REAL) for n in names if n != REAL] if REAL in names else list(combinations(names, 2))
    shares = {pair: preference(scores, *pair, tests=len(pairs)) for pair in pairs}
    rows = [ContrastRow(*pair, *s) for pair, s in shares.items() if s is not None]
    return rows, [f"no reader judged both {a} and {b}" for (a, b), s in shares.items() if s is None]
