"""Analyses of all axes at once: ranks of generated corpora by their distance to the real one, on each and over all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from momus.against.versions import Nearer
from momus.files import plain
from momus.inference.matching import Names, pools_of
from momus.inference.ranking import Distances, Ranks, average, nearest_on_average, ranked
from momus.joint.adjusted import AdjustedRow, adjusted_verdicts
from momus.joint.axes import AxisRows
from momus.joint.dependence import Dependence
from momus.joint.partners import Win
from momus.joint.replicates import Replicates
from momus.joint.slices import Slices
from momus.numeric.types import Ints
from momus.progress import Timed
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.verdict import Verdict

ALL_AXES = "all axes"


@dataclass(frozen=True)
class RankRow:
    """One model on one axis, or over all axes.

    Attributes
    ----------
    axis, name
        The critic and what its axis is called; `ALL_AXES` for the mean over axes.
    distance, low, high
        |effect| against the real text, in units of the effect (distances as verdicts estimate them); over all axes,
        the mean of distance ÷ band without what chance adds to sizes. With the interval of this number by itself.
    rank_low, rank_high
        Interval of the rank; simultaneous over the models of the row's axis.
    p_nearest
        Share of the bootstrap replicates in which this model is nearest.
    tied
        Models whose order with this one is not sure.
    n, n_real, units
        Documents of the model and of the real text that take part, and units of the smallest pool that is resampled.
        Over all axes: those of the axis with the fewest.
    apart
        Standard error of its distance less that of the first model.
    """

    axis: str
    name: str
    model: str
    distance: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    p_nearest: float
    tied: tuple[str, ...]
    n: int
    n_real: int
    units: int
    apart: float = 0.0


@dataclass(frozen=True)
class Ranking:
    """Ranks of models; ``excluded`` says by critic why its axis has no ranks, or does not count over all axes."""

    rows: Sequence[RankRow]
    excluded: Mapping[str, str]
    confidence: float
    resamples: int
    matched: bool

    @property
    def counted(self) -> int:
        """Number of axes whose mean is the distance over all axes."""
        return len({r.axis for r in self.rows} - {ALL_AXES} - set(self.excluded))

    def of(self, axis: str) -> list[RankRow]:
        """Rows of one axis, nearest first."""
        return sorted((r for r in self.rows if r.axis == axis), key=lambda r: r.distance)


def ranks(
    axes: Sequence[AxisRows],
    real: str,
    models: Sequence[str],
    prompts: Mapping[str, Names],
    groups: Mapping[str, Names] | None = None,
    bands: Mapping[str, float | Sequence[float]] | None = None,
    confidence: float = 0.95,
    resamples: int = 999,
    seed: int = 0,
) -> Ranking:
    """Rank generated corpora by their distance to the real one.

    Prompts (groups, documents) are resampled once for all corpora that have them, so the real text is the same for all
    models in each replicate. If all corpora answer the same prompts, models are compared on these, and each prompt has
    the same weight in each corpus; otherwise all scored documents take part, with equal weights.

    Parameters
    ----------
    axes
        Axes of critics with one row per document.
    real, models
        Names of the corpora, as in the axes.
    prompts, groups
        By corpus, the prompt and the group of each document, or None.
    bands
        By critic, the human band in units of the effect, of all models or of each; axes without one do not count over
        all axes.

    >>> from momus.critic.statistic import Statistic, mean
    >>> rng, ones = np.random.default_rng(0), np.ones(50, dtype=bool)
    >>> x = {name: rng.normal(size=50) + shift for name, shift in {"real": 0, "near": 0.1, "far": 2}.items()}
    >>> rows = {k: np.column_stack([v, ones]) for k, v in x.items()}
    >>> statistic = Statistic("mean", "x", "value", mean, effect="hedges_g")
    >>> axis = AxisRows("a", "axis", statistic, rows, {k: ones for k in x}, x)
    >>> ids = [str(i) for i in range(50)]
    >>> ranking = ranks([axis], "real", ["far", "near"], {k: ids for k in x}, bands={"a": 0.2})
    >>> [(r.model, r.rank_low, r.rank_high) for r in ranking.of("all axes")]
    [('near', 1, 1), ('far', 2, 2)]
    """
    bands = bands or {}
    corpora = [real, *models]
    # units over all corpora, not pair by pair: the errors of two distances to one real text are correlated
    pools = pools_of({c: prompts[c] for c in corpora}, {c: groups[c] for c in corpora} if groups else None)
    freedom = float(max(min(pools.sizes) - 1, 1))  # of the smallest pool, which has the largest error
    excluded: dict[str, str] = {}
    bootstraps: dict[str, Replicates] = {}
    for axis in axes:
        try:
            bootstraps[axis.critic] = Replicates(axis, corpora, pools, prompts, groups or {}, seed)
        except ValueError as error:
            excluded[axis.critic] = str(error)
    # draws outside and axes inside: every axis sees the same resample, as means over axes need
    for drawn in pools.multiplicities(resamples, seed):
        for bootstrap in bootstraps.values():
            bootstrap.add(drawn)
    units = int(min(pools.sizes))
    rows: list[RankRow] = []
    by_critic: dict[str, Distances] = {}
    for critic, bootstrap in bootstraps.items():
        distances = bootstrap.distances(freedom)
        # dropping single resamples would leave the axes with different draws
        if not np.isfinite(distances.deviations).all():
            excluded[critic] = "its statistic does not exist for some resamples"
            continue
        by_critic[critic] = distances
        sizes = bootstrap.documents
        ranked_here = ranked(distances, confidence)
        rows += _rows(critic, bootstrap.axis.name, models, distances, ranked_here, sizes, units, confidence)
        # its rows stay; only the mean over axes needs a common unit
        if not np.min(bands.get(critic, 0.0)) > 0:
            excluded[critic] = f"it has no band, so it does not count over {ALL_AXES}"
    counted = [critic for critic in by_critic if critic not in excluded]
    if counted:
        # Hedges' g has another unit for each model, and so have their bands: (axes, models)
        parts, of = [by_critic[c] for c in counted], np.array([np.broadcast_to(bands[c], len(models)) for c in counted])
        distances = average(parts, of)
        # errors of |effect| may be one-sided (`Distances.errors`), so who is nearest is counted among plain replicates
        overall = replace(ranked(distances, confidence), nearest=nearest_on_average(parts, of))
        sizes = np.min([bootstraps[c].documents for c in counted], axis=0)  # (1 + models,)
        rows += _rows(ALL_AXES, ALL_AXES, models, distances, overall, sizes, units, confidence)
    return Ranking(rows, excluded, confidence, resamples, pools.matched)


def _rows(
    axis: str,
    name: str,
    models: Sequence[str],
    distances: Distances,
    order: Ranks,
    sizes: Ints,
    units: int,
    confidence: float,
) -> list[RankRow]:
    low, high = distances.intervals(confidence)  # (models,) each
    values, errors = distances.shown, distances.errors  # (models,), (B, models)
    return [
        RankRow(
            axis=axis,
            name=name,
            model=model,
            distance=float(values[k]),
            low=float(low[k]),
            high=float(high[k]),
            rank_low=int(order.low[k]),
            rank_high=int(order.high[k]),
            p_nearest=float(order.nearest[k]),
            tied=tuple(m for j, m in enumerate(models) if j != k and not (order.nearer[k, j] or order.nearer[j, k])),
            n=int(sizes[1 + k]),
            n_real=int(sizes[0]),
            units=units,
            apart=float((errors[:, k] - errors[:, 0]).std()),
        )
        for k, model in enumerate(models)
    ]


@dataclass(frozen=True)
class Joint:
    """Results of the analyses of all axes at once; critics of running text are left out.

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
    nearer, nearer_in_slices
        Which of two models is nearer to real text, where one is the reference and real text is given too.
    dependences
        Differences that go with broken documents, or that one document carries.
    """

    ranking: Ranking | None = None
    adjusted: tuple[AdjustedRow, ...] = ()
    nearer: tuple[Nearer, ...] = ()
    nearer_in_slices: tuple[Nearer, ...] = ()
    slices: tuple[Slices, ...] = ()
    wins: tuple[Win, ...] = ()
    dependences: tuple[Dependence, ...] = ()

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
