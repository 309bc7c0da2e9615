"""Gate five versions of an n-gram model; the fourth has a bug in its training data.

    python examples/gate/five_versions.py --out folder

Each version is trained on the human text of the demo, writes documents, and is compared with held-out human text.
Critics are fitted once, for the first version. A version passes the gate if it is not surely farther from human text
than the last version that passed. The loader of version 4 clips every document, and version 5 corrects it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import momus
from momus import Corpus, read_corpus
from momus.demo import demo_path
from momus.errors import MomusError
from momus.history.gate import GateResult, gate_run
from momus.history.rules import Limit, Rules
from momus.history.view import check_line

CRITICS = ("length", "unigram", "stopword-share", "heaps")
END = "</s>"
CLIP = 60
"""Words that the loader of version 4 keeps of each document."""


@dataclass(frozen=True)
class Version:
    """How a version is trained: its order, its share of the training text, and the words it reads of a document."""

    name: str
    order: int
    share: float
    clip: int = 0


VERSIONS = (
    Version("v1", 2, 0.5),
    Version("v2", 3, 0.5),
    Version("v3", 3, 1.0),
    Version("v4", 3, 1.0, CLIP),
    Version("v5", 3, 1.0),
)


class NGram:
    """A maximum-likelihood n-gram model: after each context, the words that followed it in the training text."""

    def __init__(self, order: int, texts: Sequence[str]) -> None:
        self.order = order
        self.next: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for text in texts:
            words = [""] * (order - 1) + text.split() + [END]
            for i in range(order - 1, len(words)):
                self.next[tuple(words[i - order + 1 : i])].append(words[i])

    def write(self, rng: random.Random) -> str:
        """Sample a document."""
        words = [""] * (self.order - 1)
        while not words or words[-1] != END:
            words.append(rng.choice(self.next[tuple(words[len(words) - self.order + 1 :])]))
        return " ".join(words[self.order - 1 : -1])


def write_documents(version: Version, texts: Sequence[str], count: int, seed: int) -> Corpus:
    """Train a version, and sample documents from it."""
    read = texts[: int(len(texts) * version.share)]
    if version.clip:
        read = [" ".join(text.split()[: version.clip]) for text in read]
    model, rng = NGram(version.order, read), random.Random(seed)
    return Corpus.from_texts([model.write(rng) for _ in range(count)], name="model")


def plain(file: str, name: str, count: int) -> Corpus:
    """Human text of the demo without its sections, which the models do not write."""
    return Corpus.from_texts([d.text for d in read_corpus(demo_path(file))][:count], name=name)


def main(argv: Sequence[str] | None = None) -> dict[str, GateResult | None]:
    """Run the example; return the outcome of the gate by version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="output folder")
    parser.add_argument("--documents", type=int, default=200, help="documents that each version writes")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    runs = options.out / "runs"
    real, fit = plain("real.jsonl.gz", "real", 200), plain("fit.jsonl.gz", "fit", 680)
    texts = [document.text for document in fit]
    results: dict[str, GateResult | None] = {}
    passed = ""  # folder of the last version that passed
    for number, version in enumerate(VERSIONS):
        generated = write_documents(version, texts, options.documents, options.seed + number)
        momus.compare(
            real,
            {"model": generated},
            fit=fit,
            critics=CRITICS,
            out=runs / version.name,
            overwrite=True,
            permutations=199,
            seed=options.seed,
            reuse=runs / VERSIONS[0].name if number else None,
        )
        run, results[version.name] = runs / version.name, None
        if not passed:
            passed = str(run)
            print(f"{version.name}: the first version is the baseline")
            continue
        rules = Rules(max_worse=(Limit("*", 0.5),), max=(Limit("length", 6.0),), baseline=passed)
        result = results[version.name] = gate_run(run, rules)
        print(f"{version.name}: {'passed' if result.passed else 'FAILED'}")
        for check in result.failed:
            print(f"    {check_line(check)}")
        if result.passed:
            passed = str(run)
    return results


if __name__ == "__main__":
    try:
        main()
    except MomusError as error:
        sys.exit(f"{error}")
