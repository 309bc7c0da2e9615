"""Distributions of an axis: how the documents of each corpus spread over what the axis measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.evidence import Axis, Chart, Series, Wording
from momus.joint.axes import AxisRows, axis_of
from momus.numeric.types import Floats
from momus.verdicts.statistics import NLL, PPL, shown_statistic

if TYPE_CHECKING:
    from momus.critic import Critic
    from momus.critic.scores import Scores

NAME = "distribution"
BINS = 30
SHOWN = (0.01, 0.99)
"""Quantiles of all documents between which a distribution is drawn; the outer bins hold the rest."""


def shown_axis(critic: Critic[Any], scored: Sequence[Scores], axis: AxisRows, name: str = "") -> AxisRows:
    """The axis of a critic with the values of a statistic, where documents have them; otherwise as it is.

    ``name`` is the statistic; by default, the one that has a direction (`shown_statistic`).
    """
    wanted = name or shown_statistic(critic, list(scored[0].rows))
    if wanted in ("", axis.statistic.name):
        return axis
    other = axis_of(critic, scored, wanted)
    return other if other is not None and _one_each(other) else axis


def _one_each(axis: AxisRows) -> bool:
    """Whether rows are [value, weight], so that each document has a value."""
    return all(table.ndim == 2 and table.shape[1] == 2 for table in axis.rows.values())


def distribution(critic: Critic[Any], axis: AxisRows, real: str) -> Chart | None:
    """Histograms of one number per document, over bins that all corpora share; None if the number never varies.

    >>> from momus.joint.distribution import shares_of
    >>> shares_of(np.array([0.0, 0.4, 2.0]), np.array([0.0, 1.0, 2.0])).round(2).tolist()
    [0.67, 0.33]
    """
    finite = {name: v[np.isfinite(v)] for name, v in axis.values.items()}  # (scored documents,) by corpus
    pooled = np.concatenate(list(finite.values()))
    if not len(pooled) or not np.ptp(pooled):
        return None
    edges = bin_edges(pooled)
    words = _measured(critic, axis)
    unit = f" ({words.unit})" if words.unit else ""
    series = [
        Series(name, edges.tolist(), _heights(v, edges), "real" if name == real else "generated", "steps")
        for name, v in finite.items()
        if len(v)
    ]
    note = "The outermost bins hold all documents beyond them."
    return Chart(
        NAME, f"Documents by {words.label}", Axis(words.label + unit), Axis("share of documents"), series, note
    )


def _heights(values: Floats, edges: Floats) -> list[float]:
    """Height of the step that begins at each edge, (n + 1,): the share of its bin; the last edge ends the last bin."""
    shares = shares_of(values, edges).round(5).tolist()
    return [*shares, shares[-1]]


def bin_edges(pooled: Floats) -> Floats:
    """Edges of up to `BINS` bins; bins of whole numbers are as wide as whole numbers."""
    low, high = np.quantile(pooled, SHOWN)
    # nearly all values are one: the rare others are all that varies
    if low == high:
        low, high = float(pooled.min()), float(pooled.max())
    if np.array_equal(pooled, np.round(pooled)):
        width = max(1.0, float(np.ceil((high - low + 1) / BINS)))
        # edges between whole numbers, or bins would hold unequal numbers of them
        return np.asarray(np.arange(low - 0.5, high + 0.5 + width, width))
    return np.linspace(low, high, BINS + 1)


def shares_of(values: Floats, edges: Floats) -> Floats:
    """Share of the values in each bin; values beyond the outer edges count to the outermost bins."""
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)  # (bins,)
    return np.asarray(counts / len(values))


def _measured(critic: Critic[Any], axis: AxisRows) -> Wording:
    """What one number per document is called."""
    if axis.per_step or axis.statistic.name in (NLL.name, PPL.name):
        return Wording("Latent NLL", unit="nats per step" if critic.sequence else "nats")
    words = axis.statistic.wording
    return words if words.label else Wording(critic.axis, unit=words.unit)
