"""Types and tokens: whether documents have as many different words as real ones of the same length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy.special import gammaln, pdtr, xlogy

from momus.critic import Counted, CountingCritic, Counts, LogPrior, Pooled, Reporting, Rows, Statistic, directions
from momus.critic.latents import Arrays
from momus.estimator import parametrized
from momus.evidence import Axis, Chart, Evidence, Role, Series, both
from momus.numeric.ragged import number_keys
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.text.corpus import Corpus
from momus.text.shingles import batches
from momus.text.tokens import TokenTable
from momus_critics.evidence import rounded
from momus_critics.fits import heaps as poisson

PIT_DIGITS = 3
"""Digits to which cumulative probabilities are rounded before they are counted."""
SPAN, ALIKE = (0.05, 0.95), 1.5
"""Documents are about as long where one of these quantiles of lengths is at most so many times the other."""
UNEQUAL = "another length than the others"
"""What a document must have for a law of growth."""
PACK = 1 << 32
"""Tokens and types of a document are counted as one integer, tokens · PACK + types."""


@dataclass(frozen=True)
class Growth(Arrays):
    """Numbers of n-grams t and of distinct n-grams v per document, int64 (n,)."""

    tokens: Ints
    types: Ints


@parametrized
class TypeToken(CountingCritic[Growth]):
    """z is the number of types in a document of t tokens; P_c(z) is Poisson with mean α t^β, by maximum likelihood.

    Lengths differ between texts, so the test statistic does not depend on them: it is the Kolmogorov–Smirnov distance
    between the two texts' distributions of the cumulative (mid-)probability of z under P_c. A law says nothing of
    longer documents than it was fitted on, so these are compared by their beginnings. Where real documents are all
    about as long, their first halves tell β, and the whole documents α. The
    evidence has the distances of Meister & Cotterell (2021, section 5.2) at each length: D_p (text against text), D_p̂
    (generated text against the law fitted on real text) and D_pθ (against the law fitted on itself).

    Parameters
    ----------
    order
        Length of the n-grams whose types are counted.

    >>> from momus import Corpus
    >>> critic = TypeToken().fit(Corpus.from_texts(["a b c", "a b a b c", "a", "a b"]))
    >>> round(critic.alpha_, 2), round(critic.beta_, 2)
    (1.23, 0.64)
    """

    name = "type-token"
    axis = "lexical diversity"
    question = "Do documents have as many different words as real ones of their length? z is the number of types."
    reporting = Reporting(
        headline="ks",
        general=True,
        directions=directions("more|less usual in diversity"),
        limits="It cannot see which words are used, nor how often each is: only how many are different.",
    )

    order: Annotated[int, Range(1, 100)] = 1

    def fit_counts(self, real: Corpus) -> Counts:
        """Count documents by their numbers of n-grams and of types."""
        # shorter documents have no n-gram, and log 0 no place in the regression
        rows = np.flatnonzero(real.tokens(self.tokenizer).lengths >= self.order)
        table = (real if len(rows) == len(real) else real.take(rows)).tokens(self.tokenizer)
        whole = table.lengths - self.order + 1  # (documents,)
        pairs, halves = (t * PACK + count_types(table, self.order, t) for t in (whole, np.maximum(whole // 2, 1)))
        return Counts.of_values(pairs=pairs, halves=halves)

    def fit_from(self, counts: Counts) -> Self:
        """Fit α and β to the documents' numbers of n-grams and of types."""
        pairs = counts.values("pairs")
        tokens = pairs // PACK
        self.longest_ = int(tokens.max(initial=1))
        short, long = np.quantile(tokens, SPAN) if len(tokens) else (1, 1)
        types = pairs % PACK
        if long < ALIKE * short:
            # documents of one length do not tell how types grow, but their first halves do
            both = np.concatenate([pairs, counts.values("halves")])
            self.beta_ = poisson.fit(both // PACK, both % PACK)[1]
            self.alpha_ = float(types.sum() / (tokens.astype(np.float64) ** self.beta_).sum())
        else:
            self.alpha_, self.beta_ = poisson.fit(tokens, types)
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents shorter than an n-gram."""
        return [
            f"fewer than {self.order} tokens" if t < self.order else None for t in batch.tokens(self.tokenizer).lengths
        ]

    def project(self, batch: Corpus) -> Growth:
        """Count n-grams and their types, in as many n-grams as the longest real document has."""
        table = batch.tokens(self.tokenizer)
        tokens = np.minimum(table.lengths - self.order + 1, self.longest_)
        return Growth(tokens, count_types(table, self.order, tokens))

    def log_prior(self, latents: Growth) -> LogPrior:
        """log P_c(types | tokens)."""
        return LogPrior.of_vectors(_log_poisson(latents.types, self._mean(latents)))

    def _mean(self, latents: Growth) -> Floats:
        return np.asarray(self.alpha_ * latents.tokens.astype(np.float64) ** self.beta_)

    def sufficient_statistics(self, latents: Growth) -> Mapping[str, Rows]:
        """Types beside their expectation, cumulative probability under P_c, and statistics of the growth law."""
        expected = self._mean(latents)
        # mid-probability, P(v < z) + P(v = z)/2: uniform on average although types are whole numbers
        middle = pdtr(latents.types, expected) - np.exp(_log_poisson(latents.types, expected)) / 2
        return {
            "types": np.column_stack([latents.types, expected]),
            "quantile": Counted.of_values(np.round(middle, PIT_DIGITS)),
            "growth": poisson.features(latents.tokens, latents.types),
            "pairs": Counted.of_values(latents.tokens * PACK + latents.types),
        }

    def statistics(self) -> Sequence[Statistic]:
        """KS distance between the cumulative probabilities under P_c; relative types; β of each text.

        ``relative_types`` is Σ v / Σ α t^β: the type–token ratio as a share of that of real documents of the same
        lengths, 1 where a text has as many different words as the law of real text expects.
        """
        words = "words" if self.order == 1 else f"{self.order}-grams"
        return (
            Statistic.ks("quantile", "Kolmogorov–Smirnov distance of diversity"),
            Statistic.relative(
                "relative_types",
                "types",
                "type–token ratio, relative to expectation",
                f"less|more varied in {words}",
                format="share",
            ),
            Statistic.value(
                "beta",
                "growth",
                poisson.betas,
                "exponent β of types against tokens",
                f"slower|faster to add new {words}",
                decides=False,
                needs=UNEQUAL,
            ),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Types against tokens with the law of real text; distances by length."""
        # tokens and types of each document
        pairs = {
            role: np.array([*summary.counts["pairs"].items()]).astype(np.int64).T
            for role, summary in both(real, generated)
        }
        samples = {role: divmod(np.repeat(*of), PACK) for role, of in pairs.items()}
        shortest, longest = samples["real"][0].min(), samples["real"][0].max()
        ends = np.unique(np.geomspace(shortest, longest, 40).astype(int)).astype(np.float64)
        alpha, beta = self.alpha_, self.beta_
        series = [
            *(
                Series(role, rounded(t), rounded(v), role, "points")
                for role, (t, v) in ((role, poisson.binned_means(*s)) for role, s in samples.items())
            ),
            Series(
                f"law of real text: {alpha:.3f} · t^{beta:.3f}", ends.tolist(), rounded(alpha * ends**beta), "fitted"
            ),
        ]
        lengths, distances = poisson.distances_by_length(
            samples["real"], samples["generated"], (alpha, beta), poisson.fit(*samples["generated"])
        )
        x = Axis("tokens t", "log")
        return [
            Chart(
                "type-token",
                "Different words by document length",
                x,
                Axis("types", "log"),
                series,
                note="Means over bins of documents of about the same length; the law is that of the text that the "
                "critic was fitted on.",
            ),
            *([_distances(lengths, distances, x)] if len(lengths) else ()),
        ]


def _distances(lengths: Floats, distances: Sequence[Floats], x: Axis) -> Chart:
    """All three distances by length."""
    roles: dict[str, Role] = {"D_p": "generated", "D_p̂": "reference", "D_pθ": "fitted"}
    at = rounded(lengths)
    curves = [Series(n, at, rounded(y, 4), role) for (n, role), y in zip(roles.items(), distances, strict=True)]
    return Chart(
        "type-token-distances",
        "Kolmogorov–Smirnov distances by document length",
        x,
        Axis("distance"),
        curves,
        note="D_p: generated text against real text, on a common scale by the law of real text. D_p̂: generated text "
        "against the law fitted on real text. D_pθ: generated text against the law fitted on itself (Meister & "
        "Cotterell 2021). Bins of lengths hold at least 20 documents of each text.",
    )


def _log_poisson(counts: Ints, means: Floats) -> Floats:
    """Log probability of counts under Poisson laws with these means."""
    return np.asarray(xlogy(counts, means) - gammaln(counts + 1) - means)


def count_types(table: TokenTable, n: int, most: Ints) -> Ints:
    """Count the distinct ones of the first ``most`` n-grams of each document: int64 (documents,)."""
    of_batches = [_count_types(table.slice(start, stop), n, most[start:stop]) for start, stop in batches(table)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *of_batches])


def _count_types(table: TokenTable, n: int, most: Ints) -> Ints:
    ids, documents, v = table.ids.astype(np.int64), table.documents, max(len(table.vocabulary), 1)
    # number the n-grams that start at each token, (tokens − n + 1,), one word longer each round
    grams = ids
    for k in range(1, n):
        grams = number_keys(grams[: len(ids) - k] * v + ids[k:])[0]
    # keep those that lie within one document, then count the first occurrence of each (document, n-gram)
    starts = np.arange(max(len(ids) - n + 1, 0))
    inside = documents[starts] == documents[starts + n - 1] if len(starts) else np.zeros(0, dtype=bool)
    owner, grams = documents[: len(grams)][inside], grams[: len(starts)][inside]
    places = starts[inside] - table.offsets[owner]  # of each n-gram in its document
    if not len(grams):
        return np.zeros(len(table), dtype=np.int64)
    _, first, _ = number_keys(owner * (int(grams.max()) + 1) + grams)
    return np.bincount(owner[first[places[first] < most[owner[first]]]], minlength=len(table))
