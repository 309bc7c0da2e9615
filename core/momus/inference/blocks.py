"""Random blocks: many documents pooled into fewer units, so that the cost of a test does not grow with their number.

Statistics are functions of pooled rows, so the sum of the rows of some documents is a row too. Documents that are
independent units are put into blocks at random within their text; clusters, pairs and prompts are put into blocks
whole. The units of the test are then the blocks, through designs that exist anyway: clusters, or groups of pairs and of
prompts. The test stays valid. Under the null hypothesis that documents are exchangeable between the texts, blocks of
one size are too: a relabelling of blocks is a relabelling of documents. Values and effect sizes do not change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from momus.inference.design import Design
from momus.numeric.types import Ints

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
    pairs = np.repeat(np.arange(one)[:, None], 2, axis=1)
    units = Design.pairs(pairs) if design.flips else Design.documents(one, other)
    return units if design.exchangeable else replace(units, summed=design.unit_sizes)
