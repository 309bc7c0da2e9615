"""Scaling laws compared with the paper's values (Takahashi & Tanaka-Ishii 2019, tables 1 and 2) and independent ones.

Texts: WikiText-2 train (words without and with a mark at the end of each line), its n-gram shuffles, one million words
each of the Simon and the Pitman–Yor process, and Shakespeare (another edition than the paper's; whole, and cut to the
paper's number of tokens). Each of our values has its standard error.

A value is *near* the paper's if it rounds to the printed one or is at most 0.01 from it, and *within* if it lies within
the tolerance of an independent reference value. What neither has is marked by a dash and counts for nothing.

Run:  python benchmarks/reproduce/scaling.py [--figures DIR]
Data: the folders ``wikitext-2`` and ``books`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from processes import pitman_yor, shuffle_ngrams, simon

import momus
from momus.laws.law import standard_error
from momus.text.running import RunningText
from momus.text.tokens import get_tokenizer
from momus_critics.laws import Ebeling, Heaps, LongRange, Taylor, ZipfSlope, curves
from momus_critics.laws.base import ScalingLaw
from momus_critics.laws.curves import fit_line

NEAR = 0.0101
"""Largest difference from a value of the paper, which prints two decimals, that counts as near."""
SHUFFLED = {"heaps": 0.76, "ebeling": 1.00, "taylor": 0.50}
PAPER: dict[str, dict[str, float]] = {
    "WikiText-2": {"heaps": 0.75, "ebeling": 1.32, "taylor": 0.62, "long-range": -0.33},
    "WikiText-2 with <eos>": {"heaps": 0.75, "ebeling": 1.32, "taylor": 0.62, "long-range": -0.33},
    "1-gram shuffle": {**SHUFFLED, "heaps": 0.75},
    "2-gram shuffle": SHUFFLED,
    "5-gram shuffle": SHUFFLED,
    "10-gram shuffle": SHUFFLED,
    "Simon process": {"heaps": 0.95, "taylor": 0.50, "long-range": -0.09},
    "Pitman–Yor process": {"heaps": 0.78, "taylor": 0.50},
    "Shakespeare": {"heaps": 0.79, "ebeling": 1.24, "taylor": 0.59, "long-range": -0.13},
}
PAPER["Shakespeare, 740,706 tokens"] = PAPER["Shakespeare"]
"""Slopes that the paper prints."""
REFERENCE: dict[str, dict[str, tuple[float, float]]] = {
    "WikiText-2": {
        "zipf-slope": (-1.243, 0.001),
        "heaps": (0.747, 0.01),
        "ebeling": (1.324, 0.005),
        "taylor": (0.6190, 0.005),
        "long-range": (-0.3334, 0.01),
    },
    "1-gram shuffle": {"heaps": (0.753, 0.01), "ebeling": (1.000, 0.01), "taylor": (0.4998, 0.01)},
    "Simon process": {"taylor": (0.50, 0.01)},
    "Pitman–Yor process": {"taylor": (0.50, 0.01)},
}
"""Slopes computed independently, and their tolerances."""
CORRELATION = {
    "WikiText-2": "Strong",
    "WikiText-2 with <eos>": "Strong",
    **{f"{n}-gram shuffle": "No" for n in (1, 2, 5, 10)},
    "Simon process": "Strong",
    "Pitman–Yor process": "No",
    "Shakespeare": "Strong",
    "Shakespeare, 740,706 tokens": "Strong",
}
"""The paper's verdict on long-range correlation ("No", or an exponent; Simon's does not decay)."""


def data(*names: str) -> Path:
    """Path of a data file."""
    named = os.environ.get("MOMUS_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    return folder.joinpath(*names)


def wikitext() -> RunningText:
    """WikiText-2 train as running text."""
    corpus = momus.read_corpus(data("wikitext-2", "train.txt.gz"), fmt="lines")
    return RunningText.of(corpus.tokens(get_tokenizer("whitespace", lower=False)))


def words_of(path: Path, end: str | None = None, most: int | None = None) -> RunningText:
    """Words of a text between white space; ``end`` is a word put after each line, ``most`` the number of words kept."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        words = [w for line in file for w in (*line.split(), *([end] if end else []))][:most]
    vocabulary, ids = np.unique(np.array(words), return_inverse=True)
    return RunningText(ids.astype(np.int32), vocabulary.tolist())


def numbered(ids: np.ndarray) -> RunningText:
    """Running text of made-up words, numbered by their ids."""
    return RunningText(ids, [f"w{i}" for i in range(int(ids.max()) + 1)])


def texts(words: int) -> dict[str, Callable[[], RunningText]]:
    """Return functions that make each text."""
    real = wikitext()
    shakespeare = data("books", "shakespeare.txt.gz")
    shuffles = {
        f"{n}-gram shuffle": (lambda n=n: RunningText(shuffle_ngrams(real.ids, n, seed=n), real.vocabulary))
        for n in (1, 2, 5, 10)
    }
    return {
        "WikiText-2": lambda: real,
        "WikiText-2 with <eos>": lambda: words_of(data("wikitext-2", "train.txt.gz"), end="<eos>"),
        **shuffles,
        "Simon process": lambda: numbered(simon(words, 0.1, seed=0)),
        "Pitman–Yor process": lambda: numbered(pitman_yor(words, 0.8, 1.0, seed=0)),
        "Shakespeare": lambda: words_of(shakespeare),
        "Shakespeare, 740,706 tokens": lambda: words_of(shakespeare, most=740_706),
    }


@dataclass
class Tally:
    """How many values were compared with the paper's and with references, and how many agree."""

    near: int = 0
    printed: int = 0
    within: int = 0
    referenced: int = 0
    far: list[str] = field(default_factory=list)

    def paper(self, name: str, slope: float, printed: float | None) -> str:
        """The paper's value, and whether ours is near it."""
        if printed is None:
            return "–"
        near = abs(slope - printed) <= NEAR
        self.printed += 1
        self.near += near
        if not near:
            self.far.append(f"{name} {slope:.3f} ({printed:.2f})")
        return f"{printed:.2f} {'near' if near else 'FAR'}"

    def reference(self, slope: float, known: tuple[float, float] | None) -> str:
        """The reference value, and whether ours is within its tolerance."""
        if known is None:
            return "–"
        value, tolerance = known
        within = abs(slope - value) <= tolerance
        self.referenced += 1
        self.within += within
        return f"{value:.4f} ± {tolerance:g} {'within' if within else 'OUTSIDE'}"


def show(name: str, stream: RunningText, tally: Tally) -> None:
    """Print all laws of one text, and count what agrees."""
    print(f"\n{name}: {len(stream):,} tokens, {int((stream.counts > 0).sum()):,} types")
    print(f"  {'law':<12}{'ours':>9}{'± s.e.':>9}{'ε':>8}{'paper':>14}{'reference':>26}")
    laws: tuple[ScalingLaw, ...] = (ZipfSlope(), Heaps(), Ebeling(), Taylor(), LongRange())
    for law in laws:
        try:
            line = law.line(stream)
            error = standard_error(law.laws()[0], stream, 20).error
        except ValueError as reason:
            print(f"  {law.name:<12}{'–':>9}  ({reason})")
            continue
        paper = tally.paper(f"{name}: {law.name}", line.slope, PAPER.get(name, {}).get(law.name))
        reference = tally.reference(line.slope, REFERENCE.get(name, {}).get(law.name))
        print(f"  {law.name:<12}{line.slope:9.4f}{error:9.4f}{line.error:8.4f}{paper:>14}{reference:>26}")
    correlation = LongRange().verdict(stream)
    expected = CORRELATION[name]
    tally.printed += 1
    tally.near += correlation == expected
    if correlation != expected:
        tally.far.append(f"{name}: correlation {correlation} ({expected})")
    print(f"  correlation of rare words: {correlation} (paper: {expected})")
    print(f"  ξ over random tie orders: ± {tie_spread(stream):.4f}", flush=True)


def tie_spread(stream: RunningText, orders: int = 100) -> float:
    """Standard deviation of ξ over random orders in which words of equal frequency are taken as rare."""
    counts, slopes = stream.counts, []
    for seed in range(orders):
        words = np.random.default_rng(seed).permutation(np.flatnonzero(counts))
        words = words[np.argsort(counts[words], kind="stable")]
        rare = words[np.cumsum(counts[words]) <= len(stream) // LongRange().rarity]
        distances = np.diff(np.flatnonzero(np.isin(stream.ids, rare)))
        lags = curves.geometric_grid(1.2, 100, tuple(range(1, 11)))
        c = np.array([np.corrcoef(distances[:-s], distances[s:])[0, 1] for s in lags.tolist()])
        if (c > 0).sum() > 2:
            slopes.append(fit_line(lags[c > 0], c[c > 0]).slope)
    return float(np.std(slopes)) if len(slopes) > 1 else float("nan")


def spread(words: int, seeds: int) -> None:
    """Print how much the exponents of Simon's process differ between seeds: few early words decide its vocabulary."""
    laws: tuple[ScalingLaw, ...] = (Heaps(), Ebeling(), Taylor(), LongRange())
    streams = (numbered(simon(words, 0.1, seed=seed)) for seed in range(seeds))
    slopes = np.array([[law.line(stream).slope for law in laws] for stream in streams])
    print(f"\nSimon process, {seeds} seeds: mean, sd, least, greatest")
    for law, column in zip(laws, slopes.T, strict=True):
        print(f"  {law.name:<12}{column.mean():9.4f}{column.std(ddof=1):9.4f}{column.min():9.4f}{column.max():9.4f}")


def figures(folder: Path, real: RunningText, shuffled: RunningText) -> None:
    """Draw each law for a text and its shuffle, as the report does."""
    from momus.evidence import Chart
    from momus.report.figures.svg import draw, standalone

    folder.mkdir(parents=True, exist_ok=True)
    for law in (ZipfSlope(), Heaps(), Ebeling(), Taylor(), LongRange()):
        law.exponent_, law.error_ = law.line(real).slope, law.line(real).error
        chart = law.evidence(real, shuffled)[0]
        assert isinstance(chart, Chart)
        (folder / f"{law.name}.svg").write_text(standalone(draw(chart)), encoding="utf-8")
    print(f"figures (real: WikiText-2; generated: its 1-gram shuffle) in {folder}")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=1_000_000, help="length of the simulated processes")
    parser.add_argument("--seeds", type=int, default=12, help="seeds of Simon's process, whose exponents vary most")
    parser.add_argument("--figures", type=Path, help="folder for SVG figures")
    arguments = parser.parse_args()
    start = time.perf_counter()
    made = texts(arguments.words)
    tally = Tally()
    for name, make in made.items():
        show(name, make(), tally)
    if arguments.seeds > 1:
        spread(arguments.words, arguments.seeds)
    if arguments.figures:
        figures(arguments.figures, made["WikiText-2"](), made["1-gram shuffle"]())
    print(
        f"\n{tally.within} of {tally.referenced} values within the tolerance of a reference; {tally.near} of "
        f"{tally.printed} near the paper's; {time.perf_counter() - start:.0f} s"
    )
    print("far from the paper (its value in brackets): " + ("; ".join(tally.far) or "none"))


if __name__ == "__main__":
    main()
