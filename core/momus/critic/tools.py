"""Interfaces of the tools that critics use to read text: section classifiers and sentence embedders.

Adapters register a tool under the entry-point group ``momus.adapters`` as ``posterior.NAME`` or ``embedder.NAME``: a
callable that takes keyword parameters and returns a `momus.estimator.Estimator` with the methods below. Critics request
tools by name and never import them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from momus.critic.fitted import Fitted
from momus.errors import UsageError
from momus.estimator import Estimator, construct
from momus.numeric.temperature import calibration_error, fit_temperature, softmax
from momus.numeric.types import Floats, Ints
from momus.plugins import ADAPTERS, load_plugin, registered

if TYPE_CHECKING:
    from momus.text.corpus import Corpus


@runtime_checkable
class SectionPosterior(Protocol):
    """Classifier of sections: P_c(z_m | x_m), the type of a section given its text.

    Attributes
    ----------
    held_out
        Measurements on held-out sections: ``accuracy``, ``calibration_error``, ``sections``; empty before `fit`.
    """

    @property
    def held_out(self) -> Mapping[str, float]:
        """Accuracy and calibration on sections that were not used for fitting."""
        ...

    def fit(self, corpus: Corpus, labels: Ints, states: int) -> Self:
        """Learn from N labelled sections; those labelled −1 are ignored."""
        ...

    def predict(self, batch: Corpus) -> Floats:
        """Return P(z_m = k | x_m): float array (N, K) whose rows sum to 1."""
        ...


class CalibratedPosterior(Estimator):
    """A posterior whose logits are divided by a temperature, fitted on held-out sections (`SectionPosterior`)."""

    temperature_: float

    def calibrate(self, logits: Floats, truth: Ints) -> None:
        """Fit the temperature on the logits (N, K) and types (N,) of held-out sections; measure accuracy there."""
        self.temperature_ = fit_temperature(logits, truth)
        self.held_out_ = {
            "accuracy": float((logits.argmax(axis=1) == truth).mean()),
            "calibration_error": calibration_error(softmax(logits, self.temperature_), truth),
            "sections": len(truth),
        }

    def check_state(self) -> None:
        """Check a state read from a folder."""
        state = Fitted(self)
        state.number("temperature_", above=0.0)
        state.measures("held_out_")

    @property
    def held_out(self) -> Mapping[str, float]:
        """Accuracy and calibration error on the held-out sections, on which the temperature was fitted."""
        return getattr(self, "held_out_", {})


@runtime_checkable
class Embedder(Protocol):
    """Vectors of short texts such as sentences."""

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn from real texts, if the embedder has parameters to learn."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one vector per text: float array (N, V); a vector does not depend on the rest of the batch."""
        ...


def adapter_names(role: str) -> list[str]:
    """List the names of the adapters registered for a role, without importing any."""
    return [n.removeprefix(f"{role}.") for n in registered(ADAPTERS) if n.startswith(f"{role}.")]


def make_adapter(role: str, name: str, parameters: Mapping[str, Any], builtin: Sequence[str] = ()) -> Estimator:
    """Construct an adapter by name.

    Parameters
    ----------
    role
        ``posterior`` or ``embedder``.
    parameters
        Keyword parameters of the adapter.
    builtin
        Names that the calling critic implements itself; the error message lists them too.

    Raises
    ------
    UsageError
        There is no such adapter, or it does not accept these parameters.
    PluginError
        The adapter cannot be imported.
    """
    known = adapter_names(role)
    if name not in known:
        raise UsageError(f"{role} is {name!r}", hint=f"choose one of {', '.join([*builtin, *known])}")
    factory = load_plugin(ADAPTERS, f"{role}.{name}")
    if isinstance(factory, type) and issubclass(factory, Estimator):
        return construct(factory, dict(parameters), place=f"{role} {name!r}")
    adapter = factory(**parameters)
    if not isinstance(adapter, Estimator):
        raise UsageError(f"{role} {name!r} returns a {type(adapter).__name__}, not a momus.estimator.Estimator")
    return adapter
