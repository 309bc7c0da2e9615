"""How often `momus review` calls a human document odd, and how often one of a model or with a planted fault.

Registers of ``rewrites`` and ``registers`` (``MOMUS_DATA``): a body of human documents, 120 or 200, and others. By
register, at a level of .05:

* human: share of other human documents that are odd, by quarter of length too, and that have a remark on a fault;
* excerpts: of other human documents, stretches of another length;
* alone: share of the documents of models that are odd, by the body alone;
* unseen model: with ``--models`` text of the other models of the register, 60 each, in turn;
* baseline: the same by a regression on words of the same texts, whose out-of-fold scores calibrate;
* unseen register: with ``--models`` and ``--people`` of all other registers, without the model (all models in turn);
* divisions: human documents that no critic was fitted on are divided again and again into held-out and other ones, and
  the others of usual length are judged: the share that is odd, and its deviation between divisions;
* faults: of planted ones (a sentence four times more, two sentences shuffled by words, the end cut off in a sentence,
  a control token, a sentence in German), share of documents that are odd, and that are odd or have a remark.

What critics say of documents is kept in a folder, and so is each register, so that a run that was stopped resumes.

    nice python benchmarks/validity/review.py --keep FOLDER [--registers arxiv,xsum] [--out review.md]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from operator import methodcaller
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from momus.critic import Critic
from momus.review import Body, fit_body, review
from momus.review.contrast import Measured, bag_of
from momus.review.spans import stretch, word_counts
from momus.text.corpus import Corpus

LEVEL, BODY, TESTED, OF_MODEL, PLANTED = 0.05, 200, 200, 60, 60
DIVISIONS, DIVISIONS_OF_MODELS = 100, 8
"""Divisions of human documents; each takes regressions of its own beside models of the same register."""
EXCERPTS = (50, 80, 150)
SIDES = ("", ", human", ", quarters")
WAYS = ("words only", "unseen model", "unseen register")
QUARTERED = ("unseen model, quarters", "unseen register, quarters")
BEGIN = "## What the benchmark prints"
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
    row["excerpts"] = excerpts(texts, body)
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
    return row | {
        "faults": {name: share([planted(t) for t in texts[:PLANTED]], body) for name, planted in faults.items()}
    }


def excerpts(texts: Sequence[str], body: Body) -> dict[int, tuple[int, int, int]]:
    """`share` of stretches of texts, by their number of words."""
    return {n: share([stretch(t, n) for t in texts if len(t.split()) > 1.2 * n], body) for n in EXCERPTS}


def quarters(words: Any, odd: Any) -> list[tuple[int, int]]:
    """How many documents are odd in each quarter of length, and how many there are."""
    quarter = np.searchsorted(np.quantile(words, [0.25, 0.5, 0.75]), words, side="right")
    return [(int(odd[quarter == q].sum()), int((quarter == q).sum())) for q in range(4)]


class Kept:
    """What the critics of one body say of documents, in a file; words are counted anew."""

    def __init__(self, folder: Path, register: str, body: Body) -> None:
        # critics that give the held-out documents other values are others
        state = blake2b(body.values.tobytes(), digest_size=8).hexdigest()
        self.path = folder / f"{register}-{state}.npz"
        self.rows: dict[int, int] = {}
        self.names, self.table = [], np.zeros((0, 0))
        if self.path.is_file():
            with np.load(self.path) as file:
                self.names, self.table = file["names"].tolist(), file["table"]
                self.rows = {hash: i for i, hash in enumerate(file["hashes"].tolist())}

    def save(self) -> None:
        """Write what was measured."""
        np.savez_compressed(self.path, names=self.names, table=self.table, hashes=np.array([*self.rows], np.uint64))

    def of(self, critics: Sequence[Critic[Any]], corpus: Corpus) -> Measured:
        """`Measured.of`, of which only new documents are scored."""
        hashes = corpus.hashes.tolist()
        new = {hash: i for i, hash in enumerate(hashes) if hash not in self.rows}
        if new:
            measured = MEASURE(critics, corpus.take(np.array([*new.values()])))
            self.names = self.names or sorted(measured.statistics)
            self.rows |= {hash: len(self.table) + i for i, hash in enumerate(new)}
            more = measured.features(self.names)
            self.table = np.vstack([self.table.reshape(-1, more.shape[1]), more])
        rows, count = self.table[[self.rows[hash] for hash in hashes]], len(critics)
        return Measured(rows[:, :count], dict(zip(self.names, rows[:, count:].T, strict=True)), bag_of(corpus))


MEASURE = Measured.of


def divisions(body: Body, human: Corpus, learn: Callable[[Body], Body] | None, count: int) -> tuple[float, float]:
    """Mean share of odd human documents, and its deviation, over divisions of those that no critic was fitted on.

    ``human`` holds the held-out ones and others. What tells text of models is learned again by ``learn``, if given.
    """
    values, odds = body.measure(human)
    words = word_counts([document.text for document in human])
    shares = []
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(len(human))
        held, others = order[: len(body.held)], order[len(body.held) :][:TESTED]
        part = replace(body, held=human.take(held), values=values[held], odds=odds[held])
        if learn is not None:
            part = learn(part)
        low, high = part.lengths
        others = others[(words[others] >= low) & (words[others] <= high)]
        new = part.contrast.odds(Measured.of(part.critics, human.take(others))) if learn else odds[others]
        shares.append(float((part.whole.judge(values[others], new, words[others]).p <= LEVEL).mean()))
    return float(np.mean(shares)), float(np.std(shares, ddof=1))


def measured(register: str, all_texts: Texts, keep: Path) -> dict[str, Any]:
    """All figures of one register."""
    of_body, others, seen, new = sides(all_texts[register])
    human, texts = corpus(of_body, register), [text for _, text in others]
    began = time.process_time()
    body = fit_body(human)
    row: dict[str, Any] = {"register": register, "body": len(of_body), "critics": len(body.critics)}
    row["fit_s"] = round(time.process_time() - began, 1)
    kept = Kept(keep, register, body)
    with patch.object(Measured, "of", kept.of):
        row |= alone(texts, new, body) | beside(register, all_texts, body, kept)
    row |= {"words only": {}, "words only, human": {}}
    for left_out, documents in new.items():
        of_models = [text for m, ds in seen.items() if m != left_out for _, text in ds]
        flags = baseline([t for _, t in of_body], of_models, [*texts[:80], *(text for _, text in documents)])
        row["words only"][left_out] = (int(flags[80:].sum()), len(documents))
        row["words only, human"][left_out] = (int(flags[:80].sum()), len(texts[:80]))
    return row


def beside(register: str, all_texts: Texts, body: Body, kept: Kept) -> dict[str, Any]:
    """Figures of a register beside text of models."""
    of_body, others, seen, new = sides(all_texts[register])
    human, texts = corpus(of_body, register), [text for _, text in others]
    elsewhere = {r: sides(t) for r, t in all_texts.items() if r != register}
    people = corpus([d for of_people, *_ in elsewhere.values() for d in of_people], "people")
    held, rest = set(body.held.hashes.tolist()), corpus(all_texts[register]["human"], register)
    fitted = np.isin(rest.hashes, human.hashes) & ~np.isin(rest.hashes, list(held))
    rest = rest.take(np.flatnonzero(~fitted))
    row: dict[str, Any] = {f"unseen {what}{side}": {} for what in ("model", "register") for side in SIDES}
    for left_out, documents in new.items():
        own = corpus([d for m, ds in seen.items() if m != left_out for d in ds], "models")
        kinds = [d for _, _, of, _ in elsewhere.values() for m, ds in of.items() if m != left_out for d in ds]
        bodies = {"unseen model": body.beside(own, human)}
        bodies["unseen register"] = body.beside(corpus(kinds, "models"), people)
        kept.save()
        for name, fitted_body in bodies.items():
            judged = review(Corpus.from_texts(texts, name="human"), fitted_body, LEVEL).documents
            words, odd = (np.array([of(d) for d in judged]) for of in (lambda d: d.words, lambda d: d.odd(LEVEL)))
            row[name][left_out] = share([text for _, text in documents], fitted_body)
            row[f"{name}, human"][left_out] = (int(odd.sum()), len(odd))
            row[f"{name}, quarters"][left_out] = quarters(words, odd)
        if left_out == min(new):
            learn = methodcaller("beside", own, human)
            for name, again, count in zip(bodies, (learn, None), (DIVISIONS_OF_MODELS, DIVISIONS), strict=True):
                row[f"{name}, divisions"] = divisions(bodies[name], rest, again, count)
                row[f"{name}, excerpts"] = excerpts(texts, bodies[name])
        kept.save()
    return row


def pooled(counts: Sequence[Sequence[int]]) -> str:
    """A share of documents over several texts."""
    odd, judged = np.sum([list(count[:2]) for count in counts], axis=0)
    return f"{odd / max(judged, 1):.3f}"


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Lines of the tables."""
    models = "| register | body | alone | words only | unseen model | unseen register |"
    lines = [models, "|---|---:|---:|---:|---:|---:|"]
    every = {"register": "all", "body": ""}
    for key in ("alone", *(f"{name}{side}" for name in WAYS for side in ("", ", human")), *QUARTERED):
        every[key] = {(row["register"], m): count for row in rows for m, count in row[key].items()}
    every |= {name: np.sum([row[name] for row in rows], axis=0) for name in ("human", "quarters")}
    every |= {"remarks": sum(row["remarks"] for row in rows)}
    for key in ("excerpts", *(f"{name}, excerpts" for name in WAYS[1:])):
        every[key] = {n: np.sum([row[key][n] for row in rows], axis=0) for n in map(str, EXCERPTS)}
    for row in (*rows, every):
        cells = [pooled([*row["alone"].values()])]
        cells += [f"{pooled([*row[w].values()])} ({pooled([*row[f'{w}, human'].values()])})" for w in WAYS]
        lines.append(f"| {row['register']} | {row['body']} | {' | '.join(cells)} |")
    lines += ["", "| human documents of | alone | by quarter of length | excerpts of 50, 80, 150 words | a remark |"]
    lines += ["|---|---:|---|---|---:|"]
    for row in (*rows, every):
        parts = [" ".join(pooled([count]) for count in of) for of in (row["quarters"], row["excerpts"].values())]
        remarks = pooled([(row["remarks"], row["human"][1])])
        lines.append(f"| {row['register']} | {pooled([row['human']])} | {parts[0]} | {parts[1]} | {remarks} |")
    lines += ["", f"| human documents beside | {' | '.join(WAYS[1:])} |", "|---|---|---|"]
    by_length = [" ".join(pooled([of[q] for of in every[name].values()]) for q in range(4)) for name in QUARTERED]
    lines += [f"| by quarter of length | {' | '.join(by_length)} |"]
    cut = [" ".join(pooled([count]) for count in every[f"{name}, excerpts"].values()) for name in WAYS[1:]]
    lines += [f"| excerpts of 50, 80, 150 words | {' | '.join(cut)} |"]
    for row in rows:
        cells = [f"{row[f'{w}, divisions'][0]:.3f} ± {row[f'{w}, divisions'][1]:.3f}" for w in WAYS[1:]]
        lines.append(f"| {row['register']}, divisions | {' | '.join(cells)} |")
    means = [np.mean([row[f"{w}, divisions"][0] for row in rows]) for w in WAYS[1:]]
    lines += [f"| mean of divisions | {' | '.join(f'{mean:.3f}' for mean in means)} |", ""]
    lines += ["| planted | odd | odd or remarked on |", "|---|---:|---:|"]
    for name in rows[0]["faults"]:
        odd, judged, marked = np.sum([row["faults"][name] for row in rows], axis=0)
        lines.append(f"| {name} | {odd / judged:.3f} | {marked / PLANTED / len(rows):.3f} |")
    return [*lines, "", f"Documents a second: {' '.join(str(row['per_s']) for row in rows)}; others ran beside."]


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--registers")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/review.md"))
    options = parser.parse_args()
    texts = documents()
    options.keep.mkdir(parents=True, exist_ok=True)
    rows = []
    for register in options.registers.split(",") if options.registers else texts:
        kept = options.keep / f"{register}.json"
        if not kept.is_file():
            kept.write_text(json.dumps(measured(register, texts, options.keep)), encoding="utf-8")
        rows.append(json.loads(kept.read_text(encoding="utf-8")))
        print(register, flush=True)
        begun = options.out.read_text(encoding="utf-8").split(BEGIN)[0].rstrip() if options.out.is_file() else ""
        options.out.write_text("\n".join([begun, "", BEGIN, "", *table(rows), ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
