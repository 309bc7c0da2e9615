"""Counts that fitting needs and that add up: those of two texts are the sum of the counts of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from momus.numeric.types import Ints

Label = str | int


@dataclass(frozen=True)
class Counts:
    """Whole numbers counted in a text, from which a critic is fitted.

    Numbers are whole, so sums are exact, and labels are handed out in ascending order: what is fitted depends on
    neither how a text was cut nor the order of its parts.

    Attributes
    ----------
    arrays
        By name, int64 arrays that are added element by element.
    tables
        By name, how often each label (a word, or a number) occurs.

    >>> one = Counts.of(words=(["b", "a"], [2, 1]), totals=[3])
    >>> both = one + Counts.of(words=(["b", "c"], [1, 1]), totals=[2])
    >>> both.table("words"), both.array("totals")
    ((['a', 'b', 'c'], array([1, 3, 1])), array([5]))
    """

    arrays: Mapping[str, Ints] = field(default_factory=dict)
    tables: Mapping[str, Counter[Label]] = field(default_factory=dict)

    @classmethod
    def of(cls, **counted: NDArray[np.integer] | Sequence[int] | tuple[Iterable[Label], Iterable[int]]) -> Counts:
        """Make counts from arrays of whole numbers, and from pairs (distinct labels, their counts)."""
        arrays: dict[str, Ints] = {}
        tables: dict[str, Counter[Label]] = {}
        for name, value in counted.items():
            if isinstance(value, tuple):
                labels, numbers = (v.tolist() if isinstance(v, np.ndarray) else list(v) for v in value)
                tables[name] = Counter({k: int(n) for k, n in zip(labels, numbers, strict=True) if n})
            else:
                arrays[name] = np.asarray(value, dtype=np.int64)
        return cls(arrays, tables)

    @classmethod
    def of_values(cls, **values: NDArray[np.integer]) -> Counts:
        """Count how often each whole number occurs in each array.

        >>> Counts.of_values(lengths=np.array([5, 3, 5])).tables
        {'lengths': Counter({5: 2, 3: 1})}
        """
        return cls.of(**{name: np.unique(v, return_counts=True) for name, v in values.items()})

    def __add__(self, other: Counts) -> Counts:
        return Counts.total([self, other])

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        """The sum of all parts, which are read one after the other.

        >>> Counts.total(Counts.of(totals=[n]) for n in range(4)).array("totals")
        array([6])
        """
        arrays: dict[str, Ints] = {}
        tables: dict[str, Counter[Label]] = {}
        for part in parts:
            for name, array in part.arrays.items():
                arrays[name] = arrays[name] + array if name in arrays else array
            for name, table in part.tables.items():
                tables.setdefault(name, Counter()).update(table)
        return cls(arrays, tables)

    def array(self, name: str) -> Ints:
        """The sums under a name."""
        return self.arrays[name]

    def table(self, name: str) -> tuple[list[Label], Ints]:
        """Labels in ascending order, and how often each occurs, int64 (V,)."""
        table = self.tables[name]
        labels = sorted(table)  # one table has labels of one kind
        return labels, np.fromiter((table[k] for k in labels), np.int64, len(labels))

    def numbers(self, name: str) -> tuple[Ints, Ints]:
        """Like `table`, of a table whose labels are numbers: both int64 (V,)."""
        labels, counts = self.table(name)
        return np.array(labels, dtype=np.int64), counts

    def values(self, name: str) -> Ints:
        """The numbers that were counted, each as often as it occurs, in ascending order: int64 (N,)."""
        return np.repeat(*self.numbers(name))

    def ranked(self, name: str) -> tuple[list[str], Ints]:
        """Words from the most frequent to the rarest, equally frequent ones in alphabetical order, and their counts.

        >>> Counts.of(words=(["c", "b", "a"], [1, 1, 5])).ranked("words")
        (['a', 'b', 'c'], array([5, 1, 1]))
        """
        labels, counts = self.table(name)
        order = np.argsort(-counts, kind="stable")
        return [str(labels[i]) for i in order.tolist()], counts[order]
