"""Three small language models, three decoding methods, many critics: the tables of Meister & Cotterell (2021) in small.

A trigram model, an LSTM and a transformer are trained on paragraphs of WikiText-2 over its most frequent words. Each
generates as many documents as the held-out text has, by ancestral, nucleus and beam sampling, into JSON Lines files
that are kept. Critics are fitted on the training text and compare each file with held-out text. The output has the
statistics of the paper's tables 2, 3 and 5, one model per line, and then each claim of the paper about decoding, with
whether it holds for each model here.

    python benchmarks/reproduce/decoding.py --out FOLDER      # about half an hour on two cores
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections import Counter
from pathlib import Path

import numpy as np

import momus
from momus import Corpus
from momus.generating import write_documents
from momus.progress import default_reporter, reporting
from momus.report.format import number
from momus.sequences import Decoding, Prompt, Sequences
from momus.sequences.ngram import NGramModel
from momus_adapters.language_models.small import small_lm, train

CRITICS = ("rank-frequency", "unigram", "length", "stopword-share", "symbol-share", "type-token", "zipf-slope", "heaps")
CRITICS += ("productivity", "perplexity", "mauve")
WAYS = {"random": "ancestral", "nucleus": "nucleus", "beam": "beam-sampling"}
MODELS = ("trigram", "lstm", "transformer")


def paragraphs(path: Path, shortest: int, longest: int) -> list[str]:
    """Read paragraphs of ``shortest`` to ``longest`` words, without headings."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = [line.strip() for line in file]
    return [p for p in found if p and not p.startswith("=") and shortest <= p.count(" ") + 1 <= longest]


def closed(texts: list[str], vocabulary: dict[str, int]) -> list[str]:
    """Replace words outside the vocabulary by ``<unk>``, as in the models' output."""
    return [" ".join(w if w in vocabulary else "<unk>" for w in t.split()) for t in texts]


def written(model, decode, options, name: str) -> dict[str, Path]:
    """Generate documents of one model by each decoding method; existing files are resumed."""
    found = {}
    for way, method in WAYS.items():
        how = Decoding(
            method,
            top_p=0.9 if method == "nucleus" else 1.0,
            beams=5 if method == "beam-sampling" else 1,
            longest=options.cut,
        )
        path = options.out / f"{name}-{way}.jsonl"
        model.decode = decode
        start = time.perf_counter()
        write_documents(path, model, [Prompt("")], how, each=options.documents, seed=options.seed, resume=True)
        print(f"   {name} {way}: {options.documents} documents, {time.perf_counter() - start:.0f} s", flush=True)
        found[way] = path
    return found


def claims(table: dict) -> list[str]:
    """What the paper's tables show for each of its five models, and for which models it holds here.

    ``table`` maps (critic, statistic) to verdicts by "model way".
    """

    def value(key, kind, way):
        found = table[key].get(f"{kind} {way}")
        return found.generated_value if found else float("nan")

    def least(key, way):
        return [k for k in MODELS if value(key, k, way) < min(value(key, k, w) for w in WAYS if w != way)]

    def most(key, way):
        return [k for k in MODELS if value(key, k, way) > max(value(key, k, w) for w in WAYS if w != way)]

    def lower(key, way, other):
        return [k for k in MODELS if value(key, k, way) < value(key, k, other)]

    found = {
        "table 2: D_p of rank and frequency is smallest for ancestral samples": least(
            ("rank-frequency", "ks"), "random"
        ),
        "table 3: D_p of length is largest for beam sampling": most(("length", "ks"), "beam"),
        "table 3: D_p of stopwords is largest for beam sampling": most(("stopword-share", "ks"), "beam"),
        "table 3: D_p of symbols is largest for beam sampling": most(("symbol-share", "ks"), "beam"),
        "table 5: Zipf's s is lower for ancestral than for nucleus samples": lower(
            ("rank-frequency", "exponent"), "random", "nucleus"
        ),
        "table 5: Heaps' β is lower for nucleus than for ancestral samples": lower(
            ("type-token", "beta"), "nucleus", "random"
        ),
        "table 6: documents are shortest under beam sampling": least(("length", "mean_length"), "beam"),
    }
    told = [f"{name}: {said(holds)}" for name, holds in found.items()]
    for name, key in (("length", "length"), ("stopwords", "stopword-share"), ("symbols", "symbol-share")):
        nearest = min(MODELS, key=lambda k: value((key, "ks"), k, "random"))
        told.append(f"table 3: of ancestral samples, the LSTM's have the smallest D_p of {name}: here the {nearest}'s")
    return told


def said(holds: list[str]) -> str:
    """Name the models for which a claim holds."""
    return f"holds for {len(holds)} of {len(MODELS)} ({', '.join(holds) or 'none'})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = Path(os.environ.get("MOMUS_DATA") or Path(__file__).parents[3] / "shared" / "data") / "wikitext-2"
    parser.add_argument("--data", type=Path, default=folder)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=3000)
    parser.add_argument("--shortest", type=int, default=10)
    parser.add_argument("--longest", type=int, default=90)
    parser.add_argument("--train", type=int, default=5000, help="largest number of training paragraphs")
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--cut", type=int, default=200)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with reporting(default_reporter()):
        run(options)


def run(options) -> None:
    texts = paragraphs(options.data / "train.txt.gz", options.shortest, options.longest)
    limits = options.shortest, options.longest
    held = [t for f in ("valid", "test") for t in paragraphs(options.data / f"{f}.txt.gz", *limits)]
    rng = np.random.default_rng(options.seed)
    texts = [texts[i] for i in rng.permutation(len(texts))[: options.train]]
    held = [held[i] for i in rng.permutation(len(held))]
    validation, real = held[: len(held) // 3], held[len(held) // 3 :][: options.documents]
    counts = Counter(w for t in texts for w in t.split())
    vocabulary = {w: i for i, (w, _) in enumerate(counts.most_common(options.words - 1)) if w != "<unk>"}
    names = [*vocabulary, "<unk>"]
    index = {w: i for i, w in enumerate(names)}
    sequences = [
        Sequences.of([[index[w] for w in t.split()] for t in closed(some, vocabulary)]) for some in (texts, validation)
    ]
    print(
        f"{len(texts):,} paragraphs to train on ({len(sequences[0].ids):,} tokens, {len(names):,} words), "
        f"{len(validation)} to validate, {len(real)} real; seed {options.seed}",
        flush=True,
    )

    def decode(some):
        return [" ".join(names[t] for t in some[i].tolist()) for i in range(len(some))]

    files = {}
    for kind in MODELS:
        there = {f"{kind} {way}": options.out / f"{kind}-{way}.jsonl" for way in WAYS}
        if all(p.exists() and p.read_bytes().count(b"\n") == options.documents for p in there.values()):
            print(f"{kind}: documents exist already")
            files |= there
            continue
        start = time.perf_counter()
        if kind == "trigram":
            model = NGramModel(3).fit(sequences[0], len(names))
            loss = -float(model.score(sequences[1]).log_probabilities.mean())
        else:
            rate = 2e-3 if kind == "transformer" else 4e-3
            model = small_lm(
                kind, len(names), width=options.width, window=options.cut + 10, seed=options.seed, device=options.device
            )
            loss = min(train(model, *sequences, epochs=options.epochs, batch=32, rate=rate, seed=options.seed))
        seconds = time.perf_counter() - start
        print(f"{kind}: validation perplexity {np.exp(loss):.1f} per word, {seconds:.0f} s", flush=True)
        files |= {f"{kind} {way}": path for way, path in written(model, decode, options, kind).items()}
    compare(options, closed(texts, vocabulary), closed(real, vocabulary), files)


def compare(options, fit: list[str], real: list[str], files: dict[str, Path]) -> None:
    generated = {name: momus.read_corpus(str(path), name=name) for name, path in files.items()}
    block = {"block": 5000}
    config = {c: {"tokens": "whitespace"} for c in CRITICS if c != "mauve"}
    config |= {c: {"tokens": "whitespace", **block} for c in ("zipf-slope", "heaps", "productivity")}
    result = momus.compare(
        Corpus.from_texts(real, name="real"),
        generated,
        fit=Corpus.from_texts(fit, name="fit"),
        critics=list(CRITICS),
        config=config,
        seed=options.seed,
        permutations=999,
        resamples=999,
        out=options.out / "run",
        overwrite=True,
    )
    table = {}
    for v in result.verdicts:
        table.setdefault((v.critic, v.statistic), {})[v.generated] = v
    for (critic, statistic), row in table.items():
        first = next(iter(row.values()))
        print(f"\n{critic}, {statistic} (real: {number(first.real_value)})")
        for kind in MODELS:
            cells = [row.get(f"{kind} {way}") for way in WAYS]
            print(
                f"   {kind:12} "
                + "   ".join(
                    f"{way} {number(c.generated_value)} ({number(c.difference)} [{number(c.low)}, {number(c.high)}])"
                    if c
                    else f"{way} –"
                    for way, c in zip(WAYS, cells, strict=True)
                )
            )
    print("\nclaims of the paper:")
    print("\n".join(f"   {line}" for line in claims(table)))
    values = {
        f"{critic} {statistic}": {g: [v.generated_value, v.difference, v.low, v.high] for g, v in row.items()}
        for (critic, statistic), row in table.items()
    }
    (options.out / "verdicts.json").write_text(json.dumps(values, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
