"""Scorers by name, opened once for all who ask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from momus.critic.tools import adapter_names
from momus.errors import UsageError
from momus.plugins import ADAPTERS, load_plugin
from momus.sequences.interfaces import TextScorer


def open_scorer(name: str, parameters: Mapping[str, Any], own: tuple[str, ...] = ()) -> TextScorer:
    """Open the scorer that an adapter gives, such as ``transformers`` or ``kenlm``.

    Parameters
    ----------
    parameters
        Keyword parameters of the adapter, plain values.
    own
        Names that the asking critic has itself, for the error message.

    Raises
    ------
    UsageError
        There is no such adapter, or it does not take these parameters.
    """
    known = adapter_names("scorer")
    if name not in known:
        raise UsageError(f"scorer is {name!r}", hint=f"choose one of {', '.join([*own, *known])}")
    return _opened(name, json.dumps(dict(parameters), sort_keys=True))


@lru_cache(maxsize=2)
def _opened(name: str, settings: str) -> TextScorer:
    try:
        found = load_plugin(ADAPTERS, f"scorer.{name}")(**json.loads(settings))
    except TypeError as error:
        raise UsageError(f"scorer {name!r}: {error}", hint="see the adapter's parameters") from error
    if not isinstance(found, TextScorer):
        raise UsageError(f"scorer {name!r} gives {type(found).__name__}, which scores no texts")
    return found
