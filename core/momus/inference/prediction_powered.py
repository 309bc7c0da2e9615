"""Means of labels that err, corrected by a few documents whose true labels are known.

Of a text of N labelled documents, n were drawn and labelled truly, too. With the label f and the truth y of a document,
the mean over the documents of λ f + N/n (y − λ f) where it is known, and of λ f elsewhere, is the mean of the truth,
whatever the labeller's errors are (Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023, Science 382:669, the estimate
of a mean). λ = cov(y, f) / ((1 + n/N) var(f)) makes its variance smallest (PPI++: Angelopoulos, Duchi & Zrnic 2023,
example 6.1); it is at most 1 here. These values per document take the place of the labels in tests and intervals, so
that pairs, groups and several statistics are treated as for any other row.
"""

from __future__ import annotations

import numpy as np

from momus.numeric.types import Floats, Ints

FEWEST = 10
"""Known documents from which λ is estimated; with fewer, it is 1."""


def corrected(rows: Floats, truth: Floats, known: Ints, weights: Floats) -> Floats:
    """Rows of labels, corrected by those whose truth is known.

    Parameters
    ----------
    rows
        (N, C), what the labeller says.
    truth
        (n, C), the same of the known documents.
    known
        (n,) numbers of these documents.
    weights
        (n,) how many documents each of them stands for: N/n of the whole text.

    >>> labels, truth = np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([[0.0], [0.0]])
    >>> float(corrected(labels, truth, np.array([0, 2]), np.array([2.0, 2.0])).mean())
    0.0
    """
    said = rows[known]
    out = np.array(rows, dtype=np.float64)
    for column in range(rows.shape[1]):
        y, f = truth[:, column], said[:, column]
        share = _power(y, f, len(known) / max(len(rows), 1), float(rows[:, column].var()))
        out[:, column] *= share
        out[known, column] += weights * _widened(y - share * f)
    return out


def _widened(errors: Floats) -> Floats:
    """Errors, as far from their mean as if one more document had the largest one, on either side.

    Of a good labeller, few known documents show an error, and by these alone intervals held the truth in .90 of cases.
    """
    away = errors - errors.mean() if len(errors) else errors
    squares = float((away**2).sum())
    if squares <= 0:
        return errors
    n, most = len(errors), float(np.abs(away).max())
    return np.asarray(errors.mean() + away * np.sqrt((squares + most**2) / (n + 1) / (squares / n)))


def _power(y: Floats, f: Floats, share: float, variance: float) -> float:
    """λ of a column; 1 where the labels are true, or too few are known."""
    if len(y) < FEWEST or variance <= 0 or bool((y == f).all()):
        return 1.0
    covariance = float(((y - y.mean()) * (f - f.mean())).sum() / (len(y) - 1))
    return min(max(covariance / ((1 + share) * variance), 0.0), 1.0)
