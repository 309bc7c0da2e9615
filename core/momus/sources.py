"""The texts of a comparison, from whatever they are given as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from momus.corpus import Corpus
from momus.errors import UsageError
from momus.reading import read_corpus

FIT_SHARE = 0.5
"""Without a corpus to fit on, this share of the real one is set apart for it."""

Source = Corpus | str | Path | Sequence[str]


@dataclass
class Texts:
    """The texts of a comparison.

    Attributes
    ----------
    fit, real, generated
        What critics are fitted on, what is compared, and with what.
    split
        Whether the real text was split, since none to fit on was given.
    warnings
        What a reader must know of them.
    """

    fit: Corpus
    real: Corpus
    generated: list[Corpus]
    split: bool
    warnings: list[str]


def as_corpus(source: Source, name: str) -> Corpus:
    """Turn a path, a list of texts, or a corpus into a corpus of this name."""
    if isinstance(source, Corpus):
        return source.take(range(len(source)), name) if source.name != name else source
    if isinstance(source, str | Path):
        return read_corpus(source, name=name)
    return Corpus.from_texts(source, name=name)


def read_texts(real: Source, generated: Mapping[str, Source], fit: Source | None, seed: int) -> Texts:
    """Read what is given, and split the real text where none to fit on is given.

    Raises
    ------
    MomusError
        A text cannot be read, is empty, or has a name that is taken.
    """
    warnings = []
    for reserved in ("real", "fit"):
        if reserved in generated:
            raise UsageError(f"a generated corpus is called {reserved!r}", hint="give it another name")
    whole = as_corpus(real, "real")
    if fit is None:
        fitting, held_out = whole.split(FIT_SHARE, seed, ("fit", "real"))
        warnings.append(
            f"No text to fit on was given: the real text was split by seed {seed} into {len(fitting):,} "
            f"documents to fit on and {len(held_out):,} to compare with."
        )
    else:
        fitting, held_out = as_corpus(fit, "fit"), whole
    others = [as_corpus(source, name) for name, source in generated.items()]
    for corpus in (fitting, held_out, *others):
        if not len(corpus):
            raise UsageError(f"{corpus.name!r} has no document", hint="give a text that is not empty")
    for corpus in (held_out, *others):
        shared = _shared(fitting, corpus)
        if shared:
            warnings.append(
                f"{shared:,} of {len(corpus):,} documents of {corpus.name!r} are also in the text that critics are "
                "fitted on: its scores flatter."
            )
    return Texts(fitting, held_out, others, fit is None, warnings)


def _shared(fitting: Corpus, corpus: Corpus) -> int:
    filled = corpus.hashes[~corpus.blank]
    return int(np.isin(filled, fitting.hashes).sum())
