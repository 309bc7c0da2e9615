"""The design of a test: which documents belong together, hence which units are relabelled and resampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, prod
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Floats, Ints

Kind = Literal["documents", "pairs", "prompts", "clusters", "bins"]
Numbers = tuple[Ints, Ints]
"""A number for each real and for each generated document."""


@dataclass(frozen=True)
class Design:
    """How the documents of two texts belong together; build one with the class methods.

    Attributes
    ----------
    kind
        ``documents`` are independent. ``clusters`` of documents are, within each text: whole clusters are relabelled
        and resampled. Both texts answer ``prompts``, any number of times: documents are relabelled within prompts, and
        prompts are resampled; ``pairs`` are prompts with one document on each side. ``bins`` hold documents with
        similar values of a covariate: documents are relabelled within bins.
    n_real, n_generated
        Numbers of documents that take part.
    numbers
        For each document that takes part, the number (from 0) of its prompt, bin or cluster; None for documents.
    rows
        Row numbers of the documents that take part in each text; None where all do, in order.
    groups
        Coarser independent units than prompts or bins, such as books whose chapters are the prompts, from 0; None if
        prompts, or documents within bins, are independent. Groups of both texts share their numbers for prompts
        (whole groups then change sides), and have numbers of their own for bins.
    left_out
        Documents of each text that do not take part.
    block, unpooled
        How many units were put into each random block, and the design of these units (`momus.inference.matching`).
    summed
        Where rows were summed over units that are not exchangeable: how many documents each row holds
        (`momus.inference.matching.of_units`); None otherwise.

    >>> Design.clusters([0, 0, 1], range(4)).units
    (2, 4)
    >>> Design.prompts([0, 0, 1, 2], [0, 1, 1, 3]).left_out  # prompts 2 and 3 have documents on one side only
    (1, 1)
    """

    kind: Kind
    n_real: int
    n_generated: int
    numbers: Numbers | None = None
    rows: Numbers | None = None
    groups: Numbers | None = None
    left_out: tuple[int, int] = (0, 0)
    block: int = 1
    unpooled: Design | None = None
    summed: tuple[Floats, Floats] | None = None

    @classmethod
    def documents(cls, n_real: int, n_generated: int) -> Design:
        """Documents are independent."""
        return cls("documents", n_real, n_generated)

    @classmethod
    def pairs(cls, pairs: Ints) -> Design:
        """Pairs of row numbers, int (P, 2); documents outside of pairs do not take part."""
        every = np.arange(len(pairs))
        return cls("pairs", len(pairs), len(pairs), (every, every), (pairs[:, 0], pairs[:, 1]))

    @classmethod
    def prompts(cls, real: Sequence[int] | Ints, generated: Sequence[int] | Ints) -> Design:
        """The prompt that each document answers; equal numbers are one prompt, on either side.

        Documents whose prompt has none on the other side do not take part.
        """
        return cls._matched("prompts", np.asarray(real), np.asarray(generated))

    @classmethod
    def bins(cls, real: Sequence[int] | Ints, generated: Sequence[int] | Ints) -> Design:
        """The bin of a covariate that each document falls into; bins with documents of one text only are left out."""
        return cls._matched("bins", np.asarray(real), np.asarray(generated))

    @classmethod
    def _matched(cls, kind: Kind, real: Ints, generated: Ints) -> Design:
        common = np.intersect1d(real, generated)  # sorted, so `searchsorted` numbers its members from 0
        rows = np.flatnonzero(np.isin(real, common)), np.flatnonzero(np.isin(generated, common))
        numbers = np.searchsorted(common, real[rows[0]]), np.searchsorted(common, generated[rows[1]])
        left_out = len(real) - len(rows[0]), len(generated) - len(rows[1])
        return cls(kind, len(rows[0]), len(rows[1]), numbers, rows if any(left_out) else None, None, left_out)

    @classmethod
    def clusters(cls, real: Sequence[int] | Ints, generated: Sequence[int] | Ints) -> Design:
        """The cluster of each document, by text: equal numbers of both texts are two clusters."""
        one, other = (np.unique(c, return_inverse=True)[1] for c in (real, generated))
        return cls("clusters", len(one), len(other), (one, other))

    def grouped(self, real: Ints, generated: Ints) -> Design:
        """Add coarser independent units to prompts, pairs or bins, given for all documents of both texts.

        >>> Design.prompts([0, 1, 2, 3], [0, 1, 2, 3]).grouped(np.array([5, 5, 7, 7]), np.array([5, 5, 7, 7])).units
        (2, 2)
        """
        sides = [np.asarray(real), np.asarray(generated)]
        if self.rows is not None:
            sides = [side[rows] for side, rows in zip(sides, self.rows, strict=True)]
        if self.kind == "bins":
            # documents of a bin are not matched, so the groups of either text are units of their own
            one, other = (np.unique(side, return_inverse=True)[1] for side in sides)
            return replace(self, groups=(one, other))
        # one numbering for both texts: the two sides of a group must stay together when it changes sides
        codes = np.unique(np.concatenate(sides), return_inverse=True)[1]
        return replace(self, groups=(codes[: self.n_real], codes[self.n_real :]))

    @property
    def asked(self) -> Design:
        """The design before its units were put into blocks."""
        return self.unpooled or self

    @property
    def together(self) -> bool:
        """Whether both texts are resampled by the same units."""
        return self.kind in ("pairs", "prompts")

    @property
    def flips(self) -> bool:
        """Whether whole units change sides: pairs, or groups of prompts."""
        return self.kind == "pairs" or (self.kind == "prompts" and self.groups is not None)

    @cached_property
    def unit_numbers(self) -> Numbers:
        """The independent unit of each document, from 0; the same for both texts if they are resampled together."""
        if self.groups is not None:
            return self.groups
        if self.numbers is None or self.kind == "bins":
            return np.arange(self.n_real), np.arange(self.n_generated)
        return self.numbers

    @cached_property
    def units(self) -> tuple[int, int]:
        """Numbers of units that are drawn: documents, pairs, prompts or groups (the same for both texts), clusters."""
        one, other = (int(n.max(initial=-1)) + 1 for n in self.unit_numbers)
        return (max(one, other),) * 2 if self.together else (one, other)

    @cached_property
    def strata(self) -> tuple[Ints, Ints] | None:
        """Numbers of real and of generated documents by prompt or bin, (S,) each; None without."""
        if self.numbers is None or self.kind == "clusters":
            return None
        size = max(int(n.max(initial=-1)) + 1 for n in self.numbers)  # S
        one, other = (np.bincount(n, minlength=size) for n in self.numbers)
        return one, other

    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """Weight of each real and each generated document, (n,) and (m,).

        A prompt or bin with r real and g generated documents has the Mantel–Haenszel weight 2rg/(r + g), which its
        documents share evenly on each side (Mantel & Haenszel 1959). Without strata, and for pairs, all weights are 1.
        """
        if self.strata is None or self.numbers is None:
            return np.ones(self.n_real), np.ones(self.n_generated)
        r, g = (c.astype(np.float64) for c in self.strata)
        weight = 2 * r * g / np.maximum(r + g, 1)  # (S,)
        return (weight / np.maximum(r, 1))[self.numbers[0]], (weight / np.maximum(g, 1))[self.numbers[1]]

    @cached_property
    def unit_sizes(self) -> tuple[Floats, Floats]:
        """Documents of each unit of both texts, with their weights: (units,) each."""
        if self.summed is not None:
            return self.summed
        one, other = (
            np.asarray(np.bincount(n, w, minlength=k), dtype=np.float64)
            for n, w, k in zip(self.unit_numbers, self.weights, self.units, strict=True)
        )
        return one, other

    @cached_property
    def exchangeable(self) -> bool:
        """Whether units that are relabelled whole hold as many documents each, so that they can be exchangeable.

        The shares of a group of five documents vary less than those of one document. Random blocks of documents are
        exchangeable; blocks of groups are, if the groups are.

        >>> Design.clusters([0, 0, 1, 1], [0, 0]).exchangeable, Design.clusters([0, 0, 1], [0, 0]).exchangeable
        (True, False)
        """
        if self.summed is not None:
            return False
        if self.flips:  # a unit changes sides with all that it has on either
            one, other = (np.bincount(n, minlength=k) for n, k in zip(self.unit_numbers, self.units, strict=True))
            # changing sides must leave the number of documents of each text as it is
            return bool((one == other).all())
        asked = self.asked
        if asked.kind != "clusters" and asked.groups is None:
            return True
        sizes = np.concatenate([np.bincount(n) for n in asked.unit_numbers])  # documents of each unit, (units of both,)
        return bool((sizes == sizes[0]).all())

    @cached_property
    def drawn(self) -> dict[tuple[int, int, int], NDArray[np.uint8]]:
        """Labellings within prompts or bins that were drawn, as bits: axes of the same documents share them."""
        return {}

    @property
    def relabellings(self) -> int:
        """How many distinct ways there are to label the units."""
        if self.flips:
            return int(2 ** self.units[0])
        if self.strata is not None and self.groups is None:
            counts = [c.tolist() for c in self.strata]
            return int(prod(comb(r + g, r) for r, g in zip(*counts, strict=True)))
        return comb(sum(self.units), self.units[0])

    @property
    def enumerable(self) -> bool:
        """Whether all labellings can be listed (`momus.inference.weights.all_labels`)."""
        return self.flips or self.kind in ("documents", "clusters")
