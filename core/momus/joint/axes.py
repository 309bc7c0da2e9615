"""Axes and covariates: rows and values of the documents of each corpus, for analyses of several critics at once.

An axis has a figure: how the documents of each corpus spread over what it measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from momus.critic import Counted, Critic, Statistic
from momus.critic.hooks import row_unit
from momus.critic.powers import headline_of
from momus.critic.rows import aligned, place, same_entries
from momus.critic.scores import LATENT_NLL, LATENT_PPL, Scores
from momus.errors import UsageError
from momus.evidence import Axis, Chart, Series, Wording
from momus.inference.matching import design_of
from momus.inference.samples import Rows
from momus.numeric.types import Bools, Floats, Ints
from momus.text.corpus import Corpus
from momus.verdicts.statistics import NLL, PPL, all_statistics, shown_statistic

Column: TypeAlias = Floats | Sequence[str | None]
"""A covariate of each document, (n,): numbers (NaN: missing), or names (None: missing)."""


@dataclass(frozen=True)
class AxisRows:
    """The headline statistic of one critic, with one row per document of every corpus.

    Attributes
    ----------
    critic, name
        The critic, and what its axis is called.
    statistic
        The headline statistic, which pools the rows.
    rows
        By corpus, (n, V): dense, or CSR counts, with the same columns for all corpora; zero where a document is
        unscored.
    scored
        By corpus, bool (n,).
    values
        By corpus, (n,): one number per document, NaN where it is unscored. The value itself where each document has one
        (its length, its share of symbols); the mean where rows are [value, weight]; otherwise Latent NLL per step.
    per_step
        Whether the values are Latent NLL per step because documents have no value.
    """

    critic: str
    name: str
    statistic: Statistic
    rows: Mapping[str, Rows]
    scored: Mapping[str, Bools]
    values: Mapping[str, Floats]
    per_step: bool = False

    def sharing(self, axes: Iterable[AxisRows]) -> AxisRows:
        """The axis with the tables of the first of some axes that are equal, as where both count words."""
        for other in axes:
            if all(same_entries(rows, other.rows.get(name)) for name, rows in self.rows.items()):
                return replace(self, rows=other.rows)
        return self

    def take(self, samples: Mapping[str, Ints | None]) -> AxisRows:
        """Select documents of each corpus by number; None: all."""
        return self._changed(samples, lambda table, rows, name: table[rows])

    def placed(self, samples: Mapping[str, Ints | None], sizes: Mapping[str, int]) -> AxisRows:
        """Place documents of samples among all documents of their corpora; the others are unscored."""
        return self._changed(samples, lambda table, rows, name: _placed(table, rows, sizes[name]))

    def _changed(self, samples: Mapping[str, Ints | None], change: Callable[[Any, Ints, str], Any]) -> AxisRows:
        columns: dict[str, Any] = {
            column: {name: t[name] if rows is None else change(t[name], rows, name) for name, rows in samples.items()}
            for column, t in (("rows", self.rows), ("scored", self.scored), ("values", self.values))
        }
        return replace(self, **columns)


def _placed(table: Any, rows: Ints, n: int) -> Any:
    """Rows (0 for other documents), whether documents are scored (False), or values (NaN), among n documents."""
    if sparse.issparse(table):
        return place(Counted(sparse.csr_array(table), []), rows, n).matrix  # type: ignore[union-attr]
    # one-dimensional floats are values, where 0 would be a number and NaN is none
    whole = np.full((n, *table.shape[1:]), np.nan if table.dtype == np.float64 and table.ndim == 1 else 0, table.dtype)
    whole[rows] = table
    return whole


def axis_of(critic: Critic[Any], scored: Sequence[Scores], name: str = "") -> AxisRows | None:
    """Collect the headline rows of a critic from its scores of all corpora; None if its rows are not documents.

    ``name`` takes the rows of another statistic.
    """
    # other rows (blocks, sections) cannot be put beside those of another critic, document by document
    if row_unit(critic) != "document" or not scored:
        return None
    # a corpus without a scored document has no rows, and says nothing of the keys
    keys = next((list(s.rows) for s in scored if s.rows), [])
    wanted = name or headline_of(critic)
    statistic = next((s for s in all_statistics(critic, keys) if s.name == wanted), None)
    if statistic is None:  # `judge` refuses such a critic
        return None
    parts = [document_rows(s, statistic.rows) for s in scored]
    if any(p is None for p in parts):  # a corpus without a scored document
        return None
    counted = all(isinstance(p, Counted) for p in parts)
    rows = [c.matrix for c in aligned(parts)] if counted else [np.asarray(p, dtype=np.float64) for p in parts]
    values = [_values(s, p) for s, p in zip(scored, parts, strict=True)]  # (n,) each, or None
    # one kind of number for all corpora: they share a histogram and bins
    per_step = any(v is None for v in values)
    return AxisRows(
        critic.name,
        critic.axis,
        statistic,
        {s.corpus: r for s, r in zip(scored, rows, strict=True)},
        {s.corpus: s.scored for s in scored},
        {
            s.corpus: np.where(s.scored, s.per_step, np.nan) if per_step or v is None else v
            for s, v in zip(scored, values, strict=True)
        },
        per_step,
    )


def document_rows(scores: Scores, key: str) -> Any:
    """Rows of all documents under a key; Latent NLL and PPL have rows [nats, 1] and [nats, steps]."""
    if key in (LATENT_NLL, LATENT_PPL):
        # rows are summed, and a NaN of an unscored document would spread to all
        nll = np.where(scores.scored, scores.nll, 0.0)
        return np.column_stack([nll, scores.scored if key == LATENT_NLL else scores.steps]).astype(np.float64)
    return scores.rows.get(key)


def _values(scores: Scores, rows: Any) -> Floats | None:
    """One number per document; None where documents have none."""
    scored = scores.scored
    if isinstance(rows, Counted):
        labels, matrix = rows.labels, rows.matrix
        single = bool((np.diff(matrix.indptr)[scored] == 1).all())  # one stored entry in each scored row
        # the one label that each document has
        if single and isinstance(labels, np.ndarray) and np.issubdtype(labels.dtype, np.number):
            values = np.full(len(scores), np.nan)
            values[scored] = np.asarray(labels, dtype=np.float64)[sparse.csr_array(matrix[scored]).indices]
            return values
    elif rows.shape[1] == 2:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(scored, rows[:, 0] / rows[:, 1], np.nan))
    return None


def units_of(
    prompts: tuple[Sequence[str | None], Sequence[str | None]],
    groups: tuple[Sequence[str | None], Sequence[str | None]],
) -> tuple[Ints, Ints] | None:
    """Number the independent unit of each document: its group, else its prompt, else itself; None if all are single.

    >>> units_of((["a", "a", None], ["b"]), ([], []))
    (array([0, 0, 1]), array([0]))
    """
    # not paired: within bins, documents of a prompt are compared with others of their bin
    design = design_of(*prompts, paired=False, groups=groups)
    return None if design.kind == "documents" else design.unit_numbers


def covariate(name: str, axes: Sequence[AxisRows], real: Corpus, generated: Corpus) -> tuple[Column, Column]:
    """Find a covariate by the name of a critic of documents, else by that of a metadata field.

    Returns
    -------
    One number or name per document of both texts; NaN or None where it is missing.

    Raises
    ------
    UsageError
        No critic has the name, and no document of one of the texts the field.
    """
    for axis in axes:
        if axis.critic == name:
            return axis.values[real.name], axis.values[generated.name]
    sides = [corpus.field(name) for corpus in (real, generated)]
    for corpus, side in zip((real, generated), sides, strict=True):
        if all(value is None for value in side):
            known = ", ".join(axis.critic for axis in axes) or "none"
            raise UsageError(
                f"cannot adjust for {name!r}: no critic of documents has this name, and no document of "
                f"{corpus.name!r} has such a field",
                hint=f"critics of documents that run are: {known}; a metadata field must be read with both texts",
            )
    numbers = [_numbers(side) for side in sides]
    # numbers in both texts or names in both: bins of one kind
    if numbers[0] is not None and numbers[1] is not None:
        return numbers[0], numbers[1]
    return sides[0], sides[1]


def _numbers(side: Sequence[str | None]) -> Floats | None:
    """The values of a field as numbers, if all are."""
    try:
        return np.array([np.nan if value is None else float(value) for value in side])
    except ValueError:
        return None


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
    # rows are [value, weight], so that each document has a value
    valued = other is not None and all(table.ndim == 2 and table.shape[1] == 2 for table in other.rows.values())
    return other if other is not None and valued else axis


def distribution(critic: Critic[Any], axis: AxisRows, real: str) -> Chart | None:
    """Histograms of one number per document, over bins that all corpora share; None if the number never varies.

    >>> from momus.joint.axes import shares_of
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
