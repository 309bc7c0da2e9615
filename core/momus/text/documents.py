"""Documents and their sections, as they enter and leave a corpus one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its text and optional title."""

    text: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """Lists of answers, each of which was read as a document: their field, the records, and the documents."""

    field: str
    records: int
    documents: int


@dataclass(frozen=True)
class Origin:
    """Where a corpus was read from, as far as that is more than a plain file.

    Attributes
    ----------
    source
        The path or address, without secrets.
    reader
        The reader of logs; None for other formats.
    logs
        What each log says about itself: model, task, settings of generation.
    left_out
        Rows of the logs that are no documents, counted by reason.
    set_apart
        Documents of which something was set apart (reasoning, calls of tools), counted by kind.
    read_as
        The format that the records were recognised by; empty without one.
    """

    source: str
    reader: str | None = None
    logs: Sequence[Mapping[str, object]] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    set_apart: Mapping[str, int] = field(default_factory=dict)
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Files of a folder that were not read.

    Attributes
    ----------
    names
        Paths within the folder of files that are set aside for their names, such as README.
    others
        Number of files that cannot be read as documents, by extension.
    """

    names: tuple[str, ...] = ()
    others: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Document:
    """A document, or a record that could not be read as one (``problem`` says why).

    Attributes
    ----------
    prompt
        Id of the prompt that the document answers.
    group
        Id of what it shares with other documents of its corpus: the author, the novel, the site.
    fields
        Metadata, by name.

    >>> Document.plain("a", "Once upon a time.").text
    'Once upon a time.'
    """

    id: str
    sections: tuple[Section, ...]
    sectioned: bool = True
    prompt: str | None = None
    problem: str | None = None
    group: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def plain(cls, id: str, text: str, prompt: str | None = None, group: str | None = None) -> Document:
        """Make an unsectioned document from one text."""
        return cls(id, (Section(text),), sectioned=False, prompt=prompt, group=group)

    @property
    def text(self) -> str:
        """The text of all sections, without titles, separated by blank lines."""
        return "\n\n".join(section.text for section in self.sections)
