"""Lists, trends and directions of A to B on null texts in groups: how often each tells a change that is none.

Texts have 10 conversations of 16 turns. Each conversation of each text has its level, which is the share *icc*
of the variance of a document. *Lists* are of 200 items that between 2 and 50 % of the documents have: the share of
comparisons that list any. *Trend* is Page's test over three versions, and *direction* the test of how predictable two
texts are, p ≤ 0.05 each. Texts answer the same prompts, have the same conversations, or have neither in common.

Run:  python benchmarks/validity/groups_of_versions.py [--replications 400] [--write benchmarks/validity/TABLES.md]
"""

from __future__ import annotations

import numpy as np
from scipy import sparse, stats
from tabulated import run

from momus.against.changes import changed_items, direction_of, path_of
from momus.critic import Counted, Statistic
from momus.critic.scores import Scores
from momus.critic.statistic import mean
from momus.numeric.types import Floats
from momus.text.corpus import Corpus

GROUPS, TURNS, ITEMS, ALPHA = 10, 16, 200, 0.05
N = GROUPS * TURNS
ICC = (0.0, 0.2, 0.4)
DESIGNS = ("prompts", "groups", "neither")
MEAN = Statistic("mean", "x", "value", mean)


def scores_of(name: str, design: str, values: Floats) -> Scores:
    """Scores of a text; what it has in common with others is what the design says."""
    of_text = name if design == "neither" else ""
    groups = [f"{of_text}c{i // TURNS}" for i in range(N)]
    prompts = [f"p{i}" if design == "prompts" else None for i in range(N)]
    ids, steps = [str(i) for i in range(N)], np.ones(N, dtype=int)
    return Scores("critic", name, ids, prompts, values, steps, [None] * N, groups=groups)


def levels(icc: float, rng: np.random.Generator, columns: int = 1) -> Floats:
    """Standard normal values of documents, (N, columns), of which conversations have the share ``icc`` of variance."""
    of_group = np.repeat(rng.normal(size=(GROUPS, columns)), TURNS, axis=0)
    return np.asarray(np.sqrt(icc) * of_group + np.sqrt(1 - icc) * rng.normal(size=(N, columns)))


def lists(design: str, icc: float, rng: np.random.Generator) -> bool:
    """Whether any of the items is listed."""
    bars = stats.norm.isf(np.linspace(0.02, 0.5, ITEMS))
    tables = [Counted(sparse.csr_array((levels(icc, rng, ITEMS) > bars).astype(float)), LABELS) for _ in "ab"]
    scores = [scores_of(name, design, np.ones(N)) for name in "ab"]
    texts = [Corpus.from_texts(["a text"] * N, name=name) for name in "ab"]
    return bool(changed_items("words", (scores[0], scores[1]), (tables[0], tables[1]), (texts[0], texts[1]), ALPHA))


LABELS = [f"w{i}" for i in range(ITEMS)]


def trend(icc: float, rng: np.random.Generator) -> bool:
    """Whether a trend over three versions is significant."""
    scores = [scores_of(name, "prompts", np.ones(N)) for name in "abc"]
    rows = [np.column_stack([levels(icc, rng), np.ones(N)]) for _ in "abc"]
    p = path_of("critic", "axis", MEAN, scores, rows).p
    return p is not None and p <= ALPHA


def direction(design: str, icc: float, rng: np.random.Generator) -> bool:
    """Whether one text is significantly more predictable."""
    sides = [scores_of(name, design, levels(icc, rng)[:, 0]) for name in "ab"]
    found = direction_of("critic", "axis", False, sides[0], sides[1], ALPHA)
    return found is not None and found.p <= ALPHA


def rates(icc: float, replications: int) -> list[float]:
    """Rates of false alarms: of lists and of directions by design, and of trends."""
    told: list[list[bool]] = []
    for seed in range(replications):
        rng = np.random.default_rng([seed, int(100 * icc)])
        row = [lists(design, icc, rng) for design in DESIGNS]
        told.append([*row, *(direction(design, icc, rng) for design in DESIGNS), trend(icc, rng)])
    return [float(x) for x in np.mean(told, axis=0)]


def table(replications: int) -> str:
    """Rates of false alarms."""
    heads = [f"{what}, {design}" for what in ("lists", "direction") for design in DESIGNS]
    lines = [
        f"R = {replications:,}:",
        "",
        f"| icc | {' | '.join(heads)} | trend |",
        "|---:|" + "---:|" * (len(heads) + 1),
    ]
    for icc in ICC:
        lines.append(f"| {icc:g} | {' | '.join(f'{r:.3f}' for r in rates(icc, replications))} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    run(__doc__, "groups-of-versions", table, 400)
