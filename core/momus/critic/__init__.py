"""The contract of a critic, and what most critics are made of; the rest is one import deeper.

``momus.critic.hooks`` has the mixins that only a few critics need, ``momus.critic.statistic`` the functions of pooled
rows, ``momus.critic.tools`` the tools that adapters bring, ``momus.critic.fitted`` the checks of a saved state.
"""

from momus.critic.base import CountingCritic, Critic, RunningTextCritic, TokenCritic
from momus.critic.hooks import DeviceMixin
from momus.critic.kinds import PairedCritic, StatisticCritic
from momus.critic.latents import Draws, Gaussians, SimplexDraws, StateSequences, Values
from momus.critic.portions import Counts
from momus.critic.powers import EvidenceMixin, MergeableMixin, StatisticsMixin
from momus.critic.reporting import Note, Reporting, directions
from momus.critic.rows import Counted, Pooled, Rows
from momus.critic.scores import LogPrior
from momus.critic.statistic import Statistic
from momus.critic.tools import resource

__all__ = [
    "Counted",
    "CountingCritic",
    "Counts",
    "Critic",
    "DeviceMixin",
    "Draws",
    "EvidenceMixin",
    "Gaussians",
    "LogPrior",
    "MergeableMixin",
    "Note",
    "PairedCritic",
    "Pooled",
    "Reporting",
    "Rows",
    "RunningTextCritic",
    "SimplexDraws",
    "StateSequences",
    "Statistic",
    "StatisticCritic",
    "StatisticsMixin",
    "TokenCritic",
    "Values",
    "directions",
    "resource",
]
