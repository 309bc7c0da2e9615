"""What each rater's answers look like, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from momus_people.answers import RaterAnswer, RaterAnswers, choice, counted_answers
from momus_people.judged import values_of_units, with_others
from momus_people.study import Study

CHANCE, SURE = 0.05, 0.05
FAILED = 0.4
"""Share of failed attention checks from which on a rater is flagged: 1 of 2, 2 of 5."""
HASTE = 3.0
"""A rater is hasty who answers this many times faster than the median of all raters."""
SHARED, COINCIDENCE = 20, 1e-9
"""Fewest shared items of two raters who may have copied, and largest probability of their agreement by chance."""
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
    flags: tuple[Flag, ...]
    left_out: bool
    comment: str = ""


def rater_rows(
    study: Study,
    answers: RaterAnswers,
    out: Collection[int],
    kept: Sequence[int],
    seed: int,
) -> list[RaterRow]:
    """One row per rater; ``out`` are left out, and ``kept`` take part."""
    unit, value, rater = values_of_units(study, counted_answers(answers, answers.by_rater))
    times = {r: [a.seconds for a in mine if a.seconds] for r, mine in answers.by_rater.items()}
    medians = {r: float(np.median(t)) if t else float("nan") for r, t in times.items()}
    usual = float(np.nanmedian(list(medians.values()))) if any(times.values()) else float("nan")
    others = {}
    for r in answers.by_rater:  # the others are those who take part
        among = np.isin(rater, [*kept, r])
        others[r] = with_others(unit[among], value[among], rater[among], r, seed)
    sure = sum(w.p <= SURE for w in others.values())
    chosen = {
        r: {a.trial.unit: choice(study, a) for a in mine if a.trial.role == "item"}
        for r, mine in answers.by_rater.items()
    }
    copies = same_answers(chosen)
    rows = []
    for r, mine in sorted(answers.by_rater.items()):
        again = [(chosen[r].get(a.trial.unit), choice(study, a)) for a in mine if a.trial.role == "repeat"]
        again = [pair for pair in again if pair[0] is not None]
        same, repeats = sum(a == b for a, b in again), len(again)
        bad, checks = failed_checks(mine)
        odd: dict[Flag, bool] = {
            "failed checks": checks > 0 and bad / checks >= FAILED,
            # where most raters agree with the others, one who does not stands out
            "agrees no better than chance": others[r].p > CHANCE and sure * 2 >= len(others) > 2,
            "one answer only": len(chosen[r]) > 4 and len({str(a.value) for a in mine if a.trial.role == "item"}) == 1,
            "hasty": medians[r] * HASTE < usual,
            "same answers as another rater": r in copies,
        }
        rows.append(
            RaterRow(
                name=study.raters[r],
                answered=len(mine),
                missing=answers.missing[r],
                invalid=answers.invalid[r],
                failed=bad,
                checks=checks,
                same=same,
                repeats=repeats,
                seconds=medians[r],
                rho=others[r].rho,
                p=others[r].p,
                flags=tuple(flag for flag, is_odd in odd.items() if is_odd),
                left_out=r in out,
                comment=answers.comments.get(r, ""),
            )
        )
    return rows


def failed_checks(answers: Sequence[RaterAnswer]) -> tuple[int, int]:
    """Failed attention checks, and those answered."""
    checks = [a for a in answers if a.trial.role == "check"]
    return sum(a.value != a.trial.expected for a in checks), len(checks)


def same_answers(chosen: Mapping[int, Mapping[int, Hashable]]) -> set[int]:
    """Raters who gave the same answer as some other rater to every item that both judged.

    Two who answer independently, as often in each category as they do, would agree on n items with probability
    (Σ_k p_k²)ⁿ, which must be below 10⁻⁹: unanimous answers are no copies.

    Parameters
    ----------
    chosen
        By rater, the answer to each item.

    >>> scores = {unit: unit % 5 for unit in range(30)}
    >>> sorted(same_answers({0: scores, 1: dict(scores), 2: {**scores, 7: 0}}))
    [0, 1]
    """
    found: set[int] = set()
    for one, other in combinations(chosen, 2):
        shared = chosen[one].keys() & chosen[other].keys()
        if len(shared) < SHARED or any(chosen[one][u] != chosen[other][u] for u in shared):
            continue
        counts = Counter(chosen[one][u] for u in shared).values()
        if (sum(c * c for c in counts) / len(shared) ** 2) ** len(shared) < COINCIDENCE:
            found |= {one, other}
    return found
