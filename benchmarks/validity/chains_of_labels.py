"""Does a chain of labels show that a step is skipped, doubled or swapped in 20 % of documents?

Two texts of 100 documents, each a workflow drawn from a Markov chain; one occurrence of a step is changed in 20 % of
the documents of one text. The critic is fitted on 1,000 other documents. How often the axis differs at level .05, and
the statistic that differs most often by itself, tested at .05. Also how often the most powerful permutation test of the
same documents rejects, which knows the law of people and what was done (Lehmann & Stein 1949): no test that relabels
these documents finds more.

Run:  python benchmarks/validity/chains_of_labels.py [--repeats 200] [--out FILE]
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


def origins(change: str, steps: Steps) -> list[tuple[Steps, float]]:
    """The workflows that a change may turn into this one, and how probably each."""
    places = range(len(steps) - 1)
    if change == "skipped":
        searches = steps.count("search")
        inserted = [[*steps[:i], "search", *steps[i:]] for i in range(len(steps) + 1)]
        return [*((before, 1 / (searches + 1)) for before in inserted), (steps, float(not searches))]
    if change == "doubled":
        recurring = [i for i in places if steps[i] == steps[i + 1]]
        return [(steps[:i] + steps[i + 1 :], 1 / len(places)) for i in recurring]
    exchanged = [[*steps[:i], steps[i + 1], steps[i], *steps[i + 2 :]] for i in places]
    return [*((before, 1 / len(places)) for before in exchanged), (steps, float(not places))]


def evidence_of(change: str, flow: Flow, first: str, steps: Steps) -> float:
    """log q(z)/p(z) of a workflow, where q makes a change in some of the documents; at most 1,000."""

    def probability(z: Steps) -> float:
        after = zip(z, [*z[1:], ""], strict=True)
        return float(np.prod([flow[a].get(b, 0.0) for a, b in after])) if z[:1] == [first] else 0.0

    p = probability(steps)
    q = sum(probability(before) * share for before, share in origins(change, steps))
    return min(float(np.log(1 - SHARE + SHARE * q / p)), 1e3) if p else 1e3


def best_power(change: str, flow: Flow, first: str, repeats: int) -> float:
    """How often the most powerful permutation test finds a change, one-sided at level .05."""
    relabelled = np.argsort(np.random.default_rng(0).random((999, 2 * N)), axis=1) < N  # (B, documents of both)
    hits = 0
    for seed in range(1, repeats + 1):
        rng = np.random.default_rng([seed, 1])
        real, other = drawn(flow, first, rng, N), drawn(flow, first, rng, N)
        other = [CHANGES[change](steps, rng) if rng.random() < SHARE else steps for steps in other]
        values = np.array([evidence_of(change, flow, first, steps) for steps in [*real, *other]])
        reached = int((relabelled @ values >= values[N:].sum() - 1e-9).sum())
        hits += (reached + 1) / (len(relabelled) + 1) <= 0.05
    return hits / repeats


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
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
            best = "" if change == "nothing" else f"{best_power(change, flow, first, a.repeats):.2f}"
            rows.append([name, change, f"{found / a.repeats:.2f}", statistic, f"{times / a.repeats:.2f}", best])
            print(*rows[-1], sep=" | ", flush=True)
    heads = ["workflows", f"in {SHARE:.0%}", "axis differs", "statistic that differs most often", "by itself"]
    heads += ["best test that knows the change"]
    note = (
        f"`python benchmarks/validity/chains_of_labels.py`; {N} | {N} documents, R = {a.repeats}, level .05.\n\n"
        "The best test is the most powerful one that relabels the same documents (Lehmann & Stein 1949), one-sided, "
        "with the law of people and the change known to it; no such test finds more."
    )
    a.out.write_text(f"# Chains of labels with a step changed\n\n{note}\n\n{markdown_table(heads, rows)}\n")


if __name__ == "__main__":
    main()
