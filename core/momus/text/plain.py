"""The prose of a text: its paragraphs, list items, quotations and verse without signs of layout, in one spelling.

Critics of words read prose: that a list has dots or numbers is *layout*, that an apostrophe is curved *marks*.
"""

from __future__ import annotations

import html
import re
from typing import Literal

from momus.text.blocks import PROSE, read_blocks

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_SPACE = re.compile("[^\\S\n]{2,}|[^\\S\n ]")
_SINGLE, _DOUBLE = re.compile("[‘’‚‛ʼ`´]"), re.compile("[“”„‟«»″]|``|''")
_DASH = re.compile(
    "[^\\S\n]*(?:[—―]|(?<![-\\d])[–‒](?!\\d)|(?<!-)-{2,3}(?!-))[^\\S\n]*|(?<=\\S)[^\\S\n]+-[^\\S\n]+(?=\\S)"
)
_HYPHEN = re.compile("[‐‑–‒]")
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0x2026: "..."}
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


def inline(text: str) -> str:
    r"""Leave out inline signs: emphasis, code, links, tags, escapes; and resolve entities.

    >>> inline(r"**So** _it_ was `x`, [he](http://a.b) said &amp; 2\*2")
    'So it was x, he said & 2*2'
    """
    if "`" in text:
        text = _CODE.sub(r"\2", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "*" in text or "~~" in text:
        text = _STRONG.sub(r"\2", text)
    if "_" in text:
        text = _STRONG_LINE.sub(r"\2", text)
    if "*" in text or "_" in text:
        text = _ITALICS.sub(lambda m: m[1] or m[2], text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = html.unescape(text)
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


def folded(text: str) -> str:
    r"""Give quotation marks, apostrophes, dashes, ligatures, ellipses and spaces one spelling.

    >>> folded("“It’s ﬁne” — he  said…") == folded("\"It's fine\"--he said...")
    True
    """
    if not text.isascii():
        text = _INVISIBLE.sub("", text).translate(_LIGATURES)
        text = _SINGLE.sub("'", _DOUBLE.sub('"', text))
    if "--" in text or " - " in text or not text.isascii():
        text = _HYPHEN.sub("-", _DASH.sub(" — ", text))
    if ".." in text or ". ." in text:
        text = _ELLIPSIS.sub("...", text)
    return _SPACE.sub(" ", text)


Reads = Literal["prose", "says", "everything"]


def read_as(text: str, reads: Reads) -> str:
    r"""The prose of a text, what it says without signs of layout, or the text itself; blocks by blank lines.

    >>> read_as("# So\n\n1. one\n2. **two**", "prose"), read_as("# So\n\n1. one", "says")
    ('one\n\ntwo', 'So\n\none')
    """
    if reads == "everything":
        return text
    if reads == "prose":
        return "\n\n".join(prose(text))
    # what a table or code says is shown as it is written: its bars are no words
    contents = (b.content if b.kind in ("code", "break") else folded(inline(b.content)) for b in read_blocks(text))
    return "\n\n".join(content.strip() for content in contents)


def prose(text: str) -> list[str]:
    r"""The blocks of prose of a text.

    >>> prose("# So\n\n- It’s *one*.\n- two\n\n```\nx = 1\n```\n\nIt rained.")
    ["It's one.", 'two', 'It rained.']
    """
    blocks = (folded(inline(b.content)).strip() for b in read_blocks(text) if b.kind in PROSE)
    return [block for block in blocks if block]
