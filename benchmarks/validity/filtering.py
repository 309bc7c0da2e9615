"""Documents that `momus filter` drops: how many are real, and which share of the odd ones goes.

Stories of people (human-vs-lm, some 155 words each) and design proposals (sectioned: EIPs, ERCs, RFCs, Swift) are cut
into a part to fit critics on, a part whose documents get a planted defect, and a rest. Then, many times: real documents
and new ones are drawn from the rest, a share of the new ones is replaced by odd ones, and all are judged as `momus
filter` does. Odd ones are planted defects, samples of language models, and greedy continuations of an n-gram model,
which loop. Printed for each kind: the false-discovery rate reached (the mean share of real documents among those
dropped), and the share of the odd ones that go by all critics; the same if each critic's own p-value is multiplied by
the number of critics (Bonferroni); and the same with three critics alone.

Run:  python benchmarks/validity/filtering.py [--draws 200] [--fdr 0.05]
Data: ``human-vs-lm`` and ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from momus import Corpus, Critic, read_corpus
from momus.controls import DEFECTS
from momus.critic.registry import make_critics
from momus.numeric.types import Floats
from momus.outliers.conformal import Calibrated, largest_rank
from momus.outliers.rows import Measure, rounded
from momus.text.tokens import get_tokenizer

ODD_SHARES = (0.1, 0.3)
FEW = ("unigram", "type-token", "repetition")
"""Critics of loops, beside all critics of a collection."""
PLANTED = {
    "stories": ("repetition-loop 0.5", "word-shuffle 1", "vocabulary-truncation 0.5", "symbol-inflation 1",
                "stopword-inflation 0.3", "length-truncation 0.7"),
    "proposals": ("repetition-loop 0.5", "section-order 1", "section-repetition 1", "length-truncation 0.7"),
}  # fmt: skip
CRITICS = {
    "stories": ("length", "unigram", "type-token", "stopword-share", "symbol-share", "repetition", "rhythm",
                "discourse"),
    "proposals": ("length", "unigram", "type-token", "stopword-share", "symbol-share", "repetition", "sections"),
}  # fmt: skip
FITTED = {"stories": 700, "proposals": 500}
RESERVED = {"stories": 200, "proposals": 120}
REAL = {"stories": 1000, "proposals": 450}
NEW = {"stories": 400, "proposals": 150}
MODELS = ("gpt2-xl", "gpt-neox-20b")
ORDER, PROMPT = 4, 30
"""Order of the n-gram model, and words of the human text that it continues greedily."""


def data() -> Path:
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def read(name: str) -> tuple[Corpus, dict[str, Corpus]]:
    """Distinct human documents, and generated ones by the name of what generated them."""
    if name == "proposals":
        parts = [read_corpus(p, name="p") for p in sorted((data() / "sectioned").glob("*.jsonl.gz"))]
        documents = {d.id: d for part in parts for d in part}
        return Corpus.from_documents(list(documents.values()), "proposals"), {}
    texts: dict[str, None] = {}
    made = {}
    for path in sorted((data() / "human-vs-lm").glob("*.json.gz")):
        content = json.loads(gzip.decompress(path.read_bytes()))
        texts |= dict.fromkeys(content["original"])
        model = path.name.removeprefix("writing_").removesuffix(".json.gz")
        if model in MODELS:
            made[f"{model}, sampled"] = Corpus.from_texts([t for t in content["sampled"] if t.strip()], name=model)
    return Corpus.from_texts(list(texts), name="stories"), made


def greedy(fit: Corpus, begin: Corpus) -> Corpus:
    """Continue documents by the likeliest word of an n-gram model with back-off, to their length."""
    tokenizer = get_tokenizer("words")
    following: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for document in fit:
        words = tokenizer.split(document.text.lower())
        for n in range(ORDER):
            for i in range(len(words) - n):
                following[tuple(words[i : i + n])][words[i + n]] += 1
    best = {context: min(words, key=lambda w: (-words[w], w)) for context, words in following.items()}
    texts = []
    for document in begin:
        words = tokenizer.split(document.text.lower())
        out = words[:PROMPT]
        while len(out) < len(words):
            context = tuple(out[-(ORDER - 1) :])
            while context not in best:
                context = context[1:]
            out.append(best[context])
        texts.append(" ".join(out))
    return Corpus.from_texts(texts, name="greedy")


def values_of(critics: Sequence[Critic[Any]], corpus: Corpus) -> Floats:
    """What ranks documents as outliers, NaN where unscored: (n, critics)."""
    columns = []
    for critic in critics:
        scores = critic.score(corpus)
        columns.append(rounded(np.where(scores.scored, scores.outlying(critic.sequence), np.nan)))
    return np.column_stack(columns)


@dataclass
class Reached:
    """False-discovery proportion, share of odd documents found, and share found by Bonferroni, of each draw."""

    false: list[float]
    found: list[float]
    bonferroni: list[float]
    false_bonferroni: list[float]


def draws(
    rest: Floats,
    odd: Floats,
    two_sided: Sequence[bool],
    name: str,
    share: float,
    fdr: float,
    number: int,
    seed: int,
) -> Reached:
    """Judge new documents by real ones, again and again."""
    rng, reached = np.random.default_rng(seed), Reached([], [], [], [])
    n_odd = round(share * NEW[name]) if len(odd) else 0
    for _ in range(number):
        rows = rng.permutation(len(rest))[: REAL[name] + NEW[name] - n_odd]
        strange = odd[rng.permutation(len(odd))[:n_odd]] if n_odd else odd
        new = np.concatenate([strange, rest[rows[REAL[name] :]]])
        calibrated = Calibrated.of(rest[rows[: REAL[name]]], two_sided, np.arange(REAL[name]))
        judged, n = calibrated.judge(new), len(calibrated)
        smallest = np.minimum(calibrated.alone(new).min(axis=1) * len(two_sided), n + 1)
        for ranks, false, found in (
            (judged.ranks, reached.false, reached.found),
            (smallest, reached.false_bonferroni, reached.bonferroni),
        ):
            goes = ranks <= largest_rank(np.bincount(ranks, minlength=n + 2), n, fdr)
            false.append(goes[n_odd:].sum() / max(goes.sum(), 1))
            found.append(goes[:n_odd].mean() if n_odd else float(goes.any()))
    return reached


def study(name: str, fdr: float, number: int) -> None:
    """Print the table of one collection."""
    start = time.perf_counter()
    human, made = read(name)
    order = np.random.default_rng(0).permutation(len(human))
    fit, reserved, rest = (human.take(rows) for rows in np.split(order, [FITTED[name], FITTED[name] + RESERVED[name]]))
    most = REAL[name] + NEW[name] + (200 if name == "stories" else 100)
    rest = rest.take(np.arange(min(most, len(rest))))
    critics = make_critics(CRITICS[name])
    for critic in critics:
        critic.fit(fit)
    odd: dict[str, Floats] = {"none": np.zeros((0, len(critics)))}
    for what in PLANTED[name]:
        defect, strength = what.split()
        odd[what] = values_of(critics, DEFECTS[defect].plant(reserved, float(strength), seed=0))
    if name == "stories":
        odd["greedy 4-gram model"] = values_of(critics, greedy(fit, reserved))
    odd |= {what: values_of(critics, corpus.take(np.arange(200))) for what, corpus in made.items()}
    values, two_sided = values_of(critics, rest), [Measure.of_class(type(c)).two_sided for c in critics]
    print(f"\n{name}: {len(fit)} to fit, {len(rest)} others; each draw {REAL[name]} real and {NEW[name]} new documents")
    print(f"critics: {', '.join(CRITICS[name])}; {time.perf_counter() - start:.0f} s to fit and score\n")
    few = [CRITICS[name].index(c) for c in FEW]
    print("| odd documents | share | false-discovery rate | odd ones dropped | by Bonferroni | by three critics |")
    print("|---|---:|---:|---:|---:|---:|")
    for row, (what, some) in enumerate(odd.items()):
        for share in ODD_SHARES if len(some) else (0.0,):
            by_all = draws(values, some, two_sided, name, share, fdr, number, row)
            by_few = draws(values[:, few], some[:, few], [two_sided[k] for k in few], name, share, fdr, number, row)
            _row(what, share, by_all, by_few)


def _row(what: str, share: float, by_all: Reached, by_few: Reached) -> None:
    rates = [f"{100 * np.mean(r.false):.1f} ± {_error(r.false):.1f} %" for r in (by_all, by_few)]
    shares = [f"{100 * np.mean(r):.0f} %" if share else "–" for r in (by_all.found, by_all.bonferroni, by_few.found)]
    print(
        f"| {what} | {100 * share:.0f} % | {rates[0]} | {shares[0]} | {shares[1]} | {shares[2]} ({rates[1]}) |",
        flush=True,
    )


def _error(values: Sequence[float]) -> float:
    return float(100 * np.std(values) / np.sqrt(len(values)))


def main(arguments: Mapping[str, Any]) -> None:
    """Print the tables of both collections."""
    print(f"false-discovery rate asked for: {arguments['fdr']:g}; {arguments['draws']} draws")
    for name in arguments["collections"]:
        study(name, arguments["fdr"], arguments["draws"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--fdr", type=float, default=0.05)
    parser.add_argument("--collections", nargs="+", default=["stories", "proposals"])
    main(vars(parser.parse_args()))
