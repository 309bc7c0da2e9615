"""Speed of the critics of prose against gzip on the same text: megabytes per second of processor time on one thread.

Text is tokenised once for all of them, so tokenising, fitting and scoring are measured apart; `together` is tokenising
and scoring, what a user waits for who has a fitted critic. Best of several rounds.

Run:  OMP_NUM_THREADS=1 python benchmarks/speed/prose.py [--critics repetition,rhythm] [--rounds 3] [--novels 12]
Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

from momus import Corpus
from momus.critic.hooks import tokenizer_of
from momus.critic.registry import make_critics

CRITICS = "repetition,rhythm,keyness,discourse,layout,edges,marks,names,register,path"
PIECE = 6000
"""Characters of a document."""


def best(rounds: int, work: Callable[[], object]) -> float:
    """Least processor time of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--critics", default=CRITICS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--novels", type=int, default=12)
    a = parser.parse_args()
    named = os.environ.get("MOMUS_DATA")
    data = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    with gzip.open(data / "litbank" / "novels.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(a.novels), lines, strict=False)]
    pieces = [t[i : i + PIECE] for t in texts for i in range(0, len(t), PIECE)]
    megabytes = sum(len(p.encode()) for p in pieces) / 1e6
    raw = [p.encode() for p in pieces]
    packed = megabytes / best(a.rounds, lambda: [gzip.compress(r) for r in raw])
    print(f"{megabytes:.1f} MB in {len(pieces):,} documents; gzip {packed:.1f} MB/s")
    print("critic         tokenise      fit    score  together  of gzip")
    for name in a.critics.split(","):
        (critic,) = make_critics([name])
        corpus = Corpus.from_texts(pieces)
        tokenizer, split = tokenizer_of(critic), 0.0
        if tokenizer is not None:  # others read characters or lines

            def tokenise() -> None:
                Corpus.from_texts(pieces).tokens(tokenizer)  # noqa: B023

            split = best(a.rounds, tokenise)
            corpus.tokens(tokenizer)
        fit = best(a.rounds, lambda: critic.fit(corpus))  # noqa: B023
        score = best(a.rounds, lambda: critic.score(corpus))  # noqa: B023
        rates = [megabytes / t if t else float("nan") for t in (split, fit, score, split + score)]
        print(f"{name:12} {rates[0]:9.2f}{rates[1]:9.2f}{rates[2]:9.2f}{rates[3]:10.2f}{rates[3] / packed:9.3f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MB, with the text and all critics in memory")


if __name__ == "__main__":
    main()
