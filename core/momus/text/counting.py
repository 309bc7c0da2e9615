"""Counts and shares in words."""

from __future__ import annotations

from collections.abc import Sequence


def counted(n: int, noun: str, plural: str = "") -> str:
    """Write a number and its noun, singular for one.

    >>> counted(1, "document"), counted(1200, "document"), counted(0, "reply", "replies")
    ('1 document', '1,200 documents', '0 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def text_of(name: str, words: str = "real text") -> str:
    """Words for the text that others are compared with: real text, or that of a model by its name.

    >>> text_of("real"), text_of("real", "human text"), text_of("old")
    ('real text', 'human text', 'old')
    """
    return words if name == "real" else name


def documents_of(name: str, kind: str = "human", noun: str = "documents") -> str:
    """Words for documents of the text that others are compared with.

    >>> documents_of("real"), documents_of("old", noun="blocks")
    ('human documents', 'blocks of old')
    """
    return f"{kind} {noun}" if name == "real" else f"{noun} of {name}"


def clipped(text: str, length: int) -> str:
    """The beginning of a text up to the end of a word, with an ellipsis where it is cut.

    >>> clipped("a few words more", 9), clipped("short", 9)
    ('a few …', 'short')
    """
    if len(text) <= length:
        return text
    head = text[:length]
    return f"{head[: head.rfind(' ')] if ' ' in head else head} …"


def percentage(share: float, digits: int | None = None) -> str:
    """A share in percent: to so many decimals, or to three significant digits.

    >>> percentage(0.125), percentage(0.00061), percentage(1.0), percentage(0.954, 0)
    ('12.5 %', '0.061 %', '100 %', '95 %')
    """
    if digits is not None:
        return f"{100 * share:.{digits}f} %"
    return f"{100 * share:.3g} %" if abs(share) >= 1e-6 or not share else f"{100 * share:.1g} %"


def joined(names: Sequence[str], word: str = "and") -> str:
    """Names with commas, and a word before the last.

    >>> joined(["a"]), joined(["a", "b", "c"]), joined(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
