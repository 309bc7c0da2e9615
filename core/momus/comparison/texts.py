"""The texts of a comparison, from paths, lists or corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from momus.errors import UsageError
from momus.progress import Reporter
from momus.reading import ReadingOptions
from momus.text.corpus import Corpus

FIT_SHARE = 0.5
"""Without a corpus to fit on, this share of the real one is set apart for it."""
RESERVED = ("real", "fit")

TextSource = Corpus | str | Path | Sequence[str]


@dataclass
class Texts:
    """The texts of a comparison.

    Attributes
    ----------
    fit, real, generated
        What critics are fitted on, what is compared, and with what.
    split
        Whether the real text was split because none to fit on was given.
    warnings
        What a reader must know about them.
    """

    fit: Corpus
    real: Corpus
    generated: list[Corpus]
    split: bool
    warnings: list[str]


def as_corpus(
    source: TextSource, name: str, reading: ReadingOptions | None = None, reporter: Reporter | None = None
) -> Corpus:
    """Turn a path, a list of texts, or a corpus into a corpus of this name."""
    if isinstance(source, Corpus):
        return source.take(range(len(source)), name) if source.name != name else source
    if isinstance(source, str | Path):
        return (reading or ReadingOptions()).read(source, name, reporter)
    return Corpus.from_texts(source, name=name)


def read_texts(
    real: TextSource,
    generated: Mapping[str, TextSource],
    fit: TextSource | None,
    seed: int,
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
) -> Texts:
    """Read the texts, and split the real one where none to fit on is given.

    Raises
    ------
    MomusError
        A text cannot be read, is empty, or has a name that is taken.
    """
    for reserved in RESERVED:
        if reserved in generated:
            raise UsageError(f"a generated corpus is called {reserved!r}", hint="give it another name")
    whole = as_corpus(real, "real", reading, reporter)
    others = [as_corpus(source, name, reading, reporter) for name, source in generated.items()]
    warnings = []
    if fit is None:
        fitting, held_out = whole.split(FIT_SHARE, seed, ("fit", "real"))
        warnings.append(
            f"No text to fit on was given: the real text was split by seed {seed} into {len(fitting):,} "
            f"documents to fit on and {len(held_out):,} to compare with."
        )
    else:
        fitting, held_out = as_corpus(fit, "fit", reading, reporter), whole
    for corpus in (fitting, held_out, *others):
        if not len(corpus):
            raise UsageError(f"{corpus.name!r} has no document", hint="give a text that is not empty")
    warnings += _overlap_warnings(fitting, (held_out, *others))
    return Texts(fitting, held_out, others, fit is None, warnings)


def _overlap_warnings(fitting: Corpus, corpora: Sequence[Corpus]) -> list[str]:
    """One warning for each corpus that shares documents with the text that critics are fitted on."""
    warnings = []
    for corpus in corpora:
        shared = int(np.isin(corpus.hashes[~corpus.blank], fitting.hashes).sum())
        if shared:
            warnings.append(
                f"{shared:,} of {len(corpus):,} documents of {corpus.name!r} are also in the text that critics are "
                "fitted on, so its scores are too good."
            )
    return warnings
