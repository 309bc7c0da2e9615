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
from momus.text.document_languages import check_language, kept_field, with_languages


@dataclass(frozen=True)
class ReadingOptions:
    """Options of `momus.read_corpus` that apply to all texts of a command; field and kept fields also in memory.

    ``field`` and ``prompt`` may be dicts of fields by name of the text; that of the name ``*`` is for all others.
    ``language`` is that of all documents (``de``), ``field:NAME`` for the field that holds each document's, or
    ``detect`` (`momus.text.document_languages`).

    >>> ReadingOptions(fmt="lines").fmt
    'lines'
    >>> options = ReadingOptions(field={"a": "filtered_resps", "*": "text"})
    >>> options.for_text("a")
    {'field': 'filtered_resps', 'prompt': None}
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
    language: str | None = None

    def for_text(self, name: str | None) -> dict[str, str | None]:
        """The fields of the text and of the prompt for the corpus of this name."""
        return {"field": _field_of(self.field, name), "prompt": _field_of(self.prompt, name)}

    def check_names(self, names: Iterable[str]) -> None:
        """Make sure that fields are given for texts that there are.

        Raises
        ------
        UsageError
            There is no text of a name.
        """
        known = list(names)
        for given in (self.field, self.prompt):
            for name in given if isinstance(given, Mapping) else ():
                if name not in (*known, "*"):
                    raise UsageError(
                        f"a field is given for {name!r}, which is not a text", hint=f"the texts are {', '.join(known)}"
                    )

    def read(self, path: str | Path, name: str | None = None, reporter: Reporter | None = None) -> Corpus:
        """Read a path with these options; a stage reports the percentage of its bytes that is read."""

        def report(done: int, total: int | None) -> None:
            advance(round(100 * done / total) if total else 0)

        with (reporter or Silent()).stage(f"reading {name or path}", 100) as advance:
            options = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "language"}
            options |= self.for_text(name) | {"keep": self.kept}
            return with_languages(read_corpus(path, name=name, progress=report, **options), self.language)

    @property
    def kept(self) -> tuple[str, ...]:
        """The metadata fields to keep while reading: those asked for, and the one that holds the language."""
        check_language(self.language)
        return tuple(dict.fromkeys((*self.keep, *kept_field(self.language))))

    def check_kept(self, corpora: Iterable[Corpus]) -> None:
        """Make sure that each field to keep occurs in some of these corpora.

        Raises
        ------
        UsageError
            No document of any corpus has one of the fields.
        """
        texts = list(corpora)
        for name in self.kept:
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
