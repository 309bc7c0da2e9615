"""Graphs: nodes in order on a circle, arrows of a width proportional to their weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from momus.evidence import Graph
from momus.report.figures.palette import COLOURS, LABEL
from momus.report.safe import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_graph(axes: Axes, graph: Graph) -> None:
    """Draw a graph: an arrow's colour and dashes show the sign, its width the size; marked arrows show their weight."""
    from matplotlib.patches import FancyArrowPatch

    angles = np.pi / 2 - 2 * np.pi * np.arange(len(graph.nodes)) / max(len(graph.nodes), 1)
    positions = {name: (float(np.cos(a)), float(np.sin(a))) for name, a in zip(graph.nodes, angles, strict=True)}
    largest = max((abs(e.weight) for e in graph.edges), default=1.0) or 1.0
    for edge in graph.edges:
        start, end = positions[edge.source], positions[edge.target]
        colour = COLOURS["plus" if edge.weight > 0 else "minus"]
        width = 0.5 + 5 * abs(edge.weight) / largest
        style = "-" if edge.weight > 0 else (0, (4, 2))
        if edge.source == edge.target:  # a loop: from one side of the node around to the other
            x, y = start
            start, end = (x * 1.02 - 0.05 * y, y * 1.02 + 0.05 * x), (x * 1.02 + 0.05 * y, y * 1.02 - 0.05 * x)
            bend = "arc3,rad=-2.2"
        else:
            bend = "arc3,rad=0.18"
        arrow = FancyArrowPatch(
            start,
            end,
            connectionstyle=bend,
            arrowstyle="-|>",
            mutation_scale=8 + width,
            linewidth=width,
            linestyle=style,
            color=colour,
            alpha=0.75,
            shrinkA=9,
            shrinkB=9,
        )
        axes.add_patch(arrow)
        if edge.marked:
            x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
            axes.text(x, y, f"{edge.weight:+.2f}", fontsize=7, ha="center")
    for name, (x, y) in positions.items():
        axes.plot([x], [y], "o", color=COLOURS["ink"], markersize=5)
        side = "left" if x > 0.1 else ("right" if x < -0.1 else "center")
        axes.text(1.08 * x, 1.1 * y, clean(name, LABEL), ha=side, va="center", fontsize=9)
    axes.set_xlim(-1.7, 1.7)
    axes.set_ylim(-1.35, 1.35)
    axes.set_axis_off()
    axes.set_title(clean(graph.label, 120), fontsize=9, loc="left")
