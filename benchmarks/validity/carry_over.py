"""Critics on collections that they were not tuned on: planted defects and random null splits of design proposals.

Each collection (`sectioned_texts.COLLECTIONS`) is split in thirds by six seeds: the critic is fitted on one, the second
is real, and in the third a defect is planted. Printed: in how many splits each defect is found at p ≤ .01, unpaired, by
the headline; and how often 500 random halves of the last two thirds of each collection differ at p ≤ .05 (the level).

Run:  python benchmarks/validity/carry_over.py sections consistency [--splits 6] [--nulls 500] [--table]
      [--collections rust-rfcs FILE …] [--out runs/carry-over] [--write docs/critics]
Splits are kept in --out: run the command again to resume. A collection may be a file that `momus prepare` wrote
(give it an --out of its own). --write puts each critic's table into its page.
Data: ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from null_and_power import write_between
from scipy.stats import binomtest
from sectioned_texts import (
    COLLECTIONS,
    DEFECTS,
    NULL,
    SPLITS,
    P,
    Split,
    collection,
    collection_name,
    p_values,
    splits,
    table,
    untitled,
)

from momus import Corpus, Critic
from momus.critic.hooks import settled
from momus.critic.powers import headline_of
from momus.verdicts.judge import judge
from momus_critics.consistency import Consistency
from momus_critics.sections import Sections

LEVEL = 0.05
ORDER = (NULL, "shuffle", "swap 100 %", "swap 20 %", "repeat 20 %", "drop 100 %")
EXCHANGE = (NULL, "exchange 100 %", "exchange 20 %")


def _as_it_is(corpus: Corpus) -> Corpus:
    return corpus


@dataclass(frozen=True)
class Row:
    """A row of a table: a critic, what it reads, the statistic, and the defects."""

    label: str
    make: Callable[[], Critic[Any]]
    statistic: str
    defects: tuple[str, ...]
    view: Callable[[Corpus], Corpus] = _as_it_is


STUDIES: dict[str, tuple[Row, ...]] = {
    "sections": (
        Row("titles and bodies", Sections, "fault_evidence", ORDER),
        Row("titles and bodies, share with a fault", Sections, "fault_share", ORDER),
        Row("titles and bodies, Latent PPL", Sections, "latent_ppl", ORDER),
        Row("titles and bodies, unlikely transitions", Sections, "unlikely_share", ORDER),
        Row("bodies alone", Sections, "fault_evidence", ORDER, untitled),
        Row("bodies alone, share with a fault", Sections, "fault_share", ORDER, untitled),
        Row("bodies alone, Latent PPL", Sections, "latent_ppl", ORDER, untitled),
    ),
    "consistency": (
        Row("share of sections that do not belong", Consistency, "stranger_share", (*EXCHANGE, "swap 100 %")),
        Row("fit", Consistency, "fit", (*EXCHANGE, "swap 100 %")),
    ),
}
"""Rows by critic; rows that differ in their statistic alone share their splits."""


def views(critic: str) -> Iterator[tuple[str, list[Row]]]:
    """Rows of a critic that read the same, under a name for files."""
    rows = STUDIES[critic]
    for view in dict.fromkeys(r.view for r in rows):
        yield f"{critic}-{view.__name__.strip('_')}", [r for r in rows if r.view is view]


def fitted(row: Row, split: Split) -> Critic[Any]:
    """The critic of a row, fitted; what is read is settled by the other two parts."""
    critic = row.make().fit(split.fit)
    settled(critic, [row.view(split.real), row.view(split.other)])
    return critic


def null_p(critic: Critic[Any], row: Row, split: Split, rest: Corpus, number: int) -> list[float]:
    """p of the headline between random halves of the documents of a split that the critic was not fitted on."""
    scores = critic.score(row.view(rest))
    found = []
    for seed in range(number):
        order = np.random.default_rng([split.seed, seed]).permutation(len(scores))
        half = len(order) // 2
        sides = scores.take(order[:half], "real"), scores.take(order[half:], "other")
        (verdict,) = judge(critic, *sides, paired=False, seed=seed, permutations=399, resamples=19, only_headline=True)
        found.append(1.0 if verdict.p is None else verdict.p)
    return found


def measure(name: str, rows: list[Row], sources: list[str], path: Path, number: int, nulls: int) -> None:
    """Run the splits of one view of a critic that are not kept yet."""
    for source in sources:
        corpus = collection(source)
        for split in splits(corpus, number):
            file = path / f"{name}-{collection_name(source)}-{split.seed}.json"
            if file.exists():
                continue
            begun = time.perf_counter()
            critic = fitted(rows[0], split)
            extra = [r.statistic for r in rows if r.statistic != headline_of(critic)]
            found = p_values(critic, split, rows[0].defects, view=rows[0].view, statistics=extra)
            content: dict[str, Any] = {"p": [[*key, p] for key, p in found.items()]}
            if split.seed == 0:
                used = set(split.fit.ids)
                rest = corpus.take([i for i, name in enumerate(corpus.ids) if name not in used])
                content["null"] = null_p(critic, rows[0], split, rest, nulls)
            file.write_text(json.dumps(content), encoding="utf-8")
            print(f"{file.name}: {time.perf_counter() - begun:.0f} s", flush=True)


def shown(critic: str, path: Path) -> str:
    """Markdown: the table of all kept splits of a critic, and the level of its rows."""
    rows: dict[str, tuple[list[P], str]] = {}
    levels = []
    for name, of_view in views(critic):
        every = [json.loads(f.read_text(encoding="utf-8")) for f in sorted(path.glob(f"{name}-*.json"))]
        every_p: list[P] = [{(defect, s): p for defect, s, p in content["p"]} for content in every]
        rows.update({row.label: (every_p, row.statistic) for row in of_view})
        nulls = np.array([p for content in every for p in content.get("null", [])])
        if len(nulls):
            alarms = int((nulls <= LEVEL).sum())
            low, high = binomtest(alarms, len(nulls)).proportion_ci(method="wilson")
            level = f"{of_view[0].label}: {alarms / len(nulls):.3f} [{low:.3f}, {high:.3f}] of {len(nulls):,}"
            levels.append(level)
    return f"{table(rows)}\n\nRandom halves that differ at p ≤ {LEVEL:g}: {'; '.join(levels)}."


def main() -> None:
    """Measure what is asked for, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("critics", nargs="+", choices=sorted(STUDIES), metavar="critic")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--nulls", type=int, default=500, help="random halves per collection")
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS), metavar="NAME or FILE")
    parser.add_argument("--out", type=Path, default=Path("runs/carry-over"))
    parser.add_argument("--table", action="store_true", help="only print what is kept")
    parser.add_argument("--write", type=Path, help="folder of the pages that get the tables: docs/critics")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    for critic in a.critics:
        for name, rows in () if a.table else views(critic):
            measure(name, rows, a.collections, a.out, a.splits, a.nulls)
        text = shown(critic, a.out)
        print(f"\n{critic}\n\n{text}")
        if a.write:
            write_between(a.write / f"{critic}.md", "carry-over", text)


if __name__ == "__main__":
    assert set(DEFECTS) >= {d for rows in STUDIES.values() for row in rows for d in row.defects}
    main()
