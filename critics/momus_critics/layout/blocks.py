"""The blocks of documents by kind, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from momus.numeric.ragged import Ragged
from momus.numeric.types import Floats, Ints
from momus.text.blocks import BOLD_LEVEL, WORD, Block, is_short_line
from momus.text.blocks import read_blocks as text_blocks
from momus.text.plain import remembered

KINDS = (
    "title",
    "heading",
    "subheading",
    "minor heading",
    "bold line",
    "short line",
    "short paragraph",
    "paragraph",
    "long paragraph",
    "very long paragraph",
    "paragraph of speech",
    "bullet",
    "numbered item",
    "nested item",
    "quotation",
    "code",
    "table",
    "verse",
    "break",
)
"""Kinds of blocks. A title is a heading, bold line or short line that stands first; speech begins with a quotation
mark."""
CODE = {kind: code for code, kind in enumerate(KINDS)}
SIZES = ((20, "short paragraph"), (60, "paragraph"), (150, "long paragraph"))
"""Paragraphs of at most so many words, by name; longer ones are very long."""
FEATURES = (
    "a title",
    "a heading",
    "a list",
    "bold type",
    "italics",
    "emoji",
    "code or table",
    "verse",
    "a break",
    "several paragraphs",
)
"""What a document has or lacks."""

OF_ITEMS = ("item", "numbered", "nested", "lead", "apart", "behind")
"""What is counted of list items: all, numbered ones, nested ones, those that begin with words in bold type before a
colon or full stop, and of those that follow another one, those behind a blank line, and all."""

_BOLD = re.compile(r"\*\*(?=\S)[^\n]{1,200}?(?<=\S)\*\*|(?<!\w)__(?=\S)[^\n]{1,200}?(?<=\S)__(?!\w)")
_LEAD = re.compile(r"(\*\*|__)(?=\S)[^\n]{1,100}?(?:[:.]\1|\1[:.])\s*\S")
_ITALICS = re.compile(
    r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,200}?(?<=[^\s*])\*(?![*\w])|(?<!\w)_(?=[^\s_])[^_\n]{1,200}?_(?!\w)"
)
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_SPEECH = re.compile(r"[\"“„«'‘—–]\s?\w")
_NUMBERED = re.compile(r"\(?\w")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n[^\S\n]*$")
NEAR = 200
"""Characters before a block in which a blank line is looked for."""


@dataclass(frozen=True)
class Blocks(Ragged):
    """The blocks of n documents.

    Attributes
    ----------
    states
        int64 (N,): the kind of each block, by `KINDS`.
    words
        int64 (N,): number of its words.
    offsets
        int64 (n + 1,): first block of each document.
    features
        float64 (n, F): whether a document has each of `FEATURES`.
    items
        float64 (n, I): how many of its list items are each of `OF_ITEMS`.
    """

    states: Ints
    words: Ints
    offsets: Ints
    features: Floats
    items: Floats


def read_blocks(texts: Sequence[str]) -> Blocks:
    """Cut n texts into blocks."""
    states: list[int] = []
    words: list[int] = []
    offsets, features, items = [0], np.zeros((len(texts), len(FEATURES))), np.zeros((len(texts), len(OF_ITEMS)))
    for row, text in enumerate(texts):
        kinds, sizes, features[row], items[row] = _read(text)
        states += kinds
        words += sizes
        offsets.append(len(states))
    codes, lengths, borders = (np.array(x, dtype=np.int64) for x in (states, words, offsets))
    return Blocks(codes, lengths, borders, features, items)


@remembered
def _read(text: str) -> tuple[list[int], list[int], list[bool], list[float]]:
    """The kinds of the blocks of a text, their numbers of words, its features, and what its list items are."""
    blocks = text_blocks(text)
    kinds = [kind_of(b) for b in blocks]
    words = [len(WORD.findall(b.content)) for b in blocks]
    return [CODE[k] for k in kinds], words, _features(text, kinds, blocks), _items(text, blocks)


def kind_of(block: Block) -> str:
    r"""The kind of a block by `KINDS`.

    >>> [kind_of(b) for b in text_blocks("A walk\n\n- one\n- two\n\n***\n\nIt rained.\n")]
    ['title', 'bullet', 'bullet', 'break', 'short paragraph']
    """
    if block.kind == "heading":
        if block.level == BOLD_LEVEL:
            return "bold line"
        return ("heading", "subheading", "minor heading")[min(block.level, 3) - 1]
    if block.kind == "item":
        return "nested item" if block.level > 1 else "numbered item" if _NUMBERED.match(block.sign) else "bullet"
    if block.kind != "paragraph":
        return block.kind
    if is_short_line(block):
        return "short line"
    if _SPEECH.match(block.content):
        return "paragraph of speech"
    words = len(WORD.findall(block.content))
    return next((name for most, name in SIZES if words <= most), "very long paragraph")


def _features(text: str, names: Sequence[str], blocks: Sequence[Block]) -> list[bool]:
    kinds = set(names)
    titled = bool(blocks) and blocks[0].kind == "title" and 0 < blocks[0].level < BOLD_LEVEL
    return [
        "title" in kinds,
        titled or not kinds.isdisjoint({"heading", "subheading", "minor heading", "bold line"}),
        not kinds.isdisjoint({"bullet", "numbered item"}),
        bool(_BOLD.search(text)),
        bool(_ITALICS.search(text)),
        bool(_EMOJI.search(text)),
        not kinds.isdisjoint({"code", "table"}),
        "verse" in kinds,
        "break" in kinds,
        any(a.kind == b.kind == "paragraph" for a, b in pairwise(blocks)),
    ]


def _items(text: str, blocks: Sequence[Block]) -> list[float]:
    """What a document's list items are, see `OF_ITEMS`."""
    items = [b for b in blocks if b.kind == "item"]
    behind = [b for a, b in pairwise(blocks) if a.kind == b.kind == "item"]
    return [
        len(items),
        sum(bool(_NUMBERED.match(b.sign)) for b in items),
        sum(b.level > 1 for b in items),
        sum(bool(_LEAD.match(b.content)) for b in items),
        sum(bool(_BLANK_LINE.search(text[max(0, b.start - NEAR) : b.start])) for b in behind),
        len(behind),
    ]
