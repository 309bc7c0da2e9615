"""Analyses of all axes of a run at once: ranks, adjustment, slices, wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from momus.against.versions import Nearer
from momus.files import plain
from momus.joint.adjusted import AdjustedRow, adjusted_verdicts
from momus.joint.axes import AxisRows
from momus.joint.partners import Win
from momus.joint.ranks import Ranking, ranks
from momus.joint.slices import Slices
from momus.progress import Timed
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Joint:
    """Results of the analyses of all axes at once; critics of running text take no part.

    Attributes
    ----------
    ranking
        Ranks of the generated corpora by their distance from real text; None with fewer than two.
    adjusted
        Headline rows within bins of the covariates that were asked for (``control_for``).
    slices
        Differences in slices (``by``), of all critics.
    wins
        Shares of prompts on which a statistic is larger in the generated text.
    nearer
        Which of two models is nearer to real text, where one is the reference and real text is given too.
    """

    ranking: Ranking | None = None
    adjusted: tuple[AdjustedRow, ...] = ()
    nearer: tuple[Nearer, ...] = ()
    slices: tuple[Slices, ...] = ()
    wins: tuple[Win, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Convert to plain lists, strings and numbers; numbers that do not exist are null."""
        content: dict[str, Any] = plain(asdict(self))
        return content


def analyse(
    axes: Sequence[AxisRows],
    verdicts: Sequence[Verdict],
    real: Corpus,
    generated: Sequence[Corpus],
    settings: Settings,
    timed: Timed,
    pool: Executor | None = None,
) -> Joint:
    """Analyse the headline rows of all critics of documents together, in the processes of a pool if there is one.

    Raises
    ------
    UsageError
        A covariate is neither a critic of the run nor a metadata field.
    """
    if not axes:
        return Joint()
    with timed.stage("all axes", "covariates"):
        adjusted = (
            adjusted_verdicts(axes, settings.control_for, real, generated, settings) if settings.control_for else []
        )
    ranking = None
    if len(generated) > 1:
        task = _ranking(axes, verdicts, [real, *generated], settings)
        # a task of names and arrays only: it must be pickled for another process
        begun = None if pool is None else pool.submit(task)
        with timed.stage("all axes", "ranks"):
            ranking = task() if begun is None else begun.result()
    return Joint(ranking, tuple(adjusted))


def _ranking(
    axes: Sequence[AxisRows], verdicts: Sequence[Verdict], corpora: Sequence[Corpus], settings: Settings
) -> Callable[[], Ranking]:
    """The task of ranking all corpora after the first by their distance from it."""
    of_row = {(v.critic, v.generated): v.band or 0.0 for v in verdicts if v.headline}
    names = [c.name for c in corpora]
    return partial(
        ranks,
        axes,
        names[0],
        names[1:],
        {c.name: c.prompts for c in corpora},
        {c.name: c.groups for c in corpora},
        {axis.critic: [of_row.get((axis.critic, name), 0.0) for name in names[1:]] for axis in axes},
        settings.confidence,
        seed=settings.seed,
    )
