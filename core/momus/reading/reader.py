"""Read any supported file or folder as a corpus."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path

from momus.errors import UsageError
from momus.limits import Limits
from momus.reading import arrowfiles
from momus.reading.building import SPILL_BYTES, SURROGATE, Builder
from momus.reading.chat import check_turns
from momus.reading.encoding import codec
from momus.reading.files import guarded, open_file
from momus.reading.folders import Listed, log_files, matches, members, remote_members
from momus.reading.gathering import Progress, Rows, size_of
from momus.reading.location import Location, remote_name
from momus.reading.logs import LogReader, same_model
from momus.reading.readers import Source, log_reader
from momus.reading.remote import is_address, list_remote
from momus.reading.sniffing import FORMATS, file_format, folder_format, split_name
from momus.redact import redacted
from momus.text.corpus import Corpus


def read_corpus(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    field: str | None = None,
    fmt: str | None = None,
    skip_bad_lines: bool = False,
    encoding: str = "utf-8",
    keep: Sequence[str] = (),
    progress: Progress | None = None,
    spill: int = SPILL_BYTES,
    limits: Limits | None = None,
    include: Sequence[str] = (),
    turns: str = "assistant",
    prompt: str | None = None,
) -> Corpus:
    r"""Read a file or a folder as a corpus, batch by batch.

    A record that is not a document keeps its row and its id, with the reason as its ``problem``. Documents without an
    id get ``stem:line`` (``stem:item`` in a JSON list, ``stem:row`` in Parquet); the id of a whole text file is
    ``stem``, or its path within the folder that is read.

    Parameters
    ----------
    path
        A file, a folder, a pattern such as ``data/train*``, an address (``s3://…``, ``hf://datasets/OWNER/NAME``,
        ``https://…``), ``-`` for standard input (JSON Lines), or ``FILE#FIELD`` to choose a field or a list. A log is
        named with its reader: ``lm-eval:samples.jsonl``.
    name
        Name of the corpus; default: the file name without extensions.
    field
        The field that holds the text, or a path to it such as ``result.text``. A list of strings in ``sections``,
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
    progress
        Called after each batch; see `Progress`.
    spill
        Size in bytes above which the corpus goes to a temporary file that is mapped into memory.
    limits
        How large a document and a decompressed file may be; default: `momus.limits.Limits.current`.
    include
        Patterns of names, or of paths within a folder, that are read though they describe other files: ``README*``.
        `Corpus.left_out` names the files that are left out.
    turns
        What counts as the text of chat messages, one of `momus.reading.TURNS`.
    prompt
        The field that names what a document answers, or a path to it; default: ``prompt_id``, then ``prompt``.

    Raises
    ------
    ReadingError
        The file as a whole is unusable; the message says where and why, the hint what to do.
    UsageError
        The format or the encoding is unknown, fields to keep are not a list of names, or a folder holds several splits
        of a data set.
    PluginError
        No reader of logs has this name.

    Notes
    -----
    Unpaired surrogates (``\ud800`` alone in JSON) become U+FFFD, and line ends of plain text become line feeds.
    """
    if fmt is not None and fmt not in FORMATS:
        raise UsageError(f"unknown format {fmt!r}", hint=f"use one of {', '.join(FORMATS)}")
    if isinstance(include, str):
        raise UsageError(f"include is {include!r}, expected a list of patterns", hint='for example include=["README*"]')
    if isinstance(keep, str) or not all(isinstance(n, str) and n for n in keep):
        raise UsageError(f"keep is {keep!r}, expected a list of field names", hint='for example keep=["topic"]')
    if not os.fspath(path):
        raise UsageError("the path of a text is empty", hint="name a file or a folder; . is the current folder")
    check_turns(turns)
    source = Source.parse(os.fspath(path))
    field, items = field_of(source, field)
    top = top_of(source)
    reader = log_reader(source.reader) if source.reader is not None else None
    if reader is not None and fmt is not None:
        raise UsageError(f"{source.reader}: settles the format, which cannot be {fmt!r}", hint="leave out the format")
    with guarded(top):
        listed = locations(top, fmt, include) if reader is None else _logs(top, reader)
        found = listed.files
        sizes = [size_of(location) for location, _ in found]
        total = None if None in sizes else sum(size or 0 for size in sizes)
    with Builder(spill) as builder:
        bad = skip_bad_lines
        reading = Rows(builder, field, items, codec(encoding), bad, tuple(keep), progress, total, limits, turns, prompt)
        for location, kind in found:
            if reader is None:
                reading.read(location, kind, found[0][0] is top)
            else:
                reading.read_log(location, reader, len(found) == 1)
        same_model(reading.abouts, top)
        reading.check(top)
        table = builder.finish()
    stem, selected = top.prefix, source.part
    stem = SURROGATE.sub("\ufffd", stem)  # of a file name that is not UTF-8
    try:
        corpus = Corpus(table, name or (f"{stem}#{selected}" if selected else stem))
    except UsageError:
        raise reading.duplicate_id(table) from None
    corpus.answers, corpus.left_out = reading.answers(), listed.left_out
    corpus.origin = reading.origin(top.label, source.reader)
    return corpus


def sniff(path: str | os.PathLike[str]) -> str:
    r"""Recognise the format of a file or a folder: one of `momus.reading.FORMATS`.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "notes"
    >>> _ = file.write_text('{"text": "a"}\n{"text": "b"}\n')
    >>> sniff(file)
    'jsonl'
    """
    location = top_of(Source.parse(os.fspath(path)))
    with guarded(location):
        folder = folder_format(location.path) if location.path else None
        if folder:
            return folder
        with open_file(location) as file:
            return file_format(location, file.head)


def field_of(source: Source, field: str | None) -> tuple[str | None, str | None]:
    """The field that holds the text, and the list that has it.

    What a path names after ``#`` is the field; with another field beside it, a list of objects that have this field.

    Raises
    ------
    UsageError
        Two fields of a log are named.
    """
    if source.part is None or field in (None, source.part):
        return field if source.part is None else source.part, None
    if source.reader is not None:
        raise UsageError(
            f"two fields for {redacted(source.path)}: {source.part!r} after # and {field!r}",
            hint="give one of them; --field NAME=FIELD chooses the field of one text only",
        )
    return field, source.part


def top_of(source: Source) -> Location:
    """The place that a text is read from: a file, a folder, a pattern, an address, or standard input."""
    if is_address(source.path):
        stem = split_name(remote_name(source.path.rstrip("/")))[0]
        return Location(None, redacted(source.path), stem, url=source.path)
    if source.path == "-":
        return Location(None, "standard input", "stdin")
    path = Path(source.path)
    return Location(path, source.path, split_name(path.resolve() if path.name in ("", "..") else path)[0])


def _logs(top: Location, reader: LogReader) -> Listed:
    """List the logs to read: one file, or those of a folder or pattern that the reader knows by their names."""
    if top.stdin:
        raise top.error("a log is not read from standard input", "write it to a file, and give that", 0)
    remote = list_remote(top) if top.url is not None else None
    if remote is not None or (top.path is not None and top.path.is_dir()):
        return Listed([(log, None) for log in log_files(top, reader.pattern, remote)])
    if top.path is not None and has_magic(str(top.path)) and not top.path.exists():
        return matches(top, top.path, None)
    return Listed([(top, None)])


def locations(top: Location, fmt: str | None, include: Sequence[str]) -> Listed:
    """List the files to read, each with its format if that is settled."""
    remote = list_remote(top) if top.url is not None else None
    if remote is not None:
        return remote_members(top, remote, fmt, include)
    folder = folder_format(top.path) if top.path else None
    if top.path is not None and folder is None and has_magic(str(top.path)) and not top.path.exists():
        return matches(top, top.path, fmt)
    if top.path is None or folder is None:
        if fmt in ("folder", "datasets"):
            top.path.stat() if top.path else None
            raise top.error(f"this is not a folder, which the format {fmt!r} needs", "omit the format", 0)
        if top.stdin and fmt == "arrow":
            raise top.error("Arrow data cannot be read from a pipe", "write the data to a file, and give that", 0)
        return Listed([(top, fmt)])
    if folder == "datasets" and fmt in (None, "datasets"):
        paths = arrowfiles.datasets_files(top, top.path)
        return Listed([(Location(path, str(path), top.prefix), "arrow") for path in paths])
    return members(top, top.path, None if fmt == "folder" else fmt, include)
