"""Documents of a run that are odd on several axes at once, and how many would be so by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.cli.outliers import chosen_corpora, shared_ranks
from momus.errors import UsageError
from momus.inference import holm
from momus.numeric.types import Floats
from momus.report.format import p_value
from momus.report.safe import one_line
from momus.report.sentences import axes
from momus.runs.folder import RunFolder
from momus.runs.oddity import is_sequence, values_of
from momus.runs.scored import scored_documents

if TYPE_CHECKING:
    from rich.console import RenderableType

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
class OddDocument:
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
class OddCorpus:
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
    documents: tuple[OddDocument, ...]


def odd_documents(run: Path, corpus: str | None = None) -> list[OddCorpus]:
    """Find the documents of each generated corpus, or of one corpus, that are odd on several axes.

    On each axis, documents are ranked by Latent NLL (per step for sequences). Documents with equal values share all
    their ranks, so that of tied documents either all are among the least likely 5 % or none. Critics of running text
    do not take part.

    Raises
    ------
    UsageError
        The run has no such corpus, or fewer than two critics of documents.
    StoreError
        A file of the run is missing or damaged.
    """
    folder = RunFolder(run)
    record = folder.read_run()
    results = [
        r
        for r in folder.results(c["name"] for c in record["critics"])
        if r.verdicts and all(v.unit == "document" for v in r.verdicts)
    ]
    if len(results) < FEWEST:
        raise UsageError(
            f"{run}: --all-critics needs two critics of documents or more, and this run has {len(results)}",
            hint="give `momus compare` more critics, or name one with --critic",
        )
    frame = scored_documents(run, [r.name for r in results])
    _, names = chosen_corpora(run, record, corpus)
    found = []
    for name in names:
        ranks: dict[str, list[OddAxis]] = {}  # by document: all its axes
        tails: dict[str, float] = {}  # by critic: share of the scored documents that are in its tail
        for result in results:
            rows = frame[(frame["corpus"] == name) & (frame["critic"] == result.name)]
            values = values_of(rows, is_sequence(result.verdicts, result.name))
            order = np.argsort(-values, kind="stable")
            first, last = shared_ranks(values[order])
            n = len(rows)
            for i, row in enumerate(order):
                axis = OddAxis(result.name, result.axis, int(first[i]), int(last[i]), n)
                ranks.setdefault(rows["id"].iloc[row], []).append(axis)
            tails[result.name] = float(np.mean(last <= TAIL * n)) if n else 0.0
        found.append(_odd(name, ranks, tails))
    return found


def _odd(corpus: str, ranks: dict[str, list[OddAxis]], tails: dict[str, float]) -> OddCorpus:
    ids = sorted(ranks)
    odd = {i: sorted((a for a in ranks[i] if a.last <= TAIL * a.scored), key=lambda a: a.last / a.scored) for i in ids}
    chances = {i: at_least(np.array([tails[a.critic] for a in ranks[i]])) for i in ids}
    p = [float(chances[i][len(odd[i])]) for i in ids]
    adjusted = np.asarray(holm(p)) if p else np.zeros(0)
    documents = [
        OddDocument(corpus, i, tuple(odd[i]), len(ranks[i]), p[k], float(adjusted[k]))
        for k, i in enumerate(ids)
        if len(odd[i]) >= FEWEST
    ]
    documents.sort(key=lambda d: (d.p, d.id))
    expected = sum(float(chances[i][FEWEST]) for i in ids if len(chances[i]) > FEWEST)
    return OddCorpus(corpus, len(ids), tuple(tails), expected, tuple(documents))


def at_least(chances: Floats) -> Floats:
    """Probability of k or more successes in independent trials with these chances, for k = 0 … n: (n + 1,).

    >>> at_least(np.array([0.5, 0.5])).tolist()
    [1.0, 0.75, 0.25]
    """
    exactly = np.zeros(len(chances) + 1)
    exactly[0] = 1.0
    for chance in chances:
        exactly[1:] = exactly[1:] * (1 - chance) + exactly[:-1] * chance
        exactly[0] *= 1 - chance
    return np.minimum(np.cumsum(exactly[::-1])[::-1], 1.0)


def odd_view(found: Sequence[OddCorpus], top: int) -> RenderableType:
    """Build a list of the ``top`` odd documents of each corpus, for a terminal of 80 columns."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = []
    for c in found:
        head = f"{one_line(c.corpus)}: {len(c.documents):,} of {c.scored:,} documents are odd on two axes or more"
        parts.append(Text(f"{head} of {len(c.critics)} ({c.expected:.1f} by chance)", style="bold"))
        for d in c.documents[:top]:
            sure = f"p = {p_value(d.p_adjusted)} adjusted"
            parts.append(Text("  ").append(one_line(d.id), style="bold").append(f"  {axes(len(d.axes))}, {sure}"))
            where = "; ".join(f"{one_line(a.axis)} ({_rank(a)} of {a.scored:,})" for a in d.axes)
            parts.append(Padding(Text(where), (0, 0, 0, 4)))
        more = len(c.documents) - top
        parts += [Text(f"  and {more:,} more; --top lists them", style="dim")] if more > 0 else []
        parts.append(Text(""))
    parts.append(
        Text(
            "Odd: among the 5 % least likely documents of the corpus. Chance and p: as if axes were independent; "
            "related axes, such as length and lexical diversity, make more documents odd together.",
            style="dim",
        )
    )
    return Group(*parts)


def _rank(axis: OddAxis) -> str:
    return str(axis.first) if axis.first == axis.last else f"{axis.first}–{axis.last}"


def odd_json(found: Sequence[OddCorpus]) -> list[dict[str, Any]]:
    """Odd documents as plain lists, strings and numbers."""
    return [asdict(c) for c in found]
