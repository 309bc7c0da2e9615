"""Topic co-occurrence in the texts of `titles.py` (Deng et al. 2022, table 7): fine-tuned and mismatched models.

One correlated topic model is fitted on the docstrings that the models learned from. Texts that ship with Momus stand
for mismatched models: SmolLM2 with examples in its prompt instead of fine-tuning, and what it writes after the opening
of a novel. They are cut to the median number of words of the real docstrings.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from titles_texts import read_records

import momus
from momus.demo import demo_path
from momus.verdicts.judge import judge
from momus_critics.topics import Topics

TOPICS = 10
MISMATCHED = {
    "generated-ancestral": "examples in the prompt, no fine-tuning",
    "generated-prose-ancestral": "stories of the same model",
    "prose": "novels by people",
}


@dataclass(frozen=True)
class Row:
    """A text under the topic model: differences from real docstrings in Latent NLL and in distance, with p-values."""

    text: str
    n: int
    unscored: dict[str, int]
    latent_nll: float
    nll_difference: tuple[float, float, float]
    distance: float
    distance_difference: tuple[float, float, float]
    p: float


def running(records: Sequence[dict[str, Any]], name: str, most: int | None = None) -> momus.Corpus:
    """Records as running text, cut after ``most`` words; titles are left out."""
    texts = ["\n\n".join(r["sections"]) if "sections" in r else r["text"] for r in records]
    if most is not None:
        texts = [" ".join(t.split()[:most]) for t in texts]
    return momus.Corpus.from_texts(texts, ids=[f"{name}-{i}" for i in range(len(texts))], name=name)


def measure(folder: Path, names: Sequence[str]) -> list[Row]:
    """Fit on the docstrings of ``folder``, and compare each text with its real ones."""
    import gzip
    from statistics import median

    def kept(name: str) -> list[dict[str, Any]]:
        return read_records(folder / f"{name}.jsonl")

    critic = Topics(n_topics=TOPICS).fit(running(kept("fit"), "fit"))
    print(*(n.text for n in critic.notes()))
    real = running(kept("real"), "real docstrings")
    words = int(median(len(d.text.split()) for d in real))
    texts = [running(kept(name), name) for name in names]
    for name in MISMATCHED:
        with gzip.open(demo_path(f"{name}.jsonl.gz"), "rt", encoding="utf-8") as lines:
            texts.append(running([json.loads(x) for x in lines][:200], name, words))
    reference = critic.score(real)
    rows = []
    for text in texts:
        scores = critic.score(text)
        found = {
            v.statistic: v
            for v in judge(critic, reference, scores, paired=False, permutations=4999, resamples=999, seed=0)
        }
        nll, distance = found["latent_nll"], found["distance"]
        rows.append(
            Row(
                text.name,
                scores.n_scored,
                scores.unscored,
                nll.generated_value,
                (nll.difference, nll.low, nll.high),
                distance.generated_value,
                (distance.difference, distance.low, distance.high),
                distance.p,
            )
        )
        print(rows[-1], flush=True)
    first = found["latent_nll"].real_value, found["distance"].real_value
    return [
        Row("real docstrings", reference.n_scored, reference.unscored, first[0], (0, 0, 0), first[1], (0, 0, 0), 1.0),
        *rows,
    ]


def figure(folder: Path, name: str, path: Path) -> None:
    """The covariance view of the paper's figures 5, 7 and 8: topics that go together in each text."""
    from momus.report.figures.svg import draw, standalone

    fit, real, text = (running(read_records(folder / f"{n}.jsonl"), n) for n in ("fit", "real", name))
    found = momus.compare(
        real,
        {name: text},
        fit=fit,
        critics=["topics"],
        config={"topics": {"n_topics": TOPICS}},
        permutations=99,
        resamples=99,
    )  # fmt: skip
    ((_, evidence),) = found.results[0].evidence
    for side in ("real", "generated"):
        (chosen,) = [e for e in evidence if e.name == f"topic-correlations-{side}"]
        drawn = path.with_stem(f"{path.stem}-{side}")
        drawn.write_text(standalone(draw(chosen)), encoding="utf-8")
        print(f"{chosen.title}: {drawn}")


def table(rows: Sequence[dict[str, Any]], labels: dict[str, str]) -> str:
    """Latent NLL and distance of each text, and their differences from real docstrings."""
    lines = [
        "| text | n | Latent NLL | − real | distance | − real | p |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        name = {**labels, **MISMATCHED}.get(row["text"], row["text"])
        differences = (
            ["", ""]
            if row["p"] == 1.0 and not row["nll_difference"][0]
            else [
                f"{d:+.2f} [{low:.2f}, {high:.2f}]"
                for d, low, high in (row["nll_difference"], row["distance_difference"])
            ]
        )
        p = f"{row['p']:.4f}" if differences[0] else ""
        lines.append(
            f"| {name} | {row['n']} | {row['latent_nll']:.2f} | {differences[0]} | {row['distance']:.2f} | "
            f"{differences[1]} | {p} |"
        )
    return "\n".join(lines)


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows as they are written."""
    return [asdict(r) for r in rows]
