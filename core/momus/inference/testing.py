"""Tests of two texts: permutation p-values, intervals and effect sizes, for many statistics at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from momus.critic.statistic import Statistic
from momus.inference.contrast import Contrast, SignedContrast, contrast_of
from momus.inference.design import Design
from momus.inference.influence import Errors
from momus.inference.outcome import Question, outcome
from momus.inference.pooling import NARROW, Rows, Tables
from momus.inference.pvalues import Prepared
from momus.inference.relabelling import STAGES, Budget
from momus.inference.result import TestResult
from momus.inference.samples import Samples
from momus.inference.weights import CHUNK, Weights, all_labels, chunks, random_labels, random_signs
from momus.numeric.types import Floats
from momus.processes import usable_threads

NOISE = 1 << 22
"""Pooled values that are kept to find the minimum detectable distance, of 64 relabellings at most."""
CELLS = 1 << 17
"""Pooled values that statistics are computed of at a time: 1 MB of each text."""


def compare_rows(
    statistics: Sequence[Statistic],
    real: Mapping[str, Rows],
    generated: Mapping[str, Rows],
    *,
    design: Design | None = None,
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
    workers = threads or min(2, usable_threads())
    for key in dict.fromkeys(s.rows for s in statistics):
        tables = Tables.of(*_taking_part(real[key], generated[key], design))
        sizes = tables.real.shape[0], tables.generated.shape[0]
        if not all(sizes):
            raise ValueError("each side needs at least one document")
        key_design = design or Design.documents(*sizes)
        if (key_design.n_real, key_design.n_generated) != sizes:
            raise ValueError(
                f"the design is of {key_design.n_real} and {key_design.n_generated} documents, rows {key!r} of "
                f"{sizes[0]} and {sizes[1]}"
            )
        is_wide = tables.width > NARROW
        usual = min(permutations, wide[0]) if is_wide else permutations
        question = Question(confidence, min(resamples, wide[1]) if is_wide else resamples, family, seed)
        of_key = [(i, s) for i, s in enumerate(statistics) if s.rows == key]
        samples = Samples(tables, key_design)
        contrasts = [contrast_of(s, samples) for _, s in of_key]
        errors = Errors(samples, [c.statistic for c in contrasts], question.resamples, seed)
        budget = Budget(usual, family, 1 - confidence, early)
        for signed in (False, True):
            chosen = [k for k, c in enumerate(contrasts) if c.signed == signed]
            if not chosen:
                continue
            nulls = Nulls([contrasts[k] for k in chosen], samples, budget, seed, workers, noise)
            for k, null in zip(chosen, nulls.drawn(), strict=True):
                results[of_key[k][0]] = outcome(contrasts[k], samples, null, nulls.exact, nulls.noise, errors, question)
    return [results[i] for i in range(len(statistics))]


def _taking_part(real: Rows, generated: Rows, design: Design | None) -> tuple[Rows, Rows]:
    """Select the rows of the documents that take part in the test."""
    if design is None or design.rows is None:
        return real, generated
    return real[design.rows[0]], generated[design.rows[1]]


class Nulls:
    """Null distributions of several contrasts of the same rows, which are pooled only once per relabelling.

    All contrasts have relabellings, or all have random signs of units, which are never enumerated.

    Attributes
    ----------
    exact
        Whether all relabellings are enumerated.
    noise, kept
        Pooled rows of both sides under the first relabellings, (b, V) each, if a distance asks for them; the largest
        number of values to keep.
    """

    def __init__(
        self,
        contrasts: Sequence[Contrast],
        samples: Samples,
        budget: Budget,
        seed: int,
        workers: int,
        kept: int = NOISE,
    ) -> None:
        self.contrasts, self.samples, self.budget, self.seed, self.workers = contrasts, samples, budget, seed, workers
        design = samples.design
        self.signed = any(c.signed for c in contrasts)
        self.exact = not self.signed and design.enumerable and design.relabellings <= max(budget.usual, budget.needed)
        self.stages = (design.relabellings,) if self.exact else budget.stages
        self.noise: tuple[Floats, Floats] | None = None
        self.kept = kept

    def drawn(self) -> list[Floats]:
        """Contrasts under relabelling, (B,) for each contrast, where B differs between contrasts."""
        enumerated = all_labels(self.samples.design) if self.exact else None
        null: list[list[Floats]] = [[] for _ in self.contrasts]
        active, start = [i for i, c in enumerate(self.contrasts) if not c.reason], 0
        for stop in self.stages if active else ():
            chunk_list = list(chunks(-(-start // CHUNK) * CHUNK, stop))

            def of_chunk(chunk: tuple[int, int], active: tuple[int, ...] = tuple(active)) -> list[Floats]:
                number, size = chunk
                if enumerated is not None:
                    labels = np.ascontiguousarray(enumerated[:, number * CHUNK : number * CHUNK + size])
                elif self.signed:
                    labels = random_signs(self.samples.design, self.seed, number, size)
                else:
                    labels = random_labels(self.samples.design, self.seed, number, size)
                return self._contrasts(labels, active, keep=number == 0)

            for arrays in self._map(of_chunk, chunk_list):
                for i, values in zip(active, arrays, strict=True):
                    null[i].append(values)
            start = stop
            active = [i for i in active if not self._done(i, null[i])]
            if not active:
                break
        return [np.concatenate(arrays) if arrays else np.zeros(0) for arrays in null]

    def _map(
        self, function: Callable[[tuple[int, int]], list[Floats]], chunk_list: Sequence[tuple[int, int]]
    ) -> list[list[Floats]]:
        """Apply a function to every chunk, in threads for wide rows; narrow ones are too fast to gain by them."""
        if self.workers == 1 or self.samples.rows.shape[1] <= NARROW:
            return [function(chunk) for chunk in chunk_list]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, chunk_list))

    def _contrasts(self, labels: Weights, active: Sequence[int], keep: bool) -> list[Floats]:
        chosen = [self.contrasts[i] for i in active]
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.signed and keep:
                first = next(c for c in chosen if isinstance(c, SignedContrast))
                few = max(self.kept // max(self.samples.rows.shape[1], 1), 8)
                self.noise = first.influences.null_rows(labels[:, :few])
            if not any(c.needs_sums for c in chosen):
                return [c.under(labels, None) for c in chosen]
            sums = self.samples.pooled(labels)
            if keep and any(c.statistic.kind == "distance" for c in chosen):
                few = max(self.kept // max(sums[0].shape[1], 1), 8)
                self.noise = sums[0][:few], sums[1][:few]
            # sums (B, V) of some relabellings at a time, which stay in the cache of the processor
            step = max(CELLS // max(sums[0].shape[1], 1), 1)
            parts = [slice(i, i + step) for i in range(0, labels.shape[1], step)]
            of_parts = [
                [c.under(labels[:, part], prepared) for c in chosen]
                for part in parts
                for prepared in [Prepared(*(side[part] for side in sums))]
            ]
            return [np.concatenate(values) for values in zip(*of_parts, strict=True)]

    def _done(self, i: int, null: Sequence[Floats]) -> bool:
        values = np.concatenate(null)
        return self.exact or self.budget.stops(len(values), self.contrasts[i].extreme(values))
