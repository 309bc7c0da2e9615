"""Intervals of distances, claims of equality, and whether the effect depends on the number of documents.

KS of normal values, and total variation of word counts under a Zipf law; the true distances are exact.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from data import KS, TVD, counts, normals
from harness import ALARM, CONFLICT, Draw, Quantity, Record, Study, compared, decided, number

SIZES = (50, 200, 1000)
MARGIN = 0.1
"""The margin δ of claims of equality."""
LARGE = 0.25


def distance(draw: Draw, kind: str, n: int, truth: float) -> Record:
    """n | n documents at a true distance."""
    rows = normals(draw.rng, n, truth) if kind == "ks" else counts(draw.rng, n, truth)
    assert rows is not None
    result = compared(KS if kind == "ks" else TVD, *rows, resamples=499, seed=draw.seed)
    low, high = number(result.equivalence_low), number(result.equivalence_high)
    inside = float(low > -MARGIN and high < MARGIN) if np.isfinite(low + high) else np.nan
    return {**decided(result, truth), "equal": inside, "effect": number(result.effect)}


def _quantities(truth: float) -> tuple[Quantity, ...]:
    covered = Quantity("covered", "interval covers the true distance", (0.93, 1.0))
    effect = Quantity("effect", "mean effect", (truth - 0.015, truth + 0.015), "mean")
    if truth == 0:
        return covered, effect, ALARM, CONFLICT, Quantity("equal", f"claims equality within {MARGIN:g}")
    if truth == MARGIN:
        return covered, effect, Quantity("equal", f"claims equality within {MARGIN:g}", (0.0, 0.05)), CONFLICT
    return covered, effect, CONFLICT


STUDIES = tuple(
    Study(
        "distances",
        f"distance-{kind}-{n}-{truth:g}",
        f"{'KS, normal values' if kind == 'ks' else 'TVD, Zipf law of 200 types'}, n {n:,} | {n:,}, distance {truth:g}",
        partial(distance, kind=kind, n=n, truth=truth),
        _quantities(truth),
    )
    for kind in ("ks", "tvd")
    for truth in (0.0, MARGIN, LARGE)
    for n in SIZES
)
