"""What a study asks, of whom, and how much: the protocol, from options or a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from momus.arguments import arg
from momus.errors import UsageError
from momus.limits import MOST_SEED
from momus.parameters import Range, check_values
from momus.schema import build, read_toml

FIVE = ("very poor", "poor", "fair", "good", "very good")
WORDING = tomllib.loads((files("momus_people") / "wording.toml").read_text(encoding="utf-8"))
QUESTIONS: Mapping[str, Sequence[str]] = WORDING["questions"]
"""Questions by name: for ratings, and for pairs."""
HINT = 'write e.g. question = "coherence"'


@dataclass(frozen=True)
class Protocol:
    """Everything that a study depends on, apart from the texts.

    Attributes
    ----------
    question
        A name from `QUESTIONS`, or the question itself.
    kind
        What is judged: one passage at a time, or a pair.
    items
        Number of passages or pairs.
    raters, judgements
        Number of raters, and how many of them judge each item (None: three, or all if there are fewer).
    scale
        Labels of a rating, the worst first.
    ties
        Whether both passages of a pair may be called alike.
    words
        Length of a passage in words; 0: whole documents.
    checks, repeats
        Attention checks, and repeated items, of each rater.
    labels, training
        Labels that a rater gives to each section before the answer, and the number of training passages of real text
        with their true labels; the labels ``titles`` are the most frequent titles of the real text.
    most_labels
        How many titles at most.
    """

    question: str = "coherence"
    kind: Literal["rating", "pair"] = "rating"
    items: Annotated[int, Range(2, 100_000)] = 60
    raters: Annotated[int, Range(1, 1000)] = 5
    judgements: Annotated[int | None, Range(1, 1000)] = None
    scale: tuple[str, ...] = FIVE
    ties: bool = False
    words: Annotated[int, Range(0, 100_000)] = 150
    checks: Annotated[int, Range(0, 100)] = 2
    repeats: Annotated[int, Range(0, 100)] = 3
    labels: tuple[str, ...] = ()
    training: Annotated[int, Range(0, 100)] = 0
    most_labels: Annotated[int, Range(2, 50)] = 12
    instructions: str = WORDING["instructions"]
    consent: str = WORDING["consent"]
    seed: Annotated[int, Range(0, MOST_SEED)] = 0

    def __post_init__(self) -> None:
        check_values(type(self), asdict(self), "study")
        if not 2 <= len(self.scale) <= 11 or len(set(self.scale)) < len(self.scale):
            raise UsageError("a scale needs 2 to 11 different labels", hint="give them from the worst to the best")
        if not self.question.strip():
            raise UsageError("the question is empty", hint=f"ask one, or name one of {', '.join(QUESTIONS)}")
        if self.judgements is not None and self.judgements > self.raters:
            raise UsageError(
                f"{self.judgements} raters are to judge each item, but there are {self.raters}",
                hint=f"pass more {arg('raters')}, or fewer {arg('judgements')}",
            )
        if (self.labels or self.training) and self.kind != "rating":
            raise UsageError("sections are labelled in ratings only", hint='set kind = "rating"')
        if self.training and not self.labels:
            raise UsageError("training needs labels of sections", hint='set labels = ["titles"]')

    @property
    def per_item(self) -> int:
        """Raters who judge each item."""
        return min(3, self.raters) if self.judgements is None else self.judgements

    @property
    def asked(self) -> str:
        """The question that raters read."""
        if self.question in QUESTIONS:
            return QUESTIONS[self.question][("rating", "pair").index(self.kind)]
        return self.question

    @property
    def width(self) -> int:
        """Passages per item."""
        return {"rating": 1, "pair": 2}[self.kind]

    def updated(self, **values: Any) -> Protocol:
        """The protocol with other values; None leaves a value as it is."""
        return replace(self, **{k: v for k, v in values.items() if v is not None})


def read_protocol(path: Path) -> Protocol:
    """Read a protocol from a TOML file.

    Raises
    ------
    UsageError
        The file cannot be read, a key is unknown, or a value cannot be used.
    """
    table = read_toml(path, str(path), HINT)
    known = [f.name for f in fields(Protocol)]
    unknown = [k for k in table if k not in known]
    if unknown:
        raise UsageError(f"{path}: unknown key {unknown[0]!r}", hint=f"keys are {', '.join(known)}")
    return build(Protocol, table, str(path), HINT, UsageError)
