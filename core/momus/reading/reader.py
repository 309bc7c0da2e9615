"""Read any supported source as a corpus, or as one text per value of a column."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast, overload

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.limits import Limits
from momus.progress import Advance, Reporter, Silent
from momus.reading.building import SURROGATE
from momus.reading.checking import FieldsSeen, TwoTextsError, check
from momus.reading.files import guarded
from momus.reading.folders import locations
from momus.reading.frames import MemorySource, gathered
from momus.reading.gathering import Rows, size_of
from momus.reading.labels import labelled
from momus.reading.logs import likely_reader, log_reader
from momus.reading.options import ReadingOptions, Source
from momus.text.corpus import Corpus

TextSource = Corpus | str | os.PathLike[str] | MemorySource
"""Whatever can be read as a text: a corpus, a path, or texts in memory (`read_corpus`)."""


@overload
def read_corpus(source: TextSource, name: str = "", *, split_by: None = None, **options: Any) -> Corpus: ...


@overload
def read_corpus(source: TextSource, name: str = "", *, split_by: str, **options: Any) -> dict[str, Corpus]: ...


def read_corpus(  # type: ignore[misc]  # of the options of a split text, mypy sees no names
    source: TextSource,
    name: str = "",
    *,
    field: str | None = None,
    fmt: str | None = None,
    skip_bad_lines: bool = False,
    encoding: str = "utf-8",
    keep: Sequence[str] = (),
    limits: Limits | None = None,
    include: Sequence[str] = (),
    turns: str = "assistant",
    prompt: str | None = None,
    where: str | None = None,
    split_by: str | None = None,
) -> Corpus | dict[str, Corpus]:
    r"""Read a file, a folder, or texts in memory as a corpus, batch by batch.

    A record that is not a document keeps its row and its id, with the reason as its ``problem``. Documents without an
    id get ``stem:line`` (``stem:item`` in a JSON list, ``stem:row`` in Parquet); the id of a whole text file is
    ``stem``, or its path within the folder that is read; in memory, ids are ``name:1``, ``name:2`` and so on.

    Parameters
    ----------
    source
        A file, a folder, a pattern such as ``data/train*``, an address (``s3://…``, ``hf://datasets/OWNER/NAME``,
        ``https://…``), ``-`` for standard input (JSON Lines), or ``FILE#FIELD`` to choose a field or a list. A log is
        named with its reader: ``lm-eval:samples.jsonl``. In memory: an iterable of texts, of records (dicts with
        ``text`` or ``sections``, and optionally ``id``, ``prompt_id``, ``group_id``) or of `Document`; a dict of
        equally long columns; a data frame, eager or lazy, of pandas, Polars, PyArrow, DuckDB or another library that
        narwhals knows; or a Hugging Face data set. Generators are read once and never held as a whole.
    name
        Name of the corpus; default: the file name without extensions, or ``text``.
    field
        The field that holds the text, or a path to it such as ``result.text`` or ``choices[0].message.content``
        (JMESPath). A list of strings in ``sections``,
        ``chapters``, ``paragraphs``, ``parts`` or ``sentences`` is read as sections without titles. In any other field
        it holds several answers: each is a document, ``ID#1``, ``ID#2`` and so on, with the prompt of its record
        (`Corpus.answers` counts them). Default: ``sections``, then ``text``.
    fmt
        One of `momus.reading.FORMATS`; default: recognised by name and content. ``markup`` reads documents with
        headings, such as Markdown, as sections.
    skip_bad_lines
        Keep lines that are not JSON or not UTF-8 as rows with a problem, instead of stopping at the first.
    encoding
        Encoding of text and JSON. A leading byte order mark is dropped.
    keep
        Metadata fields (or paths such as ``meta.topic``) to keep as `Corpus.field`; values that are not strings become
        compact JSON. Documents may lack them.
    limits
        How large a document and a decompressed file may be; default: `momus.limits.Limits.current`.
    include
        Patterns of names, or of paths within a folder, that are read though they describe other files: ``README*``.
        `Corpus.left_out` names the files that are left out.
    turns
        What counts as the text of chat messages, one of `momus.reading.TURNS`.
    prompt
        The field that names what a document answers, or a path to it; default: that of the format, else ``prompt_id``,
        then ``prompt``, then what a chat says before the answer.
    where
        The condition of the records that are read: ``model=gpt-4``, or an expression of JMESPath.
    split_by
        A column, or a path to it: the texts are given by its values, each as a corpus of this name.

    Raises
    ------
    ReadingError
        The file as a whole is unusable; the message says where and why, the hint what to do.
    UsageError
        The format or the encoding is unknown, fields to keep are not a list of names, a folder holds several splits of
        a data set, or an object in memory holds no texts in an order.
    PluginError
        No reader of logs has this name.

    Notes
    -----
    Unpaired surrogates (``\ud800`` alone in JSON) become U+FFFD, and line ends of plain text become line feeds.

    >>> rows = [{"text": "To be.", "prompt_id": "p1"}, {"text": None}, "Not to be."]
    >>> corpus = read_corpus(rows, "hamlet")
    >>> corpus.prompts, corpus.problems
    (['p1', None, None], [None, 'text is null', None])
    >>> read_corpus({"output": ["Yes.", "No."], "id": [7, 8]}, field="output").ids
    ['7', '8']
    """
    options = ReadingOptions(
        field=field,
        fmt=fmt,
        encoding=encoding,
        skip_bad_lines=skip_bad_lines,
        keep=cast(tuple[str, ...], keep),
        limits=limits,
        include=cast(tuple[str, ...], include),
        turns=turns,
        prompt=prompt,
        where=where,
    )
    if split_by is None:
        return as_corpus(source, name, options)
    return by_value(as_corpus(source, name, replace(options, keep=(*options.keep, split_by))), split_by)


def read_source(
    source: Source, options: ReadingOptions, name: str = "", advance: Advance | None = None
) -> tuple[Corpus, FieldsSeen]:
    """The corpus of a text, and the fields of its first records; the options are those `ReadingOptions.of_text`."""
    field = source.field(options.for_text(None)["field"])
    top = source.top
    reader = log_reader(source.reader) if source.reader is not None else None
    fmt = options.fmt
    if reader is not None and fmt is not None:
        raise UsageError(f"{source.reader}: settles the format, which cannot be {fmt!r}", hint="leave out the format")
    with guarded(top):
        listed = locations(top, fmt, options.include, reader)
        files = listed.files
        sizes = [size_of(location) for location, _ in files]
        total = 0 if None in sizes else sum(size or 0 for size in sizes)
    with Rows(replace(options, field=field), advance, total) as reading:
        for location, kind in files:
            reading.read(location, kind, files[0][0] is top if reader is None else len(files) == 1, reader)
        if reader is None and not top.stdin and reading.problems.total() == reading.rows:
            likely = likely_reader(reading.looked.first)
            if likely is not None:
                return read_source(replace(source, reader=likely.name), replace(options, fmt=None), name, advance)
        check(reading, top)
        stem = SURROGATE.sub("\ufffd", top.prefix)  # of a file name that is not UTF-8
        named = name or (f"{stem}#{source.fragment}" if source.fragment else stem)
        corpus = reading.corpus(named, top.label, source.reader)
    corpus.left_out = listed.left_out
    return corpus, reading.looked


def as_corpus(
    source: TextSource, name: str = "", reading: ReadingOptions | None = None, reporter: Reporter | None = None
) -> Corpus:
    """Turn a corpus, a path, or texts in memory into a corpus of this name (default: its own, or that of the file).

    Raises
    ------
    UsageError
        The source is none of these.

    >>> as_corpus(["To be.", "Or not."])
    Corpus('text', 2 documents)
    """
    if isinstance(source, Corpus):
        corpus = source if name in ("", source.name) else source.take(range(len(source)), name).read_as(source)
        return corpus if reading is None else labelled(corpus, reading.labels, reading.text)
    reading = reading or ReadingOptions()
    if not isinstance(source, str | os.PathLike):
        return reading.of_documents(gathered(source, name or "text", reading.of_text(name)))
    options, path = reading.of_text(name or None), os.fspath(source)
    with (reporter or Silent()).stage(f"reading {name or path}", 100) as advance:
        corpus, _ = read_source(Source.parse(path, options.fmt is None), options, name, advance)
    return reading.of_documents(corpus)


def by_value(corpus: Corpus, column: str) -> dict[str, Corpus]:
    """One text for each value of a kept column, such as that of the model.

    Raises
    ------
    UsageError
        A document has not the column.

    >>> rows = [{"text": "Yes.", "model": "a"}, {"text": "No.", "model": "b"}]
    >>> by_value(read_corpus(rows, keep=["model"]), "model")
    {'a': Corpus('a', 1 document), 'b': Corpus('b', 1 document)}
    """
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(corpus.field(column)):
        if value is not None:
            rows.setdefault(value, []).append(row)
    if not rows:
        raise UsageError(f"no document of {corpus.name!r} has the field {column!r}", hint="check the spelling")
    if lacking := len(corpus) - sum(map(len, rows.values())):
        raise UsageError(
            f"{lacking:,} of {len(corpus):,} documents of {corpus.name!r} lack the field {column!r}",
            hint=f"leave them out with {arg('where', column)}",
        )
    return {value: corpus.take(np.array(taken), value).read_as(corpus) for value, taken in rows.items()}


def sides_of(path: str | os.PathLike[str], reading: ReadingOptions | None = None) -> tuple[str, str]:
    """The names of the two texts of a file of pairs, each of which is read as the field of its name.

    Raises
    ------
    UsageError
        The file holds one text.
    ReadingError
        The file cannot be read.
    """
    try:
        corpus = as_corpus(path, "", reading)
    except TwoTextsError as error:
        first, second = error.sides
        return first, second
    read_as = f" ({corpus.origin.read_as})" if corpus.origin is not None and corpus.origin.read_as else ""
    raise UsageError(
        f"{path}: this is one text{read_as}, not two in pairs",
        hint="give a file with chosen and rejected answers, or name two files",
    )
