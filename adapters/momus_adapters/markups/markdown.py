"""Markdown (CommonMark with tables): headings outside of quotations and lists, and plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from momus.reading.markup import Part, Parts

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n.*?^\1[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"<(h[1-6]|[a-z!/])", re.IGNORECASE)


def parts_of(text: str) -> list[Part]:
    r"""The headings and the plain text of a Markdown document; YAML or TOML in front of it is left out.

    >>> parts_of("---\ntitle: x\n---\n# One\nA *b* `c`.\n\nTwo\n---\n> # no heading\n")
    [Part(level=1, title='One', text='A b c.'), Part(level=2, title='Two', text='no heading')]
    """
    from markdown_it import MarkdownIt

    parts = Parts()
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(_FRONT_MATTER.sub("", text, count=1))
    heading = 0
    for token in tokens:
        if token.type == "heading_open" and token.level == 0:
            heading = int(token.tag[1])
        elif token.type == "inline":
            if heading:
                parts.heading(heading, _plain(token))
            else:
                parts.paragraph(_plain(token))
            heading = 0
        elif token.type in ("fence", "code_block"):
            parts.paragraph("\n" + token.content)
        elif token.type == "html_block" and _TAG.search(token.content):
            from momus_adapters.markups.html import parts_of as parts_of_html

            parts.extend(parts_of_html(token.content))
    return parts.done()


def _plain(inline: Token) -> str:
    """The text of a paragraph: without emphasis, addresses, images and tags."""
    pieces = []
    for token in inline.children or ():
        if token.type in ("text", "code_inline"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
    return "".join(pieces)
