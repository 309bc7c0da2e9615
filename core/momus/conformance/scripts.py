"""Checks of the scripts that a critic claims, and everyday sentences in ten scripts, drawn into documents; seeded."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from momus.conformance.subject import Skip, Subject, assert_same, bare_rows
from momus.critic import Critic, RunningTextCritic
from momus.critic.hooks import claimed_scripts, row_unit, scored_units, tokenizer_of
from momus.critic.scoring import score
from momus.errors import FittingError
from momus.schema import build
from momus.text.corpus import Corpus, Document, Section
from momus.text.scripts import Scripts
from momus.text.words import has_icu


@dataclass(frozen=True)
class Sample:
    """Sentences in a script, and the ISO 15924 codes of their letters."""

    codes: tuple[str, ...]
    titles: tuple[str, str, str]
    sentences: tuple[str, ...]


SAMPLES = {
    name: build(Sample, content, "samples.json")
    for name, content in json.loads(files(__package__).joinpath("samples.json").read_text(encoding="utf-8")).items()
}
"""Everyday sentences in ten scripts, eight of each."""
TRAPS = ("👩‍👩‍👧‍👦 🎉🎉 ❤️", "\u200f\u202b \u202c\u200e", "cafe\u0301 nai\u0308ve")
"""Emoji, marks of direction, and decomposed letters, one of which ends some of the documents."""
DOCUMENTS = 16
"""Documents per script."""


@lru_cache(maxsize=32)
def documents(script: str) -> Corpus:
    """Documents of three titled sections in a script, each of one to four sentences drawn at random.

    >>> documents("Thai")[0].sections[0].title
    'ตอนเช้า'
    """
    sample = SAMPLES[script]
    rng = np.random.default_rng(list(SAMPLES).index(script))
    collected = []
    for i in range(DOCUMENTS):
        sections = []
        for number, title in enumerate(sample.titles):
            # each section prefers its own three sentences of the eight
            weights = np.where(np.arange(8) // 3 == number, 4.0, 1.0)
            chosen = rng.choice(8, int(rng.integers(1, 5)), p=weights / weights.sum())
            sections.append(Section(" ".join(sample.sentences[j] for j in chosen), title))
        if i % 4 == 0:
            last = sections[-1]
            sections[-1] = Section(f"{last.text} {TRAPS[i // 4 % len(TRAPS)]}", last.title)
        collected.append(Document(f"{script.lower()}-{i:02d}", tuple(sections), prompt=f"{script}-{i}"))
    return Corpus.from_documents(collected, name=script)


def claimed_samples(claimed: Scripts) -> list[str]:
    """The scripts of the samples that a critic claims."""
    return [name for name, sample in SAMPLES.items() if all(code in claimed for code in sample.codes)]


def together(scripts: list[str], per_script: int = DOCUMENTS) -> Corpus:
    """The first documents of several scripts as one text."""
    return Corpus.from_documents([documents(name)[i] for name in scripts for i in range(per_script)], name="scripts")


LONGEST = 20
"""Characters of a word of the samples, at most; the longest has 14."""


FEW = 4
"""Documents of each script that a critic scores which was fitted on other text."""


def claimed_scripts_are_read(s: Subject) -> None:
    """Texts in each of ten scripts that the critic claims are split into words, and score alike in any batch."""
    claimed = _claimed(s)
    words_are_found(s.critic, together(claimed))
    batches_agree(s.fitted, together(claimed, FEW))


def claimed_scripts_can_be_fitted(s: Subject) -> None:
    """Fitted on text in each of ten scripts that it claims, the critic scores it alike in any batch."""
    if isinstance(s.critic, RunningTextCritic):
        raise Skip(f"the samples are shorter than a {row_unit(s.critic)}")
    fits = 0
    for name in _claimed(s):
        text = documents(name)
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
    claimed = claimed_samples(claimed_scripts(s.critic))
    if not claimed:
        raise Skip(f"the critic reads {claimed_scripts(s.critic).words()}, which the samples do not have")
    return claimed


def words_are_found(critic: Critic[object], text: Corpus) -> None:
    """No token of the critic's tokenizer is a whole clause or a mark torn from its letter.

    Raises
    ------
    AssertionError
        One is.
    """
    tokenizer = tokenizer_of(critic)
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
    units = scored_units(fitted, text)
    whole = score(fitted, units)
    small = score(fitted, units, batch_size=3)
    assert_same(whole, small, "with batches of 3")
    for row in np.linspace(0, len(units) - 1, min(len(units), 10)).astype(int).tolist():
        alone = score(fitted, Corpus(units.table.slice(row, 1), units.name))
        assert_same(bare_rows(whole, [row]), alone, "alone")
    if not has_icu():
        return
    assert all(r is not None or np.isfinite(x) for r, x in zip(whole.reasons, whole.nll, strict=True))


CHECKS = (claimed_scripts_are_read, claimed_scripts_can_be_fitted)
