"""The folder of a study: what raters get, the protocol, and, apart from both, the key to the blinding.

STUDY/study.json       protocol, question, raters, numbers of documents; nothing about single passages
STUDY/key.json         which passage is from which document, what checks expect, values of critics: keep it back
STUDY/raters/          one page per rater
STUDY/label-studio/    tasks per rater, and the labelling configuration
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momus.errors import StoreError
from momus.files import plain, read_sealed, write_json, write_sealed
from momus.outputs import new_folder
from momus.ownership import check_place
from momus_adapters.study.design import Design, Trial
from momus_adapters.study.excerpts import Excerpt
from momus_adapters.study.protocol import Protocol, protocol_of

STUDY, KEY, RATERS, LABEL_STUDIO = "study.json", "key.json", "raters", "label-studio"
FORMAT = "momus-study-1"


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
    design: Design
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


def name_of(protocol: Protocol, design: Design) -> str:
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
        raise StoreError(f"{folder} is not an empty folder", hint="name a new folder with --out")


@contextmanager
def study_folder(study: Study, folder: Path, record: Mapping[str, Any]) -> Iterator[Path]:
    """Give a temporary folder for pages and tasks; the study with its key is in ``folder`` when the context ends.

    Raises
    ------
    StoreError
        The folder cannot be written, or is not empty.
    """
    public = {
        "format": FORMAT,
        "study": study.name,
        "protocol": study.protocol.to_json(),
        "corpora": list(study.corpora),
        "labels": list(study.labels),
        "raters": study.raters,
    }
    check_free(folder)
    try:
        with new_folder(folder) as temporary:
            yield temporary
            write_sealed(temporary / KEY, plain(_key(study)))
            write_json(temporary / STUDY, plain({**public, **record}))
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written ({error.strerror})", hint="name another folder") from error


def _key(study: Study) -> dict[str, Any]:
    design = study.design
    return {
        "format": FORMAT,
        "study": study.name,
        "passages": [_excerpt_json(e) for e in design.passages],
        "items": [list(i) for i in design.items],
        "trials": [_trial_json(t) for t in design.trials],
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


def _trial_json(t: Trial) -> dict[str, Any]:
    return {
        "code": t.code,
        "rater": t.rater,
        "role": t.role,
        "passages": list(t.passages),
        "unit": t.unit,
        "expected": t.expected,
    }


def read_study(folder: Path) -> Study:
    """Read a study; its passages have no text.

    Raises
    ------
    StoreError
        The folder holds no study, or a file is damaged, changed or of another study.
    """
    try:
        public = json.loads((folder / STUDY).read_text(encoding="utf-8"))
        key = read_sealed(folder / KEY)
        if public["format"] != FORMAT or key["study"] != public["study"]:
            raise ValueError("study.json and key.json are of different studies")
        protocol = protocol_of(public["protocol"], str(folder / STUDY))
        passages = [
            Excerpt(p["corpus"], p["id"], p["prompt"], ("",) * p["sections"], tuple(p["titles"]), p["yardsticks"])
            for p in key["passages"]
        ]
        trials = [
            Trial(t["code"], t["rater"], t["role"], tuple(t["passages"]), t["unit"], t["expected"])
            for t in key["trials"]
        ]
        items = [tuple(i) for i in key["items"]]
        _check_numbers(trials, items, len(passages), protocol)
        design = Design(passages, items, trials, None)
        return Study(public["study"], protocol, public["corpora"], design, public["labels"], key["values"], key["axes"])
    except FileNotFoundError as error:
        hint = "name a folder that `momus study new --out` wrote, with its key"
        raise StoreError(f"{error.filename}: not found", hint=hint) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{folder}: not a readable study ({error})", hint="take its files from a backup") from error


def _check_numbers(trials: Sequence[Trial], items: Sequence[tuple[int, ...]], n: int, protocol: Protocol) -> None:
    for numbers in (*items, *(t.passages for t in trials)):
        if len(numbers) != protocol.width or not all(0 <= k < n for k in numbers):
            raise ValueError("an item names a passage that is not there")
    for t in trials:
        if not -1 <= t.unit < len(items) or not 0 <= t.rater < protocol.raters:
            raise ValueError(f"trial {t.code} names an item or a rater that is not there")
