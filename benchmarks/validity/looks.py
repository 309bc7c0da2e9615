"""False alarms and power of tests that are looked at repeatedly.

Two ways of looking: ``cumulative``, where each look tests all documents so far (50 more per side at each look), and
``nightly``, where each look tests 50 fresh generated documents against the same 50 real ones. Values are normal or
log-normal (σ = 1); tests are Welch's t (its p-values are close to those of permutations, which a smaller run checks).
Three tables: false alarms over 20 and 100 looks, power beside a test at the last look alone, and the power of schedules
of alpha spending.

Run:  python benchmarks/validity/looks.py [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from always_valid import Wager, half_width
from scipy import stats
from scipy.optimize import brentq

from momus.inference.sequential import spent
from momus.numeric.types import Bools, Floats

ALPHA, BATCH, CHUNK = 0.05, 50, 250
HEADER = "\n## Repeated looks\n\n<!-- looks -->\n<!-- end of looks -->\n"
POWERS = (0.5, 0.8, 0.95)
NIGHTLY_LOOKS = (20, 100)


@dataclass(frozen=True)
class Sample:
    """Statistics of replications: t and p at each look, both (R, looks); and the values, (R, looks, BATCH) each."""

    t: Floats
    p: Floats
    real: Floats
    generated: Floats


def samples(kind: str, looks: int, shift: float, values: str, replications: int, seed: int) -> Iterator[Sample]:
    """Simulate in chunks; ``shift`` is the difference of means in standard deviations of normal values."""
    rng = np.random.default_rng([seed, looks, kind == "nightly"])
    transform: Callable[[Floats], Floats] = np.exp if values == "log-normal" else np.positive
    for start in range(0, replications, CHUNK):
        size = min(CHUNK, replications - start)
        real = transform(rng.normal(size=(size, 1 if kind == "nightly" else looks, BATCH)))
        generated = transform(rng.normal(size=(size, looks, BATCH)) + shift)
        moments = []
        for side in (real, generated):
            sums, squares = side.sum(axis=2), (side**2).sum(axis=2)
            n = np.full(sums.shape[1], float(BATCH))
            if kind == "cumulative":
                sums, squares, n = np.cumsum(sums, axis=1), np.cumsum(squares, axis=1), np.cumsum(n)
            mean = sums / n
            moments.append((mean, (squares / n - mean**2) / (n - 1), n))  # squared standard error of the mean
        (a, va, n), (b, vb, _) = moments
        t = (b - a) / np.sqrt(va + vb)
        freedom = (va + vb) ** 2 / (va**2 / (n - 1) + vb**2 / (n - 1))
        yield Sample(t, 2 * stats.t.sf(np.abs(t), freedom), real, generated)


def schedule(weights: Floats) -> Callable[[Sample], Bools]:
    """Alarms of spending, (R, looks)."""
    return lambda sample: sample.p <= ALPHA * weights[: sample.p.shape[1]]


def by_spending(looks: int, planned: bool) -> Callable[[Sample], Bools]:
    """Alarms at the levels of `momus.inference.sequential.spent`."""
    return schedule(np.array([spent(ALPHA, k, looks if planned else None) / ALPHA for k in range(1, looks + 1)]))


def by_mixture(sample: Sample) -> Bools:
    """Alarms of the confidence sequence, (R, looks)."""
    growth = np.log(np.arange(1, sample.t.shape[1] + 1))
    return np.asarray(np.abs(sample.t) > np.sqrt(half_width(ALPHA) ** 2 + growth))


def by_betting(sample: Sample) -> Bools:
    """Alarms of betting, (R, looks)."""
    capital = np.empty(sample.t.shape)
    for r, (real, generated) in enumerate(zip(sample.real, sample.generated, strict=True)):
        wager = Wager()
        capital[r] = [wager.bet(x, y) for x, y in zip(real, generated, strict=True)]
    return np.asarray(capital >= 1 / ALPHA)


def unadjusted(sample: Sample) -> Bools:
    """Alarms at p ≤ α at every look."""
    return np.asarray(sample.p <= ALPHA)


def last_only(sample: Sample) -> Bools:
    """Alarms of one test at the last look."""
    alarms = sample.p <= ALPHA
    alarms[:, :-1] = False
    return np.asarray(alarms)


def methods(kind: str, looks: int) -> dict[str, Callable[[Sample], Bools]]:
    """Methods that may be used with a way of looking."""
    found = {
        "last look only": last_only,
        "p ≤ 0.05 at any look": unadjusted,
        "spending": by_spending(looks, planned=False),
        "spending, planned": by_spending(looks, planned=True),
    }
    return found if kind == "nightly" else found | {"mixture": by_mixture, "betting": by_betting}


def stopping(alarms: Bools) -> Floats:
    """Look of the first alarm of each replication, NaN where there is none: (R,)."""
    return np.where(alarms.any(axis=1), alarms.argmax(axis=1) + 1.0, np.nan)


def measure(
    kind: str,
    looks: int,
    shift: float,
    values: str,
    replications: int,
    seed: int = 0,
    **only: Callable[[Sample], Bools],
) -> dict[str, Floats]:
    """Look of the first alarm by method, (R,) each."""
    chosen = only or methods(kind, looks)
    found: dict[str, list[Floats]] = {name: [] for name in chosen}
    for sample in samples(kind, looks, shift, values, replications, seed):
        for name, method in chosen.items():
            found[name].append(stopping(method(sample)))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def rate(first: Floats) -> str:
    """Share of replications with an alarm, and its 95 % Clopper–Pearson interval."""
    hits = int(np.isfinite(first).sum())
    interval = stats.binomtest(hits, len(first)).proportion_ci(0.95, method="exact")
    return f"{hits / len(first):.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def shift_of(power: float, n: int) -> float:
    """Difference of means that a two-sided test of n | n normal values detects with this power."""

    def excess(d: float) -> float:
        freedom, centre = 2 * n - 2, d * np.sqrt(n / 2)
        edge = stats.t.ppf(1 - ALPHA / 2, freedom)
        return float(stats.nct.sf(edge, freedom, centre) - power)

    return float(brentq(excess, 1e-6, 10 / np.sqrt(n)))


def table(rows: list[list[str]], heads: list[str]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def false_alarms(replications: int) -> str:
    """Shares of null runs with any alarm."""
    heads = list(methods("cumulative", 2))
    rows = []
    for kind in ("cumulative", "nightly"):
        for looks in NIGHTLY_LOOKS:
            for values in ("normal", "log-normal"):
                found = measure(kind, looks, 0.0, values, replications)
                rows.append(
                    [f"{kind}, {looks} looks, {values}", *(rate(found[h]) if h in found else "–" for h in heads)]
                )
                print(rows[-1], flush=True)
    return table(rows, ["way of looking", *heads])


def powers(replications: int) -> str:
    """Power, and the mean look of the first alarm (the last look where there is none)."""
    heads = [h for h in methods("cumulative", 2) if h != "p ≤ 0.05 at any look"]
    rows = []
    for kind in ("cumulative", "nightly"):
        for looks in NIGHTLY_LOOKS:
            for power in POWERS:
                d = shift_of(power, BATCH * looks if kind == "cumulative" else BATCH)
                allowed = {n: m for n, m in methods(kind, looks).items() if n in heads}
                found = measure(kind, looks, d, "normal", replications, 1, **allowed)
                cells = [
                    f"{rate(found[h])}, look {np.nan_to_num(found[h], nan=looks).mean():.1f}" if h in found else "–"
                    for h in heads
                ]
                rows.append([f"{kind}, {looks} looks, d = {d:.3f}", *cells])
                print(rows[-1], flush=True)
    return table(rows, ["way of looking, difference in s.d.", *heads])


def schedules(replications: int) -> str:
    """Power of schedules of spending."""
    k = np.arange(1.0, 101)
    weights = {
        "k⁻ˢ − (k + 1)⁻ˢ, s = 1/4": k**-0.25 - (k + 1) ** -0.25,
        "s = 1/2 (used)": k**-0.5 - (k + 1) ** -0.5,
        "s = 1: 1/(k(k + 1))": 1 / (k * (k + 1)),
        "6/(πk)²": 6 / (np.pi * k) ** 2,
        "∝ 1/((k + 1) log²(k + 1))": 1 / ((k + 1) * np.log(k + 1) ** 2) / 2.109742801,  # sum over k ≥ 1
    }
    chosen = {name: schedule(w) for name, w in weights.items()}
    cells: dict[str, list[str]] = {name: [name] for name in chosen}
    cases = [("cumulative", 20), ("cumulative", 100), ("nightly", 20), ("nightly", 100)]
    for kind, looks in cases:
        d = shift_of(0.8, BATCH * looks if kind == "cumulative" else BATCH)
        if kind == "nightly":
            d = shift_of(0.5, BATCH)
        for name, first in measure(kind, looks, d, "normal", replications, 2, **chosen).items():
            cells[name].append(rate(first))
    return table(list(cells.values()), ["level of look k / α", *(f"{kind}, {looks} looks" for kind, looks in cases)])


def permutation_check(replications: int) -> str:
    """The nightly design of 20 looks with Momus' own permutation tests."""
    from momus.critic.statistic import Statistic, mean
    from momus.inference.testing import compare_rows

    def p_value(real: Floats, generated: Floats, permutations: int) -> float:
        rows = [{"x": np.column_stack([v, np.ones(len(v))])} for v in (real, generated)]
        statistic = Statistic("mean", "x", "value", mean)
        return compare_rows([statistic], *rows, permutations=permutations, resamples=0, threads=1)[0].p

    first: dict[str, list[float]] = {"p ≤ 0.05 at any look": [], "spending": []}
    for sample in samples("nightly", 20, 0.0, "log-normal", replications, 3):
        p = np.ones(sample.p.shape)
        for r, generated in enumerate(sample.generated):
            for k, night in enumerate(generated):
                p[r, k] = p_value(sample.real[r, 0], night, 199)
                if p[r, k] <= ALPHA:  # enough permutations for the level of look 20
                    p[r, k] = p_value(sample.real[r, 0], night, 19_999)
        permuted = Sample(sample.t, p, sample.real, sample.generated)
        first["p ≤ 0.05 at any look"] += stopping(unadjusted(permuted)).tolist()
        first["spending"] += stopping(by_spending(20, planned=False)(permuted)).tolist()
    shown = "; ".join(f"{name}: {rate(np.array(values))}" for name, values in first.items())
    return (
        f"With Momus' own permutation tests (199 permutations, 19,999 where p ≤ 0.05; nightly, 20 looks, log-normal, "
        f"R = {replications:,}): {shown}."
    )


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000, help="per row of the tables")
    parser.add_argument("--schedules", type=int, default=4000, help="replications per schedule")
    parser.add_argument("--permuted", type=int, default=500, help="replications with permutation tests")
    parser.add_argument("--write", type=Path, help="insert the tables into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    begun = time.perf_counter()
    text = f"""False alarms over all looks (α = {ALPHA}, 50 documents per side and look, R = {a.replications:,}):

{false_alarms(a.replications)}

Power, and the mean look of the first alarm (the last look in runs without one; R = {a.replications:,}). The differences
are those that one test at the last look detects with power 0.5, 0.8 and 0.95; spending, mixture and betting also stop
at any later look, which a test of a fixed number of documents does not:

{powers(a.replications)}

Power of schedules of alpha spending (R = {a.schedules:,}; a test at the last look has power 0.8 in the cumulative
designs, and each single night 0.5):

{schedules(a.schedules)}

{permutation_check(a.permuted)}

Brackets are 95 % Clopper–Pearson intervals. Command:
`python benchmarks/validity/looks.py --write benchmarks/validity/TABLES.md`
"""
    print(f"{text}\n{time.perf_counter() - begun:.0f} s")
    if a.write:
        from null_and_power import write_between

        page = a.write.read_text(encoding="utf-8")
        if "<!-- looks -->" not in page:
            a.write.write_text(page.rstrip("\n") + "\n" + HEADER, encoding="utf-8")
        write_between(a.write, "looks", text)


if __name__ == "__main__":
    main()
