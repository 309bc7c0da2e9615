"""Filters of titled documents: clean the sections of one document, or say why it is dropped.

Titles are normalised: lower case, no numbering, lemmas, and the most frequent of several spelling variants.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from momus.arguments import arg
from momus.errors import UsageError
from momus.parameters import check_values
from momus.text.counting import counted
from momus.text.documents import Document
from momus.text.tokens import get_tokenizer
from momus.text.vocabulary import normalize_title

Lemmatizer = Callable[[str], str]

_BRITISH = (
    (re.compile(r"(?<=[a-z])our\b|(?<=[a-z])our(?=[a-z])"), "or"),
    (re.compile(r"(?<=[a-z]{2})is(?=(?:e|ed|es|ing|ation|ations|er|ers)\b)"), "iz"),
    (re.compile(r"(?<=[a-z]{2})ys(?=(?:e|ed|es|ing)\b)"), "yz"),
    (re.compile(r"(?<=[bdt])re\b"), "er"),
    (re.compile(r"(?<=gram)me\b"), ""),
    (re.compile(r"(?<=[dg])ement\b"), "ment"),
    (re.compile(r"([lpst])\1(?=(?:ed|ing|er|ers|ment)\b)"), r"\1"),
    (re.compile(r"ence\b"), "ense"),
    (re.compile(r"a?e(?=[a-z]{2})"), "e"),
    (re.compile(r"[\s'’&/-]+|\band\b"), ""),
)


def lemmatizer(language: str) -> Lemmatizer:
    """Make a lemmatizer of single words; with an empty language it returns words unchanged.

    Raises
    ------
    UsageError
        ``simplemma`` does not know the language.
    """
    if not language:
        return lambda word: word
    import simplemma

    try:
        simplemma.lemmatize("words", lang=language)
    except ValueError as error:
        raise UsageError(f"simplemma has no language {language!r}", hint="use a two-letter code such as en") from error

    @cache
    def lemma(word: str) -> str:
        return str(simplemma.lemmatize(word, lang=language)).casefold()

    return lemma


def standard_title(title: str | None, lemma: Lemmatizer) -> str:
    """Lower-case a title, strip numbering, digits and punctuation, and lemmatise every word.

    >>> standard_title("2. Test Cases:", {"cases": "case", "test": "test"}.get)
    'test case'
    """
    return " ".join(lemma(word) for word in normalize_title(title).split())


def skeleton(title: str) -> str:
    """Reduce a title to a key that its spelling variants share.

    >>> skeleton("acknowledgement") == skeleton("acknowledgment"), skeleton("set-up") == skeleton("set up")
    (True, True)
    >>> skeleton("colour modelling") == skeleton("color modeling"), skeleton("method") == skeleton("methodology")
    (True, False)
    """
    for pattern, replacement in _BRITISH:
        title = pattern.sub(replacement, title)
    return title


def spelling_variants(counts: Mapping[str, int]) -> dict[str, str]:
    """Map each title to its most frequent spelling variant, if that is another one.

    >>> spelling_variants({"acknowledgment": 5, "acknowledgement": 2, "method": 3})
    {'acknowledgement': 'acknowledgment'}
    """
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for title, n in counts.items():
        if title:
            groups[skeleton(title)][title] = n
    replacements = {}
    for group in groups.values():
        best = min(group, key=lambda t: (-group[t], t))
        replacements.update({t: best for t in group if t != best})
    return replacements


Short = Literal["keep", "merge", "drop", "document"]
"""What becomes of a short section, see `Filters`."""
APPARATUS = ("see also", "external link", "reference", "further reading", "note", "source")


@dataclass(frozen=True)
class Filters:
    """Conditions that sections and documents must meet.

    Attributes
    ----------
    least_sections
        Smallest number of sections of a document, not counting apparatus (3; 4 in the paper's Wikipedia).
    fewest_tokens
        A section of fewer word tokens is short.
    short
        What becomes of a short section. ``keep``: it stays, and the document's field ``short_sections`` holds its
        number, from 0. ``merge``: its text is added to the section before it (the first: to the next one), and its
        title is lost. ``drop``: it is left out. ``document``: the whole document is dropped.
    most_tokens
        Drop documents with a section of more word tokens; None for no bound.
    least_documents
        Drop documents with a title that occurs in fewer documents than this.
    language
        Language in which titles are lemmatised; empty for no lemmas.
    apparatus
        Titles (as lemmas) of sections to drop.

    Raises
    ------
    UsageError
        ``short`` is none of the four.
    """

    least_sections: int = 3
    fewest_tokens: int = 30
    most_tokens: int | None = None
    least_documents: int = 1
    language: str = "en"
    apparatus: tuple[str, ...] = APPARATUS
    short: Short = "keep"

    def __post_init__(self) -> None:
        check_values(type(self), {"short": self.short})

    @classmethod
    def published(cls, least_sections: int = 3, language: str = "en") -> Filters:
        """The filters of Deng et al. (2022, appendix E): a short, a long or a rare section drops its document.

        >>> Filters.published().short, Filters.published().most_tokens
        ('document', 2000)
        """
        return cls(least_sections, most_tokens=2000, least_documents=5, language=language, short="document")


@dataclass
class PreparedTexts:
    """Counts of documents, sections and titles, kept and dropped.

    Attributes
    ----------
    read, kept
        Numbers of documents.
    dropped
        Documents dropped, by reason.
    sections
        Apparatus sections dropped, by title.
    titles
        Number of kept documents that hold each title.
    merged
        The title that replaced each spelling variant.
    short
        Number of short sections, kept or not; see `Filters.short`.
    regained
        Number of documents that would be kept if one filter were off, by the option that does so. A document that
        two filters drop counts for neither; one that a filter of the second pass would still drop does count.
    """

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    sections: Counter[str] = field(default_factory=Counter)
    titles: Counter[str] = field(default_factory=Counter)
    merged: dict[str, str] = field(default_factory=dict)
    short: int = 0
    regained: Counter[str] = field(default_factory=Counter)

    def drop(self, reasons: Mapping[str, str]) -> None:
        """Count a document that is dropped, by its first reason; each has the option that would keep it, or none."""
        reason, option = next(iter(reasons.items()))
        self.dropped[reason] += 1
        if len(reasons) == 1 and option:
            self.regained[option] += 1


def clean(
    document: Document, filters: Filters, lemma: Lemmatizer, tally: PreparedTexts
) -> tuple[list[tuple[str, str]], list[int]] | None:
    """Clean the sections of a document; None if a filter drops it, as the tally counts. Rare titles are not looked at.

    Returns
    -------
    (title, text) of each section, without apparatus; and the numbers of the short ones that stay, from 0.

    >>> from momus.text.documents import Section
    >>> sections = Section("So it is.", "1. Use"), Section("b", "See also"), Section("None.", "Limits")
    >>> tally = PreparedTexts()
    >>> clean(Document("a", sections), Filters(2, fewest_tokens=2), lambda word: word, tally)
    ([('use', 'So it is.'), ('limits', 'None.')], [])
    >>> tally.sections
    Counter({'see also': 1})
    """
    if document.problem or not document.sectioned:
        tally.drop({document.problem or "no sections": ""})
        return None
    named = [(standard_title(section.title, lemma), section.text) for section in document.sections]
    sections = [(name, text) for name, text in named if name not in filters.apparatus]
    tally.sections.update(name for name, _ in named if name in filters.apparatus)
    if not any(name for name, _ in sections):
        tally.drop({"no titles": ""})
        return None
    split = get_tokenizer("words", True).split
    lengths = [len(split(text)) for _, text in sections]
    short = [i for i, n in enumerate(lengths) if n < filters.fewest_tokens]
    tally.short += len(short)
    if filters.short == "merge":
        sections = _merged(sections, short)
    elif filters.short == "drop":
        sections = [section for i, section in enumerate(sections) if i not in short]
    reasons = {}
    if len(sections) < filters.least_sections:
        reasons[f"fewer than {counted(filters.least_sections, 'section')}"] = arg("least_sections", 1)
    if short and filters.short == "document":
        reasons[f"a section of fewer than {counted(filters.fewest_tokens, 'token')}"] = arg("short", "keep")
    if filters.most_tokens is not None and max(lengths) > filters.most_tokens:
        reasons[f"a section of more than {counted(filters.most_tokens, 'token')}"] = f"a larger {arg('most_tokens')}"
    if not all(name for name, _ in sections):
        reasons["a section without a title"] = ""
    if reasons:
        tally.drop(reasons)
        return None
    return sections, short if filters.short == "keep" else []


def _merged(sections: Sequence[tuple[str, str]], short: Sequence[int]) -> list[tuple[str, str]]:
    r"""Add the text of short sections to the section before them; before the first long one, to that.

    >>> _merged([("a", "x"), ("b", "long"), ("c", "y")], [0, 2])
    [('b', 'x\n\nlong\n\ny')]
    """
    merged: list[tuple[str, str]] = []
    waiting: list[str] = []
    for i, (title, text) in enumerate(sections):
        if i not in short:
            merged.append((title, "\n\n".join([*waiting, text])))
            waiting = []
        elif merged:
            merged[-1] = (merged[-1][0], f"{merged[-1][1]}\n\n{text}")
        else:
            waiting.append(text)
    return merged
