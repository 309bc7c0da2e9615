"""Limits of memory and time, in one value: sizes of documents, decompression, answers of servers, resamples.

Texts and servers are not trusted: a few kilobytes can hold gigabytes of zeros, and a server can send for ever. Every
limit has a default, a name in the error that it causes, and a way to raise it: ``--max-document``, the environment
variable ``MOMUS_LIMITS``, or `Limits` in Python.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields, replace
from typing import Self

from momus.errors import UsageError

UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
VARIABLE = "MOMUS_LIMITS"
"""Environment variable that sets limits, as ``document=200MB,ratio=1000``."""
MOST_PERMUTATIONS = 1_000_000
"""The most permutations of a test: the smallest p-value is then 1e-6."""
MOST_RESAMPLES = 100_000
"""The most resamples of a bootstrap, and splits of a calibration."""
MOST_SEED = 2**63 - 1
"""The largest random seed, and the largest signed integer of 64 bits."""


@dataclass(frozen=True)
class Limits:
    """Limits on what is read from files and servers.

    Attributes
    ----------
    document
        Bytes of one document: a line, a cell, an item of a list, a whole text file.
    file
        Bytes of one file after decompression.
    ratio
        Bytes after decompression per byte before, once ``free`` bytes have been read.
    free
        Bytes of a compressed file that are read before ``ratio`` is checked.
    answer
        Bytes of one answer of a server.
    answer_seconds
        Seconds that one answer of a server may take as a whole, however slowly it arrives.
    retry_seconds
        Seconds that one request may take with all its repetitions.

    >>> Limits(document=1000).document
    1000
    """

    document: int = 50 * 10**6
    file: int = 200 * 10**9
    ratio: int = 200
    free: int = 64 * 10**6
    answer: int = 64 * 10**6
    answer_seconds: int = 600
    retry_seconds: int = 1800

    @property
    def value(self) -> int:
        """Bytes of one JSON document that holds several records: it is parsed as a whole."""
        return 10 * self.document

    @classmethod
    def current(cls) -> Self:
        """The limits of this process: the defaults, changed by the variable ``MOMUS_LIMITS``.

        Raises
        ------
        UsageError
            The variable names no limit, or a value is not a size.
        """
        return cls().changed(os.environ.get(VARIABLE, ""))

    def changed(self, text: str) -> Self:
        """Change limits by a text such as ``document=200MB,ratio=1000``.

        >>> Limits().changed("document=2MB, ratio=1000").document
        2000000
        """
        known = [field.name for field in fields(self)]
        new: dict[str, int] = {}
        for item in filter(None, (piece.strip() for piece in text.split(","))):
            name, _, value = (piece.strip() for piece in item.partition("="))
            if name not in known:
                raise UsageError(f"{VARIABLE}: no limit {name!r}", hint=f"the limits are {', '.join(known)}")
            new[name] = parse_size(value, f"{VARIABLE}, {name}")
        return replace(self, **new)


def parse_size(text: str, place: str) -> int:
    """Parse a positive size such as ``50MB``; units are powers of ten.

    Raises
    ------
    UsageError
        The text is not a size.

    >>> parse_size("50MB", "--max-document"), parse_size("1.5 gb", ""), parse_size("7", "")
    (50000000, 1500000000, 7)
    """
    match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([a-z]{0,2})", text.strip().lower())
    size = int(float(match[1]) * UNITS[match[2]]) if match and match[2] in UNITS else 0
    if not 1 <= size <= 2**62:
        raise UsageError(f"{place}: {text!r} is not a size", hint="write a number of bytes, such as 50MB or 2GB")
    return size


def size_text(size: int) -> str:
    """Write a size as people read it.

    >>> size_text(50_000_000), size_text(1_500_000_000), size_text(999)
    ('50 MB', '1.5 GB', '999 bytes')
    """
    for unit in ("tb", "gb", "mb", "kb"):
        if size >= UNITS[unit]:
            return f"{size / UNITS[unit]:.4g} {'kB' if unit == 'kb' else unit.upper()}"
    return f"{size} bytes"
