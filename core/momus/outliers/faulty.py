"""The documents of a run that have a kind of fault, such as those that break off."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from momus.errors import UsageError
from momus.evidence import Table
from momus.outliers.rows import outlier_rows
from momus.runs.folder import read_results
from momus.runs.result import Results


@dataclass(frozen=True)
class FaultyDocuments:
    """The documents of one corpus that have a kind of fault.

    Attributes
    ----------
    ids
        Their ids, the least likely first.
    quotes
        What the fault says in some of them, by id.
    total
        Number of all scored documents of the corpus.
    """

    corpus: str
    fault: str
    clause: str
    ids: tuple[str, ...]
    quotes: dict[str, str]
    total: int


def faulty(run: Results | str | Path, fault: str, corpus: str | None = None) -> list[FaultyDocuments]:
    """List the documents of each generated corpus, or of one corpus, that have a fault.

    Parameters
    ----------
    run
        A comparison, or a run folder.
    fault
        Name of the kind of fault, such as ``broken-off``.

    Raises
    ------
    UsageError
        No critic of the run looked for faults, no document has this one, or there is no such corpus.
    """
    comparison = run if isinstance(run, Results) else read_results(run)
    told = [
        (result.name, name, f)
        for result in comparison.results
        for name, items in result.evidence
        for table in items
        if isinstance(table, Table)
        for f in table.faults
    ]
    known = list(dict.fromkeys(f.name for _, _, f in told))
    if fault not in known:
        near = difflib.get_close_matches(fault, known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"no document of this run has the fault {fault!r}",
            hint=f"{guess}its faults are {', '.join(known) or 'none: no critic looked for them'}",
        )
    critic, clause = next((c, f.clause) for c, _, f in told if f.name == fault)
    rows = outlier_rows(comparison, [critic], corpus)
    listed = []
    for name in rows.listed:
        ranked = rows.ranked(name, critic)
        has = [fault in str(z or "").split(" → ") for z in ranked["z"]]
        some = next((f for c, n, f in told if (c, n, f.name) == (critic, name, fault)), None)
        quotes = {} if some is None else dict(zip(some.ids, some.quotes, strict=True))
        listed.append(FaultyDocuments(name, fault, clause, tuple(ranked["id"][has]), quotes, len(ranked)))
    return listed
