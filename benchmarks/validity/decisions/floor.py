"""The smallest p-value that the number of relabellings allows, in a large family of rows.

36 generated corpora, each cut to 40 words per document, under three statistics of documents of hundreds of words: every
KS distance is 1, and Holm's adjustment over 108 rows must still find every row.
"""

from __future__ import annotations

import numpy as np
from data import KS, ranked
from harness import LEVEL, Draw, Quantity, Record, Study, compared

from momus.inference import holm

VERSIONS, STATISTICS, DOCUMENTS = 36, 3, 50


def cut(draw: Draw) -> Record:
    """Test all rows of one run."""
    family, p, relabellings = VERSIONS * STATISTICS, [], []
    for _ in range(STATISTICS):
        # log-lengths of real documents lie far above those of documents cut to 40 words (counted in words, types, …)
        real = draw.rng.normal(np.log(600), 0.3, size=DOCUMENTS)
        for _ in range(VERSIONS):
            generated = draw.rng.normal(np.log(40), 0.05, size=DOCUMENTS)
            result = compared(
                KS, *ranked(real, generated), permutations=None, resamples=99, family=family, seed=draw.seed
            )
            p.append(result.p)
            relabellings.append(result.method.permutations)
    return {
        "differ": float((holm(p) <= LEVEL).sum()),
        "relabellings": float(np.mean(relabellings)),
        "smallest": float(min(p)),
    }


STUDIES = (
    Study(
        "floor",
        "floor-ks",
        "36 versions cut to 40 words, three statistics, n 50 | 50, every KS distance 1",
        cut,
        (
            Quantity("differ", "rows of 108 that differ after Holm's adjustment", (108, 108), "mean"),
            Quantity("relabellings", "relabellings per row", None, "mean"),
            Quantity("smallest", "smallest p", None, "mean"),
        ),
        most=5,
    ),
)
