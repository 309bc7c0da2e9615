"""Clean untrusted text before it goes into a page, a terminal or a spreadsheet.

Generated text may be hostile, and so may a run folder that came from somebody else. Templates escape the text.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

from momus.files import FORMULA

CLIP = 400
"""Default length of clipped text, in characters."""
_ALLOWED_CONTROLS = {"\n", "\t"}


def clean(text: object, clip: int = CLIP) -> str:
    r"""Remove control, bidirectional and other format characters, which break XML or disguise text; clip long text.

    >>> clean("a\x00b\u202ec" + "x" * 500, clip=6)
    'abcxx…'
    """
    raw = str(text)[: 4 * clip]
    # printable text has no such characters: most labels and numbers need no look at each of theirs
    cleaned = (
        raw
        if raw.isprintable()
        else "".join(c for c in raw if c in _ALLOWED_CONTROLS or unicodedata.category(c)[0] != "C")
    )
    return cleaned if len(cleaned) <= clip else cleaned[: clip - 1] + "…"


def one_line(text: object, clip: int = 2000) -> str:
    r"""Text without control characters and line breaks.

    >>> one_line("a\n\x1b[31m b")
    'a [31m b'
    """
    return " ".join(clean(text, clip).split())


def anchor(*parts: object) -> str:
    """Build an HTML id from letters, digits and hyphens only.

    >>> anchor("critic", 'rank "x"')
    'critic-rank--x-'
    """
    return "-".join("".join(c if c.isascii() and c.isalnum() else "-" for c in str(p)[:60]) for p in parts)


def csv_text(columns: Sequence[object], rows: Iterable[Sequence[object]], digits: int = 6) -> str:
    """Write rows as CSV; missing values are empty.

    Texts that a spreadsheet would run as formulas get an apostrophe in front. Numbers below
    1,000 have ``digits`` significant digits.

    >>> print(csv_text(("a", "b"), [(1.5, "=1+1"), (None, "x,y")]), end="")
    a,b
    1.5,'=1+1
    ,"x,y"
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_cell(c, digits) for c in columns])
    writer.writerows([_cell(value, digits) for value in row] for row in rows)
    return buffer.getvalue()


def _cell(value: object, digits: int) -> object:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{digits if abs(value) < 1000 else 6}g}"
    if isinstance(value, int):
        return value
    text = clean(value)
    return "'" + text if re.match(FORMULA, text) else text
