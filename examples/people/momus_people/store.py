"""The folder of a study: what raters get, the protocol, and, apart from both, the key to the blinding.

STUDY/study.json       protocol, question, raters, numbers of documents; nothing about single passages
STUDY/key.json         which passage is from which document, what checks expect, values of critics: keep it back
STUDY/raters/          one page per rater
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

from momus.arguments import arg
from momus.errors import MomusError, StoreError
from momus.files import plain, write_sealed
from momus.outputs import new_folder, writing
from momus.ownership import check_place
from momus.parameters import Range
from momus.schema import read_json, seal
from momus_people.design import StudyDesign, Trial
from momus_people.excerpts import LONGEST, Excerpt
from momus_people.protocol import Protocol, protocol_of

STUDY, KEY, RATERS = "study.json", "key.json", "raters"
FORMAT: Literal["momus-study-1"] = "momus-study-1"
BACKUP = "take the files of the study from a backup, or make it again"
UNITLESS = ("check", "training")
"""Roles of trials that judge no item."""


@dataclass(frozen=True)
class Study:
    """A study as drawn.

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
    """

    name: str
    protocol: Protocol
    corpora: Sequence[str]
    design: StudyDesign
    labels: Sequence[str] = ()
    values: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    axes: Mapping[str, str] = field(default_factory=dict)

    @property
    def raters(self) -> list[str]:
        """Names of the raters."""
        return [rater_name(k) for k in range(self.protocol.raters)]


def rater_name(number: int) -> str:
    """Name of a rater.

    >>> rater_name(0)
    'rater-1'
    """
    return f"rater-{number + 1}"


def name_of(protocol: Protocol, design: StudyDesign) -> str:
    """Name of a study: a digest of all that it depends on."""
    content: list[Any] = [protocol.to_json(), [(e.corpus, e.id, e.parts) for e in design.passages]]
    content.append([(t.rater, t.role, t.passages) for t in design.trials])
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()[:8]


def check_free(folder: Path) -> None:
    """Make sure that a study can be written: there is nothing, or an empty folder, and no part of anything else.

    Raises
    ------
    StoreError
        It cannot.
    """
    check_place(folder, [])
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise StoreError(f"{folder} is not an empty folder", hint=f"name a new folder with {arg('out')}")


@contextmanager
def study_folder(study: Study, folder: Path, record: Mapping[str, Any]) -> Iterator[Path]:
    """Give a temporary folder for pages and tasks; the study with its key is in ``folder`` when the context ends.

    Raises
    ------
    StoreError
        The folder cannot be written, or is not empty.
    """
    check_free(folder)
    with writing(folder, "name another folder"), new_folder(folder) as temporary:
        yield temporary
        write_sealed(temporary / KEY, plain(_key(study)))
        write_sealed(temporary / STUDY, plain({**_public(study), **record}))


def _public(study: Study) -> _StudyRecord:
    return {
        "format": FORMAT,
        "study": study.name,
        "protocol": study.protocol.to_json(),
        "corpora": list(study.corpora),
        "labels": list(study.labels),
        "raters": study.raters,
    }


def _public_seal(public: _StudyRecord) -> str:
    """Digest of what raters see and answers depend on; ``key.json`` holds it."""
    return seal({name: public[name] for name in ("protocol", "corpora", "labels", "raters")})


def _key(study: Study) -> dict[str, Any]:
    design = study.design
    return {
        "format": FORMAT,
        "study": study.name,
        "public": _public_seal(_public(study)),
        "passages": [_excerpt_json(e) for e in design.passages],
        "items": [list(i) for i in design.items],
        "trials": [{k: v for k, v in asdict(t).items() if k != "inserted"} for t in design.trials],
        "values": {k: list(v) for k, v in study.values.items()},
        "axes": dict(study.axes),
    }


def _excerpt_json(e: Excerpt) -> dict[str, Any]:
    """A passage without its text, but with a digest of it."""
    digest = hashlib.sha256(e.text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    return {
        "corpus": e.corpus,
        "id": e.id,
        "prompt": e.prompt,
        "sections": len(e.parts),
        "titles": list(e.titles),
        "sha256": digest,
        "yardsticks": dict(e.yardsticks),
    }


class _PassageRecord(TypedDict):
    """A passage in ``key.json``."""

    corpus: str
    id: str
    prompt: str | None
    sections: Annotated[int, Range(0, LONGEST)]
    titles: list[str]
    sha256: str
    yardsticks: dict[str, float]


class _KeyRecord(TypedDict):
    """The content of ``key.json``."""

    format: Literal["momus-study-1"]
    study: str
    public: str
    passages: list[_PassageRecord]
    items: list[tuple[int, ...]]
    trials: list[Trial]
    values: dict[str, list[float | None]]
    axes: dict[str, str]


class _StudyRecord(TypedDict):
    """What is needed of the content of ``study.json``."""

    format: Literal["momus-study-1"]
    study: str
    protocol: dict[str, Any]
    corpora: list[str]
    labels: list[str]
    raters: list[str]


def read_study(folder: Path) -> Study:
    """Read a study; its passages have no text.

    Raises
    ------
    StoreError
        The folder holds no study, or a file is damaged, changed or of another study.
    """
    try:
        public = read_json(folder / STUDY, _StudyRecord, BACKUP, sealed=True)
        key = read_json(folder / KEY, _KeyRecord, BACKUP, sealed=True)
    except FileNotFoundError as error:
        hint = "name a folder that `momus study new` wrote, with its key"
        raise StoreError(f"{error.filename}: not found", hint=hint) from error
    if key["study"] != public["study"] or key["public"] != _public_seal(public):
        raise StoreError(
            f"{folder}: {STUDY} is not the one that {KEY} belongs to (protocol, corpora, labels or raters differ)",
            hint=BACKUP,
        )
    try:
        protocol = protocol_of(public["protocol"], str(folder / STUDY))
    except MomusError as error:
        raise StoreError(f"{folder / STUDY}: {error.message}", hint=BACKUP) from error
    passages = [
        Excerpt(p["corpus"], p["id"], p["prompt"], ("",) * p["sections"], tuple(p["titles"]), p["yardsticks"])
        for p in key["passages"]
    ]
    fault = _fault(public, key, protocol)
    if fault:
        raise StoreError(f"{folder / KEY}: {fault}", hint=BACKUP)
    design = StudyDesign(passages, key["items"], key["trials"], None)
    return Study(public["study"], protocol, public["corpora"], design, public["labels"], key["values"], key["axes"])


def _fault(public: _StudyRecord, key: _KeyRecord, protocol: Protocol) -> str:
    """What contradicts itself in a study, in words; empty if nothing does."""
    corpora, n, items = public["corpora"], len(key["passages"]), key["items"]
    for numbers in (*items, *(t.passages for t in key["trials"])):
        if len(numbers) != protocol.width or not all(0 <= k < n for k in numbers):
            return "an item names a passage that is not there"
    for t in key["trials"]:
        if not -1 <= t.unit < len(items) or not 0 <= t.rater < protocol.raters or (t.unit < 0) != (t.role in UNITLESS):
            return f"trial {t.code} names an item or a rater that is not there"
    strange = next((p["corpus"] for p in key["passages"] if p["corpus"] not in corpora), None)
    if strange is not None:
        return f"a passage is of {strange!r}, and the corpora are {', '.join(corpora)}"
    if any(len(values) != n or name not in key["axes"] for name, values in key["values"].items()):
        return "a critic has no axis, or not one value for each passage"
    return ""
