"""The studies of ``null_and_power.py``: which critics are calibrated on which texts."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from momus import Corpus, read_corpus
from momus.text.tokens import get_tokenizer
from momus_preparing.treebank import write_treebank

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduce"))
from arpa import KneserNey

SPLITS = 1000
SIZES = ((50, 50), (50, 200), (200, 200), (200, 1000), (1000, 1000))


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


@dataclass(frozen=True)
class Texts:
    """Texts to fit critics on, texts to split, and a donor corpus for defects that need one."""

    fit: Corpus
    real: Corpus
    donor: Corpus | None = None


def chapters(text: str, words: int = 1000) -> list[str]:
    """Cut at paragraph breaks into pieces of at least ``words`` words; a shorter remainder is dropped."""
    found, current, count = [], [], 0
    for paragraph in text.replace("\r", "").split("\n\n"):
        current.append(paragraph)
        count += len(paragraph.split())
        if count >= words:
            found.append("\n\n".join(current))
            current, count = [], 0
    return found


def novels(words: int = 1000, fit: int = 2000) -> Texts:
    """Chapters of novels: ``fit`` of them to fit on, 2,400 (or all that remain) to split."""
    found = [(d.id, c) for d in read_corpus(data() / "litbank" / "novels.jsonl.gz") for c in chapters(d.text, words)]
    order = np.random.default_rng(0).permutation(len(found))
    parts = order[:fit], order[fit : fit + 2400]
    made = [Corpus.from_texts([found[i][1] for i in p], ids=[f"{found[i][0]} {i}" for i in p]) for p in parts]
    return Texts(made[0], made[1])


def answers(count: int = 4, words: int = 200) -> Texts:
    """Answers to prompts: ``count`` pieces of about 200 words of a novel, drawn from ten in a row.

    They share persons and subject, as answers do. 600 prompts to fit on, 2,400 (or all that remain) to split.
    """
    rng = np.random.default_rng(0)
    prompts = []
    for novel in read_corpus(data() / "litbank" / "novels.jsonl.gz"):
        pieces = chapters(novel.text, words)
        prompts += [
            [pieces[start + i] for i in sorted(rng.choice(10, count, replace=False).tolist())]
            for start in range(0, len(pieces) - 9, 10)
        ]
    order = rng.permutation(len(prompts))
    made = []
    for name, part in (("fit", order[:600]), ("real", order[600:3000])):
        texts = [(f"{i} {k}", f"p{i}", t) for i in part.tolist() for k, t in enumerate(prompts[i])]
        ids, keys, found = zip(*texts, strict=True)
        made.append(Corpus.from_texts(found, ids=ids, prompts=keys, name=name))
    return Texts(made[0], made[1])


def paragraphs() -> Texts:
    """Paragraphs of 60 to 120 words of novels: 4,000 to fit on, 2,400 to split."""
    novels = read_corpus(data() / "litbank" / "novels.jsonl.gz")
    cut = [(d.id, " ".join(p.split())) for d in novels for p in d.text.replace("\r", "").split("\n\n")]
    found = [(name, p) for name, p in cut if 60 <= len(p.split()) <= 120]
    order = np.random.default_rng(0).permutation(len(found))
    parts = order[:4000], order[4000:6400]
    made = [Corpus.from_texts([found[i][1] for i in p], ids=[f"{found[i][0]} {i}" for i in p]) for p in parts]
    return Texts(made[0], made[1])


def proposals() -> Texts:
    """Ethereum proposals: 300 to fit on, the rest to split."""
    corpora = [read_corpus(data() / "sectioned" / f"{name}.jsonl.gz") for name in ("eips", "ercs")]
    documents = [d for c in corpora for d in c]
    order = np.random.default_rng(0).permutation(len(documents))
    made = [
        Corpus.from_documents([replace(documents[i], id=f"{i} {documents[i].id}") for i in p], name)
        for p, name in ((order[:300], "fit"), (order[300:], "real"))
    ]
    return Texts(made[0], made[1])


def manuals() -> Texts:
    """Paragraphs of 30 words or more, each in one of three languages; the donor has each in another language."""
    languages = ("de", "fr", "es")
    with gzip.open(data() / "code-mixing" / "manpages-aligned_de_fr_es.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [r for r in rows if all(len(r[k].split()) >= 30 for k in languages)]
    rng = np.random.default_rng(0)
    rows = [rows[i] for i in rng.permutation(len(rows))]
    cut = len(rows) // 3
    texts = [r[languages[i % 3]] for i, r in enumerate(rows)]
    other = [r[languages[(i + 1) % 3]] for i, r in enumerate(rows)]
    ids = [f"p{i}" for i in range(len(rows))]
    fit = Corpus.from_texts([r[k] for r in rows[:cut] for k in languages], name="fit")
    real = Corpus.from_texts(texts[cut:], ids=ids[cut:], name="real")
    return Texts(fit, real, Corpus.from_texts(other[cut:], ids=ids[cut:], name="donor"))


def treebank(texts: Texts, folder: Path) -> dict[str, Any]:
    """Parse the fitting text into dependency trees: the grammar's treebank."""
    path = folder / "paragraphs.mrg"
    if not path.exists():
        half = path.with_suffix(".part")
        write_treebank([d.text for d in texts.fit], half)
        half.replace(path)
    return {"treebank": str(path)}


def two_models(texts: Texts, folder: Path) -> dict[str, Any]:
    """Fit a trigram model (the language) and a bigram model (a weaker model of it) on the fitting text."""
    table, found = texts.fit.tokens(get_tokenizer("whitespace")), {}
    for name, order in (("language", 3), ("model", 2)):
        path = folder / f"{name}.arpa"
        KneserNey(order=order).fit(table.ids, table.offsets, table.vocabulary).write_arpa(path)
        found[f"{name}_scorer"] = {"scorer": "kenlm", "path": str(path)}
    return found


@dataclass(frozen=True)
class Study:
    """A text, its critics with their parameters, and limits on sizes, documents and splits."""

    name: str
    texts: Callable[[], Texts]
    critics: tuple[str, ...]
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    splits: int = SPLITS
    large_splits: int = SPLITS
    """Null splits of sizes with 1,000 documents on a side."""
    sizes: tuple[tuple[int, int], ...] = SIZES
    largest: int = 2000
    wide: int = 199
    """Relabellings of slow tests."""
    replacement: bool = False
    """Whether to draw with replacement for sizes that need more documents than exist."""
    documents: int = 2400
    """Held-out documents that are scored for null splits."""
    powered: int = 800
    """Held-out documents that defects are planted in."""
    power_splits: int = 200
    prepare: Callable[[Texts, Path], dict[str, Any]] | None = None
    """Writes further inputs of the critic to a folder; returns parameters of the critic."""


STUDIES = (
    Study("words", novels, ("length", "type-token", "stopword-share", "symbol-share")),
    Study("prose", novels, ("repetition", "rhythm", "discourse"), powered=420),
    Study("answers", answers, ("diversity",), documents=9600, powered=1680),
    Study("phrases", novels, ("keyness",), documents=2000, powered=400, power_splits=40),
    Study(
        *("patterns", novels, ("templates",), {"templates": {"tagger": "spacy", "max_tokens": 300}}),
        replacement=True,
        documents=500,
        powered=420,
    ),
    Study("counts", novels, ("unigram", "rank-frequency"), powered=400, power_splits=40),
    Study("laws", novels, ("zipf-slope", "heaps", "productivity", "taylor"), powered=400, power_splits=40),
    Study("long chapters", partial(novels, 2000, 500), ("taylor",), sizes=SIZES[:2]),
    Study("long range", novels, ("long-range",), wide=39, powered=400, power_splits=40),
    Study("ebeling", novels, ("ebeling",), powered=400, power_splits=40),
    Study("sections", proposals, ("sections",), {"sections": {"posterior": "titles"}}, replacement=True),
    Study("breaks", proposals, ("sections",), replacement=True),
    Study("passages", proposals, ("passages",), replacement=True),
    Study("grammar", paragraphs, ("pcfg",), prepare=treebank),
    Study("likelihoods", paragraphs, ("distortion",), prepare=two_models),
    Study("topics", novels, ("topics",)),
    Study("models", novels, ("perplexity", "mauve")),
    Study("languages", manuals, ("code-mixing",), replacement=True),
    Study("persons", novels, ("coreference",), replacement=True, documents=500, powered=420),
)
