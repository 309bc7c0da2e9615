"""Hashes of documents: what identifies texts by them, and an order that follows from the documents."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from momus.numeric.types import Bools, Ints

Hashes = NDArray[np.uint64]


def is_among(hashes: Hashes, others: Hashes) -> Bools:
    """Whether each hash is one of the others: bool (n,). Faster than `numpy.isin`, which drops repeated values first.

    >>> is_among(np.array([1, 2], np.uint64), np.array([2, 3, 2], np.uint64)).tolist()
    [False, True]
    """
    if not len(others):
        return np.zeros(len(hashes), dtype=bool)
    known = np.sort(others)
    among: Bools = known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes
    return among


def fingerprint_of(hashes: Hashes) -> str:
    """Sixteen hexadecimal digits that identify texts by their hashes, regardless of their order."""
    return hashlib.blake2b(np.sort(hashes).astype("<u8").tobytes(), digest_size=8).hexdigest()


def canonical_order(hashes: Hashes, labels: pa.Table) -> Ints:
    """Sort documents by hash, and equal ones by their labels: row numbers, int64 (n,).

    >>> labels = pa.table({"id": ["b", "a", "c"]})
    >>> canonical_order(np.array([7, 7, 3], dtype=np.uint64), labels).tolist()
    [2, 1, 0]
    """
    rows: Ints = np.argsort(hashes, kind="stable").astype(np.int64)
    equal = np.diff(hashes[rows]) == 0  # whether each but the last equals its successor, (n − 1,)
    tied = np.flatnonzero(np.append(False, equal) | np.append(equal, False))
    # labels are read for the few equal texts only: as Python objects they cost more than all hashes
    if len(tied):
        columns = labels.take(rows[tied]).to_pylist()
        keys = [
            (int(hashes[row]), json.dumps(list(label.values()))) for row, label in zip(rows[tied], columns, strict=True)
        ]
        rows[tied] = rows[tied][sorted(range(len(tied)), key=keys.__getitem__)]
    return rows
