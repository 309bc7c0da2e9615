"""Words of any script: a regular expression where spaces separate words, ICU's dictionaries where nothing does.

Text is split in one of three ways:

* by `WORD` if it has neither combining marks nor a script that writes words together, or less than `MINOR` of it is
  anything but Latin, as all English text, a stray foreign word included;
* by the same expression with combining marks as parts of words (Devanagari, pointed Hebrew, decomposed Latin);
* runs of Han, kana, Thai, Lao, Khmer and Burmese script by ICU (package ``icu4py``).

ICU chooses its dictionaries by the script of the characters: its words do not depend on a language.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from typing import NamedTuple

from momus.version import extra

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_+")
"""A word, which may hold apostrophes, or a single symbol; for text without what `_Patterns.special` finds."""

UNSPACED_BEYOND = r"\U00020000-\U0003ffff\U0001b000-\U0001b16f"  # Han, kana
UNSPACED = UNSPACED_BEYOND + (
    r"\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    r"\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"  # Thai, without the currency sign and punctuation
    r"\u0e81-\u0edf"  # Lao
    r"\u1780-\u17d3\u17d7\u17dc\u17dd\u17e0-\u17e9"  # Khmer, without punctuation
    r"\u1000-\u1049\u1050-\u109d\ua9e0-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"  # Burmese, without punctuation
)
"""Letters, marks and digits of the scripts that write words together and have a dictionary in ICU, as a class."""

UNSPACED_RE2 = "[" + re.sub(r"\\[uU]([0-9a-f]+)", r"\\x{\1}", UNSPACED) + "]"
"""`UNSPACED` as Arrow's engine writes it."""

ORDINARY = re.compile(r"[^\x00-\u02ff\u2000-\u200b\u2010-\u2029\u2030-\u2065\u206a-\u20cf\u2100-\u2bff\ufe00-\ufe0f]")
"""Any character that is neither Latin nor a usual symbol: text without one is split by `WORD` at once."""

ORDINARY_RE2 = re.sub(r"\\[uU]([0-9a-f]+)", r"\\x{\1}", ORDINARY.pattern)
MINOR = 0.02
"""Share of characters that `ORDINARY` finds below which a text is split as Latin text: a name in Chinese characters in
an English document stays one token. Of 26 English sections with such strays, among 19,327, all but one had less."""

JOINERS = r"\u200c\u200d"
"""Zero-width non-joiner and joiner, which stand inside words of Persian and of Indian scripts."""
DIRECTIONS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Marks and brackets of writing direction: invisible, and no tokens."""
BREAK = r"\u200b"
"""Zero-width space, which separates words of Khmer, Thai and Burmese, and is no token beside them."""
GERESH = r"\u05f3\u05f4"
"""Geresh and gershayim, which stand inside Hebrew abbreviations as apostrophes do in English."""
OF_SYMBOLS = r"\u20d0-\u20ff\ufe00-\ufe0f"
"""Marks of symbols: variation selectors and enclosing marks stay tokens beside emoji, as they are in `WORD`."""

EXTRA = extra("languages")


BEYOND = re.compile("[\U00010000-\U0001efff\U00020000-\U0003ffff\U000e0100-\U000e01ef]")
"""Scripts beyond plane 0, most of them historic, and rare Han; not emoji."""


class _Patterns(NamedTuple):
    """Expressions with combining marks, of which Python has no class."""

    special: re.Pattern[str]
    token: re.Pattern[str]
    run: re.Pattern[str]
    character: re.Pattern[str]


@cache
def _patterns(beyond: bool) -> _Patterns:
    """Compile the expressions for text of plane 0, or with characters `BEYOND`.

    Python looks up a character of plane 0 in a table, and goes through the ranges beyond it one by one: the expressions
    without them are ten times as fast. Finding the marks takes some 20 ms, which English never needs.
    """
    marks = _marks(0x1F000 if beyond else 0x10000)
    unspaced = UNSPACED if beyond else UNSPACED.removeprefix(UNSPACED_BEYOND)
    letter, inside = rf"[^\W_{unspaced}]", rf"[{marks}{JOINERS}]"
    # letters with their marks; the two classes are disjoint, so that possessive repetition loses no match
    letters = rf"(?:{letter}++|{inside}++)*+"
    run = rf"[{unspaced}][{unspaced}{marks}{JOINERS}{OF_SYMBOLS}]*+"
    word = rf"{letter}{letters}(?:['’{GERESH}]{letter}{letters})*+"
    return _Patterns(
        special=re.compile(rf"[{unspaced}{marks}{JOINERS}{DIRECTIONS}{GERESH}]"),
        token=re.compile(rf"{run}|{word}|[^\w\s{DIRECTIONS}{BREAK}]|_+"),
        run=re.compile(rf"[{unspaced}]"),
        character=re.compile(rf".[{marks}{JOINERS}{OF_SYMBOLS}]*+", re.DOTALL),
    )


def _marks(stop: int) -> str:
    """All combining marks below a code but those of symbols, as ranges of a class."""
    of_symbols = re.compile(f"[{OF_SYMBOLS}]")
    # beyond plane 1 there are only the variation selectors of Han, in plane 14
    codes = [
        code
        for code in (*range(0x300, stop), *(range(0xE0100, 0xE01F0) if stop > 0x10000 else ()))
        if unicodedata.category(chr(code))[0] == "M" and not of_symbols.match(chr(code))
    ]
    gaps = [(a, b) for a, b in pairwise(codes) if b != a + 1]
    starts, ends = [codes[0], *(b for _, b in gaps)], [*(a for a, _ in gaps), codes[-1]]
    return "".join(rf"\U{a:08x}-\U{b:08x}" for a, b in zip(starts, ends, strict=True))


def split_words(text: str) -> list[str]:
    """Split a text of any script into words and single symbols.

    Without ``icu4py``, runs of scripts that write words together are split into single characters with their marks.

    >>> split_words("Don't panic, Arthur.")
    ["Don't", 'panic', ',', 'Arthur', '.']
    >>> split_words("हिन्दी में")
    ['हिन्दी', 'में']
    >>> split_words("在北京学习 Python 3") if has_icu() else ["在", "北京", "学习", "Python", "3"]
    ['在', '北京', '学习', 'Python', '3']
    """
    # the common case first: English needs neither marks nor ICU
    if text.isascii() or not ORDINARY.search(text):
        return WORD.findall(text)
    patterns = _patterns(bool(BEYOND.search(text)))
    if not patterns.special.search(text) or _is_minor(text):
        return WORD.findall(text)
    tokens = patterns.token.findall(text)
    is_run = patterns.run.match
    runs = [token for token in tokens if is_run(token)]
    if not runs:
        return tokens
    pieces = iter(_split_runs(runs, patterns.character))
    return [piece for token in tokens for piece in (next(pieces) if is_run(token) else (token,))]


def _is_minor(text: str) -> bool:
    """Whether a text is Latin but for strays; the lower case of Turkish İ, an i with a mark, is none."""
    return len(ORDINARY.findall(text)) < MINOR * len(text) and "i\u0307" not in text


def _split_runs(runs: list[str], character: re.Pattern[str]) -> list[list[str]]:
    """Split runs of unspaced scripts: into words by ICU, or into characters with their marks without it."""
    if not has_icu():
        return [character.findall(run) for run in runs]
    from icu4py.breakers import WordBreaker

    # one call for all runs of a text: a break iterator takes longer to make than to use, and breaks at line ends
    split: list[list[str]] = [[]]
    for piece in WordBreaker("\n".join(runs), "root"):
        if piece == "\n":
            split.append([])
        else:
            split[-1].append(piece)
    return split


@cache
def has_icu() -> bool:
    """Whether ``icu4py`` is installed."""
    return find_spec("icu4py") is not None


def icu_version() -> str:
    """The version of ICU, such as ``78.3``; empty without ``icu4py``."""
    if not has_icu():
        return ""
    import icu4py

    return str(icu4py.icu_version)
