"""Cutting text so that it can be put together again, bit for bit: words, paragraphs, sentences, and what is between."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from momus.text.corpus import Corpus, Document

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""A word of letters, with inner apostrophes."""
_SPACES = re.compile(r"(\s+)")
_BREAKS = re.compile(r"(\n[^\S\n]*\n\s*)")
_SENTENCE_ENDS = re.compile(r"((?<=[.!?])\s+|(?<=[.!?][\"'”’)])\s+)")


@dataclass
class Pieces:
    """Pieces of a text with the separators between them: ``separators[i]`` goes before ``texts[i]``.

    >>> pieces = Pieces.of("One.  Two.\\n", _SENTENCE_ENDS)
    >>> pieces.texts, pieces.join(pieces.texts)
    (['One.', 'Two.'], 'One.  Two.\\n')
    """

    texts: list[str]
    separators: list[str]
    tail: str

    @classmethod
    def of(cls, text: str, separator: re.Pattern[str]) -> Pieces:
        """Cut at matches of a pattern with one group."""
        texts, separators, before = [], [], ""
        for i, part in enumerate(separator.split(text)):
            if i % 2 or not part:
                before += part
            else:
                texts.append(part)
                separators.append(before)
                before = ""
        return cls(texts, separators, before)

    def join(self, texts: Sequence[str]) -> str:
        """Put as many texts together as there are pieces."""
        return "".join(s + t for s, t in zip(self.separators, texts, strict=True)) + self.tail


def words(text: str) -> Pieces:
    """Cut at white space.

    >>> words(" a  b").texts
    ['a', 'b']
    """
    return Pieces.of(text, _SPACES)


def passages(text: str) -> Pieces:
    """Cut into paragraphs at blank lines; a text of one paragraph into sentences at ``.``, ``!`` and ``?``.

    >>> passages("One. Two.").texts, passages("One. Two.\\n\\nThree.").texts
    (['One.', 'Two.'], ['One. Two.', 'Three.'])
    """
    found = Pieces.of(text, _BREAKS)
    return found if len(found.texts) > 1 else Pieces.of(text, _SENTENCE_ENDS)


def document_words(document: Document) -> list[Pieces]:
    """The words of each section."""
    return [words(s.text) for s in document.sections]


def common_words(corpus: Corpus, n: int) -> tuple[list[str], list[float]]:
    """The n most frequent words of letters in lower case, with their shares (ties in alphabetical order).

    >>> common_words(Corpus.from_texts(["A b a", "c b a"]), 2)
    (['a', 'b'], [0.6, 0.4])
    """
    top = ranked(frequencies(corpus))[:n]
    total = sum(c for _, c in top) or 1
    return [w for w, _ in top], [c / total for _, c in top]


def frequencies(corpus: Corpus) -> Counter[str]:
    """How often each word of letters occurs, in lower case."""
    counts: Counter[str] = Counter()
    for text in corpus.section_texts.to_pylist():
        counts.update(w.lower() for w in WORD.findall(text))
    return counts


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """Words from the most to the least frequent, ties in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def cased(word: str, like: str) -> str:
    """Write a word with a capital where another has one.

    >>> cased("she", "He"), cased("she", "HE"), cased("a", "I")
    ('She', 'SHE', 'A')
    """
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
