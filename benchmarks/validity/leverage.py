"""Standard errors of ratios of totals where documents are long and short: how far residuals are corrected for leverage.

Latent PPL of equal processes, whose lengths are log-normal with other σ on each side. A document of weight w moves the
ratio θ = Σx/Σw, so that its residual x − θw is too small by a factor of about 1 − h, h = w/Σw. Rules divide squared
residuals by (1 − h)^k, to second order around h = 1/n: k = 0 is the delta method, 2 the jackknife, 4 is in use
(`momus.inference.studentised`). Levels and power are those of permutation tests with 199 relabellings at 0.05; errors
are root mean squares over samples, divided by the standard deviation of the difference.

Run:  python benchmarks/validity/leverage.py [--replications 4000] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from null_and_power import write_between

sys.path.insert(1, str(Path(__file__).parent / "decisions"))

from data import sequences

from momus.calibration.rates import Rate
from momus.numeric.types import Bools, Floats

RULES = {0: "delta method", 2: "jackknife", 3: "k = 3", 4: "k = 4 (used)"}
RELABELLINGS, ALPHA, NATS = 199, 0.05, 3.0
SETTINGS = (
    (50, 50, 0.3, 1.5, 0.0),
    (50, 200, 0.3, 1.5, 0.0),
    (200, 50, 0.3, 1.5, 0.0),
    (20, 60, 1.5, 0.5, 0.0),
    (20, 20, 0.5, 1.0, 0.0),
    (20, 20, 1.5, 1.5, 0.0),
    (10, 10, 1.5, 1.5, 0.0),
    (50, 50, 0.3, 1.5, 0.2),
    (50, 200, 0.3, 1.5, 0.15),
)
"""Documents per side, σ of log length per side, and the true difference in nats per step."""
Setting = tuple[int, int, float, float, float]


def variances(x: Floats, w: Floats, labels: Bools) -> tuple[Floats, dict[int, Floats]]:
    """Ratio of the labelled documents, (B,), and its variance by rule; labels are (B, N)."""
    mine = labels.astype(float)
    total, n = mine @ w, mine.sum(axis=1)
    ratio = (mine @ x) / total
    sums = mine @ np.column_stack([c * w**k for k in range(3) for c in (x * x, x * w, w * w)])
    # Σ (x − θw)² hᵏ, (B,) for k = 0, 1, 2
    parts = [
        (sums[:, 3 * k] - 2 * ratio * sums[:, 3 * k + 1] + ratio**2 * sums[:, 3 * k + 2]) / total**k for k in range(3)
    ]
    a = n / (n - 1)
    found: dict[int, Floats] = {}
    for k in RULES:
        one, two = k, k * (k + 1) / 2  # (1 + d)⁻ᵏ to second order, d = −(h − 1/n)/(1 − 1/n)
        factors = 1 - one * a / n + two * (a / n) ** 2, one * a - 2 * two * a**2 / n, two * a**2
        squares = sum((f * p for f, p in zip(factors, parts, strict=True)), np.zeros_like(total))
        found[k] = np.asarray(a * squares / total**2)
    return ratio, found


def studentised(rows: Floats, labels: Bools) -> tuple[Floats, dict[int, Floats]]:
    """Difference of the ratios of both sides, and its standard error by rule, (B,) each; rows are (N, 2)."""
    x, w = rows[:, 0], rows[:, 1]
    centred = x - x.sum() / w.sum() * w
    (one, first), (other, second) = (variances(centred, w, side) for side in (labels, ~labels))
    return other - one, {k: np.sqrt(first[k] + second[k]) for k in RULES}


def sample(rng: np.random.Generator, setting: Setting) -> Floats:
    """Rows [nats, steps] of both sides, the real ones first: (n + m, 2)."""
    n, m, real, generated, difference = setting
    return np.concatenate([sequences(rng, n, NATS, real), sequences(rng, m, NATS + difference, generated)])


def rejections(setting: Setting, replications: int) -> dict[int, int]:
    """Number of samples that each rule rejects."""
    rng, (n, m, *_) = np.random.default_rng(1), setting
    hits = dict.fromkeys(RULES, 0)
    for _ in range(replications):
        rows = sample(rng, setting)
        labels = np.argsort(rng.random((RELABELLINGS + 1, n + m), dtype=np.float32), axis=1) < n
        labels[0] = np.arange(n + m) < n
        difference, errors = studentised(rows, labels)
        for k, error in errors.items():
            t = np.abs(difference / error)
            hits[k] += bool((t >= t[0] - 1e-12).mean() <= ALPHA)
    return hits


def error_ratios(setting: Setting, replications: int) -> dict[int, float]:
    """Root mean square of the standard error of each rule, in standard deviations of the difference."""
    rng, (n, m, *_) = np.random.default_rng(5), setting
    observed = (np.arange(n + m) < n)[None]
    found = [studentised(sample(rng, setting), observed) for _ in range(replications)]
    spread = float(np.std([float(difference[0]) for difference, _ in found]))
    return {k: float(np.sqrt(np.mean([errors[k][0] ** 2 for _, errors in found]))) / spread for k in RULES}


def row(setting: Setting, cells: Sequence[str]) -> str:
    """One row of either table."""
    n, m, real, generated, difference = setting
    return f"| {n} \\| {m} | {real:g} \\| {generated:g} | {difference:g} | {' | '.join(cells)} |"


def level_row(setting: Setting, hits: dict[int, int], replications: int) -> str:
    """Level or power of each rule, with their intervals."""
    rates = [Rate.of(hits[k], replications) for k in RULES]
    return row(setting, [f"{r.share:.3f} [{r.low:.3f}, {r.high:.3f}]" for r in rates])


def table(replications: int) -> str:
    """Levels and power, then standard errors where there is no difference."""
    head = [
        f"| documents | σ of log length | difference | {' | '.join(RULES.values())} |",
        "|---|---|---:|" + "---:|" * len(RULES),
    ]
    levels = [level_row(s, rejections(s, replications), replications) for s in SETTINGS]
    errors = [row(s, [f"{v:.2f}" for v in error_ratios(s, replications).values()]) for s in SETTINGS if not s[-1]]
    return "\n".join(
        [
            f"Share of samples that are rejected, R = {replications:,}:",
            "",
            *head,
            *levels,
            "",
            "Root mean square of the standard errors, in standard deviations of the difference:",
            "",
            *head,
            *errors,
        ]
    )


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=4000)
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    text = table(a.replications)
    print(text)
    if a.write:
        write_between(a.write, "leverage", text)


if __name__ == "__main__":
    main()
