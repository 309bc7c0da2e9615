"""Which statistic of ``coreference`` finds damaged references: Latent PPL, or the share of unlikely symbols?

LitBank's passages (100, of about 2,000 words) with gold chains and with the chains of the offline resolver, and stories
that people wrote (500, of about 150 words) with the chains of the offline resolver. Two fits of each text to test: on
text of its own kind, and on the other kind. In each split, the documents that were not fitted on are dealt at random to
two sides, and one side is damaged: a share of the gendered pronouns changes gender, or a share of the mentions is
handed over to another entity of the document. Mentions are damaged after resolution, so that the share is exact. The
test is the unpaired permutation test of a comparison (999 relabellings); a null split has no damage, and is made for
the headline alone.

Run:  python benchmarks/validity/coreference_headline.py [--splits 100] [--nulls 1000]
Data: ``litbank`` and ``human-vs-lm`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce"))
from coreference import data, litbank
from damaged_mentions import reassign_mentions, swap_pronouns

from momus import Corpus
from momus.critic import Statistic
from momus.critic.statistic import mean
from momus.inference import axis_test
from momus.numeric.types import Floats
from momus.text.mentions import Resolved
from momus_adapters.persons import SpacyPersons
from momus_critics.coreference.process import UNLIKELY, ChainProcess
from momus_critics.coreference.symbols import KINDS, Chains, chains_of

DAMAGES = {
    "pronouns 5 %": ("swap", 0.05),
    "pronouns 10 %": ("swap", 0.1),
    "pronouns 20 %": ("swap", 0.2),
    "hand-over 2 %": ("hand", 0.02),
    "hand-over 5 %": ("hand", 0.05),
    "hand-over 10 %": ("hand", 0.1),
}
THRESHOLDS = (-5.0, -6.0, -7.0, -8.0)
HEADLINE = f"share below {UNLIKELY:.0f}"


@dataclass(frozen=True)
class Collection:
    """Documents of one kind with their chains."""

    name: str
    texts: list[str]
    resolved: list[Resolved]


def collections() -> list[Collection]:
    """LitBank with gold and with resolved chains, and stories with resolved chains."""
    corpus, gold = litbank()
    texts = [d.text for d in corpus]
    resolver = SpacyPersons()
    with gzip.open(data() / "human-vs-lm" / "writing_gpt2-xl.json.gz", "rt", encoding="utf-8") as file:
        stories = list(dict.fromkeys(json.load(file)["original"]))
    return [
        Collection("novels, gold", texts, [gold[i] for i in corpus.ids]),
        Collection("novels", texts, resolver.resolve(corpus)),
        Collection("stories", stories, resolver.resolve(Corpus.from_texts(stories, name="stories"))),
    ]


def damaged(c: Collection, how: str, share: float) -> Chains:
    """Symbols of all documents of a collection with a share of pronouns or mentions damaged."""
    pairs = []
    for i, (text, found) in enumerate(zip(c.texts, c.resolved, strict=True)):
        if how == "swap":
            changed, moved, _ = swap_pronouns(text, found, share, i)
            pairs.append((changed, moved))
        else:
            pairs.append((text, reassign_mentions(found, share, i)[0] if share else found))
    return chains_of([t for t, _ in pairs], [r for _, r in pairs])[0]


def taken(chains: Chains, rows: np.ndarray) -> Chains:
    """The symbols of some documents."""
    spans = [range(chains.offsets[i], chains.offsets[i + 1]) for i in rows.tolist()]
    flat = np.array([i for s in spans for i in s], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in spans])]).astype(np.int64)
    return Chains(chains.kinds[flat], chains.entities[flat], offsets)


def rows_of(process: ChainProcess, chains: Chains) -> dict[str, Floats]:
    """Per document, for each statistic: a sum over symbols, and the number of symbols, (n, 2)."""
    log_p = process.log_probabilities(chains)
    document = np.repeat(np.arange(len(chains.offsets) - 1), np.diff(chains.offsets))
    size = np.diff(chains.offsets).astype(np.float64)
    values = {"Latent PPL": -log_p} | {f"share below {t:.0f}": (log_p < t).astype(np.float64) for t in THRESHOLDS}
    return {name: np.column_stack([np.bincount(document, v, len(size)), size]) for name, v in values.items()}


def perplexity(rows: Floats) -> Floats:
    """Exponential of summed −log P over symbols, of pooled rows (B, 2)."""
    return np.asarray(np.exp(mean(rows)))


def p_values(clean: Floats, broken: Floats, free: np.ndarray, splits: int, name: str) -> Iterator[float]:
    """p of each random split of the free documents into a clean and a broken side."""
    half = len(free) // 2
    statistic = Statistic(name, "rows", "value", mean)
    if name == "Latent PPL":
        statistic = Statistic(name, "rows", "value", perplexity, scale="log", effect="log_ratio")
    for k in range(splits):
        order = np.random.default_rng(k).permutation(free)
        sides = {"rows": clean[order[:half]]}, {"rows": broken[order[half : 2 * half]]}
        yield axis_test([statistic], *sides)[0]


def main() -> None:
    """Print the table: share of splits with p ≤ .01 by collection, fit and damage, and the level of null splits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--nulls", type=int, default=1000)
    a = parser.parse_args()
    found = collections()
    clean = {c.name: damaged(c, "hand", 0.0) for c in found}
    for c in found:
        lengths = np.diff(clean[c.name].offsets)
        usable = np.random.default_rng(0).permutation(np.flatnonzero(lengths))
        own, free = usable[: len(usable) // 2], np.sort(usable[len(usable) // 2 :])
        other = "novels" if c.name == "stories" else "stories"
        fits = {"own kind": taken(clean[c.name], own), other: clean[other]}
        for kind, chains in fits.items():
            process = ChainProcess(kinds=len(KINDS)).fit(chains)
            before = rows_of(process, clean[c.name])
            print(f"{c.name}, fitted on {kind}: {len(free)} documents in two sides", flush=True)
            rows = before[HEADLINE]
            level = np.mean([p <= 0.05 for p in p_values(rows, rows, free, a.nulls, HEADLINE)])
            print(f"  null splits with p ≤ .05: {HEADLINE} {level:.3f}, n = {a.nulls:,}", flush=True)
            for damage, (how, share) in DAMAGES.items():
                after = rows_of(process, damaged(c, how, share))
                power = [
                    np.mean([p <= 0.01 for p in p_values(r, after[n], free, a.splits, n)]) for n, r in before.items()
                ]
                print(
                    f"  {damage:<16}" + "  ".join(f"{n} {x:.2f}" for n, x in zip(before, power, strict=True)),
                    flush=True,
                )


if __name__ == "__main__":
    main()
