"""A comparison in other forms: Markdown, and JSON for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from momus.against.versions import Against
from momus.report.words.against import basis, blocks_of
from momus.report.words.against import first_sentences as against_sentences
from momus.report.words.blocks import markdown_blocks
from momus.report.words.format import markdown, markdown_table
from momus.report.words.leads import first_sentences
from momus.report.words.sentences import largest_gaps, legend, overuse_lines, says_what
from momus.report.words.table import SIZES, overview, taking_part
from momus.report.words.trust import trust_items
from momus.runs.answer import Answer, AxisAnswer, answer_of, overuse_of
from momus.runs.result import Results


def comparison_markdown(comparison: Results) -> str:
    """Write the answer, what it rests on, the overview table, the largest gaps, over-used text, and the warnings."""
    if comparison.against is not None:
        return _against_markdown(comparison, comparison.against)
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


def _against_markdown(comparison: Results, against: Against) -> str:
    """Write all blocks of a comparison with a model."""
    answer = answer_of(comparison)
    parts = [" ".join(markdown(s) for s in against_sentences(answer, against)), markdown(basis(comparison, against))]
    parts += markdown_blocks(blocks_of(answer, against, comparison.joint, words=True))
    parts += ["\n".join(f"* Note: {markdown(w)}" for w in comparison.warnings)] if comparison.warnings else []
    return "\n\n".join(parts) + "\n"


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
