"""Read and validate answers: files that raters' pages saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from momus.errors import ReadingError, StoreError
from momus.report.safe import one_line
from momus.schema import read_json
from momus_people.design import Trial
from momus_people.study import Study

PASS = "pass files that a rater's page saved"
LARGEST = 50_000_000
"""Bytes of a file of answers at most."""
ANSWERS: Literal["momus-answers-1"] = "momus-answers-1"
"""Format of files of answers."""


class SavedAnswers(TypedDict):
    """What a rater's page saves; each answer is checked by itself."""

    format: Literal["momus-answers-1"]
    study: str
    rater: str
    answers: list[Any]
    comment: NotRequired[str | None]


@dataclass(frozen=True)
class RaterAnswer:
    """One valid answer: a category, or ``left``, ``equal`` or ``right``."""

    trial: Trial
    value: Any
    seconds: float | None
    at: str


@dataclass
class RaterAnswers:
    """All answers of a study.

    Attributes
    ----------
    by_rater
        Valid answers by number of the rater; raters without a file are missing.
    missing
        Trials without an answer, by rater.
    invalid
        Answers that are not among the choices, by rater.
    notes
        What a reader must know: several files of a rater, files of other studies, answers that were changed.
    comments
        What raters wrote at the end.
    """

    by_rater: dict[int, list[RaterAnswer]] = field(default_factory=dict)
    missing: dict[int, int] = field(default_factory=dict)
    invalid: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)


def read_answers(study: Study, paths: Sequence[Path]) -> RaterAnswers:
    """Read files of answers.

    Two files of one rater are put together: an answer to a trial that both have counts once, the later one if they
    differ.

    Raises
    ------
    ReadingError
        A file cannot be read, is of another study, or holds something else.
    """
    found = RaterAnswers()
    contents = [_saved(study, path) for path in paths]
    numbers = {name: k for k, name in enumerate(study.raters)}
    for rater, name in enumerate(study.raters):
        mine = [c for c in contents if c["rater"] == name]
        if not mine:
            continue
        answers, faults, changed = _joined(study, rater, mine)
        found.by_rater[rater] = answers
        found.invalid[rater] = faults
        found.missing[rater] = sum(t.rater == rater for t in study.design.trials) - len(answers)
        comments = list(dict.fromkeys(one_line(c.get("comment") or "", 4000) for c in mine))
        found.comments[rater] = " / ".join(filter(None, comments))
        if len(mine) > 1:
            found.notes.append(
                f"{name} has {len(mine)} files; they were put together"
                + (f", and of {changed} answers that differ the later ones count" if changed else "")
            )
    unknown = Counter(c["rater"] for c in contents if c["rater"] not in numbers)
    if unknown:
        raise ReadingError(
            f"answers are of {next(iter(unknown))!r}, which is no rater of this study",
            hint=f"its raters are {', '.join(study.raters)}",
        )
    return found


def _saved(study: Study, path: Path) -> SavedAnswers:
    """The answers in one file."""
    try:
        if path.stat().st_size > LARGEST:
            raise StoreError(f"{path}: larger than {LARGEST:,} bytes", hint=PASS)
        saved = read_json(path, SavedAnswers, PASS)
        if saved["study"] != study.name:
            raise StoreError(f"{path}: of study {saved['study']!r}, and this is {study.name!r}", hint=PASS)
        return saved
    except OSError as error:
        raise ReadingError(f"{path}: cannot be read ({error.strerror})", hint=PASS) from error
    except (StoreError, ValueError) as error:
        reason = one_line(str(error).split("\n")[0].removeprefix(f"{path}: "), 300)
        raise ReadingError(f"{path}: not a readable file of answers ({reason})", hint=PASS) from error


def _joined(study: Study, rater: int, files: Sequence[SavedAnswers]) -> tuple[list[RaterAnswer], int, int]:
    """Valid answers in the order of the trials, the number of invalid ones, and of changed ones."""
    trials = {t.code: t for t in study.design.trials if t.rater == rater}
    latest: dict[str, RaterAnswer] = {}
    faults = changed = 0
    for raw in (a for f in files for a in f["answers"]):
        made = _answer(study, trials, raw)
        if made is None:
            faults += 1
            continue
        before = latest.get(made.trial.code)
        changed += before is not None and before.value != made.value
        if before is None or made.at >= before.at:
            latest[made.trial.code] = made
    return [latest[c] for c in trials if c in latest], faults, changed


def _answer(study: Study, trials: dict[str, Trial], raw: Any) -> RaterAnswer | None:
    """One valid answer; None if it is not among the choices."""
    if not isinstance(raw, dict) or not isinstance(raw.get("trial"), str) or raw["trial"] not in trials:
        return None
    p, value = study.protocol, raw.get("answer")
    if p.kind == "rating":
        valid = type(value) is int and 0 <= value < len(p.scale)
    else:
        valid = value in (("left", "equal", "right") if p.ties else ("left", "right"))
    if not valid:
        return None
    seconds = raw.get("seconds")
    time = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e7 else None
    return RaterAnswer(trials[raw["trial"]], value, time, str(raw.get("at") or ""))


def counted_answers(answers: RaterAnswers, raters: Collection[int]) -> list[RaterAnswer]:
    """Answers to items, without checks, repeats and training, of these raters."""
    return [a for r in sorted(raters) for a in answers.by_rater.get(r, ()) if a.trial.role == "item"]


def choice(study: Study, answer: RaterAnswer) -> int:
    """What was chosen, as a category from 0; of pairs, whatever side they were on: 0 second, 1 alike, 2 first."""
    if study.protocol.kind == "rating":
        return int(answer.value)
    shown = answer.trial.passages
    preferred = {"left": shown[0], "right": shown[1], "equal": None}[answer.value]
    return 1 if preferred is None else 2 * (preferred == study.design.items[answer.trial.unit][0])
