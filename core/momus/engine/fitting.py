"""Critics fitted on more text than fits in memory: counted part by part in several processes, or on a random sample.

The text to fit on is given, or half of the real text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from momus.arguments import arg
from momus.critic import Critic
from momus.critic.hooks import with_needs
from momus.critic.portions import Portion, fit_portions, mergeable, read_portion
from momus.engine.large import LargeTexts, size_of
from momus.engine.scoring import PART_DOCUMENTS
from momus.errors import MomusError, StoreError, UsageError
from momus.numeric.draws import hashed
from momus.numeric.types import Bools, Ints
from momus.processes import TRIES, KilledError, outcomes_of
from momus.progress import Timed, stage
from momus.reading import ReadingOptions, TextSource, as_corpus
from momus.reading.location import Part
from momus.reading.parts import InputFile, cut, list_inputs, read_part
from momus.rows.plan import PART_BYTES
from momus.runs.text_checks import FIT_SHARE, check_splittable, split_warning
from momus.text.corpus import Corpus
from momus.text.documents import LeftOut
from momus.text.splitting import split_rows, units_of

FIT_DOCUMENTS = 50_000
"""Documents that a critic is fitted on which must see them all at once; of a larger text, so many are drawn."""
FIT_BYTES = 128 << 20
"""Bytes of a text to fit on that is held in memory whole."""
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
        Documents per part at most; 0 takes 10,000, and parts have about 4 MB at most.

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
    # refused before any file is read
    mergeable(critic)
    reading = with_needs(reading, [critic])
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
    """What the critic counts in each piece, in any order: counts add up."""
    if workers == 1 or len(pieces) < 2:
        yield from (_count(critic, reading, piece) for piece in pieces)
        return
    try:
        yield from outcomes_of(min(workers, len(pieces)), _count_here, pieces, _begin, critic, reading)
    except KilledError as error:
        raise StoreError(
            f"a process that counts was killed {TRIES} times, perhaps for its memory",
            hint=f"fit again with a smaller {arg('jobs')}; nothing was written",
        ) from error


def _count(critic: Critic[Any], reading: ReadingOptions, piece: Piece) -> Portion:
    # a file is checked once, with its first part
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
    keys = np.zeros(0, dtype=np.int64)  # of the documents kept so far, at most `size`
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
    # sorted: the sample keeps the order of the files
    rows = np.sort(np.argsort(keys, kind="stable")[:size])
    return table.take(rows), keys[rows]


@dataclass(frozen=True)
class FitText:
    """What critics are fitted on.

    Attributes
    ----------
    corpus
        The documents, or a sample of them.
    path
        The whole text, for critics that are fitted part by part; None: the corpus is all.
    keep
        bool (n,): which real documents are compared, in the order of the files; None: all.
    warning
        What a reader must know; empty if there is nothing.
    """

    corpus: Corpus
    path: str | None = None
    keep: Bools | None = None
    warning: str = ""


def text_to_fit(fit: TextSource | None, texts: LargeTexts, seed: int, timed: Timed) -> FitText:
    """Read the text to fit on, or set half of the real text apart.

    Raises
    ------
    MomusError
        It cannot be read, is empty, or cannot be split.
    """
    reading = texts.reading_of("fit")
    if fit is None:
        return _split(texts, seed, timed)
    if isinstance(fit, str | os.PathLike):
        try:
            size = sum(map(size_of, list_inputs([os.fspath(fit)], reading)[0]))
        except MomusError:  # a stream, an address, a log
            size = 0
        if size > FIT_BYTES:
            with timed.stage("reading", "fit"):
                drawn = read_sample(os.fspath(fit), FIT_DOCUMENTS, reading, seed)
            warning = (
                f"Critics whose counts do not add up are fitted on {len(drawn.corpus):,} of {drawn.documents:,} "
                f"documents of 'fit', drawn by seed {seed}; the others on all of them."
            )
            return FitText(drawn.corpus.sorted(), os.fspath(fit), warning=warning)
    with timed.stage("reading", "fit"):
        corpus = as_corpus(fit, "fit", reading, timed.inner)
    if not len(corpus):
        raise UsageError("'fit' has no document", hint="give a text that is not empty")
    return FitText(corpus.sorted())


def _split(texts: LargeTexts, seed: int, timed: Timed) -> FitText:
    """Set half of the real text apart, as `Corpus.split` does."""
    ids: list[str] = []
    prompts: list[str | None] = []
    groups: list[str | None] = []
    filled = 0
    # first pass: names alone decide the split, and they fit into memory where texts do not
    reading = texts.reading_of("real")
    for corpus in _read(texts.files["real"], reading, timed, "ids of real"):
        ids += corpus.ids
        prompts += corpus.prompts
        groups += corpus.groups
        filled += int((~corpus.blank).sum())
    check_splittable("real", len(ids), filled)
    units = units_of(ids, groups, prompts)
    first, second = split_rows(ids, units, FIT_SHARE, seed, "real")
    keep = np.zeros(len(ids), dtype=bool)
    # compared are all of the other half, whether or not the first is sampled below
    keep[second] = True
    words = split_warning(units, seed, len(first), len(second))
    if len(first) > FIT_DOCUMENTS:
        first = np.sort(np.random.default_rng([seed, len(first)]).choice(first, FIT_DOCUMENTS, replace=False))
        words += f" Critics are fitted on {FIT_DOCUMENTS:,} of the former, drawn by the same seed."
    before, tables = 0, []
    for corpus in _read(texts.files["real"], reading, timed, "text to fit on"):  # second pass
        rows = first[(first >= before) & (first < before + len(corpus))] - before
        tables.append(corpus.table.take(pa.array(rows)))
        before += len(corpus)
    # canonical order, as texts in memory have: a fit may depend on the order
    return FitText(Corpus(pa.concat_tables(tables), "fit").sorted(), keep=keep, warning=words)


def _read(files: Sequence[InputFile], reading: ReadingOptions, timed: Timed, what: str) -> Iterator[Corpus]:
    """The parts of files, one after the other."""
    pieces = [(f, p) for f in files for p in cut(f, PART_DOCUMENTS, PART_BYTES, reading.encoding)[1]]
    with timed.stage("reading", what, len(pieces)) as advance:
        for number, (file, part) in enumerate(pieces, 1):
            yield read_part(file, part, reading, check=part is None or part.before == 0)
            advance(number)
