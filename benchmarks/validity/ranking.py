"""Ranking models by critics: agreement of critics with an LLM judge of stories, alone and beyond plain yardsticks.

Critics fitted on novels score stories by some fifty language models, and models are ranked by the mean of each
statistic over their stories. Every statistic that a critic reports is tried once, with the settings below, which were
fixed before any of them was compared with the judge. Each critic is represented by its headline.

1. Spearman's ρ with the judge's mean score, with intervals over models, and over stories within models.
2. The partial rank correlation given all yardsticks, interval over models; Holm over critics, and over all statistics.
3. Ridge regression on yardsticks, on critics, on both: held-out prompts, held-out models, and both held out, compared
   with the reliability of the judge's own scores.
4. Stories where critics and yardsticks disagree most.

Run:  python benchmarks/validity/ranking.py [--out DIR] [--figures DIR] [--critics length,…]
Data: ``long-stories`` and ``litbank`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from yardsticks import (
    HELD,
    YARDSTICKS,
    Floats,
    agreement,
    data,
    gain,
    held_out,
    over_groups,
    over_models,
    over_stories,
    partial_p,
    partial_spearman,
    reliability,
    some_prompts,
    spearman,
    yardsticks,
)

from momus import Corpus, Scores, read_corpus
from momus.critic import Counted, Critic, Statistic
from momus.critic.hooks import row_unit, settled
from momus.critic.powers import headline_of
from momus.critic.rows import aligned
from momus.inference import holm
from momus.report.figures.palette import COLOURS
from momus.text.running import RunningText
from momus.verdicts.statistics import all_statistics
from momus_critics.coreference import Coreference
from momus_critics.laws import Ebeling, Heaps, LongRange, Productivity, Taylor, ZipfSlope
from momus_critics.length import Length
from momus_critics.mauve import Mauve
from momus_critics.passages import Passages
from momus_critics.perplexity import Perplexity
from momus_critics.rank_frequency import RankFrequency
from momus_critics.shares import StopwordShare, SymbolShare
from momus_critics.topics import Topics
from momus_critics.type_token import TypeToken
from momus_critics.unigram import Unigram

CHARACTERS = 25_000
"""Characters read of each story; the limit keeps story length from having an influence."""
FIT, STRETCH, BLOCK = 60, 4400, 3000
"""Novels to fit on, words per stretch of a novel (about as much as is read of a story), tokens per block."""
JUDGED = re.compile(r"\s*\+ Judge Evaluation \(Chapter \d+\)")
"""Start of the judge's own evaluation with its scores, which follows nearly every chapter in the file."""
SENTENCE = re.compile(r"[.!?…]+[\"”’')\]]*(?=\s|$)")
LEAST = 4
"""Fewest judged stories of a model that is ranked."""
RESAMPLES = 1000


# 1. Texts


def pieces(text: str, words: int = 1000) -> list[str]:
    """Cut at paragraph breaks into pieces of at least ``words`` words; drop a shorter remainder, unless it is all."""
    found, current, count = [], [], 0
    for paragraph in text.split("\n\n"):
        current.append(paragraph)
        count += len(paragraph.split())
        if count >= words:
            found.append("\n\n".join(current))
            current, count = [], 0
    return found or [text]


def paragraphs(text: str) -> list[str]:
    """Split the text at blank lines."""
    return [p for p in text.split("\n\n") if p.strip()] or [text]


def whole(text: str) -> list[str]:
    """Return the text as one document."""
    return [text]


def read(text: str, part: str) -> str:
    """Return the first or the last ``CHARACTERS`` of a text; the latter begin at a paragraph."""
    return text[:CHARACTERS] if part == "start" else text[-CHARACTERS:].partition("\n\n")[2] or text[-CHARACTERS:]


@dataclass(frozen=True)
class Reading:
    """A critic, how texts are cut into its documents, and how many stretches of each novel it is fitted on.

    ``attend``: whether the critic sees held-out novels and stories before it scores them, as in a comparison.
    """

    make: Callable[[], Critic[Any]]
    cut: Callable[[str], list[str]] = whole
    stretches: int = 3
    attend: bool = False


LAW: dict[str, Any] = {"block": BLOCK}
READINGS = {
    "length": Reading(Length, paragraphs),
    "unigram": Reading(Unigram),
    "rank-frequency": Reading(RankFrequency),
    "type-token": Reading(TypeToken, pieces),
    "stopword-share": Reading(StopwordShare, pieces),
    "symbol-share": Reading(SymbolShare, pieces),
    "zipf-slope": Reading(partial(ZipfSlope, **LAW)),
    "heaps": Reading(partial(Heaps, **LAW)),
    "ebeling": Reading(partial(Ebeling, **LAW)),
    "taylor": Reading(partial(Taylor, segment=250, **LAW)),
    "long-range": Reading(partial(LongRange, rarity=4, **LAW)),
    "productivity": Reading(partial(Productivity, **LAW)),
    "passages": Reading(Passages),
    "topics": Reading(partial(Topics, n_topics=50), pieces, 5),
    "coreference": Reading(Coreference, whole, 1),
    "perplexity": Reading(Perplexity, whole, 5),
    "mauve": Reading(Mauve, pieces),
}


def novels(stretches: int) -> tuple[list[str], list[str]]:
    """Stretches of 60 novels to fit on, and of the other 40, without the first 3,000 words (titles, prefaces)."""
    texts = [d.text.split(" ") for d in read_corpus(data() / "litbank" / "novels.jsonl.gz")]
    order = np.random.default_rng(0).permutation(len(texts))
    starts = [3000 + STRETCH * k for k in range(stretches)]
    cut = [
        [" ".join(texts[i][s : s + STRETCH]).replace("\r", "") for s in starts if len(texts[i]) > s + STRETCH // 2]
        for i in order
    ]
    return [t for each in cut[:FIT] for t in each], [t for each in cut[FIT:] for t in each]


def stories(cut: bool = True) -> pd.DataFrame:
    """One row per story: model, prompt, the judge's score or NaN, and the text without the judge's words."""
    with gzip.open(data() / "long-stories" / "stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return pd.DataFrame(
        {
            "model": [s["model"] for s in found],
            "prompt": [s["prompt_title"] for s in found],
            "judge": np.array([s["judge_final"] for s in found], dtype=np.float64),
            "text": ["\n\n".join(JUDGED.split(c)[0] if cut else c for c in s["chapters"]) for s in found],
        }
    )


# 2. Statistics of each story


def scored(reading: Reading, texts: list[str], part: str) -> tuple[pd.DataFrame, str]:
    """Return every statistic of the critic, one row per text, and the name of its headline."""
    fit, held = ([u for t in side for u in reading.cut(t)] for side in novels(reading.stretches))
    critic = reading.make().fit(Corpus.from_texts(fit, name="novels"))
    print("   ", *(n.text for n in critic.notes()), flush=True)
    if row_unit(critic) == "block":
        return pd.DataFrame([_law_values(critic, read(text, part)) for text in texts]), headline_of(critic)
    units = [reading.cut(read(text, part)) for text in texts]
    owner = np.repeat(np.arange(len(texts)), [len(u) for u in units])
    corpora = [Corpus.from_texts(held, name="held"), Corpus.from_texts([u for e in units for u in e], name="stories")]
    if reading.attend:
        settled(critic, corpora)
    real, found = (critic.score(corpus) for corpus in corpora)
    return _values(critic, real, found, owner, len(texts)), headline_of(critic)


def _law_values(critic: Critic[Any], text: str) -> dict[str, float]:
    """Return the exponents of one running text, and the mean Latent NLL of its blocks."""
    scores = critic.score(Corpus.from_texts([text], name="story"))
    row = {"latent_nll": scores.latent_nll, **{law.name: float("nan") for law in critic.laws()}}
    if isinstance(scores.summary, RunningText):  # None if the text is too short
        for law in critic.laws():
            with suppress(ValueError):  # too few points for a line
                row[law.name] = law.function(scores.summary)
    return row


def _values(critic: Critic[Any], real: Scores, found: Scores, owner: np.ndarray, n: int) -> pd.DataFrame:
    """Return the statistics of the pooled rows of each text; distances are to the whole real text."""
    kept = owner[found.scored]
    mine, theirs = real.test_rows(), found.test_rows()
    columns = {}
    for statistic in all_statistics(critic, list(real.rows)):
        a: Any = mine[statistic.rows]
        b: Any = theirs[statistic.rows]
        if isinstance(a, Counted) and isinstance(b, Counted):
            a, b = (part.matrix for part in aligned([a, b]))
        total = np.asarray(a.sum(axis=0), dtype=np.float64).ravel()
        columns[statistic.name] = [
            _value(statistic, total, np.asarray(b[np.flatnonzero(kept == i)].sum(axis=0), dtype=np.float64).ravel())
            for i in range(n)
        ]
    return pd.DataFrame(columns)


def _value(statistic: Statistic, real: Floats, own: Floats) -> float:
    if not np.any(own):
        return float("nan")
    used = (real > 0) | (own > 0) if real.ndim and len(real) > 1000 else np.ones(len(real), dtype=bool)
    prepare = statistic.prepare or (lambda pooled: pooled)
    sides = [prepare(x[used][None]) for x in (real, own)]
    return float((statistic.function(*sides) if statistic.kind == "distance" else statistic.function(sides[1]))[0])


def all_scores(
    texts: list[str], names: list[str], out: Path, part: str, readings: dict[str, Reading] | None = None
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Score with each critic once; existing scores are read from ``out``."""
    readings = READINGS if readings is None else readings
    (out / part).mkdir(parents=True, exist_ok=True)
    parts, headlines = [], {}
    for name in names:
        path = out / part / f"{name}.parquet"
        if not path.exists():
            begun = time.perf_counter()
            print(name, part, flush=True)
            frame, headline = scored(readings[name], texts, part)
            frame.attrs = {"headline": headline}
            frame.to_parquet(path)
            print(f"    {time.perf_counter() - begun:.0f} s", flush=True)
        frame = pd.read_parquet(path)
        headlines[name] = f"{name}: {frame.attrs['headline']}"
        parts.append(frame.add_prefix(f"{name}: "))
    return pd.concat(parts, axis=1), headlines


# 3. Agreement with the judge


def association(judged: pd.DataFrame, name: str) -> dict[str, Any]:
    """ρ with the judge over models, and partial ρ given the yardsticks."""
    used = judged[np.isfinite(judged[name])]
    means = used.groupby("model")[list(dict.fromkeys([name, "judge", *YARDSTICKS]))].mean()
    x, y = means[name].to_numpy(), means["judge"].to_numpy()
    controls = means[[k for k in YARDSTICKS if k != name]].to_numpy()
    partial_rho = partial_spearman(x, y, controls)
    return {
        "statistic": name,
        "n": len(means),
        "stories": len(used),
        "rho": spearman(x, y),
        "over models": over_models(spearman, x, y, resamples=RESAMPLES),
        "over stories": over_stories(
            used[name].to_numpy(), used["judge"].to_numpy(), used["model"].tolist(), resamples=RESAMPLES
        ),
        "partial": partial_rho,
        "partial interval": over_models(partial_spearman, x, y, controls, resamples=RESAMPLES),
        "p": partial_p(partial_rho, len(means), controls.shape[1]),
    }


def associations(judged: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """One row per statistic, with p-values adjusted over these (Holm)."""
    table = pd.DataFrame([association(judged, name) for name in names])
    p = table["p"].to_numpy(dtype=np.float64)
    table["holm"] = np.nan
    table.loc[np.isfinite(p), "holm"] = holm(p[np.isfinite(p)])
    return table


def family(model: str) -> str:
    """Return the family of a model: models derived from one another, or from one developer."""
    known = (
        "gemma",
        "qwen",
        "qwq",
        "llama",
        "gemini",
        "claude",
        "grok",
        "deepseek",
        "glm",
        "mistral",
        "gpt",
        "optimus",
    )
    name = model.lower().replace("qwq", "qwen").replace("optimus", "gpt").replace("euryale", "llama")
    name = re.sub(r"(^|__)o[34](-|$)", "gpt", name)
    return next((k for k in known if k in name), model)


def closer(judged: pd.DataFrame, texts: list[str], names: list[str]) -> None:
    """Print partial correlations over families of models, given sentence length as well, and by prompt.

    These statistics were chosen by their p, after seeing the results.
    """
    words = [len(t[:CHARACTERS].split()) / max(1, len(SENTENCE.findall(t[:CHARACTERS]))) for t in texts]
    judged = judged.assign(words=np.array(words)[judged["story"].to_numpy()])
    prompts = sorted(judged["prompt"].unique())
    print(f"\n{judged['model'].map(family).nunique()} families of models. By prompt: {'; '.join(prompts)}\n")
    print("| statistic | ρ with words per sentence | ρ given yardsticks | over families ", end="")
    print("| given words per sentence too | by prompt |")
    print("|" + "---|" * 6)
    for name in names:
        means = judged.groupby("model")[[name, "judge", *YARDSTICKS, "words"]].mean()
        x, y, w = (means[k].to_numpy() for k in (name, "judge", "words"))
        controls = means[list(YARDSTICKS)].to_numpy()
        low, high = over_groups(partial_spearman, [family(m) for m in means.index], x, y, controls, resamples=RESAMPLES)
        more = np.column_stack([controls, w])
        a, b = over_models(partial_spearman, x, y, more, resamples=RESAMPLES)
        each = []
        for prompt in prompts:
            g = judged[(judged["prompt"] == prompt) & np.isfinite(judged[name])]
            rho = partial_spearman(g[name].to_numpy(), g["judge"].to_numpy(), g[list(YARDSTICKS)].to_numpy())
            each.append(f"{rho:+.2f}")
        print(
            f"| {name} | {spearman(x, w):.2f} | {partial_spearman(x, y, controls):.2f} | [{low:.2f}, {high:.2f}] "
            f"| {partial_spearman(x, y, more):.2f} [{a:.2f}, {b:.2f}] | {', '.join(each)} |"
        )


def show(title: str, table: pd.DataFrame) -> None:
    """Print as Markdown."""
    print(f"\n{title}\n")
    print("| statistic | models | ρ | over models | over stories | partial ρ | over models | p | p (Holm) |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in table.to_dict("records"):
        spans = ["[{:.2f}, {:.2f}]".format(*r[k]) for k in ("over models", "over stories", "partial interval")]
        print(
            f"| {r['statistic']} | {r['n']} | {r['rho']:.2f} | {spans[0]} | {spans[1]} | {r['partial']:.2f} "
            f"| {spans[2]} | {r['p']:.4f} | {r['holm']:.3f} |"
        )


# 4. Combinations


def combine(judged: pd.DataFrame, sets: dict[str, list[str]]) -> None:
    """Print how well each set of variables predicts held-out scores, and its gain over the yardsticks."""
    print("\nThe judge with itself (Spearman's ρ over models with all five prompts):")
    for label, value in reliability(judged).items():
        print(f"    {label}: {value:.3f}")
    for ranks in (False, True):
        print(f"\nRidge regression on {'ranks' if ranks else 'standardised values'}\n")
        print("| predictors | variables | held out | ρ of means | over models | within a prompt ", end="")
        print("| gain over yardsticks | over models |")
        print("|" + "---|" * 8)
        base: dict[str, Floats] = {}
        for label, names in sets.items():
            found = held_out(judged, names, ranks)
            base = base or found
            for kind, prediction in found.items():
                rho, span, within = agreement(judged, prediction)
                more, low, high = gain(judged, base[kind], prediction)
                print(
                    f"| {label} | {len(names)} | {kind} | {rho:.3f} | [{span[0]:.3f}, {span[1]:.3f}] | {within:.3f} "
                    f"| {more:+.3f} | [{low:+.3f}, {high:+.3f}] |",
                    flush=True,
                )
        print("\n| fitted on two prompts | ρ of means over the other three | smallest | largest |\n|---|---|---|---|")
        for label, names in sets.items():
            print("| {} | {:.3f} | {:.3f} | {:.3f} |".format(label, *some_prompts(judged, names, ranks)), flush=True)


def carriers(judged: pd.DataFrame, names: list[str], ranks: bool = True) -> None:
    """Print what each critic adds to the yardsticks, and what is lost without it."""
    full = [*YARDSTICKS, *names]
    bases = [held_out(judged, some, ranks, HELD[:2]) for some in (list(YARDSTICKS), full)]
    print("\n| critic | statistics | yardsticks + critic, prompts | models | all − critic, prompts | models |")
    print("|---|---|---|---|---|---|")
    for critic in dict.fromkeys(name.split(": ")[0] for name in names):
        own = [name for name in names if name.startswith(critic + ": ")]
        sides = [[*YARDSTICKS, *own], [name for name in full if name not in own]]
        cells = []
        for base, some in zip(bases, sides, strict=True):
            found = held_out(judged, some, ranks, HELD[:2])
            cells += ["{:+.3f} [{:+.3f}, {:+.3f}]".format(*gain(judged, base[k], found[k])) for k in HELD[:2]]
        print(f"| {critic} | {len(own)} | {' | '.join(cells)} |", flush=True)


def disagreements(judged: pd.DataFrame, names: list[str], count: int = 3) -> None:
    """Print the stories where a statistic's rank differs most from what the yardsticks' ranks predict."""
    ranks = judged[list(YARDSTICKS)].rank().to_numpy()
    q, _ = np.linalg.qr(np.column_stack([np.ones(len(ranks)), ranks]))
    for name in names:
        values = judged[name].fillna(judged[name].median()).rank().to_numpy()
        left = values - q @ (q.T @ values)
        order = np.argsort(left)
        print(f"\n{name}: rank above (below) what the yardsticks predict, of {len(judged)} stories")
        for i in [*order[: -count - 1 : -1], *order[:count]]:
            r = judged.iloc[i]
            print(f"    {left[i]:+7.0f}  {r[name]:9.3f}  judge {r['judge']:5.1f}  {r['model']}: {r['prompt']}")


# 5. The figure


def draw(folder: Path, table: pd.DataFrame, plain: pd.DataFrame) -> None:
    """Draw ρ and partial ρ of every critic's headline, with the yardsticks below."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    rows = pd.concat([table.sort_values("partial", key=abs), plain.sort_values("rho", key=abs)])
    place = np.arange(len(rows))
    with rc_context({"svg.hashsalt": "momus", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.6, 6.6), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        for axis, value, span, title in (
            (axes[0], "rho", "over models", "ρ with the judge"),
            (axes[1], "partial", "partial interval", "ρ given the (other) yardsticks"),
        ):
            low, high = np.array(rows[span].tolist()).T
            colours = [COLOURS["real"]] * len(table) + [COLOURS["line"]] * len(plain)
            axis.hlines(place, low, high, colors=colours)
            axis.scatter(rows[value], place, c=colours, s=18)
            axis.axvline(0, color=COLOURS["ink"], linewidth=0.8)
            axis.set(xlim=(-1, 1), title=title)
            axis.grid(axis="x", linewidth=0.3)
        axes[0].set_yticks(place, rows["statistic"])
        figure.savefig(folder / "validity-judges.svg", metadata={"Date": None})


def measured(table: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Return yardsticks and critics' statistics of the stories of ranked models, without the texts."""
    plain = pd.DataFrame([yardsticks(t) for t in table["text"]])
    joined = pd.concat([table.drop(columns="text"), plain, found], axis=1)
    joined = joined.assign(story=np.arange(len(joined)))[np.isfinite(joined["judge"])]
    return joined[joined.groupby("model")["judge"].transform("size") >= LEAST].reset_index(drop=True)


def main() -> None:
    """Score the stories and compare with the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("validity-scores"), help="folder of scores, reused if present")
    parser.add_argument("--both", action="store_true", help="also read the end of each story, and average")
    parser.add_argument("--figures", type=Path, help="folder for the figure")
    parser.add_argument("--critics", default=",".join(READINGS))
    a = parser.parse_args()
    table = stories()
    read_parts = ["start", "end"] if a.both else ["start"]
    both = [all_scores(table["text"].tolist(), a.critics.split(","), a.out, part) for part in read_parts]
    found, headlines = pd.concat([f for f, _ in both]).groupby(level=0).mean(), both[0][1]
    judged = measured(table, found)
    print(f"{judged['model'].nunique()} models with at least {LEAST} judged stories, {len(judged)} stories")
    names, heads = list(found.columns), list(headlines.values())
    yard = associations(judged, list(YARDSTICKS))
    head = associations(judged, heads)
    show("Yardsticks, with the judge's words left in", associations(measured(stories(False), found), list(YARDSTICKS)))
    show("Yardsticks (partial: given the four others)", yard)
    show("Critics by their headline (partial: given all five yardsticks)", head)
    every = associations(judged, names).sort_values("p")
    show(f"All {len(names)} statistics", every)
    closer(judged, table["text"].tolist(), every["statistic"].tolist()[:5])
    sets = {
        "yardsticks": list(YARDSTICKS),
        "critics' headlines": heads,
        "critics, all statistics": names,
        "yardsticks and headlines": [*YARDSTICKS, *heads],
        "yardsticks and all statistics": [*YARDSTICKS, *names],
    }
    combine(judged, sets)
    carriers(judged, names)
    disagreements(judged, every["statistic"].tolist()[:5])
    if a.figures:
        draw(a.figures, head, yard)


if __name__ == "__main__":
    main()
