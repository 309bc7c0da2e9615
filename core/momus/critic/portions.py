"""Fitting on counts that add up: portions of a text are counted one by one, in any order and anywhere.

    portions = [read_portion(critic, part) for part in parts]
    fit_portions(critic, "train", portions)

leaves what ``critic.fit(whole)`` leaves, but for the digest of the order of the documents, which the portions forget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.arguments import arg
from momus.critic.base import Critic, note_fit
from momus.critic.hooks import corpus_for, tokenizer_of
from momus.critic.powers import MergeableMixin
from momus.critic.splitting import check_enough, documents_to_fit, splitting_of
from momus.errors import UsageError
from momus.estimator import check_params, reset
from momus.numeric.types import Ints
from momus.reading import TextSource
from momus.text.digests import fingerprint_of

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
        for counts in parts:
            for name, array in counts.arrays.items():
                arrays[name] = arrays[name] + array if name in arrays else array
            for name, table in counts.tables.items():
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


C = TypeVar("C", bound=Critic[Any])


@dataclass(frozen=True)
class Portion:
    """What fitting keeps of a part of the real text; portions add up.

    Attributes
    ----------
    counts
        What the critic counted in it.
    hashes
        Hashes of the texts that it counted, with repetitions: uint64 (documents,).
    left_out
        Documents that it could not count; the words of ``lacking`` of them cannot be found without ICU.
    splitting
        What the fitted critic keeps of its tokenizer, see `momus.critic.splitting`.
    """

    counts: Counts = field(default_factory=Counts)
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    left_out: int = 0
    lacking: int = 0
    splitting: dict[str, str] = field(default_factory=dict)

    @classmethod
    def total(cls, portions: Iterable[Portion]) -> Portion:
        """The sum of all portions, which are read one after the other."""
        hashes: list[NDArray[np.uint64]] = []
        left_out = lacking = 0
        splitting: dict[str, str] = {}

        def counted() -> Iterator[Counts]:
            nonlocal left_out, lacking
            for portion in portions:
                hashes.append(portion.hashes)
                left_out += portion.left_out
                lacking += portion.lacking
                splitting.update(portion.splitting)
                yield portion.counts

        counts = Counts.total(counted())
        return cls(counts, np.concatenate([np.zeros(0, np.uint64), *hashes]), left_out, lacking, splitting)


def read_portion(critic: Critic[Any], texts: TextSource) -> Portion:
    """Count what a critic needs in a part of the real text; the critic is not changed.

    Raises
    ------
    UsageError
        The critic cannot be fitted in parts.
    """
    merging = mergeable(critic)
    corpus = corpus_for(critic, texts)
    usable, lacking = documents_to_fit(critic, corpus)
    left_out = len(corpus) - len(usable)
    if not len(usable):
        return Portion(left_out=left_out, lacking=lacking)
    counts = merging.fit_counts(usable)
    return Portion(counts, usable.hashes, left_out, lacking, splitting_of(tokenizer_of(critic), usable))


def fit_portions(critic: C, name: str, portions: Iterable[Portion]) -> C:
    """Fit a critic on the portions of a text, which it is given one after the other; returns the critic.

    Parameters
    ----------
    name
        What the text is called in the record of the fit.

    Raises
    ------
    UsageError
        The critic cannot be fitted in parts.
    FittingError
        The portions have too few documents.

    >>> from momus import Corpus
    >>> from momus.critic.registry import critic_class
    >>> Length = critic_class("length")
    >>> parts = [Corpus.from_texts(["a b c", "a"]), Corpus.from_texts(["a b"])]
    >>> one = fit_portions(Length(), "train", (read_portion(Length(), part) for part in parts))
    >>> other = Length().fit(Corpus.from_texts(["a", "a b", "a b c"]))
    >>> one.edges_.tolist() == other.edges_.tolist(), one.fitted_on_["fingerprint"] == other.fitted_on_["fingerprint"]
    (True, True)
    """
    merging = mergeable(critic)
    check_params(critic)
    reset(critic)
    total = Portion.total(portions)
    check_enough(critic, name, len(total.hashes), len(total.hashes) + total.left_out, total.lacking)
    try:
        merging.fit_from(total.counts)
    except BaseException:
        reset(critic)
        raise
    note_fit(critic, name, total.hashes, total.left_out, fingerprint_of(total.hashes), **total.splitting)
    return critic


def mergeable(critic: Critic[Any]) -> MergeableMixin:
    """The critic as one that can be fitted in parts.

    Raises
    ------
    UsageError
        It must see all real text at once.
    """
    if not isinstance(critic, MergeableMixin):
        raise UsageError(
            f"critic {critic.name!r} cannot be fitted in parts: it must see all real text at once",
            hint=f"fit it on a random sample of the text, such as {arg('sample', 20_000)}",
        )
    return critic
