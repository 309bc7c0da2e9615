"""Relabellings that axes share which score other documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from momus.inference.design import Design, Numbers
from momus.inference.weights import CHUNK, Weights, all_labels, lowest
from momus.numeric.types import Bools, Floats, Ints

_SHARED = 7
"""Number that keeps the random stream of shared relabellings apart."""


@dataclass(frozen=True)
class Restricted:
    """A design restricted to the documents that an axis scores.

    Attributes
    ----------
    design
        The design of the scored documents; its ``rows`` are row numbers of the corpora.
    index
        For each row that a label is given to, (L,), its number among those of the whole design: documents, clusters,
        groups, or units that change sides.
    """

    design: Design
    index: Ints


def restricted(design: Design, real: Bools, generated: Bools) -> Restricted:
    """Restrict a design to scored documents.

    A pair with an unscored partner is dropped, and so is a prompt or bin that has scored documents on one side only.

    Parameters
    ----------
    real, generated
        Which documents of each corpus are scored, one entry for each document of the corpus.

    >>> pairs = Design.pairs(np.array([[0, 0], [1, 1], [2, 2]]))
    >>> r = restricted(pairs, np.array([True, True, True]), np.array([True, False, True]))
    >>> r.design.n_real, r.index.tolist(), r.design.rows[1].tolist()
    (2, [0, 2], [0, 2])
    """
    rows = design.rows or (np.arange(design.n_real), np.arange(design.n_generated))
    kept = [np.asarray(side)[r] for side, r in zip((real, generated), rows, strict=True)]
    if design.numbers is not None and design.kind != "clusters":
        common = np.intersect1d(design.numbers[0][kept[0]], design.numbers[1][kept[1]])
        kept = [k & np.isin(n, common) for k, n in zip(kept, design.numbers, strict=True)]
    sizes = int(kept[0].sum()), int(kept[1].sum())
    left_out = int(np.asarray(real).sum()) - sizes[0], int(np.asarray(generated).sum()) - sizes[1]
    smaller = replace(
        design,
        n_real=sizes[0],
        n_generated=sizes[1],
        rows=(rows[0][kept[0]], rows[1][kept[1]]),
        numbers=_renumbered(design.numbers, kept, shared=design.kind != "clusters"),
        groups=_renumbered(design.groups, kept, shared=design.kind != "bins"),
        left_out=left_out,
    )
    whole = design.flips or design.kind == "clusters" or design.groups is not None
    if not whole:  # labels are given to documents
        return Restricted(smaller, np.concatenate([np.flatnonzero(kept[0]), np.flatnonzero(kept[1]) + design.n_real]))
    units = [np.unique(n[k]) for n, k in zip(design.unit_numbers, kept, strict=True)]
    if design.flips:
        return Restricted(smaller, np.union1d(*units))
    return Restricted(smaller, np.concatenate([units[0], units[1] + design.units[0]]))


def _renumbered(numbers: Numbers | None, kept: list[Bools], *, shared: bool) -> Numbers | None:
    """Number what is left from 0, in its order; ``shared``: with the same numbers for both texts."""
    if numbers is None:
        return None
    one, other = (n[k] for n, k in zip(numbers, kept, strict=True))
    if not shared:
        return np.unique(one, return_inverse=True)[1], np.unique(other, return_inverse=True)[1]
    codes = np.unique(np.concatenate([one, other]), return_inverse=True)[1]
    return codes[: len(one)], codes[len(one) :]


class SharedLabels:
    """Relabellings of all documents, from which each axis takes those of its scored documents.

    Each row that is labelled draws one random key per relabelling, and an axis labels as real those of its rows that
    have the lowest keys, as many as the axis has real ones (within each prompt or bin, where there are any). Units that
    change sides draw a coin instead. So the relabellings of each axis are uniform over those of its own test, and axes
    that score the same documents have the same relabellings.

    Parameters
    ----------
    design
        The design of all documents of both corpora.
    axes
        The design restricted to the documents of each axis.
    permutations
        Number of random relabellings; all of them are enumerated if there are no more than that (and all axes score
        the same documents, or units change sides as a whole).
    signed
        Which axes have random signs of units in place of relabellings; default: none. A sign follows from the key of
        its unit, so that it is positive where a relabelling tends to move the unit to the real text.
    """

    def __init__(
        self, design: Design, axes: list[Restricted], permutations: int, seed: int, signed: Sequence[bool] = ()
    ) -> None:
        self.design, self.axes, self.seed = design, axes, seed
        same = all(np.array_equal(a.index, axes[0].index) for a in axes)
        # enumerate the labellings of what the axes have in common, not of documents that none of them scores
        self._all = design if design.flips or not axes or not same else axes[0].design
        self.exact = bool(axes) and self._all.enumerable and self._all.relabellings <= permutations
        self.signed = list(signed) or [False] * len(axes)
        self.exact = self.exact and (design.flips or (same and not any(self.signed)))
        self.permutations = self._all.relabellings if self.exact else permutations
        self._enumerated = all_labels(self._all) if self.exact else None

    def chunk(self, number: int, size: int) -> list[Weights]:
        """Labels of the rows of each axis, (rows, size) each, or signs; relabellings ``number · CHUNK`` onwards."""
        labels: dict[tuple[bytes, bool], Weights] = {}
        keys = None if self._enumerated is not None else self._keys(number, size)
        for axis, signed in zip(self.axes, self.signed, strict=True):
            name = axis.index.tobytes(), signed
            if name in labels:  # most axes score the same documents
                continue
            if signed and keys is not None:
                labels[name] = _signs(axis.design, keys[axis.index])
            else:
                columns = self._of_axis(axis, keys, number, size)
                # units that change sides: those that keep theirs have a positive sign
                labels[name] = 2 * columns[: axis.design.units[0]] - 1 if signed else columns
        drawn = [labels[axis.index.tobytes(), signed] for axis, signed in zip(self.axes, self.signed, strict=True)]
        return [
            of_axis if signed else _of_documents(axis.design, of_axis)
            for axis, signed, of_axis in zip(self.axes, self.signed, drawn, strict=True)
        ]

    def _keys(self, number: int, size: int) -> Floats:
        rng = np.random.default_rng([self.seed, _SHARED, number])
        d = self.design
        if d.flips:
            return rng.integers(0, 2, (d.units[0], size)).astype(np.float64)
        by_unit = d.kind == "clusters" or d.groups is not None
        return rng.random((sum(d.units) if by_unit else d.n_real + d.n_generated, size))

    def _of_axis(self, axis: Restricted, keys: Floats | None, number: int, size: int) -> Weights:
        if keys is None:
            assert self._enumerated is not None
            columns = self._enumerated[:, number * CHUNK : number * CHUNK + size]
            if self.design.flips:
                kept = columns[: self.design.units[0]][axis.index]
                return np.concatenate([kept, 1 - kept])
            return np.ascontiguousarray(columns)
        d, keys = axis.design, keys[axis.index]
        if d.flips:
            kept = keys.astype(np.float32)
            return np.concatenate([kept, 1 - kept])
        if d.strata is not None and d.numbers is not None and d.groups is None:
            return lowest(keys, np.concatenate(d.numbers), d.n_real)
        n_real = d.n_real if d.kind == "documents" else d.units[0]
        # the lowest keys of all rows: a partition finds them without sorting
        return np.asarray(keys <= np.partition(keys, n_real - 1, axis=0)[n_real - 1], dtype=np.float32)


def _signs(d: Design, keys: Floats) -> Weights:
    """Signs of units from their keys (L, B): those of the real text with low keys, of the other one with high keys."""
    if d.flips:
        return np.asarray(2 * keys - 1, dtype=np.float32)
    low = np.where(keys < 0.5, 1.0, -1.0).astype(np.float32)
    low[d.units[0] :] *= -1
    return low


def _of_documents(d: Design, labels: Weights) -> Weights:
    """From groups to the documents of bins; other labels stay as they are."""
    if d.kind != "bins" or d.groups is None:
        return labels
    return np.asarray(labels[np.concatenate([d.groups[0], d.groups[1] + d.units[0]])])
