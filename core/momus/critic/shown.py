"""Latents in a few words, for tables with one row per document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice, pairwise

from momus.critic.latents import StateSequences, Values

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
        bounds = latents.offsets.tolist()
        return [" → ".join(_runs(latents.states[start:stop].tolist(), names)) for start, stop in pairwise(bounds)]
    if isinstance(latents, Values) and latents.values.ndim == 1:
        return [f"{value:.4g}" for value in latents.values.tolist()]
    return None


def _runs(states: list[int], names: Sequence[str]) -> Iterator[str]:
    """The first runs of equal states of one document, then ``…`` if there are more."""
    runs = ((state, sum(1 for _ in run)) for state, run in groupby(states))
    for state, length in islice(runs, MOST_RUNS):
        name = names[state] if 0 <= state < len(names) else str(state)
        yield name if length == 1 else f"{name} ×{length}"
    if next(runs, None) is not None:
        yield "…"
