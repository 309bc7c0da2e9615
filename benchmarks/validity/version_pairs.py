"""Do the axes show what is known of versions of a model? Answers and stories of pairs of models, on the same prompts.

Each pair is compared on half of the prompts, with the first model as the reference; critics are fitted on its answers
to the other half. Of each axis that differs, the row that leads it is printed, in the order of the first screen. A
figure shows mean length and the share with a list of the answers of all models, and mean length and recurring phrases
of all stories.

Run:  python benchmarks/validity/version_pairs.py [--data DATA] [--out DIR] [--figure docs/figures/answers.svg]
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np

import momus
from momus import Corpus
from momus.report.words.sentences import says_what
from momus.runs.answer import answer_of
from momus_critics.keyness import Keyness
from momus_critics.layout.blocks import FEATURES, read_blocks

CRITICS = ("length", "keyness", "repetition", "rhythm", "layout", "edges", "marks", "names", "register", "path")
PAIRS = {
    "answers": (
        ("phi-2", "phi-2-sft"),
        ("phi-2-sft", "phi-2-dpo"),
        ("alpaca-7b", "alpaca-7b_concise"),
        ("alpaca-7b", "alpaca-7b_verbose"),
        ("Mixtral-8x7B-Instruct-v0.1", "Mixtral-8x7B-Instruct-v0.1_concise"),
        ("Mixtral-8x7B-Instruct-v0.1", "Mixtral-8x7B-Instruct-v0.1_verbose"),
    ),
    "prompted-stories": (
        ("gemma-3-27b-it", "gemma-3-27b-it-antislop"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-5"),
        ("kimi-k2", "kimi-k2-0905"),
    ),
}


def answers(folder: Path, model: str) -> dict[str, str]:
    """The texts of a model by prompt."""
    with gzip.open(folder / f"{model}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {row["prompt_id"]: row["text"] for row in rows if row["text"].strip()}


def compared(folder: Path, before: str, after: str, prompts: int) -> list[str]:
    """What each axis that differs says of the second model beside the first, with the gap."""
    sides = answers(folder, before), answers(folder, after)
    shared = sorted(sides[0].keys() & sides[1].keys())
    order = [shared[i] for i in np.random.default_rng(0).permutation(len(shared))]
    held, rest = order[: min(prompts, len(order) // 2)], order[len(order) // 2 :]

    def corpus(side: dict[str, str], ids: list[str], name: str) -> Corpus:
        return Corpus.from_texts([side[i] for i in ids], ids=ids, prompts=ids, name=name)

    found = momus.compare(
        corpus(sides[0], held, "real"), {"after": corpus(sides[1], held, "after")}, fit=corpus(sides[0], rest, "fit"),
        critics=list(CRITICS), permutations=999, resamples=99, top=0,
    )  # fmt: skip
    axes = [axis for axis in answer_of(found).axes if axis.worst.differs]
    return [f"n = {len(held)}", *(f"{axis.axis}: {says_what(axis.worst)}" for axis in axes)]


def shares(folder: Path) -> dict[str, list[float]]:
    """Mean words, and the % of answers with a list and with bold type, of every model."""
    found = {}
    for model in models(folder):
        texts = list(answers(folder, model).values())
        having = 100 * read_blocks(texts).features.mean(axis=0)
        words = float(np.mean([len(t.split()) for t in texts]))
        found[model] = [words, *(float(having[FEATURES.index(f)]) for f in ("a list", "bold type"))]
    return found


def phrases(folder: Path) -> dict[str, list[float]]:
    """Mean words, and recurring phrases per 1,000 words, of the stories of every model for the same prompts.

    Phrases have three to five tokens, and are among the most frequent terms of all stories together.
    """
    sides = {model: answers(folder, model) for model in models(folder)}
    prompts = sorted(set.intersection(*(set(side) for side in sides.values())))
    texts = {model: Corpus.from_texts([side[i] for i in prompts], name=model) for model, side in sides.items()}
    critic = Keyness().fit(texts["gemma-3-27b-it"])
    critic.settle(list(texts.values()))
    found = {}
    for model, text in texts.items():
        pooled = np.asarray(critic.score(text).rows["phrases"]).sum(axis=0)
        words = float(np.mean([len(sides[model][i].split()) for i in prompts]))
        found[model] = [words, float(pooled[0] / pooled[1])]
    return found


def models(folder: Path) -> list[str]:
    """The models with texts in a folder."""
    names = sorted(path.name.removesuffix(".jsonl.gz") for path in folder.glob("*.jsonl.gz"))
    return [name for name in names if name != "prompts"]


MIXTRAL = "Mixtral-8x7B-Instruct-v0.1"
CHAINS = {
    "answers": (
        ("phi-2", "phi-2-sft", "phi-2-dpo"),
        *((f"{m}_concise", m, f"{m}_verbose") for m in ("alpaca-7b", MIXTRAL)),
    ),
    "prompted-stories": PAIRS["prompted-stories"],
}


LABELS = (((-4, 5), "right"), ((4, -11), "left"), ((8, -3), "left"))
"""Where the names of the first, second and third model of a chain stand."""


def draw(of_answers: dict[str, list[float]], of_stories: dict[str, list[float]], path: Path) -> None:
    """Draw length and lists of answers, length and recurring phrases of stories, with lines between versions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 8), layout="constrained")
    panels = figure.subplots(2)
    panels[0].set(xlabel="mean words of an answer", ylabel="answers with a list, %")
    panels[1].set(xlabel="mean words of a story", ylabel="recurring phrases per 1,000 words")
    for axes, found, chains in zip(panels, (of_answers, of_stories), CHAINS.values(), strict=True):
        axes.margins(0.2, 0.1)
        axes.scatter([v[0] for v in found.values()], [v[1] for v in found.values()], color="0.6", s=18)
        for chain, colour in zip(chains, ("#0072b2", "#d55e00", "#009e73"), strict=True):
            points = [(found[m][0], found[m][1]) for m in chain]
            axes.plot(*zip(*points, strict=True), "o-", color=colour)
            for model, point, (at, side) in zip(chain, points, LABELS, strict=False):
                short = model.replace("-8x7B-Instruct-v0.1", "").replace("-20250514", "")
                axes.annotate(short, point, at, textcoords="offset points", fontsize=8, ha=side)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Compare what is missing, print all, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("runs/versions"))
    parser.add_argument("--prompts", type=int, default=400, help="most prompts of a comparison")
    parser.add_argument("--figure", type=Path)
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    table = shares(a.data / "answers")
    for model, values in sorted(table.items(), key=lambda item: item[1][1]):
        print(f"| {model} | {' | '.join(f'{v:.0f}' for v in values)} |")
    stories = phrases(a.data / "prompted-stories")
    for model, (words, rate) in sorted(stories.items(), key=lambda item: item[1][1]):
        print(f"| {model} | {words:.0f} | {rate:.1f} |")
    if a.figure is not None:
        draw(table, stories, a.figure)
    for folder, pairs in PAIRS.items():
        for before, after in pairs:
            path = a.out / f"{after}.json"
            if not path.exists():
                path.write_text(json.dumps(compared(a.data / folder, before, after, a.prompts)))
            print(f"## {before} → {after}", *json.loads(path.read_text()), sep="\n* ", flush=True)


if __name__ == "__main__":
    main()
