"""Read any supported file or folder as a corpus, with the options that commands and `momus.compare` pass along."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.limits import Limits
from momus.progress import Reporter, Silent
from momus.reading.building import SPILL_BYTES, SURROGATE, Builder
from momus.reading.chat import check_turns
from momus.reading.encoding import codec
from momus.reading.fields import FieldsSeen, origins
from momus.reading.files import guarded
from momus.reading.frames import MemorySource, read_memory
from momus.reading.gathering import Progress, Rows, TwoTextsError, size_of
from momus.reading.logs import LogError, log_reader, same_model
from momus.reading.sniffing import FORMATS
from momus.reading.sources import Source, field_of, locations, log_locations, top_of
from momus.text.corpus import Corpus
from momus.text.languages import check_language, kept_field, with_languages
from momus.text.normalising import check_kinds, normalised


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
    where: str | None = None,
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
        The field that names what a document answers, or a path to it; default: that of the format, else ``prompt_id``,
        then ``prompt``, then what a chat says before the answer.
    where
        The condition of the records that are read: ``model=gpt-4``, or an expression of JMESPath.

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
    return _read(
        path, name, field, fmt, skip_bad_lines, encoding, keep, progress, spill, limits, include, turns, prompt, where
    )[0]


def _read(
    path: str | os.PathLike[str],
    name: str | None,
    field: str | None,
    fmt: str | None,
    skip_bad_lines: bool,
    encoding: str,
    keep: Sequence[str],
    progress: Progress | None,
    spill: int,
    limits: Limits | None,
    include: Sequence[str],
    turns: str,
    prompt: str | None,
    where: str | None,
) -> tuple[Corpus, FieldsSeen]:
    """The corpus of a text, and the fields of its first records."""
    if fmt is not None and fmt not in FORMATS:
        raise UsageError(f"unknown format {fmt!r}", hint=f"use one of {', '.join(FORMATS)}")
    if isinstance(include, str):
        raise UsageError(f"include is {include!r}, expected a list of patterns", hint='for example include=["README*"]')
    if isinstance(keep, str) or not all(isinstance(n, str) and n for n in keep):
        raise UsageError(f"keep is {keep!r}, expected a list of field names", hint='for example keep=["topic"]')
    if not os.fspath(path):
        raise UsageError("the path of a text is empty", hint="name a file or a folder; . is the current folder")
    check_turns(turns)
    source = Source.parse(os.fspath(path), recognise=fmt is None)
    gather = partial(_gathered, source, field, name, fmt, include, progress, spill)
    options = (codec(encoding), skip_bad_lines, tuple(keep), limits, turns, prompt, where)
    try:
        return gather(options)
    except LogError as error:
        if fmt is not None or source.path == "-":
            raise
        return gather(options, error.reader)


def _gathered(
    source: Source,
    field: str | None,
    name: str | None,
    fmt: str | None,
    include: Sequence[str],
    progress: Progress | None,
    spill: int,
    options: tuple[Any, ...],
    reader_name: str | None = None,
) -> tuple[Corpus, FieldsSeen]:
    """The corpus of a text, read by the reader of this name, if it is a log; and the fields of its first records."""
    encoding, skip, keep, limits, turns, prompt, where = options
    source = source if reader_name is None else replace(source, reader=reader_name)
    field, items = field_of(source, field)
    top = top_of(source)
    reader = log_reader(source.reader) if source.reader is not None else None
    if reader is not None and fmt is not None:
        raise UsageError(f"{source.reader}: settles the format, which cannot be {fmt!r}", hint="leave out the format")
    with guarded(top):
        listed = locations(top, fmt, include) if reader is None else log_locations(top, reader)
        files = listed.files
        sizes = [size_of(location) for location, _ in files]
        total = None if None in sizes else sum(size or 0 for size in sizes)
    with Builder(spill) as builder:
        reading = Rows(*(builder, field, items, encoding, skip, keep, progress, total, limits, turns, prompt, where))
        for location, kind in files:
            if reader is None:
                reading.read(location, kind, files[0][0] is top)
            else:
                reading.read_log(location, reader, len(files) == 1)
        same_model(reading.abouts, top)
        reading.check(top)
        stem = SURROGATE.sub("\ufffd", top.prefix)  # of a file name that is not UTF-8
        corpus = reading.corpus(name or (f"{stem}#{source.fragment}" if source.fragment else stem))
    corpus.answers, corpus.left_out = reading.answers(), listed.left_out
    corpus.origin = reading.origin(top.label, source.reader)
    return corpus, reading.looked


OF_DOCUMENTS = ("language", "normalise", "needs")
"""Options that apply to documents that have been read."""


@dataclass(frozen=True)
class ReadingOptions:
    """Options of `momus.read_corpus` that apply to all texts of a command; field and kept fields also in memory.

    ``field``, ``prompt`` and ``where`` may be dicts by name of the text; that of the name ``*`` is for all others.
    ``language`` is that of all documents (``de``), ``field:NAME`` for the field that holds each document's, or
    ``detect`` (`momus.text.languages`). ``normalise`` names what gets one spelling in all texts
    (`momus.text.normalising`). An item of ``keep`` is the name of a field or ``NAME=PATH``; ``needs`` are fields that
    critics read beside the text, which no document must have.

    >>> ReadingOptions(fmt="lines").fmt
    'lines'
    >>> options = ReadingOptions(field={"a": "filtered_resps", "*": "text"})
    >>> options.for_text("a")
    {'field': 'filtered_resps', 'prompt': None, 'where': None}
    """

    field: str | Mapping[str, str] | None = None
    fmt: str | None = None
    encoding: str = "utf-8"
    skip_bad_lines: bool = False
    keep: tuple[str, ...] = ()
    limits: Limits | None = None
    include: tuple[str, ...] = ()
    turns: str = "assistant"
    prompt: str | Mapping[str, str] | None = None
    where: str | Mapping[str, str] | None = None
    language: str | None = None
    normalise: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def needing(self, names: Iterable[str]) -> ReadingOptions:
        """These options, with fields that critics read; those that are kept anyway are not looked for again.

        >>> ReadingOptions(keep=("reference=gold",)).needing(["reference", "prompt_text"]).kept
        ('reference=gold', 'prompt_text')
        """
        kept = {origins(name)[0] for name in self.keep}
        return replace(self, needs=tuple(dict.fromkeys((*self.needs, *(n for n in names if n not in kept)))))

    def for_text(self, name: str | None) -> dict[str, str | None]:
        """The fields of the text and of the prompt for the corpus of this name."""
        return {option: _field_of(getattr(self, option), name) for option in ("field", "prompt", "where")}

    @property
    def by_text(self) -> bool:
        """Whether some text has a field, a prompt or a condition that others have not."""
        return any(isinstance(option, Mapping) for option in (self.field, self.prompt, self.where))

    def check_names(self, names: Iterable[str]) -> None:
        """Make sure that fields are given for texts that there are.

        Raises
        ------
        UsageError
            There is no text of a name.
        """
        known = list(names)
        for named in (self.field, self.prompt, self.where):
            for name in named if isinstance(named, Mapping) else ():
                if name not in (*known, "*"):
                    raise UsageError(
                        f"a field is given for {name!r}, which is not a text", hint=f"the texts are {', '.join(known)}"
                    )

    def read(self, path: str | Path, name: str | None = None, reporter: Reporter | None = None) -> Corpus:
        """Read a path with these options; a stage reports the percentage of its bytes that is read."""

        def report(done: int, total: int | None) -> None:
            advance(round(100 * done / total) if total else 0)

        with (reporter or Silent()).stage(f"reading {name or path}", 100) as advance:
            return self.of_documents(read_corpus(path, name=name, progress=report, **self._options(name)))

    def look(self, path: str | Path) -> tuple[Corpus, FieldsSeen]:
        """Read a path with these options, and give the fields of its first records, too."""
        options = self._options(None)
        corpus, seen = _read(path, name=None, progress=None, spill=SPILL_BYTES, **options)
        return self.of_documents(corpus), seen

    def _options(self, name: str | None) -> dict[str, Any]:
        """The arguments of `momus.read_corpus` for the corpus of this name."""
        options = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in OF_DOCUMENTS}
        return options | self.for_text(name) | {"keep": self.kept}

    def of_documents(self, corpus: Corpus) -> Corpus:
        """Apply what concerns documents that have been read: their languages, and one spelling."""
        return with_languages(normalised(corpus, self.normalise), self.language)

    @property
    def kept(self) -> tuple[str, ...]:
        """The metadata fields to keep: those asked for, the one that holds the language, and those of critics."""
        check_language(self.language)
        check_kinds(self.normalise)
        return tuple(dict.fromkeys((*self.keep, *kept_field(self.language), *self.needs)))

    def check_kept(self, corpora: Iterable[Corpus]) -> None:
        """Make sure that each field to keep occurs in some of these corpora.

        Raises
        ------
        UsageError
            No document of any corpus has one of the fields.
        """
        texts = list(corpora)
        for name, _ in map(origins, (kept for kept in self.kept if kept not in self.needs)):
            if all(value is None for corpus in texts for value in corpus.field(name)):
                read = " and ".join(repr(corpus.name) for corpus in texts)
                raise UsageError(
                    f"no document of {read} has the field {name!r} that is to be kept",
                    hint="check the spelling; a field within another is written as a path, such as meta.topic",
                )


def _field_of(fields: str | Mapping[str, str] | None, name: str | None) -> str | None:
    """The field of the corpus of this name."""
    if fields is None or isinstance(fields, str):
        return fields
    return fields.get(name or "*", fields.get("*"))


TextSource = Corpus | str | os.PathLike[str] | MemorySource
"""Whatever can be read as a text: a corpus, a path, or texts in memory (`momus.reading.read_memory`)."""


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
        return source if name in ("", source.name) else source.take(range(len(source)), name).read_as(source)
    reading = reading or ReadingOptions()
    if isinstance(source, str | os.PathLike):
        return reading.read(os.fspath(source), name or None, reporter)
    corpus = read_memory(source, name or "text", keep=reading.kept, turns=reading.turns, **reading.for_text(name))
    return reading.of_documents(corpus)


def split_by(
    source: TextSource, column: str, name: str = "", reading: ReadingOptions | None = None
) -> dict[str, Corpus]:
    """Read a text as one text for each value of a column, such as that of the model.

    Raises
    ------
    UsageError
        A document has not the column.

    >>> rows = [{"text": "Yes.", "model": "a"}, {"text": "No.", "model": "b"}]
    >>> split_by(rows, "model")
    {'a': Corpus('a', 1 document), 'b': Corpus('b', 1 document)}
    """
    reading = reading or ReadingOptions()
    corpus = as_corpus(source, name, replace(reading, keep=(*reading.keep, column)))
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
        corpus = (reading or ReadingOptions()).read(os.fspath(path))
    except TwoTextsError as error:
        return error.sides
    read_as = f" ({corpus.origin.read_as})" if corpus.origin is not None and corpus.origin.read_as else ""
    raise UsageError(
        f"{path}: this is one text{read_as}, not two in pairs",
        hint="give a file with chosen and rejected answers, or name two files",
    )
