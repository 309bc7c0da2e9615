"""Reference texts made of real text: its shuffles, and processes of known exponents of the same size."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from momus.controls import pitman_yor, shuffle_corpus, simon
from momus.text.corpus import Corpus
from momus.text.tokens import get_tokenizer

SIMON_NEW = 0.1
"""Probability of a new word in the Simon process."""
DISCOUNT, STRENGTH = 0.8, 1.0
"""Parameters of the Pitman–Yor process: types grow with the power ``DISCOUNT`` of the tokens."""


def reference_texts(names: Sequence[str], real: Corpus, seed: int) -> dict[str, Corpus]:
    """Make reference texts by name, each with documents as long as those of the real text in words.

    >>> real = Corpus.from_texts(["a b c d", "e f"])
    >>> {name: [len(d.text.split()) for d in c] for name, c in reference_texts(["Simon process"], real, 0).items()}
    {'Simon process': [4, 2]}
    """
    return {name: _reference(name, real, seed) for name in names}


def _reference(name: str, real: Corpus, seed: int) -> Corpus:
    words = get_tokenizer("whitespace", lower=False)
    if name.endswith("-gram shuffle"):
        return shuffle_corpus(real, words, int(name.split("-")[0]), seed)
    # offsets[i]:offsets[i + 1] are the tokens of document i, shape (documents + 1,)
    offsets = real.tokens(words).offsets
    n = int(offsets[-1])
    ids = simon(n, SIMON_NEW, seed) if name == "Simon process" else pitman_yor(n, DISCOUNT, STRENGTH, seed)
    texts = [" ".join(f"w{i}" for i in ids[a:b]) for a, b in itertools.pairwise(offsets)]
    return Corpus.from_texts(texts, name=name)
