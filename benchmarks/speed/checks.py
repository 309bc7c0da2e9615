"""Time of the checks of texts (copies, openings, groups, order, languages, scripts), and of MinHash beside peers.

Three texts are compared: one to fit on, a real and a generated one. Their words are found first, and not timed with
the checks. With several trees (folders of this repository at other commits that have `momus.runs`), their runs take
turns, each in a separate process, and what their checks found is compared.

Run:  python benchmarks/speed/checks.py [--tree now=. --tree before=../other] [--documents 5000] [--text PATH]
      python benchmarks/speed/checks.py --peers
Made text has 500 words per document of a Zipfian vocabulary of 30,000; PATH (as `momus.read_corpus` takes it, with
``--format``) is cut into three equal parts. Peers: rensa 0.5, datasketch 2.0.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from momus.text.corpus import Corpus

ROOMS = ("core", "critics", "adapters")
LENGTH, VOCABULARY = 500, 30_000


def made_corpus(name: str, documents: int, seed: int, length: int = LENGTH) -> Corpus:
    """Documents of words drawn from Zipf's law."""
    p = 1 / np.arange(1, VOCABULARY + 1)
    words = np.array([f"w{i}" for i in range(VOCABULARY)])
    rows = np.random.default_rng(seed).choice(VOCABULARY, (documents, length), p=p / p.sum())
    return Corpus.from_texts((" ".join(words[row]) for row in rows), name=name)


def texts(documents: int, path: str | None, fmt: str | None) -> tuple[Corpus, Corpus, Corpus]:
    """The text to fit on, the real and the generated one."""
    from momus import read_corpus

    if path is None:
        fit, real, generated = (made_corpus(n, documents, k) for k, n in enumerate(("fit", "real", "g")))
        return fit, real, generated
    whole = read_corpus(path, fmt=fmt) if fmt else read_corpus(path)
    whole = whole.take(np.flatnonzero(~whole.blank))
    n = len(whole) // 3
    fit, real, generated = (whole.take(np.arange(k * n, (k + 1) * n), c) for k, c in enumerate(("fit", "real", "g")))
    return fit, real, generated


def once(documents: int, path: str | None, fmt: str | None) -> dict[str, Any]:
    """Check, and return processor seconds and what was found."""
    from momus.runs.texts import read_texts
    from momus.text.tokens import get_tokenizer

    # packages and models are loaded before the clock starts
    read_texts(made_corpus("real", 40, 7), {"g": made_corpus("g", 40, 8)}, made_corpus("fit", 40, 9), 0)
    fit, real, generated = texts(documents, path, fmt)
    begun = time.process_time()
    tokens = sum(len(c.tokens(get_tokenizer("words")).ids) for c in (fit, real, generated))
    split = time.process_time()
    found = read_texts(real, {"g": generated}, fit, 0)
    return {
        "words": split - begun,
        "checks": time.process_time() - split,
        "documents": 3 * len(real),
        "tokens": tokens,
        "found": [[c.kind, c.corpus, c.other, c.documents, c.warns] for c in found.checks],
        "warnings": found.warnings,
    }


def peers(documents: int) -> None:
    """Print processor seconds of MinHash signatures of the same shingles, 64 hashes, by Momus and its peers."""
    import rensa
    from datasketch import MinHash

    from momus.text.shingles import Shingles, batches, shingles_of, signatures_of, word_hashes
    from momus.text.tokens import get_tokenizer

    def by_rensa(shingles: Shingles) -> Any:
        hashes = rensa.RMinHash.digest_matrix_from_flat_token_hashes(
            shingles.values, shingles.offsets.astype(np.uint64), 64, 42
        )
        return np.array(hashes.to_rows(), dtype=np.uint32)

    def by_datasketch(shingles: Shingles) -> Any:
        sets = np.split(shingles.values.astype("<u8"), shingles.offsets[1:-1])
        return MinHash.bulk([[v.tobytes() for v in s] for s in sets], num_perm=64)

    for length, number in ((LENGTH, documents), (30, documents * LENGTH // 30)):
        table = made_corpus("a", number, 0, length).tokens(get_tokenizer("words"))
        words = word_hashes(table)
        parts = [shingles_of(table.slice(a, b), words) for a, b in batches(table)]
        print(f"{number:,} documents of {length} words, 64 hashes, processor seconds:")
        for name, way in (("momus", signatures_of), ("rensa", by_rensa), ("datasketch", by_datasketch)):
            some = parts[: max(1, len(parts) // 10)] if name == "datasketch" else parts
            print(f"  {name:12}{seconds(way, some) * len(parts) / len(some):8.3f}")


def seconds(way: Callable[[Any], Any], parts: list[Any]) -> float:
    """Least processor time of three runs."""
    runs = []
    for _ in range(3):
        begun = time.process_time()
        for part in parts:
            way(part)
        runs.append(time.process_time() - begun)
    return min(runs)


def in_process(tree: Path, arguments: list[str]) -> dict[str, Any]:
    """Run `once` with the Momus of a tree, in a separate process."""
    path = os.pathsep.join(str(tree.resolve() / room) for room in ROOMS)
    command = [sys.executable, __file__, "--once", *arguments]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Run all trees in turn and print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", action="append", metavar="NAME=FOLDER", help="a checkout to time; default: this one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=5000, help="of each of the three texts")
    parser.add_argument("--text", help="text to cut into three instead of made text")
    parser.add_argument("--format", help="format of that text")
    parser.add_argument("--peers", action="store_true", help="time MinHash beside rensa and datasketch instead")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.once:
        print(json.dumps(once(a.documents, a.text, a.format)))
        return
    if a.peers:
        peers(a.documents)
        return
    trees = dict(t.split("=", 1) for t in a.tree or [f"now={Path(__file__).parents[2]}"])
    arguments = ["--documents", str(a.documents)]
    arguments += ["--text", a.text] * (a.text is not None) + ["--format", a.format] * (a.format is not None)
    runs: dict[str, list[dict[str, Any]]] = {tree: [] for tree in trees}
    for _ in range(a.rounds):
        for tree, path in trees.items():
            runs[tree].append(in_process(Path(path), arguments))
            print(f"{tree}: checks {runs[tree][-1]['checks']:.2f} s", file=sys.stderr, flush=True)
    first = next(iter(runs.values()))[0]
    print(f"{first['documents']:,} documents, {first['tokens']:,} words; processor seconds, one thread")
    print("| tree | finding words | checks | times as fast | same findings | same warnings |")
    print("|---|---:|---:|---:|---|---|")
    slowest = max(median(r["checks"] for r in found) for found in runs.values())
    for tree, found in runs.items():
        words, checks = (median(r[k] for r in found) for k in ("words", "checks"))
        same = [{True: "yes", False: "no"}[found[0][k] == first[k]] for k in ("found", "warnings")]
        print(f"| {tree} | {words:.2f} | {checks:.2f} | {slowest / checks:.1f} | {same[0]} | {same[1]} |")


if __name__ == "__main__":
    main()
