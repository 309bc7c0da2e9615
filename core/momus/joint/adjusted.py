"""Differences along one axis, adjusted for other axes or for metadata: documents are compared within bins of these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from momus.errors import UsageError
from momus.inference.adjustment import BINS, Binned, Overlap, bin_codes, binned
from momus.inference.design import Design
from momus.inference.pooling import NARROW, Rows
from momus.inference.relabelling import FIRST, Budget
from momus.inference.result import NAN, TestResult
from momus.inference.samples import Samples, taken
from momus.inference.testing import compare_one
from momus.joint.axes import Axis, Covariate, covariate, few_resamples, units_of
from momus.joint.share_left import Relabelled, joint, relabelled
from momus.numeric.types import Bools, Ints
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings

ALPHA = 0.05
PERMUTATIONS, WIDE = 499, 199
"""Relabellings of a test within bins, and of one with more than 64 columns."""
PLAIN = Budget(64, 1, ALPHA, early=(), fine=1)
"""Relabellings from which the chance level of an unadjusted distance is estimated."""


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
        generated − real before and after adjustment, for documents with both a score and the covariates: of values as
        they are, of perplexities on the log scale, of distances the excess over chance.
    low, high
        Interval of the adjusted difference: its standard error times Student's t on either side.
    share, share_low, share_high
        Adjusted/unadjusted, with its interval by Fieller's theorem; NaN where the interval has no bounds, since the
        unadjusted difference is too uncertain.
    p
        Permutation test within bins, not adjusted for the number of rows.
    overlap
        How many documents the adjusted comparison rests on.
    grouped
        Whether documents of a group, or of a repeated prompt, were relabelled together within each text.
    reason
        Why there is no adjusted number; empty if there is one.
    result
        The full test within bins, if it was asked for.
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
    share: float = NAN
    share_low: float = NAN
    share_high: float = NAN
    p: float = NAN
    permutations: int = 0
    n_real: int = 0
    n_generated: int = 0
    overlap: Overlap | None = None
    grouped: bool = False
    reason: str = ""
    result: TestResult | None = None

    @property
    def alarm(self) -> bool:
        """Whether the adjusted row rejects equality at level 0.05, by itself."""
        return self.p <= ALPHA


@dataclass
class Sides:
    """The documents of two texts that are compared within bins, with their independent units.

    Attributes
    ----------
    real, generated
        Names of both corpora, as axes know them.
    units
        Number of the unit of each document, (n,) and (m,); None if documents are independent.
    """

    real: str
    generated: str
    units: tuple[Ints, Ints] | None = None
    seed: int = 0
    confidence: float = 0.95
    _bins: dict[tuple[str, ...], tuple[Ints, Ints]] = field(default_factory=dict)
    _within: dict[tuple[bytes, ...], Binned] = field(default_factory=dict)
    _samples: dict[tuple[int | bytes, ...], tuple[Samples, object]] = field(default_factory=dict)
    _plain: dict[tuple[str, bytes, bytes], Relabelled] = field(default_factory=dict)

    @classmethod
    def of(cls, real: Corpus, generated: Corpus, settings: Settings | None = None) -> Sides:
        """Take the units from groups, and from prompts that occur more than once in a text."""
        settings = settings or Settings()
        units = units_of((real.prompts, generated.prompts), (real.groups, generated.groups))
        return cls(real.name, generated.name, units, settings.seed, settings.confidence)

    def adjusted(
        self,
        axis: Axis,
        covariates: Sequence[Covariate],
        *,
        full: Settings | None = None,
        family: int = 1,
    ) -> AdjustedRow:
        """Compare an axis within bins of covariates.

        Documents are relabelled within bins (whole groups, where documents belong together); documents that answer the
        same prompt are independent here. Bins are cut once per covariate, at quantiles of both texts.

        Parameters
        ----------
        full
            Settings of a complete test within bins, which gives `AdjustedRow.result`, ``p`` and the interval of
            means; None: `PERMUTATIONS` relabellings (`WIDE` for more than 64 columns) and no more.
        family
            Number of complete tests whose p-values will be adjusted together.
        """
        row = AdjustedRow(
            axis.critic, axis.name, axis.statistic.name, self.generated, tuple(c.name for c in covariates)
        )
        codes = self._codes(covariates)
        known = [c >= 0 for c in codes]
        masks = [axis.scored[name] & k for name, k in zip((self.real, self.generated), known, strict=True)]
        row = replace(row, n_real=int(masks[0].sum()), n_generated=int(masks[1].sum()), grouped=self.units is not None)
        within = self._design(codes, masks)
        row = replace(row, overlap=within.overlap, reason=within.overlap.refusal)
        if min(row.n_real, row.n_generated) < 2:
            return replace(row, reason="few documents")
        plain_samples, plain = self._unadjusted(axis, masks)
        row = replace(row, unadjusted=plain.difference)
        if within.design is None:
            return row
        rows = within.design.rows
        if rows is None or all(np.array_equal(r, np.arange(m.sum())) for r, m in zip(rows, masks, strict=True)):
            samples = Samples(plain_samples.tables, within.design)  # of all documents, too
        else:
            samples = Samples.of(*self._rows(axis, masks), within.design)
        # half of them do where p is clearly below the level
        drawn = WIDE if samples.tables.width > NARROW else PERMUTATIONS
        budget = Budget(drawn // 2, 1, ALPHA, early=FIRST, fine=round(drawn * ALPHA))
        tested = relabelled(axis.statistic, samples, budget, self.seed)
        samples.release()
        plain_samples.release()
        if not (math.isfinite(tested.difference) and math.isfinite(plain.difference)):
            return replace(row, reason="not finite")
        errors = joint(axis.statistic, (plain_samples, samples), self.seed)
        low, high = errors.interval(tested.difference, self.confidence)
        share = errors.share(plain.difference, tested.difference, self.confidence)
        row = replace(
            row,
            difference=tested.difference,
            low=low,
            high=high,
            share=tested.difference / plain.difference if plain.difference else NAN,
            share_low=share[0],
            share_high=share[1],
            p=tested.p,
            permutations=tested.permutations,
        )
        return row if full is None else self._tested_in_full(row, axis, masks, within.design, full, family)

    def _tested_in_full(
        self, row: AdjustedRow, axis: Axis, masks: Sequence[Bools], design: Design, settings: Settings, family: int
    ) -> AdjustedRow:
        sides = self._rows(axis, masks)
        result = compare_one(axis.statistic, *sides, design=design, family=family, **few_resamples(settings))
        return replace(row, p=result.p, permutations=result.method.permutations, result=result)

    def _codes(self, covariates: Sequence[Covariate]) -> tuple[Ints, Ints]:
        """Bins of the covariates, cut once over all documents that have them."""
        key = tuple(c.name for c in covariates)
        if key not in self._bins:
            self._bins[key] = bin_codes([c.real for c in covariates], [c.generated for c in covariates], BINS)
        return self._bins[key]

    def _design(self, codes: tuple[Ints, Ints], masks: Sequence[Bools]) -> Binned:
        """The design within bins of the documents of both masks; critics that score the same documents share it."""
        key = tuple(a.tobytes() for a in (*codes, *masks))
        if key not in self._within:
            groups = None if self.units is None else (self.units[0][masks[0]], self.units[1][masks[1]])
            self._within.clear()  # axes are adjusted for one covariate after another
            self._within[key] = binned((codes[0][masks[0]], codes[1][masks[1]]), groups)
        return self._within[key]

    def _rows(self, axis: Axis, masks: Sequence[Bools]) -> tuple[Rows, Rows]:
        real, generated = map(np.flatnonzero, masks)
        return taken(axis.rows[self.real], real), taken(axis.rows[self.generated], generated)

    def _unadjusted(self, axis: Axis, masks: Sequence[Bools]) -> tuple[Samples, Relabelled]:
        """The difference of the same documents without bins; axes that share tables share the samples."""
        scored = masks[0].tobytes(), masks[1].tobytes()
        tables = axis.rows[self.real], axis.rows[self.generated]
        of_tables = id(tables[0]), id(tables[1]), *scored
        if of_tables not in self._samples:
            design = (
                Design.documents(int(masks[0].sum()), int(masks[1].sum()))
                if self.units is None
                else Design.clusters(self.units[0][masks[0]], self.units[1][masks[1]])
            )
            # the tables stay alive, so that no other one gets their place in memory
            self._samples[of_tables] = Samples.of(*self._rows(axis, masks), design), tables
        (samples, _), key = self._samples[of_tables], (axis.critic, *scored)
        if key not in self._plain:
            self._plain[key] = relabelled(axis.statistic, samples, PLAIN, self.seed)
        return samples, self._plain[key]


def adjusted_verdicts(
    axes: Sequence[Axis],
    names: Sequence[str],
    real: Corpus,
    generated: Sequence[Corpus],
    settings: Settings | None = None,
) -> list[AdjustedRow]:
    """Compare every axis again, within cells of the covariates ``names`` (critics or metadata fields).

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
    tested = [axis for axis in axes if axis.critic not in names]
    family = len(tested) * len(generated)
    rows = []
    for corpus in generated:
        sides = Sides.of(real, corpus, settings)
        covariates = [covariate(name, axes, real, corpus) for name in dict.fromkeys(names)]
        rows += [sides.adjusted(axis, covariates, full=settings, family=family) for axis in tested]
    return rows
