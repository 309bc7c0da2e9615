"""The texts that the figures of the documentation are made on: real text to fit, real text, and text to criticise.

Demo data lies in the package; everything else under MOMUS_DATA, else ../shared/data (see the README of each folder).
"""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import momus
from momus import Corpus
from momus.demo import demo_path

LANGUAGES = ("de", "fr", "es")


@dataclass
class Texts:
    """Three texts, and a sentence that says what they are."""

    fit: Corpus
    real: Corpus
    name: str
    generated: Corpus
    about: str


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def lines(path: Path) -> list[dict[str, Any]]:
    """Read gzip JSON Lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def docstrings() -> Texts:
    """Documentation, and what a small model writes for its names (nucleus sampling)."""
    fit, real, made = (
        momus.read_corpus(demo_path(f"{file}.jsonl.gz"), name=file.removeprefix("generated-"))
        for file in ("fit", "real", "generated-nucleus")
    )
    about = "demo data: docstrings of seven Python packages, and what SmolLM2-135M writes for them by nucleus sampling"
    return Texts(fit, real, "nucleus", made, about)


def novels() -> Texts:
    """Passages of Jane Austen's novels, and how a small model goes on with them."""
    passages = momus.read_corpus(demo_path("prose.jsonl.gz"), name="prose")
    fit, real = passages.split(0.6, 0, ("fit", "real"))
    made = momus.read_corpus(demo_path("generated-prose-nucleus.jsonl.gz"), name="nucleus")
    about = "demo data: passages of Jane Austen's novels, and how SmolLM2-135M goes on with some, by nucleus sampling"
    return Texts(fit, real, "nucleus", made, about)


def proposals() -> Texts:
    """Ethereum proposals as running text, and other ones with their sections in random order."""
    rng = np.random.default_rng(0)

    def joined(name: str, shuffle: bool) -> list[str]:
        found = []
        for row in lines(data() / "sectioned" / f"{name}.jsonl.gz"):
            order = rng.permutation(len(row["sections"])) if shuffle else range(len(row["sections"]))
            found.append("\n\n".join(row["sections"][i] for i in order))
        return found

    half = rng.permutation(607)
    ordered, shuffled = joined("ercs", False), joined("ercs", True)
    real = Corpus.from_texts([ordered[i] for i in half[:303]], name="real")
    made = Corpus.from_texts([shuffled[i] for i in half[303:]], name="shuffled")
    about = "Ethereum proposals without their titles (EIPs to fit on, ERCs real), and other ERCs with sections shuffled"
    return Texts(Corpus.from_texts(joined("eips", False), name="fit"), real, "shuffled", made, about)


def manual_pages() -> Texts:
    """Manual pages in three languages, and pages that change language at mid-length."""
    pages: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for path in sorted((data() / "code-mixing").glob("*.jsonl.gz")):
        for row in lines(path):
            if all(k in row for k in LANGUAGES):
                pages[row["page"]].append(row)
    rows = [{k: "\n\n".join(r[k] for r in g) for k in LANGUAGES} for g in pages.values()]
    order = np.random.default_rng(0).permutation(len(rows))
    parts = np.array_split(order, 3)

    def pure(chosen: Any, name: str) -> Corpus:
        return Corpus.from_texts([rows[i][k] for i in chosen for k in LANGUAGES], name=name)

    switched = []
    for n, i in enumerate(parts[2]):
        first, second = (rows[i][LANGUAGES[(n + k) % 3]].split() for k in (0, 1))
        half = min(len(first), len(second)) // 2
        switched.append(" ".join([*first[:half], *second[half : 2 * half]]))
    about = "manual pages in German, French and Spanish, and pages that change language at mid-length"
    made = Corpus.from_texts(switched, name="switched")
    return Texts(pure(parts[0], "fit"), pure(parts[1], "real"), "switched", made, about)


def long_text() -> Texts:
    """Novels, and long stories by recent language models."""
    rows = lines(data() / "litbank" / "novels.jsonl.gz")
    order = np.random.default_rng(0).permutation(len(rows))
    texts = [rows[i]["text"] for i in order]
    stories = ["\n\n".join(row["chapters"]) for row in lines(data() / "long-stories" / "stories.jsonl.gz")]
    about = "100 English novels (20 to fit on, 20 others real), and 273 long stories by 55 language models"
    made = Corpus.from_texts(stories, name="stories")
    fit, real = (Corpus.from_texts(part, name=name) for part, name in ((texts[:20], "fit"), (texts[20:40], "real")))
    return Texts(fit, real, "stories", made, about)


TEXTS: dict[str, Callable[[], Texts]] = {
    "sections": docstrings,
    "passages": proposals,
    "topics": docstrings,
    "code-mixing": manual_pages,
    "coreference": novels,
    "rank-frequency": docstrings,
    "length": docstrings,
    "unigram": docstrings,
    "type-token": docstrings,
    "stopword-share": docstrings,
    "symbol-share": docstrings,
    "zipf-slope": long_text,
    "heaps": long_text,
    "ebeling": long_text,
    "taylor": long_text,
    "long-range": long_text,
    "productivity": long_text,
}
"""What the figure of each critic is made on."""
