"""The critic protocol: base classes, latents, statistics and summaries; plug-in authors import only from here."""

from momus.critic.base import Critic, Note, usable_documents
from momus.critic.latents import Draws, Gaussians, Latents, SimplexDraws, StateSequences, Values, aggregated
from momus.critic.powers import AggregatedPosteriorMixin, EvidenceMixin, ExplanationMixin, StatisticsMixin
from momus.critic.rows import Counted, Rows, align, aligned, place, pool, stack, take_rows
from momus.critic.running import RunningTextCritic
from momus.critic.scores import AGGREGATED, LogPrior, Scores
from momus.critic.statistic import (
    Statistic,
    entropy,
    jensen_shannon,
    kolmogorov_smirnov,
    mean,
    mean_gap,
    perplexity,
    shares,
    supremum,
    total_variation,
)
from momus.critic.summary import Pooled, Summary
from momus.critic.tokens import TokenCritic, TokenStates

__all__ = [
    "AGGREGATED",
    "AggregatedPosteriorMixin",
    "Counted",
    "Critic",
    "Draws",
    "EvidenceMixin",
    "ExplanationMixin",
    "Gaussians",
    "Latents",
    "LogPrior",
    "Note",
    "Pooled",
    "Rows",
    "RunningTextCritic",
    "Scores",
    "SimplexDraws",
    "StateSequences",
    "Statistic",
    "StatisticsMixin",
    "Summary",
    "TokenCritic",
    "TokenStates",
    "Values",
    "aggregated",
    "align",
    "aligned",
    "entropy",
    "jensen_shannon",
    "kolmogorov_smirnov",
    "mean",
    "mean_gap",
    "perplexity",
    "place",
    "pool",
    "shares",
    "stack",
    "supremum",
    "take_rows",
    "total_variation",
    "usable_documents",
]
