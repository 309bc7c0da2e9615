"""Five language models against human stories: verdicts, human bands, rows adjusted for length, and ranks.

The human sides of the five files are the same stories, decoded by five tokenisers; those of gpt2-xl stand for all. A
story and its continuations share a prompt_id; stories that answer the same writing prompt share a group_id, from which
the human bands are estimated. Half of the groups are set apart for fitting.

Run:  python benchmarks/reproduce/five_models.py [--critics length,unigram,…] [--out runs/five-models]
Data: ``human-vs-lm`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import momus

MODELS = {
    "gpt2-xl": "gpt2-xl",
    "gpt-j": "gpt-j-6B",
    "gpt-neo": "gpt-neo-2.7B",
    "neox": "gpt-neox-20b",
    "opt": "opt-2.7b",
}
CRITICS = (
    "length,type-token,stopword-share,symbol-share,unigram,rank-frequency,topics,perplexity,coreference,mauve,"
    "zipf-slope,heaps,productivity"
)
BEGINNING = 90
"""Letters and digits at the beginning of a story that tell which writing prompt it answers."""


def read(model: str) -> tuple[list[str], list[str]]:
    """Return the human stories and the model's continuations of their beginnings."""
    folder = Path(os.environ.get("MOMUS_DATA", Path(__file__).parents[3] / "shared" / "data")) / "human-vs-lm"
    with gzip.open(folder / f"writing_{model}.json.gz", "rt", encoding="utf-8") as file:
        content = json.load(file)
    return content["original"], content["sampled"]


def beginning(text: str) -> str:
    """The first letters and digits of a text, in lower case."""
    return re.sub(r"[^a-z0-9]", "", text.lower())[:BEGINNING]


def corpora() -> tuple[momus.Corpus, dict[str, momus.Corpus]]:
    """Return the human stories, and the continuations of each model with the prompts of the stories they continue."""
    stories, _ = read(MODELS["gpt2-xl"])
    keys = [beginning(s) for s in stories]
    prompts = [f"story {i}" for i in range(len(stories))]
    real = momus.Corpus.from_texts(stories, prompts, prompts, "real", keys)
    generated = {}
    for name, file in MODELS.items():
        texts, rows = zip(*_matched(file, keys), strict=True)
        of_model = [prompts[i] for i in rows]
        ids = [f"{name} {p}" for p in of_model]
        generated[name] = momus.Corpus.from_texts(texts, ids, of_model, name, [keys[i] for i in rows])
    return real, generated


def _matched(file: str, keys: list[str]) -> Iterator[tuple[str, int]]:
    """Yield each continuation with the number of its story; stories of one beginning are matched in order."""
    originals, sampled = read(file)
    waiting: dict[str, list[int]] = defaultdict(list)
    for i, key in enumerate(keys):
        waiting[key].append(i)
    for original, text in zip(originals, sampled, strict=True):
        found = waiting[beginning(original)]
        if found:
            yield text, found.pop(0)


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--critics", default=CRITICS)
    parser.add_argument("--out", type=Path, default=Path("runs/five-models"))
    a = parser.parse_args()
    real, generated = corpora()
    found = momus.compare(
        real, generated, critics=a.critics.split(","), control_for=("length",), out=a.out, overwrite=True
    )
    print(found)


if __name__ == "__main__":
    main()
