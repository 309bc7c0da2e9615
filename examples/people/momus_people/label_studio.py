"""What one rater is shown, and Label Studio: tasks and configuration of a study, and answers from its JSON export.

What is shown is plain data without a trace of the blinding, for the page and for Label Studio.

The formats are those that its documentation states: tasks are objects with ``data``; an export is a list of tasks with
``annotations``, each with ``result`` (items with ``from_name``, ``type`` and ``value``), ``was_cancelled`` and
``completed_by`` (https://labelstud.io/guide/task_format). All questions are ``Choices``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict
from xml.sax.saxutils import quoteattr

from momus.files import write_json
from momus.outputs import write_text
from momus.schema import build
from momus.text.corpus import Corpus
from momus_people.design import Trial
from momus_people.store import LABEL_STUDIO, Study

_ENDS = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Screen:
    """One screen: the name of its trial, the parts of each passage, and true labels of the sections in training."""

    code: str
    passages: Sequence[Sequence[str]]
    truth: Sequence[str | None] | None = None


def screens(study: Study, rater: int) -> list[Screen]:
    """All screens of a rater, in order."""
    return [_screen(study, t) for t in study.design.trials if t.rater == rater]


def _screen(study: Study, trial: Trial) -> Screen:
    passages = [list(study.design.passages[k].parts) for k in trial.passages]
    if trial.inserted:
        part = passages[0]
        part[0] = with_instruction(part[0], trial.inserted)
    truth = None
    if trial.role == "training":
        titles = study.design.passages[trial.passages[0]].titles
        truth = [t if t in study.labels else None for t in titles]
    return Screen(trial.code, passages, truth)


def with_instruction(text: str, sentence: str) -> str:
    """Put a sentence into a text, at the end of the sentence that is nearest to its middle.

    >>> with_instruction("One. Two. Three. Four.", "Answer “fair”.")
    'One. Two. Answer “fair”. Three. Four.'
    """
    places = [m.start() for m in _ENDS.finditer(text)] or [len(text)]
    place = min(places, key=lambda p: abs(p - len(text) / 2))
    return f"{text[:place]} {sentence}{text[place:]}"


def frequent_titles(real: Corpus, most: int) -> list[str]:
    """The most frequent section titles of a corpus, in alphabetical order."""
    counts = Counter(t for t in real.section_titles if t)
    return sorted(t for t, _ in counts.most_common(most))


LETTERS = "AB"
SIDES = {"left": "Passage A", "equal": "Both alike", "right": "Passage B"}


def write_label_studio(study: Study, folder: Path) -> None:
    """Write ``label-studio/config.xml`` and one file of tasks per rater, which each need a project."""
    target = folder / LABEL_STUDIO
    parts = max((len(e.parts) for e in study.design.passages), default=1)
    write_text(target / "config.xml", configuration(study, parts))
    for k, name in enumerate(study.raters):
        tasks = [task(study, name, s, parts) for s in screens(study, k) if s.truth is None]
        write_json(target / f"{name}.json", tasks)


def task(study: Study, rater: str, screen: Screen, sections: int = 1) -> dict[str, Any]:
    """One task: its data, which the export repeats; sections that a document lacks are empty."""
    texts = {f"passage_{LETTERS[k]}": "\n\n".join(parts) for k, parts in enumerate(screen.passages)}
    if study.labels:
        parts = [*screen.passages[0], *[""] * (sections - len(screen.passages[0]))]
        texts = {f"section_{k}": text for k, text in enumerate(parts, 1)}
    return {"data": {"study": study.name, "rater": rater, "trial": screen.code, **texts}}


def configuration(study: Study, sections: int = 1) -> str:
    """The labelling configuration, as XML."""
    p = study.protocol
    lines = ["<View>", f"  <Header value={quoteattr(p.asked)}/>"]
    if study.labels:
        for k in range(1, sections + 1):
            lines.append(f'  <Text name="section_{k}" value="$section_{k}"/>')
            lines += _choices(f"label_{k}", f"section_{k}", list(study.labels), f"Type of section {k}", required=False)
        first = "section_1"
    else:
        for letter in LETTERS[: p.width]:
            if p.width > 1:
                lines.append(f'  <Header value="Passage {letter}"/>')
            lines.append(f'  <Text name="passage_{letter}" value="$passage_{letter}"/>')
        first = "passage_A"
    if p.kind == "rating":
        lines += _choices("answer", first, list(p.scale), p.asked)
    else:
        lines += _choices("answer", first, [t for s, t in SIDES.items() if p.ties or s != "equal"], p.asked)
    return "\n".join([*lines, "</View>", ""])


def _choices(name: str, of: str, options: list[str], header: str, required: bool = True) -> list[str]:
    lines = [f"  <Header value={quoteattr(header)}/>"]
    lines.append(f'  <Choices name="{name}" toName="{of}" choice="single" required="{str(required).lower()}">')
    lines += [f"    <Choice value={quoteattr(o)}/>" for o in options]
    return [*lines, "  </Choices>"]


ANSWERS: Literal["momus-answers-1"] = "momus-answers-1"
"""Format of files of answers."""


class SavedAnswers(TypedDict):
    """What a rater's page saves; each answer is checked by itself."""

    format: Literal["momus-answers-1"]
    study: str
    rater: str
    answers: list[Any]
    comment: NotRequired[str | None]


class _Data(TypedDict):
    study: str
    rater: str
    trial: str


class _Annotation(TypedDict):
    result: list[dict[str, Any]]
    was_cancelled: NotRequired[bool | None]
    lead_time: NotRequired[float | None]
    updated_at: NotRequired[str | None]
    created_at: NotRequired[str | None]


class _Task(TypedDict):
    data: _Data
    annotations: list[_Annotation] | None


def answers_of_export(study: Study, content: list[Any]) -> tuple[list[SavedAnswers], list[str]]:
    """Answer files, one per rater, as the page would have saved them; and what took no part, in words.

    Raises
    ------
    StoreError
        A task or an annotation is not of the documented form.
    ValueError
        An answer is not among the choices, or a task is of another study.
    """
    tasks = build(list[_Task], content, "export of Label Studio", "export the annotations as JSON")
    found: dict[str, list[dict[str, Any]]] = {}
    people: dict[str, set[str]] = {}
    notes: list[str] = []
    cancelled = 0
    for number, task in enumerate(tasks, 1):
        data = task["data"]
        if data["study"] != study.name:
            raise ValueError(f"task {number} is of study {data['study']!r}, and this is {study.name!r}")
        mine = found.setdefault(data["rater"], [])
        for annotation in task["annotations"] or ():
            if annotation.get("was_cancelled"):
                cancelled += 1
                continue
            people.setdefault(data["rater"], set()).add(json.dumps(annotation.get("completed_by")))
            chosen = _chosen(annotation["result"], number)
            mine.append(
                {
                    "trial": data["trial"],
                    "answer": _answer(study, chosen, number),
                    "seconds": annotation.get("lead_time"),
                    "at": annotation.get("updated_at") or annotation.get("created_at") or "",
                }
            )
    if cancelled:
        notes.append(f"{cancelled} skipped annotations of Label Studio took no part")
    notes += [
        f"the tasks of {rater} were done by {len(who)} people; they count as one rater"
        for rater, who in people.items()
        if len(who) > 1
    ]
    files: list[SavedAnswers] = [
        {"format": ANSWERS, "study": study.name, "rater": rater, "answers": answers, "comment": ""}
        for rater, answers in found.items()
    ]
    return files, notes


def _chosen(result: list[dict[str, Any]], number: int) -> dict[str, str]:
    """What was chosen, by the name of the question."""
    chosen = {}
    for r in result:
        if r.get("type") != "choices":
            continue
        value = r.get("value")
        options = value.get("choices") if isinstance(value, dict) else None
        if not isinstance(options, list) or len(options) != 1 or not isinstance(r.get("from_name"), str):
            raise ValueError(f"task {number} has a result that is not one choice")
        chosen[r["from_name"]] = str(options[0])
    return chosen


def _answer(study: Study, chosen: Mapping[str, str], number: int) -> Any:
    """The answer as the page writes it."""
    p = study.protocol
    try:
        if p.kind == "rating":
            return list(p.scale).index(chosen["answer"])
        return next(side for side, text in SIDES.items() if text == chosen["answer"])
    except (KeyError, ValueError, StopIteration):
        raise ValueError(f"task {number} has no answer, or one that is not among the choices") from None
