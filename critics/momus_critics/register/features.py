"""Grammatical features of English by words and endings, after Biber (1988, appendix II), without a tagger.

Where Biber uses tags, a list of words or an ending stands in: past tense is a list of irregular forms and ``-ed``, a
passive is a form of *be* with a participle within two words. That misses some and takes some too many, in real and in
generated text alike.
"""

from __future__ import annotations

import tomllib
from functools import partial
from importlib.resources import files

import numpy as np

from momus.numeric.ragged import distinct, owners_of
from momus.numeric.types import Bools, Floats, Ints
from momus_critics.prose.reading import Prose

with (files("momus_critics.register") / "words.toml").open("rb") as _file:
    LISTS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in tomllib.load(_file).items()}
"""Features that a token has if it is one of these words, in lower case, or a contraction with one of them."""
PATTERNS = (
    "existential there",
    "contractions",
    "words in -ed",
    "words in -ing",
    "adverbs in -ly",
    "nominalisations",
    "adjectives by ending",
    "passives",
    "by after a participle",
    "perfects",
    "infinitives",
    "stranded prepositions",
    "and before a clause",
    "that after a verb",
    "which after comma",
    "-ing after comma",
)
"""Features that a token has by its ending or its neighbours."""
FEATURES = (*LISTS, *PATTERNS, "letters per word", "different words")
RATES = len(FEATURES) - 2
"""The last two are no rates per 1,000 words."""
PARTICIPLES = frozenset(("made", "said", "done", "known", "put", "set", "told", "sent"))
CONTRACTED = ("n't", "'m", "'re", "'ve", "'ll", "'d")
SHORTENED = frozenset(("it", "he", "she", "that", "there", "here", "what", "who", "where", "when", "how", "let"))
"""Words behind which *'s* is no possessive."""
STEMS = {"ca": "can", "wo": "will", "sha": "shall"}
"""What the negated forms of some verbs begin with, and the verbs."""
NOMINAL = ("tion", "tions", "ment", "ments", "ness", "nesses", "ity", "ities", "ance", "ence", "ship", "hood", "ism")
ADJECTIVES = ("ful", "ous", "ive", "ible", "able", "ical", "less", "ant", "ary")
WINDOW = 100
"""Words of the stretches in which different words are counted."""


def count_features(prose: Prose) -> tuple[Floats, Floats]:
    """Features of n documents.

    Returns
    -------
    values
        (n, F) rates per 1,000 words, but for the mean length of words and the share of words that are new to their
        stretch of `WINDOW` words.
    words
        (n,) number of words.
    """
    n, owners = len(prose), owners_of(prose.offsets)
    marks = _marked(prose)
    words = count_words(prose)
    least = np.maximum(words, 1.0)
    counts = [1000 * np.bincount(owners, marks[name], n) / least for name in FEATURES[:RATES]]
    lengths = np.array([len(w) for w in prose.words], dtype=np.float64)[prose.ids]
    letters = np.bincount(owners, np.where(prose.alphabetic, lengths, 0.0), n) / least
    return np.column_stack([*counts, letters, _different(prose, owners, n)]), words


def count_words(prose: Prose) -> Floats:
    """Number of words of each document, (n,)."""
    return np.bincount(owners_of(prose.offsets), prose.alphabetic, len(prose)).astype(np.float64)


def parts(word: str) -> tuple[str, ...]:
    """The words of a contraction in lower case, none of another word.

    >>> parts("can’t"), parts("i'm"), parts("it's"), parts("ann's")
    (('can', "n't"), ('i', "'m"), ('it', "'s"), ())
    """
    word = word.replace("’", "'")
    for ending in CONTRACTED:
        if word.endswith(ending) and len(word) > len(ending):
            stem = word.removesuffix(ending)
            return STEMS.get(stem, stem), ending
    stem = word.removesuffix("'s")
    return (stem, "'s") if stem != word and stem in SHORTENED else ()


def _marked(prose: Prose) -> dict[str, Bools]:
    """Whether each token has each feature, (N,) by name."""
    any_of, ends = prose.is_any, partial(_ends, prose)
    owners = owners_of(prose.offsets)
    same = owners[1:] == owners[:-1]  # (N − 1,): the last word of a document is not followed by the next one's first

    def before(x: Bools) -> Bools:
        return np.concatenate([[False], x[:-1] & same]) if len(x) else x

    def after(x: Bools) -> Bools:
        return np.concatenate([x[1:] & same, [False]]) if len(x) else x

    contracted = {i: words for i, word in enumerate(prose.words) if (words := parts(word))}
    marks = {
        name: any_of(words) | np.isin(prose.ids, [i for i, held in contracted.items() if not words.isdisjoint(held)])
        for name, words in LISTS.items()
    }
    be, have = marks["forms of be"], marks["forms of have"]
    participle = ends(("ed", "en", "wn", "ught"), 4) | any_of(PARTICIPLES)
    comma, stop = any_of(frozenset(",")), any_of(frozenset(".?!,;"))
    pronoun = marks["first person"] | marks["third person"] | marks["second person"] | marks["pronoun it"]
    marks |= {
        "existential there": any_of(frozenset(("there",))) & after(be),
        "contractions": np.isin(prose.ids, list(contracted)),
        "words in -ed": ends(("ed",), 4),
        "words in -ing": ends(("ing",), 5),
        "adverbs in -ly": ends(("ly",), 5),
        "nominalisations": ends(NOMINAL, 6),
        "adjectives by ending": ends(ADJECTIVES, 6),
        "passives": participle & (before(be) | before(before(be))),
        "by after a participle": any_of(frozenset(("by",))) & before(participle),
        "perfects": (participle | any_of(frozenset(("been", "had")))) & (before(have) | before(before(have))),
        "infinitives": any_of(frozenset(("to",))) & after(prose.alphabetic) & ~after(marks["articles"] | pronoun),
        "stranded prepositions": marks["prepositions"] & after(stop),
        "and before a clause": marks["and"] & (before(comma) | after(pronoun)),
        "that after a verb": any_of(frozenset(("that",))) & before(marks["private verbs"] | marks["public verbs"]),
        "which after comma": any_of(frozenset(("which",))) & before(comma),
        "-ing after comma": ends(("ing",), 5) & before(comma),
    }
    return marks


def _ends(prose: Prose, endings: tuple[str, ...], least: int) -> Bools:
    """Whether each token ends in one of some endings and has at least so many letters, (N,)."""
    fits = (len(w) >= least and w.endswith(endings) for w in prose.words)
    return np.fromiter(fits, bool, len(prose.words))[prose.ids]


def _different(prose: Prose, owners: Ints, n: int) -> Floats:
    """Share of words that did not yet occur in their stretch of `WINDOW` words, whole stretches only; (n,)."""
    held = np.flatnonzero(prose.alphabetic)
    owner, ids = owners[held], prose.ids[held]
    first = np.searchsorted(owner, np.arange(n + 1))
    place = np.arange(len(held)) - first[owner]
    stretch = place // WINDOW  # (words,)
    lengths = np.diff(first)
    # a document shorter than a stretch is one of its own length
    whole = (stretch < np.maximum(lengths // WINDOW, 1)[owner]) if len(held) else np.zeros(0, dtype=bool)
    # a word counts once in each stretch of a document
    new = distinct(owner[whole], stretch[whole], ids[whole])[0][0]
    total = np.bincount(owner[whole], minlength=n)
    return np.asarray(np.bincount(new, minlength=n) / np.maximum(total, 1))
