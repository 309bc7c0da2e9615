"""Planted defects: the interface and the guarantees that all of them share, and how text is cut for them.

A defect has a strength from 0 to 1. Strength 0 keeps every document bit for bit. The places changed at a higher
strength include those changed at a lower one. The change of a document depends on the seed and the document's id, never
on the order of the corpus. Text is split losslessly into words, paragraphs or sentences and what is between them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Bools
from momus.text.corpus import Corpus, Document

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """The inputs of a change of one document, besides the document.

    Attributes
    ----------
    strength
        From 0 to 1.
    random
        A generator for this document; a change draws the same numbers from it at every strength.
    corpus
        The whole corpus, which supplies word frequencies and pieces of other documents.
    """

    strength: float
    random: np.random.Generator
    corpus: Corpus
    _once: dict[Any, Any] = field(default_factory=dict)

    def chosen(self, n: int) -> Bools:
        """Choose each of n places with probability ``strength``, bool (n,); a higher strength keeps the choices."""
        return np.asarray(self.random.random(n) < self.strength)

    def once(self, make: Callable[[Corpus], T]) -> T:
        """Compute a value from the corpus, ordered by id, once for all documents."""
        if make not in self._once:
            self._once[make] = make(by_id(self.corpus))
        return cast("T", self._once[make])


def by_id(corpus: Corpus) -> Corpus:
    """The corpus in the order of ids."""
    return corpus.take(np.argsort(np.asarray(corpus.ids, dtype=object), kind="stable"))


Plant = Callable[[Document, Setting], Document]


@dataclass(frozen=True)
class PlantedDefect:
    """A defect that can be planted.

    Attributes
    ----------
    name
        The name that users type.
    critics
        The shipped critics that examine the property of text that it damages.
    change
        Function that changes one document; the strength is the probability with which each place is chosen, if it does
        not say otherwise.
    """

    name: str
    critics: tuple[str, ...]
    change: Plant

    def plant(self, corpus: Corpus, strength: float, seed: int = 0) -> Corpus:
        """The corpus with the defect in every document.

        Parameters
        ----------
        strength
            From 0 (no change, bit for bit) to 1.

        Raises
        ------
        UsageError
            The strength is not between 0 and 1.

        >>> from momus.controls import DEFECTS
        >>> DEFECTS["symbol-inflation"].plant(Corpus.from_texts(["She saw, and left."]), 1.0)[0].text
        'She saw,, and left..'
        """
        if not 0 <= strength <= 1:
            raise UsageError(f"{self.name}: strength {strength} is not between 0 and 1", hint="0 changes nothing")
        name = f"{corpus.name}, {self.name} {strength:g}"
        if strength == 0:
            return corpus.take(range(len(corpus)), name)
        shared: dict[Any, Any] = {}

        def planted(document: Document) -> Document:
            if document.problem is not None:
                return document
            return self.change(document, Setting(strength, generator(seed, self.name, document.id), corpus, shared))

        return Corpus.from_documents(map(planted, corpus), name)


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Make a random generator from a seed and some strings.

    >>> a, b = generator(0, "x", "y").random(), generator(0, "xy", "").random()
    >>> a == b
    False
    """
    digest = hashlib.blake2b("\0".join(keys).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])


def with_texts(document: Document, texts: Sequence[str]) -> Document:
    """Copy a document with new section texts."""
    sections = tuple(replace(s, text=t) for s, t in zip(document.sections, texts, strict=True))
    return replace(document, sections=sections)


WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""A word of letters, with inner apostrophes."""
_SPACES = re.compile(r"(\s+)")
BREAKS = re.compile(r"(\n[^\S\n]*\n\s*)")
SENTENCE_ENDS = re.compile(
    r"((?<=[.!?])\s+|(?<=[.!?][\"'”’)])\s+"
    r"|(?<=[؟۔।])\s+"  # Arabic, Urdu, Hindi
    r"|(?<=[。！？])(?![”’」』）])\s*|(?<=[。！？][”’」』）])\s*)"  # Chinese and Japanese, which put no space
)


@dataclass
class Pieces:
    r"""Pieces of a text and their separators: ``separators[i]`` precedes ``texts[i]``, ``tail`` follows the last.

    >>> pieces = Pieces.of("One.  Two.\n", SENTENCE_ENDS)
    >>> pieces.texts, pieces.join(pieces.texts)
    (['One.', 'Two.'], 'One.  Two.\n')
    """

    texts: list[str]
    separators: list[str]
    tail: str

    @classmethod
    def of(cls, text: str, separator: re.Pattern[str]) -> Pieces:
        """Split at matches of a pattern with one group."""
        texts, separators, before = [], [], ""
        for i, piece in enumerate(separator.split(text)):
            if i % 2 or not piece:  # odd parts are matches of the separator
                before += piece
            else:
                texts.append(piece)
                separators.append(before)
                before = ""
        return cls(texts, separators, before)

    @classmethod
    def matching(cls, text: str, pattern: re.Pattern[str]) -> Pieces:
        """Take the matches of a pattern for the pieces, and what is between them for separators.

        >>> Pieces.matching("to be, or", WORD).separators
        ['', ' ', ', ']
        """
        texts, separators, end = [], [], 0
        for match in pattern.finditer(text):
            texts.append(match.group())
            separators.append(text[end : match.start()])
            end = match.end()
        return cls(texts, separators, text[end:])

    def join(self, texts: Sequence[str]) -> str:
        """Concatenate texts, one per piece, with the separators of the original."""
        return "".join(s + t for s, t in zip(self.separators, texts, strict=True)) + self.tail


def words(text: str) -> Pieces:
    """Split at white space.

    >>> words(" a  b").texts
    ['a', 'b']
    """
    return Pieces.of(text, _SPACES)


def passages(text: str) -> Pieces:
    r"""Split into paragraphs at blank lines; split a single paragraph into sentences.

    Sentences end at ``.``, ``!``, ``?``, and what stands for them in Arabic, Hindi, Chinese and Japanese.

    >>> passages("One. Two.").texts, passages("One. Two.\n\nThree.").texts
    (['One.', 'Two.'], ['One. Two.', 'Three.'])
    >>> passages("他说：“好吗？”是。").texts, passages("यह है। वह है।").texts
    (['他说：“好吗？”', '是。'], ['यह है।', 'वह है।'])
    """
    paragraphs = Pieces.of(text, BREAKS)
    return paragraphs if len(paragraphs.texts) > 1 else Pieces.of(text, SENTENCE_ENDS)


def document_words(document: Document) -> list[Pieces]:
    """The words of each section."""
    return [words(s.text) for s in document.sections]


def edited(
    document: Document, sections: Iterable[Pieces], change: Callable[[list[str]], Sequence[str | None]]
) -> Document:
    """Change the pieces of each section: ``change`` gives each its new text, or None if it stays."""
    texts = []
    for pieces in sections:
        changed = zip(pieces.texts, change(pieces.texts), strict=True)
        texts.append(pieces.join([old if new is None else new for old, new in changed]))
    return with_texts(document, texts)


def frequencies(corpus: Corpus) -> list[tuple[str, int]]:
    """Words of letters in lower case with their counts, the most frequent first, ties in alphabetical order.

    >>> frequencies(Corpus.from_texts(["A b a", "c b a"]))
    [('a', 3), ('b', 2), ('c', 1)]
    """
    counts = Counter(w.lower() for text in corpus.section_texts.to_pylist() for w in WORD.findall(text))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def cased(word: str, like: str) -> str:
    """Give a word the case of another: capitals, an initial capital, or neither.

    >>> cased("she", "He"), cased("she", "HE"), cased("a", "I")
    ('She', 'SHE', 'A')
    """
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
