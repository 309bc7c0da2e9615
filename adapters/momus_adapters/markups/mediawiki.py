"""MediaWiki markup: headings and plain text, by mwparserfromhell."""

from __future__ import annotations

import re
from typing import Any

from momus.reading.markup import Part
from momus_adapters.markups import missing

_FILES = re.compile(r"^\s*(?:file|image|category|datei|bild|kategorie|fichier|catégorie)\s*:", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t]+")
_LINES = re.compile(r"\n{3,}")


def parts_of(text: str) -> list[Part]:
    r"""The headings and the plain text of a page.

    >>> for part in parts_of("'Ada' wrote.\n== Life ==\nBorn.\n=== Youth ===\nSmall.{{x}}"):
    ...     print(part)
    Part(level=0, title='', text="'Ada' wrote.")
    Part(level=2, title='Life', text='Born.')
    Part(level=3, title='Youth', text='Small.')
    """
    try:
        import mwparserfromhell
    except ImportError as error:
        raise missing("MediaWiki markup", "mwparserfromhell") from error
    parts = []
    for section in mwparserfromhell.parse(text).get_sections(flat=True, include_lead=True):
        headings = section.filter_headings(recursive=False)
        title = str(headings[0].title.strip_code()).strip() if headings else ""
        level = int(headings[0].level) if headings else 0
        body = plain_text(section)
        if level or body:
            parts.append(Part(level, title, body))
    return parts


def plain_text(section: Any) -> str:
    """Plain text of parsed markup, without headings, files, references, tables and galleries."""
    for heading in section.filter_headings(recursive=False):
        section.remove(heading)
    for link in section.filter_wikilinks(recursive=True):
        if _FILES.match(str(link.title)):
            _remove(section, link)
    for tag in section.filter_tags(recursive=True, matches=lambda t: str(t.tag).lower() in ("ref", "table", "gallery")):
        _remove(section, tag)
    text = section.strip_code(normalize=True, collapse=True)
    return _LINES.sub("\n\n", _BLANKS.sub(" ", text)).strip()


def _remove(section: Any, node: Any) -> None:
    try:
        section.remove(node)
    except ValueError:  # removed already, with the link around it
        return
