"""What tells text of models from human text: a penalised logistic regression on words and on values of critics.

A document is two vectors of length 1, of its words and of its forms, (1 + log tf) · (1 + log((1 + n) / (1 + df))),
beside its standardised values: what ranks it under each critic, and the critics' statistics of this one document. Forms
are endings of long words, and pairs of neighbours in which endings stand for these: they depend less on the subject.
Words and forms are multiplied by |log(share of models' documents / share of people's)|^½ (after the naive Bayes
features of Wang & Manning 2012), so that the penalty rests on those that tell nothing alone.

The regression is fitted once without each fold of human documents, whose log-odds it then tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from momus.critic import Critic
from momus.critic.rows import Counted
from momus.critic.scoring import score
from momus.numeric.types import Bools, Floats, Ints
from momus.outliers.rows import rounded
from momus.text.corpus import Corpus
from momus.text.tokens import get_tokenizer

FOLDS = 10
"""Folds of the held-out human documents, each of which is judged by what the others teach."""
PENALTY = 10.0
"""Inverse strength of the penalty, as scikit-learn's ``C``."""
OF_VALUES = 0.05
"""What a standardised value counts: some hundred of them together, about half as much as all words."""
FEWEST = 2
"""Fewest documents of a word that counts."""
CLIPPED = 4.0
"""Values beyond so many standard deviations count as so many."""
SHORT, ENDING = 3, 2
"""Most letters of a word that pairs hold whole, and how many of a longer one they hold."""
TELLING = 4
"""Fewest letters of a word that is shown."""
WORDS = get_tokenizer("words", reads="prose")


@dataclass(frozen=True)
class Measured:
    """Documents as critics and a contrast see them.

    Attributes
    ----------
    values
        What ranks them under each critic (Latent NLL, per step if latents are sequences; or the critic's own measure),
        NaN where unscored: float64 (n, critics).
    statistics
        The critics' statistics of each document that are ratios, NaN where undefined, by name: (n,).
    bag
        Their words and forms.
    """

    values: Floats
    statistics: dict[str, Floats]
    bag: Counted

    @classmethod
    def of(cls, critics: Sequence[Critic[Any]], corpus: Corpus) -> Measured:
        """Score documents."""
        columns, statistics = [np.zeros((len(corpus), 0))], {}
        for critic in critics:
            scores = score(critic, corpus, summarize=False)
            columns.append(rounded(np.where(scores.scored, scores.outlying(critic.sequence), np.nan))[:, None])
            for name, rows in scores.rows.items():
                if not isinstance(rows, Counted) and rows.shape[1] == 2:
                    with np.errstate(divide="ignore", invalid="ignore"):
                        statistics[f"{critic.name} {name}"] = rows[:, 0] / rows[:, 1]
        return cls(np.hstack(columns), statistics, bag_of(corpus))

    def hiding(self, hidden: Bools) -> Measured:
        """The same without values of some documents, (n,), which critics that were fitted on them find too usual."""
        statistics = {name: np.where(hidden, np.nan, column) for name, column in self.statistics.items()}
        return replace(self, values=np.where(hidden[:, None], np.nan, self.values), statistics=statistics)

    def features(self, names: Sequence[str]) -> Floats:
        """Values and these statistics, NaN where a document has none: (n, critics + names)."""
        missing = np.full(len(self.values), np.nan)
        return np.column_stack([self.values, *(self.statistics.get(name, missing) for name in names)])


@dataclass(frozen=True)
class Contrast:
    """Weights of words and values.

    Attributes
    ----------
    vocabulary, rarity
        The words and forms, and log((1 + n) / (1 + df)) + 1 of each: (V,).
    statistics, mean, scale
        Names of statistics, and what standardises values and statistics: (critics + statistics,).
    weights, intercepts
        Of the regression without each fold, (folds, V + critics + statistics) and (folds,).
    """

    vocabulary: Sequence[str]
    rarity: Floats
    statistics: Sequence[str]
    mean: Floats
    scale: Floats
    weights: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    intercepts: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def learn(cls, human: Measured, models: Measured, folds: Ints) -> Contrast:
        """Learn from human documents, (n,), and those of models, (m,); ``folds`` are those of both, −1 for none."""
        both = human, models
        of_model = np.repeat([0, 1], [len(side.values) for side in both])
        shares = Counter[str]()  # documents that have each word
        for bag in (side.bag for side in both):
            present = np.bincount(bag.matrix.indices, minlength=len(bag.labels))
            shares.update(dict(zip(bag.labels, present.tolist(), strict=True)))
        vocabulary = sorted(word for word, count in shares.items() if count >= FEWEST)
        rarity = 1 + np.log((1 + len(of_model)) / (1 + np.array([shares[word] for word in vocabulary])))
        statistics = sorted(set(human.statistics) & set(models.statistics))
        values = np.ma.masked_invalid(np.vstack([side.features(statistics) for side in both]))
        mean, scale = (np.ma.filled(of(axis=0), 0.0) for of in (values.mean, values.std))
        blank = cls(vocabulary, rarity, statistics, mean, np.where(scale > 1e-9, scale, np.inf))
        features = sparse.csr_array(sparse.vstack([blank._features(side) for side in both]))
        if folds.max() < 0:  # no document is to be judged without its fold: one regression of all
            fitted = [_regression(features, of_model, folds < 0, len(vocabulary))] * FOLDS
        else:
            fitted = [_regression(features, of_model, folds != k, len(vocabulary)) for k in range(FOLDS)]
        return replace(blank, weights=np.array([w for w, _ in fitted]), intercepts=np.array([i for _, i in fitted]))

    def odds(self, documents: Measured) -> Floats:
        """Log-odds that documents are text of models, by the regression without each fold: (n, folds)."""
        return np.asarray(self._features(documents) @ self.weights.T + self.intercepts)

    def telling(self, document: Corpus, most: int) -> list[str]:
        """The words of one document that speak most for text of models, at most so many."""
        parts = self._words(bag_of(document)).toarray()[0] * self.weights[:, : len(self.vocabulary)].mean(axis=0)
        words = [self.vocabulary[i] for i in np.argsort(-parts) if parts[i] > 0]
        return [word for word in words if len(word) >= TELLING and word.isalpha()][:most]

    def _features(self, documents: Measured) -> sparse.csr_array:
        """Words and values of documents: (n, V + critics + statistics)."""
        values = (documents.features(self.statistics) - self.mean) / self.scale
        values = OF_VALUES * np.clip(np.nan_to_num(values), -CLIPPED, CLIPPED)
        return sparse.csr_array(sparse.hstack([self._words(documents.bag), sparse.csr_array(values)]))

    @cached_property
    def _numbers(self) -> tuple[dict[str, int], Ints]:
        """The number of each label, and 1 for forms, 0 for words: (V,)."""
        forms = np.array([label[0] == " " for label in self.vocabulary], np.int64)
        return {label: i for i, label in enumerate(self.vocabulary)}, forms

    def _words(self, bag: Counted) -> sparse.csr_array:
        """Words and forms of documents, each as vectors of length 1: (n, V)."""
        number, forms = self._numbers
        numbers = np.array([number.get(str(label), -1) for label in bag.labels], np.int64)
        known = np.flatnonzero(numbers >= 0)
        # entry (i, j) is 1 if label i of the documents is number j of the vocabulary: (labels, V)
        entries = np.ones(len(known)), (known, numbers[known])
        words = sparse.csr_array(bag.matrix @ sparse.csr_array(entries, shape=(len(numbers), len(self.vocabulary))))
        words.data = (1 + np.log(words.data)) * self.rarity[words.indices]
        lengths = np.sqrt(words.multiply(words) @ np.eye(2)[forms])  # (n, 2)
        words.data /= lengths[sparse.coo_array(words).row, forms[words.indices]]
        return words


def bag_of(corpus: Corpus) -> Counted:
    """Count words and, as labels that start with a space, endings of long words and pairs of short words and endings.

    >>> sorted(bag_of(Corpus.from_texts(["He was walking."], name="one")).total())
    [' he was', ' was ~ng', ' ~ng', ' ~ng .', '.', 'he', 'walking', 'was']
    """
    table = corpus.tokens(WORDS)
    shown = [word if len(word) <= SHORT else f"~{word[-ENDING:]}" for word in table.vocabulary]
    number = {form: i for i, form in enumerate(dict.fromkeys(shown))}
    forms, n = list(number), len(number)
    form = np.array([number[name] for name in shown], np.int64)[table.ids]  # (tokens,), as all below
    ending = np.where([len(word) > SHORT for word in table.vocabulary], 0, -1)[table.ids] | form  # −1 | x = −1
    pair = form * n + np.append(form[1:], 0)
    pair[table.offsets[1:][table.lengths > 0] - 1] = -1  # the last token of a document has no neighbour
    pairs, codes = np.unique(pair, return_inverse=True)
    couples = [f" {forms[p // n]} {forms[p % n]}" for p in pairs.tolist()]
    parts = (table.ids, table.vocabulary), (ending, [f" {f}" for f in forms]), (np.where(pair < 0, -1, codes), couples)
    matrices = [Counted.of_tokens(codes, table.offsets, labels).matrix for codes, labels in parts]
    return Counted(sparse.csr_array(sparse.hstack(matrices)), [label for _, labels in parts for label in labels])


def _regression(features: sparse.csr_array, of_model: Ints, learned: Bools, words: int) -> tuple[Floats, float]:
    """Weights and intercept of a regression of some documents, a mask of all; the first columns are those of words."""
    from sklearn.linear_model import LogisticRegression

    features, of_model = features[np.flatnonzero(learned)], of_model[learned]
    human, models = (
        (1 + np.bincount(side.indices, minlength=features.shape[1])[:words]) / (2 + side.shape[0])
        for side in (features[np.flatnonzero(of_model == k)] for k in (0, 1))
    )
    telling = np.sqrt(np.abs(np.log(models / human)))
    # of mean square 1, so that words keep their strength beside values
    factors = np.append(telling / np.sqrt(np.mean(telling**2) or 1.0), np.ones(features.shape[1] - words))
    fitted = LogisticRegression(C=PENALTY, class_weight="balanced", max_iter=1000)
    fitted.fit(features @ sparse.diags_array(factors), of_model)
    return fitted.coef_[0] * factors, float(fitted.intercept_[0])
