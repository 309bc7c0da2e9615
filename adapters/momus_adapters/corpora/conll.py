"""CoNLL-2012 files: documents as text, and gold coreference chains as character offsets."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

from momus.errors import ReadingError
from momus.text.corpus import Corpus
from momus.text.mentions import Resolved

_BEGIN = re.compile(r"#begin document \((.*)\)(?:; part (\d+))?")
_CLOSE = re.compile(r"\(?(\d+)\)?")
NO_BLANK_BEFORE = frozenset(".,;:!?)]}%’”") | {"'s", "’s", "n't", "''", "'"}


def read_conll(path: str | Path, name: str = "conll") -> tuple[Corpus, dict[str, Resolved]]:
    """Read a file, or all ``*.conll`` files of a folder.

    The fourth column is the word; the last one holds the chains as ``(3``, ``3)``, ``(3)``, joined by ``|``. Words are
    joined by blanks, sentences by line ends. Document ids are those of the files.

    Raises
    ------
    ReadingError
        The file does not exist, a line has too few columns, or a mention ends without having begun.
    """
    root = Path(path)
    files = sorted(root.glob("*.conll")) if root.is_dir() else [root]
    texts: dict[str, str] = {}
    chains: dict[str, Resolved] = {}
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ReadingError(f"{file}: {error}") from error
        _read(file, lines, texts, chains)
    if not texts:
        raise ReadingError(f"{root}: no CoNLL-2012 document", hint="give a file or a folder of *.conll files")
    return Corpus.from_texts(texts.values(), ids=list(texts), name=name), chains


def _read(file: Path, lines: list[str], texts: dict[str, str], chains: dict[str, Resolved]) -> None:
    """Add the documents of one file to ``texts`` and ``chains``, by id."""
    document: _Document | None = None
    for number, line in enumerate(lines, 1):
        begin = _BEGIN.match(line)
        if begin:
            part = f"#{begin[2]}" if begin[2] and int(begin[2]) else ""
            document, name = _Document(), begin[1] + part
        elif line.startswith("#end") and document is not None:
            texts[name], chains[name] = document.done()
            document = None
        elif document is not None and not line.strip():
            document.end_sentence()
        elif document is not None:
            columns = line.split("\t") if "\t" in line else line.split()
            if len(columns) < 5:
                raise ReadingError(f"{file}, line {number}: {len(columns)} columns, expected at least 5")
            try:
                document.add(columns[3], columns[-1].strip())
            except (IndexError, ValueError) as error:
                raise ReadingError(f"{file}, line {number}: a mention ends without having begun") from error
    if document is not None:
        texts[name], chains[name] = document.done()


class _Document:
    """A document under construction: its text so far, its mentions, and the starts of open mentions by entity."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self.sentences: list[int] = []
        self.mentions: list[tuple[int, int, int]] = []
        self.open: dict[int, list[int]] = defaultdict(list)
        self.new_sentence = True

    def add(self, word: str, chains: str) -> None:
        if self.pieces:
            between = "\n" if self.new_sentence else "" if word in NO_BLANK_BEFORE else " "
            self.pieces.append(between)
            self.length += len(between)
        if self.new_sentence:
            self.sentences.append(self.length)
            self.new_sentence = False
        start, self.length = self.length, self.length + len(word)
        self.pieces.append(word)
        for mark in chains.split("|") if chains not in ("", "_", "-", "*") else ():
            match = _CLOSE.fullmatch(mark)
            if match is None:
                raise ValueError(mark)
            entity = int(match[1])
            if mark.startswith("("):
                self.open[entity].append(start)
            if mark.endswith(")"):
                self.mentions.append((self.open[entity].pop(), self.length, entity))

    def end_sentence(self) -> None:
        self.new_sentence = True

    def done(self) -> tuple[str, Resolved]:
        return "".join(self.pieces), Resolved.of(self.mentions, self.sentences)


def write_chains(found: dict[str, Resolved], path: str | Path) -> None:
    """Write chains as JSON Lines for the resolver ``given``."""
    with open(path, "w", encoding="utf-8") as out:
        for name, r in found.items():
            rows = zip(r.starts.tolist(), r.ends.tolist(), r.entities.tolist(), strict=True)
            record = {"id": name, "mentions": [list(row) for row in rows], "sentences": r.sentences.tolist()}
            if r.persons is not None:
                record["persons"] = r.persons.tolist()
            out.write(json.dumps(record) + "\n")
