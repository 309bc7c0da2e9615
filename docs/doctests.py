"""Doctests as code: docstrings here put them into the text, where Markdown would take ``>>>`` for quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Fence the doctests of a docstring before it is rendered."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    r"""Fence runs of lines that begin with ``>>>`` and end with a blank line; after a section, open ``Examples``.

    >>> fenced("Add.\n\n>>> 1 + 1\n2\n\nMore.")
    'Add.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nMore.'
    >>> fenced("Add.\n\nRaises\n------\nError\n    Always.\n\n>>> 1 + 1\n2").splitlines()[-5:]
    ['', 'Examples', '--------', '>>> 1 + 1', '2']
    """
    lines: list[str] = []
    inside = in_section = False
    for line in text.splitlines():
        if re.fullmatch(r"-{3,}", line):
            in_section = True
        if not inside and line.startswith(">>>"):
            if in_section and "Examples" not in lines:
                lines += ["Examples", "--------"]
            elif not in_section:
                lines.append("```pycon")
                inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)
