"""Layout of texts: whether documents have line breaks, and spaces before punctuation as tokenisers leave them.

Where only one side has them, critics that read paragraphs, quotation marks or lengths find a difference in how texts
were stored, not in how they were written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from momus.arguments import arg
from momus.text.counting import documents_of, joined, percentage
from momus.text.sketches import TextSketch

APART = 0.5
"""Two texts differ in layout from this difference of shares of documents on."""
FEWEST = 10
"""Documents that the sample of each text needs."""
_SPACED = re.compile(r"[a-z] (?:[,.;!?](?= |$)|'(?:s|ll|re|ve|d|m)\b|n't\b)")
TWICE = 2
"""Spaces before punctuation count in documents that have so many; one may be a slip."""
KINDS = {"breaks": "line breaks", "spacing": "spaces before punctuation"}


@dataclass(frozen=True)
class TextLayout:
    """Shares of the sampled documents of a text with line breaks, and with spaces before punctuation."""

    corpus: str
    documents: int
    breaks: float
    spacing: float


def layout_of(sketch: TextSketch) -> TextLayout:
    """The layout of a sample of documents, by their first characters.

    >>> from momus.text.corpus import Corpus
    >>> rain = "The rain had stopped by the time they reached the house on the hill . " * 4
    >>> layout_of(TextSketch.of(Corpus.from_texts([rain, rain.replace(" .", ".")], name="x")))
    TextLayout(corpus='x', documents=2, breaks=0.0, spacing=0.5)
    """
    heads = [h for h in sketch.sampled("head") if h]
    n = max(len(heads), 1)
    breaks = sum("\n" in h.strip() for h in heads) / n
    return TextLayout(sketch.name, len(heads), breaks, sum(len(_SPACED.findall(h)) >= TWICE for h in heads) / n)


def layout_sentence(layouts: Sequence[TextLayout], axes: Mapping[str, Sequence[str]]) -> str:
    """Say which texts differ from the real one, the first, in layout, and the axes that read it; empty if none does.

    Parameters
    ----------
    axes
        By key of `KINDS`, the axes of critics that read this of the layout.
    """
    real, *others = layouts
    said = []
    for kind, name in KINDS.items():
        share = {layout.corpus: getattr(layout, kind) for layout in layouts}
        far = [
            o.corpus
            for o in others
            if min(o.documents, real.documents) >= FEWEST and abs(share[o.corpus] - share[real.corpus]) >= APART
        ]
        if far:
            shares = joined([f"{percentage(share[c], 0)} of {c}" for c in far])
            touched = f", which touches {joined(list(axes[kind]))}" if axes.get(kind) else ""
            usual = f"{percentage(share[real.corpus], 0)} of {documents_of(real.corpus)}"
            said.append(f"{shares} against {usual} have {name}{touched}")
    return (
        f"Layout differs: {'; '.join(said)}. {arg('normalise', ['whitespace'])} removes it from all texts."
        if said
        else ""
    )
