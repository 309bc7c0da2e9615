"""Chapters of novels (LitBank): tests by chapter and by novel, and critics fitted on chapters of the tested novels.

Before, Momus did not know which novel a chapter belongs to: chapters were units, and text to fit on was split off by
chapters.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from data import MEAN, ones
from harness import ALARM, Draw, Quantity, Record, Study, compared, decided

from momus import Corpus, read_corpus
from momus.critic.registry import critic_class
from momus.critic.scores import LATENT_NLL, LATENT_PPL
from momus.errors import UsageError
from momus.inference import Design
from momus.numeric.types import Floats, Ints
from momus.text.tokens import get_tokenizer

WORDS, PER_NOVEL = 1000, 10
FITTED = 40
"""Novels that the bigram critic of `values` is fitted on; the others are tested."""
VALUES = ("symbol share", "type–token ratio", "length", "bigram Latent NLL per step")


@dataclass(frozen=True)
class Chapters:
    """Chapters of 1,000 words, without and with their novels as groups, and the number of each one's novel.

    Both corpora are the same where this version of Momus has no groups.
    """

    plain: Corpus
    grouped: Corpus
    novel: Ints


@cache
def chapters() -> Chapters:
    """Read the novels; each has at least ten chapters, of which ten are drawn once."""
    from studies import chapters as cut
    from studies import data

    path = data() / "litbank" / "novels.jsonl.gz"
    if not path.exists():
        raise UsageError(f"no file {path}", hint="set MOMUS_DATA to the folder that has litbank/novels.jsonl.gz")
    rng = np.random.default_rng(0)
    texts: list[str] = []
    for document in read_corpus(path):
        found = cut(document.text, WORDS)
        if len(found) >= PER_NOVEL:
            texts += [found[i] for i in np.sort(rng.choice(len(found), PER_NOVEL, replace=False))]
    novel = np.arange(len(texts)) // PER_NOVEL
    ids = [f"{k}-{i}" for i, k in enumerate(novel.tolist())]
    plain = grouped = Corpus.from_texts(texts, ids=ids, name="chapters")
    if hasattr(Corpus, "groups"):
        groups: dict[str, Any] = {"groups": [str(k) for k in novel.tolist()]}
        grouped = Corpus.from_texts(texts, ids=ids, name="chapters", **groups)
    tokens = plain.tokens(get_tokenizer("words"))  # split once, shared by all that is taken from both
    grouped.adopt(get_tokenizer("words"), tokens)
    return Chapters(plain, grouped, novel)


def values(folder: Path) -> tuple[Floats, Ints]:
    """Values of the chapters of the novels that no critic was fitted on, (chapters, 4), and their novels, (chapters,).

    Computed once and kept in ``folder``.
    """
    path = folder / "chapters.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        whole = chapters()
        fit, rest = (np.flatnonzero(side) for side in (whole.novel < FITTED, whole.novel >= FITTED))
        corpus = whole.plain.take(rest, "rest")
        bigram = critic_class("perplexity")(order=2).fit(whole.plain.take(fit, "fit"))
        nats = np.asarray(bigram.score(corpus).test_rows()[LATENT_PPL])  # (chapters, 2): nats, steps
        shares = critic_class("symbol-share")().fit(corpus)
        symbols = np.asarray(shares.sufficient_statistics(shares.project(corpus))["share"])
        words = corpus.tokens(get_tokenizer("words"))
        types = np.array(
            [len(np.unique(words.ids[a:b])) for a, b in zip(words.offsets, words.offsets[1:], strict=False)]
        )
        table = np.column_stack(
            [symbols[:, 0] / symbols[:, 1], types / words.lengths, words.lengths, nats[:, 0] / nats[:, 1]]
        )
        part = path.with_name(f"{path.stem}-{os.getpid()}.npz")
        np.savez(part, values=table, novel=whole.novel[rest])
        part.replace(path)
    return _read(path)


@cache
def _read(path: Path) -> tuple[Floats, Ints]:
    with np.load(path) as table:
        return table["values"], table["novel"]


def by_novel(draw: Draw, novels: int = 10) -> Record:
    """Ten chapters each of novels against as many other novels; alarms of the four values."""
    table, novel = values(draw.folder)
    chosen = draw.rng.choice(np.unique(novel), 2 * novels, replace=False)
    sides = [np.flatnonzero(np.isin(novel, part)) for part in (chosen[:novels], chosen[novels:])]
    design = None if draw.before else Design.clusters(*(novel[rows] for rows in sides))
    found: Record = {}
    for i in range(len(VALUES)):
        a, b = (ones(table[rows, i]) for rows in sides)
        result = decided(compared(MEAN, a, b, design=design, resamples=499, seed=draw.seed))
        found |= {f"{k} {i}": result[k] for k in ("alarm", "covered", "conflict")}
    return found


def leak(draw: Draw, known: bool, novels: int = 20) -> Record:
    """Split half of the real chapters off to fit a bigram critic, and test the others against other novels.

    Without ``known`` novels the split is by chapters, so that the critic has read other chapters of the real novels.
    """
    whole = chapters()
    chosen = draw.rng.choice(np.unique(whole.novel), 2 * novels, replace=False)
    real, generated = (np.flatnonzero(np.isin(whole.novel, part)) for part in (chosen[:novels], chosen[novels:]))
    corpus = whole.grouped if known else whole.plain
    fit, held_out = corpus.take(real, "real").split(0.5, seed=draw.seed)
    critic = critic_class("perplexity")(order=2).fit(fit)
    sides = held_out, corpus.take(generated, "generated")
    rows = [np.asarray(critic.score(side).test_rows()[LATENT_NLL]) for side in sides]
    numbers = [np.array([int(i.split("-")[0]) for i in side.ids]) for side in sides]
    design = None if draw.before else Design.clusters(*numbers)
    fitted = {i.split("-")[0] for i in fit.ids}
    shared = np.mean([i.split("-")[0] in fitted for i in held_out.ids])
    return {**decided(compared(MEAN, *rows, design=design, resamples=499, seed=draw.seed)), "shared": float(shared)}


STUDIES = (
    Study(
        "novels",
        "novels-10",
        "10 | 10 novels × 10 chapters; before: chapters as units",
        by_novel,
        tuple(Quantity(f"alarm {i}", f"p ≤ 0.05, {name}", (0.035, 0.065)) for i, name in enumerate(VALUES))
        + tuple(Quantity(f"covered {i}", f"interval holds 0, {name}", (0.93, 1.0)) for i, name in enumerate(VALUES)),
    ),
    *(
        Study(
            "novels",
            name,
            f"20 | 20 novels × 10 chapters, bigram critic fitted on half of the real ones, {how}",
            partial(leak, known=known),
            (
                ALARM if known else Quantity("alarm", "p ≤ 0.05"),
                Quantity("shared", "tested chapters whose novel was fitted on", (0.0, 0.0) if known else None, "mean"),
            ),
            most=1000,
        )
        for name, known, how in (
            ("leak-chapters", False, "split by chapters; tested by chapter before, by novel after"),
            ("leak-novels", True, "split by novels (before: by chapters); tested by chapter before, by novel after"),
        )
    ),
)
