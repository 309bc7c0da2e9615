"""Does a chain of labels show that a step is skipped, doubled or swapped in 20 % of documents?

Two texts of 100 documents, each a workflow drawn from a Markov chain; one occurrence of a step is changed in 20 % of
the documents of one text. The critic is fitted on 1,000 other documents. How often the axis differs at level .05, and
the statistic that differs most often by itself, tested at .05.

Run:  python benchmarks/validity/chains_of_labels.py [--repeats 100] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from momus import Corpus, Document, Section
from momus.report.words.format import markdown_table
from momus.verdicts.judge import judge
from momus_critics.labels import label_class

N, SHARE = 100, 0.2
Flow = dict[str, dict[str, float]]
Steps = list[str]
RECURRING: Flow = {
    "ask": {"ask": 0.2, "search": 0.8},
    "search": {"search": 0.3, "read": 0.5, "answer": 0.2},
    "read": {"search": 0.3, "answer": 0.7},
    "answer": {"ask": 0.4, "": 0.6},
}
SKIPPING: Flow = {**RECURRING, "ask": {"search": 0.9, "answer": 0.1}, "search": {"search": 0.2, "answer": 0.8}}
ONCE: Flow = {
    "plan": {"search": 0.85, "read": 0.15},
    "search": {"read": 0.85, "draft": 0.15},
    "read": {"draft": 0.9, "check": 0.1},
    "draft": {"check": 0.85, "": 0.15},
    "check": {"": 1.0},
}
FLOWS = {
    "steps recur; people never skip search": (RECURRING, "ask", ""),
    "steps recur; people skip search in 10 %": (SKIPPING, "ask", ""),
    "no step recurs; people skip search in 15 %; read as a set": (ONCE, "plan", ""),
    "the same, read as a sequence": (ONCE, "plan", "sequence"),
}


def skipped(steps: Steps, rng: np.random.Generator) -> Steps:
    """Without one search."""
    places = [i for i, step in enumerate(steps) if step == "search"]
    i = places[rng.integers(len(places))] if places else len(steps)
    return steps[:i] + steps[i + 1 :]


def doubled(steps: Steps, rng: np.random.Generator) -> Steps:
    """With a second step after the same one, before the last."""
    i = int(rng.integers(len(steps)))
    return steps[: i + 1] + steps[i:]


def swapped(steps: Steps, rng: np.random.Generator) -> Steps:
    """With two neighbours exchanged."""
    if len(steps) < 2:
        return steps
    i = int(rng.integers(len(steps) - 1))
    return [*steps[:i], steps[i + 1], steps[i], *steps[i + 2 :]]


CHANGES: dict[str, Callable[[Steps, np.random.Generator], Steps]] = {
    "nothing": lambda steps, rng: steps,
    "skipped": skipped,
    "doubled": doubled,
    "swapped": swapped,
}


def drawn(flow: Flow, first: str, rng: np.random.Generator, n: int) -> list[Steps]:
    """Workflows of n documents."""
    out = []
    for _ in range(n):
        steps, step = [], first
        while step:
            steps.append(step)
            step = str(rng.choice(list(flow[step]), p=list(flow[step].values())))
        out.append(steps)
    return out


def corpus(rows: list[Steps], name: str) -> Corpus:
    """Documents that are labelled so."""
    labelled = [({"moves": json.dumps(steps)}, f"Document {i} of {name}.") for i, steps in enumerate(rows)]
    documents = [Document(f"{name}{i}", (Section(t),), False, fields=f) for i, (f, t) in enumerate(labelled)]
    return Corpus.from_documents(documents, name=name)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/chains-of-labels.md"))
    a = parser.parse_args()
    rows = []
    for name, (flow, first, kind) in FLOWS.items():
        critic = label_class("moves")(kind=kind).fit(corpus(drawn(flow, first, np.random.default_rng(0), 1000), "fit"))
        for change, changed in CHANGES.items():
            found, single = 0, Counter[str]()
            for seed in range(1, a.repeats + 1):
                rng = np.random.default_rng([seed, 1])
                real, other = drawn(flow, first, rng, N), drawn(flow, first, rng, N)
                other = [changed(steps, rng) if rng.random() < SHARE else steps for steps in other]
                sides = critic.score(corpus(real, "real")), critic.score(corpus(other, "other"))
                verdicts = judge(critic, *sides, permutations=999)
                found += any(v.p_in_axis is not None and v.p_in_axis <= 0.05 for v in verdicts)
                single.update(v.statistic for v in verdicts if v.p is not None and v.p <= 0.05)
            statistic, times = single.most_common(1)[0] if single else ("", 0)
            rows.append([name, change, f"{found / a.repeats:.2f}", statistic, f"{times / a.repeats:.2f}"])
            print(*rows[-1], sep=" | ", flush=True)
    heads = ["workflows", f"in {SHARE:.0%}", "axis differs", "statistic that differs most often", "by itself"]
    note = f"`python benchmarks/validity/chains_of_labels.py`; {N} | {N} documents, R = {a.repeats}, level .05."
    a.out.write_text(f"# Chains of labels with a step changed\n\n{note}\n\n{markdown_table(heads, rows)}\n")


if __name__ == "__main__":
    main()
