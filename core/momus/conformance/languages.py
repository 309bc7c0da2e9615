"""Checks of the scripts that a critic claims: nothing is one token, and batches change nothing."""

from __future__ import annotations

import unicodedata

import numpy as np

from momus.conformance import scripts
from momus.conformance.records import Skip
from momus.conformance.subject import Subject, same_scores, worst
from momus.critic import Critic, RunningTextCritic, Scores
from momus.critic.scoring import score
from momus.errors import FittingError
from momus.text.corpus import Corpus
from momus.text.words import has_icu

LONGEST = 20
"""Characters of a word of the samples, at most; the longest has 14."""


FEW = 4
"""Documents of each script that a critic scores which was fitted on other text."""


def claimed_scripts_are_read(s: Subject) -> None:
    """Texts in each of ten scripts that the critic claims are split into words, and score alike in any batch."""
    claimed = _claimed(s)
    words_are_found(s.critic, scripts.together(claimed))
    batches_agree(s.fitted, scripts.together(claimed, FEW))


def claimed_scripts_can_be_fitted(s: Subject) -> None:
    """Fitted on text in each of ten scripts that it claims, the critic scores it alike in any batch."""
    if isinstance(s.critic, RunningTextCritic):
        raise Skip(f"the samples are shorter than a {s.critic.unit}")
    fits = 0
    for name in _claimed(s):
        text = scripts.documents(name)
        try:
            fitted = s.fit(text)
        except FittingError:  # the samples lack what the critic needs
            continue
        fits += 1
        try:
            batches_agree(fitted, text)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    if not fits:
        raise Skip("the samples are too short for the critic to be fitted on")


def _claimed(s: Subject) -> list[str]:
    """The scripts of the samples that the critic claims."""
    claimed = scripts.claimed_samples(s.critic.claims())
    if not claimed:
        raise Skip(f"the critic reads {s.critic.claims().words()}, which the samples do not have")
    return claimed


def words_are_found(critic: Critic[object], text: Corpus) -> None:
    """No token of the critic's tokenizer is a whole clause or a mark torn from its letter.

    Raises
    ------
    AssertionError
        One is.
    """
    tokenizer = critic.tokenizer
    if tokenizer is None or not tokenizer.dictionaries:
        return
    table = text.tokens(tokenizer)
    for word in table.vocabulary:
        assert len(word) <= LONGEST, f"{word!r} is one token of tokenizer {tokenizer.name!r}"
        torn = unicodedata.category(word[0])[0] == "M" and not "\ufe00" <= word[0] <= "\ufe0f"
        assert not torn, f"token {word!r} of tokenizer {tokenizer.name!r} begins with a mark of the letter before it"


def batches_agree(fitted: Critic[object], text: Corpus) -> None:
    """Documents get the same scores all at once, in batches of three, and each alone.

    Raises
    ------
    AssertionError
        Some do not.
    """
    units = fitted.units(text)
    whole = score(fitted, units)
    small = score(fitted, units, batch_size=3)
    assert same_scores(whole, small), f"scores change with batches of 3: {worst(whole, small)}"
    for row in np.linspace(0, len(units) - 1, min(len(units), 10)).astype(int).tolist():
        alone = score(fitted, Corpus(units.table.slice(row, 1), units.name))
        assert same_scores(_row(whole, row), alone), f"scores change alone: {worst(_row(whole, row), alone)}"
    if not has_icu():
        return
    assert all(r is not None or np.isfinite(x) for r, x in zip(whole.reasons, whole.nll, strict=True))


def _row(scores: Scores, row: int) -> Scores:
    return Scores(
        scores.critic,
        scores.corpus,
        [scores.ids[row]],
        [scores.prompts[row]],
        scores.nll[row : row + 1],
        scores.steps[row : row + 1],
        [scores.reasons[row]],
    )


CHECKS = (claimed_scripts_are_read, claimed_scripts_can_be_fitted)
