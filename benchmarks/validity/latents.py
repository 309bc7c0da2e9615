"""Predicting the judge's scores from latents by ridge regression: the third attempt, after both of ``ranking.py``.

The statistics of a critic summarise how far the latents of a story are from those of novels. Here a story's score is
predicted from the latents themselves. Fixed before any of them was compared with the judge:

* Critics and fitting texts are those of ``ranking.py``. The first 25,000 characters of the judged stories of ranked
  models are read. Critics whose latents are few numbers, or that have none, like perplexity, are left out.
* Latents of a story: ``unigram``, word counts; ``rank-frequency``, counts at ranks in the story's own order;
  ``topics``, topic shares at λ, summed over pieces; ``coreference``, windows of one, two and three symbols;
  ``passages``, states of pieces, and transitions between stretches (with start and end).
* From each table, the 200 columns with most mass in the 40 held-out novels are kept. Coordinates are √share
  (Hellinger), with the share taken over all columns, kept or not.
* Ridge regression as in ``yardsticks.predicted``, with yardsticks and headlines as standardised ranks among the
  training stories. Coordinates are centred, but not standardised one by one: the sampling error of a √share hardly
  depends on the share. Each block (yardsticks, headlines, each critic's latents) is scaled to a variance of 1 over the
  training stories, summed over columns; the tables of a critic have equal parts of it.
* 25 penalties from 0.001 to 100,000; the number of fits that choose an end is printed.

For comparison, what recognition of the model alone would give:

* each story predicted by the judge's mean of the same model's other stories (centred within prompts). Averaged over all
  stories of a model, these give its own mean again: ρ of means on *held-out prompts* is 1 without reading any text.
* ρ on held-out prompts with models' scores permuted at random: only the identity of the model can then be predicted.
* how often the nearest model of a story, by mean coordinates over the four other prompts, is its own.
* ρ with whole families of models held out (twelve, in ten folds); added after all else had been seen.

Run:  python benchmarks/validity/latents.py [--out DIR], after ranking.py with the same DIR; data as there.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from ranking import READINGS, all_scores, family, measured, novels, read, stories
from scipy import sparse
from yardsticks import HELD, YARDSTICKS, Floats, agreement, gain, held_out, reliability, some_prompts, wilson

from momus import Corpus
from momus.critic import Counted, Critic, Rows
from momus.critic.hooks import AdvancedMixin
from momus.critic.rows import aligned

CRITICS = ("unigram", "rank-frequency", "topics", "coreference", "passages")
COLUMNS, EXCHANGES, PENALTIES = 200, 20, np.geomspace(1e-3, 1e5, 25)
Blocks = dict[str, tuple[str, str]]  # block and table of each column; no table if values become ranks


# 1. Latents of a story


def of_values(values: np.ndarray, offsets: np.ndarray) -> Counted:
    """Count the integers of each document; values[offsets[i]:offsets[i + 1]] are those of document i."""
    labels, codes = np.unique(values, return_inverse=True)
    return Counted.of_tokens(codes, np.asarray(offsets, dtype=np.int64), labels)


def tables(critic: Any, corpus: Corpus) -> dict[str, Rows]:
    """Return counts or shares of the latents of each document, by table."""
    if critic.name == "passages":
        chains, edge = critic.project(corpus), critic.states
        steps = [np.r_[edge, z, edge] for z in np.split(chains.states, chains.offsets[1:-1])]
        parts = {"states": critic.segment(corpus), "transitions": [z[:-1] * (edge + 1) + z[1:] for z in steps]}
        return {k: of_values(np.concatenate(v), np.r_[0, np.cumsum([len(x) for x in v])]) for k, v in parts.items()}
    if critic.name == "coreference":
        chains, _ = critic._chains(corpus)
        windows = critic.process_.coder.windows(chains, (1, 2, 3))
        return {f"{m} symbols": of_values(w, chains.offsets) for m, w in enumerate(windows, 1)}
    latents = critic.project(corpus)
    if isinstance(critic, AdvancedMixin) and (visits := critic.aggregated_posterior(latents)) is not None:
        return {"states": visits}
    return {"words": critic.sufficient_statistics(latents)["words"]}


def pooled(critic: Critic[Any], texts: list[list[str]], name: str) -> dict[str, Rows]:
    """Sum the tables over the units of each text, without units that the critic cannot score; print their number."""
    units, owner = [u for each in texts for u in each], np.repeat(np.arange(len(texts)), [len(u) for u in texts])
    kept = np.flatnonzero([reason is None for reason in critic.unscored(Corpus.from_texts(units, name=name))])
    print(f"    {name}: {len(texts)} texts, {len(kept)} of {len(units)} documents", flush=True)
    found = tables(critic, Corpus.from_texts([units[i] for i in kept], name=name))
    add = sparse.csr_array((np.ones(len(kept)), (owner[kept], np.arange(len(kept)))), (len(texts), len(kept)))
    return {k: Counted(add @ r.matrix, r.labels) if isinstance(r, Counted) else add @ r for k, r in found.items()}


def coordinates(real: Rows, own: Rows, ranked: bool) -> pd.DataFrame:
    """√share of the columns with most mass in the real text, one row per text; NaN for texts without latents."""
    if isinstance(real, Counted) and isinstance(own, Counted):
        wide = aligned([real, own])
        sides, names = [t.matrix.toarray() for t in wide], np.array([str(x) for x in wide[0].labels], dtype=object)
    else:
        sides = [np.asarray(real), np.asarray(own)]
        names = np.array([str(i) for i in range(sides[0].shape[1])], dtype=object)
    mass, values = sides[0].sum(axis=0), sides[1]
    if ranked:  # column k is the count of the k-th most frequent word of each text
        mass, values = np.sort(mass)[::-1], np.sort(values, axis=1)[:, ::-1]
        names = np.array([str(k) for k in range(1, len(mass) + 1)], dtype=object)
    best = [i for i in np.argsort(-mass, kind="stable")[:COLUMNS] if mass[i] > 0]
    with np.errstate(invalid="ignore"):
        shares = values[:, best] / values.sum(axis=1, keepdims=True)
    return pd.DataFrame(np.sqrt(shares), columns=names[best].tolist())


def latents(name: str, texts: list[str], out: Path) -> pd.DataFrame:
    """Fit a critic on novels and compute the coordinates of each text; existing ones are read from ``out``."""
    path = out / "latents" / f"{name}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        begun, reading = time.perf_counter(), READINGS[name]
        print(name, flush=True)
        fit, held = novels(reading.stretches)
        critic = reading.make().fit(Corpus.from_texts([u for t in fit for u in reading.cut(t)], name="novels"))
        real = pooled(critic, [reading.cut(t) for t in held], "held")
        own = pooled(critic, [reading.cut(read(t, "start")) for t in texts], "stories")
        parts = {key: coordinates(real[key], own[key], name == "rank-frequency") for key in real}
        pd.concat([p.add_prefix(f"{name}: {key}: ") for key, p in parts.items()], axis=1).to_parquet(path)
        print(f"    {time.perf_counter() - begun:.0f} s", flush=True)
    return pd.read_parquet(path)


# 2. Ridge regression on blocks


def scaled(train: pd.DataFrame, test: pd.DataFrame, names: list[str], blocks: Blocks) -> tuple[Floats, Floats]:
    """Columns of training and test stories, each block with a total variance of 1 over the training stories."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import QuantileTransformer, StandardScaler

    parts = [blocks[name] for name in names]
    sides: list[list[Floats]] = [[], []]
    for block, table in dict.fromkeys(parts):
        columns = [name for name, part in zip(names, parts, strict=True) if part == (block, table)]
        steps = [] if table else [QuantileTransformer(n_quantiles=50)]
        path = make_pipeline(SimpleImputer(keep_empty_features=True), *steps, StandardScaler(with_std=not table))
        a = path.fit_transform(train[columns].to_numpy())
        b = path.transform(test[columns].to_numpy())
        scale = np.sqrt(a.var(axis=0).sum() * sum(other == block for other, _ in set(parts)))
        for side, values in zip(sides, (a, b), strict=True):
            side.append(values / scale)
    return np.hstack(sides[0]), np.hstack(sides[1])


def blockwise(
    train: pd.DataFrame, test: pd.DataFrame, names: list[str], ranks: bool, *, blocks: Blocks, chosen: list[float]
) -> Floats:
    """Predict as `yardsticks.predicted`, with blocks; append the chosen penalty to ``chosen``."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold

    y = (train["judge"] - train.groupby("prompt")["judge"].transform("mean")).to_numpy()
    errors = np.zeros(len(PENALTIES))
    for inside, outside in GroupKFold(5).split(y, groups=train["model"]):
        a, b = scaled(train.iloc[inside], train.iloc[outside], names, blocks)
        many = np.tile(y[inside][:, None], len(PENALTIES))  # (stories, penalties): one SVD for all
        guess = Ridge(alpha=PENALTIES, solver="svd").fit(a, many).predict(b)
        errors += ((guess - y[outside][:, None]) ** 2).mean(axis=0)
    chosen.append(float(PENALTIES[np.argmin(errors)]))
    a, b = scaled(train, test, names, blocks)
    return np.asarray(Ridge(alpha=chosen[-1], solver="svd").fit(a, y).predict(b), dtype=np.float64)


def line(label: str, kind: str, judged: pd.DataFrame, guess: Floats, base: Floats | None, more: str = "") -> None:
    """Print one row of the table."""
    rho, (low, high), within = agreement(judged, guess)
    against = "" if base is None else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*gain(judged, base, guess))
    print(f"| {label} | {kind} | {rho:.3f} [{low:.3f}, {high:.3f}] | {within:.3f} | {against} | {more} |", flush=True)


def identity(judged: pd.DataFrame) -> Floats:
    """Predict each story by the mean of the same model's other stories, centred within prompts."""
    groups = (y := judged["judge"] - judged.groupby("prompt")["judge"].transform("mean")).groupby(judged["model"])
    return np.asarray((groups.transform("sum") - y) / (groups.transform("size") - 1), dtype=np.float64)


def known_again(judged: pd.DataFrame, names: list[str], blocks: Blocks) -> str:
    """Share of stories nearest to the mean of their own model's stories for other prompts, with its interval."""
    from sklearn.metrics import pairwise_distances_argmin

    hits = 0
    for prompt in judged["prompt"].unique():
        inside = (judged["prompt"] != prompt).to_numpy()
        a, b = scaled(judged[inside], judged[~inside], names, blocks)
        means = pd.DataFrame(a).groupby(judged["model"].to_numpy()[inside]).mean()
        found = means.index.to_numpy()[pairwise_distances_argmin(b, means.to_numpy())]
        hits += int(np.sum(found == judged["model"][~inside].to_numpy()))
    return "{:.1%} [{:.1%}, {:.1%}]".format(hits / len(judged), *wilson(hits, len(judged)))


def exchanged(judged: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Give each model the scores of another, prompt by prompt; a missing story gets the mean of its prompt."""
    wide = judged.pivot_table(index="model", columns="prompt", values="judge")
    other = wide.fillna(wide.mean()).sample(frac=1, random_state=seed).set_axis(wide.index)
    return judged.assign(judge=[other.at[k] for k in zip(judged["model"], judged["prompt"], strict=True)])


def compare(judged: pd.DataFrame, sets: dict[str, list[str]], blocks: Blocks) -> None:
    """Print how well each set of columns predicts held-out scores, and how well it recognises models."""
    print("\n| predictors | held out | ρ of means | within a prompt | gain over yardsticks | penalties |")
    print("|" + "---|" * 6)
    line("judge's mean of the model's other stories", "prompts", judged, identity(judged), None)
    base: dict[str, Floats] = {}
    families = judged.assign(model=judged["model"].map(family))
    for label, names in sets.items():
        for kind in (*HELD, "families"):
            chosen: list[float] = []
            predict = partial(blockwise, blocks=blocks, chosen=chosen)
            table, same = (families, "models") if kind == "families" else (judged, kind)
            guess = held_out(table, names, True, (same,), predict)[same]
            base.setdefault(kind, guess)  # the yardsticks come first
            ends = f"{sum(c in PENALTIES[[0, -1]] for c in chosen)} of {len(chosen)} at an end"
            line(label, kind, judged, guess, base[kind], f"{np.median(chosen):.3g}, {ends}")
    print("\n| predictors | columns | fitted on two prompts: ρ | smallest | largest ", end="")
    print("| scores permuted: ρ | smallest | largest | nearest model correct |\n|" + "---|" * 9)
    for label, names in sets.items():
        predict = partial(blockwise, blocks=blocks, chosen=[])
        some = some_prompts(judged, names, True, predict)
        random = [exchanged(judged, seed) for seed in range(EXCHANGES)]
        rhos = [agreement(r, held_out(r, names, True, HELD[:1], predict)["prompts"])[0] for r in random]
        cells = " | ".join(f"{v:.3f}" for v in (*some, np.mean(rhos), min(rhos), max(rhos)))
        print(f"| {label} | {len(names)} | {cells} | {known_again(judged, names, blocks)} |", flush=True)
    for label, value in reliability(judged).items():
        print(f"The judge with itself, {label}: {value:.3f}")


def prepared(out: Path) -> tuple[pd.DataFrame, dict[str, list[str]], Blocks]:
    """Return the judged stories with all columns, the sets of columns, and the block of each column."""
    table = stories()
    found, headlines = all_scores(table["text"].tolist(), list(READINGS), out, "start")
    judged = measured(table, found)
    texts = table["text"].iloc[judged["story"]].tolist()
    own = {name: latents(name, texts, out) for name in CRITICS}
    judged = pd.concat([judged, *own.values()], axis=1)
    yard, heads, every = list(YARDSTICKS), list(headlines.values()), [c for f in own.values() for c in f.columns]
    blocks: Blocks = {**dict.fromkeys(yard, ("yardsticks", "")), **dict.fromkeys(heads, ("headlines", ""))}
    blocks |= {c: (f"{c.split(': ')[0]}, latents", c.split(": ")[1]) for c in every}
    print(f"{judged['model'].nunique()} models, {len(judged)} stories; ", end="")
    print("; ".join(f"{n}: {f.shape[1]} columns, {int(f.isna().any(axis=1).sum())} without" for n, f in own.items()))
    sets = {"yardsticks": yard, "yardsticks and headlines": yard + heads}
    sets |= {f"latents of {n}": list(f.columns) for n, f in own.items()}
    sets |= {"all latents": every, "yardsticks and latents": yard + every}
    sets |= {"yardsticks, headlines, latents": yard + heads + every}
    return judged, sets, blocks


def main() -> None:
    """Compute latents and compare them with the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-scores"), help="folder of scores and latents")
    compare(*prepared(parser.parse_args().out))


if __name__ == "__main__":
    main()
