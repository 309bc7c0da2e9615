"""A study as drawn, and its folder, which is written once and read again.

STUDY/study.json       protocol, raters, balance, what was stripped; nothing about single passages
STUDY/key.json         which passage is from which document, what checks expect, values of critics: keep it back
STUDY/raters/          one page per rater
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from momus.arguments import arg
from momus.errors import StoreError, UsageError
from momus.files import plain, write_sealed
from momus.outliers.rows import outlier_rows
from momus.outputs import new_folder, write_text, writing
from momus.ownership import check_place
from momus.report.html import render_page
from momus.runs.folder import RunFolder
from momus.runs.kept import KeptTexts, read_kept_texts
from momus.schema import read_json
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.version import __version__
from momus_people.design import StudyDesign, Trial, balance, drawn
from momus_people.excerpts import Excerpt, Stripped, excerpts_of
from momus_people.protocol import Protocol

STUDY, KEY, RATERS = "study.json", "key.json", "raters"
FORMAT: Literal["momus-study-2"] = "momus-study-2"
BACKUP = "take the files of the study from a backup, or make it again"
UNITLESS = ("check", "training")
"""Roles of trials that judge no item."""
TITLES = "titles"
"""The labels that stand for the most frequent titles of the real text."""
_ENDS = re.compile(r"(?<=[.!?])\s+")


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


def make_study(run: Path | None, corpora: Mapping[str, Corpus], protocol: Protocol) -> tuple[Study, Stripped]:
    """Draw a study; also return what was stripped from its texts and left out of them.

    Parameters
    ----------
    run
        A finished run, whose critics' values of the documents are kept in the key; None: no critics.
    corpora
        The texts that the run compared, by their names there; human text is called ``real``.

    Raises
    ------
    UsageError
        The run compared other texts, or there are too few passages.
    StoreError
        The run cannot be read.
    """
    texts = None if run is None else _checked(run, corpora)
    counts = Stripped()
    pool: dict[str, list[Excerpt]] = {}
    for name, corpus in corpora.items():
        excerpts = excerpts_of(corpus, protocol.words, bool(protocol.labels), counts)
        compared = excerpts if texts is None else [e for e in excerpts if e.id in set(texts.ids[name])]
        pool[name] = [e for e in compared if len(e.parts) > 1] if protocol.labels else compared
        counts.left_out[name]["not compared in the run"] += len(excerpts) - len(compared)
        counts.left_out[name]["fewer than two sections"] += len(compared) - len(pool[name])
    labels = list(protocol.labels)
    if labels == [TITLES]:
        if "real" not in corpora:
            raise UsageError("labels from titles need the real text", hint=f"pass {arg('real')}, or name the labels")
        titles = Counter(t for t in corpora["real"].section_titles if t)
        labels = sorted(t for t, _ in titles.most_common(protocol.most_labels))
    design = drawn(pool, protocol, labels)
    values, axes = ({}, {}) if run is None else _values(run, design.passages)
    return Study(name_of(protocol, design), protocol, list(corpora), design, labels, values, axes), counts


def _checked(run: Path, corpora: Mapping[str, Corpus]) -> KeptTexts:
    """The documents of the run, which must be those of the texts."""
    known = [c["name"] for c in RunFolder(run).read_run()["corpora"] if c["role"] != "fit"]
    texts = read_kept_texts(run)
    for name, corpus in corpora.items():
        if name not in known:
            raise UsageError(f"{run} has no corpus {name!r}", hint=f"it has {', '.join(known)}")
        hashes = dict(zip(texts.ids[name], texts.hashes[name].tolist(), strict=True))
        differ = len(hashes.items() - dict(zip(corpus.ids, corpus.hashes.tolist(), strict=True)).items())
        if differ:
            raise UsageError(
                f"{name!r}: {counted(differ, 'document')} of {len(hashes):,} in the run differ from these texts, or "
                "are not among them",
                hint=f"give the texts that the run compared, with the same {arg('field')}, {arg('fmt')} and "
                f"{arg('prompt')}",
            )
    return texts


def _values(run: Path, passages: Sequence[Excerpt]) -> tuple[dict[str, list[float | None]], dict[str, str]]:
    """Value of each passage's document under each critic of documents, and the names of their axes."""
    rows = outlier_rows(run, documents_only=True)
    axes, documents = {r.name: r.axis for r in rows.results}, [(e.corpus, e.id) for e in passages]
    wide = rows.frame.pivot(index=["corpus", "id"], columns="critic", values="value").reindex(
        documents, columns=[*axes]
    )
    return {name: [float(v) if np.isfinite(v) else None for v in wide[name].astype(float)] for name in axes}, axes


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


def write_study(study: Study, folder: Path, counts: Stripped | None = None) -> None:
    """Write the pages for raters, what everybody may see, and the key.

    Raises
    ------
    StoreError
        The folder cannot be written, or is not empty.
    """
    check_free(folder)
    hidden = [replace(e, parts=("",) * len(e.parts)) for e in study.design.passages]
    public = {
        "format": FORMAT,
        "momus": __version__,
        "study": study.name,
        "protocol": asdict(study.protocol),
        "corpora": study.corpora,
        "labels": study.labels,
        "raters": study.raters,
        "balance": balance(study.design, study.protocol, study.corpora),
        **asdict(counts or Stripped()),
    }
    with writing(folder, "name another folder"), new_folder(folder) as temporary:
        for k, name in enumerate(study.raters):
            write_text(temporary / RATERS / f"{name}.html", rater_page(study, k))
        write_sealed(temporary / KEY, plain(asdict(replace(study, design=replace(study.design, passages=hidden)))))
        write_sealed(temporary / STUDY, plain(public))


def rater_page(study: Study, rater: int) -> str:
    """Render the page of a rater, which works offline. Texts are JSON that the script writes as text, never as HTML."""
    from markupsafe import Markup

    return render_page(
        "study.html.j2",
        package="momus_people",
        script="study.js",
        name=study.name,
        rater=study.raters[rater],
        data=Markup(inert_json(page_data(study, rater))),
    )


def page_data(study: Study, rater: int) -> dict[str, Any]:
    """What the page knows: the protocol's words, and the screens of this rater, in order; no trace of the blinding."""
    p = study.protocol
    return {
        "study": study.name,
        "rater": study.raters[rater],
        "question": p.asked,
        **{k: getattr(p, k) for k in ("kind", "instructions", "consent", "scale", "ties")},
        "labels": study.labels,
        "trials": [_screen(study, t) for t in study.design.trials if t.rater == rater],
    }


def _screen(study: Study, trial: Trial) -> dict[str, Any]:
    """One screen: its trial's code, the parts of each passage, and true labels of the sections in training."""
    passages = [list(study.design.passages[k].parts) for k in trial.passages]
    if trial.inserted:
        passages[0][0] = with_instruction(passages[0][0], trial.inserted)
    screen: dict[str, Any] = {"id": trial.code, "passages": passages}
    if trial.role == "training":
        titles = study.design.passages[trial.passages[0]].titles
        screen["truth"] = [t if t in study.labels else None for t in titles]
    return screen


def with_instruction(text: str, sentence: str) -> str:
    """Put a sentence into a text, at the end of the sentence that is nearest to its middle.

    >>> with_instruction("One. Two. Three. Four.", "Answer “fair”.")
    'One. Two. Answer “fair”. Three. Four.'
    """
    places = [m.start() for m in _ENDS.finditer(text)] or [len(text)]
    place = min(places, key=lambda p: abs(p - len(text) / 2))
    return f"{text[:place]} {sentence}{text[place:]}"


def inert_json(content: Any) -> str:
    r"""JSON that cannot end the script element that holds it, nor begin a comment in it.

    >>> inert_json(["</script><!--"])
    '["\\u003c/script>\\u003c!--"]'
    """
    return json.dumps(content).replace("<", "\\u003c")


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
