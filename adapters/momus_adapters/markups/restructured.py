"""reStructuredText: sections and plain text, by docutils; what only Sphinx knows keeps its text where it has any."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from momus.reading.markup import Part, Parts
from momus_adapters.markups import missing

if TYPE_CHECKING:
    from docutils import nodes

SETTINGS = {
    "_disable_config": True,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 6,
    "line_length_limit": 10_000_000,
    "raw_enabled": False,
    "report_level": 6,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "warning_stream": False,
}
"""No file is included, nothing is printed, and a faulty document is read as far as it goes."""
WITHOUT_TEXT = re.compile(
    r"(auto\w*|\w*module|toctree|index|contents|image|figure|include|literalinclude|tabularcolumns|highlight|testsetup)$"
)
"""Directives without text of the document's own."""
_DIRECTIVE = re.compile(r"\s*\.\. +(?:\w+:)?([\w-]+)::[ \t]*(.*)(?:\n|$)")
_OPTION = re.compile(r"^[ \t]*:[\w-]+:.*\n?", re.MULTILINE)
_ROLE = re.compile(r":[\w:+.-]+:`[!~]?([^`<]*?)(?:\s*<[^`>]*>)?`|``?([^`]+)``?")


def parts_of(text: str) -> list[Part]:
    r"""The headings and the plain text of a document.

    >>> parts_of("One\n===\nA *b* :func:`c`.\n\n.. versionadded:: 3.1\n   New.\n\n.. toctree::\n   x\n\nTwo\n---\nD\n")
    [Part(level=1, title='One', text='A b c.\n\n3.1 New.'), Part(level=2, title='Two', text='D')]
    """
    try:
        from docutils.core import publish_doctree
    except ImportError as error:
        raise missing("reStructuredText", "docutils") from error
    parts = Parts()
    _read(publish_doctree(text, settings_overrides=SETTINGS), 0, parts)
    return parts.done()


def _read(node: nodes.Element, level: int, parts: Parts) -> None:
    """Add a section, or an element that holds paragraphs."""
    from docutils import nodes

    for child in node.children:
        if isinstance(child, nodes.section):
            parts.heading(level + 1, _plain(child.children[0]))
            _read(child, level + 1, parts)
        elif isinstance(child, nodes.system_message):
            parts.paragraph(_unknown(child))
        elif isinstance(child, nodes.Invisible | nodes.docinfo | nodes.title | nodes.raw):
            continue
        elif isinstance(child, nodes.FixedTextElement):
            parts.paragraph("\n" + child.astext())
        elif isinstance(child, nodes.TextElement):
            parts.paragraph(_plain(child))
        elif isinstance(child, nodes.Element):
            _read(child, level, parts)


def _plain(node: nodes.Node) -> str:
    """The text of a paragraph; of a role that docutils does not know, what it shows."""
    return _ROLE.sub(lambda m: m[1] or m[2] or "", node.astext()).replace("\x00", "")


def _unknown(message: nodes.system_message) -> str:
    """The text of a directive that docutils does not know; an error of another kind has none."""
    from docutils import nodes

    source = next((c.astext() for c in message.children if isinstance(c, nodes.literal_block)), "")
    match = _DIRECTIVE.match(source)
    if match is None or WITHOUT_TEXT.match(match[1]):
        return ""
    body = _OPTION.sub("", textwrap.dedent(source[match.end() :]))
    return " ".join(_ROLE.sub(lambda m: m[1] or m[2] or "", f"{match[2]}\n{body}").split())
