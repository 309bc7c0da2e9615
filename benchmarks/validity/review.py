"""How often `momus review` calls a human document odd, and how often one of a model or with a planted fault.

Registers of ``rewrites`` and ``registers`` (``MOMUS_DATA``): a body of human documents, 120 or 200, and others. By
register, at a level of .05:

* human: share of other human documents that are odd, by quarter of length too;
* excerpts: of other human documents, stretches of another length;
* alone: share of the documents of models that are odd, by the body alone;
* unseen model: with ``--models`` text of the other models of the register; mean over models;
* loop, salad, foreign: a sentence four times more, two sentences shuffled by words, two of another register.

    nice python benchmarks/validity/review.py [--registers arxiv,xsum] [--out benchmarks/results/review.jsonl]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from momus.review import Body, fit_body, review
from momus.review.spans import stretch
from momus.text.corpus import Corpus

LEVEL, BODY, TESTED, OF_MODEL = 0.05, 200, 200, 60
EXCERPTS = (50, 80, 150)
LARGE = ("arxiv", "xsum", "writing_prompt", "yelp_review")


def documents() -> dict[str, dict[str, list[str]]]:
    """Texts by register and writer."""
    root = Path(os.environ.get("MOMUS_DATA", "../shared/data"))
    texts: dict[str, dict[str, list[str]]] = {}
    files = [(root / "rewrites/rewrites.jsonl.gz", ""), *((root / f"registers/{n}.jsonl.gz", n) for n in LARGE)]
    for path, register in files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                texts.setdefault(register or row["register"], {}).setdefault(row["writer"], []).append(row["text"])
    return texts


def share(texts: Sequence[str], body: Body) -> tuple[int, int]:
    """How many texts are odd, and how many were judged."""
    judged = review(Corpus.from_texts(texts, name="new"), body, LEVEL)
    return len(judged.odd), sum(document.p is not None for document in judged.documents)


def looped(text: str, rng: np.random.Generator) -> str:
    """One sentence four times more."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    i = int(rng.integers(len(sentences)))
    return " ".join([*sentences[: i + 1], *[sentences[i]] * 4, *sentences[i + 1 :]])


def salad(text: str, rng: np.random.Generator) -> str:
    """Two sentences whose words are shuffled."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    for i in rng.choice(len(sentences), min(2, len(sentences)), replace=False):
        words = sentences[i].split()
        sentences[i] = " ".join(rng.permutation(words).tolist())
    return " ".join(sentences)


def measured(register: str, texts: dict[str, dict[str, list[str]]]) -> dict[str, Any]:
    """All figures of one register."""
    rng = np.random.default_rng(0)
    human = list(texts[register]["human"])
    rng.shuffle(human)
    size = min(BODY, len(human) * 3 // 5)
    body_texts, others = human[:size], human[size : size + TESTED]
    began = time.process_time()
    body = fit_body(Corpus.from_texts(body_texts, name=register))
    fitted = time.process_time() - began
    began = time.process_time()
    judged = review(Corpus.from_texts(others, name="new"), body, LEVEL).documents
    seconds = time.process_time() - began
    words = np.array([document.words for document in judged])
    odd = np.array([document.odd(LEVEL) for document in judged])
    quarter = np.searchsorted(np.quantile(words, [0.25, 0.5, 0.75]), words, side="right")
    row: dict[str, Any] = {"register": register, "body": size, "critics": len(body.critics)}
    row |= {"fit_s": round(fitted, 1), "per_s": round(len(others) / seconds, 1)}
    row["human"] = (int(odd.sum()), len(odd))
    row["quarters"] = [(int(odd[quarter == q].sum()), int((quarter == q).sum())) for q in range(4)]
    longer = [t for t in others if len(t.split()) > 1.5 * EXCERPTS[0]]
    row["excerpts"] = {n: share([stretch(t, n) for t in longer if len(t.split()) > 1.2 * n], body) for n in EXCERPTS}
    models = {m: t[:OF_MODEL] for m, t in texts[register].items() if m != "human"}
    row["alone"] = {m: share(t, body) for m, t in models.items()}
    faults: dict[str, Callable[[str], str]] = {
        "loop": lambda t: looped(t, rng),
        "salad": lambda t: salad(t, rng),
    }
    for name, planted in faults.items():
        row[name] = share([planted(t) for t in others[:80]], body)
    row["unseen model"], row["human beside"] = {}, (0, 0)
    for left_out in models:
        seen = [t for m in models if m != left_out for t in texts[register][m][OF_MODEL : OF_MODEL + 60]]
        beside = fit_body(Corpus.from_texts(body_texts, name=register), Corpus.from_texts(seen, name="models"))
        row["unseen model"][left_out] = share(models[left_out], beside)
        a, b = share(others, beside)
        row["human beside"] = (row["human beside"][0] + a, row["human beside"][1] + b)
    return row


def main() -> None:
    """Measure, and write one line per register."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--registers")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/review.jsonl"))
    options = parser.parse_args()
    texts = documents()
    for register in options.registers.split(",") if options.registers else texts:
        row = measured(register, texts)
        print(json.dumps(row), flush=True)
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
