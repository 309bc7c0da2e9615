"""What bands measured in a few registers say of text of any register: a random-effects model of their logarithms.

The band x of a statistic in a register is log-normal around that of the statistic, with a standard deviation ω between
registers that the statistics of a kind share, and these are log-normal around that of their kind, with σ:
log x ~ N(m, ω²), m ~ N(μ, σ²). A band that was measured enters by its likelihood: where authors are seen to differ,
that of a normal log x with the measured interval; elsewhere that of a variance, x² + e ~ scaled χ², which says how
large x may be and little else. μ, σ and ω maximise the likelihood of all statistics of a kind, under a weak prior. A
default band is the median of the predictive distribution of x in a register that was not measured, with its 95 %
interval (Higgins, Thompson & Spiegelhalter 2009); that of a register which was, the posterior one.

The simulation knows the bands: it measures them as the atlas does, and compares defaults.

Run:  python benchmarks/validity/registers.py [--replications 40] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from scipy.optimize import minimize
from scipy.stats import chi2

from momus.inference.spread import PAIR, between, is_seen
from momus.numeric.types import Floats

GRID = np.linspace(np.log(1e-4), np.log(1e2), 277)
"""Logarithms of bands, in steps of a twentieth: (G,)."""
TAIL = 0.025
NORMAL = PAIR / np.sqrt(2)
PRIOR = (-1.0, 0.75)
"""Mean and standard deviation of the logarithms of σ and ω beforehand: 0.08 to 1.6 in 95 % of cases."""
GROUPS = (66, 1088, 30, 199)
"""Groups in the registers of the atlas."""
MARKERS = "<!-- registers -->", "<!-- end of registers -->"
Measured = Sequence[float]
"""A band, the ends of its interval, and the number of groups."""


def likelihood(measured: Measured) -> Floats:
    """The likelihood of each band of `GRID`, (G,), up to a factor."""
    value, low, high, groups = measured
    if value > 0 and is_seen(value, low):
        error = np.where(np.log(value) > GRID, np.log(value / low), np.log(high / value)) / NORMAL
        return np.asarray(np.exp(-0.5 * ((GRID - np.log(value)) / error) ** 2))
    freedom = max(groups - 1, 2)
    quantile = freedom / float(chi2.ppf(TAIL, freedom))
    # value² + e is the observed variance, and high² + e so many times as much
    error = max((high**2 - quantile * value**2) / (quantile - 1), 1e-12)
    ratio = (value**2 + error) / (np.exp(2 * GRID) + error)
    return np.asarray(np.exp(-freedom / 2 * (ratio - np.log(ratio) - 1)))


def _normal(mean: float, deviation: float) -> Floats:
    density = np.exp(-0.5 * ((GRID - mean) / deviation) ** 2)
    return np.asarray(density / density.sum())


def _between(omega: float) -> Floats:
    """Probability of each band in a register, rows, given that of the statistic, columns: (G, G)."""
    density = np.exp(-0.5 * ((GRID[:, None] - GRID) / omega) ** 2)
    return np.asarray(density / density.sum(axis=0))


@dataclass(frozen=True)
class Registers:
    """The model of the statistics of one kind: the mean μ of log bands, and σ and ω."""

    mu: float
    sigma: float
    omega: float

    @classmethod
    def fitted(cls, statistics: Sequence[Sequence[Measured]], sigma: float | None = None) -> Registers:
        """Fit the bands of each statistic in its registers; ``sigma`` is known where bands have no common unit."""
        cells = [[likelihood(m) for m in measured] for measured in statistics]
        start = float(np.median([np.log(max(m[0], m[2] / 4)) for measured in statistics for m in measured]))

        def surprise(p: Floats) -> float:
            model = cls(p[0], np.exp(p[1]) if sigma is None else sigma, np.exp(p[2]))
            prior, matrix = _normal(model.mu, model.sigma), _between(model.omega)
            total = sum(np.log((prior * np.prod([x @ matrix for x in of], axis=0)).sum() + 1e-300) for of in cells)
            return float(-total + 0.5 * (((p[1:] - PRIOR[0]) / PRIOR[1]) ** 2).sum())

        mu, log_sigma, log_omega = minimize(surprise, [start, -1, -1], method="Nelder-Mead", options={"xatol": 0.01}).x
        return cls(float(mu), float(np.exp(log_sigma)) if sigma is None else sigma, float(np.exp(log_omega)))

    def band(self, measured: Sequence[Measured], of: int | None = None) -> tuple[float, float, float]:
        """Median and 95 % interval of the band in another register, or in the measured one of number ``of``."""
        matrix = _between(self.omega)
        parts = [likelihood(m) for m in measured]
        others = [x @ matrix for i, x in enumerate(parts) if i != of]
        density = matrix @ (_normal(self.mu, self.sigma) * np.prod([np.ones(len(GRID)), *others], axis=0))
        if of is not None:
            density = density * parts[of]
        steps = np.cumsum(density / density.sum())
        value, low, high = (float(np.exp(np.interp(q, steps, GRID))) for q in (0.5, TAIL, 1 - TAIL))
        return value, low, high


def measure(rng: np.random.Generator, band: float, groups: int, noise: float) -> Measured:
    """Measure a band of K groups whose values have errors of standard deviation ``noise``, as the atlas does."""
    values = rng.normal(0, band / PAIR, groups) + rng.normal(0, noise, groups)
    spread = between(values, np.full(groups, noise**2), 4.0 * groups)
    return spread.value, spread.low, spread.high, groups


def drawn(replication: int, statistics: int = 60) -> tuple[Floats, list[list[Measured]]]:
    """True bands of statistics in four registers and one more, (statistics, 5), and what is measured in one to four."""
    rng = np.random.default_rng([replication, 11])
    true = np.exp(0.25 * rng.normal(size=(statistics, 1)) + 0.4 * rng.normal(size=(statistics, 5)))
    noise = np.exp(rng.uniform(np.log(0.3), np.log(3), (statistics, 4)))
    table = []
    for i in range(statistics):
        registers = rng.permutation(4)[: rng.integers(1, 5)]
        table.append([measure(rng, float(true[i, r]), GROUPS[r], float(noise[i, r])) for r in registers])
    return true, table


def defaults(measured: Sequence[Measured], model: Registers) -> dict[str, tuple[float, float, float]]:
    """Band and interval of each rule."""
    seen = [m for m in measured if m[0] > 0 and is_seen(m[0], m[1])]
    positive = [m for m in measured if m[0] > 0]
    rules = {"predicted": model.band(measured)}
    if positive:
        rules["predicted, without bands of 0 (in use)"] = model.band(positive)
        values, lows, highs = zip(*((m[0], m[1], m[2]) for m in positive), strict=True)
        ends = (values, values) if seen and len(positive) > 1 else (lows, highs)
        rules["median of all (before)"] = median(values), min(ends[0]), max(ends[1])
        rules["median of upper ends where not seen"] = (
            median(m[0] if m in seen else m[2] for m in positive),
            min(lows),
            max(highs),
        )
    if seen:
        rules["median of those that are seen"] = (
            median(m[0] for m in seen),
            min(m[1] for m in seen),
            max(m[2] for m in seen),
        )
    return rules


def simulated(replications: int) -> str:
    """The table: how far defaults lie from the band in a register that was not measured."""
    found: dict[str, list[tuple[float, bool, bool]]] = {}
    for k in range(replications):
        true, table = drawn(k)
        model = Registers.fitted(table)
        for bands, measured in zip(true, table, strict=True):
            hard = not any(m[0] > 0 and is_seen(m[0], m[1]) for m in measured)
            for rule, (value, low, high) in defaults(measured, model).items():
                found.setdefault(rule, []).append((np.log(value / bands[-1]), low <= bands[-1] <= high, hard))
    heads = ("cases", "median ÷ truth", "half of it or less", "error of the logarithm", "interval holds the truth")
    lines = [
        f"| default band | {' | '.join(heads)} | where none is seen: half of it or less |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for rule, rows in found.items():
        errors, held, hard = (np.array(column) for column in zip(*rows, strict=True))
        of_hard = f"{(errors[hard] < -np.log(2)).mean():.3f} of {hard.sum():,}" if hard.any() else "–"
        lines.append(
            f"| {rule} | {len(rows):,} | {np.exp(np.median(errors)):.2f} | {(errors < -np.log(2)).mean():.3f} "
            f"| {np.sqrt(np.mean(errors**2)):.2f} | {held.mean():.3f} | {of_hard} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Simulate, print the table, and write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=40, help="of 60 statistics each")
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    text = f"{simulated(a.replications)}\n\n{a.replications:,} replications of 60 statistics."
    print(text)
    if a.write:
        page = a.write.read_text(encoding="utf-8")
        before, rest = page.split(MARKERS[0], 1)
        a.write.write_text(
            f"{before}{MARKERS[0]}\n{text}\n{MARKERS[1]}{rest.split(MARKERS[1], 1)[1]}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
