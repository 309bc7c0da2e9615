"""How texts are read: the options that commands, `momus.compare` and `momus.read_corpus` pass along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from momus.errors import UsageError
from momus.limits import Limits
from momus.reading.chat import check_turns
from momus.reading.encoding import codec
from momus.reading.fields import origins
from momus.reading.labels import check_labelled, labelled
from momus.reading.sniffing import FORMATS
from momus.text.corpus import Corpus
from momus.text.languages import check_language, kept_field, with_languages
from momus.text.normalising import check_kinds, normalised

EXAMPLES = {"include": "README*", "keep": "topic"}
"""Options that list names, with one such name."""


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

    def needing(self, names: Iterable[str]) -> ReadingOptions:
        """These options, with fields that critics read; those that are kept anyway are not looked for again.

        >>> ReadingOptions(keep=("reference=gold",)).needing(["reference", "prompt_text"]).kept
        ('reference=gold', 'prompt_text')
        """
        kept = {origins(name)[0] for name in self.keep}
        return replace(self, needs=tuple(dict.fromkeys((*self.needs, *(n for n in names if n not in kept)))))

    def named(self, name: str | None) -> ReadingOptions:
        """These options for the corpus of this name alone."""
        paths = self.for_text(name)
        text = self.text if name is None else name
        return replace(self, field=paths["field"], prompt=paths["prompt"], where=paths["where"], text=text)

    def for_text(self, name: str | None) -> dict[str, str | None]:
        """The fields of the text and of the prompt for the corpus of this name."""
        return {option: _field_of(getattr(self, option), name) for option in ("field", "prompt", "where")}

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
        for option in EXAMPLES:
            names_of(option, getattr(self, option))
        check_turns(self.turns)
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

    def check_labelled(self, corpora: Sequence[Corpus]) -> list[str]:
        """Notes on the files of labels of these texts, see `momus.reading.labels.check_labelled`."""
        return check_labelled(corpora, self.labels)

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


def names_of(option: str, values: Sequence[str]) -> tuple[str, ...]:
    """The names that an option lists.

    Raises
    ------
    UsageError
        They are no list of names.
    """
    if isinstance(values, str) or not all(isinstance(value, str) and value for value in values):
        what = "patterns" if option == "include" else "field names"
        hint = f'for example {option}=["{EXAMPLES[option]}"]'
        raise UsageError(f"{option} is {values!r}, expected a list of {what}", hint=hint)
    return tuple(values)
