"""``momus outliers --fdr``: the documents of a run that are odder than its real ones, at a stated error rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.cli.outliers import chosen_corpora
from momus.errors import StoreError, UsageError
from momus.inference.conformal import Calibrated, fewest_chosen, largest_rank, order_of, q_values
from momus.numeric.types import Floats
from momus.report.format import number
from momus.report.safe import one_line
from momus.runs.folder import DOCUMENTS, RunFolder
from momus.runs.oddity import is_sequence, outlier_values, rounded, unit_of
from momus.runs.result import CriticResult
from momus.text.counting import counted

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Flagged:
    """A document that is chosen.

    Attributes
    ----------
    critic
        The critic under which it is oddest.
    small
        Whether its value there is odd because it is small: it is too likely.
    p, q
        Its conformal p-value over all critics, and the smallest false-discovery rate at which it is chosen.
    by_critic
        Its p-value under each critic alone.
    value, typical, unit
        Its value under the critic, the median of the real documents, and the unit of both.
    """

    id: str
    critic: str
    small: bool
    p: float
    q: float
    by_critic: dict[str, float]
    value: float
    typical: float
    unit: str


@dataclass(frozen=True)
class FlaggedCorpus:
    """The documents of one text that are chosen, the oddest first.

    Attributes
    ----------
    n
        Documents that some critic scored.
    fewest
        The smallest number that could have been chosen at all.
    """

    corpus: str
    n: int
    fewest: int
    fdr: float
    calibrating: int
    documents: tuple[Flagged, ...]


def flagged_documents(run: Path, fdr: float, critic: str | None, corpus: str | None = None) -> list[FlaggedCorpus]:
    """Choose the documents of each generated corpus, or of one corpus, by all critics or by one.

    Critics of blocks or prompts are left out.

    Raises
    ------
    UsageError
        The run has no such critic or corpus, or too few real documents.
    StoreError
        The table of documents is missing or damaged.
    """
    if not 0 < fdr < 1:
        raise UsageError(f"the false-discovery rate is {fdr}", hint="give a number between 0 and 1, such as 0.05")
    folder = RunFolder(run)
    record = folder.read_run()
    names = [c["name"] for c in record["critics"]]
    if critic is not None and critic not in names:
        raise UsageError(f"{run}: this run has no critic {critic!r}", hint=f"it has {', '.join(names)}")
    results = [r for r in folder.results(names if critic is None else [critic]) if _is_of_documents(r)]
    if not results:
        raise UsageError(f"{run}: no critic of this run judges documents", hint="choose another critic or run")
    real, listed = chosen_corpora(run, record, corpus)
    values, measured = _read(run, results, [real, *listed])
    ids, reference = values[real]
    # as `momus.outliers.filtering.is_two_sided`, of what the run keeps
    two_sided = [is_sequence(r.verdicts, r.name) and r.name not in measured for r in results]
    calibrated = Calibrated.of(reference, two_sided, order_of(ids))
    if len(calibrated) + 1 < 1 / fdr:
        raise UsageError(
            f"{len(ids):,} real documents are too few for a false-discovery rate of {fdr:g}: no p is small enough",
            hint=f"compare with at least {int(np.ceil(1.5 / fdr)):,} real documents, or pass a larger --fdr",
        )
    return [_chosen(name, *values[name], calibrated, results, reference, fdr) for name in listed]


def _is_of_documents(result: CriticResult) -> bool:
    return bool(result.verdicts) and result.verdicts[0].unit == "document"


def _read(
    run: Path, results: Sequence[CriticResult], corpora: Sequence[str]
) -> tuple[Mapping[str, tuple[list[str], Floats]], set[str]]:
    """By corpus, ids of the documents and what ranks them as outliers, NaN where unscored: (n, critics).

    Also the critics with a measure of oddity (`Critic.oddity`).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = [("critic", "in", [r.name for r in results]), ("corpus", "in", list(corpora))]
    try:
        has = set(pq.read_schema(run / DOCUMENTS).names)
        columns = [c for c in ("corpus", "id", "critic", "nll", "states", "oddity") if c in has]
        frame = pq.read_table(run / DOCUMENTS, columns=columns, filters=wanted).to_pandas()
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"{run / DOCUMENTS}: cannot be read ({str(error).splitlines()[0]})", hint="run `momus compare` again"
        ) from error
    values = {}
    for corpus in corpora:
        rows = frame[frame["corpus"] == corpus]
        ids = list(dict.fromkeys(rows["id"]))
        place = {id: i for i, id in enumerate(ids)}
        table = np.full((len(ids), len(results)), np.nan)
        for k, result in enumerate(results):
            of = rows[(rows["critic"] == result.name) & rows["nll"].notna()]
            sequence = is_sequence(result.verdicts, result.name)
            table[[place[id] for id in of["id"]], k] = rounded(outlier_values(of, sequence))
        values[corpus] = ids, table
    return values, set(frame["critic"][frame["oddity"].notna()]) if "oddity" in frame else set()


def _chosen(
    name: str,
    ids: Sequence[str],
    values: Floats,
    calibrated: Calibrated,
    results: Sequence[CriticResult],
    real: Floats,
    fdr: float,
) -> FlaggedCorpus:
    judged, n = calibrated.judge(values), len(calibrated)
    counts = np.bincount(judged.ranks, minlength=n + 2)
    p, each, q = judged.ranks / (n + 1), judged.by_critic / (n + 1), q_values(counts, n)[judged.ranks]
    chosen = np.flatnonzero(judged.ranks <= largest_rank(counts, n, fdr))
    documents = []
    for i in sorted(chosen.tolist(), key=lambda i: (-judged.surprise[i], ids[i])):
        k = int(judged.critic[i])
        of_real = real[:, k][~np.isnan(real[:, k])]
        documents.append(
            Flagged(
                ids[i],
                results[k].name,
                bool(judged.small[i]),
                float(p[i]),
                float(q[i]),
                {r.name: float(v) for r, v in zip(results, each[i], strict=True)},
                float(values[i, k]),
                float(np.median(of_real)),
                unit_of(is_sequence(results[k].verdicts, results[k].name), results[k].oddity_unit),
            )
        )
    return FlaggedCorpus(name, len(ids), fewest_chosen(len(ids), n, fdr), fdr, n, tuple(documents))


def flagged_json(found: Sequence[FlaggedCorpus]) -> list[dict[str, Any]]:
    """Chosen documents as plain lists, strings and numbers."""
    return [asdict(c) for c in found]


def flagged_view(found: Sequence[FlaggedCorpus], top: int) -> RenderableType:
    """Build a list of the chosen documents by corpus: p, the critic, and their value beside that of real text."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for c in found:
        parts.append(Text(f"{one_line(c.corpus)}: {_head(c)}", style="bold"))
        for d in c.documents[:top]:
            line = Text(f"  {one_line(d.id)}", style="bold")
            end = "too likely" if d.small else "odd"
            line.append(f"  p {d.p:.2g}, {end} by {one_line(d.critic)}: ", style="not bold")
            line.append(f"{number(d.value)} {one_line(d.unit)}, real text {number(d.typical)}", style="not bold")
            parts.append(line)
        more = len(c.documents) - top
        parts += [Text(f"  and {more:,} more; --top lists them", style="dim")] if more > 0 else []
        parts.append(Text(""))
    parts.append(
        Text(
            "p: share of the real documents that are as odd under any of the critics. Of the documents listed for a "
            "text, an expected share of at most the false-discovery rate are as real as the real text.",
            style="dim",
        )
    )
    return Group(*parts)


def _head(c: FlaggedCorpus) -> str:
    of = counted(c.n, "document")
    if c.documents:
        return f"{len(c.documents):,} of {of} are odder than real text (false-discovery rate {c.fdr:g})"
    return (
        f"none of {of} is odd enough; at a false-discovery rate of {c.fdr:g} and with {c.calibrating:,} real documents "
        f"to calibrate, at least {c.fewest:,} must be"
    )
