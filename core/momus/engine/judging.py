"""Tests of two texts from their shards: narrow rows by document, wide rows summed by the units of the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic import Counted, Pooled, Scores, Statistic, aligned
from momus.errors import StoreError
from momus.inference import TestResult, compare_rows, design_of
from momus.inference.blocks import ABOVE, MOST, in_blocks, of_units
from momus.inference.design import Design
from momus.inference.relabelling import STAGES
from momus.inference.testing import NOISE
from momus.numeric.types import Floats, Ints
from momus.runs.row_store import ShardedText, counts_of
from momus.runs.sums import KeptSums
from momus.verdicts.band import HumanBands
from momus.verdicts.judge import missing_result, untested, verdicts_of
from momus.verdicts.settings import Settings
from momus.verdicts.statistics import all_statistics
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.critic import Critic


@dataclass
class Side:
    """One text under one critic.

    Attributes
    ----------
    text, scores
        The shards, and what is read of all documents.
    kept
        Sums of wide rows that were made before, also for other texts and critics.
    """

    text: ShardedText
    scores: Scores
    kept: KeptSums = field(default_factory=KeptSums)

    @classmethod
    def of(cls, text: ShardedText, critic: str, kept: KeptSums) -> Side:
        """Read what is needed of all documents."""
        return cls(text, text.scores(critic), kept)

    @property
    def keys(self) -> list[str]:
        """Keys of all rows."""
        return self.text.keys(self.scores.critic)

    def summed(self, key: str, documents: Ints, units: Ints, size: int, weights: Floats) -> Counted:
        """Sum wide rows by unit.

        Parameters
        ----------
        documents
            Row numbers of the documents that take part.
        units, weights
            The unit and the weight of each of these.
        """
        drawn = (hash(array.tobytes()) for array in (documents, units, weights))
        name = (self.text.digest, self.text.stored(self.scores.critic, key), size, *drawn)

        def make(columns: dict[str | float, int] | None) -> Counted:
            unit, weight = np.full(len(self.scores), -1), np.zeros(len(self.scores))
            unit[documents], weight[documents] = units, weights
            return self.text.summed(self.scores.critic, key, unit, size, weight, columns)

        return self.kept.get(name, key, make)


@dataclass(frozen=True)
class Economy:
    """What a test costs.

    Attributes
    ----------
    above, most
        Documents of a text above which they are put into blocks, and most blocks; see `momus.inference.blocks`.
    wide, early, noise
        See `momus.inference.compare_rows`.
    """

    above: int = ABOVE
    most: int = MOST
    wide: tuple[int, int] = (1999, 199)
    early: tuple[int, ...] = STAGES
    noise: int = NOISE


@dataclass(frozen=True)
class Judged:
    """Verdicts of a generated text under a critic, and the totals that evidence is computed from."""

    verdicts: list[Verdict]
    totals: tuple[dict[str, Counted], dict[str, Counted]]


def judge_sides(
    critic: Critic[Any],
    real: Side,
    generated: Side,
    settings: Settings,
    family: int,
    bands: HumanBands | None = None,
    economy: Economy | None = None,
) -> Judged:
    """Test every statistic of a critic between two texts; p-values are not adjusted yet.

    As `momus.verdicts.judge`, with the same designs and the same blocks.

    Parameters
    ----------
    economy
        Test the headline statistic alone, at this cost.
    """
    only_headline = economy is not None
    one, other = real.scores, generated.scores
    keys = list(dict.fromkeys([*real.keys, *generated.keys]))
    statistics = all_statistics(critic, keys)
    if only_headline:
        statistics = [s for s in statistics if s.name == critic.headline_statistic]
    totals: tuple[dict[str, Counted], dict[str, Counted]] = ({}, {})
    if not one.n_scored or not other.n_scored:
        results = [untested(s, one, other) for s in statistics]
    else:
        results = _tested(statistics, real, generated, settings, family, totals, economy or Economy())
    missing = None if only_headline else missing_result(one, other, settings, family)
    results += [missing] if missing is not None else []
    return Judged(verdicts_of(critic, results, one, other, keys, settings, bands), totals)


def _tested(
    statistics: Sequence[Statistic],
    real: Side,
    generated: Side,
    settings: Settings,
    family: int,
    totals: tuple[dict[str, Counted], dict[str, Counted]],
    economy: Economy,
) -> list[TestResult]:
    sides = real, generated
    one, other = real.scores, generated.scores
    groups = one.scored_groups, other.scored_groups
    names = one.corpus, other.corpus
    design = design_of(one.scored_prompts, other.scored_prompts, settings.paired, names, groups=groups)
    design = in_blocks(design, settings.seed, economy.above, economy.most)
    options: dict[str, Any] = {
        "permutations": settings.permutations,
        "resamples": settings.resamples,
        "confidence": settings.confidence,
        "family": family,
        "seed": settings.seed,
        "wide": economy.wide,
        "early": economy.early,
        "noise": economy.noise,
    }
    rows = one.test_rows(), other.test_rows()
    for s in statistics:
        if s.rows not in rows[0] and s.rows not in real.keys:
            raise StoreError(
                f"{real.text.folder.path} has no rows {s.rows!r} of critic {one.critic!r}, which the statistic "
                f"{s.name!r} pools: another version of the critic scored it",
                hint="fit the critic and score both texts again with this version",
            )
    narrow = [s for s in statistics if s.rows in rows[0]]
    results = {r.statistic: r for r in compare_rows(narrow, *rows, design=design, **options)} if narrow else {}
    for key in dict.fromkeys(s.rows for s in statistics if s.rows not in rows[0]):
        wide = [s for s in statistics if s.rows == key]
        whole = design.kind == "clusters" or design.flips
        tables = [_table(side, key, design, k, whole) for k, side in enumerate(sides)]
        for side, table in zip(totals, tables, strict=True):
            side[key] = table
        a, b = aligned(tables)
        used = of_units(design) if whole else design
        found = compare_rows(wide, {key: a.matrix}, {key: b.matrix}, design=used, **options)
        results |= {r.statistic: _of_documents(r, design) if whole else r for r in found}
    return [results[s.name] for s in statistics]


def _table(side: Side, key: str, design: Design, k: int, whole: bool) -> Counted:
    """Wide rows of a text: summed by unit with their weights if units are relabelled whole, else by document."""
    scored = np.flatnonzero(side.scores.scored)
    if not whole:
        return side.summed(key, scored, np.arange(len(scored)), len(scored), np.ones(len(scored)))
    documents = scored if design.rows is None else scored[design.rows[k]]
    return side.summed(key, documents, design.unit_numbers[k], design.units[k], design.weights[k])


def _of_documents(result: TestResult, design: Design) -> TestResult:
    """The result of a test on sums by unit, with the numbers of documents and the design of these."""
    method = replace(
        result.method, design=design.asked.kind, grouped=design.asked.groups is not None, block=design.block
    )
    return replace(
        result,
        n_real=design.n_real,
        n_generated=design.n_generated,
        n_pairs=design.n_real if design.kind == "pairs" else 0,
        left_out_real=design.left_out[0],
        left_out_generated=design.left_out[1],
        method=method,
    )


def summary_of(side: Side, totals: dict[str, Counted]) -> Pooled | None:
    """The summary of a text; counts that are sums of rows are those of the documents of the test."""
    found = side.text.summary(side.scores.critic)
    if found is None or any(key not in totals for key in found[1].values()):
        return None
    pooled, from_rows = found
    return replace(pooled, counts={**pooled.counts, **{name: counts_of(totals[k]) for name, k in from_rows.items()}})
