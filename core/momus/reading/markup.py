"""Documents with headings, one per file, in the markup that the name says: they become sections.

A plug-in of the group ``momus.markups`` parses each markup. It turns a document into `Part` rows; `sections_of` divides
these into sections, whatever the markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from momus.errors import MomusError
from momus.plugins import MARKUPS, load_plugin
from momus.reading.location import Problem

NAMES = {
    "html": "HTML",
    "latex": "LaTeX",
    "markdown": "Markdown",
    "mediawiki": "MediaWiki",
}
"""Plug-ins of the group ``momus.markups``, and what users call the markup that each reads."""

SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
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
LEAD = "lead"
"""Title of the section of what stands before the first heading."""
ENOUGH = 3
"""So many headings of one level divide a document into sections of that level."""

_BLANKS = re.compile(r"[ \t\u00a0]+")
_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Part:
    """A heading and the text up to the next heading of any level.

    Attributes
    ----------
    level
        1 for the highest; 0 for what stands before the first heading.
    title, text
        Plain text, without markup.
    """

    level: int
    title: str
    text: str


class Parts:
    r"""Collects headings and paragraphs in the order of a document.

    >>> parts = Parts()
    >>> parts.paragraph("Before."); parts.heading(1, "One"); parts.paragraph(" A."); parts.paragraph("B.")
    >>> parts.done()
    [Part(level=0, title='', text='Before.'), Part(level=1, title='One', text='A.\n\nB.')]
    """

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._open: tuple[int, str] = (0, "")
        self._paragraphs: list[str] = []

    def heading(self, level: int, title: str) -> None:
        """Begin the part of a heading."""
        self._close()
        self._open = (level, " ".join(title.split()))

    def paragraph(self, text: str) -> None:
        """Add a paragraph to the part that is open; blank ones are left out."""
        if text and not text.isspace():
            self._paragraphs.append(text.strip("\n").rstrip() if text[0] == "\n" else text.strip())

    def extend(self, parts: Iterable[Part]) -> None:
        """Add parts that were collected elsewhere, such as those of HTML within Markdown."""
        for passage in parts:
            if passage.level:
                self.heading(passage.level, passage.title)
            self.paragraph(passage.text)

    def done(self) -> list[Part]:
        """All parts; the first has level 0 only if it holds text."""
        self._close()
        self._open = (0, "")
        return self._parts

    def _close(self) -> None:
        level, title = self._open
        text = _LINES.sub("\n\n", "\n\n".join(self._paragraphs))
        if level or text:
            self._parts.append(Part(level, title, text))
        self._paragraphs = []


def flowing(text: str) -> str:
    r"""Collapse blanks within lines, which markup ignores.

    >>> flowing("a   b\u00a0c")
    'a b c'
    """
    return _BLANKS.sub(" ", text)


def section_level(parts: Sequence[Part]) -> int:
    """The level of headings that divides a document into sections, 0 if it has no headings.

    It is the highest one with at least three headings, else the one with the most (the higher of two).

    >>> section_level([Part(1, "Manual", ""), Part(2, "Use", ""), Part(3, "a", ""), Part(2, "Limits", "")])
    2
    """
    counts = Counter(p.level for p in parts if p.level)
    if not counts:
        return 0
    enough = [level for level, n in counts.items() if n >= ENOUGH]
    return min(enough) if enough else min(counts, key=lambda level: (-counts[level], level))


def sections_of(parts: Sequence[Part]) -> list[tuple[str, str]]:
    r"""Divide a document into sections, (title, text) each.

    Headings of a lower level than that of the sections (`section_level`) stay in the text, as paragraphs. Higher ones
    begin a section too if text follows them; but a single heading of the highest level, before all others,
    is the title of the document, and what follows it belongs to the section called `LEAD`.

    Returns
    -------
    An empty list if the document has no headings.

    >>> parts = [Part(1, "Manual", "About."), Part(2, "Use", "How."), Part(3, "Fast", "So."), Part(2, "Limits", "No.")]
    >>> sections_of(parts)
    [('lead', 'About.'), ('Use', 'How.\n\nFast\n\nSo.'), ('Limits', 'No.')]
    """
    level = section_level(parts)
    if not level:
        return []
    headed = [p for p in parts if p.level]
    first = headed[0]
    titled = first.level < level and sum(p.level <= first.level for p in headed) == 1
    sections: list[tuple[str, list[str]]] = [(LEAD, [])]
    for passage in parts:
        if passage.level == 0 or (titled and passage is first):
            sections[0][1].append(passage.text)
        elif passage.level <= level:
            sections.append((passage.title, [passage.text]))
        else:
            sections[-1][1].extend([passage.title, passage.text])
    texts = [(title, "\n\n".join(filter(None, pieces))) for title, pieces in sections]
    higher = {p.title for p in headed if p.level < level}
    return [(title, text) for i, (title, text) in enumerate(texts) if text or (i and title not in higher)]


def markup_record(text: str, markup: str) -> dict[str, list[str]] | Problem:
    r"""Divide a document into sections: a record of the fields ``section_names`` and ``sections``, or why it is none.

    Raises
    ------
    MissingExtraError
        The package that reads this markup is not installed.
    PluginError
        No plug-in reads it, or more than one.

    >>> markup_record("# Use\nSo.\n# Limits\nNone.", "markdown")
    {'section_names': ['Use', 'Limits'], 'sections': ['So.', 'None.']}
    >>> markup_record("Just text.", "markdown")
    Problem(reason='no headings')
    """
    parts_of = _parser(markup)
    try:
        parts = parts_of(text)
    except MomusError:
        raise
    except RecursionError:
        return Problem(f"nested too deeply to be read as {NAMES[markup]}")
    except Exception:  # the parsers raise errors of many kinds on files that are faulty, or something else
        return Problem(f"not readable as {NAMES[markup]}")
    if not parts:
        return Problem("no text")
    sections = sections_of(parts)
    if not sections:
        return Problem(NO_HEADINGS)
    return {"section_names": [title for title, _ in sections], "sections": [body for _, body in sections]}


@cache
def _parser(markup: str) -> Callable[[str], list[Part]]:
    """The function that finds the headings of a document, each with the text up to the next one."""
    parser: Callable[[str], list[Part]] = load_plugin(MARKUPS, markup)
    return parser
