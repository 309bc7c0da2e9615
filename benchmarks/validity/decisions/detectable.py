"""Power at the minimum detectable difference: a pilot without a difference gives it, new data have exactly it."""

from __future__ import annotations

from functools import partial

import numpy as np
from data import KS, MEAN, TVD, counts, normals, ones
from harness import LEVEL, Draw, Quantity, Record, Study, compared, number

from momus.critic import Statistic
from momus.inference.samples import Rows

SIZES = (5, 10, 50, 200)
FAMILIES = (1, 21)
KINDS = {
    "normal": (MEAN, "mean of normal values"),
    "lognormal": (MEAN, "mean of log-normal values (σ 1)"),
    "ks": (KS, "KS, normal values"),
    "tvd": (TVD, "TVD, Zipf law of 200 types"),
}


def sample(rng: np.random.Generator, kind: str, n: int, difference: float) -> tuple[Rows, Rows] | None:
    """Rows of n | n documents at a true difference or distance; None if there is no such distance."""
    if kind == "ks":
        return normals(rng, n, difference) if difference < 1 else None
    if kind == "tvd":
        return counts(rng, n, difference)
    a, b = rng.normal(size=n), rng.normal(size=n)
    if kind == "lognormal":
        a, b = np.exp(a), np.exp(b)
    return ones(a), ones(b + difference)


def power(draw: Draw, kind: str, n: int, family: int) -> Record:
    """Test new data whose difference is the minimum detectable difference of a pilot, at level 0.05 / family."""
    statistic: Statistic = KINDS[kind][0]
    # p must be able to fall well below 0.05 / family
    permutations = 999 if family == 1 else 4999
    pilot = sample(draw.rng, kind, n, 0.0)
    assert pilot is not None
    result = compared(statistic, *pilot, permutations=permutations, resamples=499, family=family, seed=2 * draw.seed)
    mde = number(result.mde)
    rows = sample(draw.rng, kind, n, mde) if np.isfinite(mde) else None
    if rows is None:
        return {"mde": mde, "exists": 0.0, "power": np.nan}
    result = compared(statistic, *rows, permutations=permutations, resamples=99, family=family, seed=2 * draw.seed + 1)
    return {"mde": mde, "exists": 1.0, "power": float(number(result.p) <= LEVEL / family)}


def _study(kind: str, n: int, family: int) -> Study:
    goal = (0.77, 0.83) if n >= 10 else None
    rows = "alone" if family == 1 else f"one of {family} rows, p ≤ 0.05/{family}"
    quantities = [Quantity("power", "power at the MDE", goal)]
    if n == 5 or kind in ("ks", "tvd"):
        quantities.append(Quantity("exists", "pilots whose MDE a text can have"))
    setting = f"{KINDS[kind][1]}, n {n} | {n}, {rows}"
    name = f"mde-{kind}-{n}-{family}"
    return Study("mde", name, setting, partial(power, kind=kind, n=n, family=family), tuple(quantities))


STUDIES = tuple(_study(kind, n, family) for kind in KINDS for family in FAMILIES for n in SIZES)
