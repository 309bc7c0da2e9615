"""Statistics of which a text has no value, or of so few documents that their mean says nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from momus.critic import Statistic
from momus.inference import Method, TestResult
from momus.inference import Rows as TestRows
from momus.text.counting import counted, documents_of, percentage

FEW = 5
"""Documents of a text that must have what a statistic needs."""
Sides = tuple[Mapping[str, TestRows], Mapping[str, TestRows]]


def having(statistic: Statistic, rows: Sides) -> tuple[int, int] | None:
    """How many documents of each text have what a statistic needs; None where it needs nothing.

    Parameters
    ----------
    rows
        Rows of the documents of both texts by key; those of such a statistic are [value, weight], (n, 2).
    """
    tables = [side[statistic.rows] for side in rows]
    if not statistic.needs or any(not isinstance(t, np.ndarray) or t.shape[1] != 2 for t in tables):
        return None
    real, generated = (int(np.count_nonzero(t[:, 1] > 0)) for t in tables)
    return real, generated


def scarce(statistic: Statistic, rows: Sides, names: tuple[str, str]) -> TestResult | None:
    """The result of a statistic that fewer than `FEW` documents of one text have, but not none; None elsewhere."""
    counts = having(statistic, rows)
    if counts is None:
        return None
    sizes = tuple(len(side[statistic.rows]) for side in rows)
    if not 0 < min(counts) < min(FEW, *sizes):
        return None
    few = counts.index(min(counts))
    verb = "has" if counts[few] == 1 else "have"
    reason = f"only {counted(counts[few], 'document')} of {names[few]!r} {verb} {statistic.needs}"
    reason += _others(counts, sizes, names, 1 - few)
    return TestResult(
        statistic.name,
        effect_kind=statistic.effect,
        n_real=sizes[0],
        n_generated=sizes[1],
        method=Method(family=statistic.kind, reason=reason),
    )


def explained(statistic: Statistic, result: TestResult, rows: Sides, names: tuple[str, str]) -> TestResult:
    """The result of a statistic that a text lacks, with the reason by the names of the texts."""
    lacks = result.method.lacks
    if not lacks:
        return result
    chosen = {"real": names[:1], "generated": names[1:], "both": names}[lacks]
    what = statistic.needs or f"a value of {statistic.label or statistic.name}"
    reason = " and ".join(f"no {documents_of(n, noun='document')} has {what}" for n in chosen)
    counts = having(statistic, rows)
    if counts is not None and lacks != "both":
        sizes = tuple(len(side[statistic.rows]) for side in rows)
        reason += _others(counts, sizes, names, int(lacks == "real"))
    return replace(result, method=replace(result.method, reason=reason))


def _others(counts: tuple[int, ...], sizes: tuple[int, ...], names: tuple[str, str], side: int) -> str:
    return f"; {percentage(counts[side] / max(sizes[side], 1), 0)} of {names[side]!r} have"
