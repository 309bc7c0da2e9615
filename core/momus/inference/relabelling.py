"""As many relabellings as a decision needs.

Relabellings are drawn in stages. A test stops early once its p-value is clearly above every level at which it could be
rejected (Besag & Clifford 1991, with the decision instead of the p-value as the aim), and goes on beyond the usual
number if the table has so many rows that the smallest possible p-value could decide the verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from momus.inference.contrast import Contrast, RatioContrast, SignedContrast
from momus.inference.multiplicity import FamilyTest, family_test
from momus.inference.pvalues import Prepared
from momus.inference.samples import NARROW, Samples
from momus.inference.weights import CHUNK, Weights, all_labels, chunks, coupled, random_labels, random_signs
from momus.numeric.types import Floats

STAGES = (448, 2048)
"""Relabellings after which a test may stop: whole chunks."""
FIRST = (64,)
"""A stage before these for tests of very many pairs."""
EXCEEDED, REACHED = 100, 20
"""Relabellings that must reach the observed contrast before a test stops early; before it stops after the first 64."""
MARGIN = 1.5
"""How many times the level the p-value must be for a test to stop early."""
FINE, FINE_WIDE = 100, 20
"""From the usual number on, a test stops once so many relabellings reach the observed contrast; of wide rows, fewer.
A p-value at the strictest level that its table may ask for, α/m, is then known to within 10 % (22 %)."""
CLEAR = 4
"""If the strictest level expects so many relabellings to reach the observed contrast and none does, p is below it."""
MORE = 4
"""Each stage beyond the usual number has so many times the relabellings of the one before."""
MOST = 199_999
NOISE = 1 << 22
"""Pooled values that are kept to find the minimum detectable distance, of 64 relabellings at most."""
CELLS = 1 << 17
"""Pooled values that statistics are computed of at a time: 1 MB of each text."""
SPAN = 1 << 19
"""Labels and pooled values that chunks are drawn of together: 2 to 4 MB. So narrow rows take few calls of NumPy."""


@dataclass(frozen=True)
class Budget:
    """How many relabellings to draw.

    Attributes
    ----------
    usual
        Relabellings of a row whose p-value is small.
    family
        Rows in the family whose p-values are adjusted together, m.
    alpha
        Level of the verdict, α.
    early
        Relabellings after which a test may stop, see `stops`.
    fine
        `FINE`, or `FINE_WIDE` where relabellings are costly.

    >>> Budget(9999, 1, 0.05).stages
    (448, 2048, 9999)
    >>> Budget(9999, 20, 0.05).stages  # Holm's method needs p ≤ 0.05/20, which 100 of 40,000 relabellings reach
    (448, 2048, 9999, 39999)
    >>> Budget(1999, 31, 0.05, fine=20).stages  # one that none of 2,480 reaches is clear
    (448, 1999, 2560, 10243, 12399)
    >>> Budget(1999, 20_000, 0.05).stages
    (448, 1999)
    """

    usual: int
    family: int
    alpha: float
    early: tuple[int, ...] = STAGES
    fine: int = FINE

    @property
    def needed(self) -> int:
        """Relabellings that a verdict in this family may need; the usual number if `MOST` would not do either.

        Of m rows that Holm's method adjusts, the first can only be rejected if 1/(B + 1) ≤ α/m.
        """
        most = max(MOST, self.usual)
        if self.family > self.alpha * (most + 1) * (1 + 1e-9):
            return self.usual
        return min(math.ceil(self.fine * self.family / self.alpha - 1e-9) - 1, most)

    @property
    def stages(self) -> tuple[int, ...]:
        """Cumulative numbers of relabellings after which tests may stop."""
        stages = [*(n for n in self.early if n < self.usual), self.usual]
        # the first at which a contrast that no relabelling reaches is clearly below the strictest level, see `stops`;
        # whole chunks, and one more for what the usual number leaves of its last one
        clear = CHUNK * (math.ceil(CLEAR * self.family / self.alpha / CHUNK - 1e-9) + 1)
        if self.usual < clear < self.needed:
            stages.append(clear)
        while stages[-1] < self.needed:
            stages.append(min(MORE * (stages[-1] + 1) - 1, self.needed))
        return tuple(stages)

    def stops(self, drawn: int, extreme: int) -> bool:
        """Whether a test may stop after ``drawn`` relabellings, of which ``extreme`` reach the observed contrast.

        * Before the usual number: once p is above 1.5 α. Such a test is never rejected at level α, so the stop can only
          lower the probability of a rejection.
        * From then on: once ``fine`` relabellings reach the observed contrast. (c + 1)/(B + 1) stays a valid p-value at
          every level t, since at the first stage with t(B + 1) > ``fine`` a test that is rejected at t, or is to be
          rejected later, has c + 1 ≤ t(B + 1) (Besag & Clifford 1991).
        * Also once p is clearly below α/m, the strictest level: c + 2√(c + 1) + 2 of α(B + 1)/m. That raises the
          probability of a rejection at α/m by a hundredth of itself at most (compare Gandy 2009).
        """
        futile = (extreme + 1) / (drawn + 1) >= MARGIN * self.alpha
        if drawn < self.usual:
            return futile and extreme >= (EXCEEDED if drawn > FIRST[-1] else REACHED)
        clear = extreme + 2 * math.sqrt(extreme + 1) + CLEAR - 2 <= self.alpha * (drawn + 1) / self.family
        return drawn >= self.needed or extreme >= self.fine or clear or (futile and extreme >= REACHED)


class Nulls:
    """Null distributions of several contrasts, whose rows are pooled only once per relabelling.

    Contrasts of rows under other keys have the same relabellings. All of them have relabellings, or all have random
    signs of units, which are never enumerated; in a family, both may occur, and follow from the same random keys.

    Parameters
    ----------
    family
        Numbers of the contrasts that are tested as one, which stop together.
    headline
        Name of the statistic that has the share `HEADLINE` of the level at least, see `momus.inference.multiplicity`.

    Attributes
    ----------
    exact
        Whether all relabellings are enumerated.
    test
        The test of the family after the stage at which it stopped; None if it has none, or all were enumerated.
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
        self.test: FamilyTest | None = None
        self.noise: dict[tuple[int, bool], tuple[Floats, Floats]] = {}
        self.kept, self.exact, self.stages, self.workers = kept, False, budget.stages, 1
        if contrasts:
            self.design = contrasts[0].samples.design
            most = max(budget.usual, budget.needed)
            self.exact = True not in self.signed and self.design.enumerable and self.design.relabellings <= most
            self.stages = (self.design.relabellings,) if self.exact else budget.stages
            # narrow rows are too fast to gain by threads
            widest = max(c.samples.rows.shape[1] for c in contrasts)
            self.workers = workers if widest > NARROW else 1
            # chunks that are drawn together; the number must not depend on that of workers
            self.together = max(SPAN // (self.contrasts[0].samples.rows.shape[0] + widest) // CHUNK, 1)

    def drawn(self) -> list[Floats]:
        """Contrasts under relabelling, (B,) for each contrast, where B differs between contrasts."""
        enumerated = all_labels(self.design) if self.exact else None
        null: list[list[Floats]] = [[] for _ in self.contrasts]
        active, start = [i for i, c in enumerate(self.contrasts) if not c.reason], 0
        for stop in self.stages if active else ():
            # a stage may end within a chunk; the next begins with a new chunk, as chunks follow from their number alone
            drawn = list(chunks(-(-start // CHUNK) * CHUNK, stop))
            spans = [drawn[i : i + self.together] for i in range(0, len(drawn), self.together)]

            def of_span(span: Sequence[tuple[int, int]], active: tuple[int, ...] = tuple(active)) -> list[Floats]:
                (first, _), (last, size) = span[0], span[-1]
                if enumerated is not None:
                    labels = np.ascontiguousarray(enumerated[:, first * CHUNK : last * CHUNK + size])  # (N, span)
                    return self._contrasts(labels, labels, active, keep=first == 0)
                return self._contrasts(*self._labels(span), active, keep=first == 0)

            for arrays in self._map(of_span, spans):
                for i, values in zip(active, arrays, strict=True):
                    null[i].append(values)
            start = stop
            if not self.exact:
                # contrasts that stop keep what they drew; the others draw later chunks of the same relabellings
                active = self._going_on(active, null)
            if not active:
                break
        return [np.concatenate(arrays) if arrays else np.zeros(0) for arrays in null]

    def _labels(self, span: Sequence[tuple[int, int]]) -> tuple[Weights, Weights]:
        """Labels and signs of some chunks; both are the same array where all contrasts have only one of them."""
        if len(self.signed) == 2:
            labels, signs = zip(*(coupled(self.design, self.seed, *chunk) for chunk in span), strict=True)
            return np.concatenate(labels, axis=1), np.concatenate(signs, axis=1)
        draw = random_signs if True in self.signed else random_labels
        drawn = [draw(self.design, self.seed, *chunk) for chunk in span]
        joined = drawn[0] if len(drawn) == 1 else np.concatenate(drawn, axis=1)
        return joined, joined

    def _map(
        self,
        function: Callable[[Sequence[tuple[int, int]]], list[Floats]],
        spans: Sequence[Sequence[tuple[int, int]]],
    ) -> list[list[Floats]]:
        """Apply a function to every span of chunks, in threads where there are several."""
        if self.workers == 1:
            return [function(span) for span in spans]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(function, spans))

    def _contrasts(self, labels: Weights, signs: Weights, active: Sequence[int], keep: bool) -> list[Floats]:
        values: dict[int, Floats] = {}
        # studentised contrasts have moments of float64
        ratios = [i for i in active if isinstance(self.contrasts[i], RatioContrast)]
        precise = labels.astype(np.float64) if ratios else labels
        with np.errstate(divide="ignore", invalid="ignore"):
            values |= {i: self.contrasts[i].under(precise, None) for i in ratios}
        others = [i for i in active if i not in values]
        for samples in {id(self.contrasts[i].samples): self.contrasts[i].samples for i in others}.values():
            for signed, drawn in ((False, labels), (True, signs)):
                chosen = [
                    i for i in others if self.contrasts[i].samples is samples and self.contrasts[i].signed == signed
                ]
                if chosen:
                    results = self._of_samples([self.contrasts[i] for i in chosen], samples, drawn, keep)
                    values |= dict(zip(chosen, results, strict=True))
        return [values[i] for i in active]

    def _of_samples(self, chosen: Sequence[Contrast], samples: Samples, labels: Weights, keep: bool) -> list[Floats]:
        few = min(max(self.kept // max(samples.rows.shape[1], 1), 8), CHUNK)  # b of `noise`
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
                [c.under(labels[:, rows], prepared) for c in chosen]
                for rows in parts
                for prepared in [Prepared(*(side[rows] for side in sums))]
            ]
            return [np.concatenate(values) for values in zip(*of_parts, strict=True)]

    def _going_on(self, active: Sequence[int], null: Sequence[Sequence[Floats]]) -> list[int]:
        """The contrasts that need more relabellings."""
        drawn = {i: np.concatenate(null[i]) for i in active}
        family = [i for i in self.family if i in drawn]
        stopped = {i for i in active if i not in family and self._stops(drawn[i], self.contrasts[i].extreme(drawn[i]))}
        if family:
            contrasts, nulls = [self.contrasts[i] for i in family], [drawn[i] for i in family]
            self.test = family_test(contrasts, nulls, self.exact, self.headline)
            if self._stops(drawn[family[0]], self.test.extreme):
                # the family is one test: with members that stop apart, step-down would lack a joint distribution
                stopped |= set(family)
        return [i for i in active if i not in stopped]

    def _stops(self, null: Floats, extreme: int) -> bool:
        return self.budget.stops(len(null), extreme)
