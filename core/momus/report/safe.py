"""Clean untrusted text before it goes into a page.

Generated text may be hostile, and so may a run folder that came from somebody else. Templates escape the text.
"""

from __future__ import annotations

import unicodedata

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
