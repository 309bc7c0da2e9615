"""A study of one model of one language: fresh samples, perturbed samples, random strings, and the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from distortion_estimation import (
    Estimates,
    by_amount,
    by_length,
    by_probability,
    error_slope,
    estimates,
    joint_histogram,
    mean_interval,
    perturbed,
    random_strings,
)

from momus.errors import UsageError
from momus.evidence import Axis, Chart, Evidence, Heatmap, Role, Series, Table
from momus.numeric.types import Floats, Ints
from momus.progress import stage
from momus.sequences import Sequences, StepModel
from momus_generating import Decoding, document_seeds, sample

COLUMNS = 12
"""Bins of log p_L in the heat map of perturbations."""
GROUPS = 5
"""Groups of rarity in the chart of checkpoints."""


@dataclass(frozen=True)
class Finding:
    """One claim with its estimate; it is supported if the interval excludes zero on the predicted side."""

    name: str
    claim: str
    estimate: float
    low: float
    high: float
    n: int
    positive: bool

    @property
    def holds(self) -> bool:
        """Whether the 95 % interval excludes zero on the predicted side."""
        return self.low > 0 if self.positive else self.high < 0


@dataclass(frozen=True)
class Study:
    """Estimation errors of one model on fresh samples, perturbed samples and random strings.

    Attributes
    ----------
    fresh
        Estimates for new samples from the language.
    perturbed
        Estimates for the same samples after 1, 2, … perturbations.
    random
        Estimates for random strings.
    checkpoints
        Estimates for the new samples, the same each time, by number of training sequences, ascending.
    """

    name: str
    fresh: Estimates
    perturbed: Sequence[Estimates]
    random: Estimates
    seed: int = 0
    checkpoints: Sequence[tuple[int, Estimates]] = ()

    def findings(self) -> list[Finding]:
        """Test the three claims that concern a single model, with 95 % intervals."""
        fresh, off = self.fresh, self.perturbed[-1]
        mean = mean_interval(fresh.errors, self.seed)
        after, strings = mean_interval(off.errors, self.seed), mean_interval(self.random.errors, self.seed)
        steps = len(self.perturbed)
        return [
            Finding("i", "samples of the language are underestimated", *mean, len(fresh), False),
            Finding("ii", "rarer samples are underestimated more", *error_slope(fresh), len(fresh), True),
            Finding("iii a", f"after {steps} perturbations they are overestimated", *after, len(off), True),
            Finding("iii b", "random strings are overestimated", *strings, len(self.random), True),
        ]

    def heat(self, columns: int = COLUMNS, least: int = 10) -> tuple[Floats, Floats, Ints]:
        """Mean error by number of perturbations (rows, from 0) and bins of log p_L; NaN below ``least`` sequences.

        Returns
        -------
        Means (S + 1, columns), edges (columns + 1,), counts (S + 1, columns).
        """
        layers = [self.fresh, *self.perturbed]
        log_p = np.concatenate([x.language for x in layers])
        edges = np.quantile(log_p[np.isfinite(log_p)], np.linspace(0, 1, columns + 1))
        means = np.full((len(layers), columns), np.nan)
        counts = np.zeros((len(layers), columns), dtype=np.int64)
        for i, x in enumerate(layers):
            bin_ = np.clip(np.searchsorted(edges, x.language, side="right") - 1, 0, columns - 1)  # of each sequence
            counts[i] = np.bincount(bin_, minlength=columns)
            sums = np.bincount(bin_, x.errors, columns)
            enough = counts[i] >= least
            means[i, enough] = sums[enough] / counts[i][enough]
        return means, edges, counts

    def evidence(self) -> list[Evidence]:
        """Findings, joint histogram, error by probability, by length and by checkpoint, heat map of perturbations."""
        counts, edges = joint_histogram(self.fresh)
        share = np.log10(np.where(counts > 0, counts, np.nan))
        names = [f"{v:.0f}" for v in (edges[:-1] + edges[1:]) / 2]
        items: list[Evidence] = [
            Table(
                "findings",
                "Claims and estimates",
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
        items.append(self._by_probability())
        if self.checkpoints:
            items.append(self.amount())
        lengths = by_length(self.fresh, seed=self.seed)
        x, y = Axis("length in tokens, including the end"), Axis("mean error, nats")
        n = lengths["length"].tolist()
        observed = Series(
            "observed", n, lengths["mean"].tolist(), "generated", "line", *(lengths[k].tolist() for k in BAND)
        )
        expected = Series("expected", n, lengths["expected"].tolist(), "reference")
        items.append(Chart("length", "Error by length", x, y, [observed, expected]))
        means, heat_edges, _ = self.heat()
        columns = [f"{a:.0f} to {b:.0f}" for a, b in pairwise(heat_edges)]
        cells = [[None if np.isnan(v) else float(v) for v in row] for row in means]
        rows = [str(i) for i in range(len(means))]
        items.append(
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
        return items

    def _by_probability(self) -> Chart:
        """Error by log p_L of the fresh samples."""
        table = by_probability(self.fresh, seed=self.seed)
        middle = ((table["low"] + table["high"]) / 2).tolist()
        series = Series(
            "fresh samples", middle, table["mean"].tolist(), "generated", "line", *(table[k].tolist() for k in BAND)
        )
        note = "Bins with at least ten sequences; bands: 95 % bootstrap intervals of the mean."
        return Chart(
            "probability", "Error by probability", Axis("log p_L, nats"), Axis("mean error, nats"), [series], note=note
        )

    def amount(self) -> Chart:
        """Error by number of training sequences: all samples, the rarest fifth and the commonest, with 95 % bands.

        Raises
        ------
        UsageError
            There are no checkpoints.
        """
        if not self.checkpoints:
            raise UsageError("the study has no checkpoints", hint="pass checkpoints to study")
        table = by_amount(self.checkpoints, GROUPS, self.seed)
        whole = [(n, *mean_interval(e.errors, self.seed)) for n, e in self.checkpoints]
        n, mean, low, high = (list(column) for column in zip(*whole, strict=True))
        series = [Series("all", n, mean, "generated", "line", low, high)]
        ends: tuple[tuple[int, str, Role], ...] = (
            (0, "rarest fifth", "reference"),
            (GROUPS - 1, "commonest fifth", "fitted"),
        )
        for group, label, role in ends:
            rows = table[table["group"] == group]
            values = (rows[k].tolist() for k in ("mean_low", "mean_high"))
            series.append(Series(label, rows["sequences"].tolist(), rows["mean"].tolist(), role, "line", *values))
        return Chart(
            "amount",
            "Error by number of training sequences",
            Axis("training sequences", "log"),
            Axis("mean error, nats"),
            series,
            note="The same test sequences at each point; bands: 95 % bootstrap intervals of the mean.",
        )


BAND = ("mean_low", "mean_high")


def draw_language(language: StepModel, n: int, seed: int, temperature: float = 1.0, longest: int = 128) -> Sequences:
    """Draw sequences from the language; replace those that do not end within ``longest`` tokens by new draws.

    Parameters
    ----------
    n
        Number of sequences, all of which have ended.
    """
    decoding = Decoding("temperature" if temperature != 1.0 else "ancestral", temperature, longest=longest)
    batches: list[Sequences] = []
    finished, number = 0, 0
    with stage("drawing from the language", n) as advance:
        while finished < n:
            size = min(1024, n - finished)
            samples = sample(language, None, decoding, document_seeds(seed, number + size, number))
            number += size
            batches.append(samples.sequences.take(np.flatnonzero(samples.finished)))
            finished += len(batches[-1])
            advance(finished)
    return Sequences.of(batch[i] for batch in batches for i in range(len(batch)))


def study(
    language: StepModel,
    model: StepModel,
    fresh: Sequences,
    symbols: int,
    *,
    temperature: float = 1.0,
    perturbations: int = 30,
    some: int = 1000,
    seed: int = 0,
    name: str = "model",
    checkpoints: Sequence[tuple[int, Estimates]] = (),
) -> Study:
    """Score fresh samples, perturbed samples and random strings under the language and the model.

    Parameters
    ----------
    fresh
        Samples from the language that the model was not trained on.
    symbols
        Tokens run from 0 to ``symbols`` − 1.
    temperature
        Temperature of the language.
    perturbations
        Number of perturbations of the first ``some`` samples.
    checkpoints
        Estimates of ``fresh`` under earlier states of the model, by number of training sequences.
    """
    start = fresh.take(np.arange(min(some, len(fresh))))
    with stage(f"scoring under {name}", perturbations + 2) as advance:
        first = estimates(language, model, fresh, temperature)
        advance(1)
        off = []  # estimates after each perturbation
        for i, sequences in enumerate(perturbed(start, symbols, perturbations, seed)):
            off.append(estimates(language, model, sequences, temperature))
            advance(i + 2)
        strings = estimates(language, model, random_strings(some, symbols, seed), temperature)
    return Study(name, first, off, strings, seed, tuple(checkpoints))
