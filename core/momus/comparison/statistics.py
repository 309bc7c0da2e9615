"""What is tested of a critic: the statistics of the protocol, the guard, and the critic's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from momus.critic import Statistic, StatisticsMixin, entropy, jensen_shannon, mean, perplexity
from momus.critic.scores import AGGREGATED, LATENT_NLL, LATENT_PPL

if TYPE_CHECKING:
    from momus.critic import Critic


def all_statistics(critic: Critic[Any], rows: Sequence[str]) -> list[Statistic]:
    """List what is tested of a critic: Latent NLL, Latent PPL of sequences, the mode-seeking guard, and its own.

    The guard is reported beside Latent NLL because Latent NLL alone can be lower than that of real text when a model
    collapses onto likely z. It consists of the entropy of the aggregated posterior, and the Jensen–Shannon divergence
    between the aggregated posteriors of both texts, which is zero only where they agree.
    """
    statistics = [Statistic("latent_nll", LATENT_NLL, "value", mean, effect="hedges_g")]
    if critic.sequence:
        statistics.append(Statistic("latent_ppl", LATENT_PPL, "value", perplexity, scale="log", effect="log_ratio"))
    if critic.guard and AGGREGATED in rows:
        statistics += [
            Statistic("posterior_entropy", AGGREGATED, "value", entropy),
            Statistic("posterior_divergence", AGGREGATED, "distance", jensen_shannon),
        ]
    return statistics + (list(critic.statistics()) if isinstance(critic, StatisticsMixin) else [])
