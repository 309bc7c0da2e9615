"""Types and tokens: does a document of a length hold as many different words as a real one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

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
from momus.text.corpus import Corpus
from momus.text.tokens import TokenTable
from momus_critics.fits import heaps as poisson

PIT_DIGITS = 3
PACK = 1 << 32


@dataclass(frozen=True)
class Growth:
    """Of each document: n-grams t and different n-grams v, int64 (n,)."""

    tokens: NDArray[np.int64]
    types: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tokens)


class TypeToken(TokenCritic[Growth], StatisticsMixin, EvidenceMixin):
    """z is the number of types in a document of t tokens; P_c(z) is Poisson with mean α t^β, by maximum likelihood.

    Lengths differ between texts, so what is tested is free of them: the Kolmogorov–Smirnov distance between the
    distributions of P_c's cumulative probability of z (its mid-point), which is uniform under P_c. The distances of
    Meister & Cotterell (2021, section 4) at each length stand in the evidence: D_p (text against text), D_p̂ (generated
    text against the law fitted on real text) and D_pθ (against the law fitted on itself).

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
    axis = "variety of words"
    question = "Do documents hold as many different words as real ones of their length? z is the number of types."
    headline = "ks"

    def __init__(self, *, tokens: str = "words", lower: bool = True, n: int = 1) -> None:
        super().__init__(tokens=tokens, lower=lower)
        self.n = n

    def fit(self, real: Corpus) -> Self:
        """Fit α and β."""
        if self.n < 1:
            raise UsageError(f"type-token: n is {self.n}", hint="n-grams have a length of at least 1")
        z = self.project(real.take(np.flatnonzero(real.tokens(self.tokenizer).lengths >= self.n)))
        self.alpha_, self.beta_ = poisson.fit(z.tokens, z.types)
        return self

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without an n-gram."""
        return [f"fewer than {self.n} tokens" if t < self.n else None for t in batch.tokens(self.tokenizer).lengths]

    def project(self, batch: Corpus) -> Growth:
        """Count n-grams and their types."""
        table = batch.tokens(self.tokenizer)
        return Growth(table.lengths - self.n + 1, count_types(table, self.n))

    def log_prior(self, latents: Growth) -> LogPrior:
        """log P_c(types | tokens)."""
        from scipy.stats import poisson as distribution

        return LogPrior.of_vectors(distribution.logpmf(latents.types, self._mean(latents)))

    def _mean(self, latents: Growth) -> NDArray[np.float64]:
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
        """KS distance of the quantiles under P_c; α and β of each text."""
        return (
            Statistic("ks", "quantile", "distance", kolmogorov_smirnov, ties=mean_gap),
            Statistic("beta", "growth", "value", poisson.betas),
            Statistic("alpha", "growth", "value", poisson.alphas, scale="log", effect="log_ratio"),
        )

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Growth of both texts with their laws; the three distances over length."""
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
            Chart("type-token", "Types in documents of a length", x, Axis("types", "log"), series),
            Chart(
                "type-token-distances",
                "Kolmogorov–Smirnov distances by length",
                x,
                Axis("distance"),
                curves,
                note="Documents are gathered into bins of about equal length, at least 20 of each text a bin; types "
                "are put on a common scale by the law of real text.",
            ),
            Table("type-token-law", "Law of each text", ("text", "documents", "α", "β"), rows),
        ]


def _unpack(summary: Pooled) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    pairs = {int(k): int(v) for k, v in summary.counts["pairs"].items()}
    packed = np.repeat(np.array(list(pairs), dtype=np.int64), list(pairs.values()))
    return packed // PACK, packed % PACK


def count_types(table: TokenTable, n: int) -> NDArray[np.int64]:
    """Number of different n-grams of each document, int64 (documents,)."""
    from momus.numeric.ragged import number_keys

    ids, documents, v = table.ids.astype(np.int64), table.documents, max(len(table.vocabulary), 1)
    grams = ids
    for k in range(1, n):
        grams = number_keys(grams[: len(ids) - k] * v + ids[k:])[0]
    starts = np.arange(max(len(ids) - n + 1, 0))
    inside = documents[starts] == documents[starts + n - 1] if len(starts) else np.zeros(0, dtype=bool)
    owner, grams = documents[: len(grams)][inside], grams[: len(starts)][inside]
    if not len(grams):
        return np.zeros(len(table), dtype=np.int64)
    _, first, _ = number_keys(owner * (int(grams.max()) + 1) + grams)
    return np.bincount(owner[first], minlength=len(table))
