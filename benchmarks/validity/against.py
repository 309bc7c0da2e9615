"""From A to B on answers of 29 models to the same prompts: level, known causes, and power beside MMD.

    python benchmarks/validity/against.py pairs null --data ../shared/data    # all pairs; halves of one model
    python benchmarks/validity/against.py folds --data ../shared/data --splits 200    # halves, cross-fitted
    python benchmarks/validity/against.py causes --data ../shared/data    # models told to be verbose or concise

For ``pairs`` and ``null``, each critic is fitted once on answers of all models to 100 prompts, without being told whose
they are, and scores the answers to 200 other prompts; everything after that needs only rows. The other tests are MMD
with the Hamming kernel of characters (Gao, Liang & Guestrin 2025, Model Equality Testing) and with the cosine of counts
of character trigrams. All exchange the two answers to a prompt at random.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from itertools import combinations
from pathlib import Path

import numpy as np

import momus
from momus.critic import RunningTextCritic
from momus.critic.hooks import settled
from momus.engine.chosen import chosen_critics
from momus.engine.crossfit import cross_scored, pooled
from momus.errors import MomusError
from momus.progress import Silent, Timed
from momus.runs.texts import Texts
from momus.text.corpus import Corpus
from momus.verdicts.judge import MANY_PAIRS, judge
from momus.verdicts.settings import Settings
from momus.verdicts.table import adjust, speaking

SIZES = (25, 50, 100, 200)
FITTED, SCORED = 100, 200
LENGTH = 1000
SLOW = ("topics", "mauve", "pcfg", "distortion", "perplexity", "coreference", "diversity", "sections", "consistency")


def answers(data: Path, model: str) -> list[dict]:
    with gzip.open(data / "answers" / f"{model}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def models(data: Path) -> list[str]:
    return sorted(p.name.removesuffix(".jsonl.gz") for p in (data / "answers").glob("*.gz") if "prompts" not in p.name)


def corpus(rows: list[dict], name: str) -> Corpus:
    return Corpus.from_texts(
        [r["text"] for r in rows], [r["id"] for r in rows], [r["prompt_id"] for r in rows], name
    ).sorted()


def prompts_of(data: Path) -> tuple[list[str], list[str]]:
    known = [{r["prompt_id"] for r in answers(data, m)} for m in models(data)]
    common = sorted(set.intersection(*known))
    order = [common[i] for i in np.random.default_rng(0).permutation(len(common))]
    return order[:FITTED], order[FITTED : FITTED + SCORED]


def scored_rows(data: Path) -> tuple[dict, dict]:
    """Rows by critic, (critic, scores by model), and texts by model, (prompts, texts)."""
    fit, test = map(set, prompts_of(data))
    names = models(data)
    read = {m: answers(data, m) for m in names}
    fitting = pooled([corpus([r for r in read[m] if r["prompt_id"] in fit], m) for m in names])
    texts = {m: corpus([r for r in read[m] if r["prompt_id"] in test], m) for m in names}
    rows = {}
    for critic in chosen_critics(None, {}).critics:
        if isinstance(critic, RunningTextCritic) or critic.name in SLOW:
            continue
        start = time.perf_counter()
        try:
            critic.fit(fitting)
            settled(critic, list(texts.values()))
            rows[critic.name] = critic, {m: critic.score(c) for m, c in texts.items()}
        except MomusError as error:
            print(f"{critic.name}: left out: {error.message[:90]}", flush=True)
            continue
        print(f"{critic.name}: {time.perf_counter() - start:.1f} s", flush=True)
    return rows, {m: (c.prompts, [d.text for d in c]) for m, c in texts.items()}


HEADLINES = False
"""Whether headline statistics alone are tested, as `momus compare --pairwise` does for many texts."""


def told_apart(by_critic: dict, one: str, other: str, chosen: tuple, settings: Settings, names: tuple) -> list:
    """Verdicts of all axes on some rows of two models."""
    verdicts = []
    for critic, scored in by_critic.values():
        a = scored[one].take(chosen[0], names[0])
        b = scored[other].take(chosen[1], names[1])
        verdicts += judge(critic, a, b, settings, economy=MANY_PAIRS, family=len(by_critic), only_headline=HEADLINES)
    return adjust(verdicts)


def mmd(kernels: tuple, rng: np.random.Generator, signs: int = 999) -> float:
    """p of MMD from kernels (aa, bb, ab), (n, n) each, exchanging the answers to a prompt."""
    aa, bb, ab = kernels
    h = aa + bb - ab - ab.T
    np.fill_diagonal(h, 0.0)
    s = rng.choice([-1.0, 1.0], size=(signs, len(h)))
    drawn = np.einsum("ri,ri->r", s @ h, s)
    return float((1 + (drawn >= h.sum() - 1e-9).sum()) / (1 + signs))


def letters(texts: list[str]) -> np.ndarray:
    """The first characters of each text, padded, (n, LENGTH)."""
    coded = np.zeros((len(texts), LENGTH), dtype=np.uint32)
    for i, text in enumerate(texts):
        points = np.frombuffer(text[:LENGTH].encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        coded[i, : len(points)] = points
    return coded


def hamming(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([(row == b).mean(axis=1) for row in a])


def trigrams(texts: list[str]) -> object:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer="char", ngram_range=(3, 3), n_features=1 << 18, norm="l2").transform(texts)


def pairs(by_critic: dict, texts: dict, out: Path | None, most: int) -> None:
    """Share of the pairs of models that are told apart, at each size."""
    names = sorted(texts)
    coded = {m: letters(texts[m][1]) for m in names}
    grams = {m: trigrams(texts[m][1]) for m in names}
    settings = Settings(permutations=999)
    found, spent = [], dict.fromkeys(("momus", "hamming", "trigram"), 0.0)
    every = list(combinations(names, 2))
    order = np.random.default_rng(0).permutation(len(every))[:most]
    for count, k in enumerate(order.tolist(), 1):
        one, other = every[k]
        shared = sorted(set(texts[one][0]) & set(texts[other][0]))
        row = [{p: i for i, p in enumerate(texts[m][0])} for m in (one, other)]
        for size in SIZES:
            chosen = tuple(np.array(sorted(r[p] for p in shared[:size])) for r in row)
            aligned = [np.array([r[p] for p in shared[:size]]) for r in row]
            start = time.perf_counter()
            verdicts = told_apart(by_critic, one, other, chosen, settings, (one, other))
            sure = sum(v.differs for v in speaking(verdicts))
            spent["momus"] += time.perf_counter() - start
            ps = {}
            for name, table, kernel in (
                ("hamming", coded, hamming),
                ("trigram", grams, lambda x, y: np.asarray((x @ y.T).todense())),
            ):
                start = time.perf_counter()
                a, b = table[one][aligned[0]], table[other][aligned[1]]
                rng = np.random.default_rng(k)
                ps[name] = mmd((kernel(a, a), kernel(b, b), kernel(a, b)), rng)
                spent[name] += time.perf_counter() - start
            found.append({"one": one, "other": other, "n": size, "axes": sure, **ps})
        if out is not None:
            out.write_text(json.dumps({"pairs": found, "seconds": spent, "axes": len(by_critic)}))
        if count % 20 == 0:
            report(found, spent, len(by_critic))
    report(found, spent, len(by_critic))


def report(found: list[dict], spent: dict, axes: int) -> None:
    print(f"{len(found) // len(SIZES)} pairs, {axes} axes; seconds: { {k: round(v) for k, v in spent.items()} }")
    for n in SIZES:
        rows = [r for r in found if r["n"] == n]
        ours = np.array([r["axes"] > 0 for r in rows])
        print(f"  n = {n}: momus {ours.mean():.3f}", end="")
        for name in ("hamming", "trigram"):
            theirs = np.array([r[name] <= 0.05 for r in rows])
            print(f", {name} {theirs.mean():.3f} (momus at least as good in {(ours >= theirs).mean():.3f})", end="")
        print(flush=True)


def null(by_critic: dict, splits: int) -> None:
    """Alarms over the whole table between random halves of the prompts of one model."""
    names = sorted(next(iter(by_critic.values()))[1])
    alarms, per_axis = 0, dict.fromkeys(by_critic, 0)
    start = time.perf_counter()
    for split in range(splits):
        model = names[split % len(names)]
        size = len(next(iter(by_critic.values()))[1][model])
        rng = np.random.default_rng([7, split])
        order = rng.permutation(size)
        chosen = np.sort(order[: size // 2]), np.sort(order[size // 2 :])
        settings = Settings(permutations=999, seed=split)
        verdicts = told_apart(by_critic, model, model, chosen, settings, ("old", "new"))
        alarms += any(v.differs for v in verdicts if v.p_in_axis is not None)
        for v in verdicts:
            per_axis[v.critic] += bool(v.leads and v.p_axis is not None and v.p_axis <= 0.05)
        if (split + 1) % 50 == 0:
            seconds = time.perf_counter() - start
            print(f"{split + 1} splits: {alarms / (split + 1):.3f} alarms, {seconds:.0f} s", flush=True)
    print({k: round(n / splits, 3) for k, n in per_axis.items()})


def folds(data: Path, splits: int) -> None:
    """Level of single axes with cross-fitting: halves of one model, critics fitted on folds of one half."""
    names, alarms = models(data), {}
    for count, split in enumerate(range(splits), 1):
        read = answers(data, names[split % len(names)])
        rng = np.random.default_rng([8, split])
        order = rng.permutation(len(read))[:200]
        old, new = (corpus([read[i] for i in part], n) for part, n in ((order[:100], "old"), (order[100:], "new")))
        settings = Settings(permutations=999, seed=split, against="old")
        texts = Texts(Corpus.from_texts([], name="fit"), old, [new], False, [])
        for critic in chosen_critics(["length", "unigram", "rhythm", "layout", "edges"], {}).critics:
            cross = cross_scored(critic, texts, settings, Timed(Silent()), None)
            for v in judge(critic, cross.scored[0], cross.scored[1], settings, economy=MANY_PAIRS):
                if v.statistic == "latent_nll" or v.leads:
                    key = f"{v.critic} {'NLL' if v.statistic == 'latent_nll' else 'axis'}"
                    alarms[key] = alarms.get(key, 0) + ((v.p if key.endswith("NLL") else v.p_axis) <= 0.05)
        if count % 20 == 0:
            print(f"{count} splits: { {k: round(n / count, 3) for k, n in alarms.items()} }", flush=True)


def causes(data: Path, n: int) -> None:
    """Models that were told to be verbose or concise: what is said first."""
    for base in ("alpaca-7b", "Mixtral-8x7B-Instruct-v0.1"):
        for told in ("concise", "verbose"):
            old, new = (answers(data, m)[:n] for m in (base, f"{base}_{told}"))
            start = time.perf_counter()
            c = momus.compare(generated={told: new}, against={base: old}, jobs=1)
            print(f"{time.perf_counter() - start:.0f} s\n" + "\n".join(str(c).splitlines()[:22]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=("pairs", "null", "folds", "causes"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="JSON file for all pairs")
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--most", type=int, default=406, help="pairs, drawn at random")
    parser.add_argument("--n", type=int, default=150, help="prompts of `causes`")
    parser.add_argument("--headlines", action="store_true", help="test headline statistics alone: many times quicker")
    a = parser.parse_args()
    global HEADLINES
    HEADLINES = a.headlines
    rows, texts = scored_rows(a.data) if {"pairs", "null"} & set(a.what) else ({}, {})
    if "pairs" in a.what:
        pairs(rows, texts, a.out, a.most)
    if "null" in a.what:
        null(rows, a.splits)
    if "folds" in a.what:
        folds(a.data, a.splits)
    if "causes" in a.what:
        causes(a.data, a.n)


if __name__ == "__main__":
    main()
