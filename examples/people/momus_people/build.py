"""Make a study from a finished run and its texts, and write its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.outliers.rows import outlier_rows
from momus.runs.folder import RunFolder
from momus.runs.kept import KeptTexts, read_kept_texts
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus.version import __version__
from momus_people.design import drawn
from momus_people.excerpts import Excerpt, Stripped, excerpts_of
from momus_people.pages import frequent_titles, write_pages
from momus_people.power import Need, needs
from momus_people.protocol import Protocol
from momus_people.store import Study, check_free, name_of, study_folder

TITLES = "titles"
"""The labels that stand for the most frequent titles of the real text."""


@dataclass(frozen=True)
class Made:
    """A study that was made, and what a reader must know about its texts."""

    study: Study
    counts: Stripped
    needs: Sequence[Need]
    pages: Sequence[Path]


def make_study(run: Path | None, corpora: Mapping[str, Corpus], protocol: Protocol) -> tuple[Study, Stripped]:
    """Draw a study.

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
    sections = bool(protocol.labels)
    pool: dict[str, list[Excerpt]] = {}
    for name, corpus in corpora.items():
        known = None if texts is None else set(texts.ids[name])
        found = excerpts_of(corpus, protocol.words, sections, counts)
        pool[name] = [e for e in found if known is None or e.id in known]
        if known is not None and len(pool[name]) < len(found):
            counts.left_out[name]["not compared in the run"] += len(found) - len(pool[name])
    labels: list[str] = list(protocol.labels)
    if labels == [TITLES]:
        if "real" not in corpora:
            raise UsageError("labels from titles need the real text", hint=f"pass {arg('real')}, or name the labels")
        labels = frequent_titles(corpora["real"], protocol.most_labels)
    if sections:
        for name, found in pool.items():
            pool[name] = [e for e in found if len(e.parts) > 1]
            if len(pool[name]) < len(found):
                counts.left_out[name]["fewer than two sections"] += len(found) - len(pool[name])
    design = drawn(pool, protocol, labels)
    values, axes = ({}, {}) if run is None else _values(run, design.passages)
    study = Study(name_of(protocol, design), protocol, list(corpora), design, labels, values, axes)
    return study, counts


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
    values, axes = {}, {}
    for r in rows.results:
        frame = rows.frame[rows.frame["critic"] == r.name]
        by = dict(zip(zip(frame["corpus"], frame["id"], strict=True), frame["value"], strict=True))
        found = [by.get((e.corpus, e.id)) for e in passages]
        values[r.name] = [float(v) if v is not None and np.isfinite(v) else None for v in found]
        axes[r.name] = r.axis
    return values, axes


def create(
    run: Path | None,
    corpora: Mapping[str, Corpus],
    protocol: Protocol,
    out: Path,
    *,
    difference: float | None = None,
    pilot: Mapping[str, float] | None = None,
) -> Made:
    """Draw a study and write its folder: `make_study`, then pages for raters.

    Parameters
    ----------
    difference
        The difference that the study should detect (`momus_people.power`).
    pilot
        Standard deviations of an earlier study, by random effect.

    Raises
    ------
    MomusError
        As `make_study`; or the folder cannot be written.
    """
    check_free(out)
    study, counts = make_study(run, corpora, protocol)
    found = needs(protocol, len(corpora), difference, pilot)
    balance = study.design.balance
    assert balance is not None
    record = {
        "momus": __version__,
        "stripped": {k: dict(v) for k, v in counts.stripped.items()},
        "left_out": {k: dict(v) for k, v in counts.left_out.items()},
        "balance": {
            "passages": dict(balance.per_corpus),
            "items_per_rater": list(balance.per_rater),
            "items_shared_by_two_raters": list(balance.together),
            "items_of_one_prompt": balance.same_prompt,
        },
    }
    with study_folder(study, out, record) as folder:
        pages = write_pages(study, folder)
    return Made(study, counts, found, [out / page.relative_to(folder) for page in pages])
