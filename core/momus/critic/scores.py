"""Scores: one row per document, with its Latent NLL or the reason why it is unscored."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from momus.critic.powers import PARTS
from momus.critic.rows import Rows, Summary, place, stack, take_rows
from momus.numeric.types import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

LATENT_NLL, LATENT_PPL, AGGREGATED = "latent_nll", "latent_ppl", "aggregated_posterior"
"""Keys of the rows that are tested for every critic, in addition to its sufficient statistics."""
ARRAYS = ("nll", "steps", "errors", "oddity", "parts")
LISTS = ("ids", "prompts", "reasons", "groups")
"""Attributes of `Scores` with one element per document."""


@dataclass(frozen=True)
class LogPrior:
    """Expected log prior of the latents of a batch of n documents.

    Attributes
    ----------
    values
        float array (n,): E_{z ~ P_c(z|x)} log P_c(z), in nats.
    steps
        int array (n,): M, the number of scored steps (1 if z is one value or one vector). A document with M = 0 is
        unscored; the reason is `Reporting.stepless`.
    errors
        float array (n,), or None: Monte-Carlo standard error of ``values``.
    """

    values: NDArray[np.floating]
    steps: NDArray[np.integer]
    errors: NDArray[np.floating] | None = None

    @classmethod
    def of_vectors(cls, values: NDArray[np.floating]) -> LogPrior:
        """Log prior of latents that are one value or vector per document: M = 1 everywhere."""
        values = np.asarray(values)
        if values.dtype.kind in "biuf":  # anything else is refused by name where it is scored, and not cast
            values = values.astype(np.float64)
        return cls(values, np.ones(len(values), dtype=np.int64))


def outlying_values(nll: Floats, steps: NDArray[Any], oddity: Floats | None, per_step: bool) -> Floats:
    """What ranks documents as outliers, float array (n,): the critic's own measure, else Latent NLL (per step).

    >>> outlying_values(np.array([6.0, np.nan]), np.array([3, 0]), None, True).tolist()
    [2.0, nan]
    """
    if oddity is not None:
        return oddity
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(nll / steps) if per_step else nll


@dataclass(frozen=True)
class Scores:
    """Scores of one corpus under one critic, one row per id, in the order of the corpus.

    Attributes
    ----------
    critic, corpus
        Names of both.
    ids, prompts
        Document id and prompt id of each row.
    nll
        float64 array (n,): Latent NLL of each document in nats, NaN where unscored.
    steps
        int64 array (n,): number of scored steps, 0 where unscored.
    reasons
        Why each document is unscored, None where it is scored.
    rows
        Per-document sufficient statistics, by name (all zero where unscored).
    summary
        The critic's summary of all scored documents.
    errors
        float64 array (n,), or None: Monte-Carlo standard error of ``nll``.
    groups
        Group of each row (its author, novel, site …); empty if no document has one.
    z
        Latents of each row in a few words (`shown_latents`), null where unscored; None for latents without words.
    oddity
        float64 array (n,), NaN where unscored: what ranks the outliers (`AdvancedMixin.oddity`); None: Latent NLL does.
    parts
        float64 array (n, 4), NaN where unscored: the parts of log P(x) (`momus.critic.powers.PARTS`); None if
        the critic does not decompose it.
    """

    critic: str
    corpus: str
    ids: Sequence[str]
    prompts: Sequence[str | None]
    nll: Floats
    steps: Ints
    reasons: Sequence[str | None]
    rows: Mapping[str, Rows] = field(default_factory=dict)
    summary: Summary | None = None
    errors: Floats | None = None
    groups: Sequence[str | None] = ()
    z: pa.Array | None = None
    oddity: Floats | None = None
    parts: Floats | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def scored(self) -> Bools:
        """bool array (n,): which documents are scored."""
        return np.isfinite(self.nll)

    @property
    def scored_prompts(self) -> list[str | None]:
        """The prompt id of each scored document."""
        return list(compress(self.prompts, self.scored.tolist()))

    @property
    def scored_groups(self) -> list[str | None]:
        """The group of each scored document; empty if no document has one."""
        return list(compress(self.groups, self.scored.tolist()))

    @property
    def n_scored(self) -> int:
        """Number of scored documents."""
        return int(self.scored.sum())

    @property
    def unscored(self) -> dict[str, int]:
        """Number of unscored documents by reason, the most frequent first."""
        return dict(Counter(r for r in self.reasons if r is not None).most_common())

    @property
    def latent_nll(self) -> float:
        """Mean over scored documents in nats, NaN if there are none: T_c(P_x) of Deng et al. 2022, section 2."""
        return float(self.nll[self.scored].mean()) if self.n_scored else float("nan")

    @property
    def latent_ppl(self) -> float:
        """Exponential of total Latent NLL over total steps: a ratio of totals, not a mean of ratios."""
        mask = self.scored
        return float(np.exp(self.nll[mask].sum() / self.steps[mask].sum())) if self.n_scored else float("nan")

    @property
    def per_step(self) -> Floats:
        """float array (n,): Latent NLL per step, which ranks the outliers of sequence critics."""
        return outlying_values(self.nll, self.steps, None, True)

    def outlying(self, per_step: bool) -> Floats:
        """What ranks the outliers, float array (n,): `oddity` if the critic has one, else Latent NLL (per step)."""
        return outlying_values(self.nll, self.steps, self.oddity, per_step)

    def ranked(self, per_step: bool, top: int | None = None) -> Ints:
        """Row numbers of the ``top`` (default: all) scored documents that are oddest, in order (ties by id)."""
        return extreme_rows(self.outlying(per_step), np.flatnonzero(self.scored), self.ids, top)

    def take(self, rows: Ints, corpus: str | None = None) -> Scores:
        """Select rows by number, without scoring again; the result has no summary.

        >>> rows = np.array([1.0, 2.0])
        >>> whole = Scores("c", "x", ["a", "b"], [None] * 2, rows, np.ones(2, int), [None] * 2)
        >>> whole.take(np.array([1])).ids
        ['b']
        """
        arrays: dict[str, Any] = {name: values[rows] for name in ARRAYS if (values := getattr(self, name)) is not None}
        lists: dict[str, Any] = {name: [values[i] for i in rows] for name in LISTS if (values := getattr(self, name))}
        tables = {key: take_rows(values, rows) for key, values in self.rows.items()}
        z = None if self.z is None else self.z.take(pa.array(rows))
        return replace(self, corpus=corpus or self.corpus, **arrays, **lists, rows=tables, z=z, summary=None)

    def table(self) -> pa.Table:
        """Convert to an Arrow table.

        Its columns are corpus, id, critic, nll, states (the number of scored steps), reason, prompt, group, z, oddity,
        and the parts of log P(x) beside −nll: log_likelihood, entropy and log_evidence.
        """
        n, no_texts = len(self), pa.nulls(len(self), pa.string())
        # float columns, null where there is no number
        numbers = {"nll": self.nll, "oddity": self.oddity}
        numbers |= {name: None if self.parts is None else self.parts[:, i] for i, name in enumerate(PARTS) if i > 0}
        columns = {
            name: pa.nulls(n, pa.float64()) if x is None else pa.array(np.ascontiguousarray(x), mask=~np.isfinite(x))
            for name, x in numbers.items()
        }
        return pa.table(
            {
                "corpus": pa.array([self.corpus] * n, pa.string()),
                "id": pa.array(list(self.ids), pa.string()),
                "critic": pa.array([self.critic] * n, pa.string()),
                "nll": columns.pop("nll"),
                "states": pa.array(self.steps, pa.int64()),
                "reason": pa.array(list(self.reasons), pa.string()),
                "prompt": pa.array(list(self.prompts), pa.string()),
                "group": pa.array(list(self.groups), pa.string()) if self.groups else no_texts,
                "z": no_texts if self.z is None else self.z,
                **columns,
            }
        )

    def frame(self) -> pd.DataFrame:
        """Convert to a pandas data frame with the columns of `table`."""
        return self.table().to_pandas()

    def test_rows(self) -> dict[str, Rows]:
        """Rows of the scored documents, by key, that the tests pool: Latent NLL and PPL, and the critic's own."""
        scored = np.flatnonzero(self.scored)
        nll = self.nll[scored]
        return {
            LATENT_NLL: np.column_stack([nll, np.ones(len(scored))]),
            LATENT_PPL: np.column_stack([nll, self.steps[scored]]),
            **{key: take_rows(rows, scored) if len(scored) < len(self) else rows for key, rows in self.rows.items()},
        }


def joined(batches: Sequence[Scores]) -> Scores:
    """Scores of the documents of all batches, in order; summaries are added up.

    A batch without a scored document has no rows: it gets rows of zeros.
    """

    def column(name: str) -> Any:
        known = [getattr(batch, name) for batch in batches]
        shape = next((values.shape[1:] for values in known if values is not None), None)
        if shape is None:
            return None
        nan = (np.full((len(batch), *shape), np.nan) for batch in batches)
        return np.concatenate([no if values is None else values for values, no in zip(known, nan, strict=True)])

    def rows(key: str) -> Rows:
        none = np.zeros(0, dtype=np.int64)
        columns = take_rows(next(batch.rows[key] for batch in batches if key in batch.rows), none)
        return stack([batch.rows[key] if key in batch.rows else place(columns, none, len(batch)) for batch in batches])

    summaries = [batch.summary for batch in batches if batch.summary is not None]
    words = [pa.nulls(len(batch), pa.string()) if batch.z is None else batch.z for batch in batches]
    grouped = any(batch.groups for batch in batches)
    texts: dict[str, Any] = {
        name: [x for batch in batches for x in getattr(batch, name)] for name in ("ids", "prompts", "reasons")
    }
    return Scores(
        batches[0].critic,
        batches[0].corpus,
        **texts,
        **{name: column(name) for name in ARRAYS},
        groups=[g for batch in batches for g in (batch.groups or [None] * len(batch))] if grouped else (),
        rows={key: rows(key) for key in next((list(batch.rows) for batch in batches if batch.rows), [])},
        summary=functools.reduce(operator.add, summaries) if summaries else None,
        z=None if all(batch.z is None for batch in batches) else pa.concat_arrays(words),
    )


def extreme_rows(values: Floats, rows: Ints, ids: Sequence[str], top: int | None = None) -> Ints:
    """The ``top`` of some rows with the largest values, the largest first; ties by id, NaN last.

    >>> extreme_rows(np.array([1.0, 3.0, 2.0, 3.0]), np.arange(4), ["a", "c", "x", "b"], 3).tolist()
    [3, 1, 2]
    """
    if top is not None and top < len(rows):
        if top < 1:
            return rows[:0]
        # only rows as large as the last one chosen are sorted
        known = np.where(np.isnan(values[rows]), -np.inf, values[rows])
        rows = rows[known >= np.partition(known, len(rows) - top)[len(rows) - top]]
    order = np.lexsort((np.array([ids[int(i)] for i in rows], dtype=object), -values[rows]))
    ranked: Ints = rows[order][:top]
    return ranked
