"""Files of labels: records with the id of a document and what it is labelled, joined to the documents of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from momus.arguments import arg
from momus.errors import UsageError
from momus.reading.files import guarded, open_file
from momus.reading.labelforms import TABLE, Labels, document_of, labels_in, settle
from momus.reading.location import Location, Problem
from momus.reading.paths import as_string
from momus.reading.records import Defect
from momus.reading.streams import TABULAR, file_format, records_in
from momus.text.corpus import Corpus
from momus.text.counting import counted, joined

CORPUS = "corpus"
"""Field of a record of labels that names the text, where documents of several texts have one id."""
GOLD = ".gold"
"""End of the name of true labels of some documents: those of ``tone`` are ``tone.gold``."""
SECOND = ".second"
"""End of the name of a second labeller's labels: those of ``tone`` are ``tone.second``."""
ABOUT = ("labeller", "unanswered", "refused", "asked")
"""Fields of a record that are no labels: who labelled it, what was said or refused instead, and what was asked."""
FORM = 'write records such as {"id": "a1", "tone": "warm"}'


@dataclass(frozen=True)
class LabelFile:
    """The labels of a file.

    Attributes
    ----------
    path
        The file.
    fields
        Names of its fields that are likely labels, in the order in which they occur.
    rows
        By the name of a text (empty: any) and the id of a document: the fields that are not null, as strings.
    labeller
        Who labelled, as the records say; empty where they do not.
    others
        Names of its other fields: texts, constants, notes of tools.
    """

    path: str
    fields: tuple[str, ...]
    rows: Mapping[tuple[str, str], Mapping[str, str]]
    labeller: str = ""
    others: tuple[str, ...] = ()

    def field(self, name: str) -> str:
        """The field with the labels of this name: the one called so, as the label that they belong to, or the only one.

        Raises
        ------
        UsageError
            There are several, none of which is called so.
        """
        for known in (name, name.removesuffix(GOLD).removesuffix(SECOND)):
            if known in (*self.fields, *self.others):
                return known
        if len(self.fields) == 1:
            return self.fields[0]
        others = ", ".join([*self.fields, *self.others][:20]) or "none"
        raise UsageError(f"{self.path} has no field {name!r}; its fields are {others}", hint=FORM)

    def of(self, text: str, ids: Sequence[str], name: str) -> list[str | None]:
        """The label of each document of a text, None where there is none."""
        field = self.field(name)
        known = ((self.rows.get((text, id)) or self.rows.get(("", id)) or {}) for id in ids)
        return [row.get(field) for row in known]


def label_file(path: str | os.PathLike[str]) -> LabelFile:
    """Read a file of labels: JSON Lines, a list in JSON, CSV, TSV or Parquet; once, as long as it does not change.

    Raises
    ------
    ReadingError
        The file cannot be read, a record has no id, or two records of one text have the same.
    """
    name = os.fspath(path)
    try:
        state = os.stat(name)
    except OSError:
        return _read(name, 0, 0)  # the error of reading says what is wrong
    return _read(name, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _read(path: str, changed: int, size: int) -> LabelFile:
    rows: dict[tuple[str, str], Labels] = {}
    labellers: dict[str, None] = {}
    twice: tuple[Location, int, str] | None = None
    for where, id, record in identified(path, FORM):
        if id is None:
            raise where.error("the record has no id of a document", FORM, where.position)
        row = rows.setdefault(("" if record.get(CORPUS) is None else as_string(record[CORPUS]), id), {})
        for who, labels in labels_in(record):
            labellers |= dict.fromkeys(filter(None, [who]))
            repeated = row.keys() & labels.keys()
            twice = (where, where.position, id) if repeated and twice is None else twice
            for name, value in labels.items():
                row.setdefault(name, []).append(value)
    places = [name for name in TABLE["places"] if any(len(row.get(name, [])) > 1 for row in rows.values())]
    if twice is not None and not (places and len(labellers) < 2):
        where, position, id = twice
        who = f" ({joined(list(labellers)[:5])} labelled it: write a file for each)" if len(labellers) > 1 else ""
        hint = f"give each document one record; where two texts share ids, name the text as {CORPUS!r}; number steps "
        raise where.error(f"a second record has the id {id!r:.80}{who}", f"{hint}as {TABLE['places'][0]!r}", position)
    for row in rows.values():  # of a record per step, labels in order of the steps
        row |= {name: values if places else values[0] for name, values in row.items()}
        for name in places:
            row.pop(name, None)
    fields = settle(list(rows.values()))
    others = dict.fromkeys(name for row in rows.values() for name in row if name not in fields)
    strings = {key: {name: as_string(value) for name, value in row.items()} for key, row in rows.items()}
    return LabelFile(path, tuple(fields), strings, joined(list(labellers)), tuple(others))


def identified(path: str, form: str) -> Iterator[tuple[Location, str | None, Mapping[str, object]]]:
    """The records of a file (JSON Lines, JSON, CSV, TSV or Parquet): where each stands, the id of a document, and it.

    Parameters
    ----------
    form
        The hint of errors: what to write.

    Raises
    ------
    ReadingError
        The file cannot be read, holds no record, or what is no record; or an id is neither a string nor a number.
    """
    location = Location(Path(path), path, "")
    with guarded(location), open_file(location) as file:
        kind = file_format(location, file.head)
        if kind not in ("jsonl", "json", "parquet", *TABULAR):
            raise location.error(f"a file of labels cannot be {kind}", "give JSON Lines, JSON, CSV, TSV or Parquet")
        for position, record in records_in(location, file, kind)[0]:
            location.position = position
            if not isinstance(record, Mapping):
                what = str(record) if isinstance(record, Problem) else "the record is no object"
                raise location.error(what, form, position)
            try:
                yield location, document_of(record), record
            except Defect as defect:
                raise location.error(str(defect), form, position) from None
    if not location.position:
        raise location.error("the file holds no record", form)


def parsed(text: str) -> Any:
    """The value that a field holds: a list, a mapping, a number, true or false; else the string itself.

    >>> parsed('["warm","cold"]'), parsed("0.5"), parsed("true"), parsed("warm"), parsed('"warm"')
    (['warm', 'cold'], 0.5, True, 'warm', '"warm"')
    """
    if text[:1] not in "[{-0123456789tfNI" or not text:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str) else value


def name_and_path(item: str) -> tuple[str, str]:
    """Take ``NAME=PATH`` apart.

    Raises
    ------
    UsageError
        One of both is missing.

    >>> name_and_path("tone=judge.jsonl")
    ('tone', 'judge.jsonl')
    """
    name, _, path = item.partition("=")
    if not name or not path:
        raise UsageError(f"labels are {item!r:.80}, expected NAME=PATH", hint="such as tone=tone.jsonl")
    return name, path


def labelled(corpus: Corpus, labels: Iterable[str], text: str = "") -> Corpus:
    """The corpus with a field of labels for each ``NAME=PATH``; itself where there is none.

    Parameters
    ----------
    text
        Name of the text in the run, where the corpus has another one.
    """
    for item in labels:
        name, path = name_and_path(item)
        values = label_file(path).of(text or corpus.name, corpus.ids, name)
        if name.endswith(GOLD):  # each true label with the number of labelled documents that it stands for
            labels_of = [value is not None for value in corpus.field(name.removesuffix(GOLD))]
            known = [truth is not None and has for truth, has in zip(values, labels_of, strict=True)]
            weight = sum(labels_of) / max(sum(known), 1)
            both = zip(values, known, strict=True)
            values = [json.dumps({"label": truth, "weight": weight}) if is_known else None for truth, is_known in both]
        corpus = corpus.with_field(name, values)
    return corpus


def check_labelled(corpora: Sequence[Corpus], labels: Iterable[str]) -> list[str]:
    """Make sure that files of labels belong to these texts, and say how many labels belong to none of them.

    Raises
    ------
    UsageError
        A text has no document with a label, or one label stands for different documents of two texts.
    """
    notes = []
    for item in labels:
        name, path = name_and_path(item)
        file = label_file(path)
        _check_unambiguous(corpora, file)
        keys = {key for corpus in corpora for id in corpus.ids for key in ((corpus.name, id), ("", id))}
        used = keys & file.rows.keys()
        for corpus in corpora:
            if not any(value is not None for value in file.of(corpus.name, corpus.ids, name)):
                _refuse(corpus, file, name, len(used))
        if unused := len(file.rows) - len(used):
            of_file = f"{counted(len(file.rows), 'label')} in {path}"
            notes.append(f"{unused:,} of {of_file} belong to no document of this run.")
    return notes


def _check_unambiguous(corpora: Sequence[Corpus], file: LabelFile) -> None:
    """Refuse a label without a text for two documents of one id and different texts."""
    seen: dict[str, tuple[str, int]] = {}
    for corpus in corpora:
        for id, hash_ in zip(corpus.ids, corpus.hashes.tolist(), strict=True):
            if ("", id) not in file.rows or (corpus.name, id) in file.rows:
                continue
            other, same = seen.setdefault(id, (corpus.name, hash_))
            if same != hash_:
                raise UsageError(
                    f"{file.path}: the label of {id!r:.80} may be of a document of {other!r} or of {corpus.name!r}",
                    hint=f'name the text in each record, as in {{"id": "{id:.40}", "{CORPUS}": "{corpus.name}", …}}',
                )


def _refuse(corpus: Corpus, file: LabelFile, name: str, used: int) -> None:
    """Say that no document of a text has a label, with an id of each side."""
    (text, id), *_ = file.rows
    of_text = f" of {text!r}" if text else ""
    raise UsageError(
        f"{file.path}: none of {counted(len(corpus), 'document')} of {corpus.name!r} has a label {name!r}; "
        f"{used:,} of {counted(len(file.rows), 'label')} belong to documents of this run. A document is "
        f"{corpus.ids[0]!r:.80}, a label is for {id!r:.80}{of_text}",
        hint=f"write the ids of the documents into {arg('labels')}, or ids into both",
    )
