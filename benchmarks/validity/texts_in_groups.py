"""Texts in groups: how often dependence is warned of, and how often laws alarm on null splits of novels.

``warnings`` draws texts of each kind of ``grouped_texts.py`` and makes the checks of ``momus compare`` without group
ids. ``laws`` splits 16 random novels into 8 | 8, twelve chapters each, and tests the headline law of each critic of
running text: with whole novels as groups, and without (novels one behind another, cut into pieces of equal length).
Each replication is a line of JSON in --out, and a run resumes behind the last one.

Run:  python benchmarks/validity/texts_in_groups.py warnings laws table [--out DIR]
      [--write benchmarks/validity/TABLES.md]
Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from grouped_texts import ALONE, CHAPTERS, KINDS, OF_A_GROUP, SILENT, Kind, Pool, first_chapters, passages, pool_of

from momus.calibration.cells import LawJudge
from momus.calibration.plan import SplitUnits
from momus.calibration.rates import Rate
from momus.critic import RunningTextCritic
from momus.critic.powers import headline_of
from momus.critic.registry import make_critics
from momus.numeric.types import Ints

LAWS = ("zipf-slope", "heaps", "productivity", "taylor", "ebeling", "long-range")
NOVELS, ALPHA, GOAL = 8, 0.05, (0.0, 0.08)
"""Novels per side, and the level and the goal of the tests of laws."""
START, END = "<!-- texts-in-groups -->\n", "<!-- end of texts-in-groups -->"
WARNINGS = f"""\
**Warnings.** Share of draws in which `momus compare` warns of dependence or copies when no document has a group id
(earlier versions had no such checks). Passages have 100 to 200 words, chapters 1,000. Rows on novels check one text of
200 passages, or two texts of chapters, each of which must be warned of. The other rows are whole comparisons of
{ALONE} | {ALONE} passages, each of another novel: with copies, a warning must say that the generated text repeats
itself; without, any warning is a false alarm. Ids that *suggest groups at random* share their beginnings in groups of
about {OF_A_GROUP}. The columns after *warning* say what was warned of."""
NULL_SPLITS = f"""\
**Laws.** Share of null splits of {NOVELS} | {NOVELS} random novels with p ≤ {ALPHA} (the first {CHAPTERS} chapters of
each). Without groups, novels stand one behind another and are cut into pieces of equal length; with groups, the goal is
at most {GOAL[1]:g}."""
BRACKETS = """\
Brackets are 95 % Clopper–Pearson intervals over R draws. (!) marks rates beyond their goal, **!** those whose interval
is beyond it, too."""
Row = dict[str, Any]
Goal = tuple[float, float] | None


@cache
def pool(name: str) -> Pool:
    """Build the pool of this name, once."""
    return pool_of({"passages": passages, "chapters": first_chapters}[name])


def kept(path: Path) -> list[Row]:
    """Read the replications of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def replicate(path: Path, replications: int, once: Callable[[np.random.Generator], Row], name: str) -> None:
    """Append replications until there are so many; each has a random stream of its own, that of its number and name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    done, begun = len(kept(path)), time.perf_counter()
    with path.open("a") as file:
        for k in range(done, replications):
            file.write(json.dumps(once(np.random.default_rng([k, *name.encode()]))) + "\n")
            file.flush()
    if done < replications:
        print(f"{path.stem}: {replications - done} in {time.perf_counter() - begun:.0f} s", flush=True)


def warned(kind: Kind) -> Callable[[np.random.Generator], Row]:
    """Draw texts of a kind, and return what is warned of."""
    return lambda rng: asdict(kind.draw(pool(kind.pool), rng))


def null_split(name: str) -> Callable[[np.random.Generator], Row]:
    """Split novels, and return p of a law with and without groups; None where a text does not determine the law."""
    (critic,) = make_critics([name], {})
    assert isinstance(critic, RunningTextCritic)
    law = next(s for s in critic.laws() if s.name == headline_of(critic))
    chapters = pool("chapters")
    judge = LawJudge(critic, law, chapters.pieces, chapters.pieces)
    units = SplitUnits.of([str(n) for n in chapters.novels.tolist()], chapters.pieces.ids)
    whole = np.flatnonzero(np.diff(units.offsets) == CHAPTERS)

    def once(rng: np.random.Generator) -> Row:
        drawn = rng.permutation(whole)[: 2 * NOVELS]
        (real, a), (generated, b) = (units.expand(side, judge.usable) for side in np.split(drawn, 2))
        return {"whole": _p(judge, real, generated, (a, b)), "without": _p(judge, real, generated, None)}

    return once


def _p(judge: LawJudge, real: Ints, generated: Ints, groups: tuple[Ints, Ints] | None) -> float | None:
    p, *_ = judge.test(real, generated, groups)
    return p if np.isfinite(p) else None


def shown(hits: Sequence[bool], goal: Goal) -> str:
    """A rate with its interval and mark: ``(!)`` beyond the goal, ``**!**`` if the interval is beyond it, too.

    >>> shown([True] * 50 + [False] * 50, (0.95, 1.0))
    '0.500 [0.398, 0.602] **!**'
    """
    rate = Rate.of(sum(hits), len(hits))
    if not rate.n:
        return "not measured"
    mark = ""
    if goal is not None and not goal[0] <= rate.share <= goal[1]:
        mark = " (!)" if rate.low <= goal[1] and rate.high >= goal[0] else " **!**"
    return f"{rate.share:.3f} [{rate.low:.3f}, {rate.high:.3f}]{mark}"


def warning_table(out: Path) -> str:
    """Return the shares of draws with a warning, by kind of text."""
    lines = [
        "| texts | R | warning | of ids | of order | of copies | goal |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, kind in KINDS.items():
        rows = kept(out / "warnings" / f"{name}.jsonl")
        if not rows:
            lines.append(f"| {kind.label} | 0 | not measured | – | – | – | – |")
            continue
        n = len(rows)
        ids, order = (sum(k in r["kinds"] for r in rows) / n for k in ("groups", "order"))
        copies = sum(not {"groups", "order"}.issuperset(r["kinds"]) for r in rows) / n
        goal = "–" if kind.goal is None else "≤ 0.05" if kind.goal == SILENT else "≥ 0.95"
        rate = shown([r["hit"] for r in rows], kind.goal)
        lines.append(f"| {kind.label} | {n:,} | {rate} | {ids:.3f} | {order:.3f} | {copies:.3f} | {goal} |")
    return "\n".join(lines)


def law_table(out: Path) -> str:
    """Return the rates of false alarms of the laws."""
    lines = [
        "| law | R | without groups | whole novels as groups |",
        "|---|---:|---:|---:|",
    ]
    for name in LAWS:
        rows = kept(out / "laws" / f"{name}.jsonl")
        cells = []
        for key, goal in (("without", None), ("whole", GOAL)):
            values = [r[key] for r in rows if r[key] is not None]
            undefined = f"; {len(rows) - len(values):,} undetermined" if len(values) < len(rows) else ""
            cells.append(shown([p <= ALPHA for p in values], goal) + undefined)
        lines.append(f"| {name} | {len(rows):,} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def tables(out: Path) -> str:
    """Return the text between the markers."""
    return f"""{WARNINGS}

{warning_table(out)}

{NULL_SPLITS}

{law_table(out)}

{BRACKETS}"""


def write(path: Path, text: str) -> None:
    """Replace the text between the markers of a page."""
    whole = path.read_text(encoding="utf-8")
    before, start, rest = whole.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(f"{path} lacks the markers {START.strip()} and {END}")
    path.write_text(f"{before}{START}{text}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Measure, or print and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=("warnings", "laws", "table"))
    parser.add_argument("--out", type=Path, default=Path("runs/texts-in-groups"))
    parser.add_argument("--only", help="comma-separated kinds of text, or laws; default: all")
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--write", type=Path, help="insert the tables into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    only = a.only.split(",") if a.only else [*KINDS, *LAWS]
    if "warnings" in a.what:
        for name in (n for n in KINDS if n in only):
            replicate(a.out / "warnings" / f"{name}.jsonl", a.replications, warned(KINDS[name]), name)
    if "laws" in a.what:
        for name in (n for n in LAWS if n in only):
            replicate(a.out / "laws" / f"{name}.jsonl", a.replications, null_split(name), name)
    if "table" in a.what:
        text = tables(a.out)
        print(text)
        if a.write:
            write(a.write, text)


if __name__ == "__main__":
    main()
