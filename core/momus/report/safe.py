"""Clean untrusted text before it goes into a page, and write pages without following links.

Generated text may be hostile, and so may a run folder that came from somebody else. Templates escape the text.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from momus.errors import StoreError

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


def replace_file(path: Path, text: str) -> None:
    """Write a file in one step, beside the old one until it is complete.

    Raises
    ------
    StoreError
        The path is a link: the file that it points to is somebody's, and is not overwritten.
    OSError
        The file cannot be written.
    """
    if path.is_symlink():
        raise StoreError(
            f"{path} is a link to {os.readlink(path)}, which is not overwritten",
            hint="remove the link, or name another file",
        )
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    # exclusive: never through a link that somebody has put there
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
