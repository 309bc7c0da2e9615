"""Tests of two texts: permutation p-values, intervals and effect sizes, for many statistics at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from momus.critic.statistic import Statistic
from momus.inference.contrast import Contrast, contrast_of
from momus.inference.design import Design
from momus.inference.influence import Errors, cross_fitted, witness_of
from momus.inference.multiplicity import FamilyTest, family_test
from momus.inference.multipliers import chance_distance
from momus.inference.outcome import Question, outcome
from momus.inference.relabelling import FINE, FINE_WIDE, NOISE, STAGES, Budget, Nulls
from momus.inference.result import TestResult
from momus.inference.samples import NARROW, Rows, Samples
from momus.inference.selection import effective_number
from momus.inference.weights import CHUNK
from momus.numeric.types import Floats
from momus.processes import usable_threads


def compare_rows(
    statistics: Sequence[Statistic],
    real: Mapping[str, Rows],
    generated: Mapping[str, Rows],
    *,
    design: Design | None = None,
    designs: Mapping[str, Design] | None = None,
    axis: bool = False,
    headline: str = "",
    permutations: int = 9999,
    resamples: int = 499,
    wide: tuple[int, int] = (1999, 199),
    early: tuple[int, ...] = STAGES,
    noise: int = NOISE,
    confidence: float = 0.95,
    family: int = 1,
    seed: int = 0,
    threads: int | None = None,
) -> list[TestResult]:
    """Test whether statistics differ between real and generated documents.

    * Means and ratios of totals (`momus.critic.statistic.mean`, ``perplexity``): a studentised permutation test, which
      keeps its level where the means are equal and the variances are not (`momus.inference.studentised`), and the
      interval of its critical values, which excludes 0 exactly where the test rejects.
    * Other values: a permutation test and a t-test with a jackknife or bootstrap standard error, of which the larger
      p-value counts.
    * Distances: a one-sided permutation test, and an interval of the distance between the two populations. Where units
      are not exchangeable, because they hold unequal numbers of documents, random signs of units take the place of
      relabellings (`momus.inference.multipliers`).

    p = (c + 1)/(B + 1) for B random relabellings (Phipson & Smyth 2010), c/B if all B relabellings are enumerated;
    B depends on the row (`momus.inference.relabelling`). Under the null, the units of the design (documents, clusters,
    documents of a prompt or bin, or the two sides of a pair) are exchangeable between the texts.

    Parameters
    ----------
    real, generated
        Rows by key, (n, V) and (m, V), dense or CSR, with the same columns.
    design
        Which documents belong together; None: every document is a unit.
    designs
        Other designs by key, for rows that were summed by unit: the same units are relabelled in all of them.
    axis
        Whether the statistics that ``decides`` marks are a family, tested as one beside each by itself: they share
        their relabellings, and stop together (`momus.inference.multiplicity`).
    headline
        Name of the statistic that has the share `HEADLINE` of the level at least, see `momus.inference.multiplicity`.
    permutations, resamples
        Usual number of relabellings of a row that may differ; resamples of a bootstrap standard error.
    wide
        Largest usual numbers of both for rows with more than 64 columns.
    early
        Relabellings after which a test whose p is clearly above every level stops.
    noise
        Largest number of pooled values that are kept to find the minimum detectable distance.
    family
        Number of rows whose p-values are adjusted together: the smallest possible p-value must not decide, and the
        minimum detectable difference is that of level α/family.

    Raises
    ------
    ValueError
        A side has no document, or the design is of other numbers of documents.

    >>> a, b = np.arange(10.0), np.arange(10.0) + 8
    >>> rows = lambda x: {"x": np.column_stack([x, np.ones(10)])}
    >>> from momus.critic.statistic import mean
    >>> (result,) = compare_rows([Statistic("mean", "x", "value", mean)], rows(a), rows(b))
    >>> result.difference, result.p < 0.01
    (8.0, True)
    """
    results: dict[int, TestResult] = {}
    workers = threads or min(2, usable_threads())
    decisive = {s.rows for s in statistics if axis and s.decides}
    keys = list(dict.fromkeys(s.rows for s in statistics))
    # the keys of the family are tested together, each other one by itself
    for batch in [[k for k in keys if k in decisive], *([k] for k in keys if k not in decisive)]:
        chosen = [i for i, s in enumerate(statistics) if s.rows in batch]
        of_key = {key: _samples(real[key], generated[key], (designs or {}).get(key) or design) for key in batch}
        contrasts = [contrast_of(statistics[i], of_key[statistics[i].rows]) for i in chosen]
        questions, errors = {}, {}
        for key, samples in of_key.items():
            draws = min(resamples, wide[1]) if samples.tables.width > NARROW else resamples
            questions[key] = Question(confidence, draws, family, seed)
            errors[key] = Errors(samples, [c.statistic for c in contrasts if c.samples is samples], draws, seed)
        is_wide = any(samples.tables.width > NARROW for samples in of_key.values())
        usual = min(permutations, wide[0]) if is_wide else permutations
        budget = Budget(usual, family, 1 - confidence, early, FINE_WIDE if is_wide else FINE)
        together = [k for k, c in enumerate(contrasts) if axis and c.statistic.decides and not c.reason]
        # without a family of several, statistics with random signs need no other draws
        parts = [range(len(chosen))] if len(together) > 1 else [_signed(contrasts, s) for s in (False, True)]
        tested: dict[int, TestResult] = {}
        drawn: dict[int, Floats] = {}
        for chunk in parts:
            members = [k for k, i in enumerate(chunk) if i in together] if len(together) > 1 else []
            nulls = Nulls([contrasts[k] for k in chunk], members, headline, budget, seed, workers, noise)
            for k, null in zip(chunk, nulls.drawn(), strict=True):
                c, key = contrasts[k], contrasts[k].statistic.rows
                kept = nulls.noise.get((id(c.samples), c.signed))
                tested[k] = outcome(c, c.samples, null, nulls.exact, kept, errors[key], questions[key])
                drawn[k] = null
        with_p = [k for k in together if tested[k].p is not None]
        # a member whose outcome has no p is no part of the family; the test of the others is computed again
        known = nulls.test if len(with_p) == len(together) > 1 else None
        tested |= _of_family({k: (contrasts[k], drawn[k], tested[k]) for k in with_p}, headline, known)
        results |= {chosen[k]: result for k, result in tested.items()}
    return [results[i] for i in range(len(statistics))]


def compare_one(statistic: Statistic, real: Rows, generated: Rows, **options: Any) -> TestResult:
    """`compare_rows` of one statistic."""
    return compare_rows([statistic], {statistic.rows: real}, {statistic.rows: generated}, **options)[0]


def _samples(real: Rows, generated: Rows, design: Design | None) -> Samples:
    """The rows of the documents that take part in a test; without a design, every document is a unit."""
    return Samples.of(real, generated, design or Design.documents(real.shape[0], generated.shape[0]))


def _signed(contrasts: Sequence[Contrast], signed: bool) -> list[int]:
    return [k for k, c in enumerate(contrasts) if c.signed == signed]


def _of_family(
    members: Mapping[int, tuple[Contrast, Floats, TestResult]], headline: str, known: FamilyTest | None
) -> dict[int, TestResult]:
    """Results with their p in the family, which is no smaller than their own: some have a t-test too."""
    if not members:
        return {}
    contrasts, nulls, results = zip(*members.values(), strict=True)
    test = known or family_test(contrasts, nulls, results[0].method.exact, headline)
    p = np.maximum(test.adjusted if len(results) > 1 else 0.0, [r.p or 0.0 for r in results])
    number = effective_number(np.column_stack(nulls), np.array([c.statistic.kind == "distance" for c in contrasts]))
    return {
        key: replace(r, p_axis=float(p.min()), p_in_axis=float(p_row), method=replace(r.method, independent=number))
        for key, r, p_row in zip(members, results, p, strict=True)
    }


def axis_test(
    statistics: Sequence[Statistic],
    real: Mapping[str, Rows],
    generated: Mapping[str, Rows],
    *,
    design: Design | None = None,
    headline: str = "",
    permutations: int = 999,
    wide: int = 199,
    seed: int = 0,
) -> tuple[float, str, float]:
    """p of an axis under a fixed number of relabellings, without intervals, for many tests of one design.

    Relabellings follow from the seed and the sizes. They do not depend on the rows, so each test is as valid as with
    relabellings of its own. If (B + 1) α is a whole number and there are no ties, it has exactly level α. p of a value
    without a standard error is that of the permutation test alone.

    Parameters
    ----------
    statistics
        The family of the axis.
    permutations, wide
        B, and the largest B if rows have more than 64 columns.

    Returns
    -------
    p, the name of the statistic that leads, and its difference (for distances, that between the two populations); NaN
    if a statistic does not exist for the documents.

    >>> from momus.critic.statistic import mean
    >>> a, b = (np.column_stack([np.arange(10.0) + d, np.ones(10)]) for d in (0, 8))
    >>> p, name, difference = axis_test([Statistic("mean", "x", "value", mean)], {"x": a}, {"x": b})
    >>> p < 0.01, name, difference
    (True, 'mean', 8.0)
    """
    first = headline or statistics[0].name
    of_key: dict[str, Samples] = {}
    try:
        for key in dict.fromkeys(s.rows for s in statistics):
            of_key[key] = _samples(real[key], generated[key], design)
        contrasts = [contrast_of(s, of_key[s.rows]) for s in statistics]
    except ValueError:  # a statistic is not finite
        return float("nan"), first, float("nan")
    contrasts = [c for c in contrasts if not c.reason]
    is_wide = any(samples.tables.width > NARROW for samples in of_key.values())
    budget = Budget(min(permutations, wide) if is_wide else permutations, 1, 0.05, early=(), fine=1)
    nulls = Nulls(contrasts, range(len(contrasts)), headline, budget, seed, workers=1, kept=0)
    drawn = nulls.drawn()
    single = np.array([c.p(null, nulls.exact) for c, null in zip(contrasts, drawn, strict=True)])
    if not len(single):
        return float("nan"), first, float("nan")
    p = (
        single
        if len(single) == 1
        else np.maximum(family_test(contrasts, drawn, nulls.exact, headline).adjusted, single)
    )
    # of several with the smallest p that is possible, a value comes before a distance, as in a table
    least = max(float(p.min()), 2 / (len(drawn[0]) + 1))
    order = [(max(p[k], least), c.statistic.kind == "distance", p[k]) for k, c in enumerate(contrasts)]
    k = min(range(len(order)), key=order.__getitem__)
    return float(p.min()), contrasts[k].statistic.name, _difference(contrasts[k], seed)


def _difference(contrast: Contrast, seed: int) -> float:
    """generated − real; of a distance, an estimate of that between the two populations, which is not below 0."""
    (real, generated), samples = contrast.values, contrast.samples
    if contrast.statistic.kind == "value":
        return generated - real
    witness = witness_of(contrast.statistic)
    if witness is not None:
        return max(cross_fitted(samples, witness, seed), 0.0)
    return max(generated - chance_distance(contrast.statistic, samples, seed, CHUNK), 0.0)
