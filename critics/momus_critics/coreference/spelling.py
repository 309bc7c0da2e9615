"""Symbols as people write them: ``Male:0`` for a mention of person 0, ``.`` for the start of a sentence.

The resolver ``symbols`` reads documents that consist of such symbols, so that chains of any resolver can be criticised
without their texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from momus.errors import UsageError
from momus.numeric.types import Ints
from momus.outputs import write_text
from momus.text.corpus import Corpus
from momus_critics.coreference.symbols import SENTENCE, Alphabet, Chains

SYMBOL = re.compile(r"(?:\[([^\]\s]{1,30})\]|([^:\s]{1,30}):)([0-9]{1,9})")
"""``Male:0``, or ``[M]0`` as in Deng et al. 2022, tables 5 and 13."""
SHORT = {"m": "male", "f": "female", "p": "plural", "n": "none"}
NO_SYMBOL = "a symbol is neither KIND:NUMBER nor “.”"
SHOWN = 20
"""Characters of a wrong symbol that a message shows."""


@dataclass(frozen=True)
class WrongSymbol:
    """Why a document is no chain of symbols.

    Attributes
    ----------
    reason
        Without the place, so that equal reasons are counted together.
    symbol, place
        The first wrong symbol, and its number in the document, from 1.
    """

    reason: str
    symbol: str
    place: int


@lru_cache(maxsize=2)
def _numbers(classes: str) -> dict[str, int]:
    """The number of each kind that has an entity, by its spelling in lower case."""
    kinds = Alphabet(classes).kinds
    numbers = {_spelled_kind(kind).lower(): i for i, kind in enumerate(kinds) if i > kinds.index(SENTENCE)}
    return numbers | {short: numbers[whole] for short, whole in SHORT.items() if whole in numbers}


def _spelled_kind(kind: str) -> str:
    return kind.replace(" ", "_")


def read_symbol(symbol: str, classes: str) -> tuple[int, int] | str:
    """The kind and the person of a symbol (−1: a sentence starts), or why it is none.

    >>> read_symbol("Male:3", "gender"), read_symbol("[M]3", "gender"), read_symbol(".", "gender")
    ((2, 3), (2, 3), (1, -1))
    >>> read_symbol("he", "gender"), read_symbol("Mail:0", "gender")
    ('a symbol is neither KIND:NUMBER nor “.”', "a symbol has the unknown kind 'Mail'")
    """
    if symbol == SENTENCE:
        return 1, -1
    match = SYMBOL.fullmatch(symbol)
    if match is None:
        return NO_SYMBOL
    kind = match[1] or match[2]
    number = _numbers(classes).get(kind.lower())
    return f"a symbol has the unknown kind {kind[:SHOWN]!r}" if number is None else (number, int(match[3]))


def wrong_symbol(text: str, classes: str) -> WrongSymbol | None:
    """The first symbol of a document that is none; None if all are symbols."""
    for place, symbol in enumerate(text.split(), 1):
        read = read_symbol(symbol, classes)
        if isinstance(read, str):
            return WrongSymbol(read, symbol[:SHOWN], place)
    return None


def chains_of_symbols(ids: Sequence[str], texts: Sequence[str], classes: str) -> tuple[Chains, Ints]:
    """Symbols of all documents, and the character span of each, int64 (N, 2).

    Persons are numbered by first appearance in their document. As in resolved text, a document without a person has no
    symbols.

    Raises
    ------
    UsageError
        A document holds something else than symbols.

    >>> chains, spans = chains_of_symbols(["a", "b"], ["Male:7 . he:7", ". ."], "gender")
    >>> chains.kinds.tolist(), chains.entities.tolist(), chains.offsets.tolist(), spans.tolist()
    ([2, 1, 6], [0, -1, 0], [0, 3, 3], [[0, 6], [7, 8], [9, 13]])
    """
    rows: list[tuple[int, int, int, int]] = []  # kind, person, start and end of each symbol
    ends = [0]
    for id, text in zip(ids, texts, strict=True):
        mentions: list[tuple[int, int, int, int]] = []
        persons: dict[int, int] = {}
        for place, match in enumerate(re.finditer(r"\S+", text), 1):
            read = read_symbol(match[0], classes)
            if isinstance(read, str):
                raise UsageError(
                    f"document {id!r} is no chain of symbols: {read} (symbol {place}, {match[0][:SHOWN]!r})",
                    hint=advice(classes),
                )
            kind, person = read
            mentions.append((kind, -1 if person < 0 else persons.setdefault(person, len(persons)), *match.span()))
        rows += mentions if persons else []
        ends.append(len(rows))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return Chains(columns[:, 0], columns[:, 1], np.array(ends, dtype=np.int64)), columns[:, 2:]


def advice(classes: str) -> str:
    """How symbols are written, for the hint of an error."""
    kinds = [_spelled_kind(k) for k in Alphabet(classes).kinds[2:]]
    return (
        "write a mention as KIND:NUMBER, such as Male:0 or he:0, and the start of a sentence as a full stop; the kinds "
        f"are {', '.join(kinds)}"
    )


def spelled_chains(chains: Chains, classes: str) -> list[list[str]]:
    """The symbols of each document, as `read_symbol` reads them.

    >>> chains, _ = chains_of_symbols(["a"], ["[M]7 . he:7"], "gender")
    >>> spelled_chains(chains, "gender")
    [['Male:0', '.', 'he:0']]
    """
    names = [_spelled_kind(kind) for kind in Alphabet(classes).kinds]
    symbols = [
        names[k] if e < 0 else f"{names[k]}:{e}"
        for k, e in zip(chains.kinds.tolist(), chains.entities.tolist(), strict=True)
    ]
    return [symbols[a:b] for a, b in pairwise(chains.offsets.tolist())]


def write_symbols(corpus: Corpus, symbols: Sequence[Sequence[str]], path: str | Path) -> None:
    """Write the chains of a corpus as JSON Lines for the reader ``symbols:``, with ids, prompts and groups."""
    records = []
    for document, chain in zip(corpus, symbols, strict=True):
        labels = {"id": document.id, "prompt_id": document.prompt, "group_id": document.group}
        known = {name: value for name, value in labels.items() if value is not None}
        records.append(json.dumps({**known, "symbols": list(chain)}, ensure_ascii=False))
    write_text(Path(path), "".join(f"{record}\n" for record in records))
