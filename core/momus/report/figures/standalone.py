"""Figures of a page as files of their own, in the colours of light paper."""

from __future__ import annotations

import re

from momus.report.figures.palette import COLOURS

FONT = "system-ui,'DejaVu Sans',sans-serif"
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


def standalone(svg: str) -> str:
    r"""Give a figure of a page (`momus.report.figures.svg.draw`) what the page gives it: colours, a font, the paper.

    Raises
    ------
    KeyError
        The figure uses a colour that is not in the palette.

    >>> standalone('<svg viewBox="0 0 9 9" aria-hidden="true"><path stroke="var(--real)"/></svg>')[-47:]
    'fill="#ffffff"/><path stroke="#0a62a6"/></svg>\n'
    """
    painted = re.sub(r"var\(--([\w-]+)\)", lambda match: COLOURS[match.group(1)], svg)
    opening, _, content = painted.partition(">")
    opening = opening.replace(' aria-hidden="true"', "")
    if NAMESPACE not in opening:
        opening = opening.replace("<svg ", f"<svg {NAMESPACE} ", 1)
    style = f"<style>text{{font-family:{FONT}}}</style>"
    ground = f'<rect width="100%" height="100%" fill="{COLOURS["paper"]}"/>'
    return f"{opening}>{style}{ground}{content}\n"
