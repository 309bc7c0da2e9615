"""Names: which persons and places documents name, and whether all of them name the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from momus.critic import Counted, Counts, LogPrior, MergeableMixin, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.powers import ItemsMixin
from momus.critic.shifts import Named, shift_table
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import Ragged, distinct, float_sums, offsets_of, owners_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.evidence import Mark, mark_passage, percent
from momus_critics.fits.known import unseen_types
from momus_critics.prose.examples import LEAST, counts_of, largest_gap, share_gaps
from momus_critics.prose.reading import TERMINALS, Prose, ProseCritic

NO_NAMES = frozenset(
    (
        *("i", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february"),
        *("march", "april", "june", "july", "august", "september", "october", "november", "december", "ok", "mr"),
        *("mrs", "ms", "dr", "miss", "sir", "lord", "lady", "god", "christmas", "mom", "dad", "mum", "the", "a", "an"),
        *("he", "she", "it", "we", "you", "they", "and", "but", "or", "if", "so", "yes", "no", "of", "in", "my", "his"),
        *("her", "your", "our", "their", "this", "that", "what", "who", "how", "why", "when", "where", "there", "oh"),
    )
)
"""Words, in lower case, that begin with a capital and name nobody."""
HEADING = 3
"""Fewest capitals of a line without an end mark that is a heading, where most of its words have one."""
LEAD, LEAD_WORDS = 2, 8
"""Fewest capitals and most words of what leads in a sentence before a colon, as a heading does."""
SHOWN = 15
"""Names that a table shows."""


@dataclass(frozen=True)
class NameSets(Ragged):
    """The distinct names of n documents.

    Attributes
    ----------
    codes
        int64 (N,): numbers of the names of each document in turn, in ``names``.
    offsets
        int64 (n + 1,).
    names
        The distinct names of the batch, in alphabetical order.
    words
        int64 (n,): number of words of each document.
    """

    codes: Ints
    offsets: Ints
    names: tuple[str, ...]
    words: Ints


def name_tokens(prose: Prose) -> Bools:
    """Whether each token is of a name, (N,).

    A name is capitalised behind another word of its sentence somewhere in its document; it is then a name wherever that
    document has it with a capital. Headings show no names.
    """
    may_be = (
        len(w) > 1 and w[0].isupper() and w[1:].islower() and w.isalpha() and w.lower() not in NO_NAMES
        for w in prose.spelled
    )
    spelled = np.fromiter(may_be, bool, len(prose.spelled))[prose.codes]
    behind = np.zeros(len(spelled), dtype=bool)
    # the first word of a sentence has a capital whatever it is
    behind[1:] = prose.alphabetic[:-1] & (prose.sentences[1:] == prose.sentences[:-1])
    seen = spelled & behind & ~_in_headings(prose)
    # (document, word) pairs that were seen, looked up for all tokens
    keys = owners_of(prose.offsets) * len(prose.words) + prose.ids
    return spelled & np.isin(keys, np.unique(keys[seen]))


def _in_headings(prose: Prose) -> Bools:
    """Whether each token is of a heading within prose, (N,).

    That is a line with capitals and without an end mark, or with ``#``; or what leads in a sentence, with capitals,
    before a colon: *Time Management: plan ahead.*
    """
    if not len(prose.ids):
        return np.zeros(0, dtype=bool)
    first = prose.sentences - prose.sentences[0]  # (N,), from 0: `bincount` needs no long run of zeros
    words, capitals = np.bincount(first, prose.alphabetic), np.bincount(first, prose.capitalised)
    ended, marked = (np.bincount(first, prose.is_any(marks)) > 0 for marks in (TERMINALS, frozenset("#")))
    lines = marked | (~ended & (2 * capitals > words) & (capitals >= HEADING))
    # colons up to each token and before its sentence: (N,)
    colons = np.cumsum(prose.is_any(frozenset(":")))
    begins = np.searchsorted(first, np.arange(first[-1] + 1))
    before = np.concatenate([[0], colons])[begins]
    lead = (colons == before[first]) & (np.bincount(first, prose.is_any(frozenset(":"))) > 0)[first]
    words, capitals = (np.bincount(first, lead & x) for x in (prose.alphabetic, prose.capitalised))
    leads = (capitals >= LEAD) & (3 * capitals >= 2 * words) & (words <= LEAD_WORDS)
    return np.asarray(lines[first] | (lead & leads[first]))


def read_names(prose: Prose) -> NameSets:
    """The distinct names of each document; neighbouring capitals are names of their own."""
    mask = name_tokens(prose)
    owners = owners_of(prose.offsets)
    # a name counts once in each document, (2, pairs), by document
    pairs, _ = distinct(owners[mask], prose.ids[mask])
    used, codes = np.unique(pairs[1], return_inverse=True)
    names = tuple(prose.words[i].capitalize() for i in used.tolist())
    offsets = offsets_of(np.bincount(pairs[0], minlength=len(prose)))
    words = np.bincount(owners, prose.alphabetic, len(prose)).astype(np.int64)
    return NameSets(codes.astype(np.int64), offsets, names, words)


class Names(MergeableMixin, ProseCritic[NameSets], ItemsMixin):
    """z is the set of names of a document; P_c(z) draws them from a Pitman–Yor process over documents.

    The number of names is geometric, with a mean in proportion to the number of words. A name that c documents of real
    text have is drawn with the probability (c − d) / (N + θ), some new one with (θ + d V) / (N + θ), of which each has
    an equal part (`momus_critics.fits.known.unseen_types`), where real text has V names and N pairs of a document and a
    name; d and θ maximise the probability of its partition (Pitman 1995). People
    seldom name what others name; a generator that calls everybody Elena gives itself away over documents, which the
    largest difference in the share of one name measures.

    >>> from momus import Corpus
    >>> critic = Names().fit(Corpus.from_texts(["So Ann met Bob.", "Then Ann left.", "And Cid came to Rome."]))
    >>> z = critic.project(Corpus.from_texts(["It was Ann. Ann and Dora."]))
    >>> [z.names[i] for i in z.codes]
    ['Ann', 'Dora']
    """

    name = "names"
    axis = "names of persons and places"
    question = "Do documents name persons and places as real ones do, and others each? z is the set of names."
    sequence = True
    reporting = Reporting(
        together="folds",
        directions=directions("more|less usual in its names", "more|less usual in its names"),
        limits="It finds names by their capitals, as English spells them: to it, German nouns are names.",
        aggregated=False,
    )

    def fit_counts(self, real: Corpus) -> Counts:
        """Documents by name, and documents."""
        z = self.project(real)
        labels = [z.names[i] for i in range(len(z.names))]
        return Counts.of(names=(labels, np.bincount(z.codes, minlength=len(labels))), totals=[int(z.words.sum())])

    def fit_from(self, counts: Counts) -> Self:
        """Fit discount and strength."""
        names, documents = counts.table("names")
        self.names_ = [str(n) for n in names]
        self.documents_ = documents
        self.discount_, self.strength_ = fit_pitman_yor(documents)
        self.rate_ = float((documents.sum() + 0.5) / (int(counts.array("totals")[0]) + 1.0))  # names per word
        return self

    def project(self, batch: Corpus) -> NameSets:
        """Find the names."""
        return read_names(self._prose(batch))

    def log_prior(self, latents: NameSets) -> LogPrior:
        """log P_c(z): of the number of names, and of each of them; a step for each and one for the end."""
        nats = float_sums(self._log_probabilities(latents.names)[latents.codes], latents.offsets)
        # beside text without any name, a longer document does not lack more of them
        mean = self.rate_ * (np.maximum(latents.words, 1) if self.names_ else np.ones(len(latents)))
        number = latents.lengths * np.log(mean / (1 + mean)) - np.log1p(mean)
        return LogPrior(nats + number, latents.lengths + 1)

    def _log_probabilities(self, names: Sequence[str]) -> Floats:
        """log P of each name, (V,)."""
        known = dict(zip(self.names_, self.documents_.tolist(), strict=True))
        c = np.array([known.get(n, 0) for n in names], dtype=np.float64)
        new = (self.strength_ + self.discount_ * len(self.names_)) / unseen_types(self.documents_)
        return np.asarray(
            np.log(np.where(c > 0, c - self.discount_, new)) - np.log(self.documents_.sum() + self.strength_)
        )

    def sufficient_statistics(self, latents: NameSets) -> Mapping[str, Rows]:
        """Which documents have each name, names beside words, and names that real text has."""
        known = np.isin(np.array(latents.names, dtype=object).astype(str), np.array(self.names_).astype(str))
        shared = float_sums(known[latents.codes], latents.offsets)
        number = latents.lengths.astype(np.float64)
        names = Counted.of_tokens(latents.codes, latents.offsets, list(latents.names))
        ones = sparse.csr_array(np.ones((len(latents), 1)))
        return {
            # a column of ones counts the documents, of which shares are taken
            "names": Counted(sparse.csr_array(sparse.hstack([ones, names.matrix])), ["", *latents.names]),
            "rate": np.column_stack([1000 * number, latents.words]),
            "known": np.column_stack([shared, number]),
            "named": np.column_stack([number > 0, np.ones(len(latents))]),
        }

    tested = (
        Statistic.distance(
            "recurring_names",
            "names",
            largest_gap,
            "largest gap of a name (Cohen’s h of shares of documents)",
            uneven="itself",
            item="documents name",
        ),
        Statistic.relative(
            "name_rate", "rate", "different names", "poorer|richer in names", unit="per 1,000 words", needs="a name"
        ),
        Statistic.share(
            "known_share", "known", "names that the fitted text has", "newer|plainer in its names", needs="a name"
        ),
        Statistic.having("named_share", "named", "a name"),
    )

    def items(self, rows: Mapping[str, Rows]) -> Mapping[str, Counted]:
        """Which names documents have."""
        names = rows["names"]
        assert isinstance(names, Counted)
        return {"names": names}

    def summarize(self, latents: NameSets) -> Pooled:
        """Documents by name."""
        table = Counted.of_tokens(latents.codes, latents.offsets, list(latents.names))
        return Pooled(len(latents), {}, {"names": table.total()})

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Names by how much their share of documents differs, and how often two documents share a name."""
        texts, p, q = counts_of(real, generated, "names")
        a, b = p[1:] / p[0], q[1:] / q[0]
        which = np.maximum(p[1:], q[1:]) >= LEAST
        named = Named("names", "recurring_names", which, np.abs(share_gaps(p, q)), 5)
        # pairs of documents that share a name, per pair of documents
        pairs = [percent((x[1:] * (x[1:] - 1)).sum() / max(x[0] * (x[0] - 1), 1)) for x in (p, q)]
        note = f"A hundred pairs of documents share {pairs[0]:g} names in real text, {pairs[1]:g} in generated text."
        of: dict[str, Any] = {"named": named, "most": SHOWN, "note": note}
        return [shift_table("names", "Names that differ most", "name", texts, (a, b), "% of documents", **of)]

    def explain(self, document: Corpus) -> MarkedDocument | None:
        """Mark the names, with the share of real documents that have each."""
        prose = self._prose(document)
        mask = name_tokens(prose)
        words = prose.tokens()
        known = dict(zip(self.names_, self.documents_.tolist(), strict=True))
        marks = {}
        for i in np.flatnonzero(mask).tolist():
            seen = known.get(words[i].capitalize(), 0)
            marks[i] = Mark("name" if seen else "new name", f"in {counted(seen, 'document')} of the fitted text")
        return mark_passage(self, document, self.project(document), words, marks)


def fit_pitman_yor(counts: NDArray[np.integer]) -> tuple[float, float]:
    """Discount in [0, 1) and strength above 0 that maximise the probability of a partition (Pitman 1995, equation 9).

    Parameters
    ----------
    counts
        (V,) number of members of each block.

    >>> d, theta = fit_pitman_yor(np.array([1] * 60 + [2] * 12 + [5] * 4 + [40]))
    >>> 0.3 < d < 0.9 and theta > 0
    True
    """
    from scipy.optimize import minimize
    from scipy.special import gammaln

    sizes, times = np.unique(np.asarray(counts, dtype=np.float64), return_counts=True)
    v, n = float(times.sum()), float(sizes @ times)
    if n < 2:
        return 0.5, 1.0

    def loss(x: Floats) -> float:
        d, theta = 1 / (1 + np.exp(-x[0])), np.exp(x[1])
        # Π (θ + i d) for i < V, over Π (θ + i) for i < N, times Π Γ(c − d) / Γ(1 − d)
        tables = v * np.log(d) + gammaln(theta / d + v) - gammaln(theta / d)
        customers = gammaln(theta + n) - gammaln(theta)
        return float(-(tables - customers + times @ (gammaln(sizes - d) - gammaln(1 - d))) / n)

    optimum = minimize(loss, np.array([0.0, 1.0]), method="L-BFGS-B", bounds=[(-12.0, 8.0), (-8.0, 16.0)])
    return float(1 / (1 + np.exp(-optimum.x[0]))), float(np.exp(optimum.x[1]))
