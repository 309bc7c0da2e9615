"""The figure of ranks: the mean distance of each corpus from human text, with its interval and P(nearest)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from momus.errors import UsageError
from momus.joint.ranks import ALL_AXES, Ranking, RankRow
from momus.report.figures.overview_rows import run_order
from momus.report.figures.palette import COLOURS, LABEL, looks
from momus.report.figures.style import plain
from momus.report.joint_words import chance
from momus.report.safe import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ranks_figure(axes: Axes, ranking: Ranking, of: str = ALL_AXES) -> Axes:
    """Draw the ranks of the corpora into matplotlib axes, and return them; the nearest corpus is at the top.

    Parameters
    ----------
    axes
        Matplotlib axes.
    ranking
        ``comparison.joint.ranking``.
    of
        Name of a critic; default: the mean over all axes.

    Raises
    ------
    UsageError
        There are no ranks over these axes.
    """
    rows = ranking.of(of)
    if not rows:
        why = ranking.excluded.get(of, "no axis has ranks")
        raise UsageError(f"there are no ranks over {of}: {why}", hint="the critics with ranks are in `ranking.rows`")
    corpora = looks(run_order(r.model for r in ranking.rows))
    for i, row in enumerate(rows):
        look = corpora[row.model]
        colour = COLOURS[look.colour]
        axes.plot([row.low, row.high], [-i, -i], color=colour, linewidth=1.4)
        axes.plot([row.distance], [-i], marker=look.marker, color=colour, markersize=5, linestyle="")
        axes.annotate(
            chance(row), (1, -i), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize="small", annotation_clip=False,
        )  # fmt: skip
    plain(axes)
    axes.set_xlim(left=min(0.0, min(r.low for r in rows)))
    axes.set_yticks([-i for i in range(len(rows))], [clean(r.model, LABEL) for r in rows])
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    unit = "human bands" if of == ALL_AXES else "units of the effect"
    axes.set_xlabel(f"{'mean ' if of == ALL_AXES else ''}distance from human text ({unit})", loc="right")
    axes.annotate(
        "P(nearest)", (1, 0.6), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
        fontsize="small", annotation_clip=False,
    )  # fmt: skip
    return axes


def rank_table(rows: Sequence[RankRow]) -> list[dict[str, object]]:
    """Ranks as rows of a table."""
    return [
        {
            "generated": r.model,
            "distance": r.distance,
            "low": r.low,
            "high": r.high,
            "rank_low": r.rank_low,
            "rank_high": r.rank_high,
            "p_nearest": r.p_nearest,
            "n": r.n,
            "n_real": r.n_real,
        }
        for r in rows
    ]
