"""`choose`: which of two documents is odder, pair by pair, and how often two human documents differ as much.

Documents of which most pairs of neighbouring words agree are *versions* of one text: what they share cancels out, and
the one whose changes cost more is odder. With e as in `momus.review.yardstick`, w the words of the longer and m the
neighbouring words that only one of them has,

    d = √(w / m) · Σ_k weight_k (e_k(A) − e_k(B)) + Σ −log rate of faults of A − Σ −log rate of faults of B

The factor says how far two documents of m words would differ. Other documents differ by the surprise behind their p
and by faults. In both cases the share of pairs of held-out human documents with a larger |d| is the error rate.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.numeric.types import Floats, Ints
from momus.outliers.conformal import Above
from momus.progress import Reporter
from momus.review.body import Body, faults_of
from momus.review.judging import CONTRAST, Review, Reviewed, review
from momus.review.spans import MOST, Span, word_counts
from momus.text.corpus import Corpus

WEIGHTS = {"perplexity": (1.0, 0.0), "marks": (0.5, 0.0), "rhythm": (0.25, 0.0), "repetition": (0.5, 0.5)}
"""What a difference between versions counts under a critic, and how much of it is chance; others told nothing."""
FARTHEST = 9.0
"""Differences of more standard deviations count as so many."""
REASONS = 3
"""Most reasons of one pair; each is at least a quarter as large as the first."""
TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Reason:
    """An axis or a fault that makes one document odder: what it adds to the difference, in nats, and where."""

    axis: str
    size: float
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two documents.

    Attributes
    ----------
    ids, p
        Of both: the ids, and the share of human documents that are at least as odd, None if it is not judged.
    odder
        0 or 1; None if they are equally odd, or one of them is not judged.
    rate
        Share of pairs of held-out human documents that differ at least as much; None if one is not judged.
    versions
        Whether they are versions of one text.
    reasons
        What only the odder one has, the largest first.
    spans
        Of versions, the first places in the odder one that the other one lacks.
    """

    ids: tuple[str, str]
    p: tuple[float | None, float | None]
    odder: int | None
    rate: float | None
    versions: bool
    reasons: tuple[Reason, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Pairs of documents, the names and reviews of both sides, and how many documents of each have no partner."""

    names: tuple[str, str]
    reviews: tuple[Review, Review]
    pairs: tuple[Pair, ...]
    left_out: tuple[int, int] = (0, 0)

    def odder(self, side: int, level: float = 1.0) -> int:
        """In how many pairs a side is odder, with an error rate of at most ``level``."""
        return sum(pair.odder == side and (pair.rate or 0.0) <= level for pair in self.pairs)


def _numbers(
    corpus: Corpus, measured: tuple[Floats, Floats], faults: Sequence[Sequence[str]], body: Body
) -> tuple[Floats, Floats, list[dict[str, float]]]:
    """On the scale of each fold, e, (folds, n, critics), and surprises; and the surprise of each document's faults.

    The surprises are those by critic, and over all; ``measured`` as `Body.measure`.
    """
    values, odds = measured
    words, scales = word_counts([d.text for d in corpus]), body.whole.scales
    judged = np.array([s.judge(values, odds[:, k : k + 1], words)[0] for k, s in enumerate(scales)])
    freed = np.nan_to_num(np.array([s.lengths.freed(values, words) for s in scales]))
    return freed, judged, [{name: float(-np.log(body.rate(name))) for name in of} for of in faults]


@dataclass(frozen=True)
class _Side:
    """Some paired documents of one side, their texts and reviews, and what they are compared by, see `_numbers`."""

    texts: list[str]
    documents: list[Reviewed]
    freed: Floats
    judged: Floats
    faults: list[dict[str, float]]

    @classmethod
    def of(cls, side: Corpus, rows: Ints, alone: Review, measured: tuple[Floats, Floats], body: Body) -> _Side:
        """Measure what compares documents, (rows,), of one side."""
        some, documents = side.take(rows), [alone.documents[i] for i in rows]
        values, odds = measured
        numbers = _numbers(some, (values[rows], odds[rows]), [d.faults for d in documents], body)
        return cls([d.text for d in some], documents, *numbers)


def choose(
    documents: Corpus,
    against: Corpus,
    body: Body,
    level: float = 0.05,
    reporter: Reporter | None = None,
    by: str = "",
) -> Choice:
    """Say of each pair of documents which is odder, with reasons and error rate.

    Documents are paired by prompt, else by id, else in their order. Others are left out, and counted. With ``by``, a
    pair whose documents agree in this field is compared by human documents of its category, as in `review`; where one
    has no such field, that of the other counts.

    Raises
    ------
    UsageError
        Nothing pairs the documents, or `review` refuses.

    Examples
    --------
    >>> from momus.review import fit_body
    >>> rng = np.random.default_rng(0)
    >>> words = ["blue", "cat", "dog", "house", "red", "runs", "sees", "tree"]
    >>> sentence = lambda: " ".join(rng.choice(words, 5 + rng.poisson(3))).capitalize() + "."
    >>> texts = [" ".join(sentence() for _ in range(20)) for _ in range(101)]
    >>> body = fit_body(Corpus.from_texts(texts[:100]), critics=["perplexity", "rhythm"])
    >>> new = Corpus.from_texts([texts[100].replace("dog", "gdo", 1)], name="new")
    >>> choose(new, Corpus.from_texts(texts[100:], name="old"), body).pairs[0].odder
    0
    """
    rows = _paired(documents, against)
    sides = [side.take(of, side.name) for side, of in zip((documents, against), rows.T, strict=True)]
    of_categories = body.categories(by, level) if by else {}
    both = zip(*(side.field(by) for side in sides), strict=True) if by else [("", "")] * len(rows)
    names = [(a or b) if a == b or not (a and b) else None for a, b in both]
    sides = [side.with_field(by, names) for side in sides] if by else sides
    measured = [body.measure(side) for side in sides]
    alone = [review(s, body, level, reporter, by, m) for s, m in zip(sides, measured, strict=True)]
    weights = np.array([WEIGHTS.get(critic.name, (0.0, 0.0)) for critic in body.critics]).reshape(-1, 2)
    classes = np.array([name if name in of_categories else "" for name in names])
    pairs: dict[int, Pair] = {}
    for name in np.unique(classes).tolist():
        judges, of_class = of_categories.get(name, body), np.flatnonzero(classes == name)
        held = _human(judges, weights)
        both_sides = [_Side.of(s, of_class, r, m, judges) for s, r, m in zip(sides, alone, measured, strict=True)]
        pairs |= {row: _pair(i, both_sides, weights, held, judges) for i, row in enumerate(of_class.tolist())}
    left_out = len(documents) - len(rows), len(against) - len(rows)
    ordered = tuple(pairs[i] for i in range(len(rows)))
    return Choice((documents.name, against.name), (alone[0], alone[1]), ordered, left_out)


def _pair(i: int, sides: Sequence[_Side], weights: Floats, held: tuple[list[Above], list[Above]], body: Body) -> Pair:
    """Compare the i-th documents of both sides."""
    a, b = sides
    judged, texts = [side.documents[i] for side in sides], [side.texts[i] for side in sides]
    changed, longer = _changed(*texts)
    versions = 2 * changed < longer and bool(weights.any())
    axes = [critic.axis for critic in body.critics]
    if versions:
        parts = _weighed(a.freed[:, i] - b.freed[:, i], weights) * np.sqrt(longer / max(changed, 1))
        d = parts.sum(axis=1)
    else:
        parts = a.judged[:, i, :-1] - b.judged[:, i, :-1]
        d = np.full(len(parts), (judged[0].surprise or 0.0) - (judged[1].surprise or 0.0))
        if body.contrast is not None:
            axes, parts = [CONTRAST], d[:, None]
    d = d + sum(a.faults[i].values()) - sum(b.faults[i].values())
    share = float(np.mean([above(abs(d[k])) for k, above in enumerate(held[int(versions)])]))
    rate = min((1 + body.whole.units * share) / (body.whole.units + 1), 1.0)
    ids, p = (judged[0].id, judged[1].id), (judged[0].p, judged[1].p)
    if None in p or abs(d.mean()) < 1e-9:
        return Pair(ids, p, None, None if None in p else rate, versions)
    odder, sign = (0, 1) if d.mean() > 0 else (1, -1)
    has, lacks = sides[odder].faults[i], sides[1 - odder].faults[i]
    sizes = dict(zip(axes, (sign * parts.mean(axis=0)).tolist(), strict=True))
    sizes |= {name: size for name, size in has.items() if name not in lacks}
    spans = _new(*texts[::sign]) if versions else ()
    return Pair(ids, p, odder, rate, versions, _reasons(sizes, judged[odder]), spans)


def _paired(a: Corpus, b: Corpus) -> Ints:
    """Row numbers of the pairs: by prompt (the n-th answer to each), by id, or by order, (pairs, 2)."""
    for of_a, of_b in (_named(a.prompts), _named(b.prompts)), (_named(a.ids), _named(b.ids)):
        if common := [(i, of_b[key]) for key, i in of_a.items() if key in of_b]:
            return np.array(common, dtype=np.int64)
    if len(a) != len(b):
        raise UsageError(
            f"{a.name} has {len(a)} documents, {b.name} {len(b)}, and they share no prompt and no id: no pairs",
            hint=f"give the documents and those of {arg('against')} the same prompt_id or id",
        )
    return np.column_stack([np.arange(len(a))] * 2)


def _named(names: Sequence[str | None]) -> dict[tuple[str, int], int]:
    """The row of each name and how often it came before."""
    seen = Counter[str]()
    rows = {}
    for i, name in enumerate(names):
        if name is not None:
            rows[name, seen[name]] = i
            seen[name] += 1
    return rows


def _changed(a: str, b: str) -> tuple[int, int]:
    """How many pairs of neighbouring words and marks only one text has, and how many the longer one has.

    >>> _changed("It rained all day.", "It rained all of the day.")
    (3, 6)
    """
    first, second = (Counter(pairwise(TOKEN.findall(text))) for text in (a, b))
    return max((first - second).total(), (second - first).total()), max(first.total(), second.total())


def _new(text: str, other: str) -> tuple[Span, ...]:
    """The first places of a text that another version of it lacks; where it lacks something, the words around.

    >>> [span.text for span in _new("It rained al of the day.", "It rained all day.")]
    ['al of the']
    """
    tokens = list(TOKEN.finditer(text))
    matcher = SequenceMatcher(None, [t.group() for t in tokens], TOKEN.findall(other), autojunk=False)
    spans = []
    for what, i, j, _, _ in matcher.get_opcodes():
        if what != "equal" and tokens:
            around = tokens[max(i - 1, 0) : j + 1] if i == j else tokens[i:j]
            start, stop = around[0].start(), around[-1].end()
            spans.append(Span(start, stop, text.count("\n", 0, start) + 1, text[start:stop], "", "", None))
    return tuple(spans[:MOST])


def _weighed(difference: Floats, weights: Floats) -> Floats:
    """What differences under critics count between versions, (..., critics)."""
    weight, chance = weights.T
    size = np.clip(np.abs(difference) - chance, 0.0, FARTHEST)
    return np.asarray(weight * np.sign(difference) * size)


def _human(body: Body, weights: Floats) -> tuple[list[Above], list[Above]]:
    """By fold, the share of pairs of held-out documents that differ at least so much: as others, and as versions."""
    folds, weight = body.folds
    freed, judged, named = _numbers(body.held, (body.values, body.odds), faults_of(body.watch, body.held), body)
    faults = np.array([sum(of.values()) for of in named])
    groups = np.array([d.id if d.group is None else f"group {d.group}" for d in body.held])
    others, versions = [], []
    for k in range(len(body.whole.scales)):
        rows = np.flatnonzero(folds == k)
        i, j = (rows[side] for side in np.triu_indices(len(rows), 1))
        share = np.append(weight[i] * weight[j] * (groups[i] != groups[j]), 1e-9)  # without any pair, nothing is told
        share /= share.sum()
        broken = faults[i] - faults[j]
        signed = _weighed(freed[k, i] - freed[k, j], weights).sum(axis=1)
        others.append(Above.of(np.append(abs(judged[k, i, -1] - judged[k, j, -1] + broken), np.inf), share))
        versions.append(Above.of(np.append(abs(signed + broken), np.inf), share))
    return others, versions


def _reasons(sizes: dict[str, float], odder: Reviewed) -> tuple[Reason, ...]:
    """The largest of what adds to the difference; places are those of the review."""
    places = {axis.axis: axis.spans for axis in (*odder.remarks, *odder.axes)}
    ordered = sorted(sizes.items(), key=lambda item: -item[1])[:REASONS]
    return tuple(Reason(axis, size, places.get(axis, ())) for axis, size in ordered if size > max(ordered[0][1] / 4, 0))
