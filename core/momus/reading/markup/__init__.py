"""Documents with headings, one per file, in the markup that the name says: they become sections.

The parsers are in the extra ``prepare``, except that of AsciiDoc. Each turns a document into the same `Part` rows;
`sections_of` divides these into sections, whatever the markup.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from momus.errors import MomusError
from momus.reading.location import Problem
from momus.reading.markup.headings import LEAD, Part, sections_of

__all__ = ["LEAD", "MARKUPS", "NO_HEADINGS", "SUFFIXES", "markup_record"]

MARKUPS = {
    "asciidoc": "AsciiDoc",
    "html": "HTML",
    "latex": "LaTeX",
    "markdown": "Markdown",
    "mediawiki": "MediaWiki",
    "restructured": "reStructuredText",
}
"""Modules of this package, and what users call the markup that each reads."""

SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "restructured",
    ".rest": "restructured",
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".tex": "latex",
    ".latex": "latex",
    ".wiki": "mediawiki",
    ".mediawiki": "mediawiki",
    ".wikitext": "mediawiki",
}
"""The markup of a file, by the extension of its name."""


NO_HEADINGS = "no headings"


class _Parser(Protocol):
    def parts_of(self, text: str) -> list[Part]:
        """The headings of a document, each with the text up to the next one."""
        ...


def markup_record(text: str, markup: str) -> dict[str, list[str]] | Problem:
    r"""Divide a document into sections: a record of the fields ``section_names`` and ``sections``, or why it is none.

    Raises
    ------
    MissingExtraError
        The package that reads this markup is not installed.

    >>> markup_record("# Use\nSo.\n# Limits\nNone.", "markdown")
    {'section_names': ['Use', 'Limits'], 'sections': ['So.', 'None.']}
    >>> markup_record("Just text.", "markdown")
    Problem(reason='no headings')
    """
    parser = cast(_Parser, import_module(f"{__name__}.{markup}"))
    try:
        parts = parser.parts_of(text)
    except MomusError:
        raise
    except RecursionError:
        return Problem(f"nested too deeply to be read as {MARKUPS[markup]}")
    except Exception:  # the parsers raise errors of many kinds on files that are faulty, or something else
        return Problem(f"not readable as {MARKUPS[markup]}")
    if not parts:
        return Problem("no text")
    sections = sections_of(parts)
    if not sections:
        return Problem(NO_HEADINGS)
    return {"section_names": [title for title, _ in sections], "sections": [body for _, body in sections]}
