"""How many documents each critic of order needs to find planted defects.

Each collection of `sectioned_texts` is split in thirds: the critic is fitted on one, the second is real, and in the
third a defect is planted. Of both sides the same number of documents is drawn at random, several times per split.
Printed: the share of all draws in which the headline finds the defect at p ≤ .01, unpaired.

Run:  python benchmarks/validity/which_critic.py [sections-titles …] [--splits 6] [--draws 10] [--out runs/which-critic]
      [--write docs/which-critic.md]
Splits are kept in --out: run the command again to resume. --write puts the table into the page.
Data: ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from carry_over_passages import by_types
from null_and_power import write_between
from sectioned_texts import (
    COLLECTIONS,
    DEFECTS,
    LEVEL,
    NULL,
    Split,
    collection,
    collection_name,
    running,
    splits,
    untitled,
)

from momus import Corpus, Critic
from momus.critic import Statistic
from momus.critic.hooks import settled
from momus.critic.powers import headline_of
from momus.critic.statistic import mean
from momus.inference import axis_test
from momus.numeric.types import Floats
from momus_critics.passages import Passages
from momus_critics.sections import Sections

ORDER = (NULL, "shuffle", "swap 100 %", "swap 20 %", "repeat 20 %", "drop 100 %")
SIZES = (25, 50, 100, 180)


Reads = Callable[[Corpus], Floats]
"""Rows of a critic's headline for the documents of a corpus, (documents, 2)."""


@dataclass(frozen=True)
class Row:
    """A critic and what it reads; ``fitted`` takes a split to the headline and its rows."""

    label: str
    fitted: Callable[[Split], tuple[Statistic, Reads]]


def whole(
    make: Callable[[], Critic[Any]], view: Callable[[Corpus], Corpus]
) -> Callable[[Split], tuple[Statistic, Reads]]:
    """Fit a critic on a split and score what it may see of other documents."""

    def fitted(split: Split) -> tuple[Statistic, Reads]:
        # `sections` may read titles of the text to fit on; running text has none
        critic = make().fit(running(split.fit) if view is running else split.fit)
        settled(critic, [view(split.real), view(split.other)])
        (statistic,) = [s for s in critic.statistics() if s.name == headline_of(critic)]
        return statistic, lambda corpus: np.asarray(critic.score(view(corpus)).rows[statistic.rows])

    return fitted


def passages_by_types(split: Split) -> tuple[Statistic, Reads]:
    """The headline of `passages` where the text to fit on has titles; it needs no states of stretches."""
    return Statistic("fault_evidence", "fault_evidence", "value", mean, effect="hedges_g"), by_types(split)


ROWS = {
    "sections-titles": Row("`sections`, titles and bodies", whole(Sections, lambda corpus: corpus)),
    "sections-breaks": Row("`sections`, bodies alone", whole(Sections, untitled)),
    "passages-titles": Row("`passages`, titles in the text to fit on", passages_by_types),
    "passages": Row("`passages`, running text", whole(Passages, running)),
}

Found = dict[str, int]
"""Draws in which a defect was found, by the key of `key`."""


def key(side: int, defect: str) -> str:
    """Key of a number of documents and a defect."""
    return f"{side} {defect}"


def found_in(statistic: Statistic, real: Floats, other: Floats, side: int, draws: int) -> int:
    """In how many of the draws ``side`` rows of each side differ at p ≤ .01; all rows, where a side has fewer."""
    side = min(side, len(real), len(other))
    number = 0
    for seed in range(draws):
        random = np.random.default_rng([seed, side])
        chosen = [np.sort(random.permutation(len(rows))[:side]) for rows in (real, other)]
        sides = {statistic.rows: real[chosen[0]]}, {statistic.rows: other[chosen[1]]}
        number += axis_test([statistic], *sides, seed=side)[0] <= LEVEL
    return number


def measure(row: Row, split: Split, draws: int) -> Found:
    """All numbers of documents and defects of one split."""
    statistic, rows = row.fitted(split)
    real = rows(split.real)
    others = {defect: rows(DEFECTS[defect](split.other, split.seed)) for defect in ORDER}
    return {key(n, d): found_in(statistic, real, o, n, draws) for d, o in others.items() for n in SIZES}


def shown(out: Path) -> str:
    """Markdown: a row per critic and number of documents, a column per defect, over all kept splits."""
    lines = ["| critic | documents on a side | " + " | ".join(ORDER) + " |", "|---|---:|" + "---:|" * len(ORDER)]
    for name, row in ROWS.items():
        files = sorted(f for source in COLLECTIONS for f in out.glob(f"{name}-{collection_name(source)}-*.json"))
        kept = [json.loads(f.read_text(encoding="utf-8")) for f in files]
        draws = sum(k["draws"] for k in kept)
        found: Counter[str] = Counter()
        for k in kept:
            found.update(k["found"])
        for side in SIZES if draws else ():
            cells = " | ".join(f"{found[key(side, d)] / draws:.2f}" for d in ORDER)
            lines.append(f"| {row.label} | {side} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Measure what is not kept yet, then print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("critics", nargs="*", metavar="critic", help=", ".join(ROWS))
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--draws", type=int, default=10, help="draws per split and number of documents")
    parser.add_argument("--out", type=Path, default=Path("runs/which-critic"))
    parser.add_argument("--write", type=Path, help="the page that gets the table: docs/which-critic.md")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    for name in a.critics or ROWS:
        for source in COLLECTIONS:
            for split in splits(collection(source), a.splits):
                file = a.out / f"{name}-{source}-{split.seed}.json"
                if not file.exists():
                    begun = time.perf_counter()
                    content = {"draws": a.draws, "found": measure(ROWS[name], split, a.draws)}
                    file.write_text(json.dumps(content), encoding="utf-8")
                    print(f"{file.name}: {time.perf_counter() - begun:.0f} s", flush=True)
    print(shown(a.out))
    if a.write:
        write_between(a.write, "which-critic", shown(a.out))


if __name__ == "__main__":
    main()
