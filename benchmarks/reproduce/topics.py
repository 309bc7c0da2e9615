"""Topic co-occurrence in real text, in text with reassigned paragraphs, and in text by language models.

1. Proposals (EIPs and ERCs), and chapters of about 1,000 words of 100 novels, over random splits: the critic is fitted
   on half of them, and a quarter is real. The last quarter is compared with it unchanged, and with each paragraph
   replaced by one from another document of that quarter.
2. Chapters of stories by 55 language models under the critic of the novels: Latent NLL per model, with t-intervals over
   its stories, compared with held-out chapters of novels.
3. Human stories, and five language models' continuations of their first 30 tokens; fitted on half of the human ones.

Run:  python benchmarks/reproduce/topics.py [--splits 5] [--topics 50]
Data: ``sectioned``, ``litbank``, ``long-stories`` and ``human-vs-lm`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import stats

from momus import Corpus, read_corpus
from momus.verdicts.judge import judge
from momus_critics.topics import Topics

Texts = list[str]
JUDGED = re.compile(r"\s*\+ Judge Evaluation \(Chapter \d+\)")
"""Start of the judge's evaluation that follows nearly every chapter of the long stories; it is cut off."""


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def proposals() -> Texts:
    """EIPs and ERCs as running text."""
    corpora = [read_corpus(data() / "sectioned" / f"{name}.jsonl.gz") for name in ("eips", "ercs")]
    return ["\n\n".join(s.text for s in d.sections) for c in corpora for d in c]


def chapters(text: str, words: int = 1000) -> Texts:
    """Cut at paragraph breaks into pieces of at least ``words`` words; a shorter remainder is dropped."""
    found, current, count = [], [], 0
    for paragraph in text.replace("\r", "").split("\n\n"):
        current.append(paragraph)
        count += len(paragraph.split())
        if count >= words:
            found.append("\n\n".join(current))
            current, count = [], 0
    return found


def broken(texts: Texts, rng: np.random.Generator) -> Texts:
    """Reassign the paragraphs of all documents at random; each document keeps its number of paragraphs."""
    parts = [[p for p in t.split("\n\n") if p.strip()] for t in texts]
    flat = [p for document in parts for p in document]
    order = iter(rng.permutation(len(flat)))
    return ["\n\n".join(flat[next(order)] for _ in document) for document in parts]


def fit(texts: Texts, topics: int, seed: int) -> Topics:
    """Fit the critic and print the time."""
    begun = time.perf_counter()
    critic = Topics(n_topics=topics, seed=seed).fit(Corpus.from_texts(texts, name="fit"))
    print(f"   {' '.join(n.text for n in critic.notes())} {time.perf_counter() - begun:.0f} s", flush=True)
    return critic


def company(name: str, texts: Texts, topics: int, splits: int) -> None:
    """Part 1: test unchanged and reassigned text over random splits."""
    print(f"{name}: {len(texts):,} documents, K = {topics}")
    found = defaultdict(list)
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(texts))
        half, quarter = len(texts) // 2, len(texts) // 4
        parts = order[:half], order[half : half + quarter], order[half + quarter :]
        critic = fit([texts[i] for i in parts[0]], topics, seed)
        other = [texts[i] for i in parts[2]]
        real = critic.score(Corpus.from_texts([texts[i] for i in parts[1]], name="real"))
        for label, changed in (("other documents", other), ("paragraphs of other documents", broken(other, rng))):
            generated = critic.score(Corpus.from_texts(changed, name="generated"))
            row = judge(critic, real, generated, paired=False, seed=seed, permutations=1999, resamples=999)
            for name in ("latent_nll", "distance"):
                v = next(v for v in row if v.statistic == name)
                print(
                    f"   split {seed}, {label}, {name}: {v.real_value:.2f}, {v.generated_value:.2f}; difference "
                    f"{v.difference:+.2f} [{v.low:.2f}, {v.high:.2f}], p = {v.p:.4f}, n = {v.n_real} + {v.n_generated}",
                    flush=True,
                )
                found[label, name].append((v.p, v.difference))
    for (label, name), each in found.items():
        counts = [sum(p <= level and d > 0 for p, d in each) for level in (0.05, 0.01)]
        lower = sum(p <= 0.05 and d < 0 for p, d in each)
        print(
            f"   {label}, {name}: higher with p ≤ 0.05 in {counts[0]} of {splits} splits, p ≤ 0.01 in {counts[1]}; "
            f"lower with p ≤ 0.05 in {lower}"
        )


def stories(novels: Texts, topics: int) -> None:
    """Part 2: print Latent NLL of stories by model."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(novels))
    critic = fit([novels[i] for i in order[: len(novels) // 2]], topics, 0)
    held = critic.score(Corpus.from_texts([novels[i] for i in order[len(novels) // 2 :]], name="novels"))
    usual = held.nll[held.scored]
    print(f"   chapters of novels: {usual.mean():.2f} ± {1.96 * stats.sem(usual):.2f} nats (n = {len(usual):,})")
    groups = defaultdict(list)
    with gzip.open(data() / "long-stories" / "stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            story = json.loads(line)
            parts = [JUDGED.split(c)[0] for c in story["chapters"]]
            groups[story["model"]].append([c for c in parts if len(c.split()) >= 200])
    rows = []
    for model, found in groups.items():
        each = []
        for parts in found:
            nll = critic.score(Corpus.from_texts(parts, name="story")).nll if parts else np.zeros(0)
            if np.isfinite(nll).any():
                each.append(float(np.nanmean(nll)))
        if len(each) >= 4:
            half = stats.t.ppf(0.975, len(each) - 1) * stats.sem(each)
            rows.append((np.mean(each), half, len(each), model))
    for mean, half, n, model in sorted(rows):
        print(f"   {model:<45}{mean:8.2f} ± {half:5.2f}  ({n} stories)")


def humans(topics: int) -> None:
    """Part 3: compare human stories with five models."""
    for file in sorted((data() / "human-vs-lm").glob("writing_*.json.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            found = json.load(lines)
        original, sampled = found["original"], found["sampled"]
        half = len(original) // 2
        print(file.name)
        critic = fit(original[:half], topics, 0)
        prompts = [str(i) for i in range(half, len(original))]
        real, generated = (
            critic.score(Corpus.from_texts(t, name=n, prompts=prompts))
            for t, n in ((original[half:], "human"), (sampled[half:], "model"))
        )
        v = next(v for v in judge(critic, real, generated, seed=0) if v.headline)
        print(
            f"   human {v.real_value:.2f}, model {v.generated_value:.2f}; difference {v.difference:.2f} [{v.low:.2f}, "
            f"{v.high:.2f}], p = {v.p:.4f}, n = {v.n_real} pairs"
        )


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--parts", default="123", help="which parts to run")
    a = parser.parse_args()
    novels = [c for d in read_corpus(data() / "litbank" / "novels.jsonl.gz") for c in chapters(d.text)]
    if "1" in a.parts:
        company("proposals", proposals(), a.topics, a.splits)
        company("chapters of novels", novels, a.topics, max(1, a.splits // 3))
    if "2" in a.parts:
        stories(novels, a.topics)
    if "3" in a.parts:
        humans(10)


if __name__ == "__main__":
    main()
