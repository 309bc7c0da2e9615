"""Speed of the scaling laws, compared with plain Counter and NumPy code below, and `powerlaw` for the Zipf fit.

Run:  python benchmarks/speed/laws.py [--times 10]
Data: the folder ``wikitext-2`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

import momus
from momus.laws.law import standard_error
from momus.text.running import RunningText
from momus.text.tokens import get_tokenizer
from momus_critics import rank_frequency as zipf
from momus_critics.laws import Ebeling, Heaps, LongRange, Productivity, Taylor, ZipfSlope
from momus_critics.laws.curves import fit_line, window_lengths

T = TypeVar("T")
LAWS = (ZipfSlope(), Heaps(), Ebeling(), Taylor(), LongRange(), Productivity())


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a function and its time in seconds."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def peer_ebeling(words: list[str]) -> float:
    """Ebeling's exponent with a Counter for every window."""
    text = " ".join(words)
    lengths = window_lengths(len(text))
    values = []
    for length in lengths.tolist():
        total: Counter[str] = Counter()
        squares: Counter[str] = Counter()
        windows = len(text) // length
        for i in range(windows):
            for c, n in Counter(text[i * length : (i + 1) * length]).items():
                total[c] += n
                squares[c] += n * n
        values.append(sum(squares[c] / windows - (total[c] / windows) ** 2 for c in total))
    return fit_line(lengths, np.array(values)).slope


def peer_taylor(words: list[str], segment: int = 5620) -> float:
    """Taylor's exponent with a Counter for every segment."""
    total: Counter[str] = Counter()
    squares: Counter[str] = Counter()
    pieces = len(words) // segment
    for i in range(pieces):
        for w, n in Counter(words[i * segment : (i + 1) * segment]).items():
            total[w] += n
            squares[w] += n * n
    mean = np.array([total[w] for w in total]) / pieces
    deviation = np.sqrt(np.maximum(np.array([squares[w] for w in total]) / pieces - mean**2, 0))
    return fit_line(mean[deviation > 1e-12], deviation[deviation > 1e-12]).slope


def peer_heaps(words: list[str]) -> float:
    """Heaps' exponent with a growing set."""
    seen: set[str] = set()
    growth = []
    for w in words:
        seen.add(w)
        growth.append(len(seen))
    grid = Heaps().curve(RunningText(np.zeros(len(words), np.int32), ["x"]))[0].astype(int)
    return fit_line(grid, np.array(growth)[grid - 1]).slope


def peer_productivity(words: list[str], order: int) -> float:
    """N1/N of n-grams with a Counter."""
    grams = Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))
    return sum(n == 1 for n in grams.values()) / (len(words) - order + 1)


def all_laws(stream: RunningText) -> dict[str, tuple[float, float]]:
    """Return each law's slope and time; productivity is computed for n-grams of 1 to 5."""
    from momus_critics.laws import curves

    found = {}
    for law in LAWS[:-1]:
        found[law.name] = timed(lambda law=law: law.line(stream).slope)
    result, seconds = timed(lambda: curves.productivity(stream, (1, 2, 3, 4, 5)))
    found["productivity 1–5"] = result[1][1][-1], seconds
    return found


def main() -> None:
    """Print all timings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="repetitions of the text, to measure growth of time")
    arguments = parser.parse_args()
    named = os.environ.get("MOMUS_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    corpus = momus.read_corpus(folder / "wikitext-2" / "train.txt.gz", fmt="lines")
    table, splitting = timed(lambda: corpus.tokens(get_tokenizer("whitespace", lower=False)))
    stream = RunningText.of(table)
    print(f"{len(stream):,} tokens; splitting and encoding {splitting:.2f} s")
    found = all_laws(stream)
    for name, (value, seconds) in found.items():
        print(f"  {name:<18}{value:9.4f}{seconds:8.3f} s")
    total = sum(s for _, s in found.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"all laws: {total:.2f} s = {total / splitting:.1f} times splitting and encoding; peak {peak:.2f} GB")

    _, intervals = timed(lambda: [standard_error(law.laws()[0], stream, 20) for law in LAWS])
    print(f"intervals (leaving out each of 20 groups, six laws): {intervals:.1f} s")

    words = [stream.vocabulary[i] for i in stream.ids.tolist()]
    for name, peer in (("ebeling", peer_ebeling), ("taylor", peer_taylor), ("heaps", peer_heaps)):
        value, seconds = timed(lambda peer=peer: peer(words))
        ours = found[name]
        print(f"peer {name}: {value:.4f} in {seconds:.2f} s; ours {ours[0]:.4f}, {seconds / ours[1]:.1f} times faster")
    value, seconds = timed(lambda: [peer_productivity(words, n) for n in range(1, 6)][1])
    ours = found["productivity 1–5"]
    faster = seconds / ours[1]
    print(f"peer productivity 1–5: {value:.4f} in {seconds:.2f} s; ours {ours[0]:.4f}, {faster:.1f} times faster")

    counts = stream.counts.astype(float)
    exponent, ours_fit = timed(lambda: zipf.fit_exponent(counts))
    try:
        import powerlaw
    except ImportError:
        print(f"Zipf by maximum likelihood: {exponent:.4f} in {ours_fit:.3f} s (package powerlaw is not installed)")
    else:
        ranks = np.repeat(np.arange(1, len(counts) + 1), np.sort(counts)[::-1].astype(int))
        fit, seconds = timed(lambda: powerlaw.Fit(ranks, discrete=True, xmin=1, verbose=False).power_law.alpha)
        print(f"Zipf by maximum likelihood: {exponent:.4f} in {ours_fit:.3f} s; powerlaw {fit:.4f} in {seconds:.2f} s")

    long = RunningText(np.tile(stream.ids, arguments.times), stream.vocabulary)
    more = all_laws(long)
    grown = sum(s for _, s in more.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    for name, (_, seconds) in more.items():
        print(f"  {name:<18}{seconds:8.3f} s, {seconds / found[name][1]:.1f} times as long")
    print(f"{arguments.times} times the text: {grown:.1f} s, {grown / total:.1f} times as long; peak {peak:.2f} GB")


if __name__ == "__main__":
    main()
