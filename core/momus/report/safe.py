"""Text from models is hostile: what goes into a page is cleaned here, and escaped by the template."""

from __future__ import annotations

import unicodedata

CLIP = 400
_KEPT = {"\n", "\t"}


def clean(text: object, clip: int = CLIP) -> str:
    """Drop control, bidirectional and other format characters, which break XML or disguise text; clip long text.

    >>> clean("a\\x00b\\u202ec" + "x" * 500, clip=6)
    'abcxx…'
    """
    raw = str(text)[: 4 * clip]
    kept = "".join(c for c in raw if c in _KEPT or unicodedata.category(c)[0] != "C")
    return kept if len(kept) <= clip else kept[: clip - 1] + "…"


def anchor(*parts: object) -> str:
    """Make an id for HTML: letters, digits and hyphens only.

    >>> anchor("critic", 'rank "x"')
    'critic-rank--x-'
    """
    return "-".join("".join(c if c.isascii() and c.isalnum() else "-" for c in str(p)[:60]) for p in parts)
