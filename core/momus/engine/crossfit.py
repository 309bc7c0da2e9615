"""Cross-fitting: every document is scored by critics that saw no answer to its prompt.

So it is where the reference is text of a model. Prompts are dealt to k folds. For each fold, a critic is fitted on the
other folds of the reference, and scores the documents of this fold of all texts. Of an axis that differs, another one
that is fitted on the other folds of a new text says how predictable the reference is under it. A critic whose latents
have no names of their own (`Reporting.together`: topics, dimensions) is fitted once on all texts together, without
being told which is which. Exchanging texts changes nothing in that fit, so tests keep their level, and a topic is one
topic in all folds.

Errors of folds are dependent, since the critic of one fold has seen the others. That is of second order: where both
texts come from one source, the mean difference of a fold is 0 for every critic, whatever it was fitted on. Where a
statistic is of what few documents share (names), it is not: critics of folds are fitted on all texts then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np

from momus.against.changes import changed_items, direction_of, path_of
from momus.against.versions import Direction, Item, Path, Versions
from momus.critic import Counted, Critic, Statistic
from momus.critic.hooks import AdvancedMixin, device_of, moved, row_unit, settled, tokenizer_of
from momus.critic.powers import EvidenceMixin, ItemsMixin, defines
from momus.critic.scores import AGGREGATED, Scores, joined
from momus.critic.scoring import score
from momus.errors import FittingError
from momus.estimator import clone
from momus.inference.matching import unit_keys
from momus.numeric.rounding import ROUNDING
from momus.numeric.types import Floats, Ints
from momus.progress import Timed, reporting
from momus.runs.folder import RunFolder
from momus.runs.texts import Texts, pooled
from momus.text.corpus import Corpus
from momus.verdicts.settings import Settings
from momus.verdicts.statistics import tested_statistics

FEWEST = 8
"""Fewest documents of a fold that show that all are alike."""
KEPT_CHARACTERS = 10_000_000
"""Characters of all texts together up to which their folds are kept for the next critic."""
_FOLDS = 12
"""Number that keeps the random stream of the folds apart."""


def fold_numbers(corpora: Sequence[Corpus], folds: int, seed: int) -> list[Ints]:
    """The fold of each document of each corpus; documents of one group, prompt or id are in one fold everywhere.

    >>> a = Corpus.from_texts("abcd", prompts=["p", "q", "r", "p"])
    >>> fold_numbers([a, a], 3, 0)[0].tolist() == fold_numbers([a], 3, 0)[0].tolist()
    True
    """
    keys = [unit_keys(c.groups, c.prompts, "document", c.ids) for c in corpora]
    distinct = sorted({k for side in keys for k in side})
    # of sorted keys: folds depend on the names of prompts, and not on the order of documents
    order = np.random.default_rng([seed, _FOLDS]).permutation(len(distinct))
    fold = {k: int(order[i]) % folds for i, k in enumerate(distinct)}
    return [np.array([fold[k] for k in side], dtype=np.int64) for side in keys]


def cross_scored(
    critic: Critic[Any],
    texts: Texts,
    settings: Settings,
    timed: Timed,
    folder: RunFolder | None = None,
) -> tuple[list[Scores], list[Scores]]:
    """Fit the critic on all texts, and score them by critics of folds.

    Returns
    -------
    Scores of the reference and of the new texts: those that are tested, and those under the critic that was fitted on
    all texts, from which evidence is made.

    Raises
    ------
    FittingError
        The critic cannot be fitted on some of the folds.
    """
    corpora = [texts.real, *texts.generated]
    if (tokenizer := tokenizer_of(critic)) is not None:
        for corpus in corpora:  # once for all critics: folds take their tokens from these tables
            with timed.stage("tokenizing", corpus.name):
                corpus.tokens(tokenizer)
    with reporting(timed.inner), timed.stage("fitting"):
        critic.fit(texts.real if by_summaries(critic) else texts.together)
    # what a critic reads of all texts is settled before it is saved
    settled(critic, corpora)
    if folder is not None:
        critic.save(folder.critic_folder(critic.name))
    once = fitted_once(critic)
    shown: list[Scores] = []
    # evidence is made of one fit: states of two fits have no common numbers
    if once or (isinstance(critic, EvidenceMixin) and not by_summaries(critic)):
        with timed.stage("scoring", "all", sum(map(len, corpora))):
            shown = [critic.score(c) for c in corpora]
    if once:
        return shown, shown
    every = range(len(corpora))  # the reference is the first
    fitted = every if critic.reporting.together == "folds" else [0]
    with timed.stage("scoring", "folds", sum(map(len, corpora))):
        # fitted on the other folds, so that no document is scored by a critic that has seen it or its prompt
        scored = _by_folds(critic, Folds(texts, settings), fitted, every)
    return scored, shown or scored


def fitted_once(critic: Critic[Any]) -> bool:
    """Whether a critic is fitted on all texts, and in no folds."""
    return critic.reporting.together == "once" or row_unit(critic) != "document"


def by_summaries(critic: Critic[Any]) -> bool:
    """Whether the evidence of a critic is made of the summaries of its folds: what one fit has read is usual to it."""
    return critic.reporting.together == "summaries"


def in_reverse(
    critic: Critic[Any], texts: Texts, settings: Settings, timed: Timed, names: Collection[str]
) -> dict[str, Scores]:
    """The scores of the reference under critics that are fitted on each of the new texts of these names.

    None under critics that are fitted on both texts: they have no direction.
    """
    if fitted_once(critic) or critic.reporting.together == "folds":
        return {}
    folds = Folds(texts, settings)
    with timed.stage("scoring", "reverse", len(texts.real)):
        return {
            c.name: _by_folds(critic, folds, [k], [0])[0] for k, c in enumerate(texts.generated, 1) if c.name in names
        }


class Folds:
    """The reference and the new texts in folds; short texts are taken apart once, and read once by all critics."""

    def __init__(self, texts: Texts, settings: Settings) -> None:
        self.corpora = [texts.real, *texts.generated]
        self.numbers = fold_numbers(self.corpora, settings.folds, settings.seed)
        self.name = settings.folds, settings.seed
        short = sum(int(c.characters.sum()) for c in self.corpora) <= KEPT_CHARACTERS
        self.kept = texts.parts if short else {}

    def __iter__(self) -> Iterator[int]:
        return iter(np.unique(np.concatenate(self.numbers)).tolist())

    def rest(self, of: Sequence[int], fold: int) -> Corpus:
        """The documents of some texts outside a fold."""
        parts = [self._side(k, fold, "rest") for k in of]
        return parts[0] if len(parts) == 1 else self._kept(("rest", *of, fold), lambda: pooled(parts))

    def held(self, k: int, fold: int) -> tuple[Ints, Corpus]:
        """Row numbers and documents of a text in a fold."""
        return np.flatnonzero(self.numbers[k] == fold), self._side(k, fold, "held")

    def _side(self, k: int, fold: int, side: Literal["held", "rest"]) -> Corpus:
        def make() -> Corpus:
            inside = self.numbers[k] == fold
            return self.corpora[k].reordered(np.flatnonzero(inside if side == "held" else ~inside))

        return self._kept((side, k, fold), make)

    def _kept(self, name: tuple[Any, ...], make: Callable[[], Corpus]) -> Corpus:
        if (*self.name, *name) not in self.kept:
            self.kept[(*self.name, *name)] = make()
        return self.kept[(*self.name, *name)]


def _by_folds(critic: Critic[Any], folds: Folds, fitted: Sequence[int], scored: Sequence[int]) -> list[Scores]:
    """Scores of some texts under critics fitted on the other folds of some."""
    corpora = folds.corpora
    parts: dict[int, dict[int, tuple[Ints, Scores]]] = {k: {} for k in scored}
    for fold in folds:
        learnt = moved(clone(critic), device_of(critic)).fit(folds.rest(fitted, fold))
        settled(learnt, corpora)
        for k in scored:
            rows, held = folds.held(k, fold)
            # a small text may have no document in a fold
            if len(rows):
                parts[k][fold] = rows, score(learnt, held, summarize=by_summaries(critic))
    of_folds = [{fold: scores for fold, (_, scores) in parts[k].items()} for k in scored]
    return [
        _joined(critic, corpora[k], [(rows, levelled[fold]) for fold, (rows, _) in parts[k].items()])
        for k, levelled in zip(scored, level_folds(of_folds), strict=True)
    ]


def _joined(critic: Critic[Any], corpus: Corpus, parts: Sequence[tuple[Ints, Scores]]) -> Scores:
    """The scores of all folds, in the order of the corpus; with a summary where those of folds add up."""
    # states of sequences have other numbers in each fit; where latents are aggregated, they are labelled
    unlabelled = () if defines(critic, AdvancedMixin, "aggregated_posterior") else (AGGREGATED,)
    sides = [
        replace(s, summary=None, rows={k: table for k, table in s.rows.items() if k not in unlabelled})
        for _, s in parts
    ]
    # documents are fold by fold here; to sort their row numbers, (n,), inverts that order
    whole = joined(sides).take(np.argsort(np.concatenate([rows for rows, _ in parts])), corpus.name)
    summaries: list[Any] = [s.summary for _, s in parts]
    return replace(whole, summary=reduce(add, summaries)) if summaries and None not in summaries else whole


def versions_of(
    critic: Critic[Any], texts: Texts, scored: Sequence[Scores], reverse: Mapping[str, Scores], settings: Settings
) -> Versions | None:
    """What the critic says of the versions; None for critics whose rows are not documents."""
    if row_unit(critic) != "document":
        return None
    alpha = 1 - settings.confidence
    corpora = [texts.real, *texts.generated]
    return Versions(
        tuple(_items(critic, corpora, scored, alpha)),
        tuple(_directions(critic, scored, reverse, alpha)),
        tuple(_paths(critic, scored)) if settings.chain else (),
    )


def _items(critic: Critic[Any], corpora: Sequence[Corpus], scored: Sequence[Scores], alpha: float) -> list[Item]:
    if not isinstance(critic, ItemsMixin) or any(not s.rows for s in scored):
        return []
    tables = [critic.items(s.rows) for s in scored]
    return [
        item
        for k in range(1, len(corpora))
        for kind in tables[0]
        for item in changed_items(
            kind, (scored[0], scored[k]), (tables[0][kind], tables[k][kind]), (corpora[0], corpora[k]), alpha
        )
    ]


def _directions(
    critic: Critic[Any], scored: Sequence[Scores], reverse: Mapping[str, Scores], alpha: float
) -> list[Direction]:
    sides = [(new, reverse[new.corpus]) for new in scored[1:] if new.corpus in reverse]
    directions = (direction_of(critic.name, critic.axis, critic.sequence, new, old, alpha) for new, old in sides)
    return [d for d in directions if d is not None]


def _paths(critic: Critic[Any], scored: Sequence[Scores]) -> list[Path]:
    paths = []
    for s in tested_statistics(critic, list(scored[0].rows)):
        if not (s.decides and s.kind == "value" and s.wording.direction):
            continue
        rows = [_ratio_rows(s, x) for x in scored]  # (n, 2) each, or None
        if all(r is not None for r in rows):
            paths.append(path_of(critic.name, critic.axis, s, scored, [r for r in rows if r is not None]))
    # a version may have no value, such as a mean length of quotations where there are none
    return [p for p in paths if np.isfinite(p.values).all()]


def _ratio_rows(s: Statistic, scores: Scores) -> Any:
    """Rows [x, w] of all documents, if the statistic is a ratio of their sums."""
    rows = scores.rows.get(s.rows)
    if rows is None or isinstance(rows, Counted) or rows.shape[1] != 2 or s.prepare is not None:
        return None
    return np.asarray(rows, dtype=np.float64)


def check_folds(texts: Texts, settings: Settings) -> None:
    """Make sure that there is a prompt for each fold.

    Raises
    ------
    FittingError
        The reference has too few.
    """
    (numbers,) = fold_numbers([texts.real], settings.folds, settings.seed)
    if len(np.unique(numbers)) < settings.folds:
        raise FittingError(
            f"{texts.real.name!r} has too few prompts for {settings.folds} folds", hint="give more text, or fewer folds"
        )


# Texts in which all documents are alike to a critic: a chain that all of them follow has a Latent NLL of almost 0,
# which is what smoothing left of the counts of a fold: 2.1e−5 in one fold and 2.2e−5 in another. Which documents lie in
# which fold would decide a test of such numbers.


def level_folds(texts: Sequence[Mapping[int, Scores]]) -> list[dict[int, Scores]]:
    """Scores by fold, with one Latent NLL for a text in which every fold gives all of its documents the same.

    Texts that agree in every fold get the same. Rows of two numbers that are the same in all documents of every fold
    get one value too. All other scores stay as they are.

    Parameters
    ----------
    texts
        Of each text, the scores of its documents by fold.
    """
    levelled = [dict(folds) for folds in texts]
    # a text of copies: only the folds differ, whose fits would pass for differences between documents
    constant = [i for i, folds in enumerate(texts) if folds and all(_alike(s) for s in folds.values())]
    while constant:
        first = texts[constant[0]]
        # texts with one value per fold get one number together, or a difference of rounding would be left between them
        group = [
            i
            for i in constant
            if all(
                _same(np.concatenate([x.nll[x.scored] for x in (first[f], s)]))
                for f, s in texts[i].items()
                if f in first
            )
        ]
        constant = [i for i in constant if i not in group]
        parts = [s for i in group for s in texts[i].values()]
        nll = float(np.concatenate([s.nll[s.scored] for s in parts]).mean())
        keys = [key for key in parts[0].rows if all(_one_row(s, key) for s in parts)]
        rows = {key: np.concatenate([_scored_rows(s, key) for s in parts]).mean(axis=0) for key in keys}  # (2,) each
        for i in group:
            levelled[i] = {fold: _with(s, nll, rows) for fold, s in texts[i].items()}
    return levelled


def _alike(scores: Scores) -> bool:
    """Whether all scored documents, of which there are several, have one Latent NLL and number of steps."""
    nll, steps = scores.nll[scores.scored], scores.steps[scores.scored]
    return len(nll) >= FEWEST and _same(nll) and bool(np.ptp(steps) == 0)


def _same(values: Floats) -> bool:
    return bool(np.ptp(values, axis=0).max() <= ROUNDING * np.abs(values).max())  # by column of (n,) or (n, 2)


def _scored_rows(scores: Scores, key: str) -> Floats:
    return np.asarray(scores.rows[key], dtype=np.float64)[scores.scored]


def _one_row(scores: Scores, key: str) -> bool:
    """Whether the rows under a key are pairs of numbers, the same in all scored documents."""
    rows = scores.rows.get(key)
    return isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == 2 and _same(_scored_rows(scores, key))


def _with(scores: Scores, nll: float, rows: Mapping[str, Floats]) -> Scores:
    """Scores with other values of all scored documents."""
    changed = {key: np.where(scores.scored[:, None], row, 0.0) for key, row in rows.items()}
    return replace(scores, nll=np.where(scores.scored, nll, scores.nll), rows={**scores.rows, **changed})
