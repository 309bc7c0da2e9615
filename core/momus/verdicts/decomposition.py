"""The parts of log P(x) of two texts, with intervals: what Latent NLL leaves out of a difference in probability.

These rows are shown, not tested: their p-values would dilute those of the table.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from momus.critic import Critic, Statistic
from momus.critic.powers import PARTS, DecompositionMixin, Kind
from momus.critic.scores import Scores
from momus.critic.statistic import mean
from momus.inference import Design
from momus.inference.influence import jackknife, standard_error
from momus.inference.intervals import symmetric, t_quantile
from momus.inference.samples import Samples, Tables
from momus.numeric.types import Floats
from momus.verdicts.judge import design_of_scores
from momus.verdicts.settings import Settings

GAP = "gap"
"""The row of KL(q ‖ P(z | x)), where the critic reads another q than its posterior."""
LEAST_GAP = 1e-6
"""Nats per document below which a gap is rounding."""
MEAN = Statistic("part", "part", "value", mean)


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; None where a text has one unit."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PartRow:
    """One part of log P(x) in real and in one generated text.

    Attributes
    ----------
    generated
        Name of the generated text.
    part
        One of `momus.critic.powers.PARTS`, or `GAP`.
    in_real, in_generated, difference
        Means over the documents of the test, and generated − real.
    n_real, n_generated
        Documents of the test.
    """

    generated: str
    part: str
    in_real: Estimate
    in_generated: Estimate
    difference: Estimate
    n_real: int
    n_generated: int


@dataclass(frozen=True)
class Parts:
    """The parts of log P(x) under one critic.

    Attributes
    ----------
    kind, of
        What the critic knows of log P(x), and what x is (`momus.critic.DecompositionMixin`).
    unit
        ``nats per step`` for sequences of states, so that texts of different lengths compare; else per document.
    """

    kind: Kind
    of: str
    unit: str
    rows: tuple[PartRow, ...]

    def to_json(self) -> dict[str, Any]:
        """Convert to plain lists, strings and numbers."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}

    def of_text(self, generated: str) -> dict[str, PartRow]:
        """The rows of one generated text, by part."""
        return {row.part: row for row in self.rows if row.generated == generated}


def parts_of(critic: Critic[Any], real: Scores, others: list[Scores], settings: Settings) -> Parts | None:
    """The parts of log P(x) of the real and each generated text, over the documents of their test.

    Intervals are Student's t with a jackknife over the units of the design: documents, groups, pairs or prompts.

    Returns
    -------
    None if the critic does not decompose log P(x), or no text has a scored document.
    """
    if not isinstance(critic, DecompositionMixin) or real.parts is None:
        return None
    rows: list[PartRow] = []
    for scores in others:
        if scores.parts is not None:
            rows += _rows(real, scores, settings, per_step=critic.sequence)
    unit = "nats per step" if critic.sequence else "nats per document"
    return Parts(critic.evidence_kind, critic.evidence_of, unit, tuple(rows)) if rows else None


def _rows(real: Scores, generated: Scores, settings: Settings, per_step: bool) -> list[PartRow]:
    design = design_of_scores(real, generated, settings.paired)
    sides = []
    for i, scores in enumerate((real, generated)):
        assert scores.parts is not None
        parts, steps = scores.parts[scores.scored], scores.steps[scores.scored].astype(np.float64)  # (n, parts), (n,)
        # the last part is log P(x), which the others add up to where q is the posterior
        gap = parts[:, -1] - parts[:, :-1].sum(axis=1)
        table = np.column_stack([parts, gap, steps if per_step else np.ones(len(parts))])  # (n, parts + 2)
        sides.append(table if design.rows is None else table[design.rows[i]])
    # shown for both texts or for neither, so that columns of a table agree
    gapped = max(float(np.abs(side[:, len(PARTS)]).max(initial=0.0)) for side in sides) > LEAST_GAP
    shown = [*PARTS[:-1], *([GAP] if gapped else []), PARTS[-1]]
    columns = {name: i for i, name in enumerate((*PARTS, GAP))}
    return [
        _row(generated.corpus, name, [side[:, [columns[name], -1]] for side in sides], design, settings)
        for name in shown
    ]


def _row(generated: str, part: str, sides: list[Floats], design: Design, settings: Settings) -> PartRow:
    samples = Samples(Tables.of(sides[0], sides[1]), design)  # rows [part, steps or 1], (n, 2)
    # each text by itself: the error of the difference is smaller where prompts are shared
    levels = [
        _level(np.asarray(sums), np.asarray(units), settings.confidence)
        for sums, units in zip(samples.observed, samples.unit_rows, strict=True)
    ]
    error, freedom = standard_error(MEAN, samples, resamples=0, seed=settings.seed)
    difference = _estimate(levels[1].value - levels[0].value, error, freedom, settings.confidence)
    return PartRow(generated, part, levels[0], levels[1], difference, design.n_real, design.n_generated)


def _level(sums: Floats, units: Floats, confidence: float) -> Estimate:
    """The ratio of the totals ``sums`` (1, 2) of the rows of ``units`` (U, 2), each left out once."""
    value = float(mean(sums)[0])
    if len(units) < 2:
        return Estimate(value, None, None)
    # totals less each unit in turn, (U, 2), give all leave-one-out values at once, (U,)
    return _estimate(value, *jackknife([mean(sums - units)]), confidence)


def _estimate(value: float, error: float, freedom: float, confidence: float) -> Estimate:
    if not np.isfinite(error):
        return Estimate(value, None, None)
    return Estimate(value, *symmetric(value, error, t_quantile((1 + confidence) / 2, freedom)))
