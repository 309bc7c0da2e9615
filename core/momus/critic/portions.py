"""Fitting on portions of a text that are counted one by one, in any order and anywhere.

    portions = [read_portion(critic, part) for part in parts]
    fit_portions(critic, "train", portions)

leaves what ``critic.fit(whole)`` leaves, but for the digest of the order of the documents, which the portions forget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.critic.base import Critic, check_enough, documents_to_fit
from momus.critic.counts import Counts
from momus.critic.powers import MergeableMixin
from momus.critic.splitting import splitting_of
from momus.errors import UsageError
from momus.text.digests import fingerprint_of

if TYPE_CHECKING:
    from momus.text.corpus import Corpus

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

    def __add__(self, other: Portion) -> Portion:
        return Portion.total([self, other])

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


def is_mergeable(critic: Critic[Any] | type[Critic[Any]]) -> bool:
    """Whether fits of a critic on parts of a text give the fit on the whole."""
    return issubclass(critic if isinstance(critic, type) else type(critic), MergeableMixin)


def read_portion(critic: Critic[Any], part: Corpus) -> Portion:
    """Count what a critic needs in a part of the real text; the critic is not changed.

    Raises
    ------
    UsageError
        The critic cannot be fitted in parts.
    """
    merging = mergeable(critic)
    usable, lacking = documents_to_fit(critic, part)
    left_out = len(part) - len(usable)
    if not len(usable):
        return Portion(left_out=left_out, lacking=lacking)
    counts = merging.fit_counts(usable)
    return Portion(counts, usable.hashes, left_out, lacking, splitting_of(critic.tokenizer, usable))


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
    critic.check_params()
    critic.reset()
    total = Portion.total(portions)
    check_enough(critic, name, len(total.hashes), len(total.hashes) + total.left_out, total.lacking)
    try:
        merging.fit_from(total.counts)
    except BaseException:
        critic.reset()
        raise
    critic.fitted_hashes_ = np.unique(total.hashes)
    critic.fitted_on_ = {
        "corpus": name,
        "documents": len(total.hashes),
        "left_out": total.left_out,
        "fingerprint": fingerprint_of(total.hashes),
        **total.splitting,
    }
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
            hint="fit it on a random sample of the text: momus fit … --sample 20000",
        )
    return critic
