"""Options of reading, in one value that commands and `momus.compare` pass along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from momus.errors import UsageError
from momus.limits import Limits
from momus.progress import Reporter, Silent
from momus.reading.reader import read_corpus
from momus.text.corpus import Corpus


@dataclass(frozen=True)
class ReadingOptions:
    """Options of `momus.read_corpus` that apply to all texts of a command; field and kept fields also in memory.

    ``field`` may be a dict of fields by name of the text; the field of the name ``*`` is that of all others.

    >>> ReadingOptions(fmt="lines").fmt
    'lines'
    >>> options = ReadingOptions(field={"a": "filtered_resps", "*": "text"})
    >>> options.field_of("a"), options.field_of("real")
    ('filtered_resps', 'text')
    """

    field: str | Mapping[str, str] | None = None
    fmt: str | None = None
    encoding: str = "utf-8"
    skip_bad_lines: bool = False
    keep: tuple[str, ...] = ()
    limits: Limits | None = None
    turns: str = "assistant"

    def field_of(self, name: str | None) -> str | None:
        """The field that holds the text of the corpus of this name."""
        if self.field is None or isinstance(self.field, str):
            return self.field
        return self.field.get(name or "*", self.field.get("*"))

    def check_names(self, names: Iterable[str]) -> None:
        """Make sure that fields are given for texts that there are.

        Raises
        ------
        UsageError
            There is no text of a name.
        """
        known = list(names)
        for name in self.field if isinstance(self.field, Mapping) else ():
            if name not in (*known, "*"):
                raise UsageError(
                    f"a field is given for {name!r}, which is not a text", hint=f"the texts are {', '.join(known)}"
                )

    def read(self, path: str | Path, name: str | None = None, reporter: Reporter | None = None) -> Corpus:
        """Read a path with these options; a stage reports the percentage of its bytes that is read."""

        def report(done: int, total: int | None) -> None:
            advance(round(100 * done / total) if total else 0)

        with (reporter or Silent()).stage(f"reading {name or path}", 100) as advance:
            options = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "field"}
            return read_corpus(path, name=name, field=self.field_of(name), progress=report, **options)

    def check_kept(self, corpora: Iterable[Corpus]) -> None:
        """Make sure that each field to keep occurs in some of these corpora.

        Raises
        ------
        UsageError
            No document of any corpus has one of the fields.
        """
        texts = list(corpora)
        for name in self.keep:
            if all(value is None for corpus in texts for value in corpus.field(name)):
                read = " and ".join(repr(corpus.name) for corpus in texts)
                raise UsageError(
                    f"no document of {read} has the field {name!r} that is to be kept",
                    hint="check the spelling; a field within another is written as a path, such as meta.topic",
                )
