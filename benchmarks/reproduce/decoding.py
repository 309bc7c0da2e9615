"""Small language models and three decoding methods (Meister & Cotterell 2021, tables 2, 3, 5 and 6).

A trigram model without smoothing and a transformer, or an LSTM, learn paragraphs of WikiText-2 over its most frequent
words. Each writes documents by ancestral, nucleus and beam sampling into JSON Lines files that are kept. Critics
compare each file with held-out paragraphs. The result has the columns of the paper's tables, with an interval and a
permutation p, and the paper's claims about decoding, each with the models for which it holds.

    python benchmarks/reproduce/decoding.py --out RUN                   # an interrupted run resumes
    python benchmarks/reproduce/decoding.py --out RUN --write benchmarks/results/decoding.md  # tables of a finished run

Data: the folder ``wikitext-2`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from decoding_tables import TABLES, Study, Value, claims, critics, fill, tables
from papers.table import paper_tables
from small_models import small_lm, train

import momus
from momus import Corpus
from momus.progress import default_reporter, reporting
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus.sequences.types import StepModel
from momus_generating import Decoding, document_seeds, write

METHODS = {"ancestral": "ancestral", "nucleus": "nucleus", "beam": "beam-sampling"}
Model = Literal["trigram", "lstm", "transformer"]
MODELS = get_args(Model)
FIXED = ("words", "shortest", "longest", "train", "valid", "width", "epochs", "seed", "cut")
"""Options that a folder's files depend on."""


def paragraphs(path: Path, shortest: int, longest: int) -> list[str]:
    """Read paragraphs of ``shortest`` to ``longest`` words, without headings."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = [line.strip() for line in file]
    return [p for p in found if p and not p.startswith("=") and shortest <= p.count(" ") + 1 <= longest]


def closed(texts: list[str], vocabulary: dict[str, int]) -> list[str]:
    """Replace words outside the vocabulary by ``<unk>``, as in the models' output."""
    return [" ".join(w if w in vocabulary else "<unk>" for w in t.split()) for t in texts]


class Texts:
    """Training, validation and real paragraphs over the most frequent words of the training text; others are <unk>."""

    def __init__(self, options: argparse.Namespace) -> None:
        limits = options.shortest, options.longest
        rng = np.random.default_rng(options.seed)
        learned = paragraphs(options.data / "train.txt.gz", *limits)
        held = [t for f in ("valid", "test") for t in paragraphs(options.data / f"{f}.txt.gz", *limits)]
        learned = [learned[i] for i in rng.permutation(len(learned))[: options.train]]
        held = [held[i] for i in rng.permutation(len(held))]
        counts = Counter(w for t in learned for w in t.split())
        vocabulary = {w: i for i, (w, _) in enumerate(counts.most_common(options.words - 1)) if w != "<unk>"}
        self.names = [*vocabulary, "<unk>"]
        self.learned, self.valid, self.real = (
            closed(some, vocabulary) for some in (learned, held[: options.valid], held[options.valid :])
        )

    def sequences(self, texts: list[str]) -> Sequences:
        """Ids of the words of texts."""
        index = {w: i for i, w in enumerate(self.names)}
        return Sequences.of([[index[w] for w in t.split()] for t in texts])

    def decode(self, some: Sequences) -> list[str]:
        """Texts of ids."""
        return [" ".join(self.names[t] for t in some[i].tolist()) for i in range(len(some))]


def model_of(kind: Model, texts: Texts, options: argparse.Namespace) -> tuple[StepModel, dict[str, Any]]:
    """A trained model, from its checkpoint if there is one, and what is to be said of it."""
    import torch

    learned, valid = texts.sequences(texts.learned), texts.sequences(texts.valid)
    about, path = options.out / f"{kind}.json", options.out / f"{kind}.pt"
    if kind == "trigram":
        model = NGramModel(3, "none").fit(learned, len(texts.names))
        unseen = float(np.isneginf(model.score(valid).log_probabilities).mean())
        return model, {"valid words with probability 0": unseen}
    window = options.cut + 10
    network = small_lm(kind, len(texts.names), width=options.width, window=window, seed=options.seed)
    if path.exists() and about.exists():
        network.network.load_state_dict(torch.load(path, weights_only=True))
        return network, dict(json.loads(about.read_text(encoding="utf-8")))
    begun = time.process_time()
    rate = 2e-3 if kind == "transformer" else 4e-3
    losses = train(network, learned, valid, epochs=options.epochs, batch=32, rate=rate, seed=options.seed, even=True)
    notes = {
        "validation perplexity": float(np.exp(min(losses))),
        "parameters": sum(p.numel() for p in network.network.parameters()),
        "training, CPU s": round(time.process_time() - begun),
    }
    torch.save(network.network.state_dict(), path)
    about.write_text(json.dumps(notes, indent=1), encoding="utf-8")
    return network, notes


def written(
    kind: Model, model: StepModel, decode: Callable[[Sequences], list[str]], options: argparse.Namespace
) -> None:
    """Write the documents of one model by each decoding method; existing files are continued."""
    model.decode, model.batch = decode, options.batch  # type: ignore[method-assign, assignment]
    for way, method in METHODS.items():
        how = Decoding(
            method,  # type: ignore[arg-type]
            top_p=0.9 if method == "nucleus" else 1.0,
            beams=5 if method == "beam-sampling" else 1,
            longest=options.cut,
        )
        path, begun = options.out / f"{kind}-{way}.jsonl", time.process_time()
        each = options.beam if way == "beam" and kind != "trigram" and options.beam else options.documents
        before = len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            for start in range(before, each, options.batch):  # whole batches, so that a killed run can be continued
                seeds = document_seeds(options.seed, min(start + options.batch, each), start)
                texts = write(model, [""] * len(seeds), how, seeds)
                file.writelines(json.dumps({"id": str(start + i + 1), "text": t}) + "\n" for i, t in enumerate(texts))
                file.flush()
        seconds = time.process_time() - begun
        print(f"{kind}, {way}: {before} documents before, {each - before} now, {seconds:.0f} CPU s", flush=True)


def main() -> None:
    """Train, write, compare, and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = Path(os.environ.get("MOMUS_DATA") or Path(__file__).parents[3] / "shared" / "data") / "wikitext-2"
    parser.add_argument("--data", type=Path, default=folder)
    parser.add_argument("--out", type=Path, required=True, help="where documents, networks and results are kept")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["trigram", "transformer"])
    parser.add_argument("--documents", type=int, default=10_000, help="documents of each model by each method")
    parser.add_argument("--beam", type=int, help="documents of a network by beam sampling, else as many as the others")
    parser.add_argument("--words", type=int, default=3000, help="size of the vocabulary")
    parser.add_argument("--shortest", type=int, default=10, help="words of the shortest paragraph")
    parser.add_argument("--longest", type=int, default=90, help="words of the longest paragraph")
    parser.add_argument("--train", type=int, default=6000, help="largest number of training paragraphs")
    parser.add_argument("--valid", type=int, default=200, help="held-out paragraphs to validate on; others are real")
    parser.add_argument("--cut", type=int, default=200, help="most words of a generated document")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=32, help="documents that are written side by side")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--write", type=Path, help="only put the tables of the folder into a page, between its marks")
    options = parser.parse_args()
    results = options.out / "results.json"
    if not options.write:
        options.out.mkdir(parents=True, exist_ok=True)
        settle(options)
        with reporting(default_reporter()):
            study = run(options)
        results.write_text(study.to_json(), encoding="utf-8")
    study = Study.from_json(results.read_text(encoding="utf-8"))
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        options.write.write_text(fill(page, study), encoding="utf-8")
    for name, table in tables(study).items():
        print(f"\n{name}\n\n{table}")
    print("\n" + "\n".join([*claims(study), "", json.dumps({"models": study.models, "texts": study.texts})]))


def settle(options: argparse.Namespace) -> None:
    """Record the options of a folder; stop if it was begun with others."""
    record, path = {name: getattr(options, name) for name in FIXED}, options.out / "options.json"
    if path.exists() and json.loads(path.read_text(encoding="utf-8")) != record:
        raise SystemExit(f"{options.out} was begun with other options: {path.read_text(encoding='utf-8')}")
    path.write_text(json.dumps(record), encoding="utf-8")


def run(options: argparse.Namespace) -> Study:
    """Train, write and compare."""
    texts = Texts(options)
    tokens = sum(t.count(" ") + 1 for t in texts.learned)
    print(
        f"{len(texts.learned):,} paragraphs to train on ({tokens:,} tokens, {len(texts.names):,} words), "
        f"{len(texts.valid)} to validate, {len(texts.real):,} real; seed {options.seed}",
        flush=True,
    )
    notes: dict[str, dict[str, Any]] = {}
    for kind in options.models:
        model, notes[kind] = model_of(kind, texts, options)
        print(f"{kind}: {notes[kind]}", flush=True)
        written(kind, model, texts.decode, options)
    files = {f"{kind} {way}": options.out / f"{kind}-{way}.jsonl" for kind in options.models for way in METHODS}
    return compare(options, texts, notes, files)


def compare(
    options: argparse.Namespace, texts: Texts, notes: dict[str, dict[str, Any]], files: dict[str, Path]
) -> Study:
    """Compare each file with the real paragraphs; critics are fitted on the training paragraphs."""
    names = critics()
    result = momus.compare(
        Corpus.from_texts(texts.real, name="real"),
        {name: momus.read_corpus(str(path), name=name) for name, path in files.items()},
        fit=Corpus.from_texts(texts.learned, name="fit"),
        critics=names,
        config={k: v for table in TABLES for k, v in paper_tables()[table].parameters().items()},
        seed=options.seed,
        permutations=options.permutations,
        resamples=options.permutations,
        out=options.out / "run",
        overwrite=True,
    )
    sizes = {
        "paragraphs to train on": len(texts.learned),
        "tokens": sum(t.count(" ") + 1 for t in texts.learned),
        "words": len(texts.names),
        "paragraphs to validate on": len(texts.valid),
        "real paragraphs": len(texts.real),
    }
    return Study(tuple(Value.of(v) for v in result.verdicts), notes, sizes)


if __name__ == "__main__":
    main()
