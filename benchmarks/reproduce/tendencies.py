"""Statistical tendencies (Meister & Cotterell 2021): reference values, language models, temperatures.

1. WikiText-2 train, one document per line, tokens split by white space: our values beside independent references.
2. Human stories against the continuations of five language models (250 pairs to compare, 250 human stories to fit on).
3. GPT-3 at four temperatures: each against temperature 1.0, paired by prompt (there is no human text).

Run:  python benchmarks/reproduce/tendencies.py [--figures DIR]
Data: ``wikitext-2``, ``human-vs-lm``, ``decoding`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import tarfile
from pathlib import Path

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

import momus
from momus.comparison import Comparison
from momus.report.words.format import number, p_value
from momus.text.tokens import get_tokenizer
from momus_critics import rank_frequency as zipf
from momus_critics.type_token import TypeToken

CRITICS = ["length", "rank-frequency", "type-token", "unigram", "stopword-share", "symbol-share"]
LAWS = ["zipf-slope", "heaps", "productivity"]


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def truncated_exponent(counts: np.ndarray) -> float:
    """Maximum-likelihood exponent of Zipf's law over as many ranks as there are words."""
    ordered = np.sort(counts[counts > 0])[::-1]
    logs = np.log(np.arange(1, len(ordered) + 1))
    mean = ordered @ logs / ordered.sum()

    def loss(s: float) -> float:
        return float(s * mean + logsumexp(-s * logs))

    return float(minimize_scalar(loss, bounds=(0, 20), method="bounded", options={"xatol": 1e-9}).x)


def references() -> None:
    """Print our values beside the reference values."""
    corpus = momus.read_corpus(data() / "wikitext-2" / "train.txt.gz", fmt="lines")
    counts = np.bincount(corpus.tokens(get_tokenizer("whitespace", lower=False)).ids).astype(float)
    ordered = zipf.ranked(counts[None])
    s = zipf.fit_exponent(counts)
    first, law = np.cumsum(ordered[0, :10_000]), zipf.law_shares(np.array([s]), 10_000)[0]
    options = {"tokens": "whitespace", "lower": False}
    one, two = (TypeToken(order=n, **options).fit(corpus) for n in (1, 2))  # type: ignore[arg-type]
    rows = (
        ("Zipf s, infinite ζ", s, 1.18924, 1e-5),
        ("Zipf s, truncated at V", truncated_exponent(counts), 1.01861, 1e-5),
        ("KS, 10,000 ranks", float(zipf.ks_given_law(ordered, s)[0]), 0.15634, 1e-5),
        ("KS, renormalised", float(np.abs(first / first[-1] - law / law[-1]).max()), 0.20496, 1e-5),
        ("type–token α, n = 1", one.alpha_, 0.98501, 1e-5),
        ("type–token β, n = 1", one.beta_, 0.90131, 1e-5),
        ("type–token α, n = 2", two.alpha_, 0.91936, 1e-5),
        ("type–token β, n = 2", two.beta_, 1.00054, 1e-5),
    )
    print(f"WikiText-2 train: {len(corpus):,} documents, {int(counts.sum()):,} tokens, {len(counts):,} types")
    print(f"{'value':<26}{'ours':>10}{'reference':>12}  within 0.00001")
    for name, ours, reference, tolerance in rows:
        print(f"{name:<26}{ours:10.5f}{reference:12.5f}  {'yes' if abs(ours - reference) <= tolerance else 'NO'}")


def show(found: Comparison) -> None:
    """Print every statistic of each generated text with its interval and adjusted p."""
    names = list(dict.fromkeys(v.generated for v in found.verdicts))
    print(f"{'critic: statistic':<36}" + "".join(f"{n:>34}" for n in names))
    for key in dict.fromkeys((v.critic, v.statistic) for v in found.verdicts):
        cells = []
        for name in names:
            (v,) = [v for v in found.verdicts if (v.critic, v.statistic, v.generated) == (*key, name)]
            interval = f"[{number(v.low)}, {number(v.high)}]" if v.low is not None else "–"
            cells.append(f"{number(v.difference)} {interval} p {p_value(v.p_adjusted)}")
        print(f"{': '.join(key):<36}" + "".join(f"{c:>34}" for c in cells))
    first = found.verdicts[0]
    print(f"n = {first.n_real} real and {first.n_generated} generated documents; differences are generated − real")
    for r in found.results:
        for u in r.unscored:
            print(f"unscored by {r.name}: {u.count} of {u.corpus} ({u.reason})")


def figures(folder: Path) -> None:
    """Draw rank–frequency, type–token growth, and box plots of length and shares: human stories and each model."""
    from matplotlib.figure import Figure

    from momus_critics.shares import StopwordShare, SymbolShare

    folder.mkdir(parents=True, exist_ok=True)
    paths = sorted((data() / "human-vs-lm").glob("writing_*.json.gz"))
    texts = {"human": momus.read_corpus(f"{paths[0]}#original", name="human")}
    for path in paths:
        name = path.name.removeprefix("writing_").split(".json")[0]
        texts[name] = momus.read_corpus(f"{path}#sampled", name=name)
    counters = [StopwordShare().fit(texts["human"]), SymbolShare().fit(texts["human"])]
    words = get_tokenizer("words")
    panels = {"tokens per document": [c.tokens(words).lengths for c in texts.values()]}
    for counter in counters:
        panels[counter.axis] = [counter.project(c).shares for c in texts.values()]
    figure = Figure(figsize=(12, 4), layout="constrained")
    for axes, (label, values) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        axes.boxplot(values, tick_labels=list(texts), showfliers=False)
        axes.tick_params(axis="x", rotation=45)
        axes.set_ylabel(label)
    figure.savefig(folder / "boxes.svg")
    figure = Figure(figsize=(12, 5), layout="constrained")
    ranks, growth = figure.subplots(1, 2)
    law = TypeToken().fit(texts["human"])
    for name, corpus in texts.items():
        counts = np.sort(np.bincount(corpus.tokens(words).ids))[::-1]
        ranks.loglog(
            np.arange(1, len(counts) + 1), counts / counts.sum(), label=name, linewidth=2 if name == "human" else 1
        )
        z = law.project(corpus)
        growth.loglog(z.tokens, z.types, ".", markersize=2, label=name)
    t = np.arange(20, 400)
    growth.loglog(t, law.alpha_ * t**law.beta_, "k-", label=f"human: {law.alpha_:.2f} t^{law.beta_:.2f}")
    ranks.set(xlabel="rank", ylabel="relative frequency")
    growth.set(xlabel="tokens", ylabel="types")
    for axes in (ranks, growth):
        axes.legend(fontsize=8)
    figure.savefig(folder / "rank-frequency-and-type-token.svg")
    print(f"figures in {folder}")


def models() -> None:
    """Compare human stories with five models."""
    for path in sorted((data() / "human-vs-lm").glob("writing_*.json.gz")):
        human = momus.read_corpus(f"{path}#original", name="human")
        sampled = momus.read_corpus(f"{path}#sampled", name=path.name.removeprefix("writing_").split(".json")[0])
        fit, real = human.slice(0, 250), human.slice(250, 500)
        generated = sampled.slice(250, 500)
        print(f"\n{sampled.name}")
        show(momus.compare(real, {sampled.name: generated}, fit=fit, critics=CRITICS + LAWS))


def temperatures() -> None:
    """Compare GPT-3 at temperatures 0, 0.7, 1.2 with temperature 1.0."""
    texts: dict[str, dict[str, str]] = {}
    with tarfile.open(data() / "decoding" / "gpt3-temperatures.tar.gz") as archive:
        for member in archive.getmembers():
            name = Path(member.name)
            content = archive.extractfile(member)
            if content is not None and name.stem.startswith("output_"):
                temperature = name.stem.removeprefix("output_").replace("_", ".")
                texts.setdefault(temperature, {})[name.parent.name] = content.read().decode("utf-8", "replace")
    prompts = sorted(texts["1.0"])
    corpora = {
        f"T = {t}": momus.Corpus.from_texts([c[p] for p in prompts], prompts=prompts, name=f"T = {t}")
        for t, c in sorted(texts.items())
    }
    base = corpora.pop("T = 1.0")
    print(f"\nGPT-3, {len(prompts)} prompts; critics fitted on temperature 1.0, and each other compared with it")
    show(momus.compare(base, dict(corpora), fit=base, critics=CRITICS + LAWS))


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", type=Path, help="folder for SVG figures")
    folder = parser.parse_args().figures
    references()
    models()
    temperatures()
    if folder:
        figures(folder)


if __name__ == "__main__":
    main()
