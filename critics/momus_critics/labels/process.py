"""What the processes of all types of labels have in common: they read one field, and learn from its values.

The labels that a critic knows are columns of a matrix; those that are rare or new share the last column.
Labels that err: rows are corrected by the documents whose true labels are known (`by_gold`).
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Generic, Self, TypeVar, cast

import numpy as np
from scipy import sparse

from momus.critic import Reporting, Statistic
from momus.critic.rows import Counted, Pooled, aligned
from momus.critic.scores import Scores
from momus.errors import FittingError
from momus.inference.prediction_powered import corrected
from momus.inference.samples import indicator
from momus.numeric.types import Floats
from momus.reading.labels import GOLD
from momus.text.corpus import Corpus
from momus.text.counting import counted
from momus_critics.labels.values import Weights, read, shown

TOLERANCE = 1e-9
"""A true label that differs by more contradicts a label."""
CONTRADICTED = Statistic.share(
    "contradicted_share",
    "contradicted",
    "labels that true ones contradict",
    ("less often labelled wrongly", "more often labelled wrongly"),
    clause="{} of the labels are contradicted by true ones",
    decides=False,
    band=False,
)
"""How often the labeller errs on each text; a difference says that it errs otherwise on one than on the other."""


def by_gold(scores: Scores, corpus: Corpus, field: str, score: Callable[[Corpus], Scores]) -> Scores:
    """The scores with corrected rows, and with rows [whether the label is contradicted, 1] of the known documents.

    Parameters
    ----------
    score
        Scores documents by the labels in the field.
    """
    contradicted = np.zeros((len(scores), 2))
    known = [i for i, (g, r) in enumerate(zip(corpus.field(field + GOLD), scores.reasons, strict=True)) if g and not r]
    held = [json.loads(value or "") for value in corpus.take(known).field(field + GOLD)]
    rows = dict(scores.rows)
    if known and rows:
        truth = score(corpus.take(known).with_field(field, [h["label"] for h in held]))
        readable = np.flatnonzero([reason is None for reason in truth.reasons])
        places, weights = np.array(known)[readable], np.array([float(h["weight"]) for h in held])[readable]
        labelled = np.flatnonzero([reason is None for reason in scores.reasons])
        wrong = np.zeros(len(places), dtype=bool)
        for key, table in rows.items():
            if isinstance(table, Counted):
                # λ = 1: counts of a text may be below 0 then, as those of no document are
                one, other = aligned([table, cast("Counted", truth.rows[key])])
                change = sparse.diags_array(weights) @ (other.matrix[readable] - one.matrix[places])
                matrix_ = one.matrix + indicator(places, one.matrix.shape[0]) @ change
                rows[key] = Counted(matrix_.tocsr(), one.labels)
                continue
            true, out = np.asarray(truth.rows[key])[readable], np.array(table, dtype=np.float64)
            wrong |= (np.abs(true - out[places]) > TOLERANCE).any(axis=1)
            out[labelled] = corrected(out[labelled], true, np.searchsorted(labelled, places), weights)
            rows[key] = out
        contradicted[places] = np.column_stack([wrong, np.ones(len(places))])
    rows[CONTRADICTED.rows] = contradicted
    # a summary that is no sum of rows stays that of the labels
    pooled = isinstance(scores.summary, Pooled) and scores.summary.arrays.keys() <= rows.keys()
    summary = Pooled.of_rows(rows, int(scores.scored.sum())) if pooled else scores.summary
    return replace(scores, rows=rows, summary=summary)


V = TypeVar("V")


class LearnsLabels(ABC, Generic[V]):
    """A process that learns from the labels of documents, read from one field as one type.

    Attributes
    ----------
    field, kind
        Name of the field, and type of its labels.
    labels_
        The labels, `OTHER` last, if they are names.
    """

    field: str
    kind: str
    labels_: list[str]

    @abstractmethod
    def learn(self, values: Sequence[V]) -> None:
        """Learn P_c from the labels of real documents."""

    def values(self, batch: Corpus) -> list[V]:
        """The label of each document; all can be read."""
        return [read(text or "", self.kind) for text in batch.field(self.field)]

    def fit(self, real: Corpus) -> Self:
        """Learn P_c from the labels of real documents."""
        self.learn(self.values(real))
        return self


def reporting_of(where: str, entropy: tuple[str, str] | None = None, headline: str = "") -> Reporting:
    """How labels are reported; ``where`` says in what a text is usual or not.

    Latent NLL decides, unless another statistic is the ``headline``. P(z) of the texts together is compared where its
    ``entropy`` has words.
    """
    usual = f"more usual {where}", f"less usual {where}"
    directions = {"latent_nll": usual, "latent_ppl": usual}
    return Reporting(
        headline=headline,
        directions=directions if entropy is None else {**directions, "posterior_entropy": entropy},
        limits="It sees what the labeller saw, as labelled: it cannot tell whether the labels are right.",
        # shares are compared label by label, and which labels there are must be the same in every fold
        together="once",
        aggregated=entropy is not None,
    )


MOST = 200
"""Labels that a critic tells apart."""
FEW = 20
"""Labels that may all differ."""
TOLD = 12
"""Labels whose shares are compared, the most frequent ones."""
OTHER = "(other)"


def learned(weights: Sequence[Weights], field: str) -> list[str]:
    """The labels of real text, the most frequent first, and `OTHER`.

    Raises
    ------
    FittingError
        There are more than `FEW`, and most documents have one that no other has: these are texts.

    >>> learned([{"warm": 1.0}, {"cold": 1.0}, {"warm": 1.0}], "tone")
    ['warm', 'cold', '(other)']
    """
    totals: defaultdict[str, float] = defaultdict(float)
    occurring: Counter[str] = Counter()
    for row in weights:
        for label, weight in row.items():
            totals[label] += weight
            occurring[label] += 1
    single = sum(n == 1 for n in occurring.values())
    if len(totals) > FEW and single > len(weights) / 2:
        raise FittingError(
            f"{field!r} has {counted(len(totals), 'label')}, of which {single:,} occur once: these are texts, not "
            "labels",
            hint="give labels that recur, such as a judge's verdicts",
        )
    totals.pop(OTHER, None)
    order = sorted(totals, key=lambda label: (-totals[label], label))
    return [*order[:MOST], OTHER]


def matrix(weights: Iterable[Weights], labels: Sequence[str]) -> Floats:
    """The weights of the known labels, and of all others together: (n, K).

    >>> matrix([{"warm": 0.5, "odd": 0.5}], ["warm", "cold", OTHER]).tolist()
    [[0.5, 0.0, 0.5]]
    """
    column = {label: k for k, label in enumerate(labels)}
    other = len(labels) - 1
    rows = list(weights)
    out = np.zeros((len(rows), len(labels)))
    for row, known in zip(out, rows, strict=True):
        for label, weight in known.items():
            row[column.get(label, other)] += weight
    return out


def titles(labels: Sequence[str]) -> list[str]:
    """What readers are shown of each label."""
    return [shown(label) for label in labels]


def keys(labels: Sequence[str]) -> list[str]:
    """Names of statistics, one per label, all different.

    >>> keys(["very warm", "very-warm", "温"])
    ['very_warm', 'very_warm_2', 'label']
    """
    names: list[str] = []
    for label in labels:
        name = plain = re.sub(r"[^a-z0-9]+", "_", label[:30].lower()).strip("_") or "label"
        for copy in range(2, len(labels) + 2):
            if name not in names:
                break
            name = f"{plain}_{copy}"
        names.append(name)
    return names
