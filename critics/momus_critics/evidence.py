"""Evidence that many critics show alike: numbers as a reader can see them, series of figures, and marked passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.critic import Critic, Pooled
from momus.critic.hooks import tokenizer_of
from momus.evidence import Axis, Chart, MarkedDocument, Series, Step, both
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.text.plain import QUOTES, in_place
from momus.text.tokens import Tokenizer

S = TypeVar("S")
DIGITS = 5
"""Significant digits of the points of a series."""
POINTS = 101
"""Most points of a cumulative distribution."""


def percent(share: float) -> float:
    """A share in percent, rounded to hundredths.

    >>> percent(0.123456), percent(6e-8)
    (12.35, 0.0)
    """
    return round(100 * float(share), 2)


def rounded(values: Sequence[float] | NDArray[np.generic], digits: int = DIGITS) -> list[float]:
    """Numbers to some significant digits, which keeps the JSON of a figure short.

    >>> rounded([1234567.0, 0.000123456])
    [1234600.0, 0.00012346]
    """
    return [float(f"{v:.{digits}g}") for v in np.asarray(values, dtype=np.float64).tolist()]


def log_spaced(n: int, points: int) -> Ints:
    """About so many whole numbers from 1 to n, evenly spaced on a log axis.

    >>> log_spaced(5, 20).tolist()
    [1, 2, 3, 4, 5]
    """
    return np.unique(np.geomspace(1, max(n, 1), points).astype(np.int64))


def distributions(
    sides: tuple[Pooled, Pooled], key: str, name: str, title: str, x: Axis, of: str, factor: float = 1.0
) -> Chart:
    """Cumulative distributions of what real and generated text have, from their counts by number; ``of`` is a share.

    Each curve has at most `POINTS` points, evenly spaced in the cumulative share.

    >>> sides = Pooled(4, {}, {"n": {2.0: 1.0, 1.0: 3.0}}), Pooled(1, {}, {"n": {1.0: 1.0}})
    >>> chart = distributions(sides, "n", "numbers", "Numbers", Axis("n"), "share of words")
    >>> [curve.y for curve in chart.series]
    [[0.75, 1.0], [1.0]]
    """
    curves = []
    for role, side in both(*sides):
        values, counts = np.array(sorted(side.counts[key].items()), dtype=np.float64).T  # (V,) both
        cumulated = np.cumsum(counts) / counts.sum()
        pick = np.unique(np.searchsorted(cumulated, np.linspace(0, 1, POINTS)).clip(0, len(cumulated) - 1))
        curves.append(Series(role, rounded(factor * values[pick]), rounded(cumulated[pick]), role, "steps"))
    note = f"{of.capitalize()} up to x; the largest vertical gap is the Kolmogorov–Smirnov distance."
    return Chart(name, title, x, Axis(of), curves, note=note)


def curves(
    sides: tuple[S, S],
    points: Callable[[S], tuple[Floats, Floats]],
    name: str,
    title: str,
    axes: tuple[Axis, Axis],
    note: str = "",
    style: Literal["line", "steps"] = "line",
) -> Chart:
    """A curve of real and of generated text, through the points, x and y, that a function finds in each summary."""
    of_both = [(role, points(summary)) for role, summary in both(*sides)]
    series = [Series(role, rounded(x), rounded(y), role, style) for role, (x, y) in of_both]
    return Chart(name, title, *axes, series, note=note)


def means_by_class(rows: Floats, least: int) -> tuple[Bools, Floats]:
    """Which classes have at least so many members, (K,), and the means of these.

    Parameters
    ----------
    rows
        Of each class the total, then of each class the number of members, (2 K,).

    >>> used, means = means_by_class(np.array([6.0, 1.0, 3.0, 1.0]), 2)
    >>> used.tolist(), means.tolist()
    ([True, False], [2.0])
    """
    totals, members = np.split(rows, 2)
    used = members >= least
    return used, totals[used] / members[used]


SHOWN = 120
"""Tokens of a passage."""


@dataclass(frozen=True)
class Mark:
    """What is said of one marked token: its z, and a remark."""

    label: str
    note: str = ""


def words_of(document: Corpus, tokenizer: Tokenizer, without: str = "") -> list[str]:
    """The tokens of a corpus of one document, but for one, such as that which stands between paragraphs."""
    table = document.tokens(tokenizer)
    return [w for w in (table.vocabulary[i] for i in table.ids.tolist()) if w != without]


def marked(
    critic: Critic[Any], document: Corpus, latents: Any, steps: Sequence[Step], unit: str = "nats", note: str = ""
) -> MarkedDocument:
    """A corpus of one document as steps, with its Latent NLL: in all, or by step if the unit is ``nats per`` something.

    >>> from momus_critics.length import Length
    >>> critic, document = Length().fit(["a b", "a"]), Corpus.from_texts(["a"])
    >>> round(marked(critic, document, critic.project(document), [Step("short")]).value, 2)
    0.88
    """
    prior = critic.log_prior(latents)
    value = -float(prior.values[0]) / (1 if unit == "nats" else max(int(prior.steps[0]), 1))
    return MarkedDocument(document.name, document.ids[0], value, unit, steps, note)


def mark_passage(
    critic: Critic[Any],
    document: Corpus,
    latents: Any,
    words: Sequence[str],
    marks: Mapping[int, Mark],
    *,
    unit: str = "nats",
    values: Floats | None = None,
    shown: int = SHOWN,
    note: str = "",
) -> MarkedDocument:
    """Cut the passage with the most marks into steps: stretches without a mark, and marked tokens.

    Parameters
    ----------
    document
        A corpus of one document.
    words
        Its tokens, see `words_of`.
    marks
        The marked tokens, by position; neighbours with equal marks share a step.
    values
        Contribution of each token to the Latent NLL in nats, (N,).
    shown
        Tokens of the passage, at most.

    Returns
    -------
    See `marked`. The steps' texts, concatenated, are the passage as the document spells it, without signs of layout if
    the critic reads prose.

    >>> from momus_critics.length import Length
    >>> critic, corpus = Length().fit(["a b", "a"]), Corpus.from_texts(["The cat, the hat."])
    >>> z, words = critic.project(corpus), ["the", "cat,", "the", "hat."]
    >>> [(s.text, s.label) for s in mark_passage(critic, corpus, z, words, {2: Mark("repeat")}).steps]
    [('The cat, ', ''), ('the ', 'repeat'), ('hat.', '')]
    """
    tokenizer, source = tokenizer_of(critic), document[0].text
    source = source if tokenizer is None or tokenizer.reads == "everything" else in_place(source)
    hits = np.zeros(len(words), dtype=bool)
    hits[list(marks)] = True
    # the passage of so many tokens with the most hits, the first such one
    before = np.concatenate([[0], np.cumsum(hits)])
    start = int((before[shown:] - before[:-shown]).argmax()) if len(hits) > shown else 0
    stop = min(start + shown, len(words))
    steps: list[Step] = []
    previous: Mark | None = None
    spelled = _spelled(source, words, start, stop)
    for i, text in zip(range(start, stop), spelled, strict=True):
        mark = marks.get(i)
        nats = None if values is None else float(values[i])
        if steps and mark == previous:
            last = steps[-1]
            total = None if nats is None or last.value is None else last.value + nats
            steps[-1] = replace(last, text=last.text + text, value=total)
        else:
            steps.append(Step(mark.label if mark else "", text, nats, mark is not None, mark.note if mark else ""))
        previous = mark
    where = "" if stop - start == len(words) else f" Tokens {start + 1:,}–{stop:,} of {len(words):,}."
    return marked(critic, document, latents, steps, unit, (note + where).strip())


def highest(values: Floats) -> list[int]:
    """Positions of the highest values: a tenth of them, at least one, ties with the last included.

    >>> highest(np.array([1.0, 5.0, 2.0]))
    [1]
    """
    if not len(values):
        return []
    return np.flatnonzero(values >= np.quantile(values, 0.9)).tolist()


_ONE_SPELLING = str.maketrans(QUOTES | dict(zip("―—–‒‐‑…", "------.", strict=True)))
_SEEN = re.compile(r"\S")
APART = 12
"""Most characters between a token and the next one, beside those of tokens that were not found; a word may be behind
a sign that is none of the tokens."""


def _spelled(source: str, words: Sequence[str], start: int, stop: int) -> list[str]:
    """Each token of a passage as the text spells it, with what follows it up to the next token.

    Tokens are looked up one after another in the text with marks in one spelling, and near to each other: one that is
    not found (an entity, a ligature) loses no others.

    Parameters
    ----------
    source
        The text, with spaces where no token stands.
    """
    searched = _searchable(source)
    begins, ends, at, missed = [], [], 0, 0
    for word in words[:stop]:
        seen = _SEEN.search(searched, at)
        near = seen.start() if seen else at
        place = searched.find(_searchable(word), near, near + len(word) + missed + APART)
        begins.append(place if place >= 0 else at)
        at = place + len(word) if place >= 0 else at
        missed = 0 if place >= 0 else missed + len(word) + 1
        ends.append(at)
    last = ends[-1] if ends else 0
    following = [*begins[1:], len(source) if stop == len(words) else last]
    return [source[b:f] for b, f in zip(begins[start:stop], following[start:stop], strict=True)]


def _searchable(text: str) -> str:
    """A text in lower case, character for character, with marks in one spelling."""
    lowered = text.lower()
    # a few scripts have letters whose lower case is longer
    return (lowered if len(lowered) == len(text) else text).translate(_ONE_SPELLING)
