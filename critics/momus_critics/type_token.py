"""Types and tokens: whether documents have as many different words as real ones of the same length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from momus.critic import (
    Counted,
    EvidenceMixin,
    LogPrior,
    Pooled,
    Rows,
    Statistic,
    StatisticsMixin,
    TokenCritic,
    kolmogorov_smirnov,
    mean_gap,
)
from momus.errors import UsageError
from momus.evidence import Axis, Cell, Chart, Evidence, Series, Table, both
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.text.tokens import TokenTable
from momus_critics.fits import heaps as poisson

PIT_DIGITS = 3
"""Digits to which cumulative probabilities are rounded before they are counted."""
PACK = 1 << 32
"""Tokens and types of a document are counted as one integer, tokens · PACK + types."""


@dataclass(frozen=True)
class Growth:
    """Numbers of n-grams t and of distinct n-grams v per document, int64 (n,)."""

    tokens: Ints
    types: Ints

    def __len__(self) -> int:
        return len(self.tokens)


class TypeToken(TokenCritic[Growth], StatisticsMixin, EvidenceMixin):
    """z is the number of types in a document of t tokens; P_c(z) is Poisson with mean α t^β, by maximum likelihood.

    Lengths differ between texts, so the test statistic does not depend on them: it is the Kolmogorov–Smirnov distance
    between the distributions of the cumulative (mid-)probability of z under P_c, which is uniform if P_c holds. The
    evidence has the distances of Meister & Cotterell (2021, section 4) at each length: D_p (text against text), D_p̂
    (generated text against the law fitted on real text) and D_pθ (against the law fitted on itself).

    Parameters
    ----------
    tokens, lower
        See `TokenCritic`.
    n
        Length of the n-grams whose types are counted.

    >>> from momus import Corpus
    >>> critic = TypeToken().fit(Corpus.from_texts(["a b c", "a b a b c", "a", "a b"]))
    >>> round(critic.alpha_, 2), round(critic.beta_, 2)
    (1.23, 0.64)
    """

    name = "type-token"
    axis = "lexical diversity"
    question = "Do documents have as many different words as real ones of their length? z is the number of types."
    headline = "ks"

    def __init__(self, *, tokens: str = "words", lower: bool = True, n: int = 1) -> None:
        super().__init__(tokens=tokens, lower=lower)
        self.n = n

    def fit(self, real: Corpus) -> Self:
        """Fit α and β."""
        if self.n < 1:
            raise UsageError(f"type-token: n is {self.n}", hint="give at least 1")
        z = self.project(real.take(np.flatnonzero(real.tokens(self.tokenizer).lengths >= self.n)))
        self.alpha_, self.beta_ = poisson.fit(z.tokens, z.types)
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents shorter than an n-gram."""
        return [f"fewer than {self.n} tokens" if t < self.n else None for t in batch.tokens(self.tokenizer).lengths]

    def project(self, batch: Corpus) -> Growth:
        """Count n-grams and their types."""
        table = batch.tokens(self.tokenizer)
        return Growth(table.lengths - self.n + 1, count_types(table, self.n))

    def log_prior(self, latents: Growth) -> LogPrior:
        """log P_c(types | tokens)."""
        from scipy.stats import poisson as distribution

        return LogPrior.of_vectors(distribution.logpmf(latents.types, self._mean(latents)))

    def _mean(self, latents: Growth) -> Floats:
        return np.asarray(self.alpha_ * latents.tokens.astype(np.float64) ** self.beta_)

    def sufficient_statistics(self, latents: Growth) -> Mapping[str, Rows]:
        """Cumulative probability under P_c, and the sufficient statistics of the growth law."""
        from scipy.stats import poisson as distribution

        mean = self._mean(latents)
        middle = distribution.cdf(latents.types, mean) - distribution.pmf(latents.types, mean) / 2
        return {
            "quantile": Counted.of_values(np.round(middle, PIT_DIGITS)),
            "growth": poisson.features(latents.tokens, latents.types),
            "pairs": Counted.of_values(latents.tokens * PACK + latents.types),
        }

    def statistics(self) -> Sequence[Statistic]:
        """KS distance between the cumulative probabilities under P_c; α and β of each text."""
        return (
            Statistic("ks", "quantile", "distance", kolmogorov_smirnov, ties=mean_gap),
            Statistic("beta", "growth", "value", poisson.betas),
            Statistic("alpha", "growth", "value", poisson.alphas, scale="log", effect="log_ratio"),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Types against tokens with the law of each text; the three distances by length."""
        series: list[Series] = []
        rows: list[tuple[Cell, ...]] = []
        samples = {}
        for role, summary in both(real, generated):
            tokens, types = _unpack(summary)
            samples[role] = tokens, types
            alpha, beta = poisson.fit(tokens, types)
            t, v = poisson.binned_means(tokens, types)
            series.append(Series(role, t.tolist(), v.tolist(), role, "points"))
            ends = np.unique(np.geomspace(1, tokens.max(), 40).astype(int)).astype(float)
            label = f"{role}: {alpha:.3f} · t^{beta:.3f}"
            series.append(Series(label, ends.tolist(), (alpha * ends**beta).tolist(), "fitted"))
            rows.append((role, len(tokens), alpha, beta))
        laws = (self.alpha_, self.beta_), (float(rows[1][2] or 0), float(rows[1][3] or 0))
        lengths, distances = poisson.distances_by_length(samples["real"], samples["generated"], *laws)
        curves = [
            Series(name, lengths.tolist(), d.tolist(), role)  # type: ignore[arg-type]
            for (name, role), d in zip(
                (("D_p", "generated"), ("D_p̂", "real"), ("D_pθ", "fitted")), distances, strict=True
            )
        ]
        x = Axis("tokens t", "log")
        return [
            Chart("type-token", "Types by document length", x, Axis("types", "log"), series),
            Chart(
                "type-token-distances",
                "Kolmogorov–Smirnov distances by length",
                x,
                Axis("distance"),
                curves,
                note="Documents are binned by length, at least 20 of each text per bin; numbers of types are put on a "
                "common scale by the law of real text.",
            ),
            Table("type-token-law", "Law of each text", ("text", "documents", "α", "β"), rows),
        ]


def _unpack(summary: Pooled) -> tuple[Ints, Ints]:
    """Tokens and types of each document, from the packed counts."""
    pairs = {int(k): int(v) for k, v in summary.counts["pairs"].items()}
    packed = np.repeat(np.array(list(pairs), dtype=np.int64), list(pairs.values()))
    return packed // PACK, packed % PACK


def count_types(table: TokenTable, n: int) -> Ints:
    """Count the distinct n-grams of each document: int64 (documents,)."""
    from momus.numeric.ragged import number_keys

    ids, documents, v = table.ids.astype(np.int64), table.documents, max(len(table.vocabulary), 1)
    # number the n-grams that start at each token, (tokens − n + 1,), one word longer each round
    grams = ids
    for k in range(1, n):
        grams = number_keys(grams[: len(ids) - k] * v + ids[k:])[0]
    # keep those that lie within one document, then count the first occurrence of each (document, n-gram)
    starts = np.arange(max(len(ids) - n + 1, 0))
    inside = documents[starts] == documents[starts + n - 1] if len(starts) else np.zeros(0, dtype=bool)
    owner, grams = documents[: len(grams)][inside], grams[: len(starts)][inside]
    if not len(grams):
        return np.zeros(len(table), dtype=np.int64)
    _, first, _ = number_keys(owner * (int(grams.max()) + 1) + grams)
    return np.bincount(owner[first], minlength=len(table))
