"""Scores of the real text on disk, with their rows, so that another run can be compared without scoring it again.

Summaries of running text are not kept: they are the text itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
import pyarrow as pa
from scipy import sparse

from momus.critic import Counted, Pooled
from momus.critic.rows import Rows
from momus.critic.scores import Scores
from momus.errors import StoreError
from momus.files import write_json
from momus.outputs import delete, make_folder, replacing
from momus.runs.manifest import AGAIN
from momus.runs.record import Count
from momus.schema import read_json

JSON_NAME, ARRAYS_NAME = "real.json", "real.safetensors"


class _Rows(TypedDict):
    """A table of rows, whose numbers are arrays: dense, or counts of items that are numbers or words."""

    kind: Literal["dense", "numbers", "words"]
    shape: NotRequired[tuple[Count, Count]]
    labels: NotRequired[list[str]]


class _Summary(TypedDict):
    """A summary, whose arrays are kept apart; labels of counts are plain values."""

    documents: Count
    arrays: list[str]
    counts: dict[str, list[tuple[str | int | float | bool, float]]]


class _Kept(TypedDict):
    """The content of ``real.json``."""

    critic: str
    corpus: str
    ids: list[str]
    prompts: list[str | None]
    reasons: list[str | None]
    groups: list[str | None]
    z: list[str | None] | None
    rows: dict[str, _Rows]
    summary: _Summary | None


def write_scores(scores: Scores, folder: Path) -> bool:
    """Write scores into the folder of a critic; False (and nothing is kept) if their summary is of another kind."""
    from safetensors.numpy import save_file

    delete(folder / JSON_NAME, folder / ARRAYS_NAME)
    if not (scores.summary is None or type(scores.summary) is Pooled):
        return False
    arrays: dict[str, np.ndarray[Any, Any]] = {"nll": scores.nll, "steps": scores.steps}
    if scores.errors is not None:
        arrays["errors"] = scores.errors
    if scores.oddity is not None:
        arrays["oddity"] = scores.oddity
    if scores.parts is not None:
        arrays["parts"] = scores.parts
    content = {
        "critic": scores.critic,
        "corpus": scores.corpus,
        "ids": list(scores.ids),
        "prompts": list(scores.prompts),
        "reasons": list(scores.reasons),
        "groups": list(scores.groups),
        "z": None if scores.z is None else scores.z.to_pylist(),
        "rows": {key: _packed(rows, f"rows.{key}", arrays) for key, rows in scores.rows.items()},
        "summary": None if scores.summary is None else _summary(scores.summary, arrays),
    }
    make_folder(folder)
    with replacing(folder / ARRAYS_NAME) as temporary:
        save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, temporary)
    write_json(folder / JSON_NAME, content)
    return True


def _packed(rows: Rows, key: str, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    """The JSON part of a table of rows, whose numbers go to ``arrays``."""
    if not isinstance(rows, Counted):
        arrays[key] = np.asarray(rows)
        return {"kind": "dense"}
    m = rows.matrix
    arrays.update({f"{key}.data": m.data, f"{key}.indices": m.indices, f"{key}.indptr": m.indptr})
    shape = [int(n) for n in m.shape]
    if isinstance(rows.labels, np.ndarray) and rows.labels.dtype.kind in "biuf":
        arrays[f"{key}.labels"] = rows.labels
        return {"kind": "numbers", "shape": shape}
    return {"kind": "words", "shape": shape, "labels": [str(label) for label in rows.labels]}


def _summary(summary: Pooled, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    arrays.update({f"summary.{name}": np.asarray(a) for name, a in summary.arrays.items()})
    # pairs, since JSON objects would turn labels that are numbers into strings
    counts = {name: [[_plain(k), float(v)] for k, v in table.items()] for name, table in summary.counts.items()}
    return {"documents": summary.documents, "arrays": list(summary.arrays), "counts": counts}


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def read_scores(folder: Path) -> Scores | None:
    """Read what `write_scores` wrote; None if there is nothing.

    Raises
    ------
    StoreError
        The files cannot be read, or hold something else.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = folder / JSON_NAME
    if not path.exists():
        return None
    kept = read_json(path, _Kept, AGAIN)
    try:
        arrays = load_file(folder / ARRAYS_NAME)
        scores = Scores(
            critic=kept["critic"],
            corpus=kept["corpus"],
            ids=kept["ids"],
            prompts=kept["prompts"],
            nll=arrays["nll"],
            steps=arrays["steps"],
            reasons=kept["reasons"],
            rows={key: _unpacked(rows, f"rows.{key}", arrays) for key, rows in kept["rows"].items()},
            summary=None if kept["summary"] is None else _pooled(kept["summary"], arrays),
            errors=arrays.get("errors"),
            groups=kept["groups"],
            z=None if kept["z"] is None else pa.array(kept["z"], pa.string()),
            oddity=arrays.get("oddity"),
            parts=arrays.get("parts"),
        )
        optional = (scores.z, scores.oddity, scores.parts, scores.errors, scores.groups or None)
        lengths = {len(c) for c in (scores.nll, scores.steps, scores.ids, scores.prompts, scores.reasons)}
        lengths |= {len(column) for column in optional if column is not None}
        if len(lengths | {r.matrix.shape[0] if isinstance(r, Counted) else len(r) for r in scores.rows.values()}) > 1:
            raise ValueError("columns of different lengths")
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path}: not readable ({error})", hint=AGAIN) from error
    return scores


def _unpacked(kept: _Rows, key: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Rows:
    if kept["kind"] == "dense":
        return arrays[key]
    parts = (arrays[f"{key}.data"], arrays[f"{key}.indices"], arrays[f"{key}.indptr"])
    matrix = sparse.csr_array(parts, shape=tuple(kept["shape"]))
    matrix.check_format(full_check=True)
    return Counted(matrix, arrays[f"{key}.labels"] if kept["kind"] == "numbers" else kept["labels"])


def _pooled(kept: _Summary, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Pooled:
    counts = {name: {label: float(v) for label, v in pairs} for name, pairs in kept["counts"].items()}
    return Pooled(kept["documents"], {name: arrays[f"summary.{name}"] for name in kept["arrays"]}, counts)
