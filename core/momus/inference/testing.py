"""Tests of two texts: permutation p-values, bootstrap intervals and effect sizes, for many statistics at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from momus.critic.statistic import Statistic
from momus.inference.design import Design
from momus.inference.effects import effect_size
from momus.inference.intervals import Interval, centred, percentile, symmetric
from momus.inference.method import Method
from momus.inference.pooling import NARROW, Rows, Tables, pooled, total
from momus.inference.pvalues import Prepared, both_values, contrasts, p_value
from momus.inference.result import TestResult
from momus.inference.weights import CHUNK, all_labels, chunks, multiplicities, random_labels
from momus.numeric.types import Floats, Ints

POWER_80 = 2.8016
"""Sum of the normal quantiles at 0.975 and 0.8: 80 % power at a two-sided level of 5 %."""
_T = TypeVar("_T")


def compare_rows(
    statistics: Sequence[Statistic],
    real: Mapping[str, Rows],
    generated: Mapping[str, Rows],
    *,
    design: Design | None = None,
    permutations: int = 9999,
    resamples: int = 2000,
    wide: tuple[int, int] = (1999, 499),
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
) -> list[TestResult]:
    """Test whether statistics differ between real and generated documents.

    p-values are two-sided for values (around the centre of the permutation distribution, which unequal sample sizes may
    shift) and one-sided for distances; p = (c + 1)/(B + 1) for B random relabellings (Phipson & Smyth 2010), c/B if all
    B relabellings are enumerated. Under the null, the units of the design (documents, clusters, documents of a prompt,
    or the two sides of a pair) are exchangeable between the texts. Intervals use Student's t and the bootstrap standard
    error for values of narrow rows, and centred percentiles otherwise.

    Parameters
    ----------
    real, generated
        Rows by key, (n, V) and (m, V), dense or CSR, with the same columns.
    design
        Which documents belong together; None: every document is a unit.
    wide
        Largest numbers of permutations and resamples for rows with more than 64 columns.

    Raises
    ------
    ValueError
        A side has no document, the design is of other numbers of documents, or a statistic is not finite on the
        observed texts.

    >>> a, b = np.arange(10.0), np.arange(10.0) + 8
    >>> rows = lambda x: {"x": np.column_stack([x, np.ones(10)])}
    >>> from momus.critic.statistic import mean
    >>> (result,) = compare_rows([Statistic("mean", "x", "value", mean)], rows(a), rows(b))
    >>> result.difference, result.p < 0.01
    (8.0, True)
    """
    results: dict[int, TestResult] = {}
    workers = threads or min(2, os.cpu_count() or 1)
    for key in dict.fromkeys(s.rows for s in statistics):
        tables = Tables.of(*_taking_part(real[key], generated[key], design))
        sizes = tables.real.shape[0], tables.generated.shape[0]
        if not all(sizes):
            raise ValueError("each side needs at least one document")
        is_wide = tables.width > NARROW
        b, r = (min(permutations, wide[0]), min(resamples, wide[1])) if is_wide else (permutations, resamples)
        of_key = [(i, s) for i, s in enumerate(statistics) if s.rows == key]
        key_design = design or Design.documents(*sizes)
        if (key_design.n_real, key_design.n_generated) != sizes:
            raise ValueError(
                f"the design is of {key_design.n_real} and {key_design.n_generated} documents, rows {key!r} of "
                f"{sizes[0]} and {sizes[1]}"
            )
        tests = _TestsOfKey([s for _, s in of_key], tables, key_design, b, r, confidence, seed, workers, is_wide)
        for (i, _), result in zip(of_key, tests.results(), strict=True):
            results[i] = result
    return [results[i] for i in range(len(statistics))]


def _taking_part(real: Rows, generated: Rows, design: Design | None) -> tuple[Rows, Rows]:
    """Select the rows of the documents that take part in the test."""
    if design is None or design.rows is None:
        return real, generated
    return real[design.rows[0]], generated[design.rows[1]]


class _TestsOfKey:
    """Tests of all statistics of one key, whose rows are pooled only once."""

    def __init__(
        self,
        statistics: Sequence[Statistic],
        tables: Tables,
        design: Design,
        permutations: int,
        resamples: int,
        confidence: float,
        seed: int,
        workers: int,
        is_wide: bool,
    ) -> None:
        self.statistics, self.tables, self.design = statistics, tables, design
        self.exact = design.enumerable and design.relabellings <= permutations
        self.permutations = design.relabellings if self.exact else permutations
        self.resamples = resamples if min(design.units) > 1 else 0
        self.confidence, self.seed, self.workers, self.wide = confidence, seed, workers, is_wide
        self.sums = total(tables.real), total(tables.generated)

    def results(self) -> list[TestResult]:
        observed = [self._observed(s) for s in self.statistics]
        by_statistic = zip(self.statistics, observed, self._permuted(), self._bootstrapped(), strict=True)
        return [self._result(s, values, null, resampled) for s, values, null, resampled in by_statistic]

    def _observed(self, s: Statistic) -> tuple[float, float]:
        """Values of both texts, or (NaN, distance)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            real, generated = both_values(s, Prepared(*self.sums))
        values = float(real[0]), float(generated[0])
        if not np.isfinite(values[1]) or (s.kind == "value" and not np.isfinite(values[0])):
            raise ValueError(f"statistic {s.name!r} is not finite on the texts compared: {values}")
        return values

    def _map(self, function: Callable[[tuple[int, int]], _T], resamples: int) -> Iterable[_T]:
        """Apply a function to every chunk of resamples (number, size), in threads."""
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, chunks(resamples)))

    def _permuted(self) -> list[Floats]:
        """Differences (values) or distances under B relabellings, (B,) for each statistic."""
        rows, whole = self.tables.both(), self.sums[0] + self.sums[1]
        enumerated = all_labels(self.design) if self.exact else None

        def contrasts_of(chunk: tuple[int, int]) -> list[Floats]:
            number, size = chunk
            if enumerated is not None:
                labels = np.ascontiguousarray(enumerated[:, number * CHUNK : number * CHUNK + size])
            else:
                labels = random_labels(self.design, self.seed, number, size)
            # sums of the rows labelled real, (size, V), and of the others; rounding must not make a count negative
            real = pooled(rows, labels)
            generated = np.maximum(whole - real, 0.0) if self.wide else whole - real
            with np.errstate(divide="ignore", invalid="ignore"):
                prepared = Prepared(real, generated)
                return [contrasts(s, prepared) for s in self.statistics]

        return _concatenated(self._map(contrasts_of, self.permutations), len(self.statistics))

    def _bootstrapped(self) -> list[tuple[Floats, Floats, Floats]]:
        """Replicates of both values (or NaN and distance) and of the effect: three arrays (B,) for each statistic."""
        if not self.resamples:
            none = np.zeros(0)
            return [(none, none, none)] * len(self.statistics)

        def replicates_of(chunk: tuple[int, int]) -> list[Floats]:
            weights = multiplicities(self.design, self.seed, *chunk)
            sums = pooled(self.tables.real, weights[0]), pooled(self.tables.generated, weights[1])
            replicates: list[Floats] = []
            with np.errstate(divide="ignore", invalid="ignore"):
                prepared = Prepared(*sums)
                for s in self.statistics:
                    real, generated = both_values(s, prepared)
                    replicates += [real, generated, effect_size(s, real, generated, self.tables, weights)]
            return replicates

        flat = _concatenated(self._map(replicates_of, self.resamples), 3 * len(self.statistics))
        return [(flat[i], flat[i + 1], flat[i + 2]) for i in range(0, len(flat), 3)]

    def _result(
        self, s: Statistic, observed: tuple[float, float], null: Floats, resampled: tuple[Floats, Floats, Floats]
    ) -> TestResult:
        real, generated = observed
        p, centre, spread = self._p(s, null)
        real_replicates, generated_replicates, effects = resampled
        if s.kind == "distance":
            real, replicates = centre, generated_replicates
        else:
            replicates = generated_replicates - real_replicates
        difference = generated - real
        has_interval = bool(len(replicates)) and bool(np.isfinite(replicates).all())
        low, high = self._interval(s, difference, replicates, self.confidence) if has_interval else (np.nan, np.nan)
        inner = max(2 * self.confidence - 1, 0.0)  # level of the interval for tests of equivalence
        error = float(replicates.std(ddof=1)) if has_interval else np.nan
        effect = self._effect(s, observed, difference)
        finite = effects[np.isfinite(effects)]
        effect_low, effect_high = percentile(finite, self.confidence) if len(finite) else (np.nan, np.nan)
        equivalence = percentile(finite, inner) if len(finite) else (np.nan, np.nan)
        if s.kind == "distance" or s.effect == "difference":  # the effect is the difference, and so is its interval
            effect_low, effect_high = low, high
            equivalence = self._interval(s, difference, replicates, inner) if has_interval else (np.nan, np.nan)
        units = self.design.units if self.design.kind == "clusters" else (self.design.n_real, self.design.n_generated)
        return TestResult(
            statistic=s.name,
            real_value=real,
            generated_value=generated,
            difference=difference,
            low=low,
            high=high,
            effect=effect,
            effect_low=effect_low,
            effect_high=effect_high,
            effect_kind="difference" if s.kind == "distance" else s.effect,
            equivalence_low=equivalence[0],
            equivalence_high=equivalence[1],
            p=p,
            standard_error=error,
            mde=1.645 * spread + 0.8416 * error if s.kind == "distance" else POWER_80 * error,
            n_real=units[0],
            n_generated=units[1],
            n_pairs=self.design.n_real if self.design.kind == "pairs" else 0,
            method=self._method(s),
        )

    def _p(self, s: Statistic, null: Floats) -> tuple[float, float, float]:
        """The p-value, and mean and standard deviation of the null distribution."""
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = float(contrasts(s, Prepared(*self.sums))[0])
        return p_value(s.kind, observed, null, self.exact)

    def _interval(self, s: Statistic, difference: float, replicates: Floats, confidence: float) -> Interval:
        if s.kind == "distance" or self.wide:
            return centred(difference, replicates, confidence)
        return symmetric(difference, replicates, self._influences(s), confidence)

    def _influences(self, s: Statistic) -> list[Floats]:
        """Leave-one-out influences of units on the difference: (units,) for each independent sample."""
        together = self.design.together
        tables = [np.asarray(t) for t in (self.tables.real, self.tables.generated)]
        if self.design.numbers is not None:
            by_unit = zip(tables, self.design.numbers, self.design.units, strict=True)
            tables = [_by_unit(rows, numbers, units) for rows, numbers, units in by_unit]
        left_out = [self.sums[i] - rows for i, rows in enumerate(tables)]  # sums without unit u, (units, V)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = [s.function(sums if s.prepare is None else s.prepare(sums)) for sums in left_out]
            if together:  # leaving out a pair or prompt changes both texts, which are one sample
                values = [values[1] - values[0]]
        values = [np.where(np.isfinite(v), v, np.nanmean(v) if np.isfinite(v).any() else 0.0) for v in values]
        signs = [1.0] if together else [-1.0, 1.0]
        return [sign * (len(v) - 1) * (v.mean() - v) for sign, v in zip(signs, values, strict=True)]

    def _effect(self, s: Statistic, observed: tuple[float, float], difference: float) -> float:
        if s.kind == "distance" or s.effect == "difference":
            return difference
        once = (np.ones((self.design.n_real, 1), np.float32), np.ones((self.design.n_generated, 1), np.float32))
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = effect_size(s, np.array([observed[0]]), np.array([observed[1]]), self.tables, once)
        return float(effect[0])

    def _method(self, s: Statistic) -> Method:
        units = self.design.units
        return Method(
            test="permutation",
            family=s.kind,
            design=self.design.kind,
            units_real=units[0],
            units_generated=units[1],
            exact=self.exact,
            permutations=self.permutations,
            resamples=self.resamples,
        )


def _by_unit(rows: Floats, numbers: Ints, units: int) -> Floats:
    """Sum the rows of each prompt or cluster: (units, V)."""
    sums = np.zeros((units, rows.shape[1]))
    np.add.at(sums, numbers, rows)
    return sums


def _concatenated(by_chunk: Iterable[list[Floats]], n: int) -> list[Floats]:
    """From n arrays per chunk to n arrays over all chunks."""
    chunk_lists = list(by_chunk)
    return [np.concatenate([arrays[i] for arrays in chunk_lists]) for i in range(n)]
