"""What two texts count: summaries that keep examples, tests of many terms at once, and tables of log-odds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from momus.critic import Pooled
from momus.critic.shifts import Named, shift_table
from momus.evidence import Table
from momus.numeric.types import Floats, Ints

LEAST = 3
"""Documents of generated text that have something that is named as over-used."""

Ranked = tuple[float, str]
"""Rank of an example, the lowest is kept, and its text."""


@dataclass(frozen=True)
class Exampled(Pooled):
    """Totals over documents, and examples.

    Attributes
    ----------
    examples
        By what they are examples of, at most ``kept`` different texts with their ranks, in ascending order.
    kept
        Number of examples kept.

    >>> a = Exampled.of(Pooled(1), [("x", 2.0, "two"), ("x", 1.0, "one")])
    >>> (a + Exampled.of(Pooled(1), [("x", 0.0, "zero")])).texts("x")
    ['zero']
    """

    examples: Mapping[str, tuple[Ranked, ...]] = field(default_factory=dict)
    kept: int = 1

    @classmethod
    def of(cls, pooled: Pooled, examples: Iterable[tuple[str, float, str]], kept: int = 1) -> Exampled:
        """Keep the examples of lowest rank; of each it is given what it is one of, its rank and its text."""
        ranked: defaultdict[str, set[Ranked]] = defaultdict(set)
        for key, rank, text in examples:
            ranked[key].add((rank, text))
        best = {key: tuple(sorted(of)[:kept]) for key, of in sorted(ranked.items())}
        return cls(pooled.documents, pooled.arrays, pooled.counts, best, kept)

    def __add__(self, other: Pooled) -> Exampled:
        sides = self.examples, other.examples if isinstance(other, Exampled) else {}
        both = ((key, *one) for side in sides for key, examples in side.items() for one in examples)
        return Exampled.of(super().__add__(other), both, self.kept)

    def texts(self, key: str) -> list[str]:
        """The examples of something, those of lowest rank first."""
        return [text for _, text in self.examples.get(key, ())]

    def first(self, keys: Iterable[str]) -> list[str]:
        """Of each thing the example of lowest rank; empty if it has none."""
        return [next(iter(self.texts(key)), "") for key in keys]


def counts_of(
    real: Pooled,
    generated: Pooled,
    key: str,
    totals: tuple[float, float] | None = None,
    least: float = 0,
) -> tuple[list[str], Floats, Floats]:
    """What both texts count under a key, in order.

    Parameters
    ----------
    totals
        What the counts are a part of, for each text; by default, the number of documents.
    least
        Count in both texts together that a label needs.

    Returns
    -------
    V labels, and of each text the total, at least 1, and the count of each label: (1 + V,).

    >>> sides = [Pooled(4, {}, {"names": {"Ann": n}}) for n in (1, 3)]
    >>> [x if isinstance(x, list) else x.tolist() for x in counts_of(*sides, "names")]
    [['Ann'], [4.0, 1.0], [4.0, 3.0]]
    """
    a, b = ({str(k): v for k, v in t.counts.get(key, {}).items()} for t in (real, generated))
    labels = sorted(k for k in {*a, *b} if a.get(k, 0.0) + b.get(k, 0.0) >= least)
    of_a, of_b = totals or (real.documents, generated.documents)
    p = np.array([max(of_a, 1.0), *(a.get(k, 0.0) for k in labels)], dtype=np.float64)
    q = np.array([max(of_b, 1.0), *(b.get(k, 0.0) for k in labels)], dtype=np.float64)
    return labels, p, q


FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor, by which a hash of tokens is multiplied for each further token."""


def ranks(hashes: NDArray[np.uint64], starts: Ints, shifts: range) -> Floats:
    """An arbitrary number of each place that depends on the tokens around it alone, float64 (places,).

    Parameters
    ----------
    hashes
        uint64 (N,): a hash of each token.
    starts, shifts
        The places, and the tokens that count, relative to each of them.
    """
    total = np.zeros(len(starts), dtype=np.uint64)  # modulo 2⁶⁴: overflow is meant
    for shift in shifts:
        total = total * FACTOR + hashes[np.clip(starts + shift, 0, max(len(hashes) - 1, 0))]
    # 53 bits, which a float holds exactly: equal ranks are equal places
    return (total >> np.uint64(11)).astype(np.float64)


def first_of_each(kinds: Ints, rank: Floats) -> Ints:
    """The place of lowest rank of each kind.

    >>> first_of_each(np.array([7, 5, 7]), np.array([0.2, 0.1, 0.1])).tolist()
    [1, 2]
    """
    order = np.lexsort((rank, kinds))
    return np.asarray(order[np.unique(kinds[order], return_index=True)[1]])


PRIOR = 0.1
"""Size of the prior, as a share of the counts of both texts together."""
LARGEST_SHARE = 0.5
"""Higher Criticism looks at this share of the smallest p-values (α₀ of Donoho & Jin 2004)."""
CHUNK = 128
"""Resamples whose p-values are sorted together, which bounds memory."""


def log_odds(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Log-odds ratio of each term with an informative prior, and its z (Monroe et al. 2008, equations 16 and 22).

    The two outcomes are that a document has the term, and that it has not. Their prior is proportional to their counts
    in both texts together, so a rare term needs more evidence.

    Parameters
    ----------
    p, q
        (…, 1 + V): number of documents of each text, and how many have each term.

    >>> delta, z = log_odds(np.array([[40.0, 10.0, 10.0]]), np.array([[40.0, 20.0, 10.0]]))
    >>> delta.round(2).tolist(), z.round(2).tolist()
    ([[0.91, 0.0]], [[2.09, 0.0]])
    """
    tiny = 1e-9
    has, lacks = [], []
    for counts in (p, q):
        term, both = counts[..., 1:], (p + q)[..., 1:]  # (…, V)
        documents, all_documents = counts[..., :1], (p + q)[..., :1]
        has.append(np.maximum(term + PRIOR * both, tiny))
        lacks.append(np.maximum(documents - term + PRIOR * (all_documents - both), tiny))
    delta = np.log(has[1] / lacks[1]) - np.log(has[0] / lacks[0])
    # a term that no document or every document has says nothing
    total = (p + q)[..., 1:]
    known = (total > 0) & (total < (p + q)[..., :1] - tiny)
    # the variance of a log-odds is the sum of the reciprocal counts, prior included
    error = np.sqrt(sum(1 / x for x in (*has, *lacks)))
    return np.where(known, delta, 0.0), np.where(known, delta / error, 0.0)


def proportions_z(p: Floats, q: Floats) -> Floats:
    """z of the test that as large a share of the documents of both texts has each term, pooled variance: (…, V).

    >>> proportions_z(np.array([[40.0, 10.0, 0.0]]), np.array([[40.0, 20.0, 0.0]])).round(2).tolist()
    [[2.31, 0.0]]
    """
    a, b = (np.maximum(x[..., :1], 1e-9) for x in (p, q))  # a resample may leave out all documents of a text
    both, documents = p[..., 1:] + q[..., 1:], np.concatenate([a, b], axis=-1)
    # relabellings all have the same totals, and so the same errors
    same = p.ndim == 2 and bool((both == both[:1]).all() and (documents == documents[:1]).all())
    rows = slice(1) if same else slice(None)
    share = (both[rows] / (a + b)[rows]).clip(0, 1)  # pooled, (1 or B, V)
    error = np.sqrt(share * (1 - share) * (1 / a + 1 / b)[rows])
    return np.asarray((q[..., 1:] / b - p[..., 1:] / a) / np.where(error > 1e-12, error, np.inf))


def share_gaps(p: Floats, q: Floats) -> Floats:
    """Differences of shares on a scale on which chance alone makes them equally wide: Cohen's h, (…, V).

    h = 2 asin √q − 2 asin √p (Cohen 1988, section 6.2), of shares (x + 3/8)/(n + 3/4) (Anscombe 1948): 0.2 is small,
    0.5 medium. The first column holds the numbers n, the others how many of them have each term.

    >>> share_gaps(np.array([[100.0, 20.0, 0.0]]), np.array([[100.0, 36.0, 0.0]])).round(2).tolist()
    [[0.36, 0.0]]
    """
    roots = [
        np.arcsin(np.sqrt(((x[..., 1:] + 0.375) / (np.maximum(x[..., :1], 0.0) + 0.75)).clip(0, 1))) for x in (p, q)
    ]
    return np.asarray(2 * (roots[1] - roots[0]))


def largest_gap(p: Floats, q: Floats) -> Floats:
    """The largest |h| of a term, see `share_gaps`: (B,). Under relabelling, it tests all terms at once (max-T)."""
    return np.asarray(np.abs(share_gaps(p, q)).max(axis=-1, initial=0.0))


def largest_share_gap(p: Floats, q: Floats) -> Floats:
    """`largest_gap` of outcomes of which every trial has one, without a column of their numbers: (B,)."""
    return largest_gap(*(np.column_stack([x.sum(axis=1), x]) for x in (p, q)))


def two_sided(z: Floats) -> Floats:
    """Two-sided normal p-values."""
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-np.abs(z)))


def higher_criticism(p: Floats, q: Floats) -> Floats:
    """Higher Criticism of the terms' p-values, HC⁺ (Donoho & Jin 2004, section 1.3): (B,), 0 if no term differs.

    With the V p-values in ascending order, the largest √V (i/V − p_i) / √(p_i (1 − p_i)) over i ≤ V/2 and p_i ≥ 1/V.
    The first column is the number of documents and no term.

    >>> few = np.array([[100.0, *[20.0] * 100]])
    >>> some = np.array([[100.0, *[36.0] * 10, *[20.0] * 90]])
    >>> higher_criticism(few, few).tolist(), higher_criticism(few, some).round(2).tolist()
    ([0.0], [8.19])
    """
    out = np.zeros(len(p))
    terms = p.shape[1] - 1
    if terms < 2:
        return out
    half = max(int(LARGEST_SHARE * terms), 1)
    expected = np.arange(1, half + 1) / terms  # i/V
    for start in range(0, len(p), CHUNK):
        rows = slice(start, start + CHUNK)
        # the half of the terms with the smallest p-values, which are those of the largest |z|
        values = two_sided(np.sort(-np.abs(proportions_z(p[rows], q[rows])), axis=1)[:, :half])
        # p-values below 1/V count as 1/V: a few that are tiny by chance do not decide
        safe = np.clip(values, 1 / terms, 1 - 1e-12)
        score = np.sqrt(terms) * (expected - safe) / np.sqrt(safe * (1 - safe))
        out[rows] = score.max(axis=1).clip(min=0)
    return out


def mean_gap(p: Floats, q: Floats) -> Floats:
    """Mean difference between the shares of documents that have a term: (B,), in [0, 1]."""
    a, b = (x[:, 1:] / np.maximum(x[:, :1], 1e-9) for x in (p, q))
    return np.asarray(np.abs(b - a).mean(axis=1))


DOCUMENTS = "documents: "
"""Before the key of counts of things, the key of counts of the documents that have them."""
FEWEST = 5
"""Occurrences in both texts together that something needs to be listed."""


NOTE = (
    "Log-odds and z with an informative prior (Monroe et al. 2008); occurrences in one document depend on each other, "
    "so z orders the rows and is no test."
)


def usage_tables(
    sides: tuple[Exampled, Exampled],
    kind: str,
    title: str,
    item: str,
    unit: str,
    totals: tuple[float, float],
    shown: int,
    named: str = "",
) -> list[Table]:
    """What generated text uses more than real text, and less.

    Parameters
    ----------
    sides, kind
        Summaries of real and of generated text, and the key of the counts; that of documents begins with `DOCUMENTS`,
        that of examples is ``kind label``.
    title, item
        What all rows are, and what one row is.
    unit, totals
        What shares are taken of, per 1,000, and its number in each text.
    named
        What the first screen calls these things; empty: it does not name them.
    """
    names, p, q = counts_of(*sides, kind, totals, FEWEST)
    delta, z = log_odds(p, q)
    sizes = np.abs(share_gaps(p, q))
    # shares of documents with each, where they were counted
    within = [(t.counts.get(DOCUMENTS + kind, {}), max(t.documents, 1)) for t in sides]
    having = [np.array([held.get(n, 0.0) for n in names]) / documents for held, documents in within if held]
    tables = []
    for word, sign, source in (("over", 1.0, sides[1]), ("under", -1.0, sides[0])):
        at = np.flatnonzero(sign * z > 0)  # terms that this text uses more
        texts = [names[i] for i in at.tolist()]
        table = shift_table(
            f"{kind}-{word}-used",
            f"{title} that generated text {word}-uses",
            item,
            texts,
            (x[1:][at] / x[0] for x in (p, q)),
            f"per 1,000 {unit}",
            1000,
            effect=delta[at],
            measure="log-odds",
            by=z[at],
            more={"z": z[at].round(1).tolist()},
            examples=source.first(f"{kind} {text}" for text in texts),
            named=_named(named, at, sizes, having) if named else None,
            most=shown,
            note=NOTE,
        )
        tables.append(table)
    return tables


def _named(what: str, at: Ints, sizes: Floats, having: Sequence[Floats]) -> Named:
    """Items that are tested by their largest gap, with the shares of documents that have them, if there are any."""
    documents = (having[0][at], having[1][at]) if len(having) == 2 else None
    return Named(what, "largest_gap", np.ones(len(at), dtype=bool), sizes[at], documents=documents)
