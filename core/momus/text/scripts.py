"""Scripts and languages: what a critic claims to read, and what a text is written in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from momus.text.counting import joined

SHARED = ("Zyyy", "Zinh")
"""Codes of letters that belong to several scripts, such as the mark of long vowels in kana."""
READ = 2000
"""Characters of a document whose letters are counted."""


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


@cache
def identifier() -> Any:
    """The identifier, whose model takes half a second to load, and 80 MB until ``identifier.cache_clear()``."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)
