"""Tests of values: unequal variances and sizes, Latent PPL with unequal lengths, prompts that one side has, strata."""

from __future__ import annotations

from functools import partial

import numpy as np
from data import MEAN, PPL, clustered, ones, sequences
from harness import ALARM, CONFLICT, COVERED, Draw, Quantity, Record, Study, compared, decided, one_each

from momus.inference import Design


def unequal(draw: Draw, sds: tuple[float, float], sizes: tuple[int, int]) -> Record:
    """Normal values of mean 0."""
    a, b = (ones(sd * draw.rng.normal(size=n)) for sd, n in zip(sds, sizes, strict=True))
    return decided(compared(MEAN, a, b, seed=draw.seed))


def lengths(draw: Draw, sizes: tuple[int, int]) -> Record:
    """Latent PPL of equal processes; lengths of the generated documents vary much more."""
    a, b = (sequences(draw.rng, n, 3.0, sigma) for n, sigma in zip(sizes, (0.3, 1.5), strict=True))
    return decided(compared(PPL, a, b, seed=draw.seed))


def other_prompts(draw: Draw, difference: float, prompts: int = 20, size: int = 10, icc: float = 0.135) -> Record:
    """Several documents of each prompt, the prompts of one side not those of the other."""
    a, first = clustered(draw.rng, prompts, size, icc)
    b, second = clustered(draw.rng, prompts, size, icc)
    b = b + difference
    whole = compared(MEAN, ones(a), ones(b), design=Design.clusters(first, second), seed=draw.seed)
    found = decided(whole, difference)
    if draw.before:  # p was that of one document per prompt
        a, b = a[one_each(first, draw.rng)], b[one_each(second, draw.rng)]
        thin = compared(MEAN, ones(a), ones(b), resamples=0, seed=draw.seed)
        found["alarm"] = float(thin.p <= 0.05)
        found["conflict"] = float(thin.p <= 0.05 and whole.low <= 0 <= whole.high)
    return found


def uneven_prompts(draw: Draw, difference: float, prompts: int = 40) -> Record:
    """Prompts of high values have five generations, the others one; all have one real document."""
    level = draw.rng.normal(size=prompts)
    owners = np.repeat(np.arange(prompts), np.where(level > 0, 5, 1))
    a = level + draw.rng.normal(size=prompts)
    b = level[owners] + difference + draw.rng.normal(size=len(owners))
    design = Design.prompts(np.arange(prompts), owners)
    found = decided(compared(MEAN, ones(a), ones(b), design=design, seed=draw.seed), difference)
    return {**found, "bias": found["difference"] - difference}


def bins(draw: Draw, difference: float, n: int = 120) -> Record:
    """Four bins of a covariate with other values in each, of which the generated text has other shares."""
    level = np.arange(4.0) / 2
    numbers = [draw.rng.choice(4, size=n, p=p) for p in ((0.25, 0.25, 0.25, 0.25), (0.1, 0.2, 0.3, 0.4))]
    a, b = (level[k] + draw.rng.normal(size=n) for k in numbers)
    design = None if draw.before else Design.bins(*numbers)
    found = decided(compared(MEAN, ones(a), ones(b + difference), design=design, seed=draw.seed), difference)
    return {**found, "bias": found["difference"] - difference}


REPORTED = (ALARM, COVERED, CONFLICT)
BIAS = Quantity("bias", "mean error of the difference", (-0.03, 0.03), "mean")
STRATA = (BIAS, COVERED, ALARM, CONFLICT)

STUDIES = (
    *(
        Study(
            "means",
            f"unequal-{sds[0]:g}-{sizes[0]}-{sizes[1]}",
            f"normal values, sd {sds[0]:g}, n {sizes[0]} against sd {sds[1]:g}, n {sizes[1]:,}",
            partial(unequal, sds=sds, sizes=sizes),
            REPORTED,
        )
        for sds, sizes in (((3.0, 1.0), (20, 2000)), ((2.0, 1.0), (50, 200)))
    ),
    *(
        Study(
            "means",
            f"ppl-lengths-{n}-{m}",
            f"Latent PPL at equal PPL, n {n} | {m}, log-normal lengths σ 0.3 | 1.5",
            partial(lengths, sizes=(n, m)),
            REPORTED,
        )
        for n, m in ((50, 50), (50, 200))
    ),
    Study(
        "means",
        "other-prompts-null",
        "20 prompts × 10 documents against 20 other prompts, no difference; before: one document per prompt",
        partial(other_prompts, difference=0.0),
        REPORTED,
    ),
    Study(
        "means",
        "other-prompts-power",
        "the same, difference 0.43 sd",
        partial(other_prompts, difference=0.43),
        (Quantity("alarm", "power at p ≤ 0.05", (0.75, 1.0)), COVERED, CONFLICT),
    ),
    Study(
        "strata",
        "uneven-prompts-null",
        "40 prompts, one real document each; five generations where values are high, else one; no difference",
        partial(uneven_prompts, difference=0.0),
        STRATA,
    ),
    Study(
        "strata",
        "uneven-prompts-half",
        "the same, difference 0.5",
        partial(uneven_prompts, difference=0.5),
        (BIAS, COVERED, CONFLICT),
    ),
    Study(
        "strata",
        "bins-null",
        "120 | 120 documents, four bins in other shares, no difference within bins; before: no bins",
        partial(bins, difference=0.0),
        STRATA,
    ),
    Study("strata", "bins-half", "the same, difference 0.5", partial(bins, difference=0.5), (BIAS, COVERED, CONFLICT)),
)
