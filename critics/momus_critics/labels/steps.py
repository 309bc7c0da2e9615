"""Sequences of labels: a Markov chain with a start, an end and a number of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from momus.critic import Pooled, Rows, Statistic
from momus.critic.shifts import shift_table
from momus.estimator import parametrized
from momus.evidence import Evidence, MarkedDocument
from momus.numeric.ragged import float_sums, items_of, offsets_of
from momus.numeric.types import Floats, Ints
from momus.sequences.forward_backward import TINY
from momus.text.corpus import Corpus
from momus_critics.chains.base import FOLDS, ChainCritic, relative_places
from momus_critics.chains.posterior import ChainLatents, bordered, factorised
from momus_critics.labels.process import TOLD, LearnsLabels, keys, learned, matrix, reporting_of, titles
from momus_critics.labels.values import Weights

RARE = 0.01
"""Probability that a step is drawn by chance, whatever came before, until it is looked at."""


@parametrized
class Steps(LearnsLabels[list[Weights]], ChainCritic):
    """z is the label of each step in turn; P_c(z) is a Markov chain with a start and an end.

    Soft labels count as expected transitions, steps being independent given the text.
    """

    name = "steps"
    axis = "sequences of labels"
    reporting = reporting_of("in its labels", ("less varied in labels", "more varied in labels"), "irregular_share")
    tested = (
        # an index: the headline, in which most changes of a chain show
        Statistic.ratio(
            "irregular_share", "irregular", "share of irregular steps", "less|more often out of order", level=0.65
        ),
        Statistic.share(
            "repetition_share",
            "repeats",
            "share of repetitions",
            "less|more repetitive",
            clause="{} of steps repeat the one before",
        ),
    )

    field: str = ""
    kind: str = "sequence"

    def learn(self, values: Sequence[list[Weights]]) -> None:
        """Count expected transitions by fold of documents, choose the smoothing constant, and smooth."""
        flat = [step for document in values for step in document]
        self.labels_ = learned(flat, self.field)
        self.titles_ = titles(self.labels_)
        offsets = offsets_of([len(document) for document in values])
        weights = matrix(flat, self.labels_)
        # the fold of a document is its number modulo FOLDS; the order of documents is that of their hashes
        folds = [_counted(weights, offsets, np.arange(f, len(values), FOLDS)) for f in range(FOLDS)]
        visits = self._learn_counts(folds)
        self.positions_ = np.clip(relative_places(offsets) @ weights / np.maximum(visits, 1e-12), 0.0, 1.0)

    def project(self, batch: Corpus) -> ChainLatents:
        """The labels of each step, with their probabilities where some are unsure."""
        values = self.values(batch)
        weights = matrix((step for document in values for step in document), self.labels_)
        states, offsets = weights.argmax(axis=1), offsets_of([len(document) for document in values])
        sure = bool((weights.max(axis=1) == 1).all())
        return factorised(states, offsets, None if sure else weights, self.shares_, self.transitions_)

    def sufficient_statistics(self, latents: ChainLatents) -> Mapping[str, Rows]:
        """Irregular and repeated steps, their number, and of each label how many have it and whether any step does.

        Also whether it comes twice in a row, and whether a document does not end as most real ones do.

        A step is irregular with the probability RARE P_0/(RARE P_0 + (1 − RARE) P) that the labels' shares P_0 drew it,
        and not the chain P.
        """
        steps = latents.lengths.astype(np.float64)
        irregular = RARE * self.chance / (RARE * self.chance + (1 - RARE) * self.transitions_)  # (K + 1, K + 1)
        irregular[-1, -1] = 0.0  # start to end never happens
        ones, states, (*told, end) = np.ones(len(latents)), np.ones(self.states + 1), np.eye(self.states + 1)
        rows = {
            "irregular": np.column_stack([latents.expected_sum(irregular), steps + 1]),
            "repeats": super().sufficient_statistics(latents)["repeats"],
            "steps": np.column_stack([steps, ones]),
            "other_end": np.column_stack([_any(latents, 1 - self._ends, end), ones]),
        }
        for k, label in enumerate(told[: self._told]):
            number = float_sums(_steps(latents, states, label), latents.step_offsets)
            rows |= {
                f"label_{k}": np.column_stack([number, steps]),
                f"has_{k}": np.column_stack([_any(latents, states, label), ones]),
                f"twice_{k}": np.column_stack([_any(latents, label, label), ones]),
            }
        return rows

    def statistics(self) -> Sequence[Statistic]:
        """Those of the chain, the number of steps, and shares of steps and of documents with each usual label."""
        named = [(k, key, self.titles_[k]) for k, key in enumerate(keys(self.labels_)[: self._told])]
        return (
            *super().statistics(),
            Statistic.relative("mean_steps", "steps", "mean number of steps", "shorter|longer in steps", unit="steps"),
            *(
                Statistic.share(
                    f"{key}_share",
                    f"label_{k}",
                    f"steps labelled “{name}”",
                    f"poorer|richer in “{name}”",
                    clause=f"{{}} of steps are labelled “{name}”",
                )
                for k, key, name in named
            ),
            *(Statistic.having(f"{key}_documents", f"has_{k}", f"a step “{name}”") for k, key, name in named),
            *(Statistic.having(f"{key}_twice", f"twice_{k}", f"“{name}” twice running") for k, key, name in named),
            *(
                Statistic.share(
                    "other_end",
                    "other_end",
                    f"documents that do not end with “{self.titles_[k]}”",
                    f"more|less often ends with “{self.titles_[k]}”",
                    clause=f"{{}} of documents do not end with “{self.titles_[k]}”",
                )
                for k in np.flatnonzero(self._ends)
            ),
        )

    @property
    def _ends(self) -> Floats:
        """Which label ends most real documents: 0 or 1 for each state and the start, (K + 1,); all 0 if none does."""
        ends = self.counts_[:, -1]
        return np.asarray(ends > ends.sum() / 2, dtype=np.float64)

    @property
    def _told(self) -> int:
        """Labels whose shares are compared; the last of all labels stands for the others."""
        return min(self.states - 1, TOLD)

    def evidence(self, real: Pooled, generated: Pooled) -> list[Evidence]:
        """Shares of labels, the transitions that differ, and their graph."""
        # the last column of the transitions leads to the end of a document
        visits = [t.arrays["transitions"][:, :-1].sum(axis=0) for t in (real, generated)]
        shares = (v / max(float(v.sum()), 1.0) for v in visits)
        table = shift_table("labels", "Labels of steps", "label", self.titles_, shares, "% of steps")
        return [table, *super().evidence(real, generated)]

    def explain(self, document: Corpus) -> MarkedDocument:
        """Show the labels in turn, the unlikely ones marked."""
        (steps,) = self.values(document)
        return self._shown(document, [""] * len(steps))


def _steps(latents: ChainLatents, before: Floats, after: Floats) -> Floats:
    """Probability that each step leads from the states with 1 in ``before`` to those in ``after``, (S,).

    The labels of steps are independent given the text.
    """
    return np.asarray((latents.left @ before) * (latents.right @ after))


def _any(latents: ChainLatents, before: Floats, after: Floats) -> Floats:
    """Probability that a document has such a step, (n,)."""
    never = np.log(np.maximum(1 - _steps(latents, before, after), TINY))
    return np.asarray(1 - np.exp(float_sums(never, latents.step_offsets)))


def _counted(weights: Floats, offsets: Ints, rows: Ints) -> Floats:
    """Expected transitions of some documents, (K + 1, K + 1)."""
    steps, bounds = items_of(rows, offsets)
    left, right = bordered(weights[steps], bounds)
    return np.asarray(left.T @ right)
