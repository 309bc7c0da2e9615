"""Gates on answers whose mean length fell by the limit, or by twice the limit: how often they fail.

Of two versions of a model, the lengths of the newer one's answers are multiplied so that, over all prompts, their mean
lies below that of the older one by the limit (10 %), or by twice as much. 200 prompts are drawn at a time, answers stay
in their pairs. Other rules of the gate lie on values without any difference, and share the level.

Run:  python benchmarks/validity/limits.py [--replications 200] [--write benchmarks/validity/TABLES.md]
Data: ``answers`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from slices import Words, scores, share, table
from tabulated import run
from yardsticks import data

from momus.history.checks import decide_distances
from momus.history.kept import KeptRun
from momus.history.rules import Limit, Rules
from momus.numeric.types import Floats
from momus.verdicts.judge import judge
from momus.verdicts.settings import Settings
from momus.verdicts.table import adjust

PAIRS = (
    ("Qwen1.5-7B-Chat", "Qwen1.5-72B-Chat"),
    ("llama-2-7b-chat-hf", "llama-2-70b-chat-hf"),
    ("tulu-2-dpo-7b", "tulu-2-dpo-70b"),
    ("vicuna-7b", "vicuna-33b-v1.3"),
    ("claude-2", "claude-3-opus-20240229"),
    ("phi-2-sft", "phi-2-dpo"),
)
LIMIT, PROMPTS, LEVEL, RULES = 0.1, 200, 0.05, (1, 5)


def words(model: str) -> dict[str, int]:
    """The number of words of each answer, by prompt."""
    with gzip.open(data() / "answers" / f"{model}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {row["prompt_id"]: len(row["text"].split()) for row in map(json.loads, lines)}


def lengths(old: str, new: str) -> tuple[Floats, Floats]:
    """Lengths of the answers of two models to the same prompts, (n,) each; none is empty."""
    sides = words(old), words(new)
    both = [p for p, n in sides[0].items() if n and sides[1].get(p)]
    one, other = (np.array([side[p] for p in both], dtype=np.float64) for side in sides)
    return one, other


def fails(old: Floats, new: Floats, rules: int, seed: int) -> bool:
    """Whether a gate of so many rules fails on its rule of length: the others lie on statistics without difference."""
    sides = [scores(name, x, prompts=True, groups=[]) for name, x in (("old", old), ("new", new))]
    rows = judge(Words(), *sides, Settings(seed=seed, against="old"), family=rules)
    (row,) = (v for v in rows if v.statistic == "mean_length")
    verdicts = [row, *(replace(row, critic=f"same-{k}", difference=0.0) for k in range(1, rules))]
    corpora = [{"name": "old", "role": "real"}, {"name": "new", "role": "generated"}]
    limits = tuple(Limit.parse(f"{v.critic}=10 % fewer") for v in verdicts)
    run = KeptRun(Path("run"), {"corpora": corpora, "against": "old"}, adjust(verdicts))
    checks, _ = decide_distances(run, ["new"], Rules(max=limits), LEVEL, sequential=False)
    return any(c.status == "failed" for c in checks)


def rates(old: Floats, new: Floats, fall: float, rules: int, draws: int) -> int:
    """In how many draws of prompts the gate fails where the mean length of all answers fell by a share."""
    scaled = new * (1 - fall) * old.mean() / new.mean()
    hits = 0
    for seed in range(draws):
        rows = np.random.default_rng([seed, 5]).choice(len(old), PROMPTS, replace=False)
        hits += fails(old[rows], scaled[rows], rules, seed)
    return hits


def measured(draws: int) -> str:
    """A row for each pair of versions and number of rules."""
    rows = []
    for old, new in PAIRS:
        one, other = lengths(old, new)
        for rules in RULES:
            at, beyond = (rates(one, other, k * LIMIT, rules, draws) for k in (1, 2))
            r = float(np.corrcoef(one, other)[0, 1])
            rows.append([f"{old}, {new}", f"{r:.2f}", str(rules), share(at, draws), share(beyond, draws)])
            print(*rows[-1], sep="\t", flush=True)
    heads = ["versions", "correlation of lengths", "rules", "fails at the limit", "fails at twice the limit"]
    return f"{draws} draws a row; intervals are Wilson's, 95 %:\n\n{table(heads, rows)}"


if __name__ == "__main__":
    run(__doc__, "limits", measured, 200)
