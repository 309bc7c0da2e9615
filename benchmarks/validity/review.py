"""How often `momus review` calls a human document odd, and how often one of a model or with a planted fault.

Registers of ``rewrites`` and ``registers`` (``MOMUS_DATA``): a body of human documents, 120 or 200, and others. By
register, at a level of .05:

* human: share of other human documents that are odd, by quarter of length too, and that have a remark on a fault;
* excerpts: of other human documents, stretches of another length;
* alone: share of the documents of models that are odd, by the body alone;
* unseen model: with ``--models`` text of the other models of the register, 60 each, in turn;
* baseline: the same by a regression on words of the same texts, whose out-of-fold scores calibrate;
* unseen register: with ``--models`` and ``--people`` of all other registers, without the model (all models in turn);
* faults: of planted ones (a sentence four times more, two sentences shuffled by words, the end cut off in a sentence,
  a control token, a sentence in German), share of documents that are odd, and that are odd or have a remark.

    nice python benchmarks/validity/review.py [--registers arxiv,xsum] [--beside] [--out review.jsonl]

``--beside`` leaves out what needs no text of models, and the regression on words.
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


Texts = dict[str, dict[str, list[tuple[str, str]]]]
"""Prompt and text of documents, by register and writer."""
GERMAN = " Das haben wir gestern noch einmal ausführlich besprochen, und niemand war damit besonders zufrieden."


def documents() -> Texts:
    """Documents by register and writer, in a random order."""
    root = Path(os.environ.get("MOMUS_DATA", "../shared/data"))
    texts: Texts = {}
    files = [(root / "rewrites/rewrites.jsonl.gz", ""), *((root / f"registers/{n}.jsonl.gz", n) for n in LARGE)]
    rng = np.random.default_rng(0)
    for path, register in files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = list(map(json.loads, lines))
        for i in rng.permutation(len(rows)).tolist():
            row = rows[i]
            document = (row.get("prompt_id") or row["id"], row["text"])
            texts.setdefault(register or row["register"], {}).setdefault(row["writer"], []).append(document)
    return texts


def corpus(documents: Sequence[tuple[str, str]], name: str) -> Corpus:
    """A corpus of documents with prompts."""
    return Corpus.from_texts([text for _, text in documents], prompts=[prompt for prompt, _ in documents], name=name)


def sides(texts: dict[str, list[tuple[str, str]]]) -> tuple[list[Any], list[Any], dict[str, Any], dict[str, Any]]:
    """Body, other human documents, and of each model those beside the body and others, which share no prompt."""
    human = texts["human"]
    size = min(BODY, len(human) * 3 // 5)
    prompts = {prompt for prompt, _ in human[:size]}
    paired = any(prompt in prompts for name in texts for prompt, _ in texts[name] if name != "human")
    seen, new = {}, {}
    for name in texts:
        if name != "human":
            rest = texts[name]
            seen[name] = [d for d in rest if d[0] in prompts or not paired][:OF_MODEL]
            new[name] = [d for d in rest if d not in seen[name] and d[0] not in prompts][:OF_MODEL]
    return human[:size], human[size : size + TESTED], seen, new


def baseline(human: Sequence[str], seen: Sequence[str], new: Sequence[str]) -> Any:
    """Which new texts a regression on words calls odd, calibrated by its out-of-fold scores of human texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=10, class_weight="balanced"))
    texts, of_model = [*human, *seen], np.repeat([0, 1], [len(human), len(seen)])
    honest = cross_val_predict(model, texts, of_model, cv=5, method="decision_function")[: len(human)]
    scores = model.fit(texts, of_model).decision_function(new)
    return (1 + (honest[None] >= scores[:, None]).sum(axis=1)) / (len(human) + 1) <= LEVEL


def share(texts: Sequence[str], body: Body) -> tuple[int, int, int]:
    """How many texts are odd, how many were judged, and how many are odd or have a remark."""
    judged = review(Corpus.from_texts(texts, name="new"), body, LEVEL)
    return len(judged.odd), sum(document.p is not None for document in judged.documents), len(judged.marked)


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


def alone(texts: Sequence[str], new: dict[str, Any], body: Body) -> dict[str, Any]:
    """Figures of a register without text of models."""
    rng = np.random.default_rng(0)
    began = time.process_time()
    judged = review(Corpus.from_texts(texts, name="new"), body, LEVEL)
    seconds = time.process_time() - began
    row: dict[str, Any] = {"per_s": round(len(texts) / seconds, 1)}
    words = np.array([document.words for document in judged.documents])
    odd = np.array([document.odd(LEVEL) for document in judged.documents])
    row["human"], row["quarters"] = (int(odd.sum()), len(odd)), quarters(words, odd)
    row["remarks"] = sum(bool(document.remarks) for document in judged.documents)
    row["excerpts"] = {n: share([stretch(t, n) for t in texts if len(t.split()) > 1.2 * n], body) for n in EXCERPTS}
    row["alone"] = {m: share([text for _, text in documents], body) for m, documents in new.items()}
    faults: dict[str, Callable[[str], str]] = {
        "loop": lambda t: looped(t, rng),
        "salad": lambda t: salad(t, rng),
        "broken off": lambda t: t[
            : t.rfind(" ", 0, t.rstrip(".").rfind(".") + (len(t) - t.rstrip(".").rfind(".")) // 2)
        ],
        "control token": lambda t: t + "<|im_end|>",
        "German": lambda t: t + GERMAN,
    }
    return row | {"faults": {name: share([planted(t) for t in texts[:60]], body) for name, planted in faults.items()}}


def quarters(words: Any, odd: Any) -> list[tuple[int, int]]:
    """How many documents are odd in each quarter of length, and how many there are."""
    quarter = np.searchsorted(np.quantile(words, [0.25, 0.5, 0.75]), words, side="right")
    return [(int(odd[quarter == q].sum()), int((quarter == q).sum())) for q in range(4)]


def measured(register: str, all_texts: Texts, beside_only: bool) -> dict[str, Any]:
    """All figures of one register."""
    of_body, others, seen, new = sides(all_texts[register])
    human = corpus(of_body, register)
    began = time.process_time()
    body = fit_body(human)
    row: dict[str, Any] = {"register": register, "body": len(of_body), "critics": len(body.critics)}
    row["fit_s"] = round(time.process_time() - began, 1)
    texts = [text for _, text in others]
    if not beside_only:
        row |= alone(texts, new, body) | {"words only": {}, "words only, human": {}}
    elsewhere = {r: sides(t) for r, t in all_texts.items() if r != register}
    people = corpus([d for human, *_ in elsewhere.values() for d in human], "people")
    row |= {f"unseen {what}{side}": {} for what in ("model", "register") for side in ("", ", human", ", quarters")}
    for left_out, documents in new.items():
        new_texts = [text for _, text in documents]
        beside = corpus([d for m, ds in seen.items() if m != left_out for d in ds], "models")
        kinds = [d for _, _, of, _ in elsewhere.values() for m, ds in of.items() if m != left_out for d in ds]
        bodies = {"unseen model": body.beside(beside, human)}
        bodies["unseen register"] = body.beside(corpus(kinds, "models"), people)
        for name, fitted_body in bodies.items():
            judged = review(Corpus.from_texts(texts, name="human"), fitted_body, LEVEL).documents
            words, odd = (np.array([of(d) for d in judged]) for of in (lambda d: d.words, lambda d: d.odd(LEVEL)))
            row[name][left_out] = share(new_texts, fitted_body)
            row[f"{name}, human"][left_out] = (int(odd.sum()), len(odd))
            row[f"{name}, quarters"][left_out] = quarters(words, odd)
        if not beside_only:
            flags = baseline([t for _, t in of_body], [d.text for d in beside], [*texts[:80], *new_texts])
            row["words only"][left_out] = (int(flags[80:].sum()), len(new_texts))
            row["words only, human"][left_out] = (int(flags[:80].sum()), 80)
    return row


def main() -> None:
    """Measure, and write one line per register."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--registers")
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("review.jsonl"))
    options = parser.parse_args()
    texts = documents()
    for register in options.registers.split(",") if options.registers else texts:
        row = measured(register, texts, options.beside)
        print(json.dumps(row), flush=True)
        with options.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
