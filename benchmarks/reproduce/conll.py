"""Gold coreference in CoNLL files: documents as text, and chains as character offsets.

Four layouts are told apart by their first line of words:

* CoNLL-U with ``Entity=`` in the last column, as GUM and CorefUD write it;
* CoNLL-2012, as OntoNotes and LitBank have it: document, part, number and word, chains last;
* SemEval-2010: number and word, chains last;
* plain: two columns, word and chains, sentences separated by blank lines, one document per file or ``#begin`` line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from momus.errors import ReadingError
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved

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


NAMES = re.compile(r".*(conll|conllu|conll12|conll2012)$", re.IGNORECASE)
"""Names of the files of a folder that are read, such as ``a.conll``, ``b.v4_gold_conll`` and ``c.conllu``."""
LAYOUTS = (
    "CoNLL-U with Entity= in the last column, CoNLL-2012 (word in column 4), SemEval-2010 (word in column 2), or two "
)
LAYOUTS += "columns of words and chains; chains are written (3, 3), (3) and joined by |"
_BEGIN = re.compile(r"#begin document\s+(?:\((.*)\)|([^;\s]+))(?:; part (\d+))?")
_CHAIN = re.compile(r"\(?(\d+)\)?")
NO_BLANK_BEFORE = frozenset(".,;:!?)]}%’”") | {"'s", "’s", "n't", "''", "'"}


def read_conll(path: str | Path, name: str = "conll") -> tuple[Corpus, dict[str, Resolved]]:
    """Read a file, or all files of a folder whose extension ends in ``conll`` or ``conllu``.

    Words are joined by blanks (in CoNLL-U, as ``SpaceAfter`` says), sentences by line ends. Document ids are those of
    the files, else the names of the files. Of a mention in several pieces the first one is kept; mentions of empty
    nodes have no words and are left out.

    Returns
    -------
    The corpus, and by document id its mentions.

    Raises
    ------
    ReadingError
        The file does not exist, its layout is unknown (the message says what was found), a line has too few columns, a
        mention ends without having begun or begins and does not end, or two documents have one id.
    """
    root = Path(path)
    files = sorted(p for p in root.iterdir() if NAMES.match(p.name) and p.is_file()) if root.is_dir() else [root]
    texts: dict[str, str] = {}
    chains: dict[str, Resolved] = {}
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ReadingError(f"{file}: {error}") from error
        for id, document in _documents(file, lines):
            if id in texts:
                raise ReadingError(f"{file}: a second document has the id {id!r}", hint="give each document its own id")
            texts[id], chains[id] = document.done()
    if not texts:
        raise ReadingError(f"{root}: no CoNLL document", hint=f"give a file or a folder: {LAYOUTS}")
    return Corpus.from_texts(texts.values(), ids=list(texts), name=name), chains


def _documents(file: Path, lines: Sequence[str]) -> Iterator[tuple[str, Document]]:
    """The documents of one file, each with its id."""
    add = _layout(file, lines)
    document, id = Document(), file.stem
    for number, line in enumerate(lines, 1):
        begin = _BEGIN.match(line)
        new = f"{begin[1] or begin[2]}#{begin[3]}".removesuffix("#None") if begin else add.document_id(line)
        if new is not None:
            if document.pieces:
                yield id, document.checked(file, id)
            # part 0 is the document itself
            document, id = Document(), re.sub(r"#0*$", "", new)
        elif not line.strip():
            document.end_sentence()
        elif not line.startswith("#") or add.is_word(line):
            try:
                add(document, line.rstrip("\n"))
            except ValueError as error:
                raise ReadingError(f"{file}, line {number}: {error}", hint=f"known layouts: {LAYOUTS}") from error
    if document.pieces:
        yield id, document.checked(file, id)


class Document:
    """A document under construction: its text so far, its mentions, and the starts of open mentions by entity."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.sentences: list[int] = []
        self.mentions: list[tuple[int, int, int]] = []
        self.numbers: dict[str, int] = {}
        self.open: dict[str, list[int]] = defaultdict(list)
        self.new_sentence = True

    def word(self, word: str, blank: bool) -> tuple[int, int]:
        """Add a word, after a blank or not; its start and end."""
        between = ("\n" if self.new_sentence else " " if blank else "") if self.pieces else ""
        self.pieces += [between, word]
        start = self.length + len(between)
        if self.new_sentence:
            self.sentences.append(start)
            self.new_sentence = False
        self.length = start + len(word)
        return start, self.length

    def begin(self, entity: str, start: int) -> None:
        """Begin a mention."""
        self.open[entity].append(start)

    def end(self, entity: str, end: int) -> None:
        """End the mention of an entity that began last.

        Raises
        ------
        ValueError
            None is open.
        """
        if not self.open[entity]:
            raise ValueError(f"a mention ends without having begun (entity {entity!r})")
        start = self.open[entity].pop()
        if end > start:
            # ids that are numbers stay what they are; others are numbered apart from them
            number = int(entity) if entity.isdecimal() else (1 << 20) + len(self.numbers)
            self.mentions.append((start, end, self.numbers.setdefault(entity, number)))

    def end_sentence(self) -> None:
        """The next word begins a sentence."""
        self.new_sentence = True

    def checked(self, file: Path, id: str) -> Document:
        """The document itself.

        Raises
        ------
        ReadingError
            A mention has not ended.
        """
        unended = [entity for entity, starts in self.open.items() if starts]
        if unended:
            raise ReadingError(
                f"{file}: in {id!r}, a mention of {unended[0]!r} begins and does not end",
                hint="the file may be cut off; a mention ends within its document",
            )
        return self

    def done(self) -> tuple[str, Resolved]:
        """Its text and its mentions."""
        return "".join(self.pieces), Resolved.of(self.mentions, self.sentences)


class ColumnReader:
    """Reads words in one column and chains in the last one, of at least so many columns."""

    def __init__(self, layout: str, column: int, fewest: int) -> None:
        self.layout, self.column, self.fewest = layout, column, fewest

    def document_id(self, line: str) -> str | None:
        """None: other lines than ``#begin`` begin no document."""
        return None

    def is_word(self, line: str) -> bool:
        """Whether a line that begins with # is a word: in a table of columns, # is a word too."""
        return len(_columns(line)) >= self.fewest and not line.startswith(("#begin", "#end", "# "))

    def __call__(self, document: Document, line: str) -> None:
        """Add the word of a line and the mentions that begin and end with it."""
        columns = _columns(line)
        if len(columns) < self.fewest:
            raise ValueError(f"{len(columns)} columns, expected at least {self.fewest} ({self.layout})")
        word, marks = columns[self.column], columns[-1].strip()
        start, end = document.word(word, word not in NO_BLANK_BEFORE)
        found = marks.split("|") if marks not in ("", "_", "-", "*") else []
        for mark in found:
            match = _CHAIN.fullmatch(mark)
            if match is None:
                raise ValueError(f"the last column is {marks!r}, which is no chain ({self.layout})")
            if mark.startswith("("):
                document.begin(match[1], start)
            if mark.endswith(")"):
                document.end(match[1], end)


def _columns(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else line.split()


def _layout(file: Path, lines: Sequence[str]) -> ColumnReader | UniversalReader:
    """How to read the lines of a file, by its first line of words.

    Raises
    ------
    ReadingError
        The layout is none of those that are known.
    """
    first = next((i for i, x in enumerate(lines) if x.strip() and not x.startswith("#")), None)
    if first is None:
        raise ReadingError(f"{file}: no words", hint=f"known layouts: {LAYOUTS}")
    columns = _columns(lines[first])
    n = len(columns)
    if UniversalReader.reads(columns):
        return UniversalReader.of(file, lines)
    if n >= 5 and columns[1].isdecimal() and columns[2].isdecimal():
        return ColumnReader("CoNLL-2012", 3, 5)
    if n >= 3 and columns[0].isdecimal():
        return ColumnReader("SemEval-2010", 1, 3)
    if n == 2:
        return ColumnReader("two columns", 0, 2)
    shown = " | ".join(c[:20] for c in columns[:6]) + (" | …" if n > 6 else "")
    raise ReadingError(
        f"{file}, line {first + 1}: {n} columns ({shown}), which is no layout with chains of coreference that is known",
        hint=f"known layouts: {LAYOUTS}",
    )
