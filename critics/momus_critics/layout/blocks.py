"""Blocks of a text: what stands between its blank lines, by kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from momus.numeric.ragged import Ragged
from momus.numeric.types import Floats, Ints

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
LINE = 12
"""Most words of a short line, which has no mark at its end."""
VERSE, WRAPPED = 60, 100
"""Longest line of verse, and of a paragraph that is wrapped at some width, in characters."""
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

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_BOLD = re.compile(r"\*\*(?=\S)[^\n]{1,200}?(?<=\S)\*\*|(?<!\w)__(?=\S)[^\n]{1,200}?(?<=\S)__(?!\w)")
_BOLD_LINE = re.compile(r"(?:\d+[.)]\s*)?(\*\*|__)[^\n]{1,200}?\1:?\s*")
_ITALICS = re.compile(
    r"(?<![*\w])\*(?=[^\s*])[^*\n]{1,200}?(?<=[^\s*])\*(?![*\w])|(?<!\w)_(?=[^\s_])[^_\n]{1,200}?_(?!\w)"
)
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf]")
_ENDED = re.compile(r"[.!?…:;,。！？][\"'”’)\]*_]*\s*$")
_SPEECH = re.compile(r"[\"“„«'‘—–]\s?\w")


@dataclass(frozen=True)
class LayoutBlock:
    """A block: its kind, and its text."""

    kind: str
    text: str


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
    """

    states: Ints
    words: Ints
    offsets: Ints
    features: Floats


def read_blocks(texts: Sequence[str]) -> Blocks:
    """Cut n texts into blocks."""
    states: list[int] = []
    words: list[int] = []
    offsets, features = [0], np.zeros((len(texts), len(FEATURES)))
    for row, text in enumerate(texts):
        blocks = blocks_of(text)
        states += [CODE[b.kind] for b in blocks]
        words += [len(_WORD.findall(b.text)) for b in blocks]
        offsets.append(len(states))
        features[row] = _features(text, [b.kind for b in blocks], text.lstrip().startswith("#"))
    return Blocks(
        np.array(states, dtype=np.int64), np.array(words, dtype=np.int64), np.array(offsets, dtype=np.int64), features
    )


def _features(text: str, blocks: Sequence[str], titled: bool) -> list[bool]:
    kinds = set(blocks)
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
        len(blocks) > 1,
    ]


def blocks_of(text: str) -> list[LayoutBlock]:
    r"""The blocks of a text, as Markdown reads it where it has such marks.

    Lines within a paragraph are verse if they are short, one paragraph if they seem to be wrapped at some width, and
    paragraphs of their own otherwise.

    >>> [b.kind for b in blocks_of("A walk\n\n- one\n- two\n\n***\n\nIt rained.\n")]
    ['title', 'bullet', 'bullet', 'break', 'short paragraph']
    """
    blocks = list(_blocks(text))
    # a text that is one short line has no title: the line is all there is
    if len(blocks) > 1 and blocks[0].kind in ("heading", "subheading", "minor heading", "bold line", "short line"):
        blocks[0] = LayoutBlock("title", blocks[0].text)
    return blocks


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables, blocks only; indented text and HTML are paragraphs, as they are in prose."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable(["code", "html_block", "reference"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(text: str) -> Iterator[LayoutBlock]:
    tokens = _parser().parse(text)
    lists: list[str] = []
    within = 0  # of a quotation or table, whose inner blocks are not told
    for place, token in enumerate(tokens):
        kind = token.type
        # the outermost alone is a block, with all that it holds
        if kind in ("blockquote_open", "table_open"):
            if not within:
                yield LayoutBlock("quotation" if kind == "blockquote_open" else "table", _inner(tokens, place))
            within += 1
        elif kind in ("blockquote_close", "table_close"):
            within -= 1
        elif kind in ("bullet_list_open", "ordered_list_open"):
            lists.append("bullet" if kind == "bullet_list_open" else "numbered item")
        elif kind in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif within:
            continue
        elif kind == "list_item_open":
            yield LayoutBlock(lists[-1] if len(lists) == 1 else "nested item", _inner(tokens, place, item=True))
        elif kind == "heading_open":
            level = ("heading", "subheading", "minor heading")[min(int(token.tag[1]), 3) - 1]
            yield LayoutBlock(level, tokens[place + 1].content)
        elif kind == "fence":
            yield LayoutBlock("code", token.content)
        elif kind == "hr":
            yield LayoutBlock("break", token.markup)
        elif kind == "paragraph_open" and not lists:
            yield from _paragraphs(tokens[place + 1].content)


def _inner(tokens: Sequence[Token], place: int, item: bool = False) -> str:
    """The text within a token that opens something, down to where it closes (or, its own, to the next item)."""
    pieces = []
    for token in tokens[place + 1 :]:
        if token.level <= tokens[place].level or (item and token.type == "list_item_open"):
            break
        if token.type in ("inline", "fence"):
            pieces.append(token.content)
    return "\n".join(pieces)


def _paragraphs(content: str) -> Iterator[LayoutBlock]:
    """What the lines of a Markdown paragraph are."""
    lines = [line.strip() for line in content.split("\n") if line.strip()]
    longest = max(map(len, lines), default=0)
    if len(lines) > 2 and longest <= VERSE:
        yield LayoutBlock("verse", "\n".join(lines))
    elif len(lines) > 1 and longest <= WRAPPED and min(map(len, lines[:-1])) > longest / 2:
        yield _paragraph(" ".join(lines))
    else:
        yield from map(_paragraph, lines)


def _paragraph(text: str) -> LayoutBlock:
    """The kind of one paragraph."""
    words = len(_WORD.findall(text))
    if not words:
        return LayoutBlock("break", text)
    if _BOLD_LINE.fullmatch(text):
        return LayoutBlock("bold line", text)
    if words <= LINE and not _ENDED.search(text):
        return LayoutBlock("short line", text)
    if _SPEECH.match(text):
        return LayoutBlock("paragraph of speech", text)
    return LayoutBlock(next((name for most, name in SIZES if words <= most), "very long paragraph"), text)
