"""Slices and wins: how often something is said of a text without change, and how often of one whose slice is broken.

Lengths of documents are lognormal (σ = 0.6). Without change, both texts are drawn from one source: as pairs of answers
to one prompt, as groups of four prompts that share a length, or as texts without prompts in common. A broken slice
loses 40 % of each of its answers; the others keep theirs, or are drawn anew. The gate has the rule
``not-beyond-itself``: one band is as far as 95 % of random halves of the old text lie apart.

Run:  python benchmarks/validity/slices.py [--runs 300] [--nights] [--out benchmarks/results/slices.md]
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
from scipy.special import stdtr
from yardsticks import wilson

from momus import Corpus, Document
from momus.critic import Statistic, StatisticCritic
from momus.critic.scores import Scores
from momus.history.gate import OF_SLICES
from momus.history.slice_checks import Bound, p_beyond
from momus.inference.sequential import spent
from momus.joint.partners import interval
from momus.joint.slice_tests import slices_of
from momus.joint.slices import Slices, codes_of, together
from momus.numeric.types import Floats
from momus.report.words.slices import slice_sentences
from momus.verdicts.settings import Settings

SIGMA, LOSS, LEVELS = 0.6, 0.4, (0.05, 0.01)
MEAN = "mean_length"
NIGHTS = "## Nights without change, `--sequential`"


class Words(StatisticCritic):
    """The number of words, which the scores hold already."""

    name, axis, question = "length", "length of documents", "How long?"

    def fit(self, real: Corpus) -> Words:
        """Nothing to learn."""
        return self

    def sufficient_statistics(self, latents: object) -> dict[str, Floats]:
        """Not called: scores are built here."""
        return {}

    def statistics(self) -> tuple[Statistic, ...]:
        """Mean length."""
        return (Statistic.ratio(MEAN, "words", "mean length", ("shorter", "longer"), unit="words"),)


def scores(name: str, values: Floats, prompts: bool, groups: list[str]) -> Scores:
    """Scores of documents with these values."""
    n = len(values)
    rows = {"words": np.column_stack([values, np.ones(n)])}
    names = [f"p{i}" if prompts else None for i in range(n)]
    ids = [f"{name}{i}" for i in range(n)]
    return Scores("length", name, ids, names, np.zeros(n), np.ones(n, int), [None] * n, rows, groups=groups)


def judged(old: Floats, new: Floats, kinds: list[str], design: str, seed: int) -> Slices:
    """The slices of two texts of given lengths."""
    groups = [f"g{i // 4}" for i in range(len(old))] if design == "groups" else []
    sides = [scores(name, v, design != "documents", groups) for name, v in (("old", old), ("new", new))]
    fields = [
        Corpus.from_documents([Document(f"{name}{i}", (), fields={"kind": k}) for i, k in enumerate(kinds)], name)
        for name in ("old", "new")
    ]
    (slices,) = together(slices_of(Words(), sides, codes_of(("kind",), fields), Settings(seed=seed)), 0.05)
    return slices


def lengths(rng: np.random.Generator, n: int, design: str) -> Floats:
    """Lengths of one text; those of a group are alike."""
    shared = rng.normal(size=-(-n // 4)).repeat(4)[:n] if design == "groups" else 0.0
    weight = 0.6 if design == "groups" else 0.0
    return np.exp(4 + SIGMA * (weight * shared + math.sqrt(1 - weight**2) * rng.normal(size=n)))


def fails(slices: Slices, old: Floats, level: float) -> bool:
    """Whether the gate fails: a difference is shown to be beyond one band of the whole text."""
    band = 1.96 * 2 * float(old.std()) / math.sqrt(len(old))
    return any(p_beyond(slices, c, Bound("require", "", 1.0, band)) <= level for c in slices.cells)


def share(hits: int, runs: int) -> str:
    """A share with Wilson's interval."""
    low, high = wilson(hits, runs)
    return f"{hits / runs:.3f} [{low:.3f}, {high:.3f}]"


def unchanged(runs: int, n: int, slices: int, design: str) -> list[str]:
    """A row of the table of texts without change."""
    counts = np.zeros(5, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices])
        old, new = (lengths(rng, n, design) for _ in range(2))
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        found = judged(old, new, kinds, design, seed)
        smallest = min(c.p for c in found.cells)
        counts += [*(smallest <= a for a in LEVELS), bool(found.outstanding()), *(fails(found, old, a) for a in LEVELS)]
    return [design, f"{n:,}", str(slices), *(share(int(c), runs) for c in counts)]


def broken(runs: int, n: int, slices: int, design: str, anew: bool) -> list[str]:
    """A row of the table of texts with one broken slice."""
    counts = np.zeros(3, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 1])
        old = lengths(rng, n, design)
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        new = np.where(np.array(kinds) == "k0", (1 - LOSS) * old, lengths(rng, n, design) if anew else old)
        found = judged(old, new, kinds, design, seed)
        named = [line.startswith("By kind, new differs only in k0,") for line in slice_sentences([found], "old")]
        other = any(c.name != "k0" for c in found.outstanding())
        counts += [fails(found, old, LEVELS[0] * OF_SLICES / (1 + OF_SLICES)), any(named), other]
    size = f"{kinds.count('k0')} of {n}"
    return [design, size, str(slices), "drawn anew" if anew else "kept", *(share(int(c), runs) for c in counts)]


def nights(runs: int, n: int, slices: int, looks: int = 200) -> list[str]:
    """A row of the table of nightly gates: new texts without change each night, beside one old text.

    A night has the level that `spent` leaves to slices; where no t-test of a slice finds anything at twice that level,
    nothing is judged.
    """
    differ = beyond = 0
    kinds = [f"k{i // 4 % slices}" for i in range(n)]
    of_kind = (np.array(kinds)[:, None] == np.array([f"k{k}" for k in range(slices)])).astype(float)  # (n, slices)
    size = of_kind.sum(axis=0)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 7])
        old, any_differs, any_beyond = lengths(rng, n, "pairs"), False, False
        for night in range(1, looks + 1):
            new, level = lengths(rng, n, "pairs"), spent(LEVELS[0], night) * OF_SLICES / (1 + OF_SLICES)
            sums, squares = (new - old) @ of_kind, (new - old) ** 2 @ of_kind
            t = sums / np.sqrt((squares - sums**2 / size) * size / (size - 1))
            if 2 * stdtr(size - 1, -np.abs(t)).min() > 2 * level:
                continue
            of_night = judged(old, new, kinds, "pairs", seed)
            any_differs |= min(c.p for c in of_night.cells) <= level
            any_beyond |= fails(of_night, old, level)
        differ, beyond = differ + any_differs, beyond + any_beyond
    return [f"{n:,}", str(slices), f"{looks}", share(differ, runs), share(beyond, runs)]


def wins(runs: int, n: int, grouped: bool, true: float) -> list[str]:
    """A row of the table of intervals of wins: how often they hold the true share."""
    from scipy.stats import norm

    groups = np.arange(n) // 4 if grouped else np.arange(n)
    weight, held = 0.6 if grouped else 0.0, 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, 2])
        shared = rng.normal(size=n)[groups]
        value = weight * shared + math.sqrt(1 - weight**2) * rng.normal(size=n)
        low, high = interval(value < norm.ppf(true), groups, 0.05)
        held += low <= true <= high
    return [f"{n:,}", "groups of 4" if grouped else "prompts", f"{true:g}", share(held, runs)]


def section_of_nights(runs: int) -> str:
    """The section of nightly gates."""
    heads = ["documents", "slices", "nights", "any is said to differ", "any gate fails"]
    return f"""{NIGHTS}

{runs} runs a row: whether a slice is said to differ, or the gate fails, in any of the nights.

{table(heads, [nights(runs, n, k) for n, k in ((200, 5), (200, 10), (1000, 20))])}
"""


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/slices.md"))
    parser.add_argument("--nights", action="store_true", help="measure these alone")
    asked = parser.parse_args()
    if asked.nights:
        before, after = asked.out.read_text(encoding="utf-8").split("## Shares of wins")
        section = f"{before.partition(NIGHTS)[0]}{section_of_nights(2 * asked.runs)}## Shares of wins{after}"
        asked.out.write_text(section, encoding="utf-8")
        return
    runs, start = asked.runs, time.process_time()
    sizes = ((200, 5), (200, 10), (1000, 20), (1000, 50))
    level = [
        unchanged(runs, n, k, d)
        for d in ("pairs", "groups", "documents")
        for n, k in sizes
        if d != "groups" or n // k >= 40
    ]
    power = [
        broken(runs, 200, 10, "pairs", False),
        broken(runs, 200, 10, "pairs", True),
        broken(runs, 1000, 10, "pairs", True),
        broken(runs, 1000, 10, "documents", True),
        broken(runs, 1000, 50, "pairs", False),
    ]
    nightly = section_of_nights(2 * runs)
    shares = [wins(4 * runs, n, g, t) for n in (100, 200) for g in (False, True) for t in (0.5, 0.8)]
    said = ["said to differ, .05", "said to differ, .01", "named in a sentence", "gate fails, .05", "gate fails, .01"]
    text = f"""# Slices and wins

Written by `benchmarks/validity/slices.py`: {runs} runs a row, one statistic (length, lognormal), 999 relabellings,
{time.process_time() - start:.0f} CPU s. Intervals are Wilson's, 95 %.

## Texts without change

{table(["design", "documents", "slices", *said], level)}
## One slice loses 40 % of each answer

The gate decides slices at four fifths of .05, since the axes of the whole text have the rest. Within the broken slice,
new answers are cut from the old ones; in the others they are kept, or drawn anew.

{table(["design", "broken", "slices", "others", "gate fails", "slice named", "another slice named"], power)}
{nightly}## Shares of wins: the interval holds the true share

{4 * runs:,} runs a row.

{table(["prompts", "units", "share", "holds"], shares)}"""
    asked.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
