"""Distortion of sequence probabilities at small scale (LeBrun et al. 2022): five findings, each with its interval.

The language is an n-gram model of real sentences at temperatures 0.70, 0.85, 1.00 and 1.15, with exact probabilities.
A transformer and an LSTM are trained on samples of it.

    python benchmarks/reproduce/distortion.py            # under half an hour on two cores
    python benchmarks/reproduce/distortion.py --full --device cuda
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from distortion_estimation import by_rank, estimates, mean_interval
from distortion_study import draw_language, study
from small_models import small_lm, train

from momus import Corpus
from momus.progress import default_reporter, reporting
from momus.report.figures.svg import draw
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus.text.tokens import get_tokenizer

TEMPERATURES = (0.70, 0.85, 1.00, 1.15)
MIDDLE = 0.85
KINDS = ("transformer", "lstm")


def language(path: Path, words: int, order: int) -> tuple[NGramModel, int]:
    """Fit a Kneser–Ney model to the sentences of WikiText, over its most frequent words and one symbol for the rest."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        lines = [x.strip() for x in file]
    sentences = [
        s + " ." for x in lines if x and not x.startswith("=") for s in x.split(" . ") if 2 <= s.count(" ") < 25
    ]
    table = Corpus.from_texts(sentences).tokens(get_tokenizer("whitespace"))
    counts = Counter(table.ids.tolist())
    kept = {w: i + 1 for i, (w, _) in enumerate(counts.most_common(words - 1))}
    ids = np.array([kept.get(w, 0) for w in table.ids.tolist()], dtype=np.int64)
    return NGramModel(order).fit(Sequences(ids, table.offsets), words), len(sentences)


def trained(kind, fresh, held, words, options, temperature, device, test=None, truth=None):
    """Train a model; return it, its validation losses, and its mean error on test sequences after each epoch."""
    model = small_lm(kind, words, width=options.width, layers=options.layers, seed=options.seed, device=device)
    curve = []

    def look(epoch):
        if test is not None:
            curve.append(mean_interval(model.score(test).totals - truth, options.seed, 2000))

    start = time.perf_counter()
    losses = train(model, fresh, held, epochs=options.epochs, rate=options.rate, seed=options.seed, after_epoch=look)
    seconds = time.perf_counter() - start
    print(
        f"   {kind}, T = {temperature}, {len(fresh):,} sequences: validation {min(losses):.4f} nats per token "
        f"(epoch {int(np.argmin(losses)) + 1} of {len(losses)}), {seconds:.0f} s",
        flush=True,
    )
    return model, losses, curve


def run(options) -> dict:
    """Run the whole study and return its results as plain values."""
    words = options.words
    root, sentences = language(options.text, words, options.order)
    print(f"language: {options.order}-gram model of {sentences:,} sentences, {words:,} symbols, seed {options.seed}")
    record = {"options": {k: str(v) for k, v in vars(options).items()}, "findings": {}, "data": {}, "temperature": {}}
    figures, every = [], {}
    n = options.train
    for t in TEMPERATURES:
        longest = 128
        whole = draw_language(root, n + options.held + options.test, options.seed, t, longest)
        parts = [
            whole.take(np.arange(a, b)) for a, b in ((0, n), (n, n + options.held), (n + options.held, len(whole)))
        ]
        fresh, held, test = parts
        truth = root.score(test, temperature=t)
        entropy = -float(truth.totals.mean()), 1.96 * float(truth.totals.std(ddof=1)) / np.sqrt(len(test))
        per_token = -float(truth.log_probabilities.mean())
        print(
            f"\nT = {t}: entropy {entropy[0]:.2f} ± {entropy[1]:.2f} nats per sequence, {per_token:.3f} per token, "
            f"mean length {test.lengths.mean():.1f}, n = {len(test):,}",
            flush=True,
        )
        for kind in KINDS:
            watch = t == MIDDLE
            model, _, curve = trained(
                kind, fresh, held, words, options, t, options.device, test if watch else None, truth.totals
            )
            found = study(root, model, test, words, temperature=t, some=options.perturbed, seed=options.seed, name=kind)
            for f in found.findings():
                interval = f"{f.estimate:+.3f} [{f.low:+.3f}, {f.high:+.3f}]"
                print(f"      {f.name:6} {f.claim}: {interval}, n = {f.n:,}: {f.holds}")
            key = f"{kind} T={t}"
            record["findings"][key] = [(f.name, f.estimate, f.low, f.high, f.n, f.holds) for f in found.findings()]
            errors = found.fresh.errors
            record["temperature"][key] = mean_interval(errors / found.fresh.lengths, options.seed)
            every[kind, t] = found.fresh
            excess = mean_interval(-errors, options.seed)
            print(f"      KL(L‖M) {excess[0]:.3f} [{excess[1]:.3f}, {excess[2]:.3f}] nats per sequence")
            if watch:
                record["curve " + kind] = curve
                print("      by epoch: " + ", ".join(f"{m:+.2f} [{a:+.2f}, {b:+.2f}]" for m, a, b in curve))
                seen = estimates(root, model, fresh.take(np.arange(len(test))), t)
                print(
                    "      sequences seen in training: {:+.3f} [{:+.3f}, {:+.3f}]".format(*mean_interval(seen.errors))
                )
                ranks = by_rank(found.fresh)
                print("      by rank, rarest 2 %: {:+.2f}; commonest 2 %: {:+.2f}".format(*ranks["mean"].iloc[[0, -1]]))
                figures += [(f"{kind}-{e.name}", e) for e in found.evidence() if e.name != "findings"]
                for share in options.shares:
                    few = fresh.take(np.arange(round(share * n)))
                    part, _, _ = trained(kind, few, held, words, options, t, options.device)
                    value = mean_interval(estimates(root, part, test, t).errors, options.seed)
                    record["data"][f"{kind} {len(few)}"] = value
                    print("      mean error {:+.3f} [{:+.3f}, {:+.3f}]".format(*value), flush=True)
                record["data"][f"{kind} {n}"] = mean_interval(errors, options.seed)
    verdicts(record)
    record["matched"] = {kind: matched([every[kind, t] for t in TEMPERATURES], options.seed) for kind in KINDS}
    for kind, rows in record["matched"].items():
        text = ", ".join(
            f"T {t}: {m:+.2f} [{a:+.2f}, {b:+.2f}]" for t, (m, a, b) in zip(TEMPERATURES, rows, strict=True)
        )
        worse = [x[2] < y[1] for x, y in pairwise(rows)]
        print(f"   {kind}, at equal probability: {text}; each lower temperature worse, intervals disjoint: {worse}")
    for name, figure in figures:
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"distortion-{name}.svg").write_text(draw(figure), encoding="utf-8")
    if options.out is not None:
        (options.out / "distortion.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    return record


def matched(some, seed, bins=12, least=10) -> list[tuple[float, float, float]]:
    """Mean error of each language over common bins of log p with equal weights, with 95 % intervals.

    Languages of different entropy have sequences of different probabilities. The claim is that at the same probability
    the error is worse if the entropy is lower. Only bins in which each language has at least ten sequences are used.
    """
    low = max(np.quantile(e.language, 0.02) for e in some)
    high = min(np.quantile(e.language, 0.98) for e in some)
    edges = np.linspace(low, high, bins + 1)
    which = [np.searchsorted(edges, e.language, side="right") - 1 for e in some]
    good = [b for b in range(bins) if all((w == b).sum() >= least for w in which)]
    found = []
    for e, w in zip(some, which, strict=True):
        rng = np.random.default_rng(seed)
        groups = [e.errors[w == b] for b in good]
        means = np.mean([g.mean() for g in groups])
        draws = np.mean([g[rng.integers(0, len(g), (2000, len(g)))].mean(axis=1) for g in groups], axis=0)
        found.append((float(means), *(float(v) for v in np.quantile(draws, [0.025, 0.975]))))
    return found


def verdicts(record) -> None:
    """Print findings iv and v over all models, judged by whether intervals overlap."""
    print("\nfinding iv: more data helps but does not remove the error")
    for kind in KINDS:
        rows = sorted((int(k.split()[1]), v) for k, v in record["data"].items() if k.startswith(kind))
        text = ", ".join(f"{n:,}: {m:+.2f} [{a:+.2f}, {b:+.2f}]" for n, (m, a, b) in rows)
        helps = all(x[1][2] < y[1][1] for x, y in pairwise(rows))
        print(f"   {kind}: {text}; helps each time: {helps}; still below 0: {rows[-1][1][2] < 0}")
    print("finding v: lower temperature is worse")
    for kind in KINDS:
        a_sequence = [
            (t, next(f[1:4] for f in record["findings"][f"{kind} T={t}"] if f[0] == "i")) for t in TEMPERATURES
        ]
        print(
            f"   {kind}, per sequence: "
            + ", ".join(f"T {t}: {m:+.2f} [{a:+.2f}, {b:+.2f}]" for t, (m, a, b) in a_sequence)
        )
        a_token = [(t, record["temperature"][f"{kind} T={t}"]) for t in TEMPERATURES]
        print("      per token: " + ", ".join(f"T {t}: {m:+.3f} [{a:+.3f}, {b:+.3f}]" for t, (m, a, b) in a_token))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = Path(os.environ.get("MOMUS_DATA") or Path(__file__).parents[3] / "shared" / "data")
    data = folder / "wikitext-2" / "train.txt.gz"
    parser.add_argument("--text", type=Path, default=data, help="tokenised text, one paragraph per line")
    parser.add_argument("--words", type=int, default=500, help="symbols of the language")
    parser.add_argument("--order", type=int, default=3)
    parser.add_argument("--train", type=int, default=12_000, help="sequences to train on")
    parser.add_argument("--held", type=int, default=1000)
    parser.add_argument("--test", type=int, default=4000)
    parser.add_argument("--perturbed", type=int, default=500)
    parser.add_argument("--shares", type=float, nargs="*", default=[0.0625, 0.25])
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, help="folder for figures and values")
    parser.add_argument("--full", action="store_true", help="larger language, models and samples, for a GPU")
    options = parser.parse_args()
    if options.full:
        options.words, options.train, options.test, options.width = 10_000, 1_000_000, 20_000, 512
        options.layers, options.epochs, options.rate, options.held = 6, 10, 5e-4, 10_000
    if not options.text.is_file():
        sys.exit(f"no text at {options.text}; pass a file with --text")
    torch.manual_seed(options.seed)
    start = time.perf_counter()
    with reporting(default_reporter()):
        run(options)
    print(f"{time.perf_counter() - start:.0f} s on {options.device}")


if __name__ == "__main__":
    main()
