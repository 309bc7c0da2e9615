"""Tests of two texts: permutation p-values, intervals and effect sizes, for many statistics at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from momus.critic.statistic import Statistic
from momus.inference.contrast import Contrast, SignedContrast, contrast_of
from momus.inference.design import Design
from momus.inference.family import family_test
from momus.inference.influence import Errors
from momus.inference.outcome import Question, outcome
from momus.inference.pooling import NARROW, Rows, Tables
from momus.inference.pvalues import Prepared
from momus.inference.relabelling import FINE, FINE_WIDE, STAGES, Budget
from momus.inference.result import TestResult
from momus.inference.samples import Samples
from momus.inference.weights import CHUNK, Weights, all_labels, chunks, coupled, random_labels, random_signs
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
        their relabellings, and stop together (`momus.inference.family`).
    headline
        Name of the statistic that has the largest share of the level of the family.
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
    decisive = {s.rows for s in statistics if axis and s.decides}
    keys = list(dict.fromkeys(s.rows for s in statistics))
    # the keys of the family are tested together, each other one by itself
    for batch in [[k for k in keys if k in decisive], *([k] for k in keys if k not in decisive)]:
        chosen = [i for i, s in enumerate(statistics) if s.rows in batch]
        of_key = {key: _samples(real[key], generated[key], key, design, (designs or {}).get(key)) for key in batch}
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
        for part in parts:
            members = [k for k, i in enumerate(part) if i in together] if len(together) > 1 else []
            nulls = Nulls([contrasts[k] for k in part], members, headline, budget, seed, workers, noise)
            for k, null in zip(part, nulls.drawn(), strict=True):
                c, key = contrasts[k], contrasts[k].statistic.rows
                kept = nulls.noise.get((id(c.samples), c.signed))
                tested[k] = outcome(c, c.samples, null, nulls.exact, kept, errors[key], questions[key])
                drawn[k] = null
        with_p = [k for k in together if tested[k].p == tested[k].p]
        tested |= _of_family({k: (contrasts[k], drawn[k], tested[k]) for k in with_p}, headline)
        results |= {chosen[k]: result for k, result in tested.items()}
    return [results[i] for i in range(len(statistics))]


def _samples(real: Rows, generated: Rows, key: str, design: Design | None, other: Design | None) -> Samples:
    """The rows of the documents that take part in the test under a key, or of the units of another design."""
    design = other or design
    if design is not None and design.rows is not None:
        real, generated = real[design.rows[0]], generated[design.rows[1]]
    tables = Tables.of(real, generated)
    sizes = tables.real.shape[0], tables.generated.shape[0]
    if not all(sizes):
        raise ValueError("each side needs at least one document")
    design = design or Design.documents(*sizes)
    if (design.n_real, design.n_generated) != sizes:
        raise ValueError(
            f"the design is of {design.n_real} and {design.n_generated} documents, rows {key!r} of {sizes[0]} and "
            f"{sizes[1]}"
        )
    return Samples(tables, design)


def _signed(contrasts: Sequence[Contrast], signed: bool) -> list[int]:
    return [k for k, c in enumerate(contrasts) if c.signed == signed]


def _of_family(members: Mapping[int, tuple[Contrast, Floats, TestResult]], headline: str) -> dict[int, TestResult]:
    """Results with their p in the family, which is no smaller than their own: some have a t-test too."""
    if not members:
        return {}
    contrasts, nulls, found = zip(*members.values(), strict=True)
    test = family_test(contrasts, nulls, found[0].method.exact, headline)
    p = np.maximum(test.adjusted if len(found) > 1 else 0.0, [r.p for r in found])
    return {key: replace(found[k], p_axis=float(p.min()), p_in_axis=float(p[k])) for k, key in enumerate(members)}


class Nulls:
    """Null distributions of several contrasts, whose rows are pooled only once per relabelling.

    Contrasts of rows under other keys have the same relabellings. All of them have relabellings, or all have random
    signs of units, which are never enumerated; in a family, both may occur, and follow from the same random keys.

    Parameters
    ----------
    family
        Numbers of the contrasts that are tested as one, which stop together.
    headline
        Name of the statistic that has the largest share of the level of the family.

    Attributes
    ----------
    exact
        Whether all relabellings are enumerated.
    noise, kept
        By samples, and whether signs are random: pooled rows of both sides under the first relabellings, (b, V) each,
        if a distance asks for them; the largest number of values to keep.
    """

    def __init__(
        self,
        contrasts: Sequence[Contrast],
        family: Sequence[int],
        headline: str,
        budget: Budget,
        seed: int,
        workers: int,
        kept: int = NOISE,
    ) -> None:
        self.contrasts, self.family, self.budget, self.seed = contrasts, family, budget, seed
        self.headline = headline
        self.signed = {c.signed for c in contrasts}
        self.noise: dict[tuple[int, bool], tuple[Floats, Floats]] = {}
        self.kept, self.exact, self.stages, self.workers = kept, False, budget.stages, 1
        if contrasts:
            self.design = contrasts[0].samples.design
            most = max(budget.usual, budget.needed)
            self.exact = True not in self.signed and self.design.enumerable and self.design.relabellings <= most
            self.stages = (self.design.relabellings,) if self.exact else budget.stages
            # narrow rows are too fast to gain by threads
            self.workers = workers if any(c.samples.rows.shape[1] > NARROW for c in contrasts) else 1

    def drawn(self) -> list[Floats]:
        """Contrasts under relabelling, (B,) for each contrast, where B differs between contrasts."""
        enumerated = all_labels(self.design) if self.exact else None
        null: list[list[Floats]] = [[] for _ in self.contrasts]
        active, start = [i for i, c in enumerate(self.contrasts) if not c.reason], 0
        for stop in self.stages if active else ():
            chunk_list = list(chunks(-(-start // CHUNK) * CHUNK, stop))

            def of_chunk(chunk: tuple[int, int], active: tuple[int, ...] = tuple(active)) -> list[Floats]:
                number, size = chunk
                if enumerated is not None:
                    labels = np.ascontiguousarray(enumerated[:, number * CHUNK : number * CHUNK + size])
                    return self._contrasts(labels, labels, active, keep=number == 0)
                return self._contrasts(*self._labels(number, size), active, keep=number == 0)

            for arrays in self._map(of_chunk, chunk_list):
                for i, values in zip(active, arrays, strict=True):
                    null[i].append(values)
            start = stop
            if not self.exact:
                active = self._going_on(active, null)
            if not active:
                break
        return [np.concatenate(arrays) if arrays else np.zeros(0) for arrays in null]

    def _labels(self, number: int, size: int) -> tuple[Weights, Weights]:
        """Labels and signs of a chunk; both are the same array where all contrasts have only one of them."""
        if len(self.signed) == 2:
            return coupled(self.design, self.seed, number, size)
        draw = random_signs if True in self.signed else random_labels
        drawn = draw(self.design, self.seed, number, size)
        return drawn, drawn

    def _map(
        self, function: Callable[[tuple[int, int]], list[Floats]], chunk_list: Sequence[tuple[int, int]]
    ) -> list[list[Floats]]:
        """Apply a function to every chunk, in threads where there are several."""
        if self.workers == 1:
            return [function(chunk) for chunk in chunk_list]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, chunk_list))

    def _contrasts(self, labels: Weights, signs: Weights, active: Sequence[int], keep: bool) -> list[Floats]:
        values: dict[int, Floats] = {}
        for samples in {id(self.contrasts[i].samples): self.contrasts[i].samples for i in active}.values():
            for signed, drawn in ((False, labels), (True, signs)):
                chosen = [
                    i for i in active if self.contrasts[i].samples is samples and self.contrasts[i].signed == signed
                ]
                if chosen:
                    found = self._of_samples([self.contrasts[i] for i in chosen], samples, drawn, keep)
                    values |= dict(zip(chosen, found, strict=True))
        return [values[i] for i in active]

    def _of_samples(self, chosen: Sequence[Contrast], samples: Samples, labels: Weights, keep: bool) -> list[Floats]:
        few = max(self.kept // max(samples.rows.shape[1], 1), 8)
        with np.errstate(divide="ignore", invalid="ignore"):
            if isinstance(chosen[0], SignedContrast) and keep:
                self.noise[id(samples), True] = chosen[0].influences.null_rows(labels[:, :few])
            if not any(c.needs_sums for c in chosen):
                return [c.under(labels, None) for c in chosen]
            sums = samples.pooled(labels)
            if keep and any(c.statistic.kind == "distance" for c in chosen):
                self.noise[id(samples), False] = sums[0][:few], sums[1][:few]
            # sums (B, V) of some relabellings at a time, which stay in the cache of the processor
            step = max(CELLS // max(sums[0].shape[1], 1), 1)
            parts = [slice(i, i + step) for i in range(0, labels.shape[1], step)]
            of_parts = [
                [c.under(labels[:, part], prepared) for c in chosen]
                for part in parts
                for prepared in [Prepared(*(side[part] for side in sums))]
            ]
            return [np.concatenate(values) for values in zip(*of_parts, strict=True)]

    def _going_on(self, active: Sequence[int], null: Sequence[Sequence[Floats]]) -> list[int]:
        """The contrasts that need more relabellings."""
        drawn = {i: np.concatenate(null[i]) for i in active}
        family = [i for i in self.family if i in drawn]
        stopped = {i for i in active if i not in family and self._stops(drawn[i], self.contrasts[i].extreme(drawn[i]))}
        if family:
            contrasts, nulls = [self.contrasts[i] for i in family], [drawn[i] for i in family]
            test = family_test(contrasts, nulls, self.exact, self.headline)
            if self._stops(drawn[family[0]], test.extreme):
                stopped |= set(family)
        return [i for i in active if i not in stopped]

    def _stops(self, null: Floats, extreme: int) -> bool:
        return self.budget.stops(len(null), extreme)
