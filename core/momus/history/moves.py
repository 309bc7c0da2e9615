"""The changes of all axes between two runs, from bootstrap draws that both runs and all axes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from momus.errors import MomusError
from momus.history.change import RESAMPLES, DistanceMoves, pooled_gap
from momus.history.kept import KeptRun, incomparable
from momus.inference.matching import Pools, pools_of, shared_prompts
from momus.inference.ranking import Distances, average
from momus.joint.axes import AxisRows
from momus.joint.gap import Gap
from momus.joint.ranks import ALL_AXES
from momus.joint.replicates import Replicates
from momus.runs.kept import KeptTexts, read_kept_texts

Finding = Literal["farther", "nearer", "not told apart"]
SEED = 0
"""Of the draws, so that a change does not depend on the seeds of its runs."""
MOST_LAWS = 1000
"""Numbers from here on tell axes of documents apart, whose changes come from the errors of verdicts, from laws."""
REAL, MODEL = ("real before", "real after"), ("before", "after")
"""Names of the four corpora whose units are resampled together, by run."""


@dataclass(frozen=True)
class AxisChange:
    """The change in distance to real text on one axis.

    Attributes
    ----------
    critic, axis, statistic
        The critic and what its axis is called; `momus.joint.ranks.ALL_AXES` for the mean over axes of documents. Of
        the statistics that differ in a run, the one that is farthest off in both together; else the headline.
    before, after
        Distances to real text, in units of the effect (``effect_kind``), as in the verdicts where the same documents
        take part; in human bands for the mean over axes.
    change, low, high
        after − before, with its interval: simultaneous over the axes of all pairs of corpora, and by itself for
        the mean over axes.
    band
        Human band of the earlier run, in units of the effect; None if the axis has none.
    n_real, n_before, n_after
        Documents that take part (groups, for laws of running text); ``n_real`` of the later run.
    from_errors
        Whether it comes from the standard errors of both verdicts alone, since runs keep rows of headlines only.
    moves
        What intervals are made of.
    """

    critic: str
    axis: str
    statistic: str
    effect_kind: str
    before: float
    after: float
    change: float
    low: float
    high: float
    band: float | None
    n_real: int
    n_before: int
    n_after: int
    from_errors: bool
    moves: DistanceMoves = field(repr=False)

    @classmethod
    def of(
        cls,
        names: tuple[str, str, str, str],
        moves: DistanceMoves,
        band: float | None,
        sizes: Sequence[int],
        errors: bool,
    ) -> AxisChange:
        """A change without an interval yet."""
        (one, other), change = map(float, moves.distances), moves.change
        n_real, n_before, n_after = map(int, sizes)
        return cls(*names, one, other, change, change, change, band, n_real, n_before, n_after, errors, moves)

    def within(self, reach: float) -> AxisChange:
        """The change with its interval, for a reach in standard errors."""
        low, high = self.moves.interval(reach)
        return replace(self, low=low, high=high)

    @property
    def finding(self) -> Finding:
        """Whether the later text is significantly farther from real text, or nearer."""
        if self.low > 0:
            return "farther"
        return "nearer" if self.high < 0 else "not told apart"


@dataclass(frozen=True)
class CorpusDiff:
    """The changes from one generated corpus to another.

    Attributes
    ----------
    before, after
        Names of the corpora.
    axes
        One entry per axis that can be compared; of `momus.history.diff`, the largest change in human bands first.
    overall
        The mean over axes of documents, in human bands; None without an axis that has a band.
    not_compared
        By critic, why it has no entry.
    matched
        Whether texts of the same prompts were compared.
    units
        Units (prompts, groups or documents) of the smallest pool that was resampled.
    """

    before: str
    after: str
    axes: tuple[AxisChange, ...]
    overall: AxisChange | None
    not_compared: Mapping[str, str]
    matched: bool
    units: int


def moves_of(before: KeptRun, after: KeptRun, pair: tuple[str, str]) -> CorpusDiff:
    """The changes from one generated corpus to another, without intervals yet.

    Critics that measure different things in the two runs, or cannot be compared for another reason, are left out; the
    result says why.
    """
    runs = (before, after)
    texts = read_kept_texts(before.path), read_kept_texts(after.path)
    pools = pools_of(
        {name: _keys(texts[i], corpus) for i in (0, 1) for name, corpus in ((REAL[i], "real"), (MODEL[i], pair[i]))},
        {name: texts[i].groups[corpus] for i in (0, 1) for name, corpus in ((REAL[i], "real"), (MODEL[i], pair[i]))},
    )
    excluded: dict[str, str] = {}
    bootstraps: dict[str, tuple[Replicates, Replicates]] = {}
    laws: list[AxisChange] = []
    for critic in dict.fromkeys([*before.critics, *after.critics]):
        why = incomparable(before, after, critic)
        if not why and not all(critic in run.headlines(name) for run, name in zip(runs, pair, strict=True)):
            why = "a run has no headline verdict of it"
        try:
            if not why:
                axes = [_renamed(run, critic, pair[i], i) for i, run in enumerate(runs)]
                one, other = axes
                if one is not None and other is not None:
                    bootstraps[critic] = _replicates((one, other), pools, texts, pair, runs)
                elif one is None and other is None:
                    laws.append(_from_errors(runs, critic, _leading(runs, critic, pair), pair, len(laws)))
                else:
                    why = "one of the runs has no scored document"
        except (MomusError, ValueError) as error:
            why = error.message if isinstance(error, MomusError) else str(error)
        if why:
            excluded[critic] = why
    for drawn in pools.multiplicities(RESAMPLES, SEED):
        for both in bootstraps.values():
            for bootstrap in both:
                bootstrap.add(drawn)
    freedom = float(max(min(pools.sizes) - 1, 1))
    changes: list[AxisChange] = []
    counted: list[tuple[Distances, Distances, float]] = []
    for critic, both in bootstraps.items():
        distances = both[0].distances(freedom), both[1].distances(freedom)
        if not all(np.isfinite(d.deviations).all() for d in distances):
            excluded[critic] = "its statistic does not exist for some resamples"
            continue
        sizes = both[1].documents[0], both[0].documents[1], both[1].documents[1]
        headline = both[1].statistic.name
        described = _described(runs, critic, headline, pair, DistanceMoves.of(*distances), sizes)
        if described.band:
            counted.append((*distances, described.band))
        leading = _leading(runs, critic, pair)
        if leading != headline:
            with suppress(ValueError):  # a run does not know it well enough
                described = _from_errors(runs, critic, leading, pair, MOST_LAWS + len(changes))
        changes.append(described)
    every = tuple(changes + laws)
    return CorpusDiff(*pair, every, _overall(counted, changes), excluded, pools.matched, int(min(pools.sizes)))


def _keys(texts: KeptTexts, corpus: str) -> list[str | None]:
    """The prompt of each document; one without prompt and group is recognised in the other run by its text."""
    return [
        f"text {digest}" if prompt is None and group is None else prompt
        for prompt, group, digest in zip(
            texts.prompts[corpus], texts.groups[corpus], texts.hashes[corpus].tolist(), strict=True
        )
    ]


def _renamed(run: KeptRun, critic: str, corpus: str, i: int) -> AxisRows | None:
    """The axis of a critic in run i, with the real and one generated corpus under their names in the pools."""
    axis = run.axis(critic)
    if axis is None:
        return None
    names = {REAL[i]: "real", MODEL[i]: corpus}
    missing = [c for c in names.values() if c not in axis.rows]
    if missing:
        raise ValueError(f"{run.path} has no rows of {', '.join(map(repr, missing))}")
    return replace(
        axis,
        rows={new: axis.rows[old] for new, old in names.items()},
        scored={new: axis.scored[old] for new, old in names.items()},
        values={new: axis.values[old] for new, old in names.items()},
    )


def _replicates(
    axes: tuple[AxisRows, AxisRows],
    pools: Pools,
    texts: tuple[KeptTexts, KeptTexts],
    pair: tuple[str, str],
    runs: tuple[KeptRun, KeptRun],
) -> tuple[Replicates, Replicates]:
    """Bootstrap replicates of both runs, on the prompts that all four corpora have scored documents of.

    Raises
    ------
    ValueError
        The axis cannot be compared; the message says why.
    """
    if axes[0].statistic.name != axes[1].statistic.name:
        raise ValueError(f"its headlines differ ({axes[0].statistic.name}, {axes[1].statistic.name})")
    for i in (0, 1):
        for name in axes[i].scored:
            if len(axes[i].scored[name]) != len(pools.units[name]):
                raise ValueError("its rows and the documents of the run differ in number")
    if pools.matched:
        asked = [pools.prompts[name][scored] for axis in axes for name, scored in axis.scored.items()]
        common = shared_prompts(asked)
        kept = [
            {name: scored & np.isin(pools.prompts[name], common) for name, scored in axis.scored.items()}
            for axis in axes
        ]
        axes = replace(axes[0], scored=kept[0]), replace(axes[1], scored=kept[1])
    replicates = []
    for i, axis in enumerate(axes):
        names = {REAL[i]: "real", MODEL[i]: pair[i]}
        prompts = {new: texts[i].prompts[old] for new, old in names.items()}
        groups = {new: texts[i].groups[old] for new, old in names.items()}
        # with the seed of its run, a distance is that of its verdict
        replicates.append(Replicates(axis, list(names), pools, prompts, groups, runs[i].seed))
    return replicates[0], replicates[1]


def _leading(runs: tuple[KeptRun, KeptRun], critic: str, pair: tuple[str, str]) -> str:
    """The statistic that an axis is compared by: of those that differ in a run, the farthest off in both together.

    The headline where none differs. The mean of both effects, weighted by their precision, has no correlation with
    their difference, so a change is not as large as it is because its statistic was chosen: that of the row that leads
    in one of the runs is too large in this run.
    """
    one, other = (run.rows(name).get(critic, {}) for run, name in zip(runs, pair, strict=True))
    both = {s: (v, other[s]) for s, v in one.items() if s in other and (v.is_finding or other[s].is_finding)}
    sizes = {s: pooled_gap(*rows) for s, rows in both.items()}
    return max(sizes, key=sizes.__getitem__, default=runs[1].headlines(pair[1])[critic].statistic)


def _described(
    runs: tuple[KeptRun, KeptRun],
    critic: str,
    statistic: str,
    pair: tuple[str, str],
    moves: DistanceMoves,
    documents: Sequence[int],
    errors: bool = False,
) -> AxisChange:
    """A change with the name of its axis, and the band of the earlier run (or else of the later one)."""
    one, other = (run.rows(name)[critic][statistic] for run, name in zip(runs, pair, strict=True))
    names = critic, other.axis, statistic, other.effect_kind
    return AxisChange.of(names, moves, one.band or other.band, documents, errors)


def _from_errors(
    runs: tuple[KeptRun, KeptRun],
    critic: str,
    statistic: str,
    pair: tuple[str, str],
    number: int,
) -> AxisChange:
    """The change of a statistic of which the runs keep no rows, from the standard errors of both verdicts.

    Raises
    ------
    ValueError
        A run has no verdict of it with a standard error.
    """
    verdicts = [run.rows(name).get(critic, {}).get(statistic) for run, name in zip(runs, pair, strict=True)]
    gaps: list[Gap] = []
    for run, v in zip(runs, verdicts, strict=True):
        gap = "it was not tested" if v is None else Gap.of(v, effect=True)
        if isinstance(gap, str):
            raise ValueError(f"{run.path}: {gap}")
        gaps.append(gap)
    one, other = verdicts
    assert one is not None
    assert other is not None
    moves = DistanceMoves.of_gaps(gaps[0], gaps[1], SEED, number)
    sizes = other.n_real, one.n_generated, other.n_generated
    return _described(runs, critic, statistic, pair, moves, sizes, errors=True)


def _overall(counted: Sequence[tuple[Distances, Distances, float]], axes: Sequence[AxisChange]) -> AxisChange | None:
    """The mean over axes of distance ÷ band."""
    if not counted:
        return None
    one, other, bands = zip(*counted, strict=True)
    moves = DistanceMoves.of(*(average(list(distances), np.array(bands)) for distances in (one, other)))
    sizes = np.array([(a.n_real, a.n_before, a.n_after) for a in axes if a.band]).min(axis=0)
    return AxisChange.of((ALL_AXES, ALL_AXES, "", "bands"), moves, 1.0, sizes, False)
