"""Critics fitted on more text than fits in memory: counted part by part in several processes, or on a random sample.

The text to fit on is given, or half of the real text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from momus.arguments import arg
from momus.critic import Critic
from momus.critic.hooks import with_needs
from momus.critic.portions import Portion, fit_portions, mergeable, read_portion
from momus.engine.large import LargeTexts, size_of
from momus.errors import MomusError, UsageError
from momus.numeric.draws import hashed
from momus.numeric.types import Bools
from momus.processes import outcomes_of
from momus.progress import Timed, stage
from momus.reading import ReadingOptions, as_corpus
from momus.reading.parts import InputFile, list_inputs
from momus.rows.plan import PART_DOCUMENTS, Piece, pieces_of
from momus.runs.text_checks import FIT_SHARE, check_splittable, split_warning
from momus.text.corpus import Corpus
from momus.text.documents import LeftOut
from momus.text.splitting import split_rows, units_of

if TYPE_CHECKING:
    from momus.engine.compare import Run

T = TypeVar("T")
FIT_DOCUMENTS = 50_000
"""Documents that a critic is fitted on which must see them all at once; of a larger text, so many are drawn."""
FIT_BYTES = 128 << 20
"""Bytes of a text to fit on that is held in memory whole."""
NAME = "fit"
"""What the text is called in the record of a fit, as `momus fit` calls it."""


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
    inputs, left_out = list_inputs([path], reading)
    pieces = pieces_of(inputs, reading, documents or PART_DOCUMENTS)
    hint = f"fit again with a smaller {arg('jobs')}; nothing was written"
    with stage(f"fitting {critic.name}", len(pieces)) as advance:
        portions = outcomes_of(workers, pieces, hint, _counting, critic, reading)
        fit_portions(critic, NAME, _advancing(portions, advance))
    return left_out


def _advancing(items: Iterable[T], advance: Callable[[int], None]) -> Iterator[T]:
    """The items of a stage, which advances with each."""
    for number, item in enumerate(items, 1):
        advance(number)
        yield item


def _counting(critic: Critic[Any], reading: ReadingOptions) -> Callable[[Piece], Portion]:
    return lambda piece: read_portion(critic, piece.read(reading))


def read_sample(
    path: str, size: int, reading: ReadingOptions | None = None, seed: int = 0, *, documents: int = 0
) -> tuple[Corpus, int, list[LeftOut]]:
    """Read a random sample of a file, a folder or a pattern in the memory of a part and of the sample.

    A document is drawn if a hash of its text and of the seed is among the smallest: the sample depends on neither the
    order of the documents nor the parts that the text is read in.

    Returns
    -------
    The documents drawn, how many documents the text has, and what folders leave out.

    Raises
    ------
    ReadingError
        The text cannot be read.
    """
    reading = reading or ReadingOptions()
    inputs, left_out = list_inputs([path], reading)
    kept = Corpus.from_texts([]).table
    keys = np.zeros(0, dtype=np.int64)  # of the documents kept so far, at most `size`
    total = 0
    pieces = pieces_of(inputs, reading, documents or PART_DOCUMENTS)
    with stage("drawing a sample", len(pieces)) as advance:
        for corpus in _advancing((piece.read(reading) for piece in pieces), advance):
            total += len(corpus)
            kept = pa.concat_tables([kept, corpus.table])
            keys = np.concatenate([keys, hashed(corpus.hashes.view(np.int64), seed)])
            # the smallest ones, sorted: the sample keeps the order of the files
            rows = np.sort(np.argsort(keys, kind="stable")[:size])
            kept, keys = kept.take(rows), keys[rows]
    return Corpus(kept, NAME), total, left_out


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


def text_to_fit(run: Run, texts: LargeTexts) -> FitText:
    """Read the text to fit on, or set half of the real text apart.

    Raises
    ------
    MomusError
        It cannot be read, is empty, or cannot be split.
    """
    fit, timed, seed = run.request.fit, run.timed, run.settings.seed
    if fit is None:
        return _split(texts.files["real"], run.request.reading.named("real"), seed, timed)
    reading = run.request.reading.named("fit")
    if isinstance(fit, str | os.PathLike):
        try:
            size = sum(map(size_of, list_inputs([os.fspath(fit)], reading)[0]))
        except MomusError:  # a stream, an address, a log
            size = 0
        if size > FIT_BYTES:
            with timed.stage("reading", "fit"):
                drawn, documents, _ = read_sample(os.fspath(fit), FIT_DOCUMENTS, reading, seed)
            warning = (
                f"Critics whose counts do not add up are fitted on {len(drawn):,} of {documents:,} "
                f"documents of 'fit', drawn by seed {seed}; the others on all of them."
            )
            return FitText(drawn.sorted(), os.fspath(fit), warning=warning)
    with timed.stage("reading", "fit"):
        corpus = as_corpus(fit, "fit", reading, timed.inner)
    if not len(corpus):
        raise UsageError("'fit' has no document", hint="give a text that is not empty")
    return FitText(corpus.sorted())


def _split(files: Sequence[InputFile], reading: ReadingOptions, seed: int, timed: Timed) -> FitText:
    """Set half of the real text apart, as `Corpus.split` does."""
    pieces = pieces_of(files, reading)
    labels, filled = [], 0
    # first pass: names alone decide the split, and they fit into memory where texts do not
    with timed.stage("reading", "ids of real", len(pieces)) as advance:
        for corpus in _advancing((piece.read(reading) for piece in pieces), advance):
            labels.append(corpus.table.select(["id", "group", "prompt"]))
            filled += int((~corpus.blank).sum())
    ids, groups, prompts = (column.to_pylist() for column in pa.concat_tables(labels).columns) if labels else ([],) * 3
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
    with timed.stage("reading", "text to fit on", len(pieces)) as advance:  # second pass
        for corpus in _advancing((piece.read(reading) for piece in pieces), advance):
            rows = first[(first >= before) & (first < before + len(corpus))] - before
            tables.append(corpus.table.take(pa.array(rows)))
            before += len(corpus)
    # canonical order, as texts in memory have: a fit may depend on the order
    return FitText(Corpus(pa.concat_tables(tables), "fit").sorted(), keep=keep, warning=words)
