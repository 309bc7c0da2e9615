"""False alarms and power of every critic's headline test on real text, by `momus.calibration`.

1. ``null``: random splits of real text into two sides of 50, 200 and 1,000 documents, and of 50 against 200 and 200
   against 1,000. At α = 0.05 between 3.5 and 6.5 % of the splits should alarm.
2. ``power``: defects planted in one side of 200 | 200 documents at increasing strength. Measures the strength at which
   a critic detects the defects of its axis in 90 % of the splits, and which other critics alarm.
3. ``tables``: Markdown tables (printed) and figures (in ``--figures``) of all measurements so far.

Texts: random chapters of about 1,000 words of 100 novels (critics of words, running text, topics and persons);
paragraphs of 60 to 120 words of the novels (grammar, from dependency parses; likelihoods under two n-gram models);
Ethereum proposals with section titles, without titles, and without any section breaks; paragraphs of manual pages in
German, French and Spanish. Finished cells are kept in --out: run the command again to resume, or with other critics.

Run:  python benchmarks/validity/null_and_power.py null power tables [--critics length,unigram] [--out runs/validity]
``studies.py`` defines the studies.
Data: ``litbank``, ``sectioned`` and ``code-mixing`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration_charts import p_value_chart, power_chart, specificity
from more_defects import MORE, language_mixing
from studies import SIZES, SPLITS, STUDIES, Study

from momus import MomusError
from momus.calibration import CalibrationPlan, calibrate
from momus.calibration.cells import SplitCell
from momus.calibration.plan import NULL, parse_sizes
from momus.calibration.rates import Rate, curves, detectable, family_wise, on_axis, rate, rate_text, strength_text
from momus.controls import DEFECTS
from momus.critic.registry import make_critics
from momus.progress import default_reporter
from momus.report.figures.svg import draw, standalone
from momus.schema import read_json

STRENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
ALPHA, WANTED = 0.05, (0.035, 0.065)
POWER = 0.9
DEFECTS.update(MORE)  # processes of a pool import this script, too


def run(study: Study, kind: str, critics: list[str], a: argparse.Namespace) -> None:
    """Measure a study; finished cells are read from disk."""
    names, jobs = [c for c in study.critics if c in critics], a.jobs
    if not names:
        return
    texts = study.texts()
    held_out = texts.real.take(range(min(len(texts.real), study.documents if kind == "null" else study.powered)))
    params = study.params
    if study.prepare is not None:
        (folder := a.out / "prepared").mkdir(parents=True, exist_ok=True)
        params = {names[0]: study.prepare(texts, folder)}
    chosen = make_critics(names, params)
    largest = min(study.largest, a.largest, study.largest if study.replacement else len(held_out))
    wanted = parse_sizes(a.sizes) or SIZES
    sizes = [s for s in study.sizes if sum(s) <= largest and s in wanted]
    few = min(study.power_splits, a.splits)
    common = CalibrationPlan(
        alpha=ALPHA, power=POWER, splits=min(study.splits, a.splits), power_splits=few, wide=study.wide, seed=a.seed
    )
    if kind == "null":
        plan = replace(common, defects=(), replacement=study.replacement)
        small = [s for s in sizes if max(s) < 1000]
        plans = [
            replace(plan, sizes=small),
            replace(plan, sizes=sizes[len(small) :], splits=a.large_splits or study.large_splits),
        ]
    else:
        if texts.donor is not None:  # which processes of a pool do not have
            DEFECTS["language-mixing"], jobs = language_mixing(texts.donor), 1
        defects = [d for d in DEFECTS if not a.defects or d in a.defects.split(",")]
        strengths = tuple(map(float, a.strengths.split(","))) if a.strengths else STRENGTHS
        common = replace(common, sizes=((200, 200),), splits=few)
        plans = [replace(common, defects=defects, strengths=strengths)]
    print(f"{study.name}, {kind}: {len(texts.fit):,} documents to fit, {len(held_out):,} to split", flush=True)
    for plan in plans:
        if not plan.sizes:
            continue
        begun = time.perf_counter()
        found = calibrate(
            held_out,
            fit=texts.fit,
            critics=chosen,
            out=a.out / f"{study.name}-{kind}",
            plan=plan,
            jobs=jobs,
            reporter=default_reporter(),
            command=f"benchmarks/validity/null_and_power.py {kind}",
        )
        print(f"{found}\n{time.perf_counter() - begun:.0f} s\n", flush=True)


# Tables and figures of the finished cells


def kept(out: Path) -> dict[tuple[str, str], list[SplitCell]]:
    """Return the cells of each (study, kind), finished or not; of repeated cells, the newest."""
    found: dict[tuple[str, str], list[SplitCell]] = {}
    for study in STUDIES:
        for kind in ("null", "power"):
            newest: dict[tuple[Any, ...], SplitCell] = {}
            files = sorted((out / f"{study.name}-{kind}" / "cells").rglob("*.json"), key=lambda p: p.stat().st_mtime)
            for path in files:
                c = read_json(path, SplitCell, "measure the cell again", sealed=True)
                newest[c.critic, c.n_real, c.n_generated, c.defect, c.strength] = c
            if newest:
                order = list(DEFECTS)
                found[study.name, kind] = sorted(
                    newest.values(),
                    key=lambda c: (
                        study.critics.index(c.critic),
                        c.n_real,
                        c.n_generated,
                        order.index(c.defect) if c.defect in order else -1,
                        c.strength,
                    ),
                )
    return found


def level(found: Rate) -> str:
    """A rate with its interval, marked if the rate lies outside the band ``WANTED``."""
    if not found.n:
        return "not measured"
    inside = WANTED[0] <= found.share <= WANTED[1]
    few = "" if found.n == SPLITS else f" of {found.n:,}"
    return f"{found.share:.3f} [{found.low:.3f}, {found.high:.3f}]{few}{'' if inside else ' **!**'}"


def null_table(cells: dict[tuple[str, str], list[SplitCell]]) -> str:
    """Return the false-alarm rates of each critic, then the family-wise rates of critics that share a text."""
    heads = [f"{a:,} \\| {b:,}" for a, b in SIZES]
    lines = ["| critic (text) | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(SIZES)]
    for study in STUDIES:
        rates = {(c.critic, c.n_real, c.n_generated): c for c in cells.get((study.name, "null"), [])}
        for critic in study.critics:
            row = []
            for a, b in SIZES:
                c = rates.get((critic, a, b))
                row.append(
                    ("not measured" if (a, b) in study.sizes else "–")
                    if c is None
                    else (c.reason or level(rate(c, ALPHA)))
                )
            lines.append(f"| {critic} ({study.name}) | " + " | ".join(row) + " |")
    lines.append("")
    for (name, kind), each in cells.items():
        for size in SIZES if kind == "null" else ():
            r, n = family_wise(each, ALPHA, size)
            if n > 1:
                sizes = f"{size[0]:,} | {size[1]:,}"
                lines.append(
                    f"* {name}, {sizes}: any of {n} critics alarms after Holm's adjustment "
                    f"in {rate_text(r)} of {r.n:,} splits"
                )
    return "\n".join(lines)


def power_table(cells: dict[tuple[str, str], list[SplitCell]]) -> str:
    """Return the power against the defects of each critic's axis, then the other defects that raise an alarm."""
    lines = [
        "| critic (text) | defect of its axis | strength at power 0.9 | difference there | power by strength | splits |"
    ]
    lines.append("|---|---|---:|---:|---|---:|")
    others: list[str] = []
    for study in STUDIES:
        for (critic, _, defect), curve in curves(cells.get((study.name, "power"), [])).items():
            d = detectable(curve, ALPHA, POWER)
            tested = [c for c in curve if c.strength > 0]
            if defect != NULL and on_axis(critic, defect):
                powers = ", ".join(f"{c.strength:g}: {rate(c, ALPHA).share:.2f}" for c in tested)
                shown = "–" if d.difference is None else f"{d.difference:+.3g}"
                n = max((c.tested for c in tested), default=0)
                at = strength_text(d.strength, d.bound)
                if d.bound == ">" and (reached := [c for c in tested if rate(c, ALPHA).share >= POWER]):
                    at, shown = f"{reached[0].strength:g}, but lower above", f"{reached[0].mean_difference:+.3g}"
                lines.append(f"| {critic} ({study.name}) | {defect} | {at} | {shown} | {powers} | {n} |")
            elif defect != NULL and tested:
                worst = max(tested, key=lambda c: rate(c, ALPHA).share)
                if rate(worst, ALPHA).low > ALPHA:
                    at = f"from {strength_text(d.strength, d.bound)}" if d.strength is not None else "at no strength"
                    found = f"{worst.strength:g}: {rate_text(rate(worst, ALPHA))}"
                    others.append(f"| {critic} ({study.name}) | {defect} | {at} | {found} |")
    for study in (s for s in STUDIES if s.sizes == SIZES):
        missing = set(study.critics) - {c.critic for c in cells.get((study.name, "power"), []) if c.defect != NULL}
        lines += [f"| {critic} ({study.name}) | – | not measured | | | 0 |" for critic in sorted(missing)]
    lines += ["", "| critic (text) | defect of another axis | power ≥ 0.9 | highest alarm rate |"]
    lines += ["|---|---|---|---|", *others]
    return "\n".join(lines)


def merged(old: str, new: str) -> str:
    """Put the measured rows of new tables into old ones: rows of the same name are replaced, others are added.

    A row is named by its first cell, in tables of defects by the first two, and a line of a list by what stands before
    its colon. Rows and cells that were not measured stay as they were.

    >>> merged("| a | b |\\n| x | 1 |\\n| y | 2 |", "| a | b |\\n| y | 3 |\\n| z | 4 |").split("\\n")
    ['| a | b |', '| x | 1 |', '| y | 3 |', '| z | 4 |']
    """
    blocks = old.split("\n\n")
    for block in new.split("\n\n"):
        head = block.partition("\n")[0]
        # a table is known by its header, a list by its bullets
        same = [b for b in blocks if b.partition("\n")[0] == head or (b[:1] == head[:1] == "*")]
        lines = {_key(line): line for line in (same[0] if same else "").split("\n") if line}
        for line in block.split("\n"):
            unmeasured = not re.sub(r"not measured|[–|\s]", "", line.partition(") |")[2]) and ") |" in line
            if line and not (unmeasured and _key(line) in lines) and "| – | not measured |" not in line:
                lines[_key(line)] = _filled(line, lines.get(_key(line)))
        merged_block = "\n".join(lines.values())
        if same:
            blocks[blocks.index(same[0])] = merged_block
        else:
            blocks.append(merged_block)
    return "\n\n".join(b for b in blocks if b)


def _filled(line: str, old: str | None) -> str:
    """A row whose cells that were not measured are those of the old row."""
    if old is None or "| not measured |" not in line:
        return line
    cells = zip(line.split(" |"), old.split(" |"), strict=True)
    return " |".join(was if now == " not measured" else now for now, was in cells)


def _key(line: str) -> str:
    if line.startswith("*"):
        return line.partition(":")[0]
    cells = [c.strip() for c in line.split("|")]
    return "|".join(cells[1:3]) if cells[2:3] and cells[2] in (*DEFECTS, "–") else cells[1]


def write_between(path: Path, name: str, text: str) -> None:
    """Replace the text between ``<!-- name -->`` and ``<!-- end of name -->``."""
    whole = path.read_text(encoding="utf-8")
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = whole.partition(start)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{start}{text}\n{end}{after}", encoding="utf-8")


def save(item: Any, path: Path) -> None:
    """Write a figure that needs no page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(standalone(draw(item)), encoding="utf-8")


def figures(cells: dict[tuple[str, str], list[SplitCell]], folder: Path) -> None:
    """Draw the p-values and power curves of each critic, and the matrix of critics and defects."""
    powered: list[SplitCell] = []
    for study in STUDIES:
        null, power = (cells.get((study.name, kind), []) for kind in ("null", "power"))
        for critic in study.critics:
            name = f"validity-{critic}" + ("-breaks" if study.name == "breaks" else "")
            mine = [c for c in null if c.critic == critic and c.tested]
            if mine:
                save(p_value_chart(mine, f"{name}-p"), folder / f"{name}-p.svg")
            found = {d: curve for (c, _, d), curve in curves(power).items() if c == critic and d != NULL}
            if found:
                save(power_chart(found, critic, ALPHA, f"{name}-power"), folder / f"{name}-power.svg")
        if study.name != "breaks":
            powered += power
    for strength in (0.1, 0.4):
        if powered:
            matrix = specificity(powered, (200, 200), strength, ALPHA)
            save(matrix, folder / f"validity-specificity-{strength:g}.svg")


def main() -> None:
    """Measure the kinds and studies asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=("null", "power", "tables"))
    parser.add_argument("--critics", help="comma-separated; default: all")
    parser.add_argument("--studies", help="comma-separated; default: all")
    parser.add_argument("--out", type=Path, default=Path("runs/validity"))
    parser.add_argument("--figures", type=Path, help="draw figures into this folder")
    parser.add_argument("--defects", help="comma-separated; default: all")
    parser.add_argument("--strengths", help="comma-separated; default: " + ",".join(map(str, STRENGTHS)))
    parser.add_argument(
        "--write", type=Path, help="put the measured rows into the tables of this page: benchmarks/validity/TABLES.md"
    )
    parser.add_argument("--largest", type=int, default=2000, help="leave out sizes with more documents in total")
    parser.add_argument("--sizes", help="null splits: 50,50x200,200,200x1000,1000; default: all")
    parser.add_argument("--large-splits", type=int, help="null splits of sizes with 1,000 documents on a side")
    parser.add_argument("--splits", type=int, default=SPLITS, help="at most so many splits of each size and defect")
    parser.add_argument(
        "--seed", type=int, default=0, help="of splits and relabellings; another one needs another --out"
    )
    parser.add_argument("--jobs", type=int, default=1)
    a = parser.parse_args()
    critics = a.critics.split(",") if a.critics else [c for s in STUDIES for c in s.critics]
    studies = [s for s in STUDIES if not a.studies or s.name in a.studies.split(",")]
    for kind in ("null", "power"):
        for study in (s for s in studies if kind in a.what and (kind == "null" or s.sizes == SIZES)):
            try:
                run(study, kind, critics, a)
            except MomusError as error:
                print(f"{study.name}, {kind}: {error}", file=sys.stderr, flush=True)
    if "tables" in a.what:
        cells = kept(a.out)
        for name, text in (("null", null_table(cells)), ("power", power_table(cells))):
            print(f"{text}\n")
            if a.write:
                old = a.write.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")[2]
                write_between(a.write, name, merged(old.partition(f"\n<!-- end of {name} -->")[0], text))
        if a.figures:
            figures(cells, a.figures)


if __name__ == "__main__":
    main()
