"""Verdicts in words: all sentences about a row, composed from its fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from momus.comparison.verdict import Verdict
from momus.report.format import number, p_value

STATISTICS = {
    "latent_nll": "Latent NLL (nats per document)",
    "latent_ppl": "Latent PPL",
    "posterior_entropy": "entropy of the aggregated posterior (nats)",
    "posterior_divergence": "divergence of the aggregated posteriors (nats)",
    "ks": "Kolmogorov–Smirnov distance",
    "tvd": "total variation",
    "sup": "largest difference in the share of a word",
    "unlikely_share": "share of unlikely transitions",
    "pronoun_share": "share of pronouns among mentions",
    "unintroduced_share": "share of persons first mentioned by a pronoun",
    "mentions_per_sentence": "mentions per sentence",
    "mixing_index": "mixing index",
    "mixed_share": "share of mixed documents",
    "distance": "distance from typical topics (squared Mahalanobis)",
    "topic_entropy": "topic entropy per document (nats)",
    "return_share": "share of passages that return",
    "repetition_share": "share of repetitions",
    "mean_length": "mean length (tokens)",
    "exponent": "exponent",
    "ks_real_law": "KS distance to the law of real text",
    "ks_own_law": "KS distance to the text's own law",
}
"""Names of statistics for readers."""


def statistic_name(name: str) -> str:
    """Name a statistic for readers; a name without an entry is printed with spaces for underscores.

    >>> statistic_name("my_share")
    'my share'
    """
    return STATISTICS.get(name, name.replace("_", " "))


def says(verdict: Verdict) -> str:
    """Return the verdict: ``differs``, ``not told apart`` or ``not tested``."""
    if verdict.p_adjusted is None:
        return "not tested"
    return "differs" if verdict.differs else "not told apart"


def shows(verdict: Verdict) -> str:
    """Return ``shown`` or ``not shown`` to lie within ±δ, or a dash if that was not tested."""
    return "–" if verdict.equivalent is None else ("shown" if verdict.equivalent else "not shown")


def method(verdict: Verdict) -> str:
    """Describe how the row was tested and how its interval was computed."""
    m = verdict.method
    if m.test == "none":
        return "not tested"
    if m.family == "law":
        test = (
            f"permutation test, {m.permutations} random relabellings of groups, interval from their quantiles"
            if m.test == "relabelled groups"
            else "Welch's t-test on jackknife standard errors"
            + (", which include random orders of groups" if m.error == "shuffled" else "")
        )
        return f"{test} ({m.units_real} contiguous groups per text); {m.tokens:,} tokens per text"
    if m.design == "one per prompt":
        units = f"{m.units_real:,} and {m.units_generated:,}"
        return (
            f"permutation test on one document per prompt ({units}); "
            f"bootstrap interval, {m.resamples:,} resamples of prompts"
        )
    designs = {
        "pairs": "paired",
        "prompts": f"within {m.units_real:,} prompts",
        "clusters": f"of {m.units_real:,} and {m.units_generated:,} clusters",
    }
    relabellings = "all" if m.exact else f"{m.permutations:,} random"
    of_blocks = " of blocks" if m.design == "blocks" else ""
    return (
        f"permutation test, {designs.get(m.design, 'unpaired')}, {relabellings} relabellings{of_blocks}; "
        f"bootstrap interval, {m.resamples:,} resamples"
    )


NULLS = {
    "documents": "real and generated documents are exchangeable: drawn independently from one source",
    "pairs": "within each prompt, the real and the generated document are exchangeable",
    "prompts": "within each prompt, real and generated documents are exchangeable",
    "clusters": "clusters of real and of generated documents are exchangeable",
    "one per prompt": "real and generated documents are exchangeable: drawn independently from one source",
    "blocks": "blocks of both texts are exchangeable (blocks of one long text are more dependent than that)",
    "groups": "both texts have the same exponent; groups of text are independent of each other",
}
"""Null hypotheses by design."""


def null(verdict: Verdict) -> str:
    """State the null hypothesis of the row's test, or why the row was not tested."""
    m = verdict.method
    return f"not tested: {m.reason}" if m.test == "none" else NULLS[m.design]


@dataclass(frozen=True)
class Headline:
    """The headline verdicts on one generated corpus, in words.

    Attributes
    ----------
    told, same, untested
        One sentence per headline row: rows that differ, by ascending p; rows not told apart; rows not tested.
    """

    generated: str
    told: Sequence[str]
    same: Sequence[str]
    untested: Sequence[str]


def headlines(verdicts: Sequence[Verdict]) -> list[Headline]:
    """Put the headline verdicts of each generated corpus into words."""
    by_corpus = []
    for name in dict.fromkeys(v.generated for v in verdicts):
        rows = [v for v in verdicts if v.generated == name and v.headline]
        told = [v for v in rows if v.differs]
        told.sort(key=lambda v: (v.p_adjusted or 0.0, -abs(v.effect or 0.0)))
        same = [v for v in rows if v.p_adjusted is not None and not v.differs]
        by_corpus.append(
            Headline(
                name,
                [_difference(v) for v in told],
                [_no_difference(v) for v in same],
                [f"{v.axis}: {null(v)}" for v in rows if v.p_adjusted is None],
            )
        )
    return by_corpus


def _difference(v: Verdict) -> str:
    interval = f", interval {number(v.low)} to {number(v.high)}" if v.low is not None else ""
    name = statistic_name(v.statistic)
    return (
        f"{v.axis}: {name} {number(v.generated_value)}, real {number(v.real_value)} "
        f"(difference {number(v.difference)}{interval}; adjusted p = {p_value(v.p_adjusted)})"
    )


def _no_difference(v: Verdict) -> str:
    power = f"; minimum detectable difference {number(v.mde)}, with 80 % power" if v.mde else ""
    return f"{v.axis}: {statistic_name(v.statistic)} (adjusted p = {p_value(v.p_adjusted)}{power})"
