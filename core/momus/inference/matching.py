"""Choose the design of a test from the prompts and groups of the scored documents, and pool very many into blocks.

Statistics are functions of pooled rows, so the sum of the rows of some documents is a row too. Documents that are
independent units are put into blocks at random within their text; clusters, pairs and prompts are put into blocks
whole. The units of the test are then the blocks, through designs that exist anyway: clusters, or groups of pairs and of
prompts. The test stays valid. Under the null hypothesis that documents are exchangeable between the texts, blocks of
one size are too: a relabelling of blocks is a relabelling of documents. Values and effect sizes do not change.

Units of several corpora are resampled together (`pools_of`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from momus.arguments import arg
from momus.errors import UsageError
from momus.inference.design import Design
from momus.inference.weights import Weights, chunks, multiplicities_of
from momus.numeric.types import Ints
from momus.text.counting import counted

Names = Sequence[str | None]
"""The prompt or group of each document, or None."""
Keys = NDArray[np.object_]
MATCHED = 0.9
"""Share of the scored documents that must find a partner for a design to be chosen without being asked for."""
FEWEST_GROUPS = 8
"""Groups that both texts must have to be compared group by group: 2^8 ways to change sides allow p = 0.008."""


def design_of(
    real: Names,
    generated: Names,
    paired: bool | None = None,
    names: tuple[str, str] = ("real", "generated"),
    *,
    groups: tuple[Names, Names] = ((), ()),
) -> Design:
    """Choose the design from the prompts and the groups of the scored documents of both texts.

    * Each prompt has one document on each side: pairs.
    * At least nine in ten documents of the text with fewer answer a prompt that both sides have: prompts, any number of
      documents each. Documents whose prompt the other side lacks do not take part (`Design.left_out`).
    * At least nine in ten documents of the text with fewer belong to groups that both sides have, eight or more: groups
      are treated like prompts, and change sides whole.
    * Groups are given, or prompts repeat and the sides do not share them: clusters.
    * Otherwise: documents.

    Groups (authors, books) are the independent units of every design: pairs and prompts of one group change sides
    together.

    Parameters
    ----------
    real, generated
        The prompt of each document, or None.
    paired
        True asks for pairs or prompts; False ignores the prompts of the other side, but several documents of one prompt
        still belong together.
    names
        What messages call the two texts.
    groups
        The group of each document of both texts, or None; empty if there are none.

    Raises
    ------
    UsageError
        Pairs were asked for, and the texts share fewer than two prompts.

    >>> design_of(["a", "b"], ["b", "a"]).rows
    (array([0, 1]), array([1, 0]))
    >>> design_of(["a", "b"], ["a", "a", "b"]).kind
    'prompts'
    >>> design_of(["a", "a", None], ["x", "y", "z"]).kind
    'clusters'
    """
    sides = real, generated
    # counting is several times as fast as looking at each of millions of names
    grouped = any(side.count(None) < len(side) for side in groups if side)
    if not (grouped or paired or any(side.count(None) < len(side) for side in sides)):
        return Design.documents(len(real), len(generated))
    of_group: list[list[str | None]] = [
        list(g) if g else [None] * len(side) for g, side in zip(groups, sides, strict=True)
    ]
    matched = _matched(real, generated, paired, names)
    if matched is not None:
        return matched.grouped(*_shared_codes(of_group, sides)) if grouped else matched
    if grouped and paired is not False:
        shared = _matched(of_group[0], of_group[1], None, names)
        if shared is not None and shared.units[0] >= FEWEST_GROUPS:
            keys = [unit_keys(g, [None] * len(g), side) for g, side in zip(of_group, "rg", strict=True)]
            return Design.prompts(*_coded(*keys)).grouped(*_coded(*keys))
    keys = [unit_keys(group, prompt, side) for group, prompt, side in zip(of_group, sides, "rg", strict=True)]
    if all(len(set(k)) == len(k) for k in keys):
        return Design.documents(len(real), len(generated))
    return Design.clusters(*(np.unique(k, return_inverse=True)[1] for k in keys))


def _matched(real: Names, generated: Names, paired: bool | None, names: tuple[str, str]) -> Design | None:
    """Pairs or prompts, if enough documents find a partner."""
    if paired is False:
        return None
    counts = [Counter(p for p in side if p is not None) for side in (real, generated)]
    common = counts[0].keys() & counts[1].keys()
    if paired and len(common) < 2:
        raise UsageError(
            f"{counted(len(common), 'document')} of {names[1]!r} {'shares' if len(common) == 1 else 'share'} a "
            f"prompt_id with one of {names[0]!r}: no pairs",
            hint=f"leave {arg('paired', True)} out, or give both sides the same prompt_id",
        )
    fewest = min((real, generated), key=len)
    matched = sum(p in common for p in fewest)
    if len(common) < 2 or not (paired or matched >= MATCHED * len(fewest)):
        return None
    if all(c[p] == 1 for c in counts for p in common):
        pairs = _pairs(real, generated, common)
        return replace(Design.pairs(pairs), left_out=(len(real) - len(pairs), len(generated) - len(pairs)))
    # documents without a prompt get keys that the other side lacks
    keys = [unit_keys([None] * len(side), side, name) for side, name in ((real, "r"), (generated, "g"))]
    return Design.prompts(*_coded(*keys))


def _pairs(real: Names, generated: Names, common: set[str]) -> Ints:
    """Row numbers of both documents of each prompt that both texts have, (P, 2), in the order of the real ones."""
    row = {p: i for i, p in enumerate(generated)}
    return np.array([(i, row[p]) for i, p in enumerate(real) if p is not None and p in common], dtype=np.int64)


def _shared_codes(groups: list[list[str | None]], prompts: tuple[Names, Names]) -> tuple[Ints, Ints]:
    """A number for the group of each document; the group of a prompt is that of its first document with a group."""
    of_prompt = _groups_of_prompts(groups, prompts)
    # documents that take part have a prompt
    keys = [[f"group {of_prompt[p]}" if p in of_prompt else f"prompt {p}" for p in asked] for asked in prompts]
    return _coded(*(np.array(k, dtype=object) for k in keys))


def _groups_of_prompts(groups: Iterable[Names], prompts: Iterable[Names]) -> dict[str, str]:
    """The group of each prompt: that of the first document of several texts that has both."""
    of_prompt: dict[str, str] = {}
    for side, asked in zip(groups, prompts, strict=True):
        for group, prompt in zip(side, asked, strict=True):
            if group is not None and prompt is not None:
                of_prompt.setdefault(prompt, group)
    return of_prompt


def _coded(real: Keys, generated: Keys) -> tuple[Ints, Ints]:
    """Number the keys of both texts: equal keys get equal numbers."""
    codes = np.unique(np.concatenate([real, generated]), return_inverse=True)[1]  # (n + m,)
    return codes[: len(real)], codes[len(real) :]


def unit_keys(groups: Names, prompts: Names, side: str, ids: Sequence[str] | None = None) -> Keys:
    """A key for each document: its group, else its prompt, else the side and its id, by default its row."""
    alone = range(len(prompts)) if ids is None else ids
    keys = [
        f"group {g}" if g is not None else (f"prompt {p}" if p is not None else f"{side} {i}")
        for i, g, p in zip(alone, groups, prompts, strict=True)
    ]
    return np.array(keys, dtype=object)


ABOVE = 5_000
"""Documents (or prompts, pairs, clusters) of a text above which they are put into blocks."""
MOST = 512
"""Blocks of the larger text: half as many to as many."""
FEWEST = 64
"""The smaller text keeps at least so many blocks, if it has as many units; the larger one may then have more."""
_BLOCKS = 9
"""Number that keeps the random stream of the blocks apart."""


def in_blocks(design: Design, seed: int, above: int = ABOVE, most: int = MOST) -> Design:
    """Put the units of a design into at most ``most`` random blocks per text, if a text has more than ``above``.

    Designs by bins of a covariate stay as they are.

    >>> in_blocks(Design.documents(20_000, 6_000), seed=0).units
    (312, 93)
    >>> in_blocks(Design.documents(500, 400), seed=0).kind
    'documents'
    """
    size = block_size(design, above, most)
    if size == 1:
        return design
    one, other = (blocks_of(units, size, seed, side) for side, units in enumerate(design.units))
    if design.together:
        # a unit is the same prompt in both texts, and so is its block
        groups = one[design.unit_numbers[0]], one[design.unit_numbers[1]]
        return replace(design, groups=groups, block=size, unpooled=design)
    numbers = one[design.unit_numbers[0]], other[design.unit_numbers[1]]
    return replace(design, kind="clusters", numbers=numbers, groups=None, block=size, unpooled=design)


def block_size(design: Design, above: int = ABOVE, most: int = MOST) -> int:
    """Units per block, a power of two: 1 if the design is small enough, or by bins.

    Powers of two make few sizes for many comparisons with one real text, whose blocks then serve several times. Both
    texts have blocks of one size.

    >>> block_size(Design.documents(1_000_000, 1_000_000)), block_size(Design.documents(1_000_000, 10_000))
    (2048, 128)
    """
    if design.kind == "bins" or max(design.n_real, design.n_generated, *design.units) <= above:
        return 1
    wanted, fitting = -(-max(design.units) // most), min(design.units) // FEWEST
    size = 1
    # the smaller text limits the size: with few blocks, few relabellings would be distinct
    while size < wanted and 2 * size <= fitting:
        size *= 2
    return size


def blocks_of(units: int, size: int, seed: int, side: int) -> Ints:
    """The block of each unit, int (units,), from 0: blocks of ``size`` at random, the last of which share the rest.

    The blocks of a text follow from the seed and the side, so that those of a real text are the same beside any
    generated one.

    >>> np.bincount(blocks_of(10, 4, seed=0, side=0)).tolist()
    [5, 5]
    """
    order = np.random.default_rng([seed, _BLOCKS, side]).permutation(units)
    number = np.empty(units, dtype=np.int64)
    number[order] = np.arange(units) % max(units // size, 1)
    return number


def of_units(design: Design) -> Design:
    """The same test on rows that were summed by unit, with their weights: documents, or pairs of units.

    For designs whose units are relabelled whole: clusters, pairs, and groups of prompts.
    """
    one, other = design.units
    pairs = np.repeat(np.arange(one)[:, None], 2, axis=1)  # (units, 2): row u of both sides
    units = Design.pairs(pairs) if design.flips else Design.documents(one, other)
    return units if design.exchangeable else replace(units, summed=design.unit_sizes)


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
    group_of_prompt = _groups_of_prompts(of_group.values(), prompts.values())
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
    return Pools(units, _connected(units, len(number)), asked, _all_answer(asked))


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


def _all_answer(prompts: Mapping[str, Ints]) -> bool:
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
