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

_HOMES = {
    "momus.comparison": ("Comparison", "compare", "read_comparison"),
    "momus.verdicts.settings": ("Settings",),
    "momus.critic": (
        "Critic",
        "Draws",
        "Gaussians",
        "LogPrior",
        "SimplexDraws",
        "StateSequences",
        "Statistic",
        "TokenCritic",
        "Values",
    ),
    "momus.critic.registry": ("load_critic",),
    "momus.critic.scores": ("Scores",),
    "momus.errors": ("MomusError",),
    "momus.reading": ("ReadingOptions", "read_corpus"),
    "momus.text.corpus": ("Corpus", "Document", "Section"),
}
"""Modules and the public names that they hold; imported on first use, which keeps ``import momus`` light."""
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

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
    if name in _MODULE_OF:
        return getattr(import_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module 'momus' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, which are imported on first use, and the modules that are loaded."""
    return sorted({*__all__, *(n for n, v in globals().items() if n.startswith("__") or isinstance(v, ModuleType))})
