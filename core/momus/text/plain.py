"""The prose of a text: its paragraphs, list items, quotations and verse without signs of layout, in one spelling.

Critics of words read prose: that a list has dots or numbers is *layout*, that an apostrophe is curved *marks*.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from momus.text.blocks import MARKER, PROSE, Kind, read_blocks

INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_SPACE = re.compile("[^\\S\n]{2,}|[^\\S\n ]")
_OTHER_SPACE = re.compile("[\t\r\v\f]")
_DOUBLE = re.compile("``|''")
QUOTES = dict(zip("‘’‚‛ʼ`´“”„‟«»″", "'" * 7 + '"' * 7, strict=True))
"""One spelling for each apostrophe and quotation mark, character for character."""
_OPENING = re.compile(r"(?<![^\s(\[{—-])\"(?=\S)")
_CLOSING = re.compile(r"(?<=\S)\"")
_ALONE = re.compile(r"(?<!\S)[“”](?!\S)")
_KEPT, _RESTORED = str.maketrans("“”", "\ue000\ue001"), {"\ue000": "“", "\ue001": "”"}
_HYPHEN = re.compile(r"[‐‑]|(?<=\d)[–‒]|[–‒](?=\d)")
_DASH = re.compile(r"(?<!-)-*+[—―–‒][-—―–‒]*|(?<!-)-{2,3}(?!-)|(?<=\S[^\S\n])-(?=[^\S\n]+\S)")
"""Dashes, and hyphens that stand for them; patterns begin with the sign, since most places have none."""
_LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "…": "..."}
_ELLIPSIS = re.compile(r"\.(?:[^\S\n]?\.){2,}")

_LINK = re.compile(r"(?<![\w)\]])!?\[([^\]\n]{0,400})\]\([^()\s]{0,2000}(?:[^\S\n]+\"[^\"\n]*\")?\)")
_CODE = re.compile(r"(`+)(?=[^`])([^\n]{0,400}?[^`\n])\1(?!`)")
_STRONG = re.compile(r"(\*\*\*|\*\*|~~)(?=\S)([^\n]{0,400}?\S)\1")
_STRONG_LINE = re.compile(r"(?<!\w)(___|__)(?=\S)([^\n]{0,400}?\S)\1(?!\w)")
_ITALICS = re.compile(
    r"(?<![*\w])\*(?=[^\s*])([^*\n]{0,400}?[^\s*])\*(?![*\w])|(?<!\w)_(?=[^\s_])([^_\n]{0,400}?[^\s_])_(?!\w)"
)
_TAG = re.compile(r"</?(?:b|i|u|em|strong|br|p|sub|sup|span|small|mark|del|s)(?:\s[^<>\n]*)?/?>", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


_ENTITY = re.compile(r"&(?:\w{2,31}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
_INLINE: tuple[tuple[Sequence[str], re.Pattern[str]], ...] = (
    ("`", _CODE),
    (("](",), _LINK),
    (("**", "~~"), _STRONG),
    ("_", _STRONG_LINE),
    ("*_", _ITALICS),
    ("<", _TAG),
    ("&", _ENTITY),
    ("\\", _ESCAPED),
)
"""Inline signs: what a text must hold to have any, and a pattern whose last group is what remains of a match."""


def inline(text: str) -> str:
    r"""Leave out inline signs: emphasis, code, links, tags, escapes; and resolve entities.

    >>> inline(r"**So** _it_ was `x`, [he](http://a.b) said &amp; 2\*2")
    'So it was x, he said & 2*2'
    """
    return _without_inline(text, _remains)


def _without_inline(text: str, take: Callable[[re.Match[str]], str]) -> str:
    for signs, pattern in _INLINE:
        if any(sign in text for sign in signs):
            text = pattern.sub(take, text)
    return text


def _remains(match: re.Match[str]) -> str:
    return match[match.lastindex] if match.lastindex else html.unescape(match[0]) if match[0][0] == "&" else " "


def _kept(match: re.Match[str]) -> str:
    """What remains of a match, between as many spaces as there were other characters."""
    start, stop = match.span(match.lastindex) if match.lastindex else match.span()
    text = _remains(match).ljust(stop - start)
    return " " * (start - match.start()) + text[: stop - start] + " " * (match.end() - stop)


def folded(text: str) -> str:
    r"""Give quotation marks, apostrophes, dashes, ligatures, ellipses and spaces one spelling.

    Double quotation marks open or close by where they stand, whatever their shape; one with spaces on both sides keeps
    its own, so that tokens that are joined by spaces are read as they were.

    >>> folded("“It’s ﬁne” — he  said…") == folded("\"It's fine\"--he said...")
    True
    """
    ascii_only = text.isascii()
    if not ascii_only:
        text = _replaced(INVISIBLE.sub("", text), _LIGATURES)
    text = _single_spaces(text)
    if not ascii_only or "`" in text or "''" in text:
        if "“" in text or "”" in text:
            text = _ALONE.sub(lambda m: m[0].translate(_KEPT), text)
        text = _replaced(_DOUBLE.sub('"', text), QUOTES | _RESTORED)
    if "--" in text or " - " in text or not ascii_only:
        text = _single_spaces(_DASH.sub(" — ", _HYPHEN.sub("-", text)))
    if ".." in text or ". ." in text:
        text = _ELLIPSIS.sub("...", text)
    if '"' in text:
        text = _CLOSING.sub("”", _OPENING.sub("“", text))
    return text


def _replaced(text: str, spellings: Mapping[str, str]) -> str:
    """Replace signs one after another: some ten times as fast as `str.translate`, since most are in no text."""
    for sign, spelling in spellings.items():
        text = text.replace(sign, spelling)
    return text


def _single_spaces(text: str) -> str:
    return _SPACE.sub(" ", text) if "  " in text or not text.isascii() or _OTHER_SPACE.search(text) else text


Reads = Literal["prose", "says", "everything"]
READINGS = {
    "prose": "prose: paragraphs, list items, quotations and verse, without signs of layout and in one spelling",
    "says": "all that the text says, headings, code and tables too, without signs of layout",
    "spelled": "prose and headings as they are spelled, without signs of layout",
    "blocks": "the blocks of the text and their signs",
    "everything": "the text as it is written",
}
"""What critics read of a text, by the name that `momus.critic.Critic.reads` has."""


def read_as(text: str, reads: Reads) -> str:
    r"""The prose of a text, what it says without signs of layout, or the text itself; blocks by blank lines.

    >>> read_as("# So\n\n1. one\n2. **two**", "prose"), read_as("# So\n\n1. one", "says")
    ('one\n\ntwo', 'So\n\none')
    """
    if reads == "everything":
        return text
    return _read(text, reads)


SHORT = 4096
"""Most characters of a text of which it is remembered how it reads."""
P = ParamSpec("P")
T = TypeVar("T")


def remembered(read: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Remember what a function makes of short texts: critics read the same ones one after another, and so do folds."""
    of_short: Any = lru_cache(maxsize=4096)(read)

    @wraps(read)
    def of(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        made: T = (of_short if len(text) <= SHORT else read)(text, *args, **kwargs)
        return made

    return of


@remembered
def _read(text: str, reads: Reads) -> str:
    if reads == "prose":
        return "\n\n".join(prose(text))
    # what a table or code says is shown as it is written: its bars are no words
    contents = (b.content if b.kind in ("code", "break") else folded(inline(b.content)) for b in read_blocks(text))
    return "\n\n".join(content.strip() for content in contents)


def prose(text: str) -> list[str]:
    r"""The blocks of prose of a text; of one that has headings alone, these.

    >>> prose("# So\n\n- It’s *one*.\n- two\n\n```\nx = 1\n```\n\nIt rained.")
    ["It's one.", 'two', 'It rained.']
    """
    blocks = read_blocks(text)
    held = [b for b in blocks if b.kind in PROSE] or [b for b in blocks if b.kind in ("title", "heading")]
    pieces = (folded(inline(b.content)).strip() for b in held)
    return [piece for piece in pieces if piece]


_LINE_SIGNS = re.compile(rf"(?m)^[^\S\n]*(?:>[^\S\n]*)+(?:#{{1,6}}[^\S\n]|{MARKER.pattern})?")
_HEADING_SIGNS = re.compile(r"\A\s*#{1,6}(?=\s)|\s#+\s*\Z|\n[^\S\n]*(?:=+|-+)\s*\Z")
_VISIBLE = re.compile(r"\S")


def in_place(text: str, kinds: Sequence[Kind] = PROSE) -> str:
    r"""Blocks of some kinds in their own spelling and place, with spaces for signs of layout and for other blocks.

    >>> in_place("# So\n\n- It’s *one*.\n\n`x` it is")
    '    \n\n  It’s  one .\n\n x  it is'
    """
    return _in_place(text, tuple(kinds))


@remembered
def _in_place(text: str, kinds: Sequence[Kind]) -> str:
    pieces, at = [], 0
    for block in read_blocks(text):
        pieces.append(_blank(text[at : block.start]))
        source, at = text[block.start : block.stop], block.stop
        pieces.append(
            _without_inline(_without_signs(block.kind, source), _kept) if block.kind in kinds else _blank(source)
        )
    return "".join([*pieces, _blank(text[at:])])


def _blank(text: str) -> str:
    return _VISIBLE.sub(" ", text)


def _without_signs(kind: Kind, source: str) -> str:
    """The source of a block with spaces for the signs of its kind."""
    if kind == "item":
        marker = MARKER.match(source)
        return _blank(marker[0]) + source[marker.end() :] if marker else source
    signs = {"quotation": _LINE_SIGNS, "verse": None}.get(kind, _HEADING_SIGNS)
    return signs.sub(lambda m: _blank(m[0]), source) if signs else source
