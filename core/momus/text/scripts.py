"""Scripts: what a critic claims to read, and what the letters of a text are written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from momus.text.corpus import Corpus
from momus.text.counting import joined

SHARED = ("Zyyy", "Zinh")
"""Codes of letters that belong to several scripts, such as the mark of long vowels in kana."""
SAMPLE, READ = 200, 2000
"""Documents of a text whose letters are counted, and characters of each."""


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


@dataclass(frozen=True)
class ScriptShares:
    """Shares of scripts among the letters of a sample of documents, the most frequent first."""

    shares: Sequence[tuple[str, float]] = ()

    def outside(self, claimed: Scripts) -> float:
        """Share of letters in scripts that are not claimed."""
        return sum(share for code, share in self.shares if code not in claimed)

    def main_outside(self, claimed: Scripts) -> str:
        """The most frequent script that is not claimed; empty if all are."""
        return next((code for code, _ in self.shares if code not in claimed), "")


def scripts_of(corpus: Corpus) -> ScriptShares:
    """Count the scripts of the letters of a sample of documents, which depends on their texts and not on their order.

    >>> scripts_of(Corpus.from_texts(["Москва", "東京 ab"])).shares
    (('Cyrl', 0.6), ('Hani', 0.2), ('Latn', 0.2))
    """
    chosen = np.argsort(corpus.hashes, kind="stable")[:SAMPLE]
    counts: Counter[str] = Counter()
    for row in chosen:
        for character, n in Counter(corpus[int(row)].text[:READ]).items():
            if character.isalpha() and (code := _script(character)) not in SHARED:
                counts[code] += n
    total = counts.total()
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ScriptShares(tuple((code, n / total) for code, n in ranked))


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
