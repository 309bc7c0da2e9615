"""How often does the axis of a label differ between halves of one text, by the type of the labels?

Texts of 2,000 documents, labelled at random; five sizes, halves of documents and of whole groups of five, of which a
document has the label of its group in half of the cases. Level .05.

Run:  python benchmarks/validity/label_levels.py [--splits 1000] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from momus import Corpus, Document, Section
from momus.calibration import calibrate
from momus.progress import Silent
from momus.report.words.format import markdown_table

N, GROUP = 2000, 5
SIZES = ((20, 20), (50, 50), (100, 100), (200, 200), (50, 200))
MOVES = {"ask": {"ask": 0.2, "search": 0.8}, "search": {"search": 0.3, "answer": 0.7}, "answer": {"ask": 0.4, "": 0.6}}
Draw = Callable[[np.random.Generator], object]


def _moves(rng: np.random.Generator) -> list[str]:
    steps, step = [], "ask"
    while step:
        steps.append(step)
        step = str(rng.choice(list(MOVES[step]), p=list(MOVES[step].values())))
    return steps


TYPES: dict[str, Draw] = {
    "category": lambda rng: str(rng.choice(["warm", "curt", "flat"], p=[0.6, 0.3, 0.1])),
    "yes-no": lambda rng: bool(rng.random() < 0.2),
    "set": lambda rng: [n for n, p in (("short", 0.1), ("polite", 0.5), ("sure", 0.8)) if rng.random() < p],
    "number": lambda rng: round(float(rng.normal(3, 2)), 6),
    "share": lambda rng: round(float(rng.beta(2, 5)), 6),
    "sequence": _moves,
}


def text(draw: Draw, n: int, name: str, grouped: bool) -> Corpus:
    """Documents with labels, in groups or not."""
    rng = np.random.default_rng([n, grouped])
    of_group = [draw(rng) for _ in range(n // GROUP)]
    labels = [of_group[i // GROUP] if grouped and rng.random() < 0.5 else draw(rng) for i in range(n)]
    return Corpus.from_documents(
        (
            Document(
                f"{name}{i}",
                (Section(f"Document {i} of {name}."),),
                group=f"{name}{i // GROUP}" if grouped else None,
                fields={"tone": label if isinstance(label, str) else json.dumps(label)},
            )
            for i, label in enumerate(labels)
        ),
        name=name,
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/label-levels.md"))
    a = parser.parse_args()
    rows = []
    for kind, draw in TYPES.items():
        for grouped in (False, True):
            real, fit = text(draw, N, "real", grouped), text(draw, N // 4, "fit", grouped)
            measured = calibrate(
                real,
                fit=fit,
                critics=["label-tone"],
                config={"label-tone": {"kind": kind}},
                sizes=list(SIZES),
                splits=a.splits,
                defects=[],
                by="group" if grouped else "document",
                reporter=Silent(),
            )
            rates = [cell.alarms(0.05) / cell.tested for cell in measured.cells]
            units = f"groups of {GROUP}" if grouped else "documents"
            rows.append([kind, units, *(f"{rate:.3f}" for rate in rates), f"{np.mean(rates):.3f}"])
            print(*rows[-1], sep=" | ", flush=True)
    heads = ["type", "units", *(f"{n} | {m}" for n, m in SIZES), "all"]
    note = f"`python benchmarks/validity/label_levels.py`; level .05, {a.splits} splits of each size, in units."
    a.out.write_text(f"# Levels of labels by type\n\n{note}\n\n{markdown_table(heads, rows)}\n")


if __name__ == "__main__":
    main()
