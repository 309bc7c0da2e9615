"""Nine models against each other, all pairs under six critics: can a verdict end at the smallest possible p-value?

The documents are the chapters of the stories that nine language models wrote to the same five titles, 40 per model;
chapters of one number and title are pairs. Critics are fitted on chapters of novels. Each of the 216 rows is tested
twice: with as many relabellings as one row needs, whatever the number of rows (*before*), and with as many as a table
of 216 rows needs (*after*, `momus.inference.relabelling`). Then Holm's adjustment is made over all rows.

Whether chapters of a story are independent does not matter here: the question is whether the number of relabellings
decides a verdict, and not how often equal models differ.

Run:  python benchmarks/validity/nine_models.py run table [--out DIR] [--seeds 5]
      [--write benchmarks/validity/TABLES.md]
Data: ``long-stories`` and ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from null_and_power import write_between
from studies import data, novels

from momus import Corpus
from momus.critic import Critic
from momus.critic.registry import make_critics
from momus.critic.scores import Scores
from momus.inference import holm
from momus.verdicts.judge import judge

CRITICS = ("length", "type-token", "stopword-share", "symbol-share", "unigram", "rank-frequency")
MODELS = (
    "claude-opus-4",
    "deepseek-ai__DeepSeek-R1",
    "gemini-2.5-pro-preview-03-25",
    "google__gemma-3-27b-it",
    "gpt-4.1",
    "gpt-4o-mini",
    "grok-3-beta",
    "mistral-medium-3",
    "qwen__qwen3-32b",
)
"""One model of each family, chosen by name before anything was scored."""
PAIRS = tuple(combinations(MODELS, 2))
LEVEL = 0.05
FITTED = 400
"""Chapters of novels that critics are fitted on."""
ENGINES = {"before": 1, "after": len(PAIRS) * len(CRITICS)}
"""Rows that the number of relabellings takes into account."""
Row = dict[str, Any]


def stories() -> dict[str, Corpus]:
    """The chapters of each model, with title and number of the chapter as prompt."""
    path = data() / "long-stories" / "stories.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    corpora = {}
    for model in MODELS:
        found = [
            (f"{r['prompt_title']} {i}", text)
            for r in records
            if r["model"] == model
            for i, text in enumerate(r["chapters"])
        ]
        prompts, texts = zip(*found, strict=True)
        corpora[model] = Corpus.from_texts(texts, ids=prompts, prompts=prompts, name=model)
    return corpora


def tested(critic: Critic[Any], scores: dict[str, Scores], engine: str, seed: int) -> list[Row]:
    """One record per pair of models: p and the number of relabellings."""
    rows = []
    for one, other in PAIRS:
        (verdict,) = judge(
            critic,
            scores[one],
            scores[other],
            only_headline=True,
            family=ENGINES[engine],
            seed=seed,
        )
        rows.append(
            {
                "pair": [one, other],
                "p": verdict.p,
                "relabellings": verdict.method.permutations,
                "exact": verdict.method.exact,
                "n": [verdict.n_real, verdict.n_generated],
            }
        )
    return rows


def path_of(out: Path, engine: str, critic: str, seed: int) -> Path:
    """The file of one critic's records."""
    return out / engine / f"{critic}-{seed}.json"


def run(out: Path, seeds: int) -> None:
    """Test all pairs that are not in the folder yet."""
    fit = novels(fit=FITTED).fit
    corpora = stories()
    for critic in make_critics(CRITICS, {}):
        cells = [(engine, seed) for seed in range(seeds) for engine in ENGINES]
        cells = [cell for cell in cells if not path_of(out, cell[0], critic.name, cell[1]).exists()]
        if not cells:
            continue
        critic.fit(fit)
        scores = {model: critic.score(corpus) for model, corpus in corpora.items()}
        for engine, seed in cells:
            rows = tested(critic, scores, engine, seed)
            path = path_of(out, engine, critic.name, seed)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(rows), encoding="utf-8")
            print(f"{engine} {critic.name} {seed}", flush=True)


def table(out: Path) -> str:
    """One row per critic: pairs that differ after Holm's adjustment over all rows, and the smallest adjusted p."""
    columns: dict[str, dict[str, list[str]]] = {}
    shown = {}
    for engine in ENGINES:
        seeds = sorted(int(p.stem.rsplit("-", 1)[1]) for p in (out / engine).glob(f"{CRITICS[0]}-*.json"))
        found = [{c: json.loads(path_of(out, engine, c, s).read_text()) for c in CRITICS} for s in seeds]
        adjusted = [_adjusted(rows) for rows in found]
        columns[engine] = {
            c: [
                _range([int((a[c] <= LEVEL).sum()) for a in adjusted]),
                _range([round(float(a[c].min()), 4) for a in adjusted]),
                f"{np.mean([r['relabellings'] for rows in found for r in rows[c]]):,.0f}",
            ]
            for c in CRITICS
        }
        whole = [sum(int((a[c] <= LEVEL).sum()) for c in CRITICS) for a in adjusted]
        drawn = np.mean([r["relabellings"] for rows in found for c in CRITICS for r in rows[c]])
        columns[engine]["all"] = [_range(whole), "", f"{drawn:,.0f}"]
        shown[engine] = len(seeds)
    lines = [
        "| critic | before: pairs that differ | smallest adjusted p | relabellings | after: pairs that differ "
        "| smallest adjusted p | relabellings |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for critic in (*CRITICS, "all"):
        name = f"{critic} ({len(PAIRS)})" if critic != "all" else f"all ({len(PAIRS) * len(CRITICS)})"
        lines.append(f"| {name} | {' | '.join([*columns['before'][critic], *columns['after'][critic]])} |")
    return "\n".join([*lines, "", f"R = {shown['before']} | {shown['after']} seeds of the relabellings."])


def _adjusted(rows: dict[str, list[Row]]) -> dict[str, Any]:
    """Holm's p-values over the rows of all critics, by critic."""
    p = holm([r["p"] for c in CRITICS for r in rows[c]])
    return dict(zip(CRITICS, np.split(np.asarray(p), len(CRITICS)), strict=True))


def _range(values: Sequence[float]) -> str:
    """One number where all are equal, else the smallest and the largest.

    >>> _range([3, 3]), _range([0.1, 0.2])
    ('3', '0.1 to 0.2')
    """
    return f"{min(values):g}" if min(values) == max(values) else f"{min(values):g} to {max(values):g}"


def main() -> None:
    """Measure, or print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=("run", "table"))
    parser.add_argument("--out", type=Path, default=Path("runs/nine-models"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", type=Path, help="insert the table into this page: benchmarks/validity/TABLES.md")
    a = parser.parse_args()
    if "run" in a.what:
        run(a.out, a.seeds)
    if "table" in a.what:
        text = table(a.out)
        print(text)
        if a.write:
            write_between(a.write, "nine-models", text)


if __name__ == "__main__":
    main()
