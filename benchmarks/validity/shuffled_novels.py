"""Novels against their own word shuffle under `long-range`, as the only row and as one of 21 headlines.

Of the novels with twelve chapters, a random half is real text, and the words of the other half are shuffled. The last
columns multiply the p-value by 21, as Holm's adjustment does with the smallest of 21: without more relabellings for a
larger table, a smallest possible p-value of .005 becomes .105.

Run:  python benchmarks/validity/shuffled_novels.py [--seeds 5] [--write benchmarks/validity/TABLES.md]
Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from grouped_texts import CHAPTERS, WORDS, first_chapters, pool_of
from null_and_power import write_between
from processes import shuffle_corpus

from momus import Corpus
from momus.critic import Critic
from momus.critic.registry import make_critics
from momus.numeric.types import Ints
from momus.verdicts.judge import judge

HEADLINES = 21


def sides(pieces: Corpus, novels: Ints, seed: int) -> tuple[Corpus, Corpus]:
    """Novels, and the shuffled words of as many other novels."""
    drawn = np.random.default_rng(seed).permutation(np.unique(novels))
    parts = np.split(drawn[: len(drawn) // 2 * 2], 2)
    real, other = (pieces.take(np.flatnonzero(np.isin(novels, part))) for part in parts)
    return real, shuffle_corpus(other, WORDS, 1, seed)


def tested(critic: Critic[Any], real: Corpus, shuffled: Corpus, seed: int) -> list[str]:
    """One row of the table."""
    critic.fit(real)
    scores = critic.score(real), critic.score(shuffled)
    cells = []
    for family in (1, HEADLINES):
        (row,) = judge(critic, *scores, only_headline=True, family=family, seed=seed)
        assert row.p is not None
        cells += [f"{row.method.permutations:,}", f"{row.p:.2g}", f"{min(row.p * HEADLINES, 1):.2g}"]
    return [str(seed), f"{row.real_value:.3f}", f"{row.generated_value:.3f}", *cells]


def main() -> None:
    """Print the table, and write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    pool = pool_of(first_chapters)
    whole = np.isin(pool.novels, np.flatnonzero(pool.sizes == CHAPTERS))
    pieces, novels = pool.pieces.take(np.flatnonzero(whole)), pool.novels[whole]
    lines = [
        "| seed | novels | shuffled | relabellings, alone | p | p × 21 | relabellings, of 21 | p | p × 21 |",
        "|---:|" + "---:|" * 8,
    ]
    (critic,) = make_critics(["long-range"], {})
    for seed in range(a.seeds):
        lines.append(f"| {' | '.join(tested(critic, *sides(pieces, novels, seed), seed))} |")
        print(lines[-1], flush=True)
    count = len(np.unique(novels)) // 2
    text = "\n".join([*lines, "", f"{count} | {count} novels, {CHAPTERS} chapters of 1,000 words each."])
    if a.write:
        write_between(a.write, "shuffled-novels", text)


if __name__ == "__main__":
    main()
