"""How many documents, to fit on and to compare, each critic of structure needs to find planted defects.

A third of a collection is there to fit on. Of the other documents, disjoint sets are drawn at random, many times: one
is the real text, in the other a defect was planted. Printed: the share of draws in which the headline finds the defect
at p ≤ .01, unpaired, by critic and number of documents, over both collections of `sectioned_texts`.

Run:  python benchmarks/validity/which_critic.py [sections-titles …] [--draws 40] [--out runs/which-critic]
      [--write docs/which-critic.md]
Rows are kept in --out: run the command again to resume. --write puts the table into the page.
Data: ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from null_and_power import write_between
from sectioned_texts import COLLECTIONS, DEFECTS, LEVEL, NULL, collection, running, splits, untitled

from momus import Corpus, Critic
from momus.comparison.judge import judge
from momus.critic import Scores
from momus_critics.consistency import Consistency
from momus_critics.passages import Passages
from momus_critics.sections import Sections

ORDER = (NULL, "shuffle", "swap 100 %", "swap 20 %", "exchange 100 %", "exchange 20 %")
SIZES = (25, 50, 100, 182)
FITTED = (45, 91, 182)
FULL, SIDE = 182, 100
"""Documents to fit on where those to compare vary, and documents on a side where those to fit on vary."""


@dataclass(frozen=True)
class Row:
    """A critic and what it reads."""

    label: str
    make: Callable[[], Critic[Any]]
    view: Callable[[Corpus], Corpus]


ROWS = {
    "sections-titles": Row("`sections`, titles and bodies", Sections, lambda corpus: corpus),
    "sections-breaks": Row("`sections`, bodies alone", Sections, untitled),
    "passages": Row("`passages`, running text", Passages, running),
    "consistency": Row("`consistency`, sections", Consistency, lambda corpus: corpus),
}


@dataclass(frozen=True)
class Cell:
    """Draws of one setting in which a defect was found."""

    critic: str
    collection: str
    fitted: int
    side: int
    defect: str
    found: int
    draws: int


def measure(key: str, source: str, draws: int) -> list[Cell]:
    """All settings of one critic on one collection."""
    row, split = ROWS[key], next(iter(splits(collection(source), 1)))
    pool = Corpus.from_documents([*split.real, *split.other], source)
    cells = []
    for fitted in FITTED:
        fit = split.fit.slice(0, fitted)
        # titles of the text to fit on are read by `sections`; running text has none
        critic = row.make().fit(row.view(fit) if row.view is running else fit)
        critic.attend([row.view(pool)])
        whole = critic.score(row.view(pool))
        for defect in ORDER:
            damaged = whole if defect == NULL else critic.score(row.view(DEFECTS[defect](pool, 0)))
            for side in SIZES if fitted == FULL else (SIDE,):
                found = sum(p <= LEVEL for p in _p_values(critic, whole, damaged, side, draws))
                cells.append(Cell(key, source, fitted, side, defect, found, draws))
    return cells


def _p_values(critic: Critic[Any], real: Scores, damaged: Scores, side: int, draws: int) -> Iterable[float]:
    """p of the headline for random disjoint sets of documents."""
    for seed in range(draws):
        order = np.random.default_rng(seed).permutation(len(real))
        one, other = np.sort(order[:side]), np.sort(order[side : 2 * side])
        (verdict,) = judge(
            critic, real.take(one), damaged.take(other), paired=False, seed=seed, permutations=999, resamples=19,
            only_headline=True,
        )  # fmt: skip
        yield 1.0 if verdict.p is None else verdict.p


def shown(cells: list[Cell]) -> str:
    """Markdown: a row per critic and setting, a column per defect, over all collections."""
    lines = ["| critic | fitted on | documents on a side | " + " | ".join(ORDER) + " |"]
    lines.append("|---|---:|---:|" + "---:|" * len(ORDER))
    settings = [(FULL, s) for s in SIZES] + [(f, SIDE) for f in FITTED if f != FULL]
    for key, row in ROWS.items():
        for fitted, side in settings:
            shares = []
            for defect in ORDER:
                chosen = [c for c in cells if (c.critic, c.fitted, c.side, c.defect) == (key, fitted, side, defect)]
                draws = sum(c.draws for c in chosen)
                shares.append(f"{sum(c.found for c in chosen) / draws:.2f}" if draws else "–")
            if set(shares) != {"–"}:
                lines.append(f"| {row.label} | {fitted} | {side} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is not kept yet, then print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("critics", nargs="*", metavar="critic", help=", ".join(ROWS))
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path("runs/which-critic"))
    parser.add_argument("--write", type=Path, help="the page that gets the table: docs/which-critic.md")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    for key in a.critics or ROWS:
        for source in COLLECTIONS:
            file = a.out / f"{key}-{source}.json"
            if not file.exists():
                begun = time.perf_counter()
                cells = measure(key, source, a.draws)
                file.write_text(json.dumps([vars(c) for c in cells]), encoding="utf-8")
                print(f"{file.name}: {time.perf_counter() - begun:.0f} s", flush=True)
    cells = [Cell(**c) for f in sorted(a.out.glob("*.json")) for c in json.loads(f.read_text(encoding="utf-8"))]
    print(shown(cells))
    if a.write:
        write_between(a.write, "which-critic", shown(cells))


if __name__ == "__main__":
    main()
