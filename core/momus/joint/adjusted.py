"""Differences along one axis, adjusted for other axes or for metadata: documents are compared within bins of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from momus.errors import UsageError
from momus.inference.adjustment import BINS, Column, Overlap, bin_codes, binned
from momus.inference.design import Design
from momus.inference.result import NAN, TestResult
from momus.inference.samples import taken
from momus.inference.testing import compare_one
from momus.joint.axes import AxisRows, covariate, few_resamples, units_of
from momus.numeric.types import Bools, Ints
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
    overlap
        How many documents the adjusted comparison rests on.
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
    overlap: Overlap | None = None
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
    codes = bin_codes(*map(list, zip(*covariates.values(), strict=True)), BINS)
    # documents that have a score and all covariates: bool (n,) and (m,)
    real, generated = (axis.scored[name] & (code >= 0) for name, code in zip(names, codes, strict=True))
    of_units = None if units is None else _of_both(units, real, generated)
    design, overlap = binned(_of_both(codes, real, generated), of_units)
    row = AdjustedRow(
        axis.critic,
        axis.name,
        axis.statistic.name,
        names[1],
        tuple(covariates),
        n_real=int(real.sum()),
        n_generated=int(generated.sum()),
        overlap=overlap,
        grouped=units is not None,
        reason=overlap.refusal,
    )
    if min(row.n_real, row.n_generated) < 2:
        return replace(row, reason="few documents")
    # the same documents without bins, so that both differences are comparable; prompts would leave others out
    whole = Design.documents(row.n_real, row.n_generated) if of_units is None else Design.clusters(*of_units)
    plain = _tested(axis, names, (real, generated), whole, settings, 1)
    row = replace(row, unadjusted=NAN if plain is None else plain.difference)
    if design is None:
        return row
    within_bins = _tested(axis, names, (real, generated), design, settings, family)
    if within_bins is None or plain is None:
        return replace(row, reason="not finite")
    return replace(
        row,
        difference=within_bins.difference,
        low=within_bins.low,
        high=within_bins.high,
        p=within_bins.p,
        permutations=within_bins.method.permutations,
    )


def _of_both(codes: tuple[Ints, Ints], real: Bools, generated: Bools) -> tuple[Ints, Ints]:
    return codes[0][real], codes[1][generated]  # (documents that take part,) each


def _tested(
    axis: AxisRows, names: tuple[str, str], masks: tuple[Bools, Bools], design: Design, settings: Settings, family: int
) -> TestResult | None:
    """The test of these documents under a design; None if the statistic is not finite."""
    real, generated = (taken(axis.rows[n], np.flatnonzero(m)) for n, m in zip(names, masks, strict=True))
    try:
        return compare_one(axis.statistic, real, generated, design=design, family=family, **few_resamples(settings))
    # rows of a statistic that does not exist for these documents: a counted outcome, `not finite`
    except ValueError:
        return None
