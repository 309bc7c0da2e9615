"""Ids, prompts and groups of the documents of all corpora of a run on disk, without their texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from momus.errors import StoreError
from momus.outputs import replacing
from momus.runs.manifest import AGAIN
from momus.runs.texts import Texts
from momus.schema import build, parse_json

TEXTS = "texts.parquet"
SCHEMA = pa.schema(
    [
        ("corpus", pa.string()),
        ("id", pa.string()),
        ("prompt", pa.string()),
        ("group", pa.string()),
        ("hash", pa.uint64()),
    ]
)
ORDERED = b"momus-ordered"
"""Key of the file's metadata that holds the identity of each corpus."""


@dataclass(frozen=True)
class KeptTexts:
    """What a run folder keeps of the real and the generated corpora: one entry per document.

    Documents are in the order of `Corpus.sorted`.

    Attributes
    ----------
    ids, prompts, groups, hashes
        By corpus. Equal texts have equal hashes (`momus.Corpus.hashes`).
    ordered
        By corpus, the one to fit on included: `momus.Corpus.identity` in the order that was given.
    """

    ids: Mapping[str, Sequence[str]]
    prompts: Mapping[str, Sequence[str | None]]
    groups: Mapping[str, Sequence[str | None]]
    hashes: Mapping[str, NDArray[np.uint64]]
    ordered: Mapping[str, str]


def write_texts(texts: Texts, folder: Path) -> None:
    """Write ``texts.parquet`` of a run folder."""
    parts = [
        pa.table(
            [pa.array([c.name] * len(c), pa.string()), *(c.table[n] for n in ("id", "prompt", "group")), c.hashes],
            schema=SCHEMA,
        )
        for c in (texts.real, *texts.generated)
    ]
    digests = {c.name: c.unsorted.identity for c in (texts.fit, texts.real, *texts.generated)}
    if texts.in_parts:
        vars(texts.fit).pop("unsorted", None)  # a copy of its text
    table = pa.concat_tables(parts).replace_schema_metadata({ORDERED: json.dumps(digests)})
    with replacing(folder / TEXTS) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def read_kept_texts(folder: Path) -> KeptTexts | None:
    """Read what `write_texts` wrote; None if an older version of Momus wrote the run.

    Raises
    ------
    StoreError
        The file cannot be read, or holds something else.
    """
    path = folder / TEXTS
    if not path.exists():
        return None
    try:
        table = pq.read_table(path)
        text = (table.schema.metadata or {}).get(ORDERED, b"null")
        table = table.cast(SCHEMA)
    except (OSError, pa.ArrowException, ValueError) as error:
        raise StoreError(f"{path}: not readable ({error})", hint=AGAIN) from error
    digests = build(dict[str, str], parse_json(text, f"{path}: metadata", AGAIN), f"{path}: metadata", AGAIN)
    names = list(dict.fromkeys(table["corpus"].to_pylist()))
    parts = {n: table.filter(pa.compute.equal(table["corpus"], n)) for n in names}
    columns = {key: {n: text[key].to_pylist() for n, text in parts.items()} for key in ("id", "prompt", "group")}
    hashes = {n: np.asarray(text["hash"].to_numpy(), dtype=np.uint64) for n, text in parts.items()}
    return KeptTexts(columns["id"], columns["prompt"], columns["group"], hashes, digests)
