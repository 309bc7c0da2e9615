"""Scaling laws compared with the paper's values (Takahashi & Tanaka-Ishii 2019) and independent reference values.

Texts: WikiText-2 train (words without line breaks), its n-gram shuffles, and one million words each of the Simon and
the Pitman–Yor process. Each of our values has its standard error.

Run:  python benchmarks/reproduce/scaling.py [--figures DIR]
Data: the folder ``wikitext-2`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import momus
from momus.controls import pitman_yor, shuffle_ngrams, simon
from momus.laws.test import standard_error
from momus.text.running import RunningText
from momus.text.tokens import get_tokenizer
from momus_critics.laws import Ebeling, Heaps, LongRange, Taylor, ZipfSlope
from momus_critics.laws.base import ScalingLaw

# paper's figure (slope, error), reference (slope, error), tolerance of the slope
Target = tuple[tuple[float, float] | None, tuple[float, float] | None, float]
TARGETS: dict[str, dict[str, Target]] = {
    "WikiText-2": {
        "zipf-slope": (None, (-1.243, 0.0), 0.001),
        "heaps": ((0.75, 0.13), (0.747, 0.126), 0.01),
        "ebeling": ((1.32, 0.10), (1.324, 0.108), 0.005),
        "taylor": ((0.62, 0.15), (0.6190, 0.1538), 0.005),
        "long-range": ((-0.33, 0.04), (-0.3334, 0.0418), 0.01),
    },
    "1-gram shuffle": {
        "heaps": ((0.75, 0.16), (0.753, 0.156), 0.01),
        "ebeling": ((1.00, 0.01), (1.000, 0.004), 0.01),
        "taylor": ((0.50, 0.02), (0.4998, 0.0135), 0.01),
    },
    "Simon process": {"taylor": (None, (0.50, 0.0), 0.01)},
    "Pitman–Yor process": {"taylor": (None, (0.50, 0.0), 0.01)},
}
CORRELATION = {
    "WikiText-2": "Strong",
    "1-gram shuffle": "No",
    "Simon process": "Strong",
    "Pitman–Yor process": "No",
}
"""The paper's verdict on long-range correlation ("No", or an exponent; Simon's does not decay)."""


def wikitext() -> RunningText:
    """WikiText-2 train as running text."""
    named = os.environ.get("MOMUS_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    corpus = momus.read_corpus(folder / "wikitext-2" / "train.txt.gz", fmt="lines")
    return RunningText.of(corpus.tokens(get_tokenizer("whitespace", lower=False)))


def numbered(ids: np.ndarray) -> RunningText:
    """Running text of made-up words, numbered by their ids."""
    return RunningText(ids, [f"w{i}" for i in range(int(ids.max()) + 1)])


def texts(words: int) -> dict[str, Callable[[], RunningText]]:
    """Return functions that make each text."""
    real = wikitext()
    shuffles = {
        f"{n}-gram shuffle": (lambda n=n: RunningText(shuffle_ngrams(real.ids, n, seed=n), real.vocabulary))
        for n in (1, 2, 5, 10)
    }
    return {
        "WikiText-2": lambda: real,
        **shuffles,
        "Simon process": lambda: numbered(simon(words, 0.1, seed=0)),
        "Pitman–Yor process": lambda: numbered(pitman_yor(words, 0.8, 1.0, seed=0)),
    }


def show(name: str, stream: RunningText) -> bool:
    """Print all laws of one text; return whether all are within tolerance."""
    print(f"\n{name}: {len(stream):,} tokens, {int((stream.counts > 0).sum()):,} types")
    print(f"  {'law':<12}{'ours':>9}{'± s.e.':>9}{'ε':>8}{'paper':>16}{'reference':>20}  within")
    fine = True
    laws: tuple[ScalingLaw, ...] = (ZipfSlope(), Heaps(), Ebeling(), Taylor(), LongRange())
    for law in laws:
        paper, reference, tolerance = TARGETS.get(name, {}).get(law.name, (None, None, 0.0))
        try:
            line = law.line(stream)
            error = standard_error(law.laws()[0], stream, 20).error
        except ValueError as reason:
            print(f"  {law.name:<12}{'–':>9}  ({reason})")
            continue
        within = "" if reference is None else ("yes" if abs(line.slope - reference[0]) <= tolerance else "NO")
        fine &= within != "NO"
        shown = [f"{p[0]:.3f} ({p[1]:.2f})" if p else "–" for p in (paper,)]
        told = f"{reference[0]:.4f} ± {tolerance:g}" if reference else "–"
        print(f"  {law.name:<12}{line.slope:9.4f}{error:9.4f}{line.error:8.4f}{shown[0]:>16}{told:>20}  {within}")
    correlation = LongRange().verdict(stream)
    expected = CORRELATION.get(name)
    within = "" if expected is None else ("yes" if correlation == expected else "NO")
    spread = LongRange().tie_spread(stream)
    print(f"  correlation of rare words: {correlation} (paper: {expected or '–'}) {within}")
    print(f"  ξ over random tie orders: ± {spread:.4f}")
    return fine and within != "NO"


def figures(folder: Path, real: RunningText, shuffled: RunningText) -> None:
    """Draw each law for a text and its shuffle, as the report does."""
    from momus.evidence import Chart
    from momus.report.figures.standalone import standalone
    from momus.report.figures.svg import draw

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
    parser.add_argument("--figures", type=Path, help="folder for SVG figures")
    arguments = parser.parse_args()
    start = time.perf_counter()
    made = texts(arguments.words)
    fine = [show(name, make()) for name, make in made.items()]
    if arguments.figures:
        figures(arguments.figures, made["WikiText-2"](), made["1-gram shuffle"]())
    print(f"\n{sum(fine)} of {len(fine)} texts within tolerance; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
