"""What is tested of a critic: the statistics of the protocol, the guard, and the critic's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from momus.critic import RunningTextCritic, Statistic, StatisticsMixin
from momus.critic.hooks import row_unit
from momus.critic.powers import headline_of
from momus.critic.scores import AGGREGATED, LATENT_NLL, LATENT_PPL
from momus.critic.statistic import entropy, jensen_shannon, mean, perplexity
from momus.errors import UsageError
from momus.evidence import Wording
from momus.numeric.types import Floats

if TYPE_CHECKING:
    from momus.critic import Critic


NLL = Statistic.ratio(
    "latent_nll",
    LATENT_NLL,
    "Latent NLL",
    ("more predictable", "less predictable"),
    effect="hedges_g",
    unit="nats per document",
)
PPL = Statistic(
    "latent_ppl",
    LATENT_PPL,
    "value",
    perplexity,
    scale="log",
    effect="log_ratio",
    label="Latent PPL",
    direction=("more predictable", "less predictable"),
)
ENTROPY = Statistic(
    "posterior_entropy",
    AGGREGATED,
    "value",
    entropy,
    label="entropy of the aggregated posterior",
    direction=("less varied", "more varied"),
    unit="nats",
)
DIVERGENCE = Statistic(
    "posterior_divergence",
    AGGREGATED,
    "distance",
    jensen_shannon,
    label="divergence of the aggregated posteriors",
    unit="nats",
)


def unscored_share(pooled: Floats) -> Floats:
    """Share of unscored documents, from pooled rows [unscored, 1].

    Not ``mean`` itself, which would be studentised: with one unscored document |T| is about 1 under every relabelling,
    and sizes of clusters alone would decide. A share without an effect has equal variances too, so its permutation test
    needs no studentising.
    """
    return mean(pooled)


UNSCORED = Statistic(
    "unscored_share",
    "unscored",
    "value",
    unscored_share,
    label="share of unscored documents",
    direction=("scored more often", "scored less often"),
    format="share",
)


def all_statistics(critic: Critic[Any], rows: Sequence[str]) -> list[Statistic]:
    """List what is tested of a critic: Latent NLL, Latent PPL of sequences, the mode-seeking guard, and its own.

    The guard is reported beside Latent NLL because Latent NLL alone can be lower than that of real text when a model
    collapses onto likely z. It consists of the entropy of the aggregated posterior, and the Jensen–Shannon divergence
    between the aggregated posteriors of both texts, which is zero only where they agree.
    """
    statistics = [replace(NLL, unit=f"nats per {row_unit(critic)}")]
    if critic.sequence:
        statistics.append(PPL)
    if critic.reporting.aggregated and AGGREGATED in rows:
        statistics += [ENTROPY, DIVERGENCE]
    statistics = [replace(s, direction=critic.reporting.directions.get(s.name, s.direction)) for s in statistics]
    return statistics + (list(critic.statistics()) if isinstance(critic, StatisticsMixin) else [])


def wordings(critic: Critic[Any], rows: Sequence[str]) -> dict[str, Wording]:
    """What readers are told of each statistic and law of a critic, by name."""
    if isinstance(critic, RunningTextCritic):
        nll = replace(NLL.wording, unit=f"nats per {row_unit(critic)}")
        return {
            NLL.name: replace(nll, direction=critic.reporting.directions.get(NLL.name, nll.direction)),
            **{law.name: law.wording for law in critic.laws()},
        }
    return {s.name: s.wording for s in all_statistics(critic, rows)}


def told_statistic(critic: Critic[Any], rows: Sequence[str]) -> str:
    """Name the statistic that tells direction and size of a difference on the axis of a critic.

    The one that the critic declares (``told``); otherwise its headline statistic if that has a direction, else the
    first of its own statistics that has one. Empty if none has.
    """
    named = wordings(critic, rows)
    told = critic.reporting.told
    if told and told not in named:
        raise UsageError(
            f"critic {critic.name!r}: {told!r}, which tells its direction, is none of its statistics",
            hint=f"set `told` to one of {', '.join(named)}",
        )
    if told:
        return told
    general = {s.name for s in (NLL, PPL, ENTROPY, DIVERGENCE)}
    names = [headline_of(critic), *(n for n in named if n not in general)]
    return next((n for n in names if n in named and named[n].direction), "")
