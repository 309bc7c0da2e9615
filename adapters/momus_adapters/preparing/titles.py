"""Normalise section titles: lower case, no numbering, lemmas, and the most frequent of several spelling variants."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from momus.errors import UsageError
from momus.text.titles import normalize_title

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
        ``simplemma`` is not installed, or does not know the language.
    """
    if not language:
        return lambda word: word
    try:
        import simplemma
    except ImportError as error:
        raise UsageError(
            "lemmatising titles needs the package simplemma",
            hint="pip install 'momus[prepare]', or pass --language '' for no lemmas",
        ) from error
    try:
        simplemma.lemmatize("words", lang=language)
    except ValueError as error:
        raise UsageError(f"simplemma has no language {language!r}", hint="use a two-letter code such as en") from error
    lemmas: dict[str, str] = {}

    def lemma(word: str) -> str:
        if word not in lemmas:
            lemmas[word] = str(simplemma.lemmatize(word, lang=language)).casefold()
        return lemmas[word]

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
