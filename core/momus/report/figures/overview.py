"""The overview: axes × corpora, a dot with its interval for each, on one scale of human bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from momus.report.answer import Answer
from momus.report.figures.overview_rows import Dot, overview_of
from momus.report.figures.palette import COLOURS, LABEL, Look, looks
from momus.report.figures.scale import GapScale
from momus.report.figures.style import plain
from momus.report.safe import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = 36
"""Names of axes are clipped to this many characters."""
SPREAD = 0.56
"""Part of a row's height that the dots of its corpora share."""


def overview(axes: Axes, answer: Answer, legend: bool = True) -> Axes:
    """Draw the overview of a comparison into matplotlib axes, and return them.

    One row per axis, the largest gap at the top; one dot with its interval per corpus, filled where the texts surely
    differ. 0 is as near as human text to itself, 1 as far as other human texts; gaps above 4 need a square-root scale.

    Parameters
    ----------
    axes
        Matplotlib axes; about 0.25 inch of height per row is enough.
    answer
        From `momus.report.answer.answer_of`.
    legend
        Whether to name the corpora; left out with a single one, whose name stands in the label of the scale.

    >>> from matplotlib.figure import Figure
    >>> from momus.report.answer import Answer
    >>> overview(Figure().add_subplot(), Answer((), ())).get_xlabel()
    'distance from human text (human bands)'
    """
    shown = overview_of(answer)
    scale = shown.scale
    corpora = looks(shown.corpora)
    # row i is at height −i, so that the first axis is at the top; its corpora share SPREAD around it
    heights = {critic: -i for i, (critic, _) in enumerate(shown.axes)}
    shifts = dict(zip(shown.corpora, np.linspace(SPREAD / 2, -SPREAD / 2, len(shown.corpora)), strict=True))
    if len(shown.corpora) == 1:
        shifts = dict.fromkeys(shown.corpora, 0.0)
    axes.axvspan(0, 1, color=COLOURS["band"], linewidth=0, zorder=0)
    axes.axvline(1, color=COLOURS["line"], linewidth=0.8, zorder=1)
    for dot in shown.dots:
        _draw(axes, dot, heights[dot.critic] + float(shifts[dot.generated]), corpora[dot.generated], scale)
    for (critic, name), why in shown.absent.items():
        axes.text(
            0.02,
            heights[critic] + float(shifts[name]),
            why,
            fontsize="xx-small",
            va="center",
            color=COLOURS["reference"],
        )
    frame(axes, [name for _, name in shown.axes], scale)
    single = f" of {clean(shown.corpora[0], LABEL)}" if len(shown.corpora) == 1 else ""
    axes.set_xlabel(f"distance{single} from human text (human bands){note(scale)}", loc="right")
    if legend and len(shown.corpora) > 1:
        for name, look in corpora.items():
            colour = COLOURS[look.colour]
            axes.plot([], [], marker=look.marker, linestyle="", color=colour, label=clean(name, LABEL), markersize=4)
        above(axes)
    return axes


def _draw(axes: Axes, dot: Dot, height: float, look: Look, scale: GapScale) -> None:
    """One dot with its interval; what lies beyond the scale is drawn at its end."""
    colour, filled = COLOURS[look.colour], dot.differs
    if dot.low is not None and dot.high is not None:
        axes.plot([dot.low, min(dot.high, scale.top)], [height, height], color=colour, linewidth=1.1, zorder=2)
    axes.plot(
        [min(dot.gap, scale.top)],
        [height],
        marker=look.marker,
        markersize=4,
        markerfacecolor=colour if filled else COLOURS["paper"],
        markeredgecolor=colour,
        markeredgewidth=1,
        linestyle="",
        zorder=3,
        clip_on=False,
    )


def frame(axes: Axes, names: list[str], scale: GapScale) -> None:
    """Rows named on the left, the lowest number on top, over a scale of human bands."""
    plain(axes)
    if scale.root:
        axes.set_xscale("function", functions=(lambda x: np.sqrt(np.maximum(x, 0)), np.square))
    axes.set_xlim(0, scale.top)
    axes.set_xticks(scale.ticks, [f"{t:g}" for t in scale.ticks], minor=False)
    axes.minorticks_off()
    axes.set_yticks([-i for i in range(len(names))], [clean(n, NAME) for n in names])
    axes.set_ylim(-len(names) + 0.4, 0.6)


def above(axes: Axes, columns: int = 4) -> None:
    """Put the legend above the axes, where it hides no dot; it may reach over the names on the left."""
    names = axes.get_legend_handles_labels()[1]
    legend = axes.legend(
        loc="lower right",
        bbox_to_anchor=(1, 1),
        ncols=min(len(names), columns),
        handletextpad=0,
        columnspacing=0.8,
        borderpad=0,
    )
    legend.set_in_layout(False)
    # an empty title keeps a line free for each row of the legend, whose width must not shrink the axes
    axes.set_title("\n".join(" " for _ in range(-(-len(names) // columns))))


def note(scale: GapScale) -> str:
    """What a label says of a scale that is not linear, on a second line."""
    return "\nsquare-root scale" if scale.root else ""
