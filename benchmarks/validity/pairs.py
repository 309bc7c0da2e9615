"""Human choices between two continuations: does a critic prefer what people prefer?

150 pairs (contrastive decoding and contrastive search by the same model, 50 each from books, WikiText and news), four
annotators each. Critics are fitted on passages of real text as long as the continuations: novels for books, WikiText-2
for the others. Two rules, fixed before they were compared with people, choose the better of two continuations:

* *likelier*: the one with the lower Latent NLL per state;
* *typical*: the one whose Latent NLL per state is nearer to the mean of held-out real passages.

Yardsticks prefer the one that is nearer to the mean of the same passages. A pair counts if it has a majority among the
annotators who saw a difference; a statistic that is equal for both, or missing for one, counts as half a hit.

People nearly always prefer contrastive search, so a statistic that only tells the two decoders apart agrees with them.
Strength is therefore reported beside hits: ρ, over all pairs, of the difference of the two values (decoding minus
search) with the votes for search minus those against. It shows whether a statistic predicts *how strongly* people
prefer search.

Run:  python benchmarks/validity/pairs.py [--out DIR]
Data: ``judgements``, ``litbank`` and ``wikitext-2`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from yardsticks import YARDSTICKS, Floats, data, over_models, spearman, wilson, yardsticks

from momus import Corpus, read_corpus
from momus.critic import Critic
from momus.inference import holm
from momus_critics.coreference import Coreference
from momus_critics.length import Length
from momus_critics.mauve import Mauve
from momus_critics.passages import Passages
from momus_critics.perplexity import Perplexity
from momus_critics.rank_frequency import RankFrequency
from momus_critics.shares import StopwordShare, SymbolShare
from momus_critics.topics import Topics
from momus_critics.type_token import TypeToken
from momus_critics.unigram import Unigram

WORDS, HELD = 195, 1000
MOST = 6000
"""Most passages that a critic is fitted on."""
CRITICS: dict[str, tuple[Callable[[], Critic[Any]], int]] = {
    "length": (Length, MOST),
    "unigram": (Unigram, MOST),
    "rank-frequency": (RankFrequency, MOST),
    "type-token": (TypeToken, MOST),
    "type-token, bigrams": (partial(TypeToken, order=2), MOST),
    "stopword-share": (StopwordShare, MOST),
    "symbol-share": (SymbolShare, MOST),
    "perplexity": (Perplexity, MOST),
    "mauve": (Mauve, MOST),
    "passages": (partial(Passages, piece_length=30), MOST),
    "topics": (partial(Topics, n_topics=50), 2000),
    "coreference": (Coreference, 1500),
}
NOT_READ = "zipf-slope, heaps, ebeling, taylor, long-range and productivity need running text of 1,000 tokens and more"


def pairs() -> list[dict[str, Any]]:
    """Read the pairs: continuations, and votes (−1 for the first, 1 for the second, 0 for neither)."""
    with gzip.open(data() / "judgements" / "contrastive-pairs.json.gz", "rt", encoding="utf-8") as lines:
        found = json.load(lines)
    votes = {"system a": -1, "system b": 1, "two systems": 0}
    return [
        {
            "domain": p["domain"],
            "names": (p["system_a_name"], p["system_b_name"]),
            "texts": tuple(p[f"system_{s}_result"].removeprefix(p["prompt"]).strip() for s in "ab"),
            "votes": np.array([next(v for k, v in votes.items() if a.startswith(k)) for a in _answers(p)]),
        }
        for p in found
    ]


def _answers(pair: dict[str, Any]) -> list[str]:
    return [pair["human_annotation"][f"annotator_{k}"] for k in (1, 2, 3, 4)]


def passages(text: str) -> list[str]:
    """Cut after every 195 words and keep line breaks; a shorter remainder is dropped."""
    ends = [m.end() for m in re.finditer(r"\S+", text)][WORDS - 1 :: WORDS]
    return [text[a:b].strip() for a, b in zip([0, *ends], ends, strict=False)]


def plain(text: str) -> str:
    """Undo WikiText's markup: join hyphens and figures, drop unknown words and headings, restore normal spacing."""
    text = re.sub(r"(?m)^ *=.*$", "", text).replace("<unk>", "")
    text = re.sub(r" @(.)@ ", r"\1", text)
    text = re.sub(r" +([,.;:!?)\]']|n't)", r"\1", text)
    return re.sub(r"([(\[]) +", r"\1", re.sub(r" {2,}", " ", text))


def real_texts() -> dict[str, tuple[list[str], list[str]]]:
    """Passages to fit on, and held-out ones from other novels (or WikiText's test part)."""
    novels = [d.text.replace("\r", "") for d in read_corpus(data() / "litbank" / "novels.jsonl.gz")]
    order = np.random.default_rng(0).permutation(len(novels))
    bodies = [re.split(r"(?<=\s)(?=\S)", novels[i], maxsplit=3000)[-1] for i in order]
    books = [[p for b in part for p in passages(b)] for part in (bodies[:60], bodies[60:])]
    wiki = []
    for name in ("train", "test"):
        with gzip.open(data() / "wikitext-2" / f"{name}.txt.gz", "rt", encoding="utf-8") as lines:
            wiki.append(passages(plain(lines.read())))
    return {k: (some(v[0], MOST), some(v[1], HELD)) for k, v in (("book", books), ("wikitext", wiki))}


def some(texts: list[str], count: int) -> list[str]:
    """Draw at most ``count`` texts at random, in their order."""
    return [texts[i] for i in np.sort(np.random.default_rng(1).permutation(len(texts))[:count])]


def numbers(make: Callable[[], Critic[Any]], fit: list[str], held: list[str], texts: list[str]) -> tuple[Floats, float]:
    """Return Latent NLL per state of each text, and its mean over held-out real passages."""
    critic = make().fit(Corpus.from_texts(fit, name="fit"))
    real = critic.score(Corpus.from_texts(held, name="held")).per_step
    return critic.score(Corpus.from_texts(texts, name="continuations")).per_step, float(np.nanmean(real))


def scored(
    make: Callable[[], Critic[Any]],
    most: int,
    found: list[dict[str, Any]],
    groups: dict[str, list[str]],
    real: dict[str, tuple[list[str], list[str]]],
) -> pd.DataFrame:
    """Two rows per pair: Latent NLL per state, and its mean for real text of the same kind."""
    frame = pd.DataFrame({"nll": np.full(2 * len(found), np.nan), "usual": np.nan})
    for kind, domains in groups.items():
        inside = np.repeat([p["domain"] in domains for p in found], 2)
        texts = [t for p in found if p["domain"] in domains for t in p["texts"]]
        nll, usual = numbers(make, real[kind][0][:most], real[kind][1], texts)
        frame.loc[inside, "nll"] = nll
        frame.loc[inside, "usual"] = usual
    return frame


def hits(cost: Floats, majority: Floats) -> tuple[float, int, int]:
    """Hits among pairs with a majority, ties, and number of such pairs; cost is (pairs, 2), lower is better."""
    used = majority != 0
    choice = np.sign(cost[used, 0] - cost[used, 1])
    choice[~np.isfinite(choice)] = 0
    return (
        float((choice == majority[used]).sum() + 0.5 * (choice == 0).sum()),
        int((choice == 0).sum()),
        int(used.sum()),
    )


def ceiling(votes: np.ndarray) -> None:
    """Print how often annotators agree: two of them, and each with the majority of the other three."""
    agree = [(a, b) for v in votes for a, b in combinations(v.tolist(), 2) if a and b]
    same = sum(a == b for a, b in agree)
    pairs_drawn = [
        np.mean([a == b for v in votes[rows] for a, b in combinations(v.tolist(), 2) if a and b])
        for rows in (np.random.default_rng(s).integers(len(votes), size=len(votes)) for s in range(1000))
    ]
    low, high = np.quantile(pairs_drawn, (0.025, 0.975))
    print(f"two annotators: {same / len(agree):.1%} [{low:.1%}, {high:.1%}] of {len(agree)} pairs of votes agree")
    each = [(v[k], np.sign(np.delete(v, k).sum())) for v in votes for k in range(4)]
    each = [(a, b) for a, b in each if a and b]
    drawn = []
    for s in range(1000):
        rows = np.random.default_rng(s).integers(len(votes), size=len(votes))
        some = [(v[k], np.sign(np.delete(v, k).sum())) for v in votes[rows] for k in range(4)]
        drawn.append(np.mean([a == b for a, b in some if a and b]))
    low, high = np.quantile(drawn, (0.025, 0.975))
    share = np.mean([a == b for a, b in each])
    print(f"an annotator with the majority of the others: {share:.1%} [{low:.1%}, {high:.1%}], n = {len(each)}")
    alpha = nominal_alpha(votes)
    print(f"Krippendorff's α of the votes (nominal, votes for neither left out): {alpha:.3f}")


def nominal_alpha(votes: np.ndarray) -> float:
    """Krippendorff's nominal α of votes (pairs, annotators) in −1, 0, 1, where 0 is missing.

    >>> round(nominal_alpha(np.array([[1, 1], [-1, -1], [1, -1], [1, 1]])), 3)
    0.533
    """
    import krippendorff

    values = np.where(votes == 0, np.nan, votes).T
    return float(krippendorff.alpha(values, level_of_measurement="nominal"))


def single_votes(cost: Floats, votes: np.ndarray) -> tuple[float, float, float]:
    """Share of all votes that a statistic agrees with, and its interval over pairs."""
    choice = np.nan_to_num(np.sign(cost[:, 0] - cost[:, 1]))[:, None]
    agreed = np.where(votes == 0, 0.0, np.where(choice == 0, 0.5, choice == votes)).sum(axis=1)
    given = (votes != 0).sum(axis=1).astype(np.float64)
    return (float(agreed.sum() / given.sum()), *over_models(_ratio, agreed, given, resamples=1000))


def _ratio(a: Floats, b: Floats) -> float:
    return float(a.sum() / b.sum())


def strength(cost: Floats, votes: np.ndarray, search: np.ndarray) -> tuple[float, float, float]:
    """ρ between a statistic's margin in favour of search and that of people, with its interval."""
    margin = np.where(search, cost[:, 0] - cost[:, 1], cost[:, 1] - cost[:, 0])
    people = np.where(search, 1, -1) * votes.sum(axis=1).astype(np.float64)
    kept = np.isfinite(margin)
    x, y = margin[kept], people[kept]
    return (spearman(x, y), *over_models(spearman, x, y, resamples=1000))


def _shown(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def show(rows: list[tuple[str, str, Floats]], found: list[dict[str, Any]], votes: np.ndarray) -> None:
    """Print one row per statistic and rule: hits with Wilson's interval, sign test (Holm), single votes, strength."""
    domains = sorted({p["domain"] for p in found})
    where = np.array([p["domain"] for p in found])
    majority = np.sign(votes.sum(axis=1)).astype(np.float64)
    search = np.array([p["names"][1] == "contrastive_search" for p in found])
    counted = [hits(cost, majority) for _, _, cost in rows]
    p = [stats.binomtest(int(h - t / 2), n - t).pvalue if n > t else 1.0 for h, t, n in counted]
    adjusted = holm(p)
    kinds = " | ".join(domains)
    print(f"\n| statistic | rule | hits | 95 % | ties | {kinds} | p (Holm) | single votes | 95 % | strength ρ | 95 % |")
    print("|" + "---|" * (10 + len(domains)))
    for (name, rule, cost), (h, t, n), all_ in zip(rows, counted, adjusted, strict=True):
        low, high = wilson(h, n)
        parts = []
        for d in domains:
            mine = hits(cost[where == d], majority[where == d])
            parts.append(f"{mine[0] / mine[2]:.0%}")
        vote, a, b = single_votes(cost, votes)
        rho, c, d_ = strength(cost, votes, search) if rule else (float("nan"),) * 3
        print(
            f"| {name} | {rule} | {h / n:.1%} | [{low:.1%}, {high:.1%}] | {t} | {' | '.join(parts)} | {_shown(all_)} "
            f"| {vote:.1%} | [{a:.1%}, {b:.1%}] | {rho:.2f} | [{c:.2f}, {d_:.2f}] |"
        )


def main() -> None:
    """Print the agreement of the annotators, then every statistic."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-pairs"), help="folder of scores, reused if present")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    found = pairs()
    votes = np.stack([p["votes"] for p in found])
    majority = np.sign(votes.sum(axis=1)).astype(np.float64)
    counts = Counter(p["domain"] for p, m in zip(found, majority, strict=True) if m)
    print(f"{len(found)} pairs, {int((majority != 0).sum())} with a majority: {dict(counts)}")
    ceiling(votes)
    real = real_texts()
    groups = {"book": ["book"], "wikitext": ["wikitext", "wikinews"]}
    rows: list[tuple[str, str, Floats]] = []
    first = np.array([[p["names"][s] != "contrastive_search" for s in (0, 1)] for p in found], dtype=np.float64)
    rows.append(("always contrastive search", "", first))
    costs = {name: np.full((len(found), 2), np.nan) for name in YARDSTICKS}
    plain_values = np.array([[list(yardsticks(t).values()) for t in p["texts"]] for p in found])
    for kind, domains in groups.items():
        usual = np.array([list(yardsticks(t).values()) for t in real[kind][1]]).mean(axis=0)
        inside = np.array([p["domain"] in domains for p in found])
        for k, name in enumerate(YARDSTICKS):
            costs[name][inside] = np.abs(plain_values[inside][:, :, k] - usual[k])
    rows += [(name, "typical", cost) for name, cost in costs.items()]
    for name, (make, most) in CRITICS.items():
        path = out / f"{name}.parquet"
        if not path.exists():
            scored(make, most, found, groups, real).to_parquet(path)
            print(f"{name} done", flush=True)
        frame = pd.read_parquet(path)
        value = frame["nll"].to_numpy().reshape(-1, 2)
        away = np.abs(value - frame["usual"].to_numpy().reshape(-1, 2))
        rows += [(name, "likelier", value), (name, "typical", away)]
    show(rows, found, votes)
    print(NOT_READ)


if __name__ == "__main__":
    main()
