"""Settings of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Annotated, Any

from momus.errors import UsageError
from momus.limits import MOST_PERMUTATIONS, MOST_RESAMPLES, MOST_SEED
from momus.parameters import Range, check_values
from momus.reading import ReadingOptions

ARGUMENTS = ("fit", "critics", "config", "out", "overwrite", "resume", "reading", "reuse", "jobs", "trust")
"""Arguments of `momus.compare` beside the settings."""


@dataclass(frozen=True)
class Settings:
    """Everything that a comparison depends on, apart from texts and critics.

    Attributes
    ----------
    permutations, resamples, confidence
        Usual number of relabellings of a row that may differ, resamples of bootstrap standard errors, and level of the
        intervals, see `momus.inference.compare_rows`.
    multiplicity
        Adjustment of p-values, see `momus.verdicts.table.adjust`: ``holm``, ``bh``, ``holm-table``, ``bh-table`` or
        ``none``.
    paired
        Whether to compare documents of one prompt with each other; None: see `momus.inference.design_of`.
    device
        Device of the critics that compute on one.
    top
        Number of outliers to show of each corpus.
    pairwise
        Whether to compare the generated corpora with each other too, by headline statistics.
    control_for
        Critics or metadata fields within bins of which every headline row is compared again.
    by
        Metadata fields in whose values, the slices, texts are compared again; ``auto`` for those that suit
        (`momus.joint.slices`).
    without
        Faults of documents that are set aside on both sides before anything is compared, such as ``broken-off``
        (critic ``faults``).
    register
        The row of the atlas of human bands that serves where real text has no groups (`momus.verdicts.band`); empty
        for the median over all.
    against, chain, folds
        Name of the model whose text is the reference, empty where that is real text. Whether the new texts are its
        later versions, in order. Folds of prompts that critics are then fitted on and score by in turn.
    better
        What is better than the text of the model ``against``, such as ``faults=fewer`` or ``length=nearer:human``
        (`momus.joint.better`).
    """

    seed: Annotated[int, Range(0, MOST_SEED)] = 0
    permutations: Annotated[int, Range(19, MOST_PERMUTATIONS)] = 9999
    resamples: Annotated[int, Range(0, MOST_RESAMPLES)] = 499
    confidence: Annotated[float, Range(0, 0.9999, above=True)] = 0.95
    multiplicity: str = "holm"
    paired: bool | None = None
    device: str = "auto"
    top: Annotated[int, Range(0)] = 5
    pairwise: bool = False
    control_for: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    better: tuple[str, ...] = ()
    register: str = ""
    against: str = ""
    chain: bool = False
    folds: Annotated[int, Range(2, 100)] = 4


def with_options(settings: Settings | None, options: dict[str, Any]) -> Settings:
    """Replace some fields of settings (None: the defaults), and check all of them.

    Raises
    ------
    UsageError
        There is no such field, or a value is of another type or out of range.

    >>> with_options(None, {"seed": 3}).seed
    3
    >>> with_options(None, {"control": "length"})
    Traceback (most recent call last):
    momus.errors.UsageError: compare: there is no argument 'control'
      → did you mean 'control_for'? Arguments: fit, critics, ...
    >>> with_options(None, {"permutations": 10**9})
    Traceback (most recent call last):
    momus.errors.UsageError: compare: permutations is 1000000000, expected a number of at least 19 and at most 1,000,000
      → correct permutations; it is 9999 by default
    """
    names = [field.name for field in fields(Settings)]
    known = [*ARGUMENTS, *names]
    for name in options:
        if name not in names:
            near = get_close_matches(name, known, n=1)
            guess = f"did you mean {near[0]!r}? " if near else ""
            if name in {field.name for field in fields(ReadingOptions)}:
                guess = f"write reading=ReadingOptions({name}=…). "
            raise UsageError(f"compare: there is no argument {name!r}", hint=f"{guess}Arguments: {', '.join(known)}")
    settings = replace(settings or Settings(), **options)
    check_values(Settings, vars(settings), "compare")
    return settings
