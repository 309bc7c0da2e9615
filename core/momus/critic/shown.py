"""Latents in a few words, for tables with one row per document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.critic.latents import StateSequences, Values
from momus.numeric.types import Ints

MOST_RUNS = 8
"""Runs of equal states that are shown of a document."""


def shown_latents(latents: object, names: Sequence[str] = ()) -> list[str] | None:
    """Put z of each document into a few words; None for latents that are neither states nor single numbers.

    Parameters
    ----------
    latents
        Latents of n documents.
    names
        Names of the states; empty: their numbers.

    Returns
    -------
    n texts: the states of a document in order, runs of one state once with their length, at most eight runs; or its
    number.

    >>> import numpy as np
    >>> z = StateSequences(np.array([0, 1, 1, 0, 2]), np.array([0, 3, 3, 5]))
    >>> shown_latents(z, ["Summary", "Notes", "Usage"])
    ['Summary → Notes ×2', '', 'Summary → Usage']
    >>> shown_latents(Values(np.array([141.0, 0.1234567])))
    ['141', '0.1235']
    """
    if isinstance(latents, StateSequences):
        return _of_states(np.asarray(latents.states), np.asarray(latents.offsets), names)
    if isinstance(latents, Values) and latents.values.ndim == 1:
        return [f"{value:.4g}" for value in latents.values.tolist()]
    return None


def _of_states(states: NDArray[np.integer], offsets: Ints, names: Sequence[str]) -> list[str]:
    # a run begins at the first state of a document, and where a state differs from the one before: bool (N,)
    begins = np.ones(len(states), dtype=bool)
    begins[1:] = states[1:] != states[:-1]
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(states))
    first = np.searchsorted(starts, offsets)  # first run of each document, (n + 1,)
    texts = []
    for a, b in pairwise(first.tolist()):
        shown = slice(a, min(b, a + MOST_RUNS))
        runs = zip(states[starts[shown]].tolist(), lengths[shown].tolist(), strict=True)
        texts.append(" → ".join([*(_run(*run, names) for run in runs), *(["…"] if b - a > MOST_RUNS else [])]))
    return texts


def _run(state: int, length: int, names: Sequence[str]) -> str:
    name = names[state] if 0 <= state < len(names) else str(state)
    return name if length == 1 else f"{name} ×{length}"
