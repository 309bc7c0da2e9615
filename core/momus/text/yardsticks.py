"""Plain yardsticks of a text, which need neither real text nor a model."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from itertools import pairwise

import numpy as np

WORD = re.compile(r"[A-Za-z']+")
TYPES_OF, BYTES = 5_000, 30_000
"""Words read for the type–token ratio, bytes read for compression."""
YARDSTICKS = ("length", "type–token ratio", "compression", "repetition", "entropy")


def yardsticks(text: str) -> dict[str, float]:
    """Measure a text by yardsticks that need no real text.

    Words are split by white space; the type–token ratio of the first 5,000 words of letters in lower case; the ratio of
    compressed to plain size of the first 30,000 bytes (zlib); the share of word trigrams that occurred before; the
    plug-in entropy of the bigrams of the first 5,000 words, in bits.

    >>> found = yardsticks("a b a b a b")
    >>> found["length"], round(found["type–token ratio"], 3), found["repetition"], round(found["entropy"], 3)
    (6.0, 0.333, 0.5, 0.971)
    """
    from scipy import stats

    words = text.split()
    letters = WORD.findall(text.lower())[:TYPES_OF]
    head = text.encode("utf-8", "replace")[:BYTES]
    trigrams = list(zip(words, words[1:], words[2:], strict=False))
    bigrams = np.array(list(Counter(pairwise(words[:TYPES_OF])).values()), dtype=np.float64)
    return {
        "length": float(len(words)),
        "type–token ratio": len(set(letters)) / max(len(letters), 1),
        "compression": len(zlib.compress(head)) / max(len(head), 1),
        "repetition": 1 - len(set(trigrams)) / max(len(trigrams), 1),
        "entropy": float(stats.entropy(bigrams, base=2)) if len(bigrams) else 0.0,
    }
