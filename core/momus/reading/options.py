"""What is to be read, and how: the name of a text taken apart, and the options of commands and functions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from momus.arguments import arg
from momus.errors import UsageError
from momus.limits import Limits
from momus.plugins import READERS, load_plugin, registered
from momus.reading.chat import TURNS
from momus.reading.encoding import codec
from momus.reading.formats import format_named
from momus.reading.labels import labelled
from momus.reading.location import Location, is_address, remote_name
from momus.reading.logs import reader_of
from momus.reading.paths import origins
from momus.reading.streams import FORMATS, split_name
from momus.redact import redacted
from momus.text.corpus import Corpus
from momus.text.languages import check_language, kept_field, with_languages
from momus.text.normalising import check_kinds, normalised

LISTS = {"include": ("patterns", "README*"), "keep": ("field names", "topic")}
"""Options that list names: of what, and one such name."""


@dataclass(frozen=True)
class ReadingOptions:
    """Options of `momus.read_corpus` that apply to all texts of a command; field and kept fields also in memory.

    ``field``, ``prompt`` and ``where`` may be dicts by name of the text; that of the name ``*`` is for all others.
    ``language`` is that of all documents (``de``), ``field:NAME`` for the field that holds each document's, or
    ``detect`` (`momus.text.languages`). ``normalise`` names what gets one spelling in all texts
    (`momus.text.normalising`). An item of ``keep`` is the name of a field or ``NAME=PATH``; ``needs`` are fields that
    critics read beside the text, which no document must have. ``labels`` are files of labels, as ``NAME=PATH``
    (`momus.reading.labels`), ``label_digests`` their SHA-256, and ``text`` the name of the text that they look for.

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
    labels: tuple[str, ...] = ()
    label_digests: tuple[str, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        """Make tuples of lists of names.

        Raises
        ------
        UsageError
            They are no such lists.
        """
        for option, (what, example) in LISTS.items():
            values = getattr(self, option)
            if isinstance(values, str) or not all(isinstance(value, str) and value for value in values):
                hint = f'for example {option}=["{example}"]'
                raise UsageError(f"{option} is {values!r}, expected a list of {what}", hint=hint)
            object.__setattr__(self, option, tuple(values))

    def needing(self, names: Iterable[str]) -> ReadingOptions:
        """These options, with fields that critics read; those that are kept anyway are not looked for again.

        >>> ReadingOptions(keep=("reference=gold",)).needing(["reference", "prompt_text"]).kept
        ('reference=gold', 'prompt_text')
        """
        kept = {origins(name)[0] for name in self.keep}
        return replace(self, needs=tuple(dict.fromkeys((*self.needs, *(n for n in names if n not in kept)))))

    def named(self, name: str | None) -> ReadingOptions:
        """These options for the corpus of this name alone."""
        paths: dict[str, Any] = self.for_text(name)
        return replace(self, **paths, text=self.text if name is None else name)

    def for_text(self, name: str | None) -> dict[str, str | None]:
        """The fields of the text and of the prompt for the corpus of this name."""
        chosen = {option: getattr(self, option) for option in ("field", "prompt", "where")}
        return {
            option: value.get(name or "*", value.get("*")) if isinstance(value, Mapping) else value
            for option, value in chosen.items()
        }

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

    def of_text(self, name: str | None) -> ReadingOptions:
        """The options for the corpus of this name, with all fields to keep, checked.

        Raises
        ------
        UsageError
            One of them is unknown or of the wrong type.
        """
        if self.fmt is not None and self.fmt not in FORMATS:
            raise UsageError(f"unknown format {self.fmt!r}", hint=f"use one of {', '.join(FORMATS)}")
        if self.turns not in TURNS:
            raise UsageError(f"unknown turns {self.turns!r} of a chat", hint=f"use one of {', '.join(TURNS)}")
        return replace(self.named(name), encoding=codec(self.encoding), keep=self.kept, needs=())

    def of_documents(self, corpus: Corpus) -> Corpus:
        """Apply what concerns documents that have been read: their languages, one spelling, and their labels."""
        return labelled(with_languages(normalised(corpus, self.normalise), self.language), self.labels, self.text)

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


PREFIX = re.compile(r"(?:[^=:/\\]*=)?([A-Za-z][\w-]+):(?!//)(.+)", re.DOTALL)
"""The reader and the rest; a name before ``=`` says nothing more, since the option already names the text."""


@dataclass(frozen=True)
class Source:
    """A text as a user names it: the reader, the path or address, and what follows ``#``.

    >>> Source.parse("lm-eval:samples.jsonl#target")
    Source(reader='lm-eval', path='samples.jsonl', fragment='target')
    >>> Source.parse("trl:completions.parquet").path  # a format of the table, which its records tell
    'completions.parquet'
    >>> Source.parse("docs.jsonl#body")
    Source(reader=None, path='docs.jsonl', fragment='body')
    >>> Source.parse("s3://bucket/x.parquet").reader is None
    True
    """

    reader: str | None
    path: str
    fragment: str | None

    @classmethod
    def parse(cls, text: str, recognise: bool = True) -> Source:
        """Take the name of a text apart; whatever exists under the whole name is a file.

        A folder of logs gets the reader that knows them, unless ``recognise`` is false, as where a format is given.

        Raises
        ------
        UsageError
            The name is empty.
        PluginError
            It begins with that of a reader which is not registered.
        """
        if not text:
            raise UsageError("the path of a text is empty", hint="name a file or a folder; . is the current folder")
        if os.path.lexists(text):
            return cls(reader_of(Path(text)) if recognise else None, text, None)
        reader, match = None, PREFIX.fullmatch(text)
        if match is not None and not os.path.lexists(text.rpartition("#")[0]):
            known = registered(READERS)
            format = format_named(match[1])
            if match[1] not in known and format is None:
                load_plugin(READERS, match[1])  # an error that names those that there are
            reader, text = None if format is not None else match[1], match[2]
        head, mark, tail = text.rpartition("#")
        if not mark or not head or not tail or (not is_address(text) and os.path.lexists(text)):
            return cls(reader, text, None)
        if reader is None and recognise and not is_address(head):
            reader = reader_of(Path(head))
        return cls(reader, head, tail)

    def field(self, field: str | None) -> str | None:
        """The field that holds the text: the one that is given, within what the name of the text says after ``#``.

        Raises
        ------
        UsageError
            Two fields of a log are named.

        >>> Source.parse("docs.json#items").field("body"), Source.parse("docs.jsonl#body").field("body")
        ('items.body', 'body')
        """
        if self.fragment is None or field in (None, self.fragment):
            return field if self.fragment is None else self.fragment
        if self.reader is not None:
            raise UsageError(
                f"two fields for {redacted(self.path)}: {self.fragment!r} after # and {field!r}",
                hint=f"give one of them; {arg('field')} can also name a field for each text",
            )
        return f"{self.fragment}.{field}"

    @property
    def top(self) -> Location:
        """The place that the text is read from: a file, a folder, a pattern, an address, or standard input."""
        if is_address(self.path):
            stem = split_name(remote_name(self.path.rstrip("/")))[0]
            return Location(None, redacted(self.path), stem, url=self.path)
        if self.path == "-":
            return Location(None, "standard input", "stdin")
        path = Path(self.path)
        return Location(path, self.path, split_name(path.resolve() if path.name in ("", "..") else path)[0])
