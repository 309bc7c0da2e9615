"""Verdicts in words: every sentence about a row is made here, from its fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from momus.comparison.verdict import Verdict
from momus.report.format import number, p_value

STATISTICS = {
    "latent_nll": "Latent NLL (nats a document)",
    "latent_ppl": "Latent PPL",
    "posterior_entropy": "entropy of the aggregated posterior (nats)",
    "posterior_divergence": "divergence of the aggregated posteriors (nats)",
    "ks": "Kolmogorov–Smirnov distance",
    "tvd": "total variation",
    "sup": "largest difference of one word's share",
    "unlikely_share": "share of unlikely transitions",
    "pronoun_share": "share of pronouns among mentions",
    "unintroduced_share": "share of persons whom a pronoun mentions first",
    "mentions_per_sentence": "mentions a sentence",
    "mixing_index": "mixing index",
    "mixed_share": "share of documents that mix",
    "distance": "distance from usual topics (Mahalanobis, squared)",
    "topic_entropy": "entropy of a document's topics (nats)",
    "return_share": "share of passages that return",
    "repetition_share": "share of repetitions",
    "mean_length": "mean length (tokens)",
    "exponent": "exponent",
    "ks_real_law": "KS distance to the law of real text",
    "ks_own_law": "KS distance to the text's own law",
}


def statistic_name(name: str) -> str:
    """Name a statistic for readers; unknown ones keep their name.

    >>> statistic_name("my_share")
    'my share'
    """
    return STATISTICS.get(name, name.replace("_", " "))


def says(verdict: Verdict) -> str:
    """The verdict itself: ``differs``, ``not told apart`` or ``not tested``."""
    if verdict.p_adjusted is None:
        return "not tested"
    return "differs" if verdict.differs else "not told apart"


def shows(verdict: Verdict) -> str:
    """Whether the effect is shown to lie within ±δ."""
    return "–" if verdict.equivalent is None else ("shown" if verdict.equivalent else "not shown")


def method(verdict: Verdict) -> str:
    """How the row was tested and its interval computed."""
    m = verdict.method
    if m.test == "none":
        return "not tested"
    if m.family == "law":
        test = (
            f"permutation test, {m.permutations} random relabellings of groups, whose quantiles give the interval"
            if m.test == "relabelled groups"
            else "Welch t on jackknife standard errors" + (" over orders of groups" if m.error == "shuffled" else "")
        )
        return f"{test} ({m.units_real} contiguous groups of each text), {m.tokens:,} tokens of each text"
    if m.design == "one per prompt":
        units = f"{m.units_real:,} and {m.units_generated:,}"
        return (
            f"permutation test of one document of each prompt ({units}); "
            f"bootstrap interval, {m.resamples:,} resamples of prompts"
        )
    kinds = {
        "pairs": "paired",
        "prompts": f"within {m.units_real:,} prompts",
        "clusters": f"of {m.units_real:,} and {m.units_generated:,} clusters",
    }
    how = "exact" if m.exact else f"{m.permutations:,} random"
    of_blocks = " of blocks" if m.design == "blocks" else ""
    return (
        f"permutation test, {kinds.get(m.design, 'unpaired')}, {how} relabellings{of_blocks}; "
        f"bootstrap interval, {m.resamples:,} resamples"
    )


NULLS = {
    "documents": "real and generated documents are exchangeable: drawn independently from one source",
    "pairs": "within each prompt, the real and the generated document are exchangeable",
    "prompts": "within each prompt, real and generated documents are exchangeable",
    "clusters": "clusters of real and of generated documents are exchangeable",
    "one per prompt": "real and generated documents are exchangeable: drawn independently from one source",
    "blocks": "blocks of both texts are exchangeable (blocks of one long text depend on each other more than that)",
    "groups": "both texts have the same exponent; groups of text are independent of each other",
}


def null(verdict: Verdict) -> str:
    """The null hypothesis of the row's test, or why there was none."""
    m = verdict.method
    return f"not tested: {m.reason}" if m.test == "none" else NULLS[m.design]


@dataclass(frozen=True)
class Headline:
    """The headline verdicts on one generated corpus, in words."""

    generated: str
    told: Sequence[str]
    same: Sequence[str]
    untested: Sequence[str]


def headlines(verdicts: Sequence[Verdict]) -> list[Headline]:
    """Put the headline verdicts of each generated corpus into words."""
    found = []
    for name in dict.fromkeys(v.generated for v in verdicts):
        mine = [v for v in verdicts if v.generated == name and v.headline]
        told = [v for v in mine if v.differs]
        told.sort(key=lambda v: (v.p_adjusted or 0.0, -abs(v.effect or 0.0)))
        same = [v for v in mine if v.p_adjusted is not None and not v.differs]
        found.append(
            Headline(
                name,
                [_told(v) for v in told],
                [_same(v) for v in same],
                [f"{v.axis}: {null(v)}" for v in mine if v.p_adjusted is None],
            )
        )
    return found


def _told(v: Verdict) -> str:
    interval = f", interval {number(v.low)} to {number(v.high)}" if v.low is not None else ""
    name = statistic_name(v.statistic)
    return (
        f"{v.axis}: {name} {number(v.generated_value)} against {number(v.real_value)} "
        f"(difference {number(v.difference)}{interval}; adjusted p = {p_value(v.p_adjusted)})"
    )


def _same(v: Verdict) -> str:
    found = f"adjusted p = {p_value(v.p_adjusted)}"
    power = f"; a difference of {number(v.mde)} would have been found four times in five" if v.mde else ""
    return f"{v.axis}: {statistic_name(v.statistic)} ({found}{power})"
