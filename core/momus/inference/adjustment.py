"""Adjustment for covariates: bins of them, the overlap of two texts there, and the share of a difference left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from momus.inference.design import Design
from momus.inference.intervals import effective_n
from momus.numeric.types import Floats, Ints

Column: TypeAlias = Floats | Sequence[str | None]
"""A covariate of each document, (n,): numbers (NaN: missing), or names (None: missing)."""
BINS = 20
"""Quantile bins of one covariate."""
CELLS = 30
"""Cells of the cross product of several covariates."""
PER_BIN = 5
"""Documents per bin and side, on average, that quantile bins leave at least."""
LEAST_SHARE, LEAST_DOCUMENTS = 0.25, 20.0
"""A comparison within bins is refused below this share of the documents of an unadjusted one, or effective number."""
LEAST_GROUPS = 5.0
"""… and below this effective number of groups, where documents belong to groups."""
MISSING = -1

Refusal = Literal["", "no values", "constant", "no overlap", "little overlap", "few documents", "few groups"]


@dataclass(frozen=True)
class Overlap:
    """How many documents a comparison within bins rests on.

    Attributes
    ----------
    share
        Σ 2rg/(r + g) over bins with r real and g generated documents, divided by 2RG/(R + G) for all R and G documents
        that have the covariate: 1 if every bin has both texts in the same proportion, 0 if no bin has both.
    effective_real, effective_generated
        Numbers of equally weighted documents with the same variance of a mean (Kish 1965).
    bins
        Bins with documents of both texts.
    left_out_real, left_out_generated
        Documents without the covariate, or in bins with one text only.
    refusal
        Why the comparison is refused; empty if it is not.
    """

    share: float
    effective_real: float
    effective_generated: float
    bins: int
    left_out_real: int
    left_out_generated: int
    refusal: Refusal = ""


def bin_codes(real: Sequence[Column], generated: Sequence[Column], bins: int = BINS) -> tuple[Ints, Ints]:
    """Number the bin of each document, for one or several covariates.

    Numbers are cut at quantiles of both texts together: 20 bins for one covariate, fewer if the smaller text has fewer
    than five documents per bin; about 30 cells in the cross product of several. Equal values share a bin. Names have
    one bin each.

    Returns
    -------
    int64 (n,) and (m,); −1 where a covariate is missing.

    >>> [codes.tolist() for codes in bin_codes([np.array([1.0, 2.0, 3.0])], [np.array([2.0, np.nan])], bins=2)]
    [[0, 0, 1], [0, -1]]
    >>> [codes.tolist() for codes in bin_codes([["a", "b", None]], [["b", "b"]])]
    [[0, 1, -1], [1, 1]]
    """
    sizes = len(real[0]), len(generated[0])
    numbered = [_names(one, other) if _named(one) else None for one, other in zip(real, generated, strict=True)]
    # what names leave of the cells is shared by the numbers
    named = [int(codes.max(initial=0)) + 1 for codes in numbered if codes is not None]
    numeric = len(numbered) - len(named)
    cells = min(bins if len(numbered) == 1 else round(bins * CELLS / BINS), max(min(sizes) // PER_BIN, 2))
    per_covariate = max(int((cells / np.prod(named, dtype=float)) ** (1 / max(numeric, 1)) + 1e-9), 2)
    cell = np.zeros(sum(sizes), dtype=np.int64)
    missing = np.zeros(sum(sizes), dtype=bool)
    for codes, one, other in zip(numbered, real, generated, strict=True):
        of_column = (
            quantile_codes(np.concatenate([_floats(one), _floats(other)]), per_covariate) if codes is None else codes
        )
        missing |= of_column == MISSING
        # digits of a mixed radix: one number for each combination of bins
        cell = cell * (int(of_column.max(initial=0)) + 1) + of_column
    cell[missing] = MISSING
    return cell[: sizes[0]], cell[sizes[0] :]


def quantile_codes(values: Floats, bins: int) -> Ints:
    """Number the quantile bin of each value, (n,); −1 for NaN. Cuts are values themselves, and belong to the bin below.

    The bins are the same for any increasing function of the values.

    >>> quantile_codes(np.array([5.0, 1.0, 1.0, 1.0, 9.0, 7.0]), 3).tolist()
    [1, 0, 0, 0, 2, 2]
    """
    known = np.isfinite(values)
    codes = np.full(len(values), MISSING, dtype=np.int64)
    if known.any():
        ordered = np.sort(values[known])
        # the last value of each bin: of n values, number ⌈i·n/bins⌉ for i = 1 … bins − 1
        cuts = np.unique(ordered[-(-np.arange(1, bins) * len(ordered) // bins) - 1])
        codes[known] = np.unique(np.searchsorted(cuts, values[known], side="left"), return_inverse=True)[1]
    return codes


def _named(column: Column) -> bool:
    return not (isinstance(column, np.ndarray) and np.issubdtype(column.dtype, np.number))


def _floats(column: Column) -> Floats:
    return np.asarray(column, dtype=np.float64)


def _names(real: Column, generated: Column) -> Ints:
    names = [*real, *generated]
    number = {name: i for i, name in enumerate(sorted({str(n) for n in names if n is not None}))}
    return np.array([MISSING if n is None else number[str(n)] for n in names], dtype=np.int64)


def binned(codes: tuple[Ints, Ints], groups: tuple[Ints, Ints] | None = None) -> tuple[Design | None, Overlap]:
    """Build the design within bins, None if too few documents are comparable, and say how many are.

    The design is over all documents of both texts, of which those without a bin do not take part.

    Parameters
    ----------
    codes
        Bin of each real and each generated document, (n,) and (m,); −1: takes no part.
    groups
        Number of the independent unit of each document, if documents belong together.

    >>> design, overlap = binned((np.array([0, 0, 1]), np.array([2, 2])))
    >>> design, overlap.refusal
    (None, 'no overlap')
    """
    # documents without a bin get one of their own side, which leaves them out
    top = max(int(side.max(initial=0)) for side in codes) + 1
    real, generated = (np.where(side >= 0, side, top + k) for k, side in enumerate(codes))
    totals = [int((side >= 0).sum()) for side in codes]
    counts = [np.bincount(side[side >= 0], minlength=top).astype(np.float64) for side in codes]
    used = (counts[0] > 0) & (counts[1] > 0)
    bins = int(used.sum())
    if not all(totals) or not bins:
        refusal: Refusal = "no overlap" if all(totals) else "no values"
        return None, Overlap(0.0, 0.0, 0.0, 0, len(real), len(generated), refusal)
    weight = 2 * counts[0][used] * counts[1][used] / (counts[0] + counts[1])[used]  # (bins,)
    share = float(weight.sum()) / (2 * totals[0] * totals[1] / sum(totals))
    design = Design.bins(real, generated)
    if groups is not None:
        design = design.grouped(*groups)
    one, other = (effective_n(w) for w in design.weights)
    overlap = Overlap(share, one, other, bins, *design.left_out)
    refusal = _refusal(design, overlap, constant=int(((counts[0] + counts[1]) > 0).sum()) == 1)
    return None if refusal else design, replace(overlap, refusal=refusal)


def _refusal(design: Design, overlap: Overlap, constant: bool) -> Refusal:
    if constant:
        return "constant"
    if overlap.share < LEAST_SHARE:
        return "little overlap"
    if min(overlap.effective_real, overlap.effective_generated) < LEAST_DOCUMENTS:
        return "few documents"
    if design.groups is not None:
        units = (
            np.asarray(np.bincount(n, w), dtype=np.float64) for n, w in zip(design.groups, design.weights, strict=True)
        )
        if min(effective_n(w) for w in units) < LEAST_GROUPS:
            return "few groups"
    return ""
