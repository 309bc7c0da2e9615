"""Critics fitted on more text than fits in memory: counted part by part in several processes, or on a random sample."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from momus.critic import Critic
from momus.critic.portions import Portion, fit_portions, mergeable, read_portion
from momus.errors import StoreError
from momus.numeric.draws import hashed
from momus.numeric.types import Ints
from momus.processes import pool_of
from momus.progress import stage
from momus.reading import ReadingOptions
from momus.reading.location import Part
from momus.reading.parts import InputFile, cut, list_inputs, read_part
from momus.runs.row_plan import PART_BYTES
from momus.text.corpus import Corpus
from momus.text.documents import LeftOut

PART_DOCUMENTS = 10_000
NAME = "fit"
"""What the text is called in the record of a fit, as `momus fit` calls it."""


class Piece(NamedTuple):
    """A part of a file."""

    file: InputFile
    part: Part | None


def fit_in_parts(
    critic: Critic[Any], path: str, reading: ReadingOptions | None = None, workers: int = 1, *, documents: int = 0
) -> list[LeftOut]:
    """Fit a critic on a file, a folder or a pattern, part by part; the result is that of the whole text.

    Parameters
    ----------
    critic
        A critic that can be fitted in parts (`momus.critic.MergeableMixin`).
    workers
        Number of processes. A script that asks for several calls this under ``if __name__ == "__main__":``.
    documents
        Documents per part at most; 0 takes 10,000, and parts have about 64 MB at most.

    Returns
    -------
    What folders leave out.

    Raises
    ------
    UsageError
        The critic must see all text at once.
    ReadingError
        The text cannot be read.
    StoreError
        A process was killed.
    """
    mergeable(critic)
    reading = reading or ReadingOptions()
    pieces, left_out = _pieces(path, reading, documents or PART_DOCUMENTS)
    with stage(f"fitting {critic.name}", len(pieces)) as advance:
        fit_portions(critic, NAME, _advancing(_portions(critic, pieces, reading, workers), advance))
    return left_out


def _pieces(path: str, reading: ReadingOptions, documents: int) -> tuple[list[Piece], list[LeftOut]]:
    inputs, left_out = list_inputs([path], reading)
    pieces = [Piece(f, part) for f in inputs for part in cut(f, documents, PART_BYTES, reading.encoding)[1]]
    return pieces, left_out


def _advancing(portions: Iterator[Portion], advance: Callable[[int], None]) -> Iterator[Portion]:
    for number, portion in enumerate(portions, 1):
        advance(number)
        yield portion


def _portions(critic: Critic[Any], pieces: Sequence[Piece], reading: ReadingOptions, workers: int) -> Iterator[Portion]:
    """What the critic counts in each piece, in order; at most two pieces a worker are counted in advance."""
    if workers == 1 or len(pieces) < 2:
        yield from (_count(critic, reading, piece) for piece in pieces)
        return
    try:
        with pool_of(min(workers, len(pieces)), _begin, critic, reading) as pool:
            running: deque[Future[Portion]] = deque()
            for piece in pieces:
                running.append(pool.submit(_count_here, piece))
                if len(running) >= 2 * workers:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
    except BrokenProcessPool as error:
        raise StoreError(
            "a process that counts was killed, perhaps for its memory",
            hint="fit again with fewer --workers; nothing was written",
        ) from error


def _count(critic: Critic[Any], reading: ReadingOptions, piece: Piece) -> Portion:
    first = piece.part is None or piece.part.before == 0
    return read_portion(critic, read_part(piece.file, piece.part, reading, check=first))


_WORK: list[tuple[Critic[Any], ReadingOptions]] = []
"""What a worker process counts with, set once by `_begin`."""


def _begin(critic: Critic[Any], reading: ReadingOptions) -> None:
    _WORK[:] = [(critic, reading)]


def _count_here(piece: Piece) -> Portion:
    return _count(*_WORK[0], piece)


@dataclass(frozen=True)
class Sample:
    """A random sample of a text.

    Attributes
    ----------
    corpus
        The documents drawn.
    documents
        How many documents the text has.
    left_out
        What folders leave out.
    """

    corpus: Corpus
    documents: int
    left_out: list[LeftOut]


def read_sample(
    path: str, size: int, reading: ReadingOptions | None = None, seed: int = 0, *, documents: int = 0
) -> Sample:
    """Read a random sample of a file, a folder or a pattern in the memory of a part and of the sample.

    A document is drawn if a hash of its text and of the seed is among the smallest: the sample depends on neither the
    order of the documents nor the parts that the text is read in.

    Raises
    ------
    ReadingError
        The text cannot be read.
    """
    reading = reading or ReadingOptions()
    pieces, left_out = _pieces(path, reading, documents or PART_DOCUMENTS)
    kept: pa.Table | None = None
    keys = np.zeros(0, dtype=np.int64)
    total = 0
    with stage("drawing a sample", len(pieces)) as advance:
        for number, (file, part) in enumerate(pieces, 1):
            corpus = read_part(file, part, reading, check=part is None or part.before == 0)
            total += len(corpus)
            kept, keys = _smallest(kept, keys, corpus, size, seed)
            advance(number)
    return Sample(Corpus(Corpus.from_texts([]).table if kept is None else kept, NAME), total, left_out)


def _smallest(kept: pa.Table | None, keys: Ints, corpus: Corpus, size: int, seed: int) -> tuple[pa.Table, Ints]:
    """The ``size`` documents with the smallest keys, of those kept and those of a corpus, and their keys."""
    table = corpus.table if kept is None else pa.concat_tables([kept, corpus.table])
    keys = np.concatenate([keys, hashed(corpus.hashes.view(np.int64), seed)])
    rows = np.sort(np.argsort(keys, kind="stable")[:size])
    return table.take(rows), keys[rows]
