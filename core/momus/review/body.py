"""A body of human text: critics fitted on a part of it, and held-out documents that calibrate p-values.

On disk (`momus.review.kept`), fitted critics lie in folders, and held-out documents and their values in one table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momus.arguments import arg
from momus.critic import Critic, RunningTextCritic
from momus.critic.kinds import PairedCritic, StatisticCritic
from momus.critic.scoring import score
from momus.errors import FittingError, UsageError
from momus.estimator import clone
from momus.numeric.types import Floats, Ints
from momus.outliers.conformal import folds_of
from momus.outliers.rows import Measure
from momus.progress import Reporter, Silent
from momus.review.contrast import FOLDS, Contrast, Measured
from momus.review.spans import stretch, word_counts
from momus.review.yardstick import Yardstick
from momus.text.corpus import Corpus
from momus.text.documents import Document

FITTED = 0.4
"""Share of the body that critics are fitted on; the rest is held out."""
LEAST = 60
"""Fewest documents of a body: 24 to fit on, 36 to calibrate."""
FEWEST = round(LEAST * (1 - FITTED))
SLOW = ("code-mixing", "passages", "consistency", "coreference", "topics", "mauve")
"""Critics that are left out unless they are named: they take long, and tell little of single documents."""
SCORED = 0.8
"""Least share of the held-out documents to which a critic gives a value; others say too little of single documents."""
STEP = 1.25
"""Lengths of beginnings are so many times apart."""
GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it spread evenly over fractions."""
REMARKABLE = 0.02
"""Largest share of the body that has a fault of which remarks are made."""


@dataclass(frozen=True)
class Body:
    """Human text that documents are judged by.

    Attributes
    ----------
    critics
        Fitted critics, which judge documents.
    held
        The documents that no critic was fitted on.
    values
        What ranks them under each critic, NaN where unscored: float64 (held-out documents, critics).
    odds
        Their log-odds by the contrast, (held-out documents, folds); (held-out documents, 0) without text of models.
    fitted
        Number of documents that the critics were fitted on.
    contrast
        What tells text of models; None without such text.
    watch
        The critic that looks for faults; None if it was not chosen.
    faults
        How often documents of the body have each fault that any has, by name.
    left_out
        Why critics are left out, by name.
    assigned
        The fold of each held-out document whose log-odds were learned with other documents: (n,); None: of its own.
    """

    name: str
    critics: Sequence[Critic[Any]]
    held: Corpus
    values: Floats
    odds: Floats
    fitted: int
    contrast: Contrast | None = None
    watch: Critic[Any] | None = None
    faults: Mapping[str, float] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    assigned: Ints | None = None
    _beginnings: dict[int, Yardstick] = field(default_factory=dict, init=False, compare=False, repr=False)

    def measure(self, corpus: Corpus) -> tuple[Floats, Floats]:
        """Values of documents under each critic, NaN where unscored, (n, critics), and their log-odds, (n, folds)."""
        measured = Measured.of(self.critics, corpus)
        return measured.values, self.contrast.odds(measured) if self.contrast else np.zeros((len(corpus), 0))

    def beside(self, models: Corpus, human: Corpus) -> Body:
        """The same body with what tells text of models from human text: its own, or of the kinds of ``models``.

        Documents of one text, group or prompt are all left out with a held-out document, or none.
        """
        judged = zip(_shared(self.held), self.folds[0].tolist(), strict=True)
        fold = {key: k for keys, k in judged for key in keys if key[1] is not None}
        folds = [
            next((fold[key] for key in keys if key in fold), -1) for text in (human, models) for keys in _shared(text)
        ]
        of_human, of_models = (Measured.of(self.critics, text) for text in (human, models))
        fitted = np.isin(human.hashes, np.setdiff1d(self.hashes, self.held.hashes))
        contrast = Contrast.learn(of_human.hiding(fitted), of_models, np.array(folds))
        return replace(self, contrast=contrast, odds=contrast.odds(Measured.of(self.critics, self.held)))

    def rate(self, fault: str) -> float:
        """How often a document of the body has a fault, at least 1 / (documents + 1)."""
        return self.faults.get(fault, 1 / (self.fitted + len(self.held) + 1))

    def calibrates(self, level: float) -> bool:
        """Whether enough is held out for a p as small as a level."""
        return self.units > 1 and (self.units + 1) * level >= 1

    def categories(self, by: str, level: float) -> dict[str, Body]:
        """The parts of the body that judge documents of one category of a field each, where enough is held out.

        Critics, and what tells text of models, are those of all. A fault is rare if it is rare in the category too.

        Raises
        ------
        UsageError
            No held-out document has the field.
        """
        of = np.array([name or "" for name in self.held.field(by)])
        names = [str(name) for name in np.unique(of) if name]
        if not names:
            raise UsageError(
                f"no held-out document of {self.name} has the field {by!r}",
                hint=f"fit human text that has it, with {arg('by', by)}",
            )
        bodies = {name: self._category(np.flatnonzero(of == name)) for name in names}
        return {name: body for name, body in bodies.items() if len(body.held) >= FEWEST and body.calibrates(level)}

    def _category(self, rows: Ints) -> Body:
        held = self.held.take(rows)
        counts = Counter(chain.from_iterable(faults_of(self.watch, held)))
        faults = {name: max(self.rate(name), n / len(held)) for name, n in counts.items()}
        return replace(
            self,
            held=held,
            values=self.values[rows],
            odds=self.odds[rows],
            faults={**self.faults, **faults},
            assigned=self.folds[0][rows],
        )

    @cached_property
    def units(self) -> int:
        """Number of held-out documents, or groups of them, that calibrate."""
        return round(float(self.folds[1].sum()))

    @cached_property
    def common(self) -> int:
        """The number of words that four fifths of the held-out documents have."""
        return int(np.quantile(self.words, 0.2))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Hashes of the documents that it holds, fitted and held out."""
        return np.concatenate([self.held.hashes, *(c.fitted_hashes_ for c in (*self.critics, self.watch) if c)])

    @cached_property
    def words(self) -> Ints:
        """Number of words of each held-out document."""
        return word_counts([document.text for document in self.held])

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """The words between which documents are judged as they are: 96 in 100 held-out ones lie there."""
        low, high = np.quantile(self.words, [0.02, 0.98])
        return int(low), int(np.ceil(high))

    @cached_property
    def folds(self) -> tuple[Ints, Floats]:
        """The fold of each held-out document, and its weight: (n,)."""
        folds, weights = folds_of(named(self.held), FOLDS)
        answers = Counter(self.held.prompts)
        if any(n > 1 for prompt, n in answers.items() if prompt is not None):  # what one teaches of another is no news
            shared = [d.group or (d.prompt if answers[d.prompt] > 1 else None) for d in self.held]
            folds, _ = folds_of(list(zip(self.held.ids, shared, strict=True)), FOLDS)
        # folds stay in a category, as log-odds come from regressions without them; weights are within it
        return (folds if self.assigned is None else self.assigned), weights

    @cached_property
    def whole(self) -> Yardstick:
        """What judges documents that are as long as those of the body."""
        return self._yardstick(self.values, self.odds, self.words, np.arange(len(self.held)))

    def beginnings(self, words: int) -> Yardstick | None:
        """What judges stretches of so many words, by beginnings of held-out documents; None if too few are so long."""
        rows = np.flatnonzero(self.words >= words)
        if len(rows) < FEWEST:
            return None
        if words not in self._beginnings:
            held = self.held.take(rows)
            # of all lengths that are judged beside them, so that what depends on the length is seen
            spread = words * STEP ** (np.arange(len(held)) * GOLDEN % 1 - 0.5)
            texts = [stretch(document.text, round(n)) for document, n in zip(held, spread.tolist(), strict=True)]
            cut = Corpus.from_documents(
                [Document.plain(d.id, text, d.prompt, d.group) for d, text in zip(held, texts, strict=True)], self.name
            )
            self._beginnings[words] = self._yardstick(*self.measure(cut), word_counts(texts), rows)
        return self._beginnings[words]

    def _yardstick(self, values: Floats, odds: Floats, words: Ints, rows: Ints) -> Yardstick:
        two_sided = [Measure.of_class(type(critic)).two_sided for critic in self.critics]
        folds, weights = self.folds
        return Yardstick.of(values, odds, words, folds[rows], weights[rows], two_sided)


def fit_body(
    human: Corpus,
    models: Corpus | None = None,
    critics: Sequence[str | Critic[Any]] | None = None,
    config: dict[str, dict[str, Any]] | None = None,
    seed: int = 0,
    reporter: Reporter | None = None,
    people: Corpus | None = None,
    by: str = "",
) -> Body:
    """Fit critics on two fifths of human text, by whole groups, and hold out the rest.

    Parameters
    ----------
    models
        Text of models: what tells it from human text is learned too.
    critics
        Default: all that judge single documents, but for the slowest.
    people
        Human text of the kinds that ``models`` are of, if these are others than that of the body.
    by
        The field that `review` judges by. Documents of a category that is one group, such as a writer, count singly.

    Raises
    ------
    UsageError
        The text has fewer than 60 documents, or no critic can be fitted.
    """
    from momus.engine.chosen import Chosen  # slow to import, and not needed where a body was kept

    reporter = reporter or Silent()
    if people is not None and models is None:
        raise UsageError(f"{arg('people')} without {arg('models')}", hint=f"give text of models with {arg('models')}")
    readable = human.take(np.flatnonzero([problem is None for problem in human.problems]), human.name)
    fit, held = _split(_regrouped(readable, by) if by else readable, seed)
    fitted: list[Critic[Any]] = []
    watch = None
    selection = Chosen(_judges(critics, config or {}))
    for critic in selection.critics:
        with selection.attempt(critic, named=critics is not None), reporter.stage(f"fitting {critic.name}"):
            one = clone(critic).fit(fit)
            if one.reporting.faulty:
                watch = one
                continue
            if float(score(one, held, summarize=False).scored.mean()) < SCORED:
                raise FittingError(f"critic {critic.name!r} gives most of these documents no value")
            fitted.append(one)
    if not fitted and watch is None:
        raise UsageError(
            f"no critic can be fitted on {human.name}",
            hint="; ".join(f"{name}: {reason}" for name, reason in selection.reasons.items()),
        )
    faults = _rates(watch, readable, held)
    none = np.zeros((len(held), 0))
    body = Body(human.name, fitted, held, none, none, len(fit), None, watch, faults, selection.reasons)
    body = replace(body, values=body.measure(held)[0])
    if models is None:
        return body
    with reporter.stage("weighing words and critics"):
        return body.beside(models, readable if people is None else people)


def _rates(watch: Critic[Any] | None, human: Corpus, held: Corpus) -> dict[str, float]:
    """How often documents have each fault, (k + 1) / (n + 1); of words that the critic has learned, those held out."""
    every, unseen = (Counter(chain.from_iterable(faults_of(watch, text))) for text in (human, held))
    return {name: max((n + 1) / (len(human) + 1), unseen[name] / len(held)) for name, n in every.items()}


def faults_of(watch: Critic[Any] | None, corpus: Corpus) -> list[list[str]]:
    """Names of the faults of each document; none if no critic looks for them."""
    z = None if watch is None else score(watch, corpus, summarize=False).z
    return [names.split(" → ") if names else [] for names in (z.to_pylist() if z else [None] * len(corpus))]


def named(corpus: Corpus) -> list[tuple[str, str | None]]:
    """Id and group of each document."""
    return list(zip(corpus.ids, corpus.groups, strict=True))


def _shared(text: Corpus) -> list[list[tuple[str, object]]]:
    """What documents may share with others, the nearest first: text, group and prompt."""
    rows = zip(text.hashes.tolist(), text.groups, text.prompts, strict=True)
    return [list(zip(("text", "group", "prompt"), row, strict=True)) for row in rows]


def _regrouped(text: Corpus, by: str) -> Corpus:
    """The text without the groups that are a whole category of a field: its documents are alike otherwise."""
    categories = text.field(by)
    pairs = set(zip(categories, text.groups, strict=True))
    sizes = Counter(category for category, _ in pairs)
    alone = [c is not None and sizes[c] == 1 for c in categories]
    documents = (replace(d, group=None) if of_category else d for d, of_category in zip(text, alone, strict=True))
    return Corpus.from_documents(documents, text.name)


def _split(text: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """The part that critics are fitted on, and the rest."""
    if len(text) < LEAST:
        raise UsageError(
            f"{text.name}: {len(text)} documents, and a body needs at least {LEAST}",
            hint="give more text of the kind; the smallest p is about 1.7 divided by the documents of the body",
        )
    return text.split(FITTED, seed)


def _judges(critics: Sequence[str | Critic[Any]] | None, config: dict[str, dict[str, Any]]) -> list[Critic[Any]]:
    """The critics that judge documents; by default, all but the slowest."""
    from momus.engine.chosen import chosen_critics

    chosen = chosen_critics(critics, config).critics
    judges = [c for c in chosen if not isinstance(c, RunningTextCritic | StatisticCritic | PairedCritic)]
    if critics is None:
        return [c for c in judges if c.name not in SLOW]
    if len(judges) < len(chosen):
        others = ", ".join(c.name for c in chosen if c not in judges)
        raise UsageError(f"{others}: no critics of single documents", hint="name others, or none for all that judge")
    return judges
