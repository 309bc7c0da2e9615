"""Scripts and languages: what a critic claims to read, what a text is written in, and the language of each document."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

import numpy as np

from momus.errors import MissingExtraError, UsageError
from momus.text.corpus import Corpus
from momus.text.counting import joined
from momus.version import extra

SHARED = ("Zyyy", "Zinh")
"""Codes of letters that belong to several scripts, such as the mark of long vowels in kana."""
READ = 2000
"""Characters of a document whose letters are counted, and whose language is detected."""


@dataclass(frozen=True)
class Scripts:
    """A set of scripts by their ISO 15924 codes: those listed, or all but those listed; ``label`` names it shorter.

    >>> "Thai" in SPACED, "Latn" in SPACED, "Thai" in WORDS, "Java" in WORDS, "Java" in ANY
    (False, True, True, False, True)
    """

    codes: tuple[str, ...] = ()
    all_but: bool = False
    label: str = field(default="", compare=False)

    def __contains__(self, code: str) -> bool:
        return (code in self.codes) != self.all_but

    def words(self) -> str:
        """Name the scripts.

        >>> ANY.words(), Scripts(("Latn", "Grek")).words(), Scripts(("Thai",), all_but=True).words()
        ('any script', 'Latin and Greek', 'any script but Thai')
        """
        if self.label:
            return self.label
        names = joined([script_name(code) for code in self.codes])
        return names if not self.all_but else "any script but " + names if names else "any script"


DICTIONARIES = ("Hani", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr")
"""Scripts that write words together and whose words ICU finds in dictionaries."""
UNDIVIDED = ("Bali", "Java", "Lana", "Tale", "Talu", "Tavt", "Cham", "Tibt")
"""Scripts that write words (or all but syllables) together, and have no dictionary in ICU."""
ANY = Scripts(all_but=True)
WORDS = Scripts(UNDIVIDED, all_but=True)
"""Scripts whose words the tokenizer ``words`` finds."""
SPACED = Scripts((*DICTIONARIES, *UNDIVIDED), all_but=True, label="any script with spaces between words")
"""Scripts that separate words by spaces."""


def script_counts(text: str) -> dict[str, int]:
    """Number of letters of each script in the first `READ` characters of a text.

    >>> script_counts("東京 ab")
    {'Hani': 2, 'Latn': 2}
    """
    counts: Counter[str] = Counter()
    for character, n in Counter(text[:READ]).items():
        if character.isalpha() and (code := _script(character)) not in SHARED:
            counts[code] += n
    return dict(counts)


@lru_cache(maxsize=1 << 14)
def _script(character: str) -> str:
    from fontTools import unicodedata

    return str(unicodedata.script(character))


def script_name(code: str) -> str:
    """The name of a script.

    >>> script_name("Hani"), script_name("Deva")
    ('Han', 'Devanagari')
    """
    from fontTools import unicodedata

    return str(unicodedata.script_name(code)).replace("_", " ")


SHORTEST, LONGEST = 200, 2000
"""Characters that a document needs to be identified, and those of it that are read."""


def identify(text: str) -> str:
    """The ISO 639-1 code of the language of a text.

    Identification is naive Bayes over byte n-grams (Lui & Baldwin 2012); code or names are often assigned to a language
    at random.

    >>> identify("The rain had stopped by the time they reached the house on the hill.")
    'en'
    """
    return str(identifier().classify(text)[0])


PIECE = 400
"""Characters of the pieces of documents of which `only_language` identifies the language."""


def only_language(corpus: Corpus, documents: int = 100, others: float = 0.02) -> str:
    """The language of a text without others; empty if more than a share of its pieces differ, or there are none.

    Pieces are the beginnings and the ends of the documents with the smallest hashes, so that their order says nothing.

    >>> story = "The rain had stopped by the time they reached the house on the hill. " * 10
    >>> german = "Der Regen hatte gerade aufgehört. " * 20
    >>> only_language(Corpus.from_texts([story])), only_language(Corpus.from_texts([german + story]))
    ('en', '')
    """
    rows = np.argsort(corpus.hashes, kind="stable")[:documents]
    texts = [
        t for s in corpus.take(np.sort(rows)).table["sections"].to_pylist() if len(t := "\n".join(s or ())) >= SHORTEST
    ]
    codes = Counter(identify(piece) for t in texts for piece in (t[:PIECE], t[-PIECE:]))
    ((main, n),) = codes.most_common(1) or [("", 0)]
    return main if n and n >= (1 - others) * codes.total() else ""


@cache
def identifier() -> Any:
    """The identifier, whose model takes half a second to load, and 80 MB until ``identifier.cache_clear()``."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


FIELD = "language"
"""The metadata field that holds a document's language; `Corpus.languages` reads it."""
DETECT, OF_FIELD = "detect", "field:"
_CODE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]+)*", re.IGNORECASE)


def check_language(language: str | None) -> None:
    """Refuse what is neither a language code, nor ``field:NAME``, nor ``detect``.

    >>> check_language("zh-Hans"), check_language("field:lang"), check_language("detect")
    (None, None, None)
    """
    if language is None or language == DETECT:
        return
    if language.startswith(OF_FIELD) and language != OF_FIELD:
        return
    if not _CODE.fullmatch(language):
        raise UsageError(
            f"language is {language!r}",
            hint="give a code such as de or zh, field:NAME for the field that holds each document's code, or detect",
        )


def kept_field(language: str | None) -> tuple[str, ...]:
    """The field that must be kept while documents are read, to know their languages.

    >>> kept_field("field:meta.lang"), kept_field("de")
    (('meta.lang',), ())
    """
    return (language.removeprefix(OF_FIELD),) if language is not None and language.startswith(OF_FIELD) else ()


def with_languages(corpus: Corpus, language: str | None) -> Corpus:
    """Return the corpus with each document's language in its field ``language``; itself for None.

    Raises
    ------
    UsageError
        The language is none of those of `check_language`.
    MissingExtraError
        Languages are to be detected, and ``lingua`` is not installed.

    >>> with_languages(Corpus.from_texts(["Guten Tag", "Auf Wiedersehen"]), "de-AT").languages
    ['de', 'de']
    """
    check_language(language)
    if language is None:
        return corpus
    codes: list[str | None]
    if language == DETECT:
        # None where `lingua` decides for none
        languages = [_detector().detect_language_of(document.text[:READ]) for document in corpus]
        codes = [None if language is None else language.iso_code_639_1.name.lower() for language in languages]
    elif language.startswith(OF_FIELD):
        codes = corpus.field(language.removeprefix(OF_FIELD))
    else:
        codes = [language] * len(corpus)
    return corpus.with_field(FIELD, [code or None for code in codes])


@cache
def _detector() -> Any:
    """The detector, with trigram models alone: all models of its 75 languages take about a gigabyte."""
    try:
        from lingua import LanguageDetectorBuilder
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "detecting languages needs the module 'lingua', which is not installed", extra("detect")
        ) from error
    return LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build()
