"""Documents of a run that are odd on several axes at once, and how many would be so by chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from momus.errors import UsageError
from momus.inference import holm
from momus.numeric.types import Floats
from momus.outliers.rows import outlier_rows
from momus.runs.result import Results

TAIL, FEWEST = 0.05, 2
"""A document is odd if it is among the least likely 5 % of its corpus on two axes or more."""


@dataclass(frozen=True)
class OddAxis:
    """An axis on which a document is odd: its rank from ``first`` to ``last`` among ``scored`` documents."""

    critic: str
    axis: str
    first: int
    last: int
    scored: int


@dataclass(frozen=True)
class OddOnSeveral:
    """A document that is odd on several axes.

    Attributes
    ----------
    axes
        Those on which it is odd, the oddest first.
    of
        Number of axes on which it has a score.
    p, p_adjusted
        Probability to be odd on as many axes or more if axes were independent; adjusted over the scored documents of
        the corpus by Holm's method.
    """

    corpus: str
    id: str
    axes: tuple[OddAxis, ...]
    of: int
    p: float
    p_adjusted: float


@dataclass(frozen=True)
class SeveralCorpus:
    """The odd documents of a corpus.

    Attributes
    ----------
    scored
        Number of documents with a score on some axis.
    critics
        Critics of documents, whose axes count.
    expected
        Number of odd documents to expect if axes were independent of each other.
    """

    corpus: str
    scored: int
    critics: tuple[str, ...]
    expected: float
    documents: tuple[OddOnSeveral, ...]


def odd_on_several(run: Results | str | Path, corpus: str | None = None) -> list[SeveralCorpus]:
    """Find the documents of each generated corpus, or of one corpus, that are odd on several axes.

    On each axis, documents are ranked by what ranks outliers. Documents with equal values share all their ranks, so
    that of tied documents either all are among the least likely 5 % or none. Critics of running text do not take part.

    Parameters
    ----------
    run
        A comparison, or a run folder.

    Raises
    ------
    UsageError
        The run has no such corpus, or fewer than two critics of documents.
    StoreError
        A file of the run is missing or damaged.
    """
    rows = outlier_rows(run, corpus=corpus, documents_only=True)
    if len(rows.results) < FEWEST:
        raise UsageError(
            f"several axes take two or more critics of documents, and {rows.name} has {len(rows.results)}",
            hint="give `momus compare` more critics, or list the outliers of one",
        )
    corpora = []
    for name in rows.listed:
        ranks: dict[str, list[OddAxis]] = {}  # by document: all its axes
        tails: dict[str, float] = {}  # by critic: share of the scored documents that are in its tail
        for result in rows.results:
            ranked = rows.ranked(name, result.name)
            n = len(ranked)
            for id, first, last in zip(ranked["id"], ranked["first"], ranked["last"], strict=True):
                ranks.setdefault(id, []).append(OddAxis(result.name, result.axis, int(first), int(last), n))
            # the share that there is, not 5 %: ties and few documents make tails smaller
            tails[result.name] = float((ranked["last"] <= TAIL * n).mean()) if n else 0.0
        corpora.append(_odd(name, ranks, tails))
    return corpora


def _odd(corpus: str, ranks: dict[str, list[OddAxis]], tails: dict[str, float]) -> SeveralCorpus:
    ids = sorted(ranks)
    # `last`: of tied documents, all or none are in the tail
    odd = {i: sorted((a for a in ranks[i] if a.last <= TAIL * a.scored), key=lambda a: a.last / a.scored) for i in ids}
    # documents that the same critics scored have the same chances
    of_critics = cache(lambda critics: at_least(np.array([tails[critic] for critic in critics])))
    chances = {i: of_critics(tuple(a.critic for a in ranks[i])) for i in ids}
    p = [float(chances[i][len(odd[i])]) for i in ids]  # P(as many axes or more)
    adjusted = np.asarray(holm(p)) if p else np.zeros(0)
    documents = [
        OddOnSeveral(corpus, i, tuple(odd[i]), len(ranks[i]), p[k], float(adjusted[k]))
        for k, i in enumerate(ids)
        if len(odd[i]) >= FEWEST
    ]
    documents.sort(key=lambda d: (d.p, d.id))
    expected = sum(float(chances[i][FEWEST]) for i in ids if len(chances[i]) > FEWEST)
    return SeveralCorpus(corpus, len(ids), tuple(tails), expected, tuple(documents))


def at_least(chances: Floats) -> Floats:
    """Probability of k or more successes in independent trials with these chances, for k = 0 … n: (n + 1,).

    >>> at_least(np.array([0.5, 0.5])).tolist()
    [1.0, 0.75, 0.25]
    """
    exactly = np.zeros(len(chances) + 1)  # P(k successes) so far: Poisson binomial by convolution
    exactly[0] = 1.0
    for chance in chances:
        # the right side is computed before it is assigned, so it still has the old exactly[0]
        exactly[1:] = exactly[1:] * (1 - chance) + exactly[:-1] * chance
        exactly[0] *= 1 - chance
    return np.minimum(np.cumsum(exactly[::-1])[::-1], 1.0)
