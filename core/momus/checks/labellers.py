"""Who labelled the documents, and how far two labellers agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from momus.inference.agreement import agreement
from momus.reading.labels import SECOND, label_file, parsed


def labelling(name: str, path: str, *, kind: str = "", gold: str = "", second: str = "") -> dict[str, Any]:
    """What a run keeps of a file of labels: who labelled, and Krippendorff's α with a ``second`` file, if there is one.

    α is over the documents that both have labelled; numbers are categories where the ``kind`` that the user names says
    so, and an unsure label counts as the most probable one.
    """
    first = label_file(path)
    about: dict[str, Any] = {"name": name, "labeller": first.labeller, "gold": bool(gold)}
    if not second:
        return about
    other, field = label_file(second), name + SECOND
    keys = dict.fromkeys([*first.rows, *other.rows])
    # a label without a text is of the documents of that id that others name with their text
    named = {id for text, id in keys if text}
    pairs = [
        [*first.of(text, [id], name), *other.of(text, [id], field)] for text, id in keys if text or id not in named
    ]
    both = [[_sure(label) for label in pair if label is not None] for pair in pairs if None not in pair]
    numbers = kind in ("", "number", "share") and all(isinstance(label, float) for pair in both for label in pair)
    codes = np.asarray(both, dtype=np.float64 if numbers else np.str_).ravel()
    values = codes if numbers else np.unique(codes, return_inverse=True)[1]
    alpha = (
        agreement(np.repeat(np.arange(len(both)), 2), values, "interval" if numbers else "nominal") if both else None
    )
    who = field if other.field(field) == field else other.labeller or Path(second).name
    return {**about, "second": who, "agreement": None if alpha is None else asdict(alpha)}


def _sure(text: str) -> str | float:
    """A label as a number or a name, the most probable one where it is unsure."""
    value = parsed(text)
    if isinstance(value, Mapping) and all(isinstance(p, int | float) for p in value.values()):
        value = max(value, key=value.__getitem__, default="")
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e30:
        return float(value)
    return {"true": "yes", "false": "no"}.get(str(value).lower(), str(value).lower())
