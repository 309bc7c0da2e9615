"""Rows of documents with what ranks them as outliers: the critic's own measure of oddity, else Latent NLL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.critic import Critic
from momus.critic.hooks import AdvancedMixin
from momus.critic.powers import defines
from momus.critic.scores import outlying_values
from momus.errors import UsageError
from momus.numeric.types import Bools, Floats
from momus.runs.examples import unit_of
from momus.runs.folder import read_results
from momus.runs.kept import documents_table
from momus.runs.result import CriticResult, Results
from momus.verdicts.statistics import NLL, PPL

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["corpus", "id", "prompt", "group", "critic", "z", "nll", "states", "oddity"]
"""What is read of the rows of documents (`momus.runs.kept`)."""
ODDITIES = "oddities"
"""Key of the rows of a critic with several measures (`Reporting.oddities`)."""
DIGITS = 9
"""Values that agree in so many significant digits are equal: the rest is rounding."""


@dataclass(frozen=True, kw_only=True)
class OddDocument:
    """A document with its oddness under one critic.

    Attributes
    ----------
    value
        What ranks it; the larger, the odder.
    typical
        Median value of the real documents; None if there are none.
    unit
        Unit of both.
    """

    id: str
    critic: str
    value: float
    typical: float | None
    unit: str


@dataclass(frozen=True)
class Measure:
    """What ranks the documents of one critic as outliers.

    Attributes
    ----------
    sequence
        Whether its latents are sequences: Latent NLL then counts per step.
    has_oddity
        Whether the critic has its own measure of oddity (`AdvancedMixin.oddity`), which takes the place of Latent NLL.
    unit
        Unit of the values.
    """

    sequence: bool
    has_oddity: bool
    unit: str = ""

    @classmethod
    def of_class(cls, critic: type[Critic[Any]]) -> Measure:
        """The measure that a class of critics declares."""
        unit = unit_of(critic.sequence, critic.reporting.oddity_unit)
        return cls(critic.sequence, defines(critic, AdvancedMixin, "oddity"), unit)

    @classmethod
    def of_rows(cls, rows: pd.DataFrame, result: CriticResult) -> Measure:
        """The measure of the rows that a run keeps of a critic; those of sequences have a Latent PPL."""
        sequence = any(v.statistic == PPL.name for v in result.verdicts)
        return cls(sequence, bool(rows["oddity"].notna().any()), unit_of(sequence, result.oddity_unit))

    @property
    def two_sided(self) -> bool:
        """Whether documents that are too likely are odd too, as those are that repeat themselves.

        So it is for sequences, whose Latent NLL per step is neither large nor small in real text. A single value is at
        its likeliest where real documents are, and a critic's own measure of oddity says which end is odd.
        """
        return self.sequence and not self.has_oddity

    def values(self, rows: pd.DataFrame) -> Floats:
        """Values of documents from their columns nll, steps and oddity, NaN where unscored: float64 (n,).

        They have nine significant digits, so that rounding breaks no ties.
        """
        nll, steps = (rows[name].to_numpy(dtype=np.float64) for name in ("nll", "steps"))
        oddity = rows["oddity"].to_numpy(dtype=np.float64) if self.has_oddity else None
        # a document without a Latent NLL is unscored, whatever else is known of it
        return rounded(np.where(np.isnan(nll), np.nan, outlying_values(nll, steps, oddity, self.sequence)))

    @classmethod
    def columns(cls, name: str, critic: type[Critic[Any]]) -> dict[str, Measure]:
        """The measures of a class of critics by name: its own, and those that it declares (`Reporting.oddities`)."""
        return {name: cls.of_class(critic)} | {f"{name} ({of})": cls(False, True) for of in critic.reporting.oddities}


def rounded(values: Floats) -> Floats:
    """Values to nine significant digits.

    >>> rounded(np.array([0.1 + 0.2, 0.3, np.nan]))
    array([0.3, 0.3, nan])
    """
    return np.array([float(f"{v:.{DIGITS}g}") for v in values.tolist()], dtype=np.float64)


def median_of(values: Floats) -> float | None:
    """Median of the values that are not NaN; None if there are none."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


@dataclass(frozen=True)
class OutlierRows:
    """The documents of some critics and corpora of a run.

    Attributes
    ----------
    results
        What the run keeps of the critics.
    measures
        What ranks the documents, by critic.
    real, listed
        Name of the real corpus, and names of those whose outliers were asked for.
    frame
        One row per document and critic, with the `COLUMNS`, and value, NaN where unscored; ``steps`` is the number of
        scored steps.
    name
        The run folder; ``this run`` if it was not written.
    """

    results: Sequence[CriticResult]
    measures: Mapping[str, Measure]
    real: str
    listed: Sequence[str]
    frame: pd.DataFrame
    name: str

    def of_real(self, critic: str) -> Floats:
        """Values of the real documents under a critic, in ascending order."""
        return np.sort(self._scored(self.real, critic)["value"].to_numpy(dtype=np.float64))

    def ranked(self, corpus: str, critic: str) -> pd.DataFrame:
        """Rows of the documents that have a value, the oddest first and equal ones by id.

        The columns first and last are their ranks from 1; documents with equal values share them.
        """
        # ties by id, so that a listing does not depend on the order of the documents
        rows = self._scored(corpus, critic).sort_values(["value", "id"], ascending=[False, True], kind="stable")
        first, last = (rows["value"].rank(method=m, ascending=False).astype(int) for m in ("min", "max"))
        return rows.assign(first=first, last=last)

    def _scored(self, corpus: str, critic: str) -> pd.DataFrame:
        frame = self.frame
        return frame[(frame["corpus"] == corpus) & (frame["critic"] == critic) & frame["value"].notna()]

    def table(self, corpus: str) -> tuple[list[str], Floats]:
        """Ids of the documents of a corpus, and their values, NaN where unscored: float64 (n, critics)."""
        rows = self.frame[self.frame["corpus"] == corpus]
        ids = list(dict.fromkeys(rows["id"]))
        # by id, as critics may lack rows of some documents
        columns = [rows[rows["critic"] == r.name].set_index("id")["value"].reindex(ids) for r in self.results]
        return ids, np.column_stack([column.to_numpy(dtype=np.float64) for column in columns])

    def groups(self, corpus: str) -> list[str | None]:
        """The groups of the documents of `table`; empty if none has one."""
        groups = self.frame[self.frame["corpus"] == corpus].drop_duplicates("id")["group"].astype(object)
        return groups.where(groups.notna(), None).tolist() if groups.notna().any() else []


def outlier_rows(
    run: Results | str | Path,
    critics: Sequence[str] | None = None,
    corpus: str | None = None,
    documents_only: bool = False,
) -> OutlierRows:
    """Read the rows of a comparison or of a run folder.

    Parameters
    ----------
    critics
        Names of the critics; default: all.
    corpus
        Name of the corpus to list, which may be the real one; default: all generated ones.
    documents_only
        Leave out critics that judge other units than documents.

    Raises
    ------
    UsageError
        There is no such critic or corpus.
    StoreError
        The folder holds no run, or a file of it is missing or damaged.
    """
    comparison = run if isinstance(run, Results) else read_results(run)
    label = "this run" if comparison.folder is None else str(comparison.folder)
    results = {r.name: r for r in comparison.results}
    for critic in critics or ():
        _check_known(label, "critic", critic, list(results))
        if not _ranks(results[critic]):
            raise UsageError(
                f"critic {critic!r} compares texts as wholes, and ranks no documents", hint="name another critic"
            )
    chosen = [r for r in results.values() if _ranks(r)] if critics is None else [results[c] for c in critics]
    if documents_only:
        chosen = [r for r in chosen if r.verdicts and all(v.unit == "document" for v in r.verdicts)]
    roles = {c["name"]: c["role"] for c in comparison.signature["corpora"] if c["role"] != "fit"}
    real = next(name for name, role in roles.items() if role == "real")
    generated = [name for name, role in roles.items() if role == "generated"]
    if corpus is not None:
        _check_known(label, "corpus", corpus, list(roles))
    listed = generated if corpus is None else [corpus]
    table = documents_table(comparison, [r.name for r in chosen], [real, *listed]).select(COLUMNS)
    frame = table.to_pandas(categories=["corpus", "critic"]).rename(columns={"states": "steps"})
    frame["value"] = np.nan
    measures = {}
    for result in chosen:
        mine: Bools = (frame["critic"] == result.name).to_numpy()
        measure = measures[result.name] = Measure.of_rows(frame[mine], result)
        frame.loc[mine, "value"] = measure.values(frame[mine])
    return OutlierRows(chosen, measures, real, listed, frame, label)


def _ranks(result: CriticResult) -> bool:
    """Whether a critic ranks documents: by its own measure of oddity, or by Latent NLL if it has latents."""
    return bool(result.oddity_unit) or not result.verdicts or any(v.statistic == NLL.name for v in result.verdicts)


def _check_known(run: str, what: str, name: str, names: Sequence[str]) -> None:
    """Raise `UsageError` if a run has no critic or corpus of this name."""
    if name not in names:
        raise UsageError(f"{run} has no {what} {name!r}", hint=f"it has {', '.join(names)}")
