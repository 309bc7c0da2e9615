"""HTML: headings of the main part of a page, and plain text."""

from __future__ import annotations

from momus.reading.markup import Part, Parts, flowing
from momus_adapters.markups import missing

_DROPPED = "aside button dialog footer form head iframe math nav noscript object script select style svg template"
_INLINE = """a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter q rp rt ruby s
samp small span strike strong sub sup time tt u var wbr"""
DROPPED, INLINE = frozenset(_DROPPED.split()), frozenset(_INLINE.split())
"""Elements that are not the text of a document, and those within a paragraph; all others end it."""
MAIN = ("//main", "//*[@role='main']", "//article")
"""Where to look for the text of a page, before all of its body."""
MARKS = frozenset(("headerlink", "anchor", "header-anchor", "anchorjs-link", "mw-editsection"))
"""Classes of the links that tools put into headings."""


def parts_of(text: str) -> list[Part]:
    r"""The headings and the plain text of a page, or of a piece of one.

    The text is the element ``main``, the one whose role is ``main``, or ``article``, if there is just one; else the
    body. Navigation, forms, scripts and the like are left out.

    >>> parts_of("<nav>Home</nav><h1>One<a class=headerlink>#</a></h1><p>A <b>b</b>.<pre>c\n  d</pre>")
    [Part(level=1, title='One', text='A b.\n\nc\n  d')]
    """
    try:
        from lxml import etree, html
    except ImportError as error:
        raise missing("HTML", "lxml") from error
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    if not text.strip():
        return []
    root = etree.fromstring(text.encode("utf-8", "replace"), parser=parser)
    if root is None:  # nothing but comments
        return []
    main = next((matches[0] for matches in map(root.xpath, MAIN) if len(matches) == 1), root)
    walk = _Walk()
    for event, element in etree.iterwalk(main, events=("start", "end")):
        if event == "start":
            walk.start(element.tag, element.get("class") or "", element.text or "")
        else:
            walk.end(element.tag, "" if element is main else element.tail or "")
    return walk.done()


class _Walk:
    """Text of elements as they begin and end; ``skipped`` counts the open elements that are left out."""

    def __init__(self) -> None:
        self.parts = Parts()
        self.pieces: list[str] = []
        self.heading = self.skipped = self.pre = 0

    def start(self, tag: str, classes: str, text: str) -> None:
        if self.skipped or tag in DROPPED or not MARKS.isdisjoint(classes.split()):
            self.skipped += 1
            return
        if _heading(tag):
            self.flush()
            self.heading = _heading(tag)
        elif tag == "br":
            self.pieces.append("\n")
        elif tag not in INLINE and not self.heading:
            self.flush()
        self.pre += tag == "pre"
        self.add(text)

    def end(self, tag: str, tail: str) -> None:
        if self.skipped:
            self.skipped -= 1
        elif _heading(tag) == self.heading > 0:
            self.parts.heading(self.heading, "".join(self.pieces))
            self.pieces, self.heading = [], 0
        elif tag not in INLINE and tag != "br" and not self.heading:
            self.flush()
        if not self.skipped:
            self.pre -= tag == "pre"
            self.add(tail)

    def add(self, text: str) -> None:
        self.pieces.append(text if self.pre else flowing(text.replace("\n", " ")))

    def flush(self) -> None:
        text = "".join(self.pieces)
        self.parts.paragraph(f"\n{text}" if self.pre else text)
        self.pieces = []

    def done(self) -> list[Part]:
        self.flush()
        return self.parts.done()


def _heading(tag: str) -> int:
    """The level of a heading, 0 for other elements."""
    return int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else 0
