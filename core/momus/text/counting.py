"""Counts in words."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "") -> str:
    """Write a number and its noun, singular for one.

    >>> counted(1, "document"), counted(1200, "document"), counted(0, "reply", "replies")
    ('1 document', '1,200 documents', '0 replies')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
