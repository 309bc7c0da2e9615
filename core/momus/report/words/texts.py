"""What was read of a text, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from momus.text.counting import counted
from momus.visible import visible

SHOWN, MOST = 200, 8
"""Characters of a document, and fields, that are shown."""


def text_lines(content: Mapping[str, Any]) -> Iterator[str]:
    r"""The lines that describe a text; ``content`` is what ``momus read --json`` prints.

    >>> content = {"read_as": "", "documents": 1, "unread": 0, "prompts": 0, "groups": 0, "characters": 6,
    ...     "texts": {"text": "To be."}, "notes": [],
    ...     "first": [{"id": "a", "prompt": None, "text": "To be.", "problem": None}]}
    >>> print(*text_lines(content), sep="\n")
    1 document, 6 characters
    fields with text: text
    <BLANKLINE>
    a
      To be.
    """
    if content["read_as"]:
        yield f"read as: {visible(content['read_as'])}"
    counts = [
        counted(content["documents"], "document"),
        *([f"{content['unread']:,} of them without text"] if content["unread"] else []),
        *([counted(content["prompts"], "prompt")] if content["prompts"] else []),
        *([counted(content["groups"], "group")] if content["groups"] else []),
        counted(content["characters"], "character"),
    ]
    yield ", ".join(counts)
    names = list(content["texts"])
    if names:
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        yield f"fields with text: {visible(', '.join(names[:MOST]))}{more}"
    yield from map(visible, content["notes"])
    for document in content["first"]:
        prompt = f": {_beginning(document['prompt'])}" if document["prompt"] else ""
        yield ""
        yield f"{visible(document['id'])}{prompt}"
        yield f"  {document['problem'] or _beginning(document['text'])}"


def _beginning(text: str) -> str:
    """The beginning of a text, on one line."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}…"
