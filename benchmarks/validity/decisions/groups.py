"""Documents that belong together: authors, copies, and clusters of unequal size; means of normal values.

Before, Momus did not know groups: every document was a unit. Now whole groups are.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from data import MEAN, clustered, ones
from harness import ALARM, CONFLICT, COVERED, Draw, Record, Study, compared, decided

from momus.inference import Design


def authors(draw: Draw, real: tuple[int, int], generated: tuple[int, int], icc: float, as_documents: bool) -> Record:
    """Authors × documents on each side without a difference."""
    a, first = clustered(draw.rng, *real, icc)
    b, second = clustered(draw.rng, *generated, icc)
    design = None if as_documents and draw.before else Design.clusters(first, second)
    return decided(compared(MEAN, ones(a), ones(b), design=design, seed=draw.seed))


def copies(draw: Draw, share: float, n: int = 100) -> Record:
    """n | n independent documents, of which a share of the generated ones are copies of others."""
    a, distinct = draw.rng.normal(size=n), n - round(share * n)
    # every distinct document once, and copies of them at random
    origin = np.concatenate([np.arange(distinct), draw.rng.integers(0, distinct, n - distinct)])
    b = draw.rng.normal(size=distinct)[origin]
    design = None if draw.before else Design.clusters(np.arange(n), origin)
    return decided(compared(MEAN, ones(a), ones(b), design=design, seed=draw.seed))


REPORTED = (ALARM, COVERED, CONFLICT)


def _authors(count: int, size: int, icc: float) -> Study:
    both = (count, size)
    return Study(
        "groups",
        f"authors-{count}x{size}-{icc:g}",
        f"{count} authors × {size} documents on each side, ICC {icc:g}; before: documents as units",
        partial(authors, real=both, generated=both, icc=icc, as_documents=True),
        REPORTED,
    )


STUDIES = (
    _authors(40, 5, 0.05),
    _authors(40, 5, 0.2),
    _authors(20, 10, 0.1),
    _authors(20, 10, 0.3),
    *(
        Study(
            "groups",
            f"copies-{share:g}",
            f"100 documents against 100 of which {share:.0%} are copies of others; before: documents as units",
            partial(copies, share=share),
            REPORTED,
        )
        for share in (0.5, 0.75)
    ),
    Study(
        "groups",
        "unequal-documents",
        "100 clusters × 1 document against 15 × 20, ICC 0.2; before: documents as units",
        partial(authors, real=(100, 1), generated=(15, 20), icc=0.2, as_documents=True),
        REPORTED,
    ),
    Study(
        "groups",
        "unequal-clusters",
        "100 clusters × 1 document against 15 × 20, ICC 0.2; whole clusters relabelled before and after",
        partial(authors, real=(100, 1), generated=(15, 20), icc=0.2, as_documents=False),
        REPORTED,
    ),
)
