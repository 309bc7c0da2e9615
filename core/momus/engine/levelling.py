"""Texts in which all documents are alike to a critic, scored by critics of several folds.

A chain that all documents follow has a Latent NLL of almost 0, which is what smoothing left of the counts of a fold:
2.1e−5 in one fold and 2.2e−5 in another. Which documents lie in which fold would decide a test of such numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from momus.critic.scores import Scores
from momus.numeric.rounding import ROUNDING
from momus.numeric.types import Floats

FEWEST = 8
"""Fewest documents of a fold that show that all are alike."""


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
        group = [i for i in constant if all(_agree(first[f], s) for f, s in texts[i].items() if f in first)]
        constant = [i for i in constant if i not in group]
        parts = [s for i in group for s in texts[i].values()]
        nll = _mean([s.nll[s.scored] for s in parts])
        keys = [key for key in parts[0].rows if all(_one_row(s, key) for s in parts)]
        rows = {key: np.concatenate([_scored_rows(s, key) for s in parts]).mean(axis=0) for key in keys}  # (2,) each
        for i in group:
            levelled[i] = {fold: _with(s, nll, rows) for fold, s in texts[i].items()}
    return levelled


def _alike(scores: Scores) -> bool:
    """Whether all scored documents, of which there are several, have one Latent NLL and number of steps."""
    nll, steps = scores.nll[scores.scored], scores.steps[scores.scored]
    return len(nll) >= FEWEST and _same(nll) and bool(np.ptp(steps) == 0)


def _agree(one: Scores, other: Scores) -> bool:
    values = np.concatenate([one.nll[one.scored], other.nll[other.scored]])
    return _same(values)


def _same(values: Floats) -> bool:
    return bool(np.ptp(values, axis=0).max() <= ROUNDING * np.abs(values).max())  # by column of (n,) or (n, 2)


def _mean(parts: Sequence[Floats]) -> float:
    return float(np.concatenate(parts).mean())


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
