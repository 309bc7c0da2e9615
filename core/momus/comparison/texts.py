"""The texts of a comparison, from paths, lists or corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from momus.comparison.trust import TrustCheck, check_texts
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
    checks
        All checks of the texts, from which some of the warnings come.
    """

    fit: Corpus
    real: Corpus
    generated: list[Corpus]
    split: bool
    warnings: list[str]
    checks: list[TrustCheck] = field(default_factory=list)


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
        units = whole.units.words()
        warnings.append(
            f"No text to fit on was given: the real text was split by {f'{units} and ' if units else ''}seed {seed} "
            f"into {len(fitting):,} documents to fit on and {len(held_out):,} to compare with."
        )
    else:
        fitting, held_out = as_corpus(fit, "fit", reading, reporter), whole
    for corpus in (fitting, held_out, *others):
        if not len(corpus):
            raise UsageError(f"{corpus.name!r} has no document", hint="give a text that is not empty")
    (reading or ReadingOptions()).check_kept([fitting, held_out, *others])
    checks = check_texts(fitting, held_out, others, whole if fit is None else None)
    warnings += [check.warning for check in checks if check.warns]
    return Texts(fitting, held_out, others, fit is None, warnings, checks)
