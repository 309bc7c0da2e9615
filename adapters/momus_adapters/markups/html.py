"""HTML: headings of the main part of a page, and plain text."""

from __future__ import annotations

import re

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
    parts, pieces = Parts(), list[str]()
    heading = skipped = pre = 0  # level of the open heading; elements that are open: left out, and preformatted
    for event, element in etree.iterwalk(main, events=("start", "end")):
        tag, begins = element.tag, event == "start"
        level = int(tag[1]) if re.fullmatch("h[1-6]", tag) else 0
        if skipped or (begins and (tag in DROPPED or not MARKS.isdisjoint((element.get("class") or "").split()))):
            skipped += 1 if begins else -1
            if skipped:
                continue
        elif not begins and level == heading > 0:
            parts.heading(heading, "".join(pieces))
            pieces, heading = [], 0
        elif (begins and level) or (tag not in INLINE and tag != "br" and not heading):
            parts.paragraph(("\n" if pre else "") + "".join(pieces))
            pieces, heading = [], level if begins else heading
        pieces += ["\n"] * (begins and tag == "br")
        pre += (1 if begins else -1) * (tag == "pre")
        text = (element.text if begins else "" if element is main else element.tail) or ""
        pieces.append(text if pre else flowing(text.replace("\n", " ")))
    parts.paragraph("".join(pieces))
    return parts.done()
