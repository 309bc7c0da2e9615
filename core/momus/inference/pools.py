"""Units of several corpora, which are resampled together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from momus.inference.matching import MATCHED, Names
from momus.inference.weights import Weights, chunks, multiplicities_of
from momus.numeric.types import Ints

_POOLS = 8
"""Number that keeps the random stream of shared resamples apart."""


@dataclass(frozen=True)
class Pools:
    """Units of several corpora.

    Attributes
    ----------
    units
        By corpus, the unit of each document: int (n,), the same number for the same unit in all corpora.
    pool
        The pool of each unit, (U,). Corpora that share units, directly or through other corpora, draw from one pool.
    prompts
        By corpus, the prompt of each document, int (n,), −1 for none; equal prompts have equal numbers.
    matched
        Whether all corpora answer the same prompts, so that they are compared on these.
    """

    units: Mapping[str, Ints]
    pool: Ints
    prompts: Mapping[str, Ints]
    matched: bool

    @property
    def sizes(self) -> Ints:
        """Number of units of each pool."""
        return np.bincount(self.pool)

    def multiplicities(self, resamples: int, seed: int) -> Iterator[Weights]:
        """How often each unit is drawn, (U, ≤ 64) at a time; as many draws from each pool as it has units."""
        members = [np.flatnonzero(self.pool == p) for p in range(len(self.sizes))]
        for number, size in chunks(0, resamples):
            rng = np.random.default_rng([seed, _POOLS, number])
            drawn = np.empty((len(self.pool), size), dtype=np.float32)
            for units in members:
                drawn[units] = multiplicities_of(rng, len(units), size)
            yield drawn


def pools_of(prompts: Mapping[str, Names], groups: Mapping[str, Names] | None = None) -> Pools:
    """Find the units of several corpora from the prompts and groups of their documents.

    A unit is a group; the prompt of documents without a group (whose group is that of any document with this prompt);
    or a document without either. Corpora are *matched* if at least nine in ten documents of the smallest one answer a
    prompt that all corpora have.

    >>> found = pools_of({"real": ["a", "b"], "g": ["b", "a"], "h": [None, None]})
    >>> found.units["g"].tolist(), found.sizes.tolist(), found.matched
    ([1, 0], [2, 2], False)
    """
    groups = groups or {}
    of_group = {c: list(groups.get(c) or [None] * len(names)) for c, names in prompts.items()}
    group_of_prompt: dict[str, str] = {}
    for corpus, names in prompts.items():
        for prompt, group in zip(names, of_group[corpus], strict=True):
            if prompt is not None and group is not None:
                group_of_prompt.setdefault(prompt, group)
    number: dict[tuple[str, ...], int] = {}
    codes: dict[str, int] = {}
    units, asked = {}, {}
    for corpus, names in prompts.items():
        keys: list[tuple[str, ...]] = []
        for i, (prompt, named) in enumerate(zip(names, of_group[corpus], strict=True)):
            group = group_of_prompt.get(prompt, named) if prompt is not None else named
            if group is not None:
                keys.append(("group", group))
            else:
                keys.append(("prompt", prompt) if prompt is not None else ("document", corpus, str(i)))
        units[corpus] = np.array([number.setdefault(k, len(number)) for k in keys], dtype=np.int64)
        asked[corpus] = np.array([-1 if p is None else codes.setdefault(p, len(codes)) for p in names], dtype=np.int64)
    return Pools(units, _connected(units, len(number)), asked, _matched(asked))


def _connected(units: Mapping[str, Ints], size: int) -> Ints:
    """The pool of each unit: corpora are connected by the units that they share."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # a graph of units 0 … U − 1 and corpora U …; each unit has an edge to each corpus with a document of it
    rows = np.concatenate([np.unique(u) for u in units.values()])
    columns = np.concatenate([np.full(len(np.unique(u)), size + c) for c, u in enumerate(units.values())])
    n = size + len(units)
    labels = connected_components(csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)), directed=False)[1]
    return np.unique(labels[:size], return_inverse=True)[1]


def _matched(prompts: Mapping[str, Ints]) -> bool:
    common = shared_prompts(list(prompts.values()))
    fewest = min(prompts.values(), key=len)
    return len(common) > 1 and int(np.isin(fewest, common).sum()) >= MATCHED * len(fewest)


def shared_prompts(prompts: Sequence[Ints]) -> Ints:
    """The prompts that documents of all corpora answer, sorted; −1 is none.

    >>> shared_prompts([np.array([0, 2, -1]), np.array([2, -1, 5])]).tolist()
    [2]
    """
    common = np.unique(prompts[0])
    for other in prompts[1:]:
        common = np.intersect1d(common, other)
    return common[common >= 0]
