"""Attribution on planted defects: does the defect's own axis survive, and do the other alarms go with it?

Chapters of novels are split at random into 200 real and 200 generated documents; the generated ones carry a planted
defect, or none. Headline rows are tested, adjusted by Holm's method, and alarms attributed
(`momus.joint.attribution`). Every text is scored once; splits select rows. Cells are kept in --out, and the rules
of `RULES` are applied to them afterwards; the table is that of the rule in use.

Strengths are such that the own axis of a defect alarms in nearly all splits (``null_and_power.py``). Defects of axes
that no critic here has (topics, coreference, languages) are left out, and so is the slow ``rank-frequency``.

``--set prose`` takes the critics of repetition, rhythm, keyness and discourse instead, with lengths, lexical diversity
and words beside them, and the defects planted on their axes; templates, which needs a tagger, is left out.

Run:  python benchmarks/validity/attribution.py measure table [--set prose] [--out runs/attribution]
      [--write benchmarks/validity/TABLES.md]
Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from studies import novels

from momus.calibration.plan import split
from momus.calibration.rates import Rate
from momus.calibration.view import on_axis, rate_text
from momus.controls import DEFECTS
from momus.critic.hooks import settled
from momus.critic.registry import make_critics
from momus.inference import axis_test, holm
from momus.inference.adjustment import Overlap
from momus.joint.adjusted import AdjustedRow, Sides
from momus.joint.attribution import accounted, attribution, read_matrix
from momus.joint.axes import Axis, axis_of


@dataclass(frozen=True)
class Setup:
    """Critics, defects with their strengths, and the marker and title of the table."""

    critics: tuple[str, ...]
    strengths: dict[str, float]
    marker: str
    title: str

    @property
    def ends(self) -> tuple[str, str]:
        """What stands before and after the table in a page."""
        return f"<!-- {self.marker} -->\n", f"<!-- end of {self.marker} -->"


SETS = {
    "documents": Setup(
        ("length", "type-token", "stopword-share", "symbol-share", "unigram", "passages", "perplexity"),
        {
            "none": 0.0,
            "section-order": 0.4,
            "section-repetition": 0.1,
            "word-shuffle": 0.1,
            "trigram-shuffle": 0.2,
            "vocabulary-truncation": 0.6,
            "length-truncation": 0.1,
            "stopword-inflation": 0.1,
            "symbol-inflation": 0.2,
            "repetition-loop": 0.2,
        },
        "attribution",
        "## Attribution of alarms",
    ),
    "prose": Setup(
        ("repetition", "rhythm", "keyness", "discourse", "length", "type-token", "unigram"),
        {
            "none": 0.0,
            "repetition-loop": 0.05,
            "rhythm-flattening": 0.5,
            "stock-phrases": 0.1,
            "connective-inflation": 0.15,
        },
        "attribution of prose",
        "### Repetition, rhythm, phrases and discourse",
    ),
}
FIT, POOL, SIDE, ALPHA = 800, 400, 200, 0.05
HEADER = """
{title}

Which alarms [go with another axis](attribution.md), on planted defects. 200 | 200 chapters of novels;
{number} critics of documents ({critics}), Holm-adjusted.
*Own* axes are those that the defect is planted on. *Survives*: an own axis alarms, and it goes with no axis of
another kind. *Goes with*: share of the other alarms that go with an own axis. *Both*: an own axis survives, and
all other alarms go with own axes. *Named*: of the splits in which a sentence names an axis that alarms go with, it is
an own one. Rates are over splits in which an own axis alarms; **!** marks *both* below 0.8, and
null text above 0.05.

<!-- not run: takes half an hour, and data that is not shipped -->
```bash
python benchmarks/validity/attribution.py measure table{option} --write benchmarks/validity/TABLES.md
```

{start}not measured
{end}
"""
Cell = dict[str, Any]
"""One split: ``alarms``, ``p`` by critic, and ``rows`` of the matrix: critic, given, p, share, low, high, reason."""


def axes_by_defect(setup: Setup, defects: list[str]) -> Iterator[tuple[str, list[Axis]]]:
    """Yield the headline rows of the real pool and of the planted pool, by defect."""
    texts = novels(fit=FIT)
    pool = texts.real.take(range(POOL), "real")
    fitted: list[Any] = []
    for critic in make_critics(list(setup.critics), {}):
        begun = time.perf_counter()
        fitted.append(critic.fit(texts.fit))
        print(f"  {critic.name} fitted in {time.perf_counter() - begun:.0f} s", flush=True)
    real = [critic.score(pool) for critic in fitted]
    for defect in defects:
        corpus = pool if defect == "none" else DEFECTS[defect].plant(pool, setup.strengths[defect], 0, None).corpus
        planted = corpus.take(range(POOL), "generated")
        for i, critic in enumerate(fitted):
            if settled(critic, [pool, planted]):  # as in a comparison
                real[i] = critic.score(pool)
        axes = [axis_of(c, [r, c.score(planted)]) for c, r in zip(fitted, real, strict=True)]
        yield defect, [a for a in axes if a is not None]


def taken(axis: Axis, real: np.ndarray, generated: np.ndarray) -> Axis:
    """Select the documents of a split."""
    chosen = {"real": real, "generated": generated}
    rows, scored, values = (
        {k: table[k][i] for k, i in chosen.items()} for table in (axis.rows, axis.scored, axis.values)
    )
    return replace(axis, rows=rows, scored=scored, values=values)


def measure(defect: str, axes: list[Axis], splits: int, out: Path) -> None:
    """Append cells until there are so many splits."""
    path = out / f"{defect}.jsonl"
    done = len(path.read_text().splitlines()) if path.exists() else 0
    with path.open("a") as file:
        for k in range(done, splits):
            order = split(0, k, POOL)
            chosen = [taken(a, order[:SIDE], order[SIDE : 2 * SIDE]) for a in axes]
            p = {}
            for a in chosen:
                sides = [
                    {a.statistic.rows: a.rows[name][np.flatnonzero(a.scored[name])]} for name in ("real", "generated")
                ]
                p[a.critic] = axis_test([a.statistic], sides[0], sides[1])[0]
            adjusted = dict(zip(p, holm(list(p.values())).tolist(), strict=True))
            alarms = [name for name, value in adjusted.items() if value <= ALPHA]
            found = attribution(chosen, Sides("real", "generated", seed=k), alarms) if alarms else None
            rows = (
                []
                if found is None
                else [
                    [r.critic, r.covariates[0], r.p, r.share, r.share_low, r.share_high, r.reason] for r in found.rows
                ]
            )
            file.write(json.dumps({"alarms": alarms, "p": p, "rows": rows}) + "\n")
            file.flush()


Rule = Callable[[AdjustedRow], bool]
IN_USE = "no alarm, estimate within ±0.5, interval below 1 (in use)"
RULES: dict[str, Rule] = {
    IN_USE: accounted,
    "the same; or estimate within ±0.5, interval below 0.5": lambda r: (
        accounted(r) or (abs(r.share) < 0.5 and r.share_high < 0.5)
    ),
    "no alarm, interval within ±0.5": lambda r: not r.alarm and r.share_high < 0.5 and r.share_low > -0.5,
    "no alarm, interval below 0.5": lambda r: not r.alarm and r.share_high < 0.5,
    "no alarm, interval below 0.75": lambda r: not r.alarm and r.share_high < 0.75,
    "no alarm, estimate below 0.5": lambda r: not r.alarm and r.share < 0.5,
    "no alarm": lambda r: not r.alarm,
    "interval below 0.5": lambda r: r.share_high < 0.5,
    "estimate below 0.5": lambda r: r.share < 0.5,
}


@dataclass(frozen=True)
class Counts:
    """Of the splits of one defect: alarms, and how they are attributed."""

    splits: int
    alarms: float
    own_alarms: Rate
    survives: Rate
    accounts: Rate
    both: Rate
    wrong: Rate
    any_account: Rate
    named: Rate


def counted(defect: str, cells: list[Cell], rule: Rule) -> Counts:
    """Apply a rule to the cells of a defect."""
    tallies = {name: [0, 0] for name in ("own", "survives", "accounts", "both", "wrong", "any", "named")}

    def tally(name: str, hit: bool) -> None:
        tallies[name][0] += hit
        tallies[name][1] += 1

    for cell in cells:
        rows = [_row(r) for r in cell["rows"]]
        emptied = {(r.critic, r.covariates[0]) for r in rows if not r.reason and rule(r)}
        mine = [a for a in cell["alarms"] if on_axis(a, defect)]
        others = [a for a in cell["alarms"] if not on_axis(a, defect)]
        tally("any", bool(emptied))
        tally("own", bool(mine))
        leading = read_matrix("generated", cell["alarms"], rows).leading
        if leading is not None:
            tally("named", on_axis(leading[0], defect))
        if not mine:
            continue
        kept = [a for a in mine if not any(x == a and not on_axis(by, defect) for x, by in emptied)]
        gone = [any((a, by) in emptied for by in mine) for a in others]
        tally("survives", bool(kept))
        tally("wrong", len(kept) < len(mine))
        for one in gone:
            tally("accounts", one)
        tally("both", bool(kept) and all(gone))
    rates = {name: Rate.of(*pair) for name, pair in tallies.items()}
    alarms = float(np.mean([len(c["alarms"]) for c in cells])) if cells else float("nan")
    return Counts(
        len(cells),
        alarms,
        rates["own"],
        rates["survives"],
        rates["accounts"],
        rates["both"],
        rates["wrong"],
        rates["any"],
        rates["named"],
    )


def _row(values: list[Any]) -> AdjustedRow:
    critic, given, p, share, low, high, reason = values
    overlap = Overlap(1, 1, 1, 1, 0, 0)
    return AdjustedRow(
        critic, "", "", "", (given,), share=share, share_low=low, share_high=high, p=p, overlap=overlap, reason=reason
    )


def kept(setup: Setup, out: Path) -> dict[str, list[Cell]]:
    """Cells by defect."""
    return {
        d: [json.loads(line) for line in (out / f"{d}.jsonl").read_text().splitlines()]
        for d in setup.strengths
        if (out / f"{d}.jsonl").exists()
    }


def table(setup: Setup, cells: dict[str, list[Cell]], name: str = IN_USE) -> str:
    """Return the table of a rule."""
    lines = [
        "| defect (strength) | own axes | splits | alarms | own axis alarms | survives | goes with | both | named |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for defect, of_defect in cells.items():
        c = counted(defect, of_defect, RULES[name])
        if defect == "none":
            continue
        axes = ", ".join(critic for critic in setup.critics if on_axis(critic, defect))
        mark = " **!**" if c.both.n and c.both.share < 0.8 else ""
        lines.append(
            f"| {defect} ({setup.strengths[defect]:g}) | {axes} | {c.splits:,} | {c.alarms:.1f} "
            f"| {rate_text(c.own_alarms)} | {rate_text(c.survives)} "
            f"| {rate_text(c.accounts)} of {c.accounts.n:,} | {rate_text(c.both)}{mark} "
            f"| {rate_text(c.named)} of {c.named.n:,} |"
        )
    if "none" in cells:
        c = counted("none", cells["none"], RULES[name])
        alarmed = Rate.of(sum(bool(cell["alarms"]) for cell in cells["none"]), c.splits)
        mark = " **!**" if c.any_account.share > ALPHA else ""
        lines += [
            "",
            f"Of {c.splits:,} null splits, {rate_text(alarmed)} have an alarm, and {rate_text(c.any_account)}{mark} "
            "an alarm that goes with another axis.",
        ]
    return "\n".join(lines)


def rules(cells: dict[str, list[Cell]]) -> str:
    """Return the mean rates of all rules over defects, to choose one."""
    lines = [
        "| rule | survives | goes with | both | an own alarm goes with another axis | null attributions |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, rule in RULES.items():
        found = [counted(d, c, rule) for d, c in cells.items() if d != "none"]
        shares = [
            np.nanmean([getattr(c, key).share for c in found]) for key in ("survives", "accounts", "both", "wrong")
        ]
        null = rate_text(counted("none", cells["none"], rule).any_account) if "none" in cells else "–"
        lines.append(f"| {name} | " + " | ".join(f"{v:.3f}" for v in shares) + f" | {null} |")
    return "\n".join(lines)


def write(setup: Setup, path: Path, text: str) -> None:
    """Replace the table between the markers of a page, and add its section if it is missing."""
    whole = path.read_text(encoding="utf-8")
    start, end = setup.ends
    if start not in whole:
        words = {"title": setup.title, "number": len(setup.critics), "critics": ", ".join(setup.critics)}
        option = "" if setup is SETS["documents"] else " --set prose"
        whole = whole.rstrip("\n") + "\n" + HEADER.format(**words, option=option, start=start, end=end)
    before, _, rest = whole.partition(start)
    path.write_text(f"{before}{start}{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def main() -> None:
    """Measure, or print and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=("measure", "table"))
    parser.add_argument("--set", choices=tuple(SETS), default="documents")
    parser.add_argument("--out", type=Path, help="default: runs/attribution, and the set unless it is the first")
    parser.add_argument("--defects", help="comma-separated; default: all, and none")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--null-splits", type=int, default=1000)
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    setup = SETS[a.set]
    out = a.out or Path("runs/attribution") / ("" if a.set == "documents" else a.set)
    out.mkdir(parents=True, exist_ok=True)
    if "measure" in a.what:
        for defect, axes in axes_by_defect(setup, a.defects.split(",") if a.defects else list(setup.strengths)):
            begun = time.perf_counter()
            measure(defect, axes, a.null_splits if defect == "none" else a.splits, out)
            print(f"{defect}: {time.perf_counter() - begun:.0f} s", flush=True)
    if "table" in a.what:
        cells = kept(setup, out)
        print(f"{table(setup, cells)}\n\n{rules(cells)}")
        if a.write:
            choice = "Rules compared, means over the defects above:"
            more = f"\n\n{choice}\n\n{rules(cells)}" if a.set == "documents" else ""
            write(setup, a.write, f"{table(setup, cells)}{more}")


if __name__ == "__main__":
    main()
