"""Made documents of 200 to 500 words in titled sections, written to Parquet in bounded memory.

Words are Zipfian; a tenth of them belong to the type of their section. A fifth of the documents have two neighbouring
sections in the wrong order; of generated text, two fifths. Equal seeds give equal files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TYPES = ("abstract", "motivation", "specification", "rationale", "compatibility", "security", "copyright")
WORDS = 30_000
GROUP = 5_000
"""Documents of a row group."""
SCHEMA = pa.schema(
    [("id", pa.string()), ("sections", pa.list_(pa.large_string())), ("section_names", pa.list_(pa.string()))]
)


def write(path: Path, documents: int, seed: int, disorder: float = 0.2) -> Path:
    """Write made documents, ``GROUP`` per row group, and return the path."""
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as file:
        for start in range(0, documents, GROUP):
            rng = np.random.default_rng([seed, start])
            rows = list(_rows(rng, start, min(GROUP, documents - start), disorder))
            file.write_table(pa.Table.from_pylist(rows, SCHEMA), row_group_size=GROUP)
    return path


def _rows(rng: np.random.Generator, start: int, n: int, disorder: float) -> Iterator[dict[str, object]]:
    vocabulary = np.array([f"w{i}" for i in range(WORDS)])
    # inverse of the cumulative Zipf–Mandelbrot law at uniform numbers: the rank of each word
    mass = np.cumsum(1.0 / (np.arange(WORDS) + 2.7))
    lengths = rng.integers(200, 501, n)
    for i, length in enumerate(lengths.tolist()):
        ranks = np.searchsorted(mass, rng.random(length) * mass[-1])
        section = np.sort(rng.integers(0, len(TYPES), length))
        own = rng.random(length) < 0.1
        ranks = np.where(own, section * 50 + rng.integers(0, 50, length), ranks)
        cuts = np.searchsorted(section, np.arange(1, len(TYPES)))
        texts = [" ".join(part.tolist()) for part in np.split(vocabulary[ranks], cuts)]
        order = list(range(len(TYPES)))
        if rng.random() < disorder:
            k = int(rng.integers(len(TYPES) - 1))
            order[k], order[k + 1] = order[k + 1], order[k]
        yield {"id": f"d{start + i}", "sections": [texts[k] for k in order], "section_names": [TYPES[k] for k in order]}
