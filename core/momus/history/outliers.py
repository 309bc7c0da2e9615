"""Documents that stand out under a critic in one of two runs, and not in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from momus.history.kept import KeptRun
from momus.outliers.rows import Measure, frame_of
from momus.runs.documents import read_documents

BEYOND = 0.99
"""An outlier is less likely than this share of the real documents of the same run."""


@dataclass(frozen=True)
class OutlierDocument:
    """A document that stands out in one run only.

    Attributes
    ----------
    key
        Its prompt; its id where it has none.
    value, other
        What ranks outliers (`momus.outliers.rows.Measure`) in the run where it stands out, and of the same
        prompt in the other run; None if the other run has no scored document of it.
    """

    key: str
    value: float
    other: float | None


@dataclass(frozen=True)
class OutlierChange:
    """Outliers of one critic in two runs.

    Attributes
    ----------
    critic
        Name of the critic.
    before, after
        Numbers of outliers.
    n_before, n_after
        Numbers of scored documents.
    appeared, vanished
        How many stand out in the later run only, and in the earlier run only.
    new, gone
        The most unlikely of these.
    """

    critic: str
    before: int
    after: int
    n_before: int
    n_after: int
    appeared: int
    vanished: int
    new: tuple[OutlierDocument, ...]
    gone: tuple[OutlierDocument, ...]


def outlier_changes(
    before: KeptRun, after: KeptRun, pair: tuple[str, str], critics: Sequence[str], top: int = 5
) -> list[OutlierChange]:
    """Compare the outliers of two runs, prompt by prompt; of several documents of a prompt, the least likely counts.

    Raises
    ------
    StoreError
        The table of documents of a run is missing or damaged.
    """
    values = []
    for run, corpus in ((before, pair[0]), (after, pair[1])):
        texts = run.texts()
        keys = [i if p is None else p for p, i in zip(texts.prompts[corpus], texts.ids[corpus], strict=True)]
        values.append(partial(_values, run, corpus, dict(zip(texts.ids[corpus], keys, strict=True))))
    changes = []
    for critic in critics:
        (one, limit), (other, other_limit) = (values_under(critic) for values_under in values)
        if not (one and other and np.isfinite([limit, other_limit]).all()):
            continue
        earlier, later = {k for k, v in one.items() if v > limit}, {k for k, v in other.items() if v > other_limit}
        new, gone = later - earlier, earlier - later
        counts = len(earlier), len(later), len(one), len(other), len(new), len(gone)
        changes.append(OutlierChange(critic, *counts, _oddest(new, other, one, top), _oddest(gone, one, other, top)))
    return changes


def _oddest(
    keys: set[str], values: dict[str, float], others: dict[str, float], top: int
) -> tuple[OutlierDocument, ...]:
    ordered = sorted(keys, key=lambda k: (-values[k], k))[:top]
    return tuple(OutlierDocument(k, values[k], others.get(k)) for k in ordered)


def _values(run: KeptRun, corpus: str, keys: dict[str, str], critic: str) -> tuple[dict[str, float], float]:
    """The largest value of each key in a generated corpus, and the value that few real documents exceed."""
    frame = frame_of(read_documents(run.path, [critic], ["real", corpus]))
    frame["value"] = Measure.of_rows(frame, run.verdicts, critic).values(frame)
    frame = frame[frame["value"].notna()]
    real = frame.loc[frame["corpus"] == "real", "value"].to_numpy(dtype=np.float64)
    rows = frame[frame["corpus"] == corpus]
    largest: dict[str, float] = {}
    for document, value in zip(rows["id"], rows["value"], strict=True):
        if document in keys:
            key = keys[document]
            largest[key] = max(largest.get(key, -np.inf), value)
    limit = float(np.quantile(real, BEYOND, method="higher")) if len(real) else float("nan")
    return largest, limit
