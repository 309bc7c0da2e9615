"""Lines of CoNLL-U files with coreference: ``Entity=`` in the last column, as GUM and CorefUD 1.0 write it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from momus.errors import ReadingError

if TYPE_CHECKING:
    from momus_adapters.corpora.conll import Document

COLUMNS = 10
_ID = re.compile(r"(\d+)(?:-(\d+)|\.\d+)?$")
_NEW = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.*\S))?\s*$")
_FIELDS = re.compile(r"#\s*global\.Entity\s*=\s*(\S+)")
_MARK = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
_PIECE = re.compile(r"\[(\d+)/\d+\]$")
_IDS = ("eid", "GRP")
"""Names of the field that holds the entity, in ``# global.Entity``."""


class UniversalReader:
    """Adds words and mentions of CoNLL-U lines to a document.

    Parameters
    ----------
    field
        Place of the entity's id among the fields that a mention begins with, from 0.
    """

    def __init__(self, field: int = 0) -> None:
        self.field = field
        self.glued = False
        self.documents = 0
        self.surface: tuple[int, int, int] | None = None  # last word, start and end of a token of several words

    @staticmethod
    def reads(columns: Sequence[str]) -> bool:
        """Whether a line of words is one of CoNLL-U."""
        return len(columns) == COLUMNS and _ID.match(columns[0]) is not None

    @classmethod
    def of(cls, file: Path, lines: Sequence[str]) -> UniversalReader:
        """A reader for these lines.

        Raises
        ------
        ReadingError
            No line has ``Entity=``; the message names what the last column holds.
        """
        keys: Counter[str] = Counter()
        field = 0
        for line in lines:
            named = _FIELDS.match(line)
            if named:
                fields = named[1].split("-")
                field = next((fields.index(name) for name in _IDS if name in fields), 0)
            elif line and not line.startswith("#"):
                keys.update(part.partition("=")[0] for part in line.rpartition("\t")[2].split("|"))
        if not keys["Entity"]:
            found = ", ".join(f"{key} ({n:,})" for key, n in keys.most_common(6))
            raise ReadingError(
                f"{file}: CoNLL-U without coreference: the last column holds {found}, and no Entity=",
                hint="give files with Entity= (GUM, CorefUD); treebanks of Universal Dependencies have no coreference",
            )
        return cls(field)

    def document_id(self, line: str) -> str | None:
        """The id of the document that a line begins; None if it begins none."""
        found = _NEW.match(line)
        if found is None:
            return None
        self.glued, self.documents = False, self.documents + 1
        return found[1] or f"document {self.documents}"

    def is_word(self, line: str) -> bool:
        """False: lines that begin with # are comments."""
        return False

    def __call__(self, document: Document, line: str) -> None:
        """Add a word with its mentions; empty nodes have no text, and words within a token have that of the token."""
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise ValueError(f"{len(columns)} columns, expected {COLUMNS} separated by tabs (CoNLL-U)")
        id = _ID.match(columns[0])
        if id is None:
            raise ValueError(f"the first column is {columns[0]!r}, expected a number (CoNLL-U)")
        misc = dict(part.partition("=")[::2] for part in columns[9].split("|"))
        number, last = int(id[1]), int(id[2] or 0)
        if document.new_sentence:
            self.surface = None
        if "." in columns[0]:
            start = end = document.length
        elif self.surface is not None and not last and number <= self.surface[0]:
            start, end = self.surface[1:]
        else:
            start, end = document.word(columns[1], not self.glued)
            self.glued = misc.get("SpaceAfter") == "No"
            self.surface = (last, start, end) if last else None
        self._mentions(document, misc.get("Entity", ""), start, end)

    def _mentions(self, document: Document, marks: str, start: int, end: int) -> None:
        """Begin and end the mentions of ``Entity=``, such as ``(12-person-giv(13-place)`` or ``13)12)``."""
        rest = _MARK.sub("", marks)
        if rest:
            raise ValueError(f"Entity={marks} is not understood at {rest!r} (CoNLL-U)")
        for mark in _MARK.finditer(marks):
            begins = mark[1] is not None
            # a mention that ends names its entity only; one that begins has all fields
            name = mark[1].split("-")[self.field] if begins else mark[3].split("-")[0]
            piece = _PIECE.search(name)
            if piece and piece[1] != "1":
                continue
            entity = _PIECE.sub("", name)
            if begins:
                document.begin(entity, start)
            if mark[2] or not begins:
                document.end(entity, end)
