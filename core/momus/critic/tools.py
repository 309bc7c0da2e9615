"""What critics ask of tools that read text for them: classifiers of sections, and embeddings of sentences.

Adapters register such tools under the entry-point group ``momus.adapters`` as ``posterior.NAME`` and ``embedder.NAME``:
a callable that takes keyword parameters and returns a `momus.estimator.Estimator` with the methods below. A critic asks
for them by name, so it never imports a tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.estimator import Estimator
from momus.numeric.types import Floats
from momus.plugins import ADAPTERS, load_plugin, registered

if TYPE_CHECKING:
    from momus.text.corpus import Corpus


@runtime_checkable
class SectionPosterior(Protocol):
    """P_c(z_m | x_m): which type a section is, from its own text.

    Attributes
    ----------
    held_out
        What was measured on held-out sections: ``accuracy``, ``calibration_error``, ``sections``; empty before `fit`.
    """

    @property
    def held_out(self) -> Mapping[str, float]:
        """Accuracy and calibration on sections not fitted on."""
        ...

    def fit(self, corpus: Corpus, labels: NDArray[np.int64], states: int) -> Self:
        """Learn from N labelled sections (label −1: leave the section out)."""
        ...

    def predict(self, batch: Corpus) -> Floats:
        """Return P(z_m = k | x_m), float array (N, K), rows summing to 1."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Vectors for pieces of text."""

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn from real text what there is to learn."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return a vector for each text, float array (N, V), whatever else is in the batch."""
        ...


def adapter_names(role: str) -> list[str]:
    """Names of the adapters registered for a role, without importing any."""
    return [n.removeprefix(f"{role}.") for n in registered(ADAPTERS) if n.startswith(f"{role}.")]


def make_adapter(role: str, name: str, parameters: Mapping[str, Any], own: Sequence[str] = ()) -> Estimator:
    """Construct an adapter by name.

    Parameters
    ----------
    role
        ``posterior`` or ``embedder``.
    parameters
        Keyword parameters of the adapter.
    own
        Names that the asking critic has itself, for the error message.

    Raises
    ------
    UsageError
        There is no such adapter, or it does not take these parameters.
    PluginError
        Its import fails.
    """
    known = adapter_names(role)
    if name not in known:
        raise UsageError(f"{role} is {name!r}", hint=f"choose one of {', '.join([*own, *known])}")
    made = load_plugin(ADAPTERS, f"{role}.{name}")
    if isinstance(made, type) and issubclass(made, Estimator):
        return made.with_params(dict(parameters), place=f"{role} {name!r}")
    found = made(**parameters)
    if not isinstance(found, Estimator):
        raise UsageError(f"{role} {name!r} gives {type(found).__name__}, not a momus.estimator.Estimator")
    return found
