"""The list of tables as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from momus_adapters.papers.table import PaperTable


def listing_json(tables: Iterable[PaperTable]) -> list[dict[str, Any]]:
    """What each table is, finds and needs, and how to run it, as rows that JSON can hold.

    >>> from momus_adapters.papers.table import find_table
    >>> listing_json([find_table("deng-2")])[0]["critics"]
    ['sections']
    """
    return [
        {
            "id": t.id,
            "paper": t.paper.citation,
            "place": t.place,
            "title": t.title,
            "found": t.found,
            "needs": t.needs,
            "critics": t.critics,
            "settings": t.settings,
            "instead": t.instead or None,
            "ships_with_texts": t.texts is not None,
            "seconds": t.seconds,
        }
        for t in tables
    ]
