"""Cut the novels in Debian's ``r-cran-janeaustenr`` into passages of whole paragraphs."""

from __future__ import annotations

import random
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rdata

NOVELS = {
    "emma": ("emma", "Emma"),
    "mansfieldpark": ("mansfield-park", "Mansfield Park"),
    "northangerabbey": ("northanger-abbey", "Northanger Abbey"),
    "persuasion": ("persuasion", "Persuasion"),
    "prideprejudice": ("pride-and-prejudice", "Pride and Prejudice"),
    "sensesensibility": ("sense-and-sensibility", "Sense and Sensibility"),
}
"""For each object in the package: the prefix of ids, and the title."""

CHAPTER = re.compile(r"(?:chapter)\s+(?:[ivxlc]+|\d+)\.?", re.IGNORECASE)
NO_PROSE = re.compile(r"(?:the end|finis|volume\s+\w+|end of volume.*|a note on the text.*)\.?", re.IGNORECASE)
SOURCE = "r-cran-janeaustenr 1.0.0-1"


def chapter_of(passage: str) -> str:
    """The chapter of a passage, from its id.

    >>> chapter_of("emma/ch-01/p-2")
    'emma/ch-01'
    """
    return passage.rsplit("/", 1)[0]


def parse_r(data: bytes) -> Any:
    """Read a zlib- or gzip-compressed R serialization as a Python object."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rdata.conversion.convert(rdata.parser.parse_data(zlib.decompress(data, wbits=47)))


def read_novels(package_files: Path) -> dict[str, list[str]]:
    """The lines of each novel, read from the lazy-load database of the unpacked package."""
    index_file = next(package_files.rglob("janeaustenr/data/Rdata.rdx"))
    store = index_file.with_suffix(".rdb").read_bytes()
    spans = {str(k): v for k, v in parse_r(index_file.read_bytes())["variables"].items()}
    novels = {}
    for name in NOVELS:
        start, length = (int(number) for number in spans[name])
        # the first four bytes hold the length of the unpacked data
        novels[name] = [str(line) for line in parse_r(store[start + 4 : start + length])]
    return novels


def paragraphs_of(lines: list[str]) -> Iterator[str]:
    """Yield paragraphs: runs of non-blank lines, joined with single spaces."""
    words: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            words.extend(line.split())
        elif words:
            yield " ".join(words)
            words = []


def chapters_of(lines: list[str]) -> list[list[str]]:
    """The paragraphs of each chapter; text before the first chapter or after the end is left out."""
    chapters: list[list[str]] = []
    for paragraph in paragraphs_of(lines):
        if CHAPTER.fullmatch(paragraph):
            chapters.append([])
        elif re.match(r"a note on the text", paragraph, re.IGNORECASE):
            break
        elif chapters and not NO_PROSE.fullmatch(paragraph):
            chapters[-1].append(paragraph)
    return chapters


def passages_of(chapter: list[str], words: int) -> list[str]:
    """Runs of whole paragraphs with about ``words`` words; a short remainder of the chapter is left out."""
    passages, current, count = [], [], 0
    for paragraph in chapter:
        current.append(paragraph)
        count += len(paragraph.split())
        if count >= words:
            passages.append("\n\n".join(current))
            current, count = [], 0
    if count >= words * 3 // 4:
        passages.append("\n\n".join(current))
    return passages


def novel_passages(key: str, lines: list[str], words: int) -> list[dict[str, str]]:
    """All passages of a novel as records."""
    slug, title = NOVELS[key]
    return [
        {
            "id": f"{slug}/ch-{number:02d}/p-{passage}",
            "group_id": chapter_of(f"{slug}/ch-{number:02d}/p-{passage}"),
            "title": f"{title}, chapter {number}, passage {passage}",
            "text": text,
            "source": f"Jane Austen, {title}; {SOURCE}",
        }
        for number, chapter in enumerate(chapters_of(lines), start=1)
        for passage, text in enumerate(passages_of(chapter, words), start=1)
    ]


def choose_passages(package_files: Path, words: int, per_novel: int, seed: int) -> list[dict[str, str]]:
    """A random sample of the passages of each novel, in text order."""
    rng = random.Random(seed)
    chosen: list[dict[str, str]] = []
    for key, lines in read_novels(package_files).items():
        passages = novel_passages(key, lines, words)
        rows = sorted(rng.sample(range(len(passages)), min(per_novel, len(passages))))
        chosen.extend(passages[row] for row in rows)
    return chosen
