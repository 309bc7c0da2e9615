"""Mergeable summaries in the records of parts: totals over the scored documents, from which evidence is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momus.critic import Counted, Pooled, Rows
from momus.files import plain


def rows_to_json(rows: Mapping[str, Rows], documents: int) -> dict[str, Any]:
    """Convert the summary that is the sum of some rows; counts of labelled items are left to be added up from these."""
    dense = {key: table for key, table in rows.items() if not isinstance(table, Counted)}
    content = summary_to_json(Pooled.of_rows(dense, documents), {})
    assert content is not None
    return {**content, "counts": {key: {"rows": key} for key in rows if key not in dense}}


def summary_to_json(summary: object, rows: Mapping[str, Rows]) -> dict[str, Any] | None:
    """Convert a summary; None if it is not `Pooled`, so that evidence is computed from documents that are read again.

    Counts that are sums of stored rows are named by the key of the rows, and are added up from these.
    """
    if type(summary) is not Pooled:
        return None
    totals = Pooled.of_rows({k: r for k, r in rows.items() if isinstance(r, Counted)}, 0).counts
    counts: dict[str, Any] = {}
    for name, table in summary.counts.items():
        same = next((key for key, total in totals.items() if total == table), None)
        if same is not None:
            counts[name] = {"rows": same}
        else:
            counts[name] = {"labels": [plain(k) for k in table], "values": list(map(float, table.values()))}
    arrays = {
        name: {"shape": list(np.shape(a)), "values": np.asarray(a, dtype=float).ravel().tolist()}
        for name, a in summary.arrays.items()
    }
    return {"documents": summary.documents, "arrays": arrays, "counts": counts}


def summary_from_json(content: Mapping[str, Any]) -> tuple[Pooled, dict[str, str]]:
    """Read a summary, and the keys of the rows that counts by these names are sums of."""
    arrays = {n: np.array(a["values"], dtype=float).reshape(a["shape"]) for n, a in content["arrays"].items()}
    counts = {
        name: dict(zip(c["labels"], c["values"], strict=True)) for name, c in content["counts"].items() if "labels" in c
    }
    from_rows = {name: str(c["rows"]) for name, c in content["counts"].items() if "rows" in c}
    return Pooled(int(content["documents"]), arrays, counts), from_rows
