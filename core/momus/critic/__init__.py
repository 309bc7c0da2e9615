"""The critic protocol: base classes, latents, statistics and summaries; plug-in authors import only from here."""

from momus.critic.base import Critic, Note
from momus.critic.fitted import Fitted
from momus.critic.latents import Draws, Gaussians, Latents, SimplexDraws, StateSequences, Values, aggregated
from momus.critic.portions import Counts, Portion, fit_portions, read_portion
from momus.critic.powers import (
    PARTS,
    AggregatedPosteriorMixin,
    Decomposition,
    DecompositionMixin,
    EvidenceMixin,
    ExplanationMixin,
    MergeableMixin,
    StatisticsMixin,
)
from momus.critic.resources import resource, token_batches
from momus.critic.rows import Counted, Pooled, Rows, Summary, align, aligned, place, pool, stack, take_rows
from momus.critic.scores import AGGREGATED, LogPrior, Scores
from momus.critic.splitting import usable_documents
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
from momus.critic.tokens import RunningTextCritic, TokenCritic, TokenStates
from momus.critic.tools import Embedder, SectionPosterior, adapter_names, make_adapter
from momus.estimator import Estimator
from momus.laws import Law
from momus.text.running import RunningText
from momus.text.scripts import ANY, SPACED, WORDS, Scripts
from momus.text.tokens import Tokenizer, TokenTable, get_tokenizer

__all__ = [
    "AGGREGATED",
    "ANY",
    "PARTS",
    "SPACED",
    "WORDS",
    "AggregatedPosteriorMixin",
    "Counted",
    "Counts",
    "Critic",
    "Decomposition",
    "DecompositionMixin",
    "Draws",
    "Embedder",
    "Estimator",
    "EvidenceMixin",
    "ExplanationMixin",
    "Fitted",
    "Gaussians",
    "Latents",
    "Law",
    "LogPrior",
    "MergeableMixin",
    "Note",
    "Pooled",
    "Portion",
    "Rows",
    "RunningText",
    "RunningTextCritic",
    "Scores",
    "Scripts",
    "SectionPosterior",
    "SimplexDraws",
    "StateSequences",
    "Statistic",
    "StatisticsMixin",
    "Summary",
    "TokenCritic",
    "TokenStates",
    "TokenTable",
    "Tokenizer",
    "Values",
    "adapter_names",
    "aggregated",
    "align",
    "aligned",
    "entropy",
    "fit_portions",
    "get_tokenizer",
    "jensen_shannon",
    "kolmogorov_smirnov",
    "make_adapter",
    "mean",
    "mean_gap",
    "perplexity",
    "place",
    "pool",
    "read_portion",
    "resource",
    "shares",
    "stack",
    "supremum",
    "take_rows",
    "token_batches",
    "total_variation",
    "usable_documents",
]
