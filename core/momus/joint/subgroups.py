"""Differences by subgroup of documents, and whether they are the same in all subgroups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import sparse

from momus.critic.statistic import Statistic, mean, perplexity
from momus.errors import UsageError
from momus.inference.adjustment import bin_codes, quantile_codes
from momus.inference.matching import design_of
from momus.inference.result import TestResult
from momus.inference.testing import compare_one
from momus.joint.axes import AxisRows, Covariate, covariate, few_resamples, units_of
from momus.joint.heterogeneity import NONE, Heterogeneity, heterogeneity
from momus.numeric.types import Floats, Ints
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings

QUARTERS = 4
FEWEST = 10
"""Documents per side that a subgroup needs."""
MOST = 20
"""Values that a metadata field may have."""

Tested = Literal["", "mean", "mean of values"]


@dataclass(frozen=True)
class Subgroup:
    """The difference among the documents of one subgroup.

    Attributes
    ----------
    name
        The value of the field; empty for a quarter of a covariate.
    low, high
        Smallest and largest value of the covariate; NaN for names.
    result
        The test of the axis on these documents, not adjusted for multiplicity; None if there are fewer than ten on a
        side, or the statistic does not exist.
    """

    name: str
    low: float
    high: float
    n_real: int
    n_generated: int
    result: TestResult | None


@dataclass(frozen=True)
class Subgroups:
    """The differences along one axis by subgroup.

    Attributes
    ----------
    by
        Critic or metadata field that the subgroups are made of.
    subgroups
        In the order of the values.
    tested
        What the test of equal differences compares: the ``mean`` that the axis itself compares, or the ``mean of
        values`` of the documents, for a distance between distributions of one value per document; empty without a test.
    test
        Cochran's Q of the differences of all subgroups with a result.
    reason
        Why there is no test of equal differences; empty if there is one.
    """

    critic: str
    axis: str
    statistic: str
    generated: str
    by: str
    subgroups: tuple[Subgroup, ...]
    tested: Tested = ""
    test: Heterogeneity = NONE
    reason: str = ""


def subgroup_effects(
    axes: Sequence[AxisRows], by: str, real: Corpus, generated: Corpus, settings: Settings | None = None
) -> list[Subgroups]:
    """Compare each axis within each quarter of another axis' values, or for each value of a metadata field.

    Quarters are cut at quantiles of both texts together. The design of each subgroup (pairs, prompts, clusters, …) is
    chosen from its documents. The test of equal differences takes documents as independent, or whole groups if there
    are any; it does not use pairs.

    Parameters
    ----------
    by
        A critic of documents, or a metadata field that was read with both texts.

    Raises
    ------
    UsageError
        There is no such critic or field, or the field has more than 20 values.
    """
    settings = settings or Settings()
    column = covariate(by, axes, real, generated)
    codes, labels = _subgroups(column)
    return [_of_axis(axis, by, codes, labels, real, generated, settings) for axis in axes if axis.critic != by]


Label = tuple[str, float, float]
"""Name, and smallest and largest value, of a subgroup."""


def _subgroups(column: Covariate) -> tuple[tuple[Ints, Ints], list[Label]]:
    """Number the subgroup of each document, −1 without one."""
    if isinstance(column.real, np.ndarray):
        values = np.concatenate([np.asarray(column.real), np.asarray(column.generated)])
        codes = quantile_codes(values, QUARTERS)
        # equal values share a bin, so that there may be fewer than four
        members = [values[codes == k] for k in range(int(codes.max(initial=-1)) + 1)]
        labels = [("", float(v.min()), float(v.max())) for v in members]
        return (codes[: len(column.real)], codes[len(column.real) :]), labels
    names = check_values(column)
    return bin_codes([column.real], [column.generated]), [(name, float("nan"), float("nan")) for name in names]


def check_values(column: Covariate) -> list[str]:
    """Check that a field has few enough values for subgroups, and return them; numbers are cut into quarters instead.

    Raises
    ------
    UsageError
        The field has more than 20 values.
    """
    if isinstance(column.real, np.ndarray):
        return []
    names = sorted({str(n) for n in (*column.real, *column.generated) if n is not None})
    if len(names) > MOST:
        raise UsageError(
            f"field {column.name!r} has {len(names):,} values, too many for subgroups",
            hint=f"give a field with at most {MOST} values, such as a kind of prompt",
        )
    return names


def _of_axis(
    axis: AxisRows,
    by: str,
    codes: tuple[Ints, Ints],
    labels: Sequence[Label],
    real: Corpus,
    generated: Corpus,
    settings: Settings,
) -> Subgroups:
    corpora = real, generated
    members = [
        # row numbers of both texts, for each subgroup
        tuple(np.flatnonzero(axis.scored[c.name] & (side == k)) for c, side in zip(corpora, codes, strict=True))
        for k in range(len(labels))
    ]
    subgroups = tuple(
        Subgroup(*label, len(a), len(b), _tested(axis, (a, b), corpora, settings))
        for label, (a, b) in zip(labels, members, strict=True)
    )
    analysis = Subgroups(axis.critic, axis.name, axis.statistic.name, generated.name, by, subgroups)
    chosen = [pair for pair, s in zip(members, subgroups, strict=True) if s.result is not None]
    rows, tested = _rows_of_means(axis, (real.name, generated.name))
    # a distance of distributions has no variance by subgroup that Q could weight with
    if rows is None or len(chosen) < 2:
        reason = "fewer than two subgroups" if rows is not None else "no value per document"
        return replace(analysis, reason=reason)
    # renumbered from 0: subgroups without a result leave no gap in Cochran's Q
    numbers = [np.repeat(np.arange(len(chosen)), [len(pair[i]) for pair in chosen]) for i in (0, 1)]
    order = [np.concatenate([pair[i] for pair in chosen]) for i in (0, 1)]  # rows in the order of `numbers`
    units = units_of((real.prompts, generated.prompts), (real.groups, generated.groups))
    test = heterogeneity(
        (rows[0][order[0]], rows[1][order[1]]),
        (numbers[0], numbers[1]),
        None if units is None else (units[0][order[0]], units[1][order[1]]),
        settings.permutations,
        settings.seed,
    )
    return replace(analysis, tested=tested, test=test, reason=test.reason)


def _tested(
    axis: AxisRows, members: tuple[Ints, ...], corpora: tuple[Corpus, Corpus], settings: Settings
) -> TestResult | None:
    if min(map(len, members)) < FEWEST:
        return None
    prompts, groups = (
        [[names[i] for i in rows.tolist()] for names, rows in zip(sides, members, strict=True)]
        for sides in ([c.prompts for c in corpora], [c.groups for c in corpora])
    )
    # pairs were asked for of the whole texts: a subgroup without common prompts must not be an error
    paired = None if settings.paired is not False else False
    design = design_of(prompts[0], prompts[1], paired, groups=(groups[0], groups[1]))
    sides = (axis.rows[c.name][rows] for c, rows in zip(corpora, members, strict=True))
    result = compare_one(axis.statistic, *sides, design=design, **few_resamples(settings))
    return None if result.method.lacks else result


def _rows_of_means(axis: AxisRows, names: tuple[str, str]) -> tuple[tuple[Floats, Floats] | None, Tested]:
    """Rows [x, w] whose ratio of totals is compared over subgroups: (n, 2) and (m, 2)."""
    one, other = (axis.rows[name] for name in names)
    if _is_ratio(axis.statistic) and not sparse.issparse(one) and one.shape[1] == 2:
        return (np.asarray(one), np.asarray(other)), "mean"
    single = all(
        sparse.issparse(rows) and bool((np.diff(rows.indptr)[axis.scored[name]] == 1).all())
        for rows, name in zip((one, other), names, strict=True)
    )
    if not single:
        return None, ""
    a, b = (np.column_stack([axis.values[name], np.ones(len(axis.values[name]))]) for name in names)
    return (a, b), "mean of values"


def _is_ratio(statistic: Statistic) -> bool:
    return statistic.kind == "value" and statistic.prepare is None and statistic.function in (mean, perplexity)
