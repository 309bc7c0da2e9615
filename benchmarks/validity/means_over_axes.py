"""The mean distance over axes of two texts of unequal size that are equally far from real text.

Each of 20 axes is one value of every document, in standard deviations; the band of each is 0.5. The larger text has 400
or 1,000 documents, the smaller one 30 or 40, and the real text 500. *Plain* is the mean of |effect| ÷ band, and the
share of the bootstrap replicates in which a text has the smallest mean; *told* what `momus.inference.ranking` tells.

Run:  python benchmarks/validity/means_over_axes.py [--replications 400] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tabulated import run

from momus.inference.ranking import Distances, average, nearest_on_average
from momus.numeric.types import Floats

AXES, BAND, REAL, DRAWS = 20, 0.5, 500, 499
SURE = 0.95
LAWS: dict[str, Callable[[np.random.Generator], Floats]] = {
    "0": lambda rng: np.zeros(AXES),
    "half-normal 0.2": lambda rng: np.abs(0.2 * rng.normal(size=AXES)),
    "0.3": lambda rng: np.full(AXES, 0.3),
    "exponential 0.5": lambda rng: rng.exponential(0.5, size=AXES),
}
"""True effects of both texts."""
SIZES = ((40, 400), (30, 1000))


def parts_of(effects: Floats, sizes: tuple[int, int], rng: np.random.Generator) -> list[Distances]:
    """Estimates of both texts on each axis, with bootstrap deviations that share the real text."""
    spread = 1 / np.sqrt(sizes)

    def noise(draws: int) -> Floats:
        return np.asarray(rng.normal(size=(draws, 2)) * spread + rng.normal(size=(draws, 1)) / REAL**0.5)

    return [Distances(effect + noise(1)[0], noise(DRAWS), True, min(sizes) - 1.0) for effect in effects]


def once(effects: Floats, sizes: tuple[int, int], rng: np.random.Generator) -> tuple[float, ...]:
    """Means of the smaller and of the larger text, and the share of the larger one: plain, and as they are told."""
    parts, bands = parts_of(effects, sizes, rng), np.full(AXES, BAND)
    plain = np.mean([p.distances for p in parts], axis=0) / BAND
    drawn = np.mean([p.replicates for p in parts], axis=0)  # (DRAWS, 2)
    share = float((drawn[:, 1] < drawn[:, 0]).mean())
    return (*plain, share >= SURE, *average(parts, bands).shown, nearest_on_average(parts, bands)[1] >= SURE)


def table(replications: int) -> str:
    """Means of both texts, and how often the larger one is said to be nearer."""
    heads = [f"{what}: {name}" for what in ("plain", "told") for name in ("smaller", "larger", "share ≥ 0.95")]
    lines = [
        f"R = {replications:,}:",
        "",
        f"| documents | true effects | true mean | {' | '.join(heads)} |",
        "|---|---|---:|" + "---:|" * len(heads),
    ]
    for sizes in SIZES:
        for name, law in LAWS.items():
            rngs = [np.random.default_rng([seed, *sizes]) for seed in range(replications)]
            effects = [law(rng) for rng in rngs]
            cells = np.mean([once(e, sizes, rng) for e, rng in zip(effects, rngs, strict=True)], axis=0)
            true = np.mean(effects) / BAND
            shown = " | ".join(f"{c:.3f}" for c in cells)
            lines.append(f"| {sizes[0]} \\| {sizes[1]} | {name} | {true:.3f} | {shown} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, "means-over-axes", table, 400)
