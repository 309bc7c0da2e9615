"""Which slice each document is in: the values of a metadata field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from momus.arguments import arg
from momus.errors import UsageError
from momus.inference.adjustment import quantile_codes
from momus.numeric.types import Ints
from momus.reading import ReadingOptions
from momus.text.corpus import Corpus

AUTO = "auto"
MOST, LEAST = 50, 20
"""Values that a field may have; documents of each that a field needs to be taken by itself."""
QUARTERS = 4
USUAL = ("task", "language", "category", "subject")
"""Fields that ``auto`` reads of texts that have them, beside those that are kept anyway."""


@dataclass(frozen=True)
class Codes:
    """The slice of each document by one field.

    Attributes
    ----------
    names
        The slices.
    numbers
        For each text, the number of the slice of each document, −1 without one.
    """

    name: str
    names: tuple[str, ...]
    numbers: tuple[Ints, ...]


def reading_slices(reading: ReadingOptions, by: Sequence[str]) -> ReadingOptions:
    """Read the fields of slices too; for ``auto``, the usual ones where a text has them.

    >>> options = reading_slices(ReadingOptions(keep=("topic",)), ["task", "auto"])
    >>> options.keep, options.needs
    (('topic', 'task'), ('language', 'category', 'subject'))
    """
    named = [name for name in by if name != AUTO]
    kept = replace(reading, keep=tuple(dict.fromkeys((*reading.keep, *named))))
    return kept.needing(USUAL if AUTO in by else ())


def codes_of(by: Sequence[str], corpora: Sequence[Corpus]) -> list[Codes]:
    """The slices of documents by each field; ``auto`` takes fields of 2 to 50 values with 20 documents each.

    Fields of more than 50 values, if all are numbers, are cut into quarters.

    Raises
    ------
    UsageError
        No document of a text has a field, or it has too many values.

    >>> from momus.text.documents import Document
    >>> texts = [Corpus.from_documents([Document(f"{i}", (), fields={"task": "ab"[i % 2]}) for i in range(4)])]
    >>> codes_of(["task"], texts)[0].names, codes_of(["task"], texts)[0].numbers[0].tolist(), codes_of(["auto"], texts)
    (('a', 'b'), [0, 1, 0, 1], [])
    """
    chosen = [name for name in by if name != AUTO]
    if AUTO in by:
        chosen += [name for name in fields_of(corpora) if name not in chosen and _is_slicing(name, corpora)]
    return [_codes(name, corpora) for name in dict.fromkeys(chosen)]


def fields_of(corpora: Sequence[Corpus]) -> list[str]:
    """Names of the metadata fields that some document of each text has."""
    rows = [corpus.table["fields"].to_pylist() for corpus in corpora]
    # `or ()`: a document without fields has null
    return sorted(set.intersection(*({key for row in side for key, _ in row or ()} for side in rows)))


def _is_slicing(name: str, corpora: Sequence[Corpus]) -> bool:
    counts = [Counter(v for v in corpus.field(name) if v is not None) for corpus in corpora]
    values = set().union(*counts)
    return 2 <= len(values) <= MOST and all(c[v] >= LEAST for c in counts for v in values)


def _codes(name: str, corpora: Sequence[Corpus]) -> Codes:
    sides = [corpus.field(name) for corpus in corpora]
    for corpus, side in zip(corpora, sides, strict=True):
        if all(value is None for value in side):
            known = ", ".join(fields_of(corpora)) or f"none ({arg('keep')} reads some)"
            raise UsageError(
                f"{arg('by', [name])}: no document of {corpus.name!r} has such a field",
                hint=f"fields of all texts: {known}",
            )
    names = sorted({str(v) for side in sides for v in side if v is not None})
    if len(names) <= MOST:
        number = {value: i for i, value in enumerate(names)}
        return Codes(name, tuple(names), tuple(np.array([number.get(str(v), -1) for v in side]) for side in sides))
    try:
        values = [np.array([np.nan if v is None else float(v) for v in side]) for side in sides]
    except ValueError:
        raise UsageError(
            f"{arg('by', [name])}: field {name!r} has {len(names):,} values, too many for slices",
            hint=f"give a field with at most {MOST} values, such as a kind of prompt",
        ) from None
    every = np.concatenate(values)
    quarters = quantile_codes(every, QUARTERS)
    ends = np.cumsum([len(v) for v in values])[:-1]
    spans = [every[quarters == k] for k in range(int(quarters.max(initial=-1)) + 1)]
    return Codes(name, tuple(f"{v.min():g} to {v.max():g}" for v in spans), tuple(np.split(quarters, ends)))
