"""The words of a batch, each with its sentence and its paragraph, as arrays, and critics that read them.

The tokenizer keeps the borders of paragraphs as tokens.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.critic.base import TextCritic
from momus.estimator import parametrized
from momus.numeric.ragged import Ragged, changes, kept_offsets, owners_of
from momus.numeric.types import Bools, Ints
from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer, TokenTable, get_tokenizer

BREAK = "\n\n"
"""The token between two paragraphs."""
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_ENDED_LINE = re.compile(r"(?<=[.!?…:\"'”’)\]。！？])[^\S\n]*\n\s*")
CASED = 0.005
"""Least share of words with a capital in a document that is not all in lower case."""


def paragraphs(text: str) -> list[str]:
    r"""Cut prose into paragraphs: at blank lines, or, in a text without any, where a line ends a sentence.

    Other line ends are those of a text wrapped at some width, and cut nothing.

    >>> paragraphs("One\ntwo.\n\nThree."), paragraphs("One.\nTwo\nthree.")
    (['One\ntwo.', 'Three.'], ['One.', 'Two\nthree.'])
    """
    text = text.replace("\r\n", "\n").strip()
    return (_BLANK_LINES if _BLANK_LINES.search(text) else _ENDED_LINE).split(text)


@lru_cache(maxsize=8)
def paragraph_tokenizer(name: str) -> Tokenizer:
    r"""A tokenizer by name, cased, with a token `BREAK` between paragraphs.

    >>> paragraph_tokenizer("words").split("Yes.\n\nNo")
    ['Yes', '.', '\n\n', 'No']
    """
    tokenizer = get_tokenizer(name, lower=False, reads="prose")

    def with_breaks(text: str) -> list[str]:
        tokens: list[str] = []
        for paragraph in paragraphs(text):
            tokens += tokenizer.split(paragraph)
            tokens.append(BREAK)
        return tokens[:-1]

    return Tokenizer(f"{name}+paragraphs", with_breaks, lower=False, reads=tokenizer.reads)


TERMINALS = frozenset(".!?…。！？؟।")
CLOSERS = frozenset("\"'”’»)]")
ABBREVIATIONS = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "st", "prof", "rev", "gen", "col", "capt", "lt", "sgt", "sr", "jr", "vs", "etc"),
        *("e.g", "i.e", "cf", "fig", "vol", "pp", "approx", "dept", "inc", "ltd", "co"),
    )
)
"""Words after which a full stop ends no sentence if a capital follows."""


@dataclass(frozen=True)
class Prose(Ragged):
    """N tokens of n documents.

    Attributes
    ----------
    ids
        int64 (N,): number of each token in ``words``, letter case folded.
    words
        The distinct tokens in lower case, in alphabetical order.
    offsets
        int64 (n + 1,): first token of each document.
    sentences, paragraphs
        int64 (N,): number of each token's sentence and paragraph, over all documents.
    alphabetic, capitalised
        bool (N,): whether the token begins with a letter or digit, and whether with a capital.
    codes, spelled
        int64 (N,): number of each token in ``spelled``, which keeps letter case.
    """

    ids: Ints
    words: Sequence[str]
    offsets: Ints
    sentences: Ints
    paragraphs: Ints
    alphabetic: Bools
    capitalised: Bools
    codes: Ints
    spelled: Sequence[str]

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """A 64-bit hash of each token in lower case, the same in all texts: uint64 (N,)."""
        digests = (hashlib.blake2b(w.encode("utf-8", "surrogatepass"), digest_size=8).digest() for w in self.words)
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)[self.ids]

    @cached_property
    def starts(self) -> Ints:
        """The first token of each sentence, and the end of the last one: int64 (sentences + 1,)."""
        sentences = int(self.sentences[-1]) + 1 if len(self.ids) else 0
        return np.searchsorted(self.sentences, np.arange(sentences + 1))

    def tokens(self, start: int = 0, stop: int | None = None) -> list[str]:
        """The tokens of a stretch as the text spells them."""
        return [self.spelled[i] for i in self.codes[start:stop].tolist()]

    def line(self, start: int, count: int, within: tuple[int, int], around: int) -> str:
        """A concordance line: tokens from ``start`` on between « and », so many around them ``within`` a stretch."""
        left = self.tokens(max(start - around, within[0]), start)
        right = self.tokens(start + count, min(start + count + around, within[1]))
        return " ".join([*left, f"«{' '.join(self.tokens(start, start + count))}»", *right])

    def is_any(self, words: frozenset[str]) -> Bools:
        """Whether each token is one of these words: bool (N,)."""
        # shape (V,): sets of words are small, vocabularies are not
        mask = np.zeros(len(self.words), dtype=bool)
        mask[[self._numbers[w] for w in words if w in self._numbers]] = True
        return np.asarray(mask[self.ids])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}


def read_prose(table: TokenTable) -> Prose:
    r"""Find sentences and paragraphs in tokens of `paragraph_tokenizer`.

    A sentence ends with a paragraph or section, and at ``.``, ``!``, ``?`` or ``…`` (with closing quotes and brackets)
    unless a word in lower case follows, in a document with capitals. A full stop ends none after an initial or an
    abbreviation, within a number, nor after the number of a list item.

    >>> from momus import Corpus
    >>> from momus_critics.prose.reading import paragraph_tokenizer
    >>> corpus = Corpus.from_texts(["“Who?” asked Mr. Fox. “I.”\n\nIt was 3.5 miles."])
    >>> prose = read_prose(corpus.tokens(paragraph_tokenizer("words")))
    >>> [" ".join(prose.words[i] for i in prose.ids[prose.sentences == s]) for s in range(3)]
    ['“ who ? ” asked mr . fox .', '“ i . ”', 'it was 3 . 5 miles .']
    """
    lowered, number, known = table.of_vocabulary(spellings)
    is_break = known["break"][table.ids]
    borders = np.zeros(len(is_break) + 1, dtype=np.int64)
    np.add.at(borders, table.section_offsets[1:-1], 1)
    # a paragraph begins after each break and at each section
    paragraphs = np.cumsum(is_break + borders[:-1])
    keep = ~is_break
    offsets = kept_offsets(keep, table.offsets)
    ids, paragraphs = table.ids[keep], paragraphs[keep]
    # numbers among the tokens that occur, breaks included, and among their folded words, which keep their order
    used = np.flatnonzero(np.bincount(table.ids, minlength=len(table.vocabulary)))
    folded = np.flatnonzero(np.bincount(number[used], minlength=len(lowered)))
    codes, folds = (_numbers(x, size) for x, size in ((used, len(table.vocabulary)), (folded, len(lowered))))
    of_tokens = {name: mask[ids] for name, mask in known.items()}  # (N,) each
    lower, capitalised = of_tokens["lower"], of_tokens["capitalised"]
    # in a document in lower case throughout, case does not tell sentences
    owners, n = owners_of(offsets), len(offsets) - 1
    cased = np.bincount(owners, capitalised, n) >= CASED * np.bincount(owners, lower | capitalised, n)
    ends = _sentence_ends(of_tokens, paragraphs, lower & cased[owners])
    starts = before(ends) | changes(paragraphs)
    starts[offsets[:-1][np.diff(offsets) > 0]] = True
    return Prose(
        folds[number[ids]],
        [lowered[i] for i in folded.tolist()],
        offsets,
        np.cumsum(starts) - 1,
        paragraphs,
        of_tokens["alphabetic"],
        capitalised,
        codes[ids],
        [table.vocabulary[i] for i in used.tolist()],
    )


def _numbers(chosen: Ints, size: int) -> Ints:
    """The place of each chosen number among them, by number: int64 (size,)."""
    numbers = np.zeros(size, dtype=np.int64)
    numbers[chosen] = np.arange(len(chosen))
    return numbers


_CLOSING = "".join(CLOSERS)


def _is_short(word: str) -> bool:
    """Whether a word is an abbreviation or an initial."""
    bare = word.rstrip(_CLOSING).rstrip(".").lower()
    return bare in ABBREVIATIONS or (len(bare) == 1 and bare.isalpha() and bare not in "iI")


SIGNS: Mapping[str, Callable[[str], bool]] = {
    "break": lambda w: w == BREAK,
    "alphabetic": lambda w: w[:1].isalnum(),
    "capitalised": lambda w: w[:1].isupper(),
    "lower": lambda w: w[:1].islower(),
    "closing": lambda w: all(c in CLOSERS for c in w),  # closing quotes and brackets alone
    "terminal": lambda w: w.rstrip(_CLOSING)[-1:] in TERMINALS,
    "full stop": lambda w: w.rstrip(_CLOSING)[-1:] == ".",
    "short": _is_short,
    "digits": str.isdigit,
    "alone": lambda w: w == ".",
}
"""What is known of a word by itself."""


def spellings(words: list[str]) -> tuple[Sequence[str], Ints, Mapping[str, Bools]]:
    """Look at each word of a vocabulary once.

    Returns
    -------
    The distinct words in lower case, in order; the number of each word's, int64 (V,); and which words have each of
    `SIGNS`, bool (V,).

    >>> folded, folds, known = spellings(["Dr", "dr"])
    >>> folded, folds.tolist(), known["capitalised"].tolist()
    (['dr'], [0, 0], [True, False])
    """
    lowered = [w.lower() for w in words]
    folded = sorted(set(lowered))
    number = {w: i for i, w in enumerate(folded)}
    folds = np.fromiter((number[w] for w in lowered), np.int64, len(words))
    return folded, folds, {name: np.fromiter(map(has, words), bool, len(words)) for name, has in SIGNS.items()}


def _sentence_ends(known: Mapping[str, Bools], paragraphs: Ints, lower: Bools) -> Bools:
    """Whether a sentence ends with each token, ends of paragraphs aside, and not before ``lower`` ones: bool (N,).

    ``known`` has `SIGNS` of the tokens, (N,).
    """
    closing, terminal, short, digits, alone = (known[k] for k in ("closing", "terminal", "short", "digits", "alone"))
    abbreviated = np.where(alone, before(short), short) & known["full stop"]
    numeral = alone & before(digits) & after(digits)
    marker = alone & before(digits & changes(paragraphs))  # of a numbered item
    ends = terminal & ~abbreviated & ~numeral & ~marker
    # an end moves behind the closing quotes and brackets that follow it, and behind further stops
    for _ in range(3):
        moved = after(closing | terminal) & ends & (paragraphs == np.append(paragraphs[1:], -1))
        ends = (ends & ~moved) | before(moved)
    # last: a closing quote may stand between the mark and the word in lower case
    return ends & ~after(lower)


def before(x: Bools) -> Bools:
    """The value of the token before each one; false for the first."""
    return np.concatenate([[False], x[:-1]]) if len(x) else x


def after(x: Bools) -> Bools:
    """The value of the token after each one; false for the last."""
    return np.concatenate([x[1:], [False]]) if len(x) else x


Z = TypeVar("Z")


@parametrized
class ProseCritic(TextCritic[Z], ABC):
    """A critic that reads words, sentences and paragraphs; critics with the same tokenizer share the tokens.

    Parameters
    ----------
    tokens
        Name of the tokenizer, see `momus.critic.TokenCritic`. Letter case is folded after sentences have been found.
    """

    reads = "prose"

    tokens: str = "words"

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the parameters name, with borders of paragraphs as tokens."""
        return paragraph_tokenizer(self.tokens)

    def _prose(self, batch: Corpus) -> Prose:
        """Words, sentences and paragraphs of a batch."""
        return batch.tokens(self.tokenizer).read_once(read_prose)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without tokens."""
        return ["no token" if n == 0 else None for n in self._prose(batch).lengths]
