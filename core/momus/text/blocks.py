"""Blocks of a text: titles, headings, paragraphs, list items, quotations, code, tables, verse and breaks.

A text is read as Markdown where it has such marks, with the layouts that people and models write besides: bullets of
any sign, ``1)``, ``(a)``, bold lines as headings, tables without outer bars, and code that is never closed. A text
without marks still has paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Kind = Literal["title", "heading", "paragraph", "item", "quotation", "code", "table", "verse", "break"]
PROSE: tuple[Kind, ...] = ("paragraph", "item", "quotation", "verse")
"""Kinds of blocks that hold prose."""
BOLD_LEVEL = 7
"""The level of a heading that is a bold line; Markdown has six."""
LINE = 12
"""Most words of a short line, which has no mark at its end."""
HEADING = 20
"""Most words of a heading; a longer one is a paragraph with the signs of a heading."""
VERSE, WRAPPED = 60, 100
"""Longest line of verse, and of a paragraph that is wrapped at some width, in characters."""

WORD = re.compile("\\w+(?:['’\u00ad\u2060]\\w+)*")
ENDED = re.compile(r"[.!?…:;,。！？][\"'”’)\]*_]*\s*$")
BOLD_LINE = re.compile(r"(?:\d+[.)]\s*)?(\*\*|__)(?=\S)[^\n]{1,200}?\1:?\s*")
_BREAK = re.compile(r"[\s*_~=#+•·–—-]+")
_LINE_END = re.compile(r"\r\n?|\n")
_LINE = re.compile(r"\S(?:[^\r\n]*\S)?")
# markers that Markdown does not know, each with one that it knows and that has as many characters
_BULLET = re.compile(r"(?m)^([^\S\n]*)[•‣◦▪▫●○■□➤►▶✓✔·∙](?=[^\S\n]+\S)")
_LETTER = re.compile(r"(?m)^([^\S\n]{0,3})(\()?([a-z]|[ivx]{1,4}|\d{1,3})\)(?=[^\S\n]+\S)")
MARKER = re.compile(r"\s*(?:[-*+•‣◦▪▫●○■□➤►▶✓✔·∙]|\(?(?:[a-z]|[ivx]{1,4}|\d{1,9})[.)])[^\S\n]+")


class Block(NamedTuple):
    """A block of a text.

    Attributes
    ----------
    kind
        What it is.
    level
        Of a heading: 1 to 6, and `BOLD_LEVEL` for a bold line; of a list item: its depth from 1; else 0.
    start, stop
        Where it stands in the text, in characters, its signs included.
    content
        What it says, without the signs of a heading, list, quotation or fence; inline signs are kept.
    sign
        The marker of a list item as it is written, such as ``-`` or ``2.``; of code, the fence; else empty.
    """

    kind: Kind
    level: int
    start: int
    stop: int
    content: str
    sign: str = ""


KEPT, CHARACTERS = 2048, 16_384
"""Texts whose blocks are kept, since several critics read them, and most characters of such a text."""


def read_blocks(text: str) -> Sequence[Block]:
    r"""Read a text into blocks.

    Lines within a paragraph are verse if they are short, one paragraph if they seem to be wrapped at some width, and
    paragraphs of their own otherwise. A heading or short line that stands first is a title if something follows.

    >>> [(b.kind, b.level, b.content) for b in read_blocks("# So\n\n• one\n  1) two\n\n**Three**\n\nIt rained.\n")][:3]
    [('title', 1, 'So'), ('item', 1, 'one'), ('item', 2, 'two')]
    """
    return _kept(text) if len(text) <= CHARACTERS else _read(text)


@lru_cache(maxsize=KEPT)
def _kept(text: str) -> Sequence[Block]:
    return _read(text)


def _read(text: str) -> Sequence[Block]:
    blocks = list(_blocks(text))
    if len(blocks) > 1 and (blocks[0].kind == "heading" or is_short_line(blocks[0])):
        blocks[0] = blocks[0]._replace(kind="title")
    return tuple(blocks)


def is_short_line(block: Block) -> bool:
    """Whether a paragraph is a short line without a mark at its end, as headings are in plain text.

    >>> is_short_line(read_blocks("A walk by the sea")[0]), is_short_line(read_blocks("It rained.")[0])
    (True, False)
    """
    return (
        block.kind == "paragraph"
        and "\n" not in block.content
        and not ENDED.search(block.content)
        and len(WORD.findall(block.content)) <= LINE
    )


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables, blocks only; indented text and HTML are paragraphs, as they are in prose."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable(["code", "html_block", "reference"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _known(text: str) -> str:
    """The text with markers of lists that Markdown knows, character for character."""
    text = _BULLET.sub(r"\1-", text)
    return _LETTER.sub(lambda m: m[1] + " " * bool(m[2]) + "1".rjust(len(m[3]))[: len(m[3])] + ")", text)


_MARKED = re.compile(
    r"(?m)^[^\S\n]*(?:[-*+#>=~`_•‣◦▪▫●○■□➤►▶✓✔·∙]|\(?(?:[a-z]|[ivx]{1,4}|\d{1,9})[.)][^\S\n])|\||\r|\x00|\t"
)
"""What a text has that may be more than paragraphs."""
_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")


@dataclass(frozen=True)
class _Lines:
    """Where the lines of a text begin and end."""

    text: str
    starts: Sequence[int]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Characters from a line to the end of the line before another, without white space around them."""
        start = self.starts[first]
        stop = self.starts[last] if last < len(self.starts) else len(self.text)
        piece = self.text[start:stop]
        return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _blocks(text: str) -> Iterator[Block]:
    if not _MARKED.search(text):  # as Markdown reads it, at a tenth of the time
        for match in _PARAGRAPH.finditer(text):
            yield from _paragraphs(text, match.start(), match.end())
        return
    tokens = _parser().parse(_known(text))
    lines = _Lines(text, [0, *(m.end() for m in _LINE_END.finditer(text))])
    depth, within = 0, 0  # of lists; of quotations and tables, whose inner blocks are not told
    for place, token in enumerate(tokens):
        what, _, step = token.type.rpartition("_")
        if what in ("blockquote", "table"):
            if step == "open" and not within and (what == "table" or not depth):  # an item holds its quotations
                content = _inner(tokens, place)
                yield Block("table" if what == "table" else "quotation", 0, *_span(token, lines), content)
            within += token.nesting
        elif what in ("bullet_list", "ordered_list"):
            depth += token.nesting
        elif token.nesting >= 0 and not within:
            yield from _block(tokens, place, depth, lines)


def _block(tokens: Sequence[Token], place: int, depth: int, lines: _Lines) -> Iterator[Block]:
    """What a token opens, if it is a block outside of quotations and tables."""
    token = tokens[place]
    if token.type == "list_item_open":
        yield from _item(tokens, place, depth, lines)
    elif token.type == "fence":
        yield Block("code", 0, *_span(token, lines), token.content, token.markup + token.info.strip())
    elif depth:
        return
    elif token.type == "heading_open":
        content = tokens[place + 1].content
        if len(WORD.findall(content)) > HEADING:
            yield Block("paragraph", 0, *_span(token, lines), content)
        else:
            yield Block("heading", int(token.tag[1]), *_span(token, lines), content)
    elif token.type == "hr":
        yield Block("break", 0, *_span(token, lines), token.markup)
    elif token.type == "paragraph_open":
        yield from _paragraphs(lines.text, *_span(token, lines))


def _span(token: Token, lines: _Lines) -> tuple[int, int]:
    assert token.map is not None  # all tokens that open a block have one
    return lines.span(*token.map)


def _item(tokens: Sequence[Token], place: int, depth: int, lines: _Lines) -> Iterator[Block]:
    """A list item without those nested in it; none for a marker that stands alone."""
    start, _ = _span(tokens[place], lines)
    held = list(_held(tokens, place))
    if not held:
        return
    assert held[-1].map is not None
    _, stop = lines.span(held[0].map[0] if held[0].map else 0, held[-1].map[1])
    sign = MARKER.match(lines.text, start)
    content = "\n".join(line.strip() for t in held for line in t.content.split("\n"))
    yield Block("item", depth, start, stop, content, sign[0].strip() if sign else "")


def _held(tokens: Sequence[Token], place: int) -> Iterator[Token]:
    """The text of an item without its tables, down to where the next item begins, or its own ends."""
    tables = 0
    for token in tokens[place + 1 :]:
        if token.level <= tokens[place].level or token.type == "list_item_open":
            return
        tables += token.nesting * (token.type in ("table_open", "table_close"))
        if token.type == "inline" and not tables:
            yield token


def _inner(tokens: Sequence[Token], place: int) -> str:
    """The text within a token that opens something, down to where it closes."""
    pieces = []
    for token in tokens[place + 1 :]:
        if token.level <= tokens[place].level:
            break
        if token.type in ("inline", "fence"):
            pieces.append(token.content)
    return "\n".join(line.strip() for piece in pieces for line in piece.split("\n"))


def _paragraphs(text: str, start: int, stop: int) -> Iterator[Block]:
    """What the lines of a Markdown paragraph are, which stands at these characters."""
    held = [(start + m.start(), start + m.end()) for m in _LINE.finditer(text[start:stop])]
    if not held:  # separators of information, which are no blanks in Markdown
        return
    sizes = [b - a for a, b in held]
    span = (held[0][0], held[-1][1])
    if len(held) > 2 and max(sizes) <= VERSE:
        yield Block("verse", 0, *span, "\n".join(text[a:b] for a, b in held))
    # lines of speakers begin with a dash in many languages
    elif (
        len(held) > 1
        and VERSE < max(sizes) <= WRAPPED
        and min(sizes[:-1]) > max(sizes) / 2
        and not any(text[begin] in "–—" for begin, _ in held[1:])
    ):
        yield _paragraph(" ".join(text[a:b] for a, b in held), span)
    else:
        yield from (_paragraph(text[a:b], (a, b)) for a, b in held)


def _paragraph(content: str, span: tuple[int, int]) -> Block:
    """A paragraph, a heading in bold type, or a break of signs alone."""
    if _BREAK.fullmatch(content):
        return Block("break", 0, *span, content)
    if BOLD_LINE.fullmatch(content):
        return Block("heading", BOLD_LEVEL, *span, content)
    return Block("paragraph", 0, *span, content)
