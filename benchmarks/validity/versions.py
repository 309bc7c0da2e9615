"""Does the first sentence name what a careful reader saw? Pairs of versions whose answers were read before any run.

``versions.json`` has, for each pair, patterns of what the reader wrote, one of which must be in the first sentence, and
in the first three. The name of an axis alone does not count.

Run:  python benchmarks/validity/versions.py --data DATA --out RUNS [--prompts 300] [--kept]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import momus
from momus import Corpus
from momus.report.words.leads import first_sentences
from momus.runs.answer import answer_of
from momus.runs.folder import read_results

PAIRS = Path(__file__).with_suffix(".json")
CRITICS = (
    "length", "keyness", "repetition", "rhythm", "layout", "edges", "marks", "names", "register", "path", "discourse",
    "unigram", "stopword-share",
)  # fmt: skip
"""Axes of documents; laws of running text, which take most of the time, are left out."""


def named(sentences: Sequence[str], seen: Sequence[str]) -> list[bool]:
    """Whether the first sentence, and any of the first three, names one of the things that were seen.

    >>> named(["b is longer.", "It differs on 3 axes.", "Also: fewer lists."], [r"\\blists?\\b"])
    [False, True]
    """
    patterns = [re.compile(s, re.IGNORECASE) for s in seen]
    hits = [any(p.search(text) for p in patterns) for text in sentences]
    return [any(hits[:1]), any(hits[:3])]


def answers(path: Path, name: str, prompts: int) -> Corpus:
    """Answers of a model to a number of prompts, which are drawn by their hash."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows.sort(key=lambda r: hashlib.md5(str(r["prompt_id"]).encode(), usedforsecurity=False).hexdigest())
    kept = rows[:prompts]
    ids = [str(r["prompt_id"]) for r in kept]
    return Corpus.from_texts([r["text"] for r in kept], ids=ids, prompts=ids, name=name)


def sentences_of(pair: dict[str, str], options: argparse.Namespace) -> list[str]:
    """The first sentences on a pair, from a run that is kept or made anew."""
    folder = options.out / f"{pair['old']}-{pair['new']}"
    if not options.kept:
        old, new = (answers(options.data / f"{pair[k]}.jsonl.gz", k, options.prompts) for k in ("old", "new"))
        momus.compare(
            against={"old": old}, generated={"new": new}, critics=CRITICS, out=folder, permutations=999, resamples=99
        )
    return first_sentences(answer_of(read_results(folder)))


def main() -> None:
    """Print the first sentences on each pair, and whether they name what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the answers, MODEL.jsonl.gz")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--prompts", type=int, default=300)
    parser.add_argument("--kept", action="store_true", help="read runs that are in --out")
    options = parser.parse_args()
    hits = []
    for pair in json.loads(PAIRS.read_text(encoding="utf-8")):
        sentences = sentences_of(pair, options)
        hits.append(named(sentences, pair["seen"]))
        print(f"{pair['old']} to {pair['new']}: first {hits[-1][0]}, first three {hits[-1][1]}")
        print("\n".join(f"  {s}" for s in sentences[:3]))
    first, three = (sum(column) for column in zip(*hits, strict=True))
    print(f"first sentence {first} of {len(hits)}; first three {three} of {len(hits)}")


if __name__ == "__main__":
    main()
