"""A comparison in other forms: Markdown, a section of a data card, and JSON for programs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momus.arguments import arg
from momus.errors import StoreError, UsageError
from momus.outputs import write_bytes, writing
from momus.ownership import check_place, refuse_irregular
from momus.report.against_view import against_markdown
from momus.report.words.against import first_sentences as against_sentences
from momus.report.words.format import markdown, markdown_table, number
from momus.report.words.sentences import axes, first_sentences, largest_gaps, legend, overuse_lines, says_what
from momus.report.words.table import SIZES, overview, taking_part
from momus.report.words.trust import trust_items
from momus.runs.answer import Answer, AxisAnswer, Cell, answer_of, overuse_of
from momus.text.counting import counted

if TYPE_CHECKING:
    from momus.against.versions import Against
    from momus.runs.result import Results

BEGIN, END = "<!-- momus: begin -->", "<!-- momus: end {} -->"
"""What a card has around the section, so that it can be replaced; the end holds the digest of what is between them."""
HEADING = "## What critics say of this data"
HEADS = ("axis", "gap in human bands", "95 % interval", "p (adjusted)", "n", "finding")
_SECTION = re.compile(rb"<!-- momus: begin -->(.*?)<!-- momus: end ?([0-9a-f]*) -->", re.DOTALL)
_BOMS = (b"\xff\xfe", b"\xfe\xff")
"""Beginnings of files in UTF-16 and UTF-32."""


def comparison_markdown(comparison: Results) -> str:
    """Write the answer, what it rests on, the overview table, the largest gaps, over-used text, and the warnings."""
    if comparison.against is not None:
        return against_markdown(comparison, comparison.against)
    answer = answer_of(comparison)
    table = overview(answer, words=True)
    sized = table.sizes_differ  # else one line says how many documents take part
    rows = [(r.label, *r.cells, *([r.size] * sized)) for r in (*table.axes, *table.ranks)]
    trust = " · ".join(("" if i.ok else "**!** ") + markdown(f"{i.label}: {i.text}") for i in trust_items(comparison))
    named = [*largest_gaps(answer), *overuse_lines(overuse_of(comparison.results, answer))]
    gaps = [f"* **{markdown(name)}:** {markdown(sentence)}." for name, sentence in named]
    notes = [f"* Note: {markdown(w)}" for w in comparison.warnings]
    blocks = [
        " ".join(markdown(s) for s in first_sentences(answer)),
        trust,
        markdown_table(("axis", *table.names, *([SIZES] * sized)), rows),
        "  \n".join(markdown(line) for line in (*legend(answer), f"n: {taking_part(answer)}")),
        "\n".join(gaps),
        "\n".join(notes),
    ]
    return "\n\n".join(b for b in blocks if b) + "\n"


def card_markdown(comparison: Results, corpus: str | None = None) -> str:
    """Write the section of one generated corpus.

    Parameters
    ----------
    corpus
        Name of the corpus; default: the only one.

    Raises
    ------
    UsageError
        There is no such corpus, or there are several and none is named.
    """
    if comparison.against is not None:
        raise UsageError(
            "a card says how data differs from real text, and the reference of this run is text of a model",
            hint="compare with real text, not against that of a model",
        )
    answer = answer_of(comparison)
    name = _chosen(answer, corpus)
    cells = {a.axis: c for a in answer.axes for c in a.cells if c.generated == name}
    totals = next(c for c in answer.corpora if c.generated == name)
    confidence = comparison.signature.get("confidence", 0.95)
    heads = tuple(h.replace("95", f"{100 * confidence:g}") for h in HEADS)
    summary = (
        f"Compared with human text, this text differs on {totals.differs} of {axes(totals.tested)}, and is beyond "
        f"human variation on {totals.beyond}. 95 % of pairs of human authors lie within a gap of 1."
    )
    blocks = [
        HEADING,
        markdown(summary),
        markdown_table(heads, [_card_row(axis, cell) for axis, cell in cells.items()]),
        "\n".join(f"* **{markdown(axis)}:** {markdown(says_what(cell))}." for axis, cell in cells.items()),
        "\n".join(f"* {markdown(line)}" for line in _basis(comparison, name)),
        markdown("Critics test some axes only: a text that passes them all may still differ from human text."),
    ]
    inner = "\n\n".join(["", *(b for b in blocks if b), ""])
    return f"{BEGIN}{inner}{END.format(_section_digest(inner.encode('utf-8')))}\n"


def _section_digest(inner: bytes) -> str:
    """The first 16 digits of the SHA-256 of a section, whatever its line ends: Git changes them."""
    return hashlib.sha256(inner.replace(b"\r\n", b"\n")).hexdigest()[:16]


def write_card(path: Path, section: str) -> bool:
    """Put the section into a card, in place of an earlier one or at the end; returns whether there was an earlier one.

    All bytes outside of the section stay; it gets the line ends that most lines have.

    Raises
    ------
    UsageError
        The card has more than one such section.
    StoreError
        The path is no card (a part of a run, JSON, a device, …), or the section in it was edited.
    """
    check_place(path, [])
    refuse_irregular(path)
    with writing(path, "name another file"):
        card = path.read_bytes() if path.exists() else b""
    _check_card(path, card)
    sections = list(_SECTION.finditer(card))
    if len(sections) > 1 or card.count(BEGIN.encode("ascii")) != len(sections):
        raise UsageError(
            f"{path}: the marks {BEGIN} and {END.format('…')} do not enclose one section",
            hint="keep one pair of them, or none",
        )
    if sections and _section_digest(sections[0][1]) != sections[0][2].decode("ascii"):
        raise StoreError(
            f"{path}: the section between {BEGIN} and its end was edited, or an older version of Momus wrote it",
            hint="move what you wrote out of it and remove the section, or name another file",
        )
    line_end = b"\r\n" if card.count(b"\r\n") * 2 > card.count(b"\n") else b"\n"
    new = section.encode("utf-8").replace(b"\n", line_end)
    if sections:
        parts = [card[: sections[0].start()], new.removesuffix(line_end), card[sections[0].end() :]]
    else:
        above = b"" if not card.strip() else line_end * 2 if not card.endswith((b"\n", b"\r")) else line_end
        parts = [card, above, new]
    with writing(path, "name another file"):
        write_bytes(path, b"".join(parts))
    return bool(sections)


def _check_card(path: Path, card: bytes) -> None:
    """Raise `StoreError` unless a file can hold Markdown: UTF-8 under a name of texts, and no JSON."""
    is_card = path.suffix in ("", ".md", ".markdown", ".mdx", ".txt") and not card.startswith(_BOMS)
    with suppress(ValueError, RecursionError):
        is_card = is_card and not isinstance(json.loads(card), dict | list)
    try:
        card.decode("utf-8")
    except UnicodeDecodeError:
        is_card = False
    if not is_card:
        raise StoreError(f"{path} is not a card in Markdown (UTF-8)", hint="name another file; this one stays")


def _chosen(answer: Answer, corpus: str | None) -> str:
    names = [c.generated for c in answer.corpora]
    if corpus is None and len(names) == 1:
        return names[0]
    if corpus not in names:
        what = "no text is named" if corpus is None else f"no generated text is called {corpus!r}"
        raise UsageError(
            f"{what}, and the run has {', '.join(map(repr, names))}",
            hint=f"name one of them with {arg('corpus')}",
        )
    return corpus


def _card_row(axis: str, cell: Cell) -> tuple[str, ...]:
    v = cell.row
    gap, interval = v.gap, v.gap_interval
    return (
        axis,
        "–" if gap is None or v.p_adjusted is None else f"{gap:.1f}",
        "–" if interval is None or v.p_adjusted is None else f"{interval[0]:.1f} to {interval[1]:.1f}",
        "–" if v.p_adjusted is None else number(v.p_adjusted),
        f"{v.n_generated:,} against {v.n_real:,}",
        v.finding,
    )


def _basis(comparison: Results, name: str) -> Iterator[str]:
    """What the section rests on: documents, doubts, warnings, and how to repeat it."""
    signature = comparison.signature
    corpora = {c["name"]: c for c in signature["corpora"]}
    prints = ", ".join(f"{n} {corpora[n]['fingerprint']}" for n in ("real", name) if n in corpora)
    yield f"Documents: {counted(corpora[name]['documents'], 'generated document')}; digests of the texts: {prints}"
    for item in trust_items(comparison):
        if item.label != "documents":
            yield f"{'' if item.ok else 'Doubtful – '}{item.label}: {item.text}"
    yield from (f"Note: {warning}" for warning in comparison.warnings)
    yield f"Made with Momus {signature['momus']}, seed {signature['seed']}"


def comparison_json(comparison: Results) -> dict[str, Any]:
    """The answer, what it rests on, all verdicts, joint analyses, warnings and the signature of a comparison.

    All values are plain lists, strings and finite numbers; a number that does not exist is None.
    """
    against = comparison.against
    return {
        "answer": answer_json(answer_of(comparison), against),
        "trust": [asdict(item) for item in trust_items(comparison)],
        "verdicts": comparison.rows(),
        "pairs": [v.row() for v in comparison.pairs],
        "parts": {r.name: r.parts.to_json() for r in comparison.results if r.parts is not None},
        "joint": comparison.joint.to_json(),
        **({} if against is None else {"against": asdict(against)}),
        "warnings": list(comparison.warnings),
        "signature": comparison.signature,
    }


def answer_json(answer: Answer, against: Against | None = None) -> dict[str, Any]:
    """The answer: its sentences, corpora from the nearest to the farthest, and axes by the size of the gap."""
    nearest = answer.nearest
    return {
        "sentences": first_sentences(answer) if against is None else against_sentences(answer, against),
        "nearest": None if nearest is None else nearest.generated,
        "tied": list(answer.tied),
        "corpora": [asdict(c) for c in answer.corpora],
        "axes": [_axis(axis) for axis in answer.axes],
    }


def _axis(axis: AxisAnswer) -> dict[str, Any]:
    cells = []
    for cell in axis.cells:
        v = cell.row
        cells.append(
            {
                "generated": cell.generated,
                "statistic": v.statistic,
                "finding": v.finding,
                "gap": v.gap,
                "gap_interval": None if v.gap_interval is None else list(v.gap_interval),
                "p_adjusted": v.p_adjusted,
                "n_real": v.n_real,
                "n_generated": v.n_generated,
                "direction": cell.direction,
                "sign": cell.sign,
                "change": cell.change,
                "says": says_what(cell),
            }
        )
    return {"critic": axis.critic, "axis": axis.axis, "cells": cells}
