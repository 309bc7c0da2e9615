"""Latents: the posterior P_c(z | x), one element per document, in the order of the batch.

Latents are host arrays. A critic that computes on a device copies its results to the host once per batch; everything
after that (statistics, tests, the run folder) is the same for every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from momus.critic.rows import Counted, Rows
from momus.numeric.ragged import Ragged, changes, group_sums, offsets_of, ranges_of
from momus.numeric.types import Ints


@dataclass(frozen=True)
class StateSequences(Ragged):
    """One sequence of discrete states per document, as a ragged array.

    Attributes
    ----------
    states
        int array (N,): the most probable (or only) state of each step, documents concatenated.
    offsets
        int64 array (n + 1,): document ``i`` owns ``states[offsets[i]:offsets[i + 1]]``.
    marginals
        float array (N, K): P_c(z_m = k | x); None if the posterior puts all its mass on ``states``.

    >>> z = StateSequences(np.array([0, 1, 1]), np.array([0, 1, 3]))
    >>> len(z), z.lengths
    (2, array([1, 2]))
    """

    states: NDArray[np.integer]
    offsets: Ints
    marginals: NDArray[np.floating] | None = None


def aggregated(latents: StateSequences) -> Rows:
    """Expected number of visits to each state per document, the rows of the aggregated posterior P_agg(z).

    >>> z = StateSequences(np.array([0, 1, 1]), np.array([0, 1, 3]), np.eye(2)[[0, 1, 1]])
    >>> aggregated(z).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    if latents.marginals is not None:
        return np.asarray(group_sums(np.asarray(latents.marginals, dtype=np.float64), latents.offsets))
    top = int(latents.states.max(initial=0))
    return Counted.of_tokens(latents.states, latents.offsets, np.arange(top + 1))


class Arrays:
    """Arrays with one row per document: as many documents as the first field has rows."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))


@dataclass(frozen=True)
class Values(Arrays):
    """One number or vector per document: float array (n,) or (n, d)."""

    values: NDArray[np.floating]


@dataclass(frozen=True)
class Gaussians(Arrays):
    """One normal posterior per document: mean (n, d) and variance (n, d)."""

    mean: NDArray[np.floating]
    variance: NDArray[np.floating]


@dataclass(frozen=True)
class Draws(Arrays):
    """S Monte-Carlo draws per document from its posterior: float array (n, S, d)."""

    draws: NDArray[np.floating]


@dataclass(frozen=True)
class SimplexDraws(Draws):
    """Draws on the simplex: non-negative, each summing to 1 over the last axis."""


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
    begins = changes(states)
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(states))
    first = np.searchsorted(starts, offsets)  # first run of each document, (n + 1,)
    counts = np.diff(first)
    shown = np.minimum(counts, MOST_RUNS)
    runs = ranges_of(first[:-1], shown)  # numbers of the runs that are shown, of all documents
    kinds, kind = np.unique(states[starts[runs]], return_inverse=True)
    words = np.array([names[k] if 0 <= k < len(names) else str(k) for k in kinds.tolist()], dtype=object)[kind]
    repeated = np.flatnonzero(lengths[runs] > 1)
    words[repeated] = [f"{w} ×{n}" for w, n in zip(words[repeated], lengths[runs][repeated].tolist(), strict=True)]
    words = words.tolist()
    cuts = offsets_of(shown).tolist()
    texts = [" → ".join(words[a:b]) for a, b in pairwise(cuts)]
    for row in np.flatnonzero(counts > MOST_RUNS).tolist():
        texts[row] += " → …"
    return texts
