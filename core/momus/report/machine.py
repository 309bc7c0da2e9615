"""A comparison as one JSON object, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from momus.report.answer import Answer, AxisAnswer, answer_of
from momus.report.sentences import first_sentences, says_what
from momus.report.trust_line import trust_items
from momus.runs.joint_file import joint_json

if TYPE_CHECKING:
    from momus.runs.result import Comparison


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """The answer, what it rests on, all verdicts, joint analyses, warnings and the signature of a comparison.

    All values are plain lists, strings and finite numbers; a number that does not exist is None.
    """
    return {
        "answer": answer_json(answer_of(comparison)),
        "trust": [asdict(item) for item in trust_items(comparison)],
        "verdicts": comparison.rows(),
        "pairs": [v.row() for v in comparison.pairs],
        "parts": {r.name: r.parts.to_json() for r in comparison.results if r.parts is not None},
        "joint": joint_json(comparison.joint),
        "warnings": list(comparison.warnings),
        "signature": comparison.signature,
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """The answer: its sentences, corpora from the nearest to the farthest, and axes by the size of the gap."""
    nearest = answer.nearest
    corpora = [
        {
            "generated": c.generated,
            "beyond": c.beyond,
            "differs": c.differs,
            "tested": c.tested,
            "rank": None if c.rank is None else asdict(c.rank),
        }
        for c in answer.corpora
    ]
    return {
        "sentences": first_sentences(answer),
        "nearest": None if nearest is None else nearest.generated,
        "tied": list(answer.tied),
        "corpora": corpora,
        "axes": [_axis(axis) for axis in answer.axes],
    }


def _axis(axis: AxisAnswer) -> dict[str, Any]:
    cells = []
    for cell in axis.cells:
        v = cell.headline
        cells.append(
            {
                "generated": cell.generated,
                "finding": v.finding,
                "gap": v.gap,
                "gap_interval": None if v.gap_interval is None else list(v.gap_interval),
                "p_adjusted": v.p_adjusted,
                "direction": cell.direction,
                "sign": cell.sign,
                "change": cell.change,
                "says": says_what(cell),
            }
        )
    return {"critic": axis.critic, "axis": axis.axis, "cells": cells}
