"""Model criticism in latent space: along which axes, and how surely, generated text departs from real text.

>>> import momus
>>> corpus = momus.Corpus.from_texts(["To be."])
>>> len(corpus)
1
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from momus.version import __version__

if TYPE_CHECKING:
    from momus.comparison import Comparison, compare, read_comparison
    from momus.critic import (
        Critic,
        Draws,
        Gaussians,
        LogPrior,
        SimplexDraws,
        StateSequences,
        Statistic,
        TokenCritic,
        Values,
    )
    from momus.critic.registry import load_critic
    from momus.critic.scores import Scores
    from momus.errors import MomusError
    from momus.reading import ReadingOptions, read_corpus
    from momus.text.corpus import Corpus, Document, Section
    from momus.verdicts.settings import Settings

_HOMES = (
    "errors",
    "text.corpus",
    "reading",
    "critic",
    "critic.scores",
    "critic.registry",
    "verdicts.settings",
    "comparison",
)
"""Where the public names are, the lightest modules first; imported on first use, which keeps ``import momus`` light."""

__all__ = [
    "Comparison",
    "Corpus",
    "Critic",
    "Document",
    "Draws",
    "Gaussians",
    "LogPrior",
    "MomusError",
    "ReadingOptions",
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
    "read_comparison",
    "read_corpus",
]


def __getattr__(name: str) -> Any:
    for home in _HOMES if name in __all__ else ():
        module = import_module(f"momus.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'momus' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, which are imported on first use, and the modules that are loaded."""
    return sorted({*__all__, *(n for n, v in globals().items() if n.startswith("__") or isinstance(v, ModuleType))})
