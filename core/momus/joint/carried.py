"""What differences of means rest on: documents that are broken, or a single one, without which a finding goes or comes.

Nothing is scored again: the values of the other documents are compared, by the interval of the row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from momus.critic.scores import Scores
from momus.evidence import Wording
from momus.joint.partners import measures
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.critic import Critic

Sides = tuple[Floats, Floats]
"""A value of each document of the reference and of a generated text, (n,) and (m,); NaN where it has none."""
Means = Mapping[tuple[str, str], Sides]
"""By generated text and statistic."""
HEAVY = 0.5
"""Share of the squared deviations of a text from its median that a single document has, to be looked at."""
FEWEST = 10
"""Documents of a text that must remain."""


@dataclass(frozen=True)
class Carried:
    """A difference that is there with some documents and not without them, or the other way.

    Attributes
    ----------
    document, corpus
        The single document, and its text; empty of all documents with a fault.
    value, others
        Of a single document, its value, and the mean of the others of its text.
    rises
        Whether the generated text has more, where the texts differ.
    differs
        Whether they differ without the documents.
    """

    critic: str
    statistic: str
    generated: str
    wording: Wording
    document: str = ""
    corpus: str = ""
    value: float = 0.0
    others: float = 0.0
    rises: bool = False
    differs: bool = False


def means_of(critic: Critic[Any], scored: list[Scores], verdicts: Sequence[Verdict]) -> dict[tuple[str, str], Sides]:
    """Values of documents of the statistics that are means of them, where these may differ, or a document is heavy."""
    p = {(v.generated, v.statistic): v.p for v in verdicts}
    means = {
        (other.corpus, m.statistic.name): (m.values[0], m.values[k])
        for m in measures(critic, scored)
        for k, other in enumerate(scored[1:], 1)
    }
    alpha = max((v.alpha for v in verdicts), default=0.0)
    return {
        key: sides
        for key, sides in means.items()
        if (p.get(key) or 1.0) <= alpha or any(_heaviest(x) is not None for x in sides)
    }


def carried(
    means: Mapping[tuple[str, str, str], Sides],
    verdicts: Sequence[Verdict],
    broken: Collection[tuple[str, str, str]],
    real: Corpus,
    generated: Sequence[Corpus],
) -> tuple[Carried, ...]:
    """What is gone without documents that are broken, and what changes without one document.

    Parameters
    ----------
    means
        By critic, generated text and statistic.
    broken
        Of these, those that tell of each document whether it has a fault, which are told.
    """
    rows = [(v, means[key]) for v in verdicts if (key := (v.critic, v.generated, v.statistic)) in means]
    texts = {corpus.name: corpus for corpus in generated}
    critics = {critic for critic, *_ in broken}
    # by generated text, which documents of both sides have a fault that is told
    flagged: dict[str, list[Bools]] = {}
    for key in broken:
        if key in means:
            before = flagged.get(key[1], [np.zeros(len(x), dtype=bool) for x in means[key]])
            flagged[key[1]] = [f | (x > 0) for f, x in zip(before, means[key], strict=True)]
    rests: list[Carried] = []
    for v, sides in rows:
        corpora = real, texts[v.generated]
        order = _order(v, corpora)
        if v.critic in critics or v.low is None or v.high is None or order is None:
            continue
        sides = sides[0][order[0]], sides[1][order[1]]
        of = v.critic, v.statistic, v.generated, v.wording
        if v.generated in flagged and v.differs:
            masks = [mask[rows_of] for mask, rows_of in zip(flagged[v.generated], order, strict=True)]
            _, differs = _without(v, sides, masks, 1)
            rests += [] if differs else [Carried(*of, rises=(v.difference or 0.0) > 0)]
        for k, i in _heavy(sides):
            masks = [np.arange(len(x)) == (i if side == k else -1) for side, x in enumerate(sides)]
            d, differs = _without(v, sides, masks, 1 if v.differs else len(verdicts))
            if differs != v.differs:
                document = corpora[k].ids[int(order[k][i])]
                value, others = float(sides[k][i]), float(np.nanmean(np.delete(sides[k], i)))
                rises = (d if differs else v.difference or 0.0) > 0
                rests.append(Carried(*of, document, corpora[k].name, value, others, rises, differs))
    return tuple(rests)


def _order(v: Verdict, corpora: tuple[Corpus, Corpus]) -> tuple[Ints, Ints] | None:
    """The documents of both texts that a row compares, in pairs if it does; None where prompts have several."""
    if v.method.design == "prompts":
        return None
    if v.method.design != "pairs":
        return np.arange(len(corpora[0])), np.arange(len(corpora[1]))
    places = [{p: i for i, p in enumerate(c.prompts) if p is not None} for c in corpora]
    both = [p for p in places[0] if p in places[1]]
    return np.array([places[0][p] for p in both]), np.array([places[1][p] for p in both])


def _heavy(sides: Sides) -> Iterator[tuple[int, int]]:
    return ((k, i) for k, x in enumerate(sides) if (i := _heaviest(x)) is not None)


def _heaviest(values: Floats) -> int | None:
    """The document that has most of the squared deviations of a text; None if there is none."""
    if np.isfinite(values).sum() <= FEWEST:
        return None
    squares = (values - np.nanmedian(values)) ** 2
    i = int(np.nanargmax(squares))
    # where most documents have one value, means of few others are no result
    return i if squares[i] > HEAVY * np.nansum(squares) and np.nanmedian(squares) > 0 else None


def _without(v: Verdict, sides: Sides, masks: Sequence[Bools], tests: int) -> tuple[float, bool]:
    """The difference without documents, and whether it differs: reaches of intervals are as standard errors.

    ``tests`` are the rows in which a difference could be found so, at one level for all.
    """
    known = [np.isfinite(x) for x in sides]
    keep = [k & ~mask for k, mask in zip(known, masks, strict=True)]
    if paired := v.method.design == "pairs":
        known, keep = [known[0] & known[1]] * 2, [keep[0] & keep[1]] * 2
    kept, whole = ([x[rows] for x, rows in zip(sides, of, strict=True)] for of in (keep, known))
    if min(map(len, kept)) < FEWEST or v.low is None or v.high is None or v.difference is None:
        return v.difference or 0.0, v.differs
    (d, error), (before, error_before) = ((b.mean() - a.mean(), _error(a, b, paired)) for a, b in (kept, whole))
    wider = float(ndtri(v.alpha / 2 / tests) / ndtri(v.alpha / 2))
    difference = float(v.difference + d - before)
    return difference, bool(abs(difference) * error_before > wider * (v.high - v.low) / 2 * error)


def _error(a: Floats, b: Floats, paired: bool) -> float:
    variance = (b - a).var(ddof=1) / len(a) if paired else a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)
    return float(np.sqrt(variance))
