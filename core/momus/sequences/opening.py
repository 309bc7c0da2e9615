"""Open scorers by name; equal requests share one scorer (`momus.critic.resource`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from momus.critic.resources import resource
from momus.critic.tools import adapter_names
from momus.errors import UsageError
from momus.plugins import ADAPTERS, load_plugin
from momus.sequences.interfaces import TextScorer


def open_scorer(name: str, parameters: Mapping[str, Any], others: tuple[str, ...] = ()) -> TextScorer:
    """Open the scorer of an adapter, such as ``transformers`` or ``kenlm``.

    Parameters
    ----------
    parameters
        Keyword parameters of the adapter, as values of JSON.
    others
        Names of built-in scorers of the calling critic, for the error message.

    Raises
    ------
    UsageError
        There is no such adapter, or it does not accept these parameters.
    """
    known = adapter_names("scorer")
    if name not in known:
        raise UsageError(f"there is no scorer {name!r}", hint=f"choose one of {', '.join([*others, *known])}")
    return resource(_opened, name, parameters)


def _opened(name: str, parameters: Mapping[str, Any]) -> TextScorer:
    try:
        scorer = load_plugin(ADAPTERS, f"scorer.{name}")(**parameters)
    except TypeError as error:
        raise UsageError(f"scorer {name!r}: {error}", hint="see the adapter's parameters") from error
    if not isinstance(scorer, TextScorer):
        raise UsageError(f"scorer {name!r} is a {type(scorer).__name__}, which does not score texts")
    return scorer
