"""Model criticism in latent space: along which axes, and how surely, generated text departs from real text.

>>> import momus
>>> corpus = momus.Corpus.from_texts(["To be."])
>>> len(corpus)
1
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from momus.version import __version__

if TYPE_CHECKING:
    from momus.comparison import Comparison, compare
    from momus.corpus import Corpus, Document, Section
    from momus.critic import Critic
    from momus.errors import MomusError
    from momus.inference import Statistic
    from momus.latents import Draws, Gaussians, SimplexDraws, StateSequences, Values
    from momus.plugins import load_critic
    from momus.reading import read_corpus
    from momus.scores import LogPrior, Scores
    from momus.settings import Settings
    from momus.token_critic import TokenCritic

_HOMES = {
    "Comparison": "comparison",
    "compare": "comparison",
    "Corpus": "corpus",
    "Document": "corpus",
    "Section": "corpus",
    "Critic": "critic",
    "MomusError": "errors",
    "Statistic": "inference",
    "Draws": "latents",
    "Gaussians": "latents",
    "SimplexDraws": "latents",
    "StateSequences": "latents",
    "Values": "latents",
    "load_critic": "plugins",
    "read_corpus": "reading",
    "LogPrior": "scores",
    "Scores": "scores",
    "Settings": "settings",
    "TokenCritic": "token_critic",
}
"""Public names and the modules that hold them; imported when first asked for, so that ``import momus`` is light."""

__all__ = [
    "Comparison",
    "Corpus",
    "Critic",
    "Document",
    "Draws",
    "Gaussians",
    "LogPrior",
    "MomusError",
    "Scores",
    "Section",
    "Settings",
    "SimplexDraws",
    "StateSequences",
    "Statistic",
    "TokenCritic",
    "Values",
    "__version__",
    "compare",
    "load_critic",
    "read_corpus",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"momus.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'momus' has no attribute {name!r}")
