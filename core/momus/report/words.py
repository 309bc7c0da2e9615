"""Verdicts in words, and small pictures of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from momus.console import ALPHA, number, p_value
from momus.verdicts import Verdict

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


@dataclass(frozen=True)
class Headline:
    """What the verdicts say of one generated corpus."""

    generated: str
    told: Sequence[str]
    same: Sequence[str]
    untested: Sequence[str]


def headlines(verdicts: Sequence[Verdict]) -> list[Headline]:
    """Put the headline verdicts of each generated corpus into words."""
    found = []
    for name in dict.fromkeys(v.generated for v in verdicts):
        mine = [v for v in verdicts if v.generated == name and v.headline]
        told = [v for v in mine if v.p_adjusted is not None and v.p_adjusted <= ALPHA]
        told.sort(key=lambda v: (v.p_adjusted or 0.0, -abs(v.effect or 0.0)))
        same = [v for v in mine if v.p_adjusted is not None and v.p_adjusted > ALPHA]
        found.append(
            Headline(
                name,
                [_told(v) for v in told],
                [_same(v) for v in same],
                [f"{v.axis}: {v.null}" for v in mine if v.p_adjusted is None],
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


def interval_picture(v: Verdict) -> str:
    """Draw the difference and its interval around a zero line, scaled to the row; empty where there is none."""
    if v.difference is None or v.low is None or v.high is None:
        return ""
    reach = 1.1 * max(abs(v.low), abs(v.high), abs(v.difference), 1e-300)
    low, high, middle = (60 + 56 * x / reach for x in (v.low, v.high, v.difference))
    return (
        '<svg class="interval" viewBox="0 0 120 14" aria-hidden="true">'
        '<line x1="60" y1="0" x2="60" y2="14" class="zero"/>'
        f'<line x1="{low:.1f}" y1="7" x2="{high:.1f}" y2="7" class="bar"/>'
        f'<circle cx="{middle:.1f}" cy="7" r="3"/></svg>'
    )
