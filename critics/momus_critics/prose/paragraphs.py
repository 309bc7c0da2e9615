"""A tokenizer that keeps the borders of paragraphs as tokens."""

from __future__ import annotations

import re
from functools import lru_cache

from momus.text.tokens import Tokenizer, get_tokenizer

BREAK = "\n\n"
"""The token between two paragraphs."""
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_ENDED_LINE = re.compile(r"(?<=[.!?…:\"'”’)\]。！？])[^\S\n]*\n\s*")


def paragraphs(text: str) -> list[str]:
    r"""Cut a text into paragraphs: at blank lines, or, in a text without any, where a line ends a sentence.

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
    split = get_tokenizer(name, lower=False).split

    def with_breaks(text: str) -> list[str]:
        tokens: list[str] = []
        for paragraph in paragraphs(text):
            tokens += split(paragraph)
            tokens.append(BREAK)
        return tokens[:-1]

    return Tokenizer(f"{name}+paragraphs", with_breaks, lower=False)
