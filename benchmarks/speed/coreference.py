"""Speed of the n-gram process over chains, compared with the paper's literal algorithm in plain Python.

Both relabel entities within each window and count windows of 1 to 5 symbols, with absolute discounting. The literal
version keeps tuples in dictionaries and walks down the orders for each symbol. A million symbols of chains are drawn
from a process in which persons come and go.

Run:  python benchmarks/speed/coreference.py [--symbols 1000000]
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter, defaultdict

import numpy as np

from momus_critics.coreference.process import ChainProcess
from momus_critics.coreference.symbols import Chains

ORDER, KINDS = 5, 37


def draw(symbols: int, seed: int) -> Chains:
    """Documents of 500 symbols: sentence starts, and mentions of a few persons, the most recent being likeliest."""
    rng = np.random.default_rng(seed)
    offsets = np.append(np.arange(0, symbols, 500), symbols).astype(np.int64)
    bare = rng.random(symbols) < 0.3
    entities = np.minimum(rng.geometric(0.4, symbols) - 1, 8) + (np.arange(symbols) // 60) % 5
    kinds = 2 + (entities * 7 + rng.integers(0, 5, symbols) ** 2) % (KINDS - 2)
    return Chains(np.where(bare, 1, kinds).astype(np.int64), np.where(bare, -1, entities).astype(np.int64), offsets)


def named(window: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Number the entities of a window by first appearance."""
    numbers: dict[int, int] = {}
    return tuple((k, -1 if e < 0 else numbers.setdefault(e, len(numbers))) for k, e in window)


def literal(chains: Chains) -> tuple[float, float]:
    """Count and score with dictionaries; return seconds and mean log-probability."""
    start = time.perf_counter()
    symbols = list(zip(chains.kinds.tolist(), chains.entities.tolist(), strict=True))
    documents = [
        [(0, -1)] * (ORDER - 1) + symbols[a:b] for a, b in zip(chains.offsets[:-1], chains.offsets[1:], strict=True)
    ]
    counts = [Counter() for _ in range(ORDER + 1)]
    for d in documents:
        for i in range(ORDER - 1, len(d)):
            for m in range(1, ORDER + 1):
                counts[m][named(d[i - m + 1 : i + 1])] += 1
    totals, types = ([Counter() for _ in range(ORDER + 1)] for _ in range(2))
    for m in range(1, ORDER + 1):
        for g, c in counts[m].items():
            totals[m][g[:-1]] += c
            types[m][g[:-1]] += 1
    back = [0.5] * (ORDER + 1)
    discounts = [0.0] * (ORDER + 1)
    for m in range(1, ORDER + 1):
        by = Counter(counts[m].values())
        discounts[m] = by[1] / (by[1] + 2 * by[2]) if by[1] else 0.5
        gone = returned = 0
        for g, c in counts[m].items() if m > 1 else ():
            is_gone, is_back, is_new = left(g)
            returned += c * is_back
            gone += c * (is_gone and (is_back or is_new))
        back[m] = (returned + 0.5) / (gone + 1)

    def probability(g: tuple[tuple[int, int], ...]) -> float:
        m = len(g)
        if m == 1:
            lower = 1 / (KINDS - 1)
        else:
            lower = probability(named(list(g[1:])))
            is_gone, is_back, is_new = left(g)
            if is_back:
                lower *= back[m]
            elif is_gone and is_new:
                lower *= 1 - back[m]
        total = totals[m].get(g[:-1], 0)
        if not total:
            return lower
        d = discounts[m]
        return max(counts[m].get(g, 0) - d, 0) / total + d * types[m][g[:-1]] / total * lower

    value = [
        math.log(probability(named(d[i - ORDER + 1 : i + 1]))) for d in documents for i in range(ORDER - 1, len(d))
    ]
    return time.perf_counter() - start, float(np.mean(value))


def left(g: tuple[tuple[int, int], ...]) -> tuple[bool, bool, bool]:
    """Whether the first entity leaves the window, whether the last symbol mentions it, and whether the last is new."""
    entity, last = g[0][1], g[-1][1]
    gone = entity >= 0 and all(e != entity for _, e in g[1:-1])
    return gone, gone and last == entity, last >= 0 and all(e != last for _, e in g[:-1])


def main() -> None:
    """Time both in one run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symbols", type=int, default=1_000_000)
    chains = draw(parser.parse_args().symbols, 0)
    found = defaultdict(float)
    for smoothing in ("kneser-ney", "absolute"):
        start = time.perf_counter()
        process = ChainProcess(kinds=KINDS, order=ORDER, discounting=smoothing).fit(chains)
        fitted = time.perf_counter()
        found[smoothing] = float(process.log_probabilities(chains).mean())
        done = time.perf_counter()
        print(f"ours, {smoothing}: fit {fitted - start:.2f} s, score {done - fitted:.2f} s", flush=True)
    seconds, value = literal(chains)
    ours = done - start
    print(f"literal Python, absolute: {seconds:.1f} s ({seconds / ours:.0f} times ours); {value:.9f} nats per symbol")
    print(f"difference of mean log-probability: {abs(value - found['absolute']):.1e}")


if __name__ == "__main__":
    main()
