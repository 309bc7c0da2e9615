"""Human bands on other authors than they were estimated from, and families of rows, on chapters of novels.

* Bands: of 40 novels drawn at random, 20 estimate the band of each critic's headline (from sets of 10 | 10); the effect
  between 10 | 10 of the others should lie inside in 95 % of cases. Ten chapters per novel, tested as groups.
* Families: null splits of single chapters of different novels, tested by all statistics of four critics. How often any
  headline row, any other row, and any row at all differs after Holm's adjustment within its family.

Each replication is a line of JSON in --out, and a run resumes behind the last one.

Run:  python benchmarks/validity/bands_and_families.py [--replications 1000] [--out DIR] [--write docs/validity.md]
Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from studies import chapters, data
from texts_in_groups import Row, kept

from momus import Corpus, read_corpus
from momus.calibration.rates import Rate
from momus.critic import Counted, Critic
from momus.critic.powers import headline_of
from momus.critic.registry import make_critics
from momus.critic.scores import Scores
from momus.inference.design import Design
from momus.inference.testing import compare_rows
from momus.verdicts.band import HumanBands
from momus.verdicts.judge import judge
from momus.verdicts.statistics import all_statistics
from momus.verdicts.verdict import adjust

CRITICS = ("length", "type-token", "stopword-share", "symbol-share")
FITTED, PER_NOVEL, SIDE = 20, 10, 10
MARKERS = "<!-- bands-and-families -->", "<!-- end of bands-and-families -->"


def pool() -> tuple[Corpus, Corpus]:
    """Chapters of 20 novels to fit on, and the first ten chapters of each of the others, with their novel as group."""
    novels = read_corpus(data() / "litbank" / "novels.jsonl.gz")
    cut = [(d.id, chapters(d.text)[:PER_NOVEL]) for d in novels]
    cut = [(name, found) for name, found in cut if len(found) == PER_NOVEL]

    def corpus(part: Sequence[tuple[str, list[str]]], name: str) -> Corpus:
        texts = [(novel, i, text) for novel, found in part for i, text in enumerate(found)]
        ids = [f"{novel} {i}" for novel, i, _ in texts]
        return Corpus.from_texts([t for _, _, t in texts], ids, None, name, [novel for novel, _, _ in texts])

    return corpus(cut[:FITTED], "fit"), corpus(cut[FITTED:], "real")


def resumed(path: Path, replications: int, once: Callable[[int], Row]) -> list[Row]:
    """Append the replications that a file lacks, and return all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for k in range(len(kept(path)), replications):
            file.write(json.dumps(once(k)) + "\n")
            file.flush()
    return kept(path)[:replications]


def in_band(critic: Critic[Any], scores: Scores) -> Callable[[int], Row]:
    """Whether the effect between other novels lies inside the band, and the band, by number of the replication."""
    statistic = next(s for s in all_statistics(critic, list(scores.rows)) if s.name == headline_of(critic))
    table = scores.test_rows()[statistic.rows]
    rows = table.matrix if isinstance(table, Counted) else table
    novels = np.unique(np.asarray(scores.groups, dtype=object), return_inverse=True)[1]

    def once(k: int) -> Row:
        drawn = np.random.default_rng([k, 1]).permutation(int(novels.max()) + 1)[: 4 * SIDE]
        known, one, other = (np.flatnonzero(np.isin(novels, part)) for part in np.split(drawn, (20, 30)))
        band = HumanBands([str(g) for g in novels[known]], k).of(statistic, rows[known], ())
        assert band is not None
        assert band.source == "groups"
        (found,) = compare_rows(
            [statistic],
            {statistic.rows: rows[one]},
            {statistic.rows: rows[other]},
            design=Design.clusters(novels[one], novels[other]),
            permutations=99,
            wide=(99, 99),
            seed=k,
        )
        size = max(found.effect, 0.0) if statistic.kind == "distance" else abs(found.effect)
        return {"inside": bool(size <= band.value), "band": band.value}

    return once


def family_alarms(critics: Sequence[Critic[Any]], scores: Sequence[Scores]) -> Callable[[int], Row]:
    """Whether any headline row, any other row, or any row differs in a null split, by its number."""
    novels = np.unique(np.asarray(scores[0].groups, dtype=object), return_inverse=True)[1]

    def once(k: int) -> Row:
        rng = np.random.default_rng([k, 2])
        # one chapter of each novel: independent documents, half of them called generated
        chosen = np.array([rng.choice(np.flatnonzero(novels == n)) for n in rng.permutation(int(novels.max()) + 1)])
        half = len(chosen) // 2
        verdicts = []
        for critic, s in zip(critics, scores, strict=True):
            sides = [_plain(s.take(rows, name)) for rows, name in ((chosen[:half], "real"), (chosen[half:], "g"))]
            verdicts += judge(critic, *sides, permutations=1999, seed=k, family=len(critics))
        rows = adjust(verdicts)
        headline, other = (any(v.differs for v in rows if v.headline is kind) for kind in (True, False))
        return {"headline rows": headline, "other rows": other, "the whole table": headline or other}

    return once


def _plain(scores: Scores) -> Scores:
    """Scores without groups."""
    return Scores(
        scores.critic, scores.corpus, scores.ids, scores.prompts, scores.nll, scores.steps, scores.reasons, scores.rows
    )


def main() -> None:
    """Measure both, print the table, and write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("runs/bands-and-families"))
    parser.add_argument("--write", type=Path, help="insert the table into this page: docs/validity.md")
    a = parser.parse_args()
    fit, real = pool()
    critics = [c.fit(fit) for c in make_critics(CRITICS, {})]
    scores = [c.score(real) for c in critics]
    lines = [
        "| critic | effects of other novels inside the band (goal 0.95) | median band |",
        "|---|---:|---:|",
    ]
    for critic, table in zip(critics, scores, strict=True):
        rows = resumed(a.out / f"{critic.name}.jsonl", a.replications, in_band(critic, table))
        r = Rate.of(sum(row["inside"] for row in rows), len(rows))
        band = np.median([row["band"] for row in rows])
        lines.append(f"| {critic.name} | {r.share:.3f} [{r.low:.3f}, {r.high:.3f}] | {band:.3g} |")
        print(lines[-1], flush=True)
    lines += ["", "| family | any row differs (null splits) |", "|---|---:|"]
    rows = resumed(a.out / "families.jsonl", a.replications, family_alarms(critics, scores))
    for name in ("headline rows", "other rows", "the whole table"):
        r = Rate.of(sum(row[name] for row in rows), len(rows))
        lines.append(f"| {name} | {r.share:.3f} [{r.low:.3f}, {r.high:.3f}] |")
    text = "\n".join(lines)
    print(text)
    if a.write:
        page = a.write.read_text(encoding="utf-8")
        before, rest = page.split(MARKERS[0], 1)
        after = rest.split(MARKERS[1], 1)[1]
        inside = f"{MARKERS[0]}\n{text}\n\n{a.replications:,} replications each.\n{MARKERS[1]}"
        a.write.write_text(before + inside + after, encoding="utf-8")


if __name__ == "__main__":
    main()
