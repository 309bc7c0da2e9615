"""Classes of characters: marks, digits, letters by case, and how many of each a text has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from momus.critic.latents import Arrays
from momus.numeric.types import Ints

OUTSIDE, UNKNOWN = 255, 254
"""Codes of spaces and control characters, which do not count, and of characters that no text had yet."""
CLASSES: tuple[tuple[str, str], ...] = (
    ("em dash", "—―"),
    ("en dash", "–‒"),
    ("hyphen", "-‐‑"),
    ("comma", ",،、，"),
    ("full stop", ".。．"),
    ("semicolon", ";；؛"),
    ("colon", ":："),
    ("ellipsis", "…⋯"),
    ("question mark", "?？¿؟"),
    ("exclamation mark", "!！¡"),
    ("repeated mark", ""),
    ("straight quotation mark", '"'),
    ("curly quotation mark", "“”„‟"),
    ("other quotation mark", "«»‹›「」『』"),
    ("single quotation mark", ""),
    ("inner apostrophe", ""),
    ("parenthesis", "()[]{}（）［］"),
    ("mark of layout", "*_#`~|<>="),
    ("digit", ""),
    ("other symbol", ""),
    ("capital among capitals", ""),
    ("capital", ""),
    ("letter without case", ""),
    ("small letter", ""),
)
"""Classes of characters, and the characters of those that are lists. Every character but spaces has one class."""
NAMES = tuple(name for name, _ in CLASSES)
CODE = {name: code for code, name in enumerate(NAMES)}
LETTERS = CODE["capital among capitals"]
"""The first class of letters; those before it are marks, digits and symbols."""
SINGLE, APOSTROPHE = CODE["single quotation mark"], CODE["inner apostrophe"]
UPPER, CAPITALS, LOWER, UNCASED = (
    CODE[name] for name in ("capital", "capital among capitals", "small letter", "letter without case")
)
APOSTROPHES = "'’‘ʼ"
GAP = "\n\n"
"""Stands between documents, so that no pair of characters crosses a border."""


@dataclass(frozen=True)
class CharacterCounts(Arrays):
    """Numbers of characters by class, and of words, of each document.

    Attributes
    ----------
    counts
        int64 (n, K), by `CLASSES`.
    words
        int64 (n,): stretches of letters, digits and the apostrophes within them.
    """

    counts: Ints
    words: Ints


@cache
def _table() -> NDArray[np.uint8]:
    """The class of each character on its own, uint8 (0x110000,); `UNKNOWN` until `_codes_of` meets it."""
    table = np.full(0x110000, UNKNOWN, dtype=np.uint8)
    for name, characters in CLASSES:
        table[[ord(c) for c in characters]] = CODE[name]
    table[[ord(c) for c in APOSTROPHES]] = SINGLE
    return table


def _codes_of(points: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The class of each code point on its own."""
    table = _table()
    codes = table[points]
    unknown = codes == UNKNOWN
    if unknown.any():
        for point in np.unique(points[unknown]).tolist():
            table[point] = _kind(chr(point))
        codes = table[points]
    return codes


def _kind(character: str) -> int:
    """The class of a character that is in no list."""
    if character.isspace() or not character.isprintable():
        return OUTSIDE
    if character.isalpha():
        return UPPER if character.isupper() else LOWER if character.islower() else UNCASED
    return CODE["digit" if character.isdigit() else "other symbol"]


def classes_of(text: str) -> NDArray[np.uint8]:
    """The class of every character in its place, uint8 (len(text),); `OUTSIDE` for those that do not count.

    Two hyphens in a row are one em dash, more of them one mark of layout, and three dots or more one ellipsis. A stop,
    comma, question or exclamation mark that is repeated is one repeated mark.

    >>> [NAMES[c] for c in classes_of("It's--").tolist() if c != OUTSIDE][2:]
    ['inner apostrophe', 'small letter', 'em dash']
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = _codes_of(points)
    if len(codes) < 2:
        return codes
    # classes of letters are the last ones, but for the codes that do not count
    letter = (codes >= LETTERS) & (codes != OUTSIDE)
    before, after = np.zeros(len(codes), dtype=bool), np.zeros(len(codes), dtype=bool)
    before[1:], after[:-1] = letter[:-1], letter[1:]
    codes[(codes == SINGLE) & before & after] = APOSTROPHE
    capital = codes == UPPER
    neighbours = np.zeros(len(codes), dtype=bool)
    neighbours[1:] |= capital[:-1]
    neighbours[:-1] |= capital[1:]
    codes[capital & neighbours] = CAPITALS
    _join_runs(points, codes, ord("-"), 2, CODE["em dash"])
    _join_runs(points, codes, ord("-"), 3, CODE["mark of layout"])
    for mark in ".,?!":
        _join_runs(points, codes, ord(mark), 2, CODE["repeated mark"])
    _join_runs(points, codes, ord("."), 3, CODE["ellipsis"])
    return codes


def _join_runs(points: NDArray[np.uint32], codes: NDArray[np.uint8], point: int, least: int, code: int) -> None:
    """Count each run of at least so many equal characters as one character of another class."""
    same = points == point
    edges = np.flatnonzero(np.diff(same, prepend=False, append=False))  # starts and stops in turn
    starts, stops = edges[::2], edges[1::2]
    for start, stop in zip(starts[stops - starts >= least], stops[stops - starts >= least], strict=True):
        # one character of the run counts, in its first place
        codes[start:stop] = OUTSIDE
        codes[start] = code


def count_characters(texts: Sequence[str]) -> CharacterCounts:
    """Count the characters of each class, and the words, of n texts."""
    k = len(CLASSES)
    lengths = np.array([len(t) + len(GAP) for t in texts], dtype=np.int64)
    # all texts at once: a call per text costs more than its characters
    codes = classes_of(GAP.join([*texts, ""]))
    owners = np.repeat(np.arange(len(texts)), lengths)
    counted = codes != OUTSIDE
    flat = owners[counted] * k + codes[counted]
    counts = np.bincount(flat, minlength=len(texts) * k).reshape(len(texts), k)
    # a word begins where a letter, digit or inner apostrophe follows anything else
    inside = counted & ((codes >= LETTERS) | (codes == CODE["digit"]) | (codes == APOSTROPHE))
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    return CharacterCounts(counts.astype(np.int64), np.bincount(owners[begins], minlength=len(texts)).astype(np.int64))
