"""Split text losslessly into words, paragraphs or sentences and the separators between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from momus.controls.planting import Changed, with_texts
from momus.text.corpus import Corpus, Document

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
) -> Changed:
    """Change the pieces of each section: ``change`` gives each its new text, or None if it stays."""
    texts, places, before = [], [], 0
    for pieces in sections:
        new = change(pieces.texts)
        texts.append(pieces.join([old if text is None else text for old, text in zip(pieces.texts, new, strict=True)]))
        places += [before + i for i, text in enumerate(new) if text is not None]
        before += len(pieces.texts)
    return with_texts(document, texts), places


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
