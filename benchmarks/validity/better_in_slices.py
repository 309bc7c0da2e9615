"""What is better, decided in slices: gates that pass only if no slice is shown to be worse, and nearness to people.

Lengths of documents are lognormal (σ = 0.6), and the rules are decided by `momus.history.slice_checks`, at the share of
the level that slices have. *Not worse*: both texts are answers to the same prompts, whose lengths are alike (σ = 0.2);
those of one slice fall. *Worse*: the lengths of pairs are alike or not (σ = 0.2 to 0.8), and all slices fall by the
limit, or one by twice as much. *Nearer*: people, the reference and the new text are drawn from one source, and the new
text loses a part of one slice.

Run:  python benchmarks/validity/better_in_slices.py [--replications 200] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from slices import LEVELS, LOSS, MEAN, Words, judged, lengths, share, table
from tabulated import run
from winners import table_of

from momus import Corpus, Document
from momus.history.gate import OF_SLICES
from momus.history.kept import KeptRun
from momus.history.rules import Limit, Rules
from momus.history.slice_checks import decide_slices
from momus.joint.axes import AxisRows
from momus.joint.better import Preference, nearer_in_slices
from momus.joint.ranks import Joint
from momus.verdicts.settings import Settings

LIMIT, LEVEL = 20.0, LEVELS[0] * OF_SLICES / (1 + OF_SLICES)
"""Percent of the reference by which a text may be worse where that is decided by preferences."""


def gated(rules: Rules, joint: Joint) -> set[str]:
    """The axes and slices that fail a gate by what is better, at the level that slices have."""
    row = replace(table_of(np.zeros(1), np.random.default_rng(0))[0], critic="length", axis="length", generated="new")
    corpora = [{"name": "old", "role": "real"}, {"name": "new", "role": "generated"}]
    run = KeptRun(Path("run"), {"corpora": corpora, "against": "old"}, [replace(row, statistic=MEAN, reference="old")])
    run.__dict__["joint"] = joint  # as if it were read
    checks, _ = decide_slices(run, ["new"], rules, LEVEL)
    return {c.axis for c in checks if c.status == "failed"}


def required(runs: int, n: int, slices: int, fall: float) -> list[str]:
    """A row of the table of gates that pass only if no slice is shown to be worse than the limit, of one that is."""
    rules = Rules(
        max=(Limit.parse(f"length={LIMIT} % worse"),), better=(Preference.parse("length=more"),), require=("not-worse",)
    )
    counts = np.zeros(2, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 3])
        old = lengths(rng, n, "pairs")
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        # answers to one prompt are alike, and those of a slice fall
        fell = np.where(np.array(kinds) == "k0", 1 - fall, 1.0)
        new = old * fell * np.exp(0.2 * rng.normal(size=n) - 0.02)
        failed = gated(rules, Joint(slices=(judged(old, new, kinds, "pairs", seed),)))
        counts += [not failed, any(axis.endswith("in k0") for axis in failed)]
    return [
        f"{n:,}",
        str(slices),
        f"{100 * fall:g} % in one" if fall else "nothing",
        *(share(int(c), runs) for c in counts),
    ]


def worse(runs: int, n: int, slices: int, spread: float, of_all: bool) -> list[str]:
    """A row of the table of gates that fail if a slice is shown to be worse by more than the limit.

    All slices are worse by the limit, or one by twice the limit.
    """
    rules = Rules(max=(Limit.parse(f"length={LIMIT} % worse"),), better=(Preference.parse("length=more"),))
    counts = np.zeros(2, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 6])
        old = lengths(rng, n, "pairs")
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        fall = LIMIT / 100 * (1.0 if of_all else 2.0 * (np.array(kinds) == "k0"))
        new = old * (1 - fall) * np.exp(spread * rng.normal(size=n) - spread**2 / 2)
        failed = gated(rules, Joint(slices=(judged(old, new, kinds, "pairs", seed),)))
        counts += [bool(failed), any(axis.endswith("in k0") for axis in failed)]
    fell = f"{LIMIT:g} % in all" if of_all else f"{2 * LIMIT:g} % in one"
    return [f"{n:,}", str(slices), f"{spread:g}", fell, *(share(int(c), runs) for c in counts)]


def nearness(runs: int, n: int, slices: int, loss: float) -> list[str]:
    """A row of the table of gates that fail if a slice is shown to be farther from people than the reference."""
    rules, counts = Rules(better=(Preference.parse("length=nearer:human"),)), np.zeros(3, dtype=int)
    statistic, names = Words().statistics()[0], ("real", "old", "new")
    for seed in range(runs):
        rng = np.random.default_rng([seed, n, slices, 4])
        kinds = [f"k{i // 4 % slices}" for i in range(n)]
        values = dict(zip(names, (lengths(rng, n, "pairs") for _ in names), strict=True))
        values["new"] = np.where(np.array(kinds) == "k0", 1 - loss, 1.0) * values["new"]
        texts = [
            Corpus.from_documents(
                [Document(f"{i}", (), prompt=f"p{i}", fields={"kind": k}) for i, k in enumerate(kinds)], x
            )
            for x in names
        ]
        rows = {x: np.column_stack([v, np.ones(n)]) for x, v in values.items()}
        axis = AxisRows("length", "length", statistic, rows, {x: np.ones(n, dtype=bool) for x in names}, values)
        near = nearer_in_slices([axis], {"length": 0.1}, texts, Settings(seed=seed, by=("kind",)))
        sliced = judged(values["old"], values["new"], kinds, "pairs", seed)
        failed = gated(rules, Joint(slices=(sliced,), nearer_in_slices=near))
        here = any(axis.endswith("in k0") for axis in failed)
        counts += [bool(failed), here, len(failed) > here]
    lost = f"{100 * loss:g} % in one" if loss else "nothing"
    return [f"{n:,}", str(slices), lost, *(share(int(c), runs) for c in counts)]


def measured(runs: int) -> str:
    """Both tables."""
    sizes = ((200, 5), (1000, 10))
    must, fallen, near = [], [], []
    for n, k in sizes:
        for fall in (0.0, LIMIT / 100, 2 * LIMIT / 100):
            must.append(required(2 * runs, n, k, fall))
            print(*must[-1], sep="\t", flush=True)
    for (n, k), spread, of_all in product(((200, 5), (200, 10), (1000, 10)), (0.2, 0.4, 0.8), (True, False)):
        fallen.append(worse(2 * runs, n, k, spread, of_all))
        print(*fallen[-1], sep="\t", flush=True)
    for n, k in sizes:
        for loss in (0.0, LOSS):
            near.append(nearness(runs, n, k, loss))
            print(*near[-1], sep="\t", flush=True)
    return f"""{2 * runs} runs a row: `--better length=more --max "length={LIMIT:g} % worse" --require not-worse`; level
of slices: {LEVEL:g}.

{table(["prompts", "slices", "fall", "gate passes", "the slice fails"], must)}
{2 * runs} runs a row: the same without `--require`; σ of the logs of lengths in a pair.

{table(["prompts", "slices", "σ", "fall", "gate fails", "the first slice fails"], fallen)}
{runs} runs a row: `--better length=nearer:human`.

{table(["prompts", "slices", "loses", "gate fails", "by that slice", "by another"], near)}"""


if __name__ == "__main__":
    run(__doc__, "better-in-slices", measured, 200)
