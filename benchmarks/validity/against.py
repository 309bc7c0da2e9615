"""From A to B on answers of 29 models to the same prompts: level, known causes, and power beside MMD.

    python benchmarks/validity/against.py rows pairs null --kept ROWS --data ../shared/data
    python benchmarks/validity/against.py folds --kept ROWS    # halves of one model, critics cross-fitted
    python benchmarks/validity/against.py causes chain         # models told to be verbose or concise; phi-2, sft, dpo

``rows`` fits each critic once, on answers of all models to 100 prompts without being told whose they are, scores the
answers to 200 other prompts, and keeps the rows: nothing after that reads a text but MMD. Axes are tested by
`momus.inference.axis_test` with 359 relabellings, p by Holm over the axes. The other tests are MMD with the Hamming
kernel of characters (Gao, Liang & Guestrin 2025, Model Equality Testing) and with the cosine of counts of character
trigrams. All exchange the two answers to a prompt at random. Every study goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from textwrap import wrap

import numpy as np
from scipy.stats import binomtest

import momus
from momus.against.versions import Against
from momus.critic import Counted, RunningTextCritic
from momus.critic.hooks import settled
from momus.critic.powers import headline_of
from momus.critic.registry import make_critics
from momus.engine.chosen import chosen_critics
from momus.engine.crossfit import cross_scored
from momus.errors import MomusError
from momus.inference import axis_test, holm
from momus.outputs import make_folder
from momus.progress import Silent, Timed
from momus.report.words.against import trend
from momus.runs.kept import read_scores, write_scores
from momus.runs.texts import Texts, pooled
from momus.text.corpus import Corpus
from momus.verdicts.judge import design_of_scores, same_columns
from momus.verdicts.settings import Settings
from momus.verdicts.statistics import tested_statistics

LEVEL = 0.05 + 1e-9
SIZES = (25, 50, 100, 200)
FITTED, SCORED = 100, 200
HALF = 50
"""Answers of each half of `folds`."""
LENGTH = 1000
RELABELLINGS, SIGNS = 359, 999
"""Relabellings of an axis, so that the smallest p, 1/360, times 18 axes is 5 %; exchanges of MMD."""
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


def quick_critics() -> list:
    chosen = chosen_critics(None, {}).critics
    return [c for c in chosen if not isinstance(c, RunningTextCritic) and c.name not in SLOW]


def keep_rows(data: Path, kept: Path) -> None:
    """Score all models by each critic, and keep the rows in one file per critic, and the seconds that it took."""
    kept.mkdir(parents=True, exist_ok=True)
    fit, test = map(set, prompts_of(data))
    read = {m: answers(data, m) for m in models(data)}
    fitting = pooled([corpus([r for r in rows if r["prompt_id"] in fit], m) for m, rows in read.items()])
    texts = {m: corpus([r for r in rows if r["prompt_id"] in test], m) for m, rows in read.items()}
    for critic in quick_critics():
        path = kept / critic.name
        if (path / "critic.json").exists():
            continue
        start = time.perf_counter()
        try:
            critic.fit(fitting)
            settled(critic, list(texts.values()))
            scored = {m: critic.score(c) for m, c in texts.items()}
        except MomusError as error:
            print(f"{critic.name}: left out: {error.message[:90]}", flush=True)
            continue
        seconds = time.perf_counter() - start
        print(f"{critic.name}: {seconds:.1f} s", flush=True)
        for m, scores in scored.items():
            make_folder(path / m)
            write_scores(replace(scores, summary=None), path / m)
        critic.save(path)
        with (kept / "rows.jsonl").open("a") as file:
            file.write(json.dumps({"critic": critic.name, "seconds": seconds}) + "\n")


def read_rows(kept: Path) -> dict:
    """(critic, scores by model) by name of the critic."""
    rows = {}
    for path in sorted(p.parent for p in kept.glob("*/critic.json")):
        critic = type(make_critics([path.name])[0]).load(path)
        rows[path.name] = critic, {p.name: read_scores(p) for p in sorted(path.iterdir()) if p.is_dir()}
    return rows


def p_of_axis(critic: object, a: object, b: object, settings: Settings) -> float:
    """p of the axis of a critic between two tables of scores; 1 where one side has no scored document."""
    if not (a.n_scored and b.n_scored):
        return 1.0
    statistics = [s for s in tested_statistics(critic, list(a.rows)) if s.decides]
    tables = same_columns(a.test_rows(), b.test_rows())
    for key in tables[0]:
        if isinstance(a.rows.get(key), Counted):  # words that neither side has
            used = np.flatnonzero(tables[0][key].sum(axis=0) + tables[1][key].sum(axis=0))
            tables[0][key], tables[1][key] = (t[key].tocsc()[:, used].tocsr() for t in tables)
    headline = headline_of(critic)
    design = design_of_scores(a, b, settings)
    p, _, _ = axis_test(
        statistics, *tables, design=design, headline=headline, permutations=RELABELLINGS, wide=RELABELLINGS,
        seed=settings.seed,
    )  # fmt: skip
    return 1.0 if np.isnan(p) else p


def mmd(kernels: tuple, rng: np.random.Generator, signs: int = SIGNS) -> float:
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


def dot(x: object, y: object) -> np.ndarray:
    return np.asarray((x @ y.T).todense())


def done(path: Path) -> list[dict]:
    """Rows that a study has written so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def pairs(data: Path, kept: Path) -> None:
    """Share of the pairs of models that are told apart, at each size."""
    rows, out = read_rows(kept), kept / "pairs.jsonl"
    _, prompts = prompts_of(data)
    names = models(data)
    text = {m: {r["prompt_id"]: r["text"] for r in answers(data, m)} for m in names}
    tables = {
        "hamming": ({m: letters([text[m][p] for p in prompts]) for m in names}, hamming),
        "trigram": ({m: trigrams([text[m][p] for p in prompts]) for m in names}, dot),
    }
    found = done(out)
    known = {(r["one"], r["other"], r["n"]) for r in found}
    every = list(combinations(names, 2))
    for k in np.random.default_rng(0).permutation(len(every)).tolist():  # so that a study cut short is of a sample
        one, other = every[k]
        for size in SIZES:
            if (one, other, size) in known:
                continue
            start = time.perf_counter()
            ps = {}
            chosen = set(prompts[:size])
            for name, (critic, scored) in rows.items():
                a, b = (scored[m].take(np.flatnonzero([p in chosen for p in scored[m].prompts])) for m in (one, other))
                ps[name] = p_of_axis(critic, a, b, Settings())
            seconds = {"momus": time.perf_counter() - start}
            peers = {}
            for name, (table, kernel) in tables.items():
                start = time.perf_counter()
                a, b = table[one][:size], table[other][:size]
                peers[name] = mmd((kernel(a, a), kernel(b, b), kernel(a, b)), np.random.default_rng(size))
                seconds[name] = time.perf_counter() - start
            row = {"one": one, "other": other, "n": size, "p": ps, **peers, "seconds": seconds}
            found.append(row)
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print("\n".join(report(found, kept)), flush=True)


def sure(row: dict) -> dict[str, bool]:
    """On which axes two texts are told apart."""
    return dict(zip(row["p"], holm(list(row["p"].values())) <= LEVEL, strict=True))


def share(hits: Sequence[bool]) -> str:
    """A share with its exact 95 % interval."""
    interval = binomtest(int(np.sum(hits)), len(hits)).proportion_ci(method="exact")
    return f"{np.mean(hits):.3f} ({interval.low:.3f} to {interval.high:.3f})"


def report(found: list[dict], kept: Path) -> list[str]:
    """The table of all pairs, and on how many of them each axis differs."""
    scoring = sum(r["seconds"] for r in done(kept / "rows.jsonl"))
    spent = {k: sum(r["seconds"][k] for r in found) for k in ("momus", "hamming", "trigram")}
    text = ", ".join(f"{k} {v:.0f} s" for k, v in spent.items())
    lines = [
        f"{len(found) // len(SIZES)} pairs; fitting and scoring all models {scoring:.0f} s; tests of all sizes {text}"
    ]
    heads = (
        "prompts",
        "Momus",
        "axes",
        "s",
        "MMD, Hamming",
        "Momus ≥",
        "MMD, trigrams",
        "Momus ≥",
        "only Momus",
        "only MMD",
    )
    lines += ["", "| " + " | ".join(heads) + " |", "|" + "---:|" * len(heads)]
    for n in SIZES:
        rows = [r for r in found if r["n"] == n]
        ours = np.array([any(sure(r).values()) for r in rows])
        hamming, trigram = (np.array([r[name] <= LEVEL for r in rows]) for name in ("hamming", "trigram"))
        axes = np.mean([sum(sure(r).values()) for r in rows])
        seconds = sum(r["seconds"]["momus"] for r in rows)
        either = hamming | trigram
        cells = [n, f"{ours.mean():.3f}", f"{axes:.1f}", f"{seconds:.0f}"]
        cells += [f"{x:.3f}" for t in (hamming, trigram) for x in (t.mean(), (ours >= t).mean())]
        cells += [(ours & ~either).sum(), (~ours & either).sum()]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| axis | " + " | ".join(f"{n} prompts" for n in SIZES) + " |", "|---|" + "---:|" * len(SIZES)]
    for axis in found[0]["p"]:
        shares = [np.mean([sure(r)[axis] for r in found if r["n"] == n]) for n in SIZES]
        lines.append(f"| {axis} | " + " | ".join(f"{x:.2f}" for x in shares) + " |")
    return lines


def levels(found: list[dict]) -> list[str]:
    """Levels of the table and of each axis."""
    any_axis = share([any(sure(r).values()) for r in found])
    lines = [f"{len(found):,} splits, {sum(r['seconds'] for r in found):.0f} s; some axis is named in {any_axis}"]
    lines += ["", "| axis | p ≤ .05 |", "|---|---:|"]
    return [*lines, *(f"| {axis} | {share([r['p'][axis] <= LEVEL for r in found])} |" for axis in found[0]["p"])]


def tables(kept: Path, out: Path) -> None:
    """Write the tables of all studies that have rows."""
    studies = {
        "All pairs of models": lambda rows: report(rows, kept),
        "Halves of one model, kept rows": levels,
        "Halves of one model, cross-fitted": levels,
    }
    lines = [f"# From one model to another\n\n{__doc__.strip()}\n"]
    for (title, table), name in zip(studies.items(), ("pairs", "null", "folds"), strict=True):
        rows = done(kept / f"{name}.jsonl")
        lines += [f"## {title}", "", *table(rows), ""] if rows else []
    out.write_text("\n".join(lines))


def null(kept: Path, splits: int) -> None:
    """Alarms over the whole table between random halves of the prompts of one model, from kept rows."""
    rows, out = read_rows(kept), kept / "null.jsonl"
    names = sorted(next(iter(rows.values()))[1])
    found = done(out)
    for split in range(len(found), splits):
        model = names[split % len(names)]
        start = time.perf_counter()
        ps = {}
        order = np.random.default_rng([7, split]).permutation(SCORED)
        for name, (critic, scored) in rows.items():
            a, b = (scored[model].take(np.sort(part), k) for k, part in (("old", order[:100]), ("new", order[100:])))
            ps[name] = p_of_axis(critic, a, b, Settings(seed=split))
        found.append({"model": model, "p": ps, "seconds": time.perf_counter() - start})
        with out.open("a") as file:
            file.write(json.dumps(found[-1]) + "\n")
        if len(found) % 100 == 0:
            print("\n".join(levels(found)), flush=True)


def folds(data: Path, kept: Path, splits: int) -> None:
    """The same with critics that are cross-fitted on one half in each split: 50 answers against 50.

    Without `code-mixing`, which takes a third of the time, and `passages`, which scores none of these short answers.
    """
    names, out = models(data), kept / "folds.jsonl"
    critics = [c for c in quick_critics() if c.name not in ("code-mixing", "passages")]
    read = {m: answers(data, m) for m in names}
    found = done(out)
    for split in range(len(found), splits):
        rows = read[names[split % len(names)]]
        start = time.perf_counter()
        order = np.random.default_rng([8, split]).permutation(len(rows))[: 2 * HALF]
        old, new = (corpus([rows[i] for i in part], n) for part, n in ((order[:HALF], "old"), (order[HALF:], "new")))
        settings = Settings(seed=split, against="old")
        texts = Texts(Corpus.from_texts([], name="fit"), old, [new], False, [])
        ps, spent = {}, {}
        for critic in critics:
            begun = time.perf_counter()
            try:
                (a, b), _ = cross_scored(critic, texts, settings, Timed(Silent()))
                ps[critic.name] = p_of_axis(critic, a, b, settings)
            except MomusError:
                ps[critic.name] = 1.0
            spent[critic.name] = time.perf_counter() - begun
        seconds = time.perf_counter() - start
        found.append({"model": names[split % len(names)], "p": ps, "spent": spent, "seconds": seconds})
        with out.open("a") as file:
            file.write(json.dumps(found[-1]) + "\n")
        if len(found) % 50 == 0:
            print("\n".join(levels(found)), flush=True)


def compared(old: dict, new: dict, out: Path, chain: bool = False) -> momus.Comparison:
    """Compare versions with all critics into a run folder, and print the first screen."""
    c = momus.compare(generated=new, against=old, chain=chain, out=out, resume=out.exists(), jobs=1)
    print(f"{out.name}: {c.signature['seconds']['total']:.0f} s\n{c}\n", flush=True)
    return c


def causes(data: Path, n: int, kept: Path) -> None:
    """Models that were told to be verbose or concise: what is said first."""
    for base in ("alpaca-7b", "Mixtral-8x7B-Instruct-v0.1"):
        for told in ("concise", "verbose"):
            old, new = (answers(data, m)[:n] for m in (base, f"{base}_{told}"))
            compared({base: old}, {told: new}, kept / f"{base}-{told}")


def chain(data: Path, n: int, kept: Path) -> None:
    """phi-2, fine-tuned, then tuned to preferences."""
    names = {"phi-2": "phi-2", "sft": "phi-2-sft", "dpo": "phi-2-dpo"}
    base, *later = ((name, answers(data, model)[:n]) for name, model in names.items())
    c = compared(dict([base]), dict(later), kept / "chain", chain=True)
    assert c.against is not None
    draw(c.against, kept / "against-chain.svg")


def draw(against: Against, path: Path, most: int = 9) -> None:
    """The paths with the surest trends, a panel each, with 95 % intervals; the largest step is thick."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "momus", "font.size": 8}):
        figure = Figure(figsize=(7.5, 6), layout="constrained")
        for axes, p in zip(figure.subplots(3, 3).flat, against.paths[:most], strict=False):
            scale = 100 if p.share else 1
            values = scale * np.array(p.values)
            spans = np.abs(scale * np.array([p.lows, p.highs]) - values)
            axes.errorbar(range(len(values)), values, spans, fmt="o-", color="#0072b2", lw=1, ms=3)
            axes.plot([p.step - 1, p.step], values[[p.step - 1, p.step]], color="#0072b2", lw=3)
            axes.set_xticks(range(len(values)), against.versions)
            axes.set_title(f"{p.axis} {trend(p, against.alpha).split(' p ')[0]}", fontsize=9)
            unit = "%" if p.share else p.unit
            label = f"{p.label}{f', {unit}' if unit else ''}"
            axes.set_ylabel("\n".join(wrap(label, 28)), fontsize=7)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=("rows", "pairs", "null", "folds", "causes", "chain", "tables"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--kept", type=Path, default=Path("against-rows"), help="folder of rows and results")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/versions.md"), help="file of `tables`")
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--n", type=int, default=100, help="prompts of `causes` and `chain`")
    a = parser.parse_args()
    a.kept.mkdir(parents=True, exist_ok=True)
    studies = {
        "rows": lambda: keep_rows(a.data, a.kept),
        "pairs": lambda: pairs(a.data, a.kept),
        "null": lambda: null(a.kept, a.splits),
        "folds": lambda: folds(a.data, a.kept, a.splits),
        "causes": lambda: causes(a.data, a.n, a.kept),
        "chain": lambda: chain(a.data, a.n, a.kept),
        "tables": lambda: tables(a.kept, a.out),
    }
    for what in a.what:
        studies[what]()


if __name__ == "__main__":
    main()
