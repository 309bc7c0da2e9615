"""Sectioned docstrings for `titles.py`: choosing them, rendering for a language model, reading back.

A document is ``### title ⏎ body ### title ⏎ body`` with titles, and ``### ⏎ body ### ⏎ body`` without them. It begins
and ends with the token that the model's pretraining put between documents. Titles, bodies and breaks are tokenised one
by one, so both forms have the same body tokens.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

BREAK = "###"
"""Marks the beginning of a section: one token, common in pretraining, absent from the texts."""
END = 0
"""The model's token between documents."""
DROPPED = ("See Also", "References")
"""Sections that the paper removes from its articles (appendix E)."""
FEWEST, LONGEST, OVERLAP, WORDS = 3, 144, 0.5, 200
"""Sections per document (the paper's minimum), tokens per document, shared word 4-grams, words before any cut."""
PACKAGES = ("numpy", "scipy", "pandas", "sklearn", "statsmodels", "networkx")

Encode = Callable[[str], list[int]]
Titled = list[tuple[str, str]]


def read_records(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines; a generated text may hold any other line separator, so lines end at a line feed alone."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@dataclass(frozen=True)
class Ids:
    """A document as token ids, and which of them belong to titles."""

    ids: NDArray[np.int64]
    title: NDArray[np.bool_]


def collector() -> ModuleType:
    """The module that collects and parses the docstrings of the demo data."""
    path = Path(__file__).parents[2] / "examples" / "demo_data" / "numpydoc_source.py"
    spec = importlib.util.spec_from_file_location("momus_numpydoc_source", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def render(sections: Sequence[tuple[str, str]], titles: bool, encode: Encode) -> Ids:
    """Token ids of a document, from the document mark before it to the one after it.

    >>> encode = lambda text: [ord(c) for c in text]
    >>> ids = render([("A", "b")], True, encode)
    >>> ids.ids.tolist() == [0, *map(ord, "### A"), 10, ord("b"), 0], ids.title.astype(int).tolist()
    (True, [0, 0, 0, 0, 1, 1, 0, 0, 0])
    >>> render([("A", "b")], False, encode).ids.tolist() == [0, *map(ord, "###"), 10, ord("b"), 0]
    True
    """
    ids, title = [END], [False]
    for name, body in sections:
        parts = [(encode(BREAK), False), (encode(f" {name}") if titles else [], True), (encode("\n"), False)]
        for tokens, mark in [*parts, (encode(body), False)]:
            ids += tokens
            title += [mark] * len(tokens)
    return Ids(np.array([*ids, END]), np.array([*title, False]))


@dataclass(frozen=True)
class Read:
    """Sections read back from generated text: titles (empty where there is none), bodies, and how many had no body."""

    titles: list[str]
    bodies: list[str]
    empty: int


def read_back(text: str, titles: bool) -> Read:
    r"""Read the sections of a generated text; sections without a body are left out and counted.

    Text before the first break is a section without a title. With titles, the first line of a section is its title.

    >>> read_back("### Summary\nAdd.\n### Returns\nint\n###", titles=True)
    Read(titles=['Summary', 'Returns'], bodies=['Add.', 'int'], empty=1)
    >>> read_back("###\nAdd.\n###\nint", titles=False)
    Read(titles=['', ''], bodies=['Add.', 'int'], empty=0)
    """
    before, *marked = text.split(BREAK)
    out = Read([], [], 0)
    empty = 0
    for i, part in enumerate([before, *marked]):
        title, _, body = part.partition("\n") if titles and i else ("", "", part)
        if body.strip():
            out.titles.append(title.strip())
            out.bodies.append(body.strip("\n").rstrip())
        else:
            empty += i > 0  # nothing before the first break is as it should be
    return Read(out.titles, out.bodies, empty)


def thinned(documents: Sequence[Titled], seed: int) -> list[int]:
    """Numbers of the documents that remain when those with three sections are at most as many as the others.

    The median is then four sections, as in the paper's collections (table 9).
    """
    longer = [i for i, d in enumerate(documents) if len(d) > FEWEST]
    shortest = [i for i, d in enumerate(documents) if len(d) == FEWEST]
    random.Random(seed).shuffle(shortest)
    return sorted([*longer, *shortest[: max(0, len(longer) - 1)]])


def collect(encode: Encode, seed: int) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Records of the chosen documents in random order, and how many remain after each step."""
    source = collector()
    chosen: list[Any] = []
    steps: Counter[str] = Counter()
    for package in PACKAGES:
        found = source.package_documents(package, (0, WORDS))
        steps["sectioned docstrings"] += len(found)
        for d in found:
            kept = [(n, s) for n, s in zip(d.names, d.sections, strict=True) if n not in DROPPED]
            d.names, d.sections = [n for n, _ in kept], [s for _, s in kept]
        fits = [
            d
            for d in found
            if len(d.names) >= FEWEST
            and not any(BREAK in s for s in d.sections)
            and len(render(list(zip(d.names, d.sections, strict=True)), True, encode).ids) <= LONGEST
        ]
        steps[f"with {FEWEST} sections or more and {LONGEST} tokens or fewer"] += len(fits)
        chosen += fits
    random.Random(seed).shuffle(chosen)
    distinct = source.drop_near_duplicates(chosen, OVERLAP)
    steps["distinct"] = len(distinct)
    kept_documents = [
        distinct[i] for i in thinned([list(zip(d.names, d.sections, strict=True)) for d in distinct], seed)
    ]
    steps["after thinning those of three sections"] = len(kept_documents)
    records = [
        {"id": d.id, "section_names": d.names, "sections": d.sections, "source": d.source} for d in kept_documents
    ]
    return records, dict(steps)


def buckets(lengths: Sequence[int], size: int, jitter: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Batches of ``size`` documents of similar length, in random order; lengths are jittered so that batches vary.

    >>> sorted(len(b) for b in buckets([5, 9, 5, 9, 5], 2, 0, np.random.default_rng(0)))
    [1, 2, 2]
    """
    order = np.argsort(np.asarray(lengths) + rng.uniform(0, jitter + 1e-9, len(lengths)), kind="stable")
    batches = [order[a : a + size] for a in range(0, len(order), size)]
    return [batches[i] for i in rng.permutation(len(batches))]
