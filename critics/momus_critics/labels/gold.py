"""Labels that err: rows corrected by the documents whose true labels are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from scipy import sparse

from momus.critic import Statistic
from momus.critic.rows import Counted, Pooled, Rows, aligned
from momus.critic.scores import Scores
from momus.inference.prediction_powered import corrected
from momus.inference.samples import indicator
from momus.numeric.types import Floats, Ints
from momus.reading.labels import GOLD
from momus.text.corpus import Corpus

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
                rows[key] = _corrected_counts(table, truth.rows[key], places, readable, weights)
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


def _corrected_counts(said: Counted, truth: Rows, places: Ints, readable: Ints, weights: Floats) -> Counted:
    """Sparse counts, corrected with λ = 1: counts of a text may be below 0 then, as those of no document are."""
    one, other = aligned([said, cast("Counted", truth)])
    change = sparse.diags_array(weights) @ (other.matrix[readable] - one.matrix[places])
    return Counted((one.matrix + indicator(places, one.matrix.shape[0]) @ change).tocsr(), one.labels)
