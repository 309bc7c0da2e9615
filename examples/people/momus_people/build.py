"""Make a study from a finished run and its texts, and write its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from momus.arguments import arg
from momus.errors import StoreError, UsageError
from momus.files import plain, write_sealed
from momus.outliers.rows import outlier_rows
from momus.outputs import new_folder, writing
from momus.ownership import check_place
from momus.runs.folder import RunFolder
from momus.runs.kept import KeptTexts, read_kept_texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.version import __version__
from momus_people.design import balance, drawn
from momus_people.excerpts import Excerpt, Stripped, excerpts_of
from momus_people.pages import frequent_titles, write_pages
from momus_people.protocol import Protocol
from momus_people.study import FORMAT, KEY, STUDY, Study, name_of

TITLES = "titles"
"""The labels that stand for the most frequent titles of the real text."""


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
    labels: list[str] = list(protocol.labels)
    if labels == [TITLES]:
        if "real" not in corpora:
            raise UsageError("labels from titles need the real text", hint=f"pass {arg('real')}, or name the labels")
        labels = frequent_titles(corpora["real"], protocol.most_labels)
    design = drawn(pool, protocol, labels)
    values, axes = ({}, {}) if run is None else _values(run, design.passages)
    return Study(name_of(protocol, design), protocol, list(corpora), design, labels, values, axes), counts


def _checked(run: Path, corpora: Mapping[str, Corpus]) -> KeptTexts:
    """The documents of the run, which must be those of the texts."""
    record = RunFolder(run).read_run()
    texts = read_kept_texts(run)
    known = [c["name"] for c in record["corpora"] if c["role"] != "fit"]
    if texts is None:
        raise UsageError(f"{run} does not say which documents it compared", hint="run `momus compare` again")
    for name, corpus in corpora.items():
        if name not in known:
            raise UsageError(f"{run} has no corpus {name!r}", hint=f"it has {', '.join(known)}")
        hashes = dict(zip(texts.ids[name], texts.hashes[name].tolist(), strict=True))
        mine = dict(zip(corpus.ids, corpus.hashes.tolist(), strict=True))
        same = sum(mine.get(i) == h for i, h in hashes.items())
        if same < len(hashes):
            raise UsageError(
                f"{name!r}: {counted(len(hashes) - same, 'document')} of {len(hashes):,} in the run differ from these "
                "texts, or are not among them",
                hint=f"give the texts that the run compared, with the same {arg('field')}, {arg('fmt')} and "
                f"{arg('prompt')}",
            )
    return texts


def _values(run: Path, passages: Sequence[Excerpt]) -> tuple[dict[str, list[float | None]], dict[str, str]]:
    """Value of each passage's document under each critic of documents, and the names of their axes."""
    rows = outlier_rows(run, documents_only=True)
    values = {}
    for r in rows.results:
        frame = rows.frame[rows.frame["critic"] == r.name]
        by = dict(zip(zip(frame["corpus"], frame["id"], strict=True), frame["value"], strict=True))
        column = [by.get((e.corpus, e.id)) for e in passages]
        values[r.name] = [float(v) if v is not None and np.isfinite(v) else None for v in column]
    return values, {r.name: r.axis for r in rows.results}


def create(run: Path | None, corpora: Mapping[str, Corpus], protocol: Protocol, out: Path) -> tuple[Study, Stripped]:
    """Draw a study and write its folder: `make_study`, then `write_study`; errors are those of both."""
    check_free(out)
    study, counts = make_study(run, corpora, protocol)
    write_study(study, out, counts)
    return study, counts


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
        write_pages(study, temporary)
        write_sealed(temporary / KEY, plain(asdict(replace(study, design=replace(study.design, passages=hidden)))))
        write_sealed(temporary / STUDY, plain(public))
