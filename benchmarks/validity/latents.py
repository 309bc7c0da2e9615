"""The judge from the latents themselves: a third attempt, made after ``ranking.py``, also with ``--both``, was seen.

Critics say in a few statistics how far the latents of a story are from those of novels. Here the latents are what a
story's score is predicted from. Fixed before any of them was held against the judge:

* Critics and what they are fitted on are those of ``ranking.py``. Read are the first 25,000 characters of the judged
  stories of ranked models. Critics whose latents are few numbers, or that have none as perplexity, are left out.
* Latents of a story: ``unigram``, counts of words; ``rank-frequency``, counts at ranks in the story's own order;
  ``topics``, topic shares at λ, summed over pieces; ``coreference``, windows of one, two and three symbols;
  ``passages``, states of pieces, and transitions between stretches (with start and end).
* Of each table the 200 columns are kept that have most mass in the 40 held-out novels. Coordinates are √share
  (Hellinger), the share being of all columns, kept or not.
* Ridge regression as in ``yardsticks.predicted``; yardsticks and headlines as ranks among the training stories,
  standardised. Coordinates are centred, but not standardised one by one: the sampling error of a √share hardly
  depends on the share. Each block (yardsticks, headlines, each critic's latents) is divided so that its variance over
  the training stories, summed over columns, is 1; the tables of a critic have equal parts of it.
* 25 penalties from 0.001 to 100,000; how often an end is chosen is printed.

What knowing the model would give stands beside:

* each story predicted by the judge's mean of the same model's other stories (centred within prompts). Over all stories
  of a model these have its own mean again: ρ of means on *held-out prompts* is 1 with nothing known of the text.
* ρ on held-out prompts where models' scores are exchanged at random: all that is left to find is the model.
* how often a story's nearest model, of means of coordinates over the four other prompts, is its own.
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
from momus.critic import Critic
from momus.rows import Counted, Rows, aligned

CRITICS = ("unigram", "rank-frequency", "topics", "coreference", "passages")
COLUMNS, EXCHANGES, PENALTIES = 200, 20, np.geomspace(1e-3, 1e5, 25)
Blocks = dict[str, tuple[str, str]]  # block and table of each column; no table where numbers become ranks


# 1. Latents of a story


def of_values(values: np.ndarray, offsets: np.ndarray) -> Counted:
    """Count whole numbers between the offsets of each document."""
    labels, codes = np.unique(values, return_inverse=True)
    return Counted.of_tokens(codes, np.asarray(offsets, dtype=np.int64), labels)


def tables(critic: Any, corpus: Corpus) -> dict[str, Rows]:
    """Counts or shares of the latents of each document, by table."""
    if critic.name == "passages":
        chains, edge = critic.project(corpus), critic.states
        steps = [np.r_[edge, z, edge] for z in np.split(chains.states, chains.offsets[1:-1])]
        parts = {"states": critic.segment(corpus), "transitions": [z[:-1] * (edge + 1) + z[1:] for z in steps]}
        return {k: of_values(np.concatenate(v), np.r_[0, np.cumsum([len(x) for x in v])]) for k, v in parts.items()}
    if critic.name == "coreference":
        chains, _ = critic.chains(corpus)
        windows = critic.process_.coder.windows(chains, (1, 2, 3))
        return {f"{m} symbols": of_values(w, chains.offsets) for m, w in enumerate(windows, 1)}
    found = critic.rows(critic.project(corpus))
    return {"words": found["words"]} if "words" in found else {"states": found["states"]}


def pooled(critic: Critic[Any], texts: list[list[str]], name: str) -> dict[str, Rows]:
    """Sums over the units of each text; units that the critic cannot score are left out and counted."""
    units, owner = [u for each in texts for u in each], np.repeat(np.arange(len(texts)), [len(u) for u in texts])
    kept = np.flatnonzero([reason is None for reason in critic.unscored(Corpus.from_texts(units, name=name))])
    print(f"    {name}: {len(texts)} texts, {len(kept)} of {len(units)} documents", flush=True)
    found = tables(critic, Corpus.from_texts([units[i] for i in kept], name=name))
    add = sparse.csr_array((np.ones(len(kept)), (owner[kept], np.arange(len(kept)))), (len(texts), len(kept)))
    return {k: Counted(add @ r.matrix, r.labels) if isinstance(r, Counted) else add @ r for k, r in found.items()}


def coordinates(real: Rows, own: Rows, ranked: bool) -> pd.DataFrame:
    """√share of the columns with most mass in the real text, one row a text; NaN for texts without a latent."""
    if isinstance(real, Counted) and isinstance(own, Counted):
        wide = aligned([real, own])
        sides, names = [t.matrix.toarray() for t in wide], np.array([str(x) for x in wide[0].labels], dtype=object)
    else:
        sides = [np.asarray(real), np.asarray(own)]
        names = np.array([str(i) for i in range(sides[0].shape[1])], dtype=object)
    mass, values = sides[0].sum(axis=0), sides[1]
    if ranked:  # the k-th column is the k-th most frequent word of each text, whatever it is
        mass, values = np.sort(mass)[::-1], np.sort(values, axis=1)[:, ::-1]
        names = np.array([str(k) for k in range(1, len(mass) + 1)], dtype=object)
    best = [i for i in np.argsort(-mass, kind="stable")[:COLUMNS] if mass[i] > 0]
    with np.errstate(invalid="ignore"):
        shares = values[:, best] / values.sum(axis=1, keepdims=True)
    return pd.DataFrame(np.sqrt(shares), columns=names[best].tolist())


def latents(name: str, texts: list[str], out: Path) -> pd.DataFrame:
    """Fit a critic on novels and find the coordinates of each text; what is in ``out`` already is read."""
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
    """`yardsticks.predicted` with blocks; the penalty is added to ``chosen``."""
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold

    y = (train["judge"] - train.groupby("prompt")["judge"].transform("mean")).to_numpy()
    errors = np.zeros(len(PENALTIES))
    for inside, outside in GroupKFold(5).split(y, groups=train["model"]):
        a, b = scaled(train.iloc[inside], train.iloc[outside], names, blocks)
        many = np.tile(y[inside][:, None], len(PENALTIES))  # one target a penalty: one decomposition for all
        guess = Ridge(alpha=PENALTIES, solver="svd").fit(a, many).predict(b)
        errors += ((guess - y[outside][:, None]) ** 2).mean(axis=0)
    chosen.append(float(PENALTIES[np.argmin(errors)]))
    a, b = scaled(train, test, names, blocks)
    return np.asarray(Ridge(alpha=chosen[-1], solver="svd").fit(a, y).predict(b), dtype=np.float64)


def line(label: str, kind: str, judged: pd.DataFrame, guess: Floats, base: Floats | None, more: str = "") -> None:
    """Print a row of the table."""
    rho, (low, high), within = agreement(judged, guess)
    against = "" if base is None else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*gain(judged, base, guess))
    print(f"| {label} | {kind} | {rho:.3f} [{low:.3f}, {high:.3f}] | {within:.3f} | {against} | {more} |", flush=True)


def identity(judged: pd.DataFrame) -> Floats:
    """The mean of the same model's other stories, centred within prompts."""
    groups = (y := judged["judge"] - judged.groupby("prompt")["judge"].transform("mean")).groupby(judged["model"])
    return np.asarray((groups.transform("sum") - y) / (groups.transform("size") - 1), dtype=np.float64)


def known_again(judged: pd.DataFrame, names: list[str], blocks: Blocks) -> str:
    """How many stories are nearest to the mean of their own model's stories of other prompts."""
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
    """Each model with the scores of another, prompt by prompt; a story that is missing has its prompt's mean."""
    wide = judged.pivot_table(index="model", columns="prompt", values="judge")
    other = wide.fillna(wide.mean()).sample(frac=1, random_state=seed).set_axis(wide.index)
    return judged.assign(judge=[other.at[k] for k in zip(judged["model"], judged["prompt"], strict=True)])


def compare(judged: pd.DataFrame, sets: dict[str, list[str]], blocks: Blocks) -> None:
    """Print how each set of columns predicts what it has not seen."""
    print("\n| from | held out | ρ of means | within a prompt | − yardsticks | penalties |\n|" + "---|" * 6)
    line("the model's other stories", "prompts", judged, identity(judged), None)
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
    print("\n| from | columns | two prompts to three: ρ | least | most | scores exchanged: ρ | least | most ", end="")
    print("| own model nearest |\n|" + "---|" * 9)
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
    """Judged stories with all columns, sets of columns, and the block of each column."""
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
    """Find latents, and hold them against the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-scores"), help="scores and latents are kept here")
    compare(*prepared(parser.parse_args().out))


if __name__ == "__main__":
    main()
