"""Passages on collections that the critic was not tuned on: planted defects found, and false alarms.

Sectioned documents are read as running text, without titles and breaks. Of each split, the critic is fitted on a third
of the documents; the second third is real; defects are planted in the third third (`sectioned_texts`). Level: the
scores of unchanged documents outside the fitted third are divided at random into two halves, many times; the share of
divisions with p ≤ .05 is the level.

--places measures misplacement alone, and --types the evidence of faults by types that are learned from the titles of
the fitted third: neither needs states, so minutes instead of an hour, with the same test.

Run:  python benchmarks/validity/carry_over_passages.py [--places | --types] [--splits 5] [--nulls 200]
      [--collections NAME …] [--json FILE]
Data: the folder ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sectioned_texts import COLLECTIONS, DEFECTS, LEVEL, NULL, P, Split, collection, p_values, running, splits, table

from momus import Corpus
from momus.critic import Statistic
from momus.critic.statistic import mean
from momus.inference import axis_test
from momus.numeric.types import Floats
from momus.verdicts.judge import judge
from momus_critics.passages import LEAST, Passages
from momus_critics.passages.pieces import corpus_pieces
from momus_critics.passages.typed import TypedSections

STATISTICS = (
    "fault_evidence",
    "misplacement",
    "latent_ppl",
    "latent_nll",
    "disorder",
    "unlikely_share",
    "return_share",
)
ALARM = 0.05


def null_p_values(critic: Passages, split: Split, number: int) -> dict[str, list[float]]:
    """p of each statistic for random divisions of the documents that the critic was not fitted on."""
    corpus = running(Corpus.from_documents([*split.real, *split.other], split.real.name))
    scores = critic.score(corpus)
    found: dict[str, list[float]] = {s: [] for s in STATISTICS}
    for seed in range(number):
        order = np.random.default_rng([split.seed, seed]).permutation(len(corpus))
        one, two = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
        for v in judge(
            critic, scores.take(one), scores.take(two), paired=False, seed=seed, permutations=999, resamples=99
        ):
            if v.statistic in found and v.p is not None:
                found[v.statistic].append(v.p)
    return found


def by_places(split: Split) -> Callable[[Corpus], Floats]:
    """Fit the features of place alone; what is returned gives misplacement."""
    unfitted = Passages()
    pieces, offsets = corpus_pieces(running(split.fit), unfitted.piece_length)
    embedder, places = unfitted._new_embedder(), unfitted._new_places()
    places.fit(embedder.fit(pieces).embed(pieces), offsets)

    def rows(corpus: Corpus) -> Floats:
        pieces, offsets = corpus_pieces(running(corpus), unfitted.piece_length)
        long = np.diff(offsets) >= LEAST
        values = places.misplacement(places.transform(embedder.embed(pieces), offsets), offsets)[long]
        return np.column_stack([values, np.ones(len(values))])

    return rows


def by_types(split: Split) -> Callable[[Corpus], Floats]:
    """Fit the types of sections alone; what is returned gives evidence of faults."""
    typed = TypedSections().fit(split.fit)

    def rows(corpus: Corpus) -> Floats:
        unfitted = Passages()
        _, offsets = corpus_pieces(running(corpus), unfitted.words, LEAST)
        values = np.sqrt(typed.fault_evidence(running(corpus))[0])[np.diff(offsets) >= LEAST]
        return np.column_stack([values, np.ones(len(values))])

    return rows


QUICK = {"misplacement": by_places, "fault_evidence": by_types}
"""Statistics that need no states of stretches."""


def quick_line(name: str, split: Split, defects: Sequence[str], nulls: int) -> dict[str, Any]:
    """What `main` keeps of a split, for one statistic of `QUICK` alone: the states of stretches are not fitted."""
    rows = QUICK[name](split)
    statistic = Statistic(name, name, "value", mean, effect="hedges_g")
    real = rows(split.real)
    found = []
    for defect in defects:
        other = rows(DEFECTS[defect](split.other, split.seed))
        p, _, _ = axis_test([statistic], {name: real}, {name: other}, permutations=1999, seed=split.seed)
        found.append([defect, name, p])
    whole = np.concatenate([real, rows(split.other)])
    half = len(whole) // 2
    alarms = []
    for seed in range(nulls):
        order = np.random.default_rng([split.seed, seed]).permutation(len(whole))
        sides = {name: whole[order[:half]]}, {name: whole[order[half:]]}
        alarms.append(axis_test([statistic], *sides, seed=split.seed)[0])
    return {"p": found, "nulls": {name: alarms}}


def main() -> None:
    """Print a table of detections per collection and statistic, and levels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="first split that is run")
    parser.add_argument("--nulls", type=int, default=200, help="random divisions per split for the level")
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS), choices=COLLECTIONS)
    parser.add_argument("--defects", nargs="+", default=list(DEFECTS), choices=list(DEFECTS))
    parser.add_argument("--number", type=int, default=0, help="number of states; 0 chooses it")
    quick = parser.add_mutually_exclusive_group()
    quick.add_argument("--places", dest="quick", action="store_const", const="misplacement", help="misplacement alone")
    quick.add_argument(
        "--types", dest="quick", action="store_const", const="fault_evidence", help="types of sections alone"
    )
    parser.add_argument("--json", type=Path, help="add the p-values of each split to this file, a line each")
    parser.add_argument("--from-json", type=Path, help="print the tables of such a file")
    a = parser.parse_args()
    lines = [json.loads(line) for line in a.from_json.read_text("utf-8").splitlines()] if a.from_json else []
    for name in () if a.from_json else a.collections:
        for split in splits(collection(name), a.splits):
            if split.seed < a.first:
                continue
            start = time.perf_counter()
            if a.quick:
                line = {"collection": name, "seed": split.seed, **quick_line(a.quick, split, a.defects, a.nulls)}
                print(f"{name} {split.seed}: {time.perf_counter() - start:.0f} s", flush=True)
                lines.append(line)
                continue
            critic = Passages(n_states=a.number).fit(running(split.fit))
            fitted = time.perf_counter() - start
            found = p_values(critic, split, a.defects, view=running, statistics=STATISTICS)
            nulls = null_p_values(critic, split, a.nulls)
            line = {
                "collection": name,
                "seed": split.seed,
                "n": len(split.real),
                "states": critic.states,
                "fitted": round(fitted, 1),
                "p": [[d, s, p] for (d, s), p in found.items()],
                "nulls": nulls,
            }
            print(json.dumps({k: v for k, v in line.items() if k not in {"p", "nulls"}}), flush=True)
            if a.json:
                with a.json.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
            lines.append(line)
    report(lines)


def report(lines: list[dict[str, Any]]) -> None:
    """Print detections of each collection by each statistic, then the levels."""
    every: dict[str, list[P]] = {}
    for line in lines:
        p: P = {(d, s): value for d, s, value in line["p"]}
        every.setdefault(str(line["collection"]), []).append(p)
    measured = [s for s in STATISTICS if s in lines[0]["nulls"]]
    rows = {f"`{name}`, {s}": (ps, s) for s in measured for name, ps in every.items()}
    print(table(rows))
    print(f"\nIn “{NULL}” a find at p ≤ {LEVEL:g} is a false alarm. Share of random divisions with p ≤ {ALARM:g}:\n")
    for s in measured:
        ps = np.array([p for line in lines for p in line["nulls"][s]])
        print(f"- {s}: {(ps <= ALARM).mean():.3f} of {len(ps)}")


if __name__ == "__main__":
    main()
