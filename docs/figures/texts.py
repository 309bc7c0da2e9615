"""The texts that the figures of the documentation are made on: real text to fit, real text, and text to criticise.

Demo data lies in the package; everything else under MOMUS_DATA, else ../shared/data (see the README of each folder).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import momus
from momus import Corpus
from momus.demo import demo_path

LANGUAGES = ("de", "fr", "es")
JUDGED = re.compile(r"\s*\+ Judge Evaluation \(Chapter \d+\)")
"""Behind nearly every chapter of the long stories the file has a judge's own words about it: they are cut off."""


SPLIT = re.compile(r" ?(\bn|(?<=\w))' (?=(?:s|t|m|re|ve|ll|d)\b)")
"""Spaces that a tokenizer left within contractions."""


@dataclass
class Texts:
    """Three texts, and a sentence that says what they are."""

    fit: Corpus
    real: Corpus
    name: str
    generated: Corpus
    about: str
    config: dict[str, Any] = field(default_factory=dict)


def data() -> Path:
    """Find the folder of real data."""
    named = os.environ.get("MOMUS_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"


def lines(path: Path) -> list[dict[str, Any]]:
    """Read gzip JSON Lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def docstrings() -> Texts:
    """Documentation, and what a small model writes for its names at a low temperature."""
    fit, real, made = (
        momus.read_corpus(demo_path(f"{file}.jsonl.gz"), name=name)
        for file, name in (("fit", "fit"), ("real", "real"), ("generated-nucleus-cool", "cool"))
    )
    about = (
        "demo data: docstrings of seven Python packages, and what SmolLM2-135M, fine-tuned on such texts, writes for "
        "them at temperature 0.7"
    )
    return Texts(fit, real, "cool", made, about)


def novels() -> Texts:
    """Passages of Jane Austen's novels, and continuations by a small model."""
    passages = momus.read_corpus(demo_path("prose.jsonl.gz"), name="prose")
    fit, real = passages.split(0.6, 0, ("fit", "real"))
    made = momus.read_corpus(demo_path("generated-prose-nucleus.jsonl.gz"), name="nucleus")
    about = (
        "demo data: passages of Jane Austen's novels, and continuations of some by SmolLM2-135M, by nucleus sampling"
    )
    return Texts(fit, real, "nucleus", made, about)


def stories() -> Texts:
    """Stories by people for prompts of a forum, and by a chat model for such prompts."""
    rows = lines(data() / "registers" / "writing_prompt.jsonl.gz")
    people, model = (
        [SPLIT.sub(r"\1'", row["text"]) for row in rows if row["writer"] == w] for w in ("human", "ChatGPT")
    )
    order = np.random.default_rng(0).permutation(len(people))
    parts = ("fit", order[:400]), ("real", order[400:650])
    fit, real = (Corpus.from_texts([people[i] for i in rows], name=name) for name, rows in parts)
    about = "stories that people wrote for prompts of a forum, and that ChatGPT wrote for such prompts"
    return Texts(fit, real, "ChatGPT", Corpus.from_texts(model, name="ChatGPT"), about)


def looped() -> Texts:
    """Passages of Jane Austen's novels, and continuations by a small model at a low temperature, many of which loop."""
    texts = novels()
    made = momus.read_corpus(demo_path("generated-prose-nucleus-cool.jsonl.gz"), name="nucleus-cool")
    about = (
        "demo data: passages of Jane Austen's novels, and continuations of some by SmolLM2-135M, by nucleus sampling "
        "at a low temperature"
    )
    return Texts(texts.fit, texts.real, "nucleus-cool", made, about)


def templated() -> Texts:
    """The first 200 words of some of the same texts, and a tagger."""
    texts = looped()
    fit, real = (Corpus.from_documents(list(c.slice(0, 80)), c.name) for c in (texts.fit, texts.real))
    about = f"{texts.about}; the first 200 words and symbols of each"
    config = {"templates": {"tagger": "spacy", "max_tokens": 200}}
    return replace(texts, fit=fit, real=real, about=about, config=config)


def chapters() -> Texts:
    """Passages of Jane Austen's novels as several answers to one prompt, their chapter, and those of a small model."""
    made = []
    for file in ("nucleus", "ancestral", "nucleus-cool"):
        made += lines(Path(str(demo_path(f"generated-prose-{file}.jsonl.gz"))))
    real = momus.read_corpus(demo_path("prose.jsonl.gz"), name="prose")
    # continuations have about 210 words, passages a thousand; the first 40 words may be the continued ones
    cut = Corpus.from_texts(
        [" ".join(d.text.split()[40:210]) for d in real],
        ids=real.ids,
        prompts=[str(g) for g in real.groups],
        name="prose",
    )
    fit, held = cut.split(0.5, 0, ("fit", "real"))
    group = dict(zip(real.ids, real.groups, strict=True))
    prompts = [str(group[str(row["prompt_id"])]) for row in made]
    generated = Corpus.from_texts(
        [" ".join(str(row["text"]).split()[40:]) for row in made], prompts=prompts, name="three-decodings"
    )
    about = (
        "demo data: words 41 to 210 of passages of Jane Austen's novels, with their chapter as the prompt, and "
        "continuations of some by SmolLM2-135M, decoded in three ways"
    )
    return Texts(fit, held, "three-decodings", generated, about)


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
    rows = lines(data() / "long-stories" / "stories.jsonl.gz")
    stories = ["\n\n".join(JUDGED.split(c)[0] for c in row["chapters"]) for row in rows]
    about = (
        "100 English novels (20 to fit on, 20 others real), and 273 long stories by 55 language models "
        "(without the judge's words)"
    )
    made = Corpus.from_texts(stories, name="stories")
    fit, real = (Corpus.from_texts(part, name=name) for part, name in ((texts[:20], "fit"), (texts[20:40], "real")))
    return Texts(fit, real, "stories", made, about)


def parsed() -> Texts:
    """Documentation as above, with a treebank of dependency parses of the text to fit on."""
    from momus_preparing.treebank import write_treebank

    texts = docstrings()
    path = Path(tempfile.mkdtemp()) / "parsed.mrg"
    n = write_treebank([d.text for d in texts.fit], path)
    about = f"{texts.about}; the treebank: {n:,} dependency parses of the text to fit on"
    return Texts(texts.fit, texts.real, texts.name, texts.generated, about, {"pcfg": {"treebank": str(path)}})


def artificial() -> Texts:
    """Samples of a trigram model of novels, and of a bigram model that was fitted on 400 of them."""
    from momus.sequences.ngram_text import NGramText
    from momus.text.tokens import get_tokenizer
    from momus_generating import Decoding, document_seeds, sample

    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "reproduce"))
    from arpa import KneserNey

    split = get_tokenizer("whitespace", lower=False)
    folder, scorers = Path(tempfile.mkdtemp()), {}

    def model(texts: list[str], order: int, name: str) -> NGramText:
        corpus = Corpus.from_texts([" ".join(t.split()) for t in texts if t.split()])
        table = corpus.tokens(split)
        path = folder / f"{name}.arpa"
        KneserNey(order=order).fit(table.ids, table.offsets, table.vocabulary).write_arpa(path)
        scorers[f"{name}_scorer"] = {"scorer": "kenlm", "path": str(path)}
        return NGramText(order, split, unknown=False).fit_corpus(corpus)

    def drawn(of: NGramText, first: int, n: int) -> list[str]:
        seeds = document_seeds(0, first + n, first)
        return of.decode(sample(of, None, Decoding(longest=60), seeds).sequences)

    lines_of = [s for d in novels().fit for s in d.text.split(". ") if 3 <= s.count(" ") < 40]
    language = model(lines_of, 3, "language")
    fit, real = drawn(language, 0, 400), drawn(language, 400, 400)
    made = drawn(model(fit, 2, "model"), 10_000, 400)
    about = "samples of a trigram model of Jane Austen's sentences, and of a bigram model fitted on 400 of them"
    corpora = [Corpus.from_texts(t, name=n) for t, n in ((fit, "fit"), (real, "real"), (made, "bigram"))]
    return Texts(corpora[0], corpora[1], "bigram", corpora[2], about, {"distortion": scorers})


TEXTS: dict[str, Callable[[], Texts]] = {
    "sections": docstrings,
    "consistency": docstrings,
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
    "repetition": looped,
    "rhythm": looped,
    "keyness": docstrings,
    "diversity": chapters,
    "discourse": looped,
    "templates": templated,
    "perplexity": docstrings,
    "mauve": docstrings,
    "layout": docstrings,
    "edges": stories,
    "faults": stories,
    "marks": stories,
    "names": stories,
    "register": stories,
    "path": stories,
    "pcfg": parsed,
    "distortion": artificial,
    "zipf-slope": long_text,
    "heaps": long_text,
    "ebeling": long_text,
    "taylor": long_text,
    "long-range": long_text,
    "productivity": long_text,
}
"""What the figure of each critic is made on."""
