"""The text that critics of large texts are fitted on: whole, a sample, or half of the real text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from momus.engine.fitting import read_sample
from momus.engine.large import LargeTexts, size_of
from momus.engine.scoring import PART_DOCUMENTS
from momus.errors import MomusError, UsageError
from momus.numeric.types import Bools
from momus.progress import Timed
from momus.reading import ReadingOptions, TextSource, as_corpus
from momus.reading.parts import InputFile, cut, list_inputs, read_part
from momus.runs.row_plan import PART_BYTES
from momus.runs.texts import FIT_SHARE, check_splittable, split_warning
from momus.text.corpus import Corpus
from momus.text.splitting import split_rows, units_of

FIT_DOCUMENTS = 50_000
"""Documents that a critic is fitted on which must see them all at once; of a larger text, so many are drawn."""
FIT_BYTES = 128 << 20
"""Bytes of a text to fit on that is held in memory whole."""


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


def text_to_fit(fit: TextSource | None, texts: LargeTexts, reading: ReadingOptions, seed: int, timed: Timed) -> FitText:
    """Read the text to fit on, or set half of the real text apart.

    Raises
    ------
    MomusError
        It cannot be read, is empty, or cannot be split.
    """
    if fit is None:
        return _split(texts, seed, reading, timed)
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


def _split(texts: LargeTexts, seed: int, reading: ReadingOptions, timed: Timed) -> FitText:
    """Set half of the real text apart, as `Corpus.split` does."""
    ids: list[str] = []
    prompts: list[str | None] = []
    groups: list[str | None] = []
    filled = 0
    for corpus in _read(texts.files["real"], reading, timed, "ids of real"):
        ids += corpus.ids
        prompts += corpus.prompts
        groups += corpus.groups
        filled += int((~corpus.blank).sum())
    check_splittable("real", len(ids), filled)
    units = units_of(ids, groups, prompts)
    first, second = split_rows(ids, units, FIT_SHARE, seed, "real")
    keep = np.zeros(len(ids), dtype=bool)
    keep[second] = True
    words = split_warning(units, seed, len(first), len(second))
    if len(first) > FIT_DOCUMENTS:
        first = np.sort(np.random.default_rng([seed, len(first)]).choice(first, FIT_DOCUMENTS, replace=False))
        words += f" Critics are fitted on {FIT_DOCUMENTS:,} of the former, drawn by the same seed."
    before, tables = 0, []
    for corpus in _read(texts.files["real"], reading, timed, "text to fit on"):
        rows = first[(first >= before) & (first < before + len(corpus))] - before
        tables.append(corpus.table.take(pa.array(rows)))
        before += len(corpus)
    return FitText(Corpus(pa.concat_tables(tables), "fit").sorted(), keep=keep, warning=words)


def _read(files: Sequence[InputFile], reading: ReadingOptions, timed: Timed, what: str) -> Iterator[Corpus]:
    """The parts of files, one after the other."""
    pieces = [(f, p) for f in files for p in cut(f, PART_DOCUMENTS, PART_BYTES, reading.encoding)[1]]
    with timed.stage("reading", what, len(pieces)) as advance:
        for number, (file, part) in enumerate(pieces, 1):
            yield read_part(file, part, reading, check=part is None or part.before == 0)
            advance(number)
