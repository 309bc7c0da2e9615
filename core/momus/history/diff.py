"""Whether one run is further from human text than another, on which axes, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from momus.arguments import arg
from momus.errors import UsageError
from momus.history.change import RESAMPLES, reaches
from momus.history.kept import InputChange, KeptRun, changed_inputs, incomparable
from momus.history.moves import AxisChange, CorpusDiff, moves_of


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

    Raises
    ------
    StoreError
        A folder holds no finished run, or an older version of Momus wrote it.
    UsageError
        The runs have no generated corpora or no critics in common.
    """
    before = before if isinstance(before, KeptRun) else KeptRun.read(before)
    after = after if isinstance(after, KeptRun) else KeptRun.read(after)
    check_real(before, after)
    pairs = matching_corpora(before, after, corpora)
    check_comparable(before, after)
    # Bonferroni over pairs of corpora: their draws are not common
    level = 1 - (1 - after.confidence) / len(pairs)
    return RunDiff(
        str(before.path),
        str(after.path),
        tuple(_pair(before, after, pair, level) for pair in pairs),
        tuple(changed_inputs(before, after, tuple(pairs))),
        before.fingerprint("real") != after.fingerprint("real"),
        after.confidence,
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
            hint=f"pair them, as BEFORE=AFTER, in {arg('corpora')}",
        )
    return common


def check_real(*runs: KeptRun) -> None:
    """Raise `UsageError` if the reference of a run is text of a model: changes are in distance to real text."""
    for run in runs:
        if run.against:
            raise UsageError(
                f"{run.path}: its reference is text of a model ({run.reference}), and changes of runs are in distance "
                "to real text",
                hint="compare all versions at once, with `momus compare` and a chain of texts against the oldest",
            )


def check_comparable(before: KeptRun, after: KeptRun) -> None:
    """Raise `UsageError` if no critic measures the same in both runs."""
    names = list(dict.fromkeys([*before.critics, *after.critics]))
    reasons = {name: incomparable(before, after, name) for name in names}
    if names and all(reasons.values()):
        listed = "; ".join(f"{name}: {why}" for name, why in reasons.items())
        raise UsageError(
            f"{after.path} cannot be compared with {before.path}: no critic measures the same in both ({listed})",
            hint=f"run `momus compare` again on the same texts, reusing {before.path}",
        )


def _pair(before: KeptRun, after: KeptRun, pair: tuple[str, str], confidence: float) -> CorpusDiff:
    changes = moves_of(before, after, pair)
    reach = reaches([a.moves for a in changes.axes], confidence)
    axes = [a.within(r) for a, r in zip(changes.axes, reach, strict=True)]
    overall = changes.overall
    if overall is not None:
        overall = overall.within(reaches([overall.moves], confidence)[0])
    return replace(changes, axes=tuple(sorted(axes, key=_size)), overall=overall)


def _size(change: AxisChange) -> tuple[bool, float]:
    """Axes with a band first, the largest change in bands first."""
    return not change.band, -abs(change.change / (change.band or 1.0))
