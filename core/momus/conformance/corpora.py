"""Synthetic text for the checks: sectioned documents, running prose, and everyday sentences in ten scripts; seeded."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

import numpy as np

from momus.schema import build
from momus.text.corpus import Corpus, Document, Section

TYPES = ("Abstract", "Motivation", "Specification", "Rationale", "Tests", "Copyright")
NAMES = ("Anna", "Boris", "Clara", "David", "Emma", "Felix")
PRONOUNS = {"Anna": "she", "Boris": "he", "Clara": "she", "David": "he", "Emma": "she", "Felix": "he"}
BESIDE = 200
"""Characters of a document of which `beside` takes the first words."""
EDGES = {
    "empty": "",
    "white space": " \n\t ",
    "one token": "word",
    "a name": "then they met Anna Petrova of Lisbon again",
    "unknown words only": "zyxwv qponm zyxwv lkjih",
    "very long": "a rather long document goes on and on . " * 5000,
    "Greek": "Ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν.",
    "Chinese": "道可道，非常道。名可名，非常名。",
    "Arabic": "اللغة العربية جميلة جدا",
    "emoji": "👩‍👩‍👧‍👦 🎉🎉 ok",
    "control characters": "a\x00b\x07c \u202edesrever\u202c",
}
"""Texts that often break critics; each must get a finite score or a reason."""


def _words(stem: str, n: int) -> list[str]:
    """Return n words without digits, because some critics ignore words with digits."""
    return [stem + chr(97 + i // 26) + chr(97 + i % 26) for i in range(n)]


def _sentence(rng: np.random.Generator, words: list[str], common: list[str]) -> str:
    n = int(rng.integers(6, 14))
    p = 1.0 / np.arange(1, len(words) + 1)
    typical = rng.choice(words, n, p=p / p.sum())
    text = [w if rng.random() < 0.6 else rng.choice(common) for w in typical]
    if rng.random() < 0.4:
        name = str(rng.choice(NAMES))
        text = [name, "said", "that", PRONOUNS[name], *text]
    return " ".join(text) + "."


@lru_cache(maxsize=8)
def documents(n: int = 120, seed: int = 0) -> Corpus:
    """Sectioned documents: six section types in a fixed order, each with a vocabulary; some sections are missing.

    Each document is about two neighbouring topics of eight, which correlates the topics.
    """
    rng = np.random.default_rng(seed)
    shared, topics = _words("common", 60), [_words(f"topic{c}", 40) for c in "abcdefgh"]
    collected = []
    for i in range(n):
        titles = [t for t in TYPES if t in ("Abstract", "Specification", "Copyright") or rng.random() < 0.7]
        sections = []
        topic = int(rng.integers(8))
        common = [*shared, *topics[topic], *topics[(topic + 1) % 8]]
        for title in titles:
            words = _words(title.lower(), 80)
            sections.append(Section(" ".join(_sentence(rng, words, common) for _ in range(rng.integers(2, 6))), title))
        collected.append(Document(f"d{seed}-{i:04d}", tuple(sections), prompt=f"p{i:04d}"))
    return Corpus.from_documents(collected, name=f"made-{seed}")


@lru_cache(maxsize=4)
def answers(n: int = 360, seed: int = 0) -> Corpus:
    """The same documents as answers, three to a prompt."""
    documents_ = [replace(d, prompt=f"p{i // 3:04d}") for i, d in enumerate(documents(n, seed))]
    return Corpus.from_documents(documents_, name=f"answers-{seed}")


@lru_cache(maxsize=4)
def prose(tokens: int = 240_000, seed: int = 0) -> Corpus:
    """Running text with Zipfian frequencies and bursts: some words of a chapter recur within it."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{i}" for i in range(20_000)])
    p = 1.0 / (np.arange(len(vocabulary)) + 2.7)
    p /= p.sum()
    chapters = []
    for _ in range(tokens // 4000):
        words = rng.choice(len(vocabulary), 4000, p=p)
        topic = rng.choice(len(vocabulary), 60, p=p)
        # a quarter of the words, shape (4000,), comes from the chapter's 60 topic words: these are the bursts
        words = np.where(rng.random(4000) < 0.25, rng.choice(topic, 4000), words)
        chapters.append(" ".join(vocabulary[words]))
    return Corpus.from_texts(chapters, name=f"prose-{seed}")


@lru_cache(maxsize=32)
def beside(corpus: Corpus, names: tuple[str, ...]) -> Corpus:
    """The corpus with fields that a critic reads: questions with some of each document's first words.

    >>> beside(Corpus.from_texts(["to be or not"]), ("prompt_text",)).field("prompt_text")
    ['please write of to?']
    """
    if not names:
        return corpus
    documents = []
    for i, d in enumerate(corpus):
        # 1 to 4 words, so that documents differ in how much of their field they hold
        words = " ".join(("please write of", *d.text[:BESIDE].split()[: 1 + i % 4]))
        documents.append(replace(d, fields={**d.fields, **dict.fromkeys(names, f"{words}?")}))
    return Corpus.from_documents(documents, name=corpus.name)


@lru_cache(maxsize=1)
def edges() -> Corpus:
    """Texts that often break critics, each as running text and as a section."""
    running = [Document.plain(f"text: {name}", text) for name, text in EDGES.items()]
    sections = [
        Document(f"section: {name}", (Section(text, "Abstract"), Section(text, "Never seen")))
        for name, text in EDGES.items()
    ]
    return Corpus.from_documents([*running, *sections, Document("no sections", ())], name="edges")


@dataclass(frozen=True)
class Sample:
    """Sentences in a script, and the ISO 15924 codes of their letters."""

    codes: tuple[str, ...]
    titles: tuple[str, str, str]
    sentences: tuple[str, ...]


SAMPLES = {
    name: build(Sample, content, "samples.json")
    for name, content in json.loads(files(__package__).joinpath("samples.json").read_text(encoding="utf-8")).items()
}
"""Everyday sentences in ten scripts, eight of each."""
TRAPS = ("👩‍👩‍👧‍👦 🎉🎉 ❤️", "\u200f\u202b \u202c\u200e", "cafe\u0301 nai\u0308ve")
"""Emoji, marks of direction, and decomposed letters, one of which ends some of the documents."""
DOCUMENTS = 16
"""Documents per script."""


@lru_cache(maxsize=32)
def in_script(script: str) -> Corpus:
    """Documents of three titled sections in a script, each of one to four sentences drawn at random.

    >>> in_script("Thai")[0].sections[0].title
    'ตอนเช้า'
    """
    sample = SAMPLES[script]
    rng = np.random.default_rng(list(SAMPLES).index(script))
    collected = []
    for i in range(DOCUMENTS):
        sections = []
        for number, title in enumerate(sample.titles):
            # each section prefers its own three sentences of the eight
            weights = np.where(np.arange(8) // 3 == number, 4.0, 1.0)
            chosen = rng.choice(8, int(rng.integers(1, 5)), p=weights / weights.sum())
            sections.append(Section(" ".join(sample.sentences[j] for j in chosen), title))
        if i % 4 == 0:
            last = sections[-1]
            sections[-1] = Section(f"{last.text} {TRAPS[i // 4 % len(TRAPS)]}", last.title)
        collected.append(Document(f"{script.lower()}-{i:02d}", tuple(sections), prompt=f"{script}-{i}"))
    return Corpus.from_documents(collected, name=script)


def together(scripts: list[str], per_script: int = DOCUMENTS) -> Corpus:
    """The first documents of several scripts as one text."""
    return Corpus.from_documents([in_script(name)[i] for name in scripts for i in range(per_script)], name="scripts")
