"""Who labelled the documents, and how far two labellers agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from momus.inference.agreement import Agreement, agreement
from momus.reading.labels import SECOND, LabelFile, label_file, parsed

_WORDS = {"true": "yes", "false": "no"}


def labelling(name: str, path: str, *, kind: str = "", gold: str = "", second: str = "") -> dict[str, Any]:
    """What a run keeps of a file of labels: who labelled, and the agreement with a second labeller.

    Parameters
    ----------
    kind
        Type that the user names; numbers are categories where it says so.
    gold, second
        Files of true labels and of a second labeller; empty: there is none.
    """
    first = label_file(path)
    about: dict[str, Any] = {"name": name, "labeller": first.labeller, "gold": bool(gold)}
    if second:
        other = label_file(second)
        alpha = labels_agree(first, other, name, kind)
        about |= {"second": _named(other, name), "agreement": None if alpha is None else asdict(alpha)}
    return about


def _named(file: LabelFile, name: str) -> str:
    field = file.field(name + SECOND)
    return field if field == name + SECOND else file.labeller or Path(file.path).name


def labels_agree(first: LabelFile, second: LabelFile, name: str, kind: str = "") -> Agreement | None:
    """Krippendorff's α of two files over the documents that both have labelled; None if it has no value."""
    keys = dict.fromkeys([*first.rows, *second.rows])
    # a label without a text is of the documents of that id that others name with their text
    named = {id for text, id in keys if text}
    both = [
        (one, other)
        for text, id in keys
        if text or id not in named
        for one, other in zip(first.of(text, [id], name), second.of(text, [id], name + SECOND), strict=True)
        if one is not None and other is not None
    ]
    values = [_hard(text) for pair in both for text in pair]
    units = np.repeat(np.arange(len(both)), 2)
    if kind in ("", "number", "share") and all(isinstance(value, float) for value in values):
        return agreement(units, values, "interval") if values else None
    return agreement(units, np.unique(list(map(str, values)), return_inverse=True)[1], "nominal") if values else None


def _hard(text: str) -> str | float:
    """A label as a number or a name, the most probable one where it is unsure."""
    value = parsed(text)
    if isinstance(value, Mapping) and value and all(isinstance(p, int | float) for p in value.values()):
        value = max(value, key=value.__getitem__)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e30:
        return float(value)
    word = str(value).lower()
    return _WORDS.get(word, word)
