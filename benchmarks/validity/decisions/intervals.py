"""Coverage of 95 % intervals at n = 10, 20, 50: means, paired and clustered means, Hedges' g, Latent PPL."""

from __future__ import annotations

from functools import partial

import numpy as np
from data import MEAN, PPL, clustered, ones, sequences
from harness import CONFLICT, COVERED, Draw, Quantity, Record, Study, compared, decided, number

from momus.inference import Design, TestResult

SIZES = (10, 20, 50)
DIFFERENCE = 0.5


def with_effect(result: TestResult, truth: float, effect: float) -> Record:
    """`decided`, and whether the interval of the effect covers the true effect."""
    low, high = number(result.effect_low), number(result.effect_high)
    inside = float(low <= effect <= high) if np.isfinite(low + high) else np.nan
    return {**decided(result, truth), "effect_covered": inside, "effect": number(result.effect)}


def normal(draw: Draw, n: int, difference: float = DIFFERENCE) -> Record:
    """Normal values of variance 1: the difference is the standardised effect."""
    a, b = draw.rng.normal(size=n), draw.rng.normal(size=n) + difference
    return with_effect(compared(MEAN, ones(a), ones(b), seed=draw.seed), difference, difference)


def lognormal(draw: Draw, n: int) -> Record:
    """Log-normal values, σ = 1, the generated ones shifted."""
    a, b = np.exp(draw.rng.normal(size=n)), np.exp(draw.rng.normal(size=n)) + DIFFERENCE
    return decided(compared(MEAN, ones(a), ones(b), seed=draw.seed), DIFFERENCE)


def ppl(draw: Draw, n: int) -> Record:
    """Latent PPL, lengths of both sides log-normal with σ = 1.5; nats per step differ by 0.1."""
    a, b = (sequences(draw.rng, n, nats, 1.5) for nats in (3.0, 3.1))
    truth = float(np.exp(3.1) - np.exp(3.0))
    return with_effect(compared(PPL, a, b, seed=draw.seed), truth, 0.1)


def paired(draw: Draw, n: int) -> Record:
    """Pairs that share a normal effect; noise is exponential."""
    level = draw.rng.normal(size=n)
    a, b = (level + draw.rng.exponential(size=n) + d for d in (0.0, DIFFERENCE))
    pairs = np.column_stack([np.arange(n)] * 2)
    result = compared(MEAN, ones(a), ones(b), design=Design.pairs(pairs), seed=draw.seed)
    return decided(result, DIFFERENCE)


def whole(draw: Draw, n: int) -> Record:
    """Clusters × five documents on each side, intraclass correlation 0.3."""
    (a, first), (b, second) = (clustered(draw.rng, n, 5, 0.3) for _ in range(2))
    design = Design.clusters(first, second)
    result = compared(MEAN, ones(a), ones(b + DIFFERENCE), design=design, seed=draw.seed)
    return decided(result, DIFFERENCE)


EFFECT = Quantity("effect_covered", "interval of the effect covers the true effect", (0.93, 0.975))
REPORTED = (COVERED, CONFLICT)
KINDS = (
    ("normal", "difference of means, normal values, n {n} | {n}", normal, (*REPORTED, EFFECT)),
    ("large", "the same, difference 1.5 sd, n {n} | {n}", partial(normal, difference=1.5), (COVERED, EFFECT)),
    ("lognormal", "difference of means, log-normal values (σ 1), n {n} | {n}", lognormal, REPORTED),
    ("ppl", "Latent PPL, log-normal lengths σ 1.5 on both sides, n {n} | {n}", ppl, (*REPORTED, EFFECT)),
    ("paired", "{n} pairs, exponential noise", paired, REPORTED),
    ("clusters", "{n} clusters × 5 documents on each side, ICC 0.3", whole, REPORTED),
)
STUDIES = tuple(
    Study("intervals", f"interval-{name}-{n}", setting.format(n=n), partial(replicate, n=n), quantities)
    for name, setting, replicate, quantities in KINDS
    for n in SIZES
)
