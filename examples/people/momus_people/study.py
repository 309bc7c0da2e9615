"""A study as drawn, and the folder that holds it.

STUDY/study.json       protocol, raters, balance, what was stripped; nothing about single passages
STUDY/key.json         which passage is from which document, what checks expect, values of critics: keep it back
STUDY/raters/          one page per rater
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from momus.errors import StoreError, UsageError
from momus.schema import read_json
from momus_people.design import StudyDesign
from momus_people.protocol import Protocol

STUDY, KEY, RATERS = "study.json", "key.json", "raters"
FORMAT: Literal["momus-study-2"] = "momus-study-2"
BACKUP = "take the files of the study from a backup, or make it again"
UNITLESS = ("check", "training")
"""Roles of trials that judge no item."""


@dataclass(frozen=True)
class Study:
    """A study as drawn, which is also the content of ``key.json``, where passages have no text.

    Attributes
    ----------
    name
        Eight hexadecimal digits: of the protocol, the passages and the trials.
    labels
        Labels of sections that raters choose from.
    values
        By critic: value of each passage's document, or None; in the order of ``design.passages``.
    axes
        Name of the axis of each critic.

    Raises
    ------
    UsageError
        A part names what is not there: a passage, an item, a rater, a corpus, an axis.
    """

    name: str
    protocol: Protocol
    corpora: Sequence[str]
    design: StudyDesign
    labels: Sequence[str] = ()
    values: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)
    format: Literal["momus-study-2"] = FORMAT

    def __post_init__(self) -> None:
        passages, items, trials = self.design.passages, self.design.items, self.design.trials
        fault, n = "", len(passages)
        for numbers in (*items, *(t.passages for t in trials)):
            if len(numbers) != self.protocol.width or not all(0 <= k < n for k in numbers):
                fault = "an item names a passage that is not there"
        for t in trials:
            known = -1 <= t.unit < len(items) and 0 <= t.rater < self.protocol.raters
            if not known or (t.unit < 0) != (t.role in UNITLESS):
                fault = f"trial {t.code} names an item or a rater that is not there"
        strange = next((e.corpus for e in passages if e.corpus not in self.corpora), None)
        if strange is not None:
            fault = f"a passage is of {strange!r}, and the corpora are {', '.join(self.corpora)}"
        if any(len(values) != n or critic not in self.axes for critic, values in self.values.items()):
            fault = "a critic has no axis, or not one value for each passage"
        if fault:
            raise UsageError(fault)

    @property
    def raters(self) -> list[str]:
        """Names of the raters."""
        return [f"rater-{k + 1}" for k in range(self.protocol.raters)]


def name_of(protocol: Protocol, design: StudyDesign) -> str:
    """Name of a study: a digest of all that it depends on."""
    content: list[Any] = [asdict(protocol), [(e.corpus, e.id, e.parts) for e in design.passages]]
    content.append([(t.rater, t.role, t.passages) for t in design.trials])
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()[:8]


def read_study(folder: Path) -> Study:
    """Read a study; its passages have no text.

    Raises
    ------
    StoreError
        The folder holds no study, or its key is damaged or changed.
    """
    try:
        return read_json(folder / KEY, Study, BACKUP, sealed=True)
    except FileNotFoundError as error:
        hint = "name a folder that `momus study new` wrote, with its key"
        raise StoreError(f"{error.filename}: not found", hint=hint) from error
