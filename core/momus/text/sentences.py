"""Sentences by ICU, in any language that marks their ends."""

from __future__ import annotations

from itertools import pairwise

from momus.errors import MissingExtraError
from momus.text.words import EXTRA, has_icu

OPENING = "“‘「『（《([{"


def split_sentences(text: str, language: str | None = None) -> list[str]:
    r"""Split a text into sentences by ICU's rules (Unicode Annex 29); the white space after each belongs to it.

    Where no space stands before an opening quotation mark, as in Chinese, ICU puts the mark at the end of the sentence
    before it: it is moved to the sentence that it opens. Thai and Lao do not mark ends of sentences: a line is one
    sentence there. Abbreviations (``Dr. Smith``) end a sentence.

    Parameters
    ----------
    language
        The language of the text, ISO 639-1: a semicolon ends questions in Greek (``el``).

    Raises
    ------
    MissingExtraError
        ``icu4py`` is not installed.

    >>> split_sentences("One. Two! Three?") if has_icu() else ["One. ", "Two! ", "Three?"]
    ['One. ', 'Two! ', 'Three?']
    """
    if not has_icu():
        raise MissingExtraError("sentences need the module 'icu4py', which is not installed", EXTRA)
    from icu4py.breakers import SentenceBreaker

    valid = text.encode("utf-8", "replace").decode()
    pieces = list(SentenceBreaker(valid, language or "root"))
    for i, (piece, _) in enumerate(pairwise(pieces)):
        bare = piece.rstrip(OPENING)
        if len(bare) < len(piece) and bare and not bare[-1].isspace():
            pieces[i], pieces[i + 1] = bare, piece[len(bare) :] + pieces[i + 1]
    return pieces
