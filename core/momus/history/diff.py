"""Whether one run is further from human text than another, on which axes, and by how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from momus.errors import UsageError
from momus.history.change import RESAMPLES, reaches
from momus.history.kept import InputChange, KeptRun, changed_inputs, incomparable
from momus.history.moves import AxisMoves, moves_of
from momus.history.outliers import OutlierChange, outlier_changes

Finding = Literal["farther", "nearer", "not told apart"]


@dataclass(frozen=True)
class AxisChange:
    """The change in distance to real text on one axis.

    Attributes
    ----------
    critic, axis, statistic
        The critic and what its axis is called; `momus.joint.ranks.ALL_AXES` for the mean over axes of documents. The
        statistic that leads where the later text differs from real text, or the earlier one; else the headline.
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
    from_errors: bool = False

    @property
    def finding(self) -> Finding:
        """Whether the later text is significantly farther from real text, or nearer."""
        if self.low > 0:
            return "farther"
        return "nearer" if self.high < 0 else "not told apart"

    def in_bands(self, value: float) -> float | None:
        """A distance, change or limit ÷ human band; None without a band."""
        return value / self.band if self.band else None


@dataclass(frozen=True)
class CorpusDiff:
    """The changes from one generated corpus to another.

    Attributes
    ----------
    before, after
        Names of the corpora.
    axes
        One entry per axis that can be compared, the largest change in human bands first.
    overall
        The mean over axes of documents, in human bands; None without an axis that has a band.
    not_compared
        By critic, why it has no entry.
    outliers
        Documents that stand out in one run only, by critic.
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
    outliers: tuple[OutlierChange, ...]
    matched: bool
    units: int


@dataclass(frozen=True)
class RunDiff:
    """A run against an earlier one.

    Attributes
    ----------
    before, after
        Folders of the runs.
    pairs
        One entry per pair of generated corpora.
    inputs
        Inputs that differ.
    real_changed
        Whether the real texts differ: each run is then compared with its own.
    confidence, resamples
        Level of the intervals, and bootstrap resamples.
    """

    before: str
    after: str
    pairs: tuple[CorpusDiff, ...]
    inputs: tuple[InputChange, ...]
    real_changed: bool
    confidence: float
    resamples: int = RESAMPLES


def diff_runs(
    before: KeptRun | str | Path,
    after: KeptRun | str | Path,
    corpora: Sequence[tuple[str, str]] = (),
    confidence: float | None = None,
    top: int = 5,
) -> RunDiff:
    """Compare a run with an earlier one.

    Both runs need the same critics, fitted on the same text. Bootstrap draws of prompts (groups, documents) are common
    to both runs, so what both share (the real text, the prompts) does not blur the change.

    Parameters
    ----------
    before, after
        Run folders.
    corpora
        Pairs of generated corpora (before, after); default: those of the same name, or the only ones.
    confidence
        Level of the intervals; default: that of the later run.
    top
        Outliers to list per critic and direction.

    Raises
    ------
    StoreError
        A folder holds no finished run, or an older version of Momus wrote it.
    UsageError
        The runs have no generated corpora or no critics in common.
    """
    before = before if isinstance(before, KeptRun) else KeptRun.read(before)
    after = after if isinstance(after, KeptRun) else KeptRun.read(after)
    pairs = matching_corpora(before, after, corpora)
    check_comparable(before, after)
    confidence = after.confidence if confidence is None else confidence
    # Bonferroni over pairs of corpora: their draws are not common
    level = 1 - (1 - confidence) / len(pairs)
    return RunDiff(
        str(before.path),
        str(after.path),
        tuple(_pair(before, after, pair, level, top) for pair in pairs),
        tuple(changed_inputs(before, after, tuple(pairs))),
        before.fingerprint("real") != after.fingerprint("real"),
        confidence,
    )


def matching_corpora(before: KeptRun, after: KeptRun, corpora: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Pairs of generated corpora (before, after) that are compared.

    Raises
    ------
    UsageError
        A named corpus is missing, or no name is common to both runs.
    """
    for one, other in corpora:
        before.check_generated(one)
        after.check_generated(other)
    if corpora:
        return list(corpora)
    if len(before.generated) == len(after.generated) == 1:
        return [(before.generated[0], after.generated[0])]
    common = [(name, name) for name in after.generated if name in before.generated]
    if not common:
        raise UsageError(
            f"no generated corpus has the same name in {before.path} ({', '.join(before.generated)}) and "
            f"{after.path} ({', '.join(after.generated)})",
            hint="say which to compare: --corpus BEFORE=AFTER",
        )
    return common


def check_comparable(before: KeptRun, after: KeptRun) -> None:
    """Raise `UsageError` if no critic measures the same in both runs."""
    names = list(dict.fromkeys([*before.critics, *after.critics]))
    reasons = {name: incomparable(before, after, name) for name in names}
    if names and all(reasons.values()):
        listed = "; ".join(f"{name}: {why}" for name, why in reasons.items())
        raise UsageError(
            f"{after.path} cannot be compared with {before.path}: no critic measures the same in both ({listed})",
            hint=f"run `momus compare` again with --reuse {before.path} and the same --fit and --real",
        )


def _pair(before: KeptRun, after: KeptRun, pair: tuple[str, str], confidence: float, top: int) -> CorpusDiff:
    moves = moves_of(before, after, pair)
    reach = reaches([a.moves for a in moves.axes], confidence)
    changes = [_change(a, a.moves.interval(r)) for a, r in zip(moves.axes, reach, strict=True)]
    overall = None
    if moves.overall is not None:
        (alone,) = reaches([moves.overall.moves], confidence)
        overall = _change(moves.overall, moves.overall.moves.interval(alone))
    return CorpusDiff(
        *pair,
        tuple(sorted(changes, key=_size)),
        overall,
        moves.not_compared,
        tuple(outlier_changes(before, after, pair, [a.critic for a in moves.axes if not a.law], top)),
        moves.matched,
        moves.units,
    )


def _change(a: AxisMoves, interval: tuple[float, float]) -> AxisChange:
    return AxisChange(
        critic=a.critic,
        axis=a.axis,
        statistic=a.statistic,
        effect_kind=a.effect_kind,
        before=float(a.moves.distances[0]),
        after=float(a.moves.distances[1]),
        change=a.moves.change,
        low=interval[0],
        high=interval[1],
        band=a.band,
        n_real=a.documents[0],
        n_before=a.documents[1],
        n_after=a.documents[2],
        from_errors=a.from_errors,
    )


def _size(change: AxisChange) -> tuple[bool, float]:
    """Axes with a band first, the largest change in bands first."""
    bands = change.in_bands(change.change)
    return bands is None, -abs(change.change if bands is None else bands)
