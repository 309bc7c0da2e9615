"""Differences along one axis, adjusted for other axes or for metadata: documents are compared within bins of these.

What remains of the documents of both texts within bins is their overlap; of too small a one there is no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from momus.errors import UsageError
from momus.inference.design import Design
from momus.inference.intervals import effective_n
from momus.inference.result import NAN, TestResult
from momus.inference.samples import taken
from momus.inference.testing import compare_one
from momus.joint.axes import AxisRows, Column, covariate, units_of
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings


@dataclass(frozen=True)
class AdjustedRow:
    """A difference along one axis, as it is and within bins of one or several covariates; NaN for what does not exist.

    Attributes
    ----------
    critic, axis, statistic, generated
        The headline row that is adjusted.
    covariates
        What it is adjusted for: names of critics or of metadata fields.
    unadjusted, difference
        generated − real before and after adjustment, for documents with both a score and the covariates.
    low, high
        Interval of the adjusted difference.
    p
        Permutation test within bins, not adjusted for the number of rows.
    grouped
        Whether documents of a group, or of a repeated prompt, were relabelled together within each text.
    reason
        Why there is no adjusted number; empty if there is one.
    """

    critic: str
    axis: str
    statistic: str
    generated: str
    covariates: tuple[str, ...]
    unadjusted: float = NAN
    difference: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN
    permutations: int = 0
    n_real: int = 0
    n_generated: int = 0
    grouped: bool = False
    reason: str = ""


def adjusted_verdicts(
    axes: Sequence[AxisRows],
    names: Sequence[str],
    real: Corpus,
    generated: Sequence[Corpus],
    settings: Settings | None = None,
) -> list[AdjustedRow]:
    """Compare every axis again, within bins of the covariates ``names`` (critics or metadata fields).

    Documents are relabelled within bins (whole groups, where documents belong together); documents that answer the
    same prompt are independent here. Bins are cut at quantiles of both texts.

    Parameters
    ----------
    axes
        Headline rows of the critics of documents, of all corpora.

    Returns
    -------
    One row per axis that is not a covariate itself, and corpus; its p is not adjusted for their number.

    Raises
    ------
    UsageError
        No name is given, or one is neither a critic nor a field.
    """
    if not names:
        raise UsageError("no covariate to adjust for is named", hint="name critics or fields: length,symbol-share")
    settings = settings or Settings()
    # an axis within bins of its own values has nothing left to differ in
    tested = [axis for axis in axes if axis.critic not in names]
    rows = []
    for corpus in generated:
        covariates = {name: covariate(name, axes, real, corpus) for name in names}
        units = units_of((real.prompts, corpus.prompts), (real.groups, corpus.groups))
        family = len(tested) * len(generated)
        rows += [adjusted(axis, covariates, (real.name, corpus.name), units, settings, family) for axis in tested]
    return rows


def adjusted(
    axis: AxisRows,
    covariates: Mapping[str, tuple[Column, Column]],
    names: tuple[str, str],
    units: tuple[Ints, Ints] | None = None,
    settings: Settings | None = None,
    family: int = 1,
) -> AdjustedRow:
    """Compare an axis within bins of covariates.

    Parameters
    ----------
    covariates
        By name, a number or name of each real and each generated document; NaN or None where it is missing.
    names
        The real and the generated corpus, as the axis knows them.
    units
        Number of the independent unit of each document, (n,) and (m,); None if documents are independent.
    family
        Number of tests whose p-values will be adjusted together.
    """
    settings = settings or Settings()
    columns = covariates.values()
    codes = bin_codes([real for real, _ in columns], [generated for _, generated in columns], BINS)
    # documents that have a score and all covariates: bool (n,) and (m,)
    real, generated = (axis.scored[name] & (code >= 0) for name, code in zip(names, codes, strict=True))
    of_units = None if units is None else _of_both(units, real, generated)
    design, overlap = binned(_of_both(codes, real, generated), of_units)
    described = axis.critic, axis.name, axis.statistic.name, names[1], tuple(covariates)
    row = AdjustedRow(*described, grouped=units is not None, reason=overlap.refusal)
    row = replace(row, n_real=int(real.sum()), n_generated=int(generated.sum()))
    if min(row.n_real, row.n_generated) < 2:
        return replace(row, reason="few documents")
    # the same documents without bins, so that both differences are comparable; prompts would leave others out
    whole = Design.documents(row.n_real, row.n_generated) if of_units is None else Design.clusters(*of_units)
    plain = _tested(axis, names, (real, generated), whole, settings, 1)
    row = replace(row, unadjusted=_number(None if plain is None else plain.difference))
    if design is None:
        return row
    within_bins = _tested(axis, names, (real, generated), design, settings, family)
    if within_bins is None or plain is None:
        return replace(row, reason="not finite")
    numbers: dict[str, Any] = {name: _number(getattr(within_bins, name)) for name in ("difference", "low", "high", "p")}
    return replace(row, permutations=within_bins.method.permutations, **numbers)


def _number(value: float | None) -> float:
    return NAN if value is None else value


def _of_both(codes: tuple[Ints, Ints], real: Bools, generated: Bools) -> tuple[Ints, Ints]:
    return codes[0][real], codes[1][generated]  # (documents that take part,) each


def _tested(
    axis: AxisRows, names: tuple[str, str], masks: tuple[Bools, Bools], design: Design, settings: Settings, family: int
) -> TestResult | None:
    """The test of these documents under a design; None if the statistic is not finite."""
    real, generated = (taken(axis.rows[n], np.flatnonzero(m)) for n, m in zip(names, masks, strict=True))
    try:
        return compare_one(
            axis.statistic,
            real,
            generated,
            design=design,
            family=family,
            permutations=settings.permutations,
            resamples=min(settings.resamples, RESAMPLES),
            confidence=settings.confidence,
            seed=settings.seed,
        )
    # rows of a statistic that does not exist for these documents: a counted outcome, `not finite`
    except ValueError:
        return None


BINS = 20
"""Quantile bins of one covariate."""
RESAMPLES = 199
"""Most resamples of a standard error."""
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
    refusal
        Why the comparison is refused; empty if it is not.
    """

    share: float
    effective_real: float
    effective_generated: float
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
        of_column = codes
        if of_column is None:
            both = np.concatenate([np.asarray(side, dtype=np.float64) for side in (one, other)])
            of_column = quantile_codes(both, per_covariate)
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
    if not all(totals) or not used.any():
        refusal: Refusal = "no overlap" if all(totals) else "no values"
        return None, Overlap(0.0, 0.0, 0.0, refusal)
    weight = 2 * counts[0][used] * counts[1][used] / (counts[0] + counts[1])[used]  # (bins,)
    share = float(weight.sum()) / (2 * totals[0] * totals[1] / sum(totals))
    design = Design.bins(real, generated)
    if groups is not None:
        design = design.grouped(*groups)
    one, other = (effective_n(w) for w in design.weights)
    overlap = Overlap(share, one, other)
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
