"""AsciiDoc: section titles and plain text, line by line; no package of the registry parses it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from momus.reading.markup import Part, Parts

_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:\s+\1)?\s*$")
_UNDERLINE = re.compile(r"([=\-~^+])\1+\s*$")
_LEVELS = "=-~^+"
"""Underlines of titles of two lines, from the title of the document down."""
_DELIMITER = re.compile(r"(-{4,}|={4,}|\.{4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\w*|[|,:!]={3,})\s*$")
_VERBATIM = ("-", ".", "`")
_DROPPED = ("/", "+")
_NO_TEXT = re.compile(
    r":!?[\w-]+!?:(\s|$)|//(?!/)|\[.*\]\s*$|(include|image|ifdef|ifndef|ifeval|endif|toc)::|\+\s*$|'''+"
)
_BULLET = re.compile(r"^\s*(?:[*.-]{1,5}|\d+\.|<\d+>)\s+")
_BLOCK_TITLE = re.compile(r"\.(?=[^\s.])")
_LINK = re.compile(r"(?:link:|https?://|mailto:|xref:)[^\s\[\]]*\[([^\]]*)\]")
_REFERENCE = re.compile(r"<<[^,>]*(?:,\s*([^>]*))?>>")
_MACRO = re.compile(r"\b(?:footnote|kbd|btn|indexterm2?|image|icon|stem|pass|anchor):[^\s\[]*\[[^\]]*\]|\[\[[^\]]*\]\]")
_MARKS = re.compile(r"(?<![\w\\])([*_`#+]{1,2})(?=\S)([^*_`#+\n]+?)(?<=\S)\1(?!\w)")


def parts_of(text: str) -> list[Part]:
    r"""The headings and the plain text of a document: titles of one line (``== A``) and of two.

    Titles within delimited blocks are none. Attributes, comments and passthrough blocks are left out.

    >>> text = "= Manual\n:toc:\n\nAbout *it*.\n\n== Use\n----\n== code\n----\nSee <<a,this>>.\n\nEnd\n---\nNone.\n"
    >>> for part in parts_of(text):
    ...     print(part)
    Part(level=1, title='Manual', text='About it.')
    Part(level=2, title='Use', text='== code\n\nSee this.')
    Part(level=2, title='End', text='None.')
    """
    parts = Parts()
    paragraph: list[str] = []

    def end_paragraph() -> None:
        parts.paragraph(_plain("\n".join(paragraph)))
        paragraph.clear()

    lines = text.splitlines()
    places = iter(range(len(lines)))
    for i in places:
        line = lines[i]
        title, level, length = _title(lines, i, not paragraph)
        if length:
            end_paragraph()
            parts.heading(level, _plain(title))
            if length == 2:
                next(places, None)
        elif (fence := _DELIMITER.match(line)) and (fence[1] != "--" or not paragraph):
            end_paragraph()
            if fence[1][0] in (*_VERBATIM, *_DROPPED) and fence[1] != "--":
                block = "\n".join(_block(lines, places, fence[1]))
                parts.paragraph("" if fence[1][0] in _DROPPED else "\n" + block)
        elif not line.strip():
            end_paragraph()
        elif not _NO_TEXT.match(line):
            if _BULLET.match(line):
                end_paragraph()
            paragraph.append(_BLOCK_TITLE.sub("", _BULLET.sub("", line)).removeprefix("|"))
    end_paragraph()
    return parts.done()


def _title(lines: list[str], i: int, fresh: bool) -> tuple[str, int, int]:
    """Title, level and number of lines of the heading at a line; no lines if there is none.

    Of two lines, the second is as long as the first give or take two characters, and no paragraph stands before them.
    """
    match = _TITLE.match(lines[i])
    if match:
        return match[2], len(match[1]), 1
    below = lines[i + 1].rstrip() if i + 1 < len(lines) else ""
    title = lines[i].rstrip()
    underlined = fresh and _UNDERLINE.match(below) and abs(len(below) - len(title)) <= 2
    if underlined and re.search(r"\w", title) and not _NO_TEXT.match(title):
        return title, _LEVELS.index(below[0]) + 1, 2
    return "", 0, 0


def _block(lines: list[str], places: Iterator[int], fence: str) -> Iterator[str]:
    """The lines of a block up to the delimiter that ends it."""
    end = "```" if fence.startswith("```") else fence
    for i in places:
        if lines[i].rstrip() == end:
            return
        yield lines[i]


def _plain(text: str) -> str:
    """The text without links' addresses, macros and marks of emphasis."""
    text = _LINK.sub(lambda m: m[1].rstrip("^"), text)
    text = _MACRO.sub("", _REFERENCE.sub(lambda m: m[1] or "", text))
    return _MARKS.sub(r"\2", text)
