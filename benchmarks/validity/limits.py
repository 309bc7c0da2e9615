"""Gates on answers whose mean length fell by the limit, or by twice the limit: how often they fail.

Of two versions of a model, the lengths of the newer one's answers are multiplied so that, over all prompts, their mean
(or their geometric mean, which is the typical length) lies below that of the older one by the limit (10 %), or by twice
as much. 200 prompts are drawn at a time, answers stay in their pairs. Other rules of the gate lie on values without any
difference, and share the level.

Run:  python benchmarks/validity/limits.py [--replications 200] [--write benchmarks/validity/TABLES.md]
Data: ``answers`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import gmean
from slices import Words, scores, share, table
from tabulated import run
from yardsticks import data

from momus.critic import Statistic
from momus.critic.statistic import perplexity
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
LIMIT, PROMPTS, LEVEL = 0.1, 200, 0.05
ROWS = (("mean_length", 1), ("mean_length", 5), ("typical_length", 1))
"""Statistics that are limited, and numbers of rules."""


Mean = Callable[[Floats], float]
MEANS: dict[str, Mean] = {"mean_length": lambda x: float(x.mean()), "typical_length": lambda x: float(gmean(x))}


class Lengths(Words):
    """The mean length, and the typical length, which a few very long answers do not move."""

    def statistics(self) -> tuple[Statistic, ...]:
        """Both."""
        sides = ("shorter", "longer")
        typical = Statistic.value("typical_length", "logs", perplexity, "typical length", sides, scale="log")
        return (*super().statistics(), typical)


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


def fails(old: Floats, new: Floats, rules: int, statistic: str, seed: int) -> bool:
    """Whether a gate of so many rules fails on its rule of length: the others lie on statistics without difference."""
    sides = [scores(name, x, prompts=True, groups=[]) for name, x in (("old", old), ("new", new))]
    for side, x in zip(sides, (old, new), strict=True):
        side.rows["logs"] = np.column_stack([np.log(x), np.ones(len(x))])
    rows = judge(Lengths(), *sides, Settings(seed=seed, against="old"), family=rules)
    (row,) = (replace(v, headline=True, leads=True) for v in rows if v.statistic == statistic)
    verdicts = [row, *(replace(row, critic=f"same-{k}", difference=0.0) for k in range(1, rules))]
    corpora = [{"name": "old", "role": "real"}, {"name": "new", "role": "generated"}]
    limits = tuple(Limit.parse(f"{v.critic}.{statistic}=10 % fewer") for v in verdicts)
    run = KeptRun(Path("run"), {"corpora": corpora, "against": "old"}, adjust(verdicts))
    checks, _ = decide_distances(run, ["new"], Rules(max=limits), LEVEL, sequential=False)
    return any(c.status == "failed" for c in checks)


def rates(old: Floats, new: Floats, fall: float, rules: int, statistic: str, draws: int) -> int:
    """In how many draws of prompts the gate fails where the statistic of all answers fell by a share."""
    of = MEANS[statistic]
    scaled = new * (1 - fall) * of(old) / of(new)
    hits = 0
    for seed in range(draws):
        rows = np.random.default_rng([seed, 5]).choice(len(old), PROMPTS, replace=False)
        hits += fails(old[rows], scaled[rows], rules, statistic, seed)
    return hits


def measured(draws: int) -> str:
    """A row for each pair of versions, statistic and number of rules."""
    rows = []
    for (old, new), (statistic, rules) in product(PAIRS, ROWS):
        one, other = lengths(old, new)
        at, beyond = (rates(one, other, k * LIMIT, rules, statistic, draws) for k in (1, 2))
        r = float(np.corrcoef(one, other)[0, 1])
        rows.append([
            f"{old}, {new}", f"{r:.2f}", statistic, str(rules), share(at, draws), share(beyond, draws)
        ])  # fmt: skip
        print(*rows[-1], sep="\t", flush=True)
    heads = [
        "versions",
        "correlation of lengths",
        "statistic",
        "rules",
        "fails at the limit",
        "fails at twice the limit",
    ]
    return f"{draws} draws a row; intervals are Wilson's, 95 %:\n\n{table(heads, rows)}"


if __name__ == "__main__":
    run(__doc__, "limits", measured, 200)
