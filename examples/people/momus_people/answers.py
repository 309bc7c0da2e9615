"""Answers: files that raters' pages saved, as one table of what is valid in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, TypedDict

import numpy as np
import pandas as pd

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
COLUMNS = ("rater", "trial", "role", "unit", "value", "category", "is_right", "seconds", "at")


class SavedAnswers(TypedDict):
    """What a rater's page saves; each answer is checked by itself."""

    format: Literal["momus-answers-1"]
    study: str
    rater: str
    answers: list[Any]


@dataclass
class RaterAnswers:
    """All answers of a study.

    Attributes
    ----------
    table
        One row per valid answer, by rater, in the order of the trials: number of the rater; code, role and unit of the
        trial; the answer, and its category (see `category_of`); whether an attention check asks for it; seconds; when.
    missing, invalid
        By number of the rater, without those who have no file: trials without an answer, and answers that are not among
        the choices.
    notes
        What a reader must know: several files of a rater, answers that were changed.
    """

    table: Any = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))
    missing: dict[int, int] = field(default_factory=dict)
    invalid: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, study: Study, saved: Sequence[Mapping[str, Any]]) -> Self:
        """Validate what pages saved, and put contents of one rater together.

        An answer to a trial that two of them have counts once, the later one if they differ.
        """
        answers, rows = cls(), list[dict[str, Any]]()
        for rater, name in enumerate(study.raters):
            files = [content for content in saved if content["rater"] == name]
            if not files:
                continue
            trials = {t.code: t for t in study.design.trials if t.rater == rater}
            latest: dict[str, dict[str, Any]] = {}
            answers.invalid[rater] = changed = 0
            for raw in (a for content in files for a in content["answers"]):
                row = _row(study, trials, raw)
                if row is None:
                    answers.invalid[rater] += 1
                    continue
                before = latest.setdefault(row["trial"], row)
                changed += before["value"] != row["value"]
                if row["at"] >= before["at"]:
                    latest[row["trial"]] = row
            rows += [latest[code] for code in trials if code in latest]
            answers.missing[rater] = len(trials) - len(latest)
            if len(files) > 1:
                later = f", and of {changed} answers that differ the later ones count" if changed else ""
                answers.notes.append(f"{name} has {len(files)} files; they were put together{later}")
        answers.table = pd.DataFrame(rows, columns=list(COLUMNS))
        return answers

    def items(self, raters: Collection[int]) -> Any:
        """The rows of answers to items, without checks, repeats and training, of these raters."""
        return self.table[(self.table.role == "item") & self.table.rater.isin(list(raters))]


def read_answers(study: Study, paths: Sequence[Path]) -> RaterAnswers:
    """Read files of answers; several files of one rater are put together, see `RaterAnswers.of`.

    Raises
    ------
    ReadingError
        A file cannot be read, is of another study, or holds something else.
    """
    saved = [_saved(study, path) for path in paths]
    unknown = [content["rater"] for content in saved if content["rater"] not in study.raters]
    if unknown:
        raise ReadingError(
            f"answers are of {unknown[0]!r}, which is no rater of this study",
            hint=f"its raters are {', '.join(study.raters)}",
        )
    return RaterAnswers.of(study, saved)


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


def _row(study: Study, trials: Mapping[str, Trial], raw: Any) -> dict[str, Any] | None:
    """The row of an answer as a page saved it; None if it is not among the choices."""
    if not isinstance(raw, dict) or not isinstance(raw.get("trial"), str) or raw["trial"] not in trials:
        return None
    p, value, trial = study.protocol, raw.get("answer"), trials[raw["trial"]]
    if p.kind == "rating":
        valid = type(value) is int and 0 <= value < len(p.scale)
    else:
        valid = value in (("left", "equal", "right") if p.ties else ("left", "right"))
    if not valid:
        return None
    seconds = raw.get("seconds")
    time = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 1e7 else np.nan
    return row_of(study, trial, value, time, str(raw.get("at") or ""))


def row_of(study: Study, trial: Trial, value: Any, seconds: float = np.nan, at: str = "") -> dict[str, Any]:
    """The row of a valid answer."""
    said = (value, category_of(study, trial, value), value == trial.expected, seconds, at)
    return dict(zip(COLUMNS, (trial.rater, trial.code, trial.role, trial.unit, *said), strict=True))


def category_of(study: Study, trial: Trial, value: Any) -> int:
    """What was chosen, from 0; of pairs, whatever side they were on: 0 second, 1 alike, 2 first."""
    if study.protocol.kind == "rating":
        return int(value)
    if value == "equal" or trial.unit < 0:  # a check judges no item
        return 1
    preferred = trial.passages[0 if value == "left" else 1]
    return 2 * int(preferred == study.design.items[trial.unit][0])


def scores_of(study: Study, items: Any) -> Any:
    """Scores of judged passages from answers to items (rows of `RaterAnswers.table`), one row per rater and passage.

    Returns
    -------
    Columns rater, passage and corpus; score from 0 to 1, that of the rating, or 1, ½ or 0 for preferred, alike or not;
    unit, what is judged: the passage itself, or its pair; stratum, what passages are compared within: their pair, or of
    ratings their prompt, where many share one; and is_paired.
    """
    is_paired, passages = study.protocol.kind == "pair", study.design.passages
    share = items.category / (2 if is_paired else len(study.protocol.scale) - 1)
    members = [study.design.items[u] for u in items.unit]
    sides = [
        pd.DataFrame({"rater": items.rater, "unit": items.unit, "passage": [m[k] for m in members], "score": score})
        for k, score in enumerate((share, 1 - share)[: study.protocol.width])
    ]
    scores = pd.concat(sides).drop_duplicates(["rater", "passage"], keep="last").sort_values(["rater", "passage"])
    unit = scores.unit if is_paired else scores.passage
    corpus = [passages[k].corpus for k in scores.passage]
    prompts = pd.Series({k: passages[k].prompt for k in sorted(set(scores.passage))}, dtype=object)
    stratum = unit
    if not is_paired:
        # with too few prompts of several passages, these are compared over all of them
        enough = len(prompts.dropna()) - prompts.nunique() >= len(prompts) / 4
        numbers = pd.factorize(prompts, use_na_sentinel=False)[0] * int(enough)
        stratum = scores.passage.map(dict(zip(prompts.index, numbers, strict=True)))
    return scores.assign(unit=unit, corpus=corpus, stratum=stratum, is_paired=is_paired)
