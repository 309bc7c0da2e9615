"""Untrusted text on a terminal: control characters are shown, not obeyed.

Ids, file names and names of corpora come from other people. An escape sequence in them could clear the screen, hide
text or set the title of the window.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# all control characters but tab and line feed; line and paragraph separators; characters that reorder text; surrogates
_HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Replace control characters, except tabs and line feeds, by their escapes.

    >>> visible("a\x1b[31mb\u202ec\n")
    'a\\x1b[31mb\\u202ec\n'
    """
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def safe_console(**options: Any) -> Console:
    r"""A rich console that applies `visible` to all text that it prints; its own colours and cursor moves remain.

    Parameters
    ----------
    options
        Keyword parameters of ``rich.console.Console``.

    >>> import io
    >>> file = io.StringIO()
    >>> safe_console(file=file).print("\x1b]0;title[b]bold[/b]")
    >>> file.getvalue()
    '\\x1b]0;titlebold\n'
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class SafeConsole(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                text = segment.text
                clean = text if segment.control else visible(text)
                yield segment if clean is text else Segment(clean, segment.style)

    return SafeConsole(**options)
