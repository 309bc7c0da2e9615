"""A whole study of one model of one language: fresh samples, perturbed ones, random strings, and the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from momus.evidence import Axis, Chart, Evidence, Heatmap, Series, Table
from momus.numeric.types import Floats
from momus.progress import stage
from momus.sequences import Decoding, Sequences, SequenceScorer, StepModel, document_seed, sample
from momus_critics.distortion.estimation import (
    Estimates,
    by_length,
    by_probability,
    by_rank,
    estimates,
    joint_histogram,
    mean_interval,
)
from momus_critics.distortion.perturbation import perturbed, random_strings

COLUMNS = 12


@dataclass(frozen=True)
class Finding:
    """One claim with its estimate: it holds where the interval lies on its side of zero."""

    name: str
    claim: str
    estimate: float
    low: float
    high: float
    n: int
    positive: bool

    @property
    def holds(self) -> bool:
        """Whether the whole 95 % interval agrees with the claim."""
        return self.low > 0 if self.positive else self.high < 0


@dataclass(frozen=True)
class Study:
    """Where a model's probability mass went.

    Attributes
    ----------
    fresh
        Estimates of new samples from the language.
    perturbed
        Estimates of the same samples after 1, 2, … perturbations.
    random
        Estimates of random strings.
    """

    name: str
    fresh: Estimates
    perturbed: Sequence[Estimates]
    random: Estimates
    seed: int = 0
    checkpoints: Sequence[tuple[str, Estimates]] = field(default_factory=tuple)

    def findings(self) -> list[Finding]:
        """The three claims that one model can be asked for, with 95 % intervals."""
        fresh, off = self.fresh, self.perturbed[-1]
        mean = mean_interval(fresh.errors, self.seed)
        slope = stats.linregress(fresh.language, fresh.errors)
        half = float(stats.t.ppf(0.975, len(fresh) - 2) * slope.stderr)
        after, strings = mean_interval(off.errors, self.seed), mean_interval(self.random.errors, self.seed)
        steps = len(self.perturbed)
        steep = float(slope.slope)
        return [
            Finding("i", "samples of the language are underestimated", *mean, len(fresh), False),
            Finding("ii", "more so the rarer they are", steep, steep - half, steep + half, len(fresh), True),
            Finding("iii a", f"after {steps} perturbations they are overestimated", *after, len(off), True),
            Finding("iii b", "random strings are overestimated", *strings, len(self.random), True),
        ]

    def heat(self, columns: int = COLUMNS, least: int = 10) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Mean error by number of perturbations (rows from 0) and bins of log p_L; NaN below ``least`` sequences.

        Returns
        -------
        Means (S + 1, columns), edges (columns + 1,), counts (S + 1, columns).
        """
        layers = [self.fresh, *self.perturbed]
        everything = np.concatenate([x.language for x in layers])
        edges = np.quantile(everything[np.isfinite(everything)], np.linspace(0, 1, columns + 1))
        means = np.full((len(layers), columns), np.nan)
        counts = np.zeros((len(layers), columns), dtype=np.int64)
        for i, x in enumerate(layers):
            which = np.clip(np.searchsorted(edges, x.language, side="right") - 1, 0, columns - 1)
            counts[i] = np.bincount(which, minlength=columns)
            sums = np.bincount(which, x.errors, columns)
            enough = counts[i] >= least
            means[i, enough] = sums[enough] / counts[i][enough]
        return means, edges, counts

    def evidence(self) -> list[Evidence]:
        """Joint histogram, error by probability and by length, heat map of perturbations, findings."""
        counts, edges = joint_histogram(self.fresh)
        share = np.log10(np.where(counts > 0, counts, np.nan))
        names = [f"{v:.0f}" for v in (edges[:-1] + edges[1:]) / 2]
        shown: list[Evidence] = [
            Table(
                "findings",
                "What was claimed, and what was found",
                ("finding", "claim", "estimate", "low", "high", "n", "holds"),
                [
                    (f.name, f.claim, f.estimate, f.low, f.high, f.n, "yes" if f.holds else "no")
                    for f in self.findings()
                ],
                note="Errors are log p_M − log p_L in nats; ii is the slope of the error on log p_L. 95 % intervals.",
            ),
            Heatmap(
                "joint",
                "log p under the model and under the language",
                names,
                names,
                [[None if np.isnan(v) else float(v) for v in row] for row in share],
                "log₁₀ of the number of sequences",
                "log p_L, nats",
                "log p_M, nats",
                diverging=False,
                note=f"{len(self.fresh):,} new samples; equality is the diagonal.",
            ),
        ]
        shown.append(self._by_probability())
        lengths = by_length(self.fresh, seed=self.seed)
        x, y = Axis("length in tokens, the end included"), Axis("mean error, nats")
        n = lengths["length"].tolist()
        seen = Series(
            "observed", n, lengths["mean"].tolist(), "generated", "line", *(lengths[k].tolist() for k in BAND)
        )
        expected = Series("expected", n, lengths["expected"].tolist(), "reference")
        shown.append(Chart("length", "Error by length", x, y, [seen, expected]))
        means, heat_edges, _ = self.heat()
        columns = [f"{a:.0f} to {b:.0f}" for a, b in pairwise(heat_edges)]
        cells = [[None if np.isnan(v) else float(v) for v in row] for row in means]
        rows = [str(i) for i in range(len(means))]
        shown.append(
            Heatmap(
                "perturbations",
                "Error by rarity and number of perturbations",
                rows,
                columns,
                cells,
                "mean error, nats",
                "perturbations",
                "log p_L, nats",
                note="Cells with fewer than ten sequences are empty.",
            )
        )
        return shown

    def _by_probability(self) -> Chart:
        table = by_probability(self.fresh, seed=self.seed)
        middle = ((table["low"] + table["high"]) / 2).tolist()
        series = [
            Series(
                "fresh samples", middle, table["mean"].tolist(), "generated", "line", *(table[k].tolist() for k in BAND)
            )
        ]
        for label, e in self.checkpoints:
            ranks = by_rank(e, seed=self.seed)
            series.append(
                Series(label, ((ranks["low"] + ranks["high"]) / 2).tolist(), ranks["mean"].tolist(), "reference")
            )
        note = "Bins with at least ten sequences; bands: 95 % bootstrap intervals of the mean."
        return Chart(
            "probability", "Error by probability", Axis("log p_L, nats"), Axis("mean error, nats"), series, note=note
        )


BAND = ("mean_low", "mean_high")


def draw_language(language: StepModel, n: int, seed: int, temperature: float = 1.0, longest: int = 128) -> Sequences:
    """Draw sequences from the language; those that the limit of length would cut are left out and drawn anew.

    Parameters
    ----------
    n
        How many, all of which have ended.
    """
    how = Decoding("temperature" if temperature != 1.0 else "ancestral", temperature, longest=longest)
    parts: list[Sequences] = []
    got, number = 0, 0
    with stage("drawing from the language", n) as advance:
        while got < n:
            size = min(1024, n - got)
            drawn = sample(language, None, how, [document_seed(seed, number + i) for i in range(size)])
            number += size
            parts.append(drawn.sequences.take(np.flatnonzero(drawn.finished)))
            got += len(parts[-1])
            advance(got)
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.joined(part)
    return whole


def study(
    language: SequenceScorer,
    model: SequenceScorer,
    fresh: Sequences,
    symbols: int,
    *,
    temperature: float = 1.0,
    perturbations: int = 30,
    some: int = 1000,
    seed: int = 0,
    name: str = "model",
) -> Study:
    """Score new samples, perturbed ones and random strings under language and model.

    Parameters
    ----------
    fresh
        Samples from the language that the model was not trained on.
    symbols
        Tokens run from 0 to ``symbols`` − 1.
    temperature
        Of the language.
    perturbations
        How often the first ``some`` of the samples are perturbed.
    """
    few = fresh.take(np.arange(min(some, len(fresh))))
    with stage(f"scoring under {name}", perturbations + 2) as advance:
        first = estimates(language, model, fresh, temperature)
        advance(1)
        off = []
        for i, sequences in enumerate(perturbed(few, symbols, perturbations, seed)):
            off.append(estimates(language, model, sequences, temperature))
            advance(i + 2)
        strings = estimates(language, model, random_strings(some, symbols, seed), temperature)
    return Study(name, first, off, strings, seed)
