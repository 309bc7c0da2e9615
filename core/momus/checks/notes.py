"""Notes on texts and results: what reading left out, and shared prompts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from momus.arguments import arg
from momus.inference.matching import MATCHED
from momus.text.counting import counted
from momus.text.documents import LeftOut, Origin

if TYPE_CHECKING:
    from momus.text.corpus import Corpus
    from momus.verdicts.verdict import Verdict

WITHIN = ("pairs", "prompts")
"""Designs that compare within prompts."""


def mixed_prompts_warnings(real: Corpus, generated: Sequence[Corpus], verdicts: Sequence[Verdict]) -> list[str]:
    """Say of each generated text that shares some prompts with the real one why these are not used, and what counts.

    A text whose critics all compare within prompts, or that shares none, has no warning; documents that then take no
    part are counted elsewhere.
    """
    warnings = []
    for corpus in generated:
        designs = {v.method.design for v in verdicts if v.generated == corpus.name and v.headline and v.method}
        sides = [[p for p in c.prompts if p is not None] for c in (real, corpus)]
        common = set(sides[0]) & set(sides[1])
        if not common or not designs or not designs.isdisjoint(WITHIN):
            continue
        smaller = min((real, corpus), key=len)
        matched = sum(p in common for p in smaller.prompts)
        together = "those of one prompt as one unit" if "clusters" in designs else "each by itself"
        warnings.append(
            f"{matched:,} of the {len(smaller):,} documents of {smaller.name!r} answer a prompt that "
            f"{(corpus if smaller is real else real).name!r} has too, fewer than {MATCHED:.0%}: the comparison is not "
            f"made within prompts. Value, difference, interval and p are of all {len(real):,} and {len(corpus):,} "
            f"documents that are scored, {together} ({arg('paired', True)} compares those of shared prompts only)."
        )
    return warnings


def reading_notes(corpus: Corpus) -> list[str]:
    """What a reader of the texts may not expect: lists that became documents, and what was left out or set apart."""
    notes = [answers_note(corpus)] if corpus.answers else []
    if corpus.left_out.names:
        notes.append(left_out_note(corpus.left_out, corpus.name))
    return [*notes, *origin_notes(corpus.origin, corpus.name)] if corpus.origin is not None else notes


def left_out_note(left_out: LeftOut, name: str) -> str:
    """Say which files of a folder were set aside for their names; only where there are such files.

    >>> left_out_note(LeftOut(("a/README.md", "b/README.md")), "docs")
    "In 'docs', 2 files were set aside for their names ('a/README.md' …); include=['README.md'] reads them."
    """
    first = left_out.names[0]
    more = " …" if left_out.names[1:] else ""
    were, them = ("files were", "them") if left_out.names[1:] else ("file was", "it")
    return (
        f"In {name!r}, {len(left_out.names):,} {were} set aside for {'their names' if more else 'its name'} "
        f"({first!r}{more}); {arg('include', [PurePosixPath(first).name])} reads {them}."
    )


def origin_notes(origin: Origin, name: str) -> list[str]:
    """Say which rows of a log took no part, and what was set apart from chat messages.

    >>> origin_notes(Origin("chats.jsonl", set_apart={"reasoning": 2}), "a")
    ["In 'a', reasoning of 2 documents was set apart, not read as text."]
    """
    rows = [f"In {name!r}, {counted(n, 'record')} took no part: {reason}." for reason, n in origin.left_out.items()]
    apart = [
        f"In {name!r}, {kind} of {counted(n, 'document')} {'were' if kind.endswith('s') else 'was'} set apart, not "
        "read as text."
        for kind, n in origin.set_apart.items()
    ]
    return [*rows, *apart]


def answers_note(corpus: Corpus) -> str:
    """Say how many texts of lists became documents of a corpus; only where it has such `Corpus.answers`."""
    lists = " and ".join(
        f"{a.field!r} holds {counted(a.documents, 'text')} in the lists of {counted(a.records, 'record')}"
        for a in corpus.answers
    )
    note = f"In {corpus.name!r}, {lists}: each text was read as a document, an answer to the prompt of its record."
    if corpus.origin is not None and corpus.origin.reader is not None:
        return note  # a log says what its lists hold
    return f"{note} If they are the parts of one document, call the field 'sections'."
