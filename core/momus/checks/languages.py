"""Languages, scripts and layout of texts, from a sample of their documents and from metadata, and warnings about them.

Where only one side has line breaks, or spaces before punctuation as tokenisers leave them, critics that read
paragraphs, quotation marks or lengths find a difference in how texts were stored, not in how they were written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from momus.arguments import arg
from momus.critic import Critic
from momus.critic.hooks import ReadingMixin, claimed_scripts
from momus.text.corpus import Corpus
from momus.text.counting import counted, documents_of, joined, percentage
from momus.text.languages import identify, script_name
from momus.text.sketches import TextSketch
from momus.text.words import EXTRA, has_icu
from momus.version import install_command

MOST = 0.5
"""Share of letters in other scripts above which a text is not the critic's."""


Shares = Mapping[str, float]
"""By code, shares of the letters of a sample of documents, the most frequent script first."""


def scripts_of(sketch: TextSketch) -> Shares:
    """Scripts (ISO 15924) of the letters of a sample of documents, which depends on their texts and not on their order.

    >>> from momus.text.corpus import Corpus
    >>> scripts_of(TextSketch.of(Corpus.from_texts(["Москва", "東京 ab"])))
    {'Cyrl': 0.6, 'Hani': 0.2, 'Latn': 0.2}
    """
    counts: Counter[str] = Counter()
    for document in sketch.sampled("scripts"):
        counts.update(dict(document))
    total = counts.total()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {code: n / total for code, n in ranked}


def unclaimed(critic: Critic[Any], scripts: Mapping[str, Shares]) -> str:
    """Say which text has the most letters in scripts that the critic does not claim; empty if not most of its letters.

    >>> from momus.critic.registry import make_critics
    >>> unclaimed(make_critics(["coreference"])[0], {"real": {"Latn": 1.0}, "a": {"Thai": 0.9, "Latn": 0.1}})
    "90 % of the letters of 'a' are outside the scripts that it reads (Latin), most of them Thai"
    """
    claimed = claimed_scripts(critic)
    outside = {name: {c: share for c, share in of.items() if c not in claimed} for name, of in scripts.items()}
    worst = max(outside, key=lambda name: sum(outside[name].values()), default="")
    share = sum(outside[worst].values()) if worst else 0.0
    if share <= MOST:
        return ""
    return (
        f"{percentage(share, 0)} of the letters of {worst!r} are outside the scripts that it reads "
        f"({claimed.words()}), most of them {script_name(next(iter(outside[worst])))}"
    )


MORE = 0.1
"""Two texts differ in language if their shares of one language differ by more than this, and by more than chance."""
MIXED = 0.1
"""A text is mixed if documents in other languages than the most frequent one are at least this share."""


@dataclass(frozen=True)
class Languages:
    """Shares of languages (ISO 639-1 codes) among the sampled documents, the most frequent first.

    Attributes
    ----------
    documents
        Number of documents in the sample: at most 200, each of 200 characters or more.
    """

    corpus: str
    shares: Sequence[tuple[str, float]]
    documents: int

    @property
    def main(self) -> str:
        """The most frequent language; empty if no document is long enough."""
        return self.shares[0][0] if self.shares else ""

    def share(self, code: str) -> float:
        """Share of one language."""
        return dict(self.shares).get(code, 0.0)

    def differs(self, other: Languages) -> bool:
        """Whether the shares of the other text's main language differ by more than `MORE` and two standard errors."""
        if not (self.documents and other.documents):
            return False
        p, q = self.share(other.main), other.share(other.main)
        error = np.sqrt(p * (1 - p) / self.documents + q * (1 - q) / other.documents)
        return bool(abs(p - q) > MORE + 2 * error)


def languages_of(sketch: TextSketch) -> Languages:
    """Languages of a sample of documents, which depends on their texts and not on their order.

    >>> from momus.text.corpus import Corpus
    >>> stories = ["The rain had stopped by the time they reached the house on the hill. " * 4] * 3
    >>> languages_of(TextSketch.of(Corpus.from_texts(stories))).main
    'en'
    """
    codes = [identify(head) for head in sketch.sampled("head")]
    ranked = sorted(Counter(codes).items(), key=lambda item: (-item[1], item[0]))
    return Languages(sketch.name, tuple((code, n / len(codes)) for code, n in ranked), len(codes))


def language_warnings(languages: Mapping[str, Languages], real: str) -> list[str]:
    """One warning for each text that is not in the languages of the real one."""
    warnings = []
    for text in languages.values():
        main = languages[real].main
        if text.differs(languages[real]):
            warnings.append(
                f"Only {percentage(text.share(main), 0)} of {text.documents:,} sampled documents of "
                f"{text.corpus!r} are in {main!r}, the main language of {real!r} "
                f"({percentage(languages[real].share(main), 0)}); most are in {text.main!r}: differences may be "
                "those of languages."
            )
    return warnings


def language_warning(critic: Critic[Any], real: Corpus, text: Languages | None) -> str:
    """Say that a critic reads the real text in another language than its main one; empty if it does not."""
    assumed = critic.assumed_language(real) if isinstance(critic, ReadingMixin) else ""
    if not assumed or text is None or not text.main or text.main == assumed:
        return ""
    return (
        f"Critic {critic.name!r} reads the texts as {assumed!r}, while {percentage(text.share(text.main), 0)} of "
        f"{text.documents:,} sampled documents of {text.corpus!r} are in {text.main!r}: give "
        f"{arg('language', text.main)}, or its parameters."
    )


def mixture_note(sketch: TextSketch) -> str:
    """Say which languages a text with several has by its metadata, and how many documents have none; else empty.

    >>> from momus.text.corpus import Corpus
    >>> mixture_note(TextSketch.of(Corpus.from_texts(["a", "b", "c"], name="x")))
    ''
    """
    counts = {row["values"]: row["counts"] for row in sketch.table["language"].value_counts().to_pylist()}
    unknown = counts.pop(None, 0)
    if not counts:
        return ""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if 1 - ranked[0][1] / len(sketch) < MIXED:
        return ""
    shares = ", ".join(f"{code!r} {percentage(n / len(sketch), 0)}" for code, n in ranked[:5])
    more = f" and {counted(len(ranked) - 5, 'other language')}" if len(ranked) > 5 else ""
    none = f"; {counted(unknown, 'document')} without a known language" if unknown else ""
    return (
        f"{sketch.name!r} is in several languages ({shares}{more}{none}): differences between texts may be those of "
        "their mixtures."
    )


def splitting_warnings(sketches: Sequence[TextSketch]) -> list[str]:
    """One warning for all documents whose words are not found without ICU."""
    if has_icu():
        return []
    lacking = [(s.name, int(s.unspaced.sum())) for s in sketches]
    parts = [f"{counted(n, 'document')} of {name!r}" for name, n in lacking if n]
    if not parts:
        return []
    return [
        f"{', '.join(parts)} hold text in Chinese, Japanese, Thai, Lao, Khmer or Burmese script, which writes words "
        f"together: critics of words leave them out. {install_command(EXTRA)} finds the words."
    ]


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
