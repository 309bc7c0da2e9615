"""Checks of the texts of a comparison: copies within and between them, and documents that are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from momus.comparison.covariates import groups_of_texts, order_of_texts
from momus.comparison.dependence import LEVEL, HiddenGroups, OrderCorrelation
from momus.text.corpus import Corpus
from momus.text.duplicates import Duplicates, Shared, near_duplicates, shared_texts
from momus.text.sketches import sketch

SHARE, FEWEST = 0.01, 2
"""Copies are worth a warning if they are at least this share of the documents, and at least so many."""

Kind = Literal["repeated", "fitted", "memorised", "copied", "leaked", "groups", "order"]


@dataclass(frozen=True)
class SharedGroups:
    """Groups that two corpora share: how many, and a few of them."""

    groups: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class TrustCheck:
    """The outcome of one check.

    Attributes
    ----------
    kind
        ``repeated``: documents that repeat others of the same corpus; ``fitted`` and ``memorised``: real and generated
        documents that are also in the text that critics are fitted on; ``copied``: generated documents that are also
        in the real text; ``leaked``: real documents of groups that critics are fitted on; ``groups``: ids betray groups
        of documents that resemble each other; ``order``: neighbouring documents resemble each other.
    corpus, other
        Names of the corpus that is checked, and of the one it is compared with, if any.
    documents, total
        Number of documents that the check found, and of the documents of the corpus.
    warns
        Whether a reader should know.
    found
        What the check measured.
    """

    kind: Kind
    corpus: str
    other: str | None
    documents: int
    total: int
    warns: bool
    found: Duplicates | Shared | HiddenGroups | OrderCorrelation | SharedGroups

    @property
    def share(self) -> float:
        """Share of the documents of the corpus that the check found."""
        return self.documents / self.total if self.total else 0.0

    @property
    def warning(self) -> str:
        """The outcome in a sentence or two."""
        count = f"{self.documents:,} of {self.total:,} documents of {self.corpus!r}"
        found = self.found
        if isinstance(found, HiddenGroups):
            return _of_groups(self.corpus, found)
        if isinstance(found, OrderCorrelation):
            return (
                f"Documents of {self.corpus!r} resemble their neighbours in {found.covariate} (correlation "
                f"{found.correlation:.2f}, p = {found.p:.2g}, n = {found.documents:,}). If the text is ordered by "
                "source (author, book, site), give each source a group_id: else intervals are too narrow."
            )
        if isinstance(found, Duplicates):
            return (
                f"{count} repeat another one ({found.exact:,} word for word, {found.near:,} nearly"
                f"{_example(found.examples)}). Copies are not independent: remove them, or give copies one group_id."
            )
        if isinstance(found, SharedGroups):
            return (
                f"{count} belong to groups that critics are fitted on ({found.groups:,} groups, such as "
                f"{found.examples[0]!r}), so their scores are too good: give a --fit of other groups, or leave --fit "
                "out to have the real text split by groups."
            )
        exact = int(found.exact[0].sum())
        how = f" ({exact:,} word for word{_example(found.examples)})" if exact < self.documents else ""
        if self.kind in ("fitted", "memorised"):
            memory = " A generator that was trained on that text may have memorised it." * (self.kind == "memorised")
            return f"{count} are also in the text that critics are fitted on{how}, so its scores are too good.{memory}"
        return f"{count} are also in {self.other!r}{how}: copies of real text hide how the generator differs."


def check_texts(
    fitting: Corpus, real: Corpus, generated: Sequence[Corpus], whole: Corpus | None = None
) -> list[TrustCheck]:
    """Check the texts of a comparison for copies and for dependent documents.

    Parameters
    ----------
    whole
        The real text before it was split into ``fitting`` and ``real``, if it was.

    Returns
    -------
    All checks that could be made, also those that found nothing (``warns`` is False).
    """
    held = sketch(real)
    fit = held if fitting is real else sketch(fitting)
    sketches = [sketch(corpus) for corpus in generated]
    checks = [_known(s.corpus, s is held, fitting, shared_texts(s, fit)) for s in (held, *sketches)]
    checks += [_repeated(s.corpus, near_duplicates(s)) for s in ([held] if fit is held else [fit, held])]
    checks += [_repeated(s.corpus, near_duplicates(s)) for s in sketches]
    checks += [_copied(s.corpus, real.name, shared_texts(s, held)) for s in sketches]
    if fitting is not real:
        checks.append(_leaked(real, fitting))
    sources = [whole] if whole is not None else [real] if fitting is real else [fitting, real]
    for corpus in (*sources, *generated):
        checks += dependence_checks(corpus)
    return checks


def dependence_checks(corpus: Corpus) -> list[TrustCheck]:
    """Check whether ids or the order of a corpus betray documents that resemble each other.

    The two tests share the level; both are left out where group ids, or prompts that repeat, say what belongs together.
    """
    found = [f for f in (groups_of_texts(corpus), order_of_texts(corpus)) if f is not None]
    level = LEVEL / max(len(found), 1)
    return [
        TrustCheck(
            "groups" if isinstance(f, HiddenGroups) else "order",
            corpus.name,
            None,
            f.documents,
            len(corpus),
            f.warns(level),
            f,
        )
        for f in found
    ]


def _repeated(corpus: Corpus, found: Duplicates) -> TrustCheck:
    copies = found.exact + found.near
    return TrustCheck("repeated", corpus.name, None, copies, len(corpus), _many(copies, found.documents), found)


def _known(corpus: Corpus, real: bool, fitting: Corpus, found: Shared) -> TrustCheck:
    """Find documents that critics were fitted on; here, one document known word for word is one too many."""
    known = np.isin(corpus.hashes, fitting.hashes) & ~corpus.blank
    documents = int((known | found.either[0]).sum())
    kind: Kind = "fitted" if real else "memorised"
    warns = bool(known.any()) or _many(documents, found.documents[0])
    return TrustCheck(kind, corpus.name, fitting.name, documents, len(corpus), warns, found)


def _copied(corpus: Corpus, real: str, found: Shared) -> TrustCheck:
    copies = int(found.either[0].sum())
    return TrustCheck("copied", corpus.name, real, copies, len(corpus), _many(copies, found.documents[0]), found)


def _leaked(corpus: Corpus, fitting: Corpus) -> TrustCheck:
    """Find documents of groups that critics are fitted on."""
    common = ({*corpus.groups} & {*fitting.groups}) - {None}
    documents = sum(g in common for g in corpus.groups)
    shared = SharedGroups(len(common), tuple(sorted(g for g in common if g is not None)[:3]))
    return TrustCheck("leaked", corpus.name, fitting.name, documents, len(corpus), documents > 0, shared)


def _many(copies: int, documents: int) -> bool:
    return copies >= max(FEWEST, SHARE * documents)


def _of_groups(name: str, found: HiddenGroups) -> str:
    names = " and ".join(map(repr, found.examples))
    interval = f", 95 % interval {found.low:.2f} to {found.high:.2f}" if np.isfinite(found.low) else ""
    wider = np.sqrt(found.design_effect)
    return (
        f"The ids of {name!r} suggest {found.groups:,} groups, such as {names}, and documents of one group resemble "
        f"each other in {found.covariate} (intraclass correlation {found.icc:.2f}{interval}, p = {found.p:.2g}, "
        f"n = {found.documents:,}; a standard error that ignores this is too small by a factor of {wider:.1f}). Give "
        "the documents a group_id: then whole groups are split, resampled and permuted."
    )


def _example(pairs: Sequence[tuple[str, str]]) -> str:
    return f"; for example {pairs[0][0]!r} and {pairs[0][1]!r}" if pairs else ""
