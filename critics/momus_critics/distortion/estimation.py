"""Estimation error, log p_M(x) − log p_L(x) in nats, and what it depends on (LeBrun et al. 2022, equation 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from momus.numeric.types import Floats
from momus.sequences import Sequences, SequenceScorer

if TYPE_CHECKING:
    import pandas as pd

LEAST = 10
RESAMPLES = 10_000


@dataclass(frozen=True)
class Estimates:
    """log p of sequences under the target language and under the model, in nats, begin and end symbols included.

    Attributes
    ----------
    language, model
        float64 (n,).
    lengths
        Scored tokens of each sequence, the end included.
    """

    language: Floats
    model: Floats
    lengths: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.language)

    @property
    def errors(self) -> Floats:
        """log p_M − log p_L; below 0 the model underestimates."""
        return self.model - self.language


def estimates(
    language: SequenceScorer, model: SequenceScorer, sequences: Sequences, temperature: float = 1.0
) -> Estimates:
    """Score sequences under both.

    Parameters
    ----------
    temperature
        Of the language's softmax; the model's is 1.
    """
    truth = language.score(sequences, temperature=temperature)
    return Estimates(truth.totals, model.score(sequences).totals, truth.lengths)


def mean_interval(values: Floats, seed: int = 0, resamples: int = RESAMPLES) -> tuple[float, float, float]:
    """The mean with its 95 % bootstrap interval (percentiles).

    >>> [round(v, 1) for v in mean_interval(np.array([1.0, 2.0, 3.0] * 50))]
    [2.0, 1.9, 2.1]
    """
    if len(values) < 2 or np.ptp(values) == 0:
        middle = float(values.mean()) if len(values) else float("nan")
        return middle, middle if len(values) > 1 else float("nan"), middle if len(values) > 1 else float("nan")
    found = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=resamples,
        method="percentile",
        batch=max(1, 2_000_000 // len(values)),
        rng=np.random.default_rng(seed),
        vectorized=True,
    ).confidence_interval
    return float(values.mean()), float(found.low), float(found.high)


def by_probability(e: Estimates, bins: int = 20, least: int = LEAST, seed: int = 0) -> pd.DataFrame:
    """Mean error by bins of equal width of log p_L; bins with fewer than ``least`` sequences are left out.

    Returns
    -------
    One row a bin: ``low``, ``high`` (of log p_L), ``mean``, ``mean_low``, ``mean_high``, ``n``.
    """
    edges = np.linspace(e.language.min(), e.language.max(), bins + 1)
    return _binned(e, np.clip(np.searchsorted(edges, e.language, side="right") - 1, 0, bins - 1), edges, least, seed)


def by_rank(e: Estimates, bins: int = 50, seed: int = 0) -> pd.DataFrame:
    """Mean error by bins of equal count of log p_L, the rarest first; rows as in `by_probability`."""
    order = np.argsort(e.language, kind="stable")
    which = np.empty(len(e), dtype=np.int64)
    which[order] = np.arange(len(e)) * bins // len(e)
    starts = np.searchsorted(np.arange(len(e)) * bins // len(e), np.arange(bins))
    edges = np.append(e.language[order][np.minimum(starts, len(e) - 1)], e.language.max())
    return _binned(e, which, edges, 1, seed)


def _binned(e: Estimates, which: NDArray[np.int64], edges: Floats, least: int, seed: int) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for b in range(len(edges) - 1):
        mine = e.errors[which == b]
        if len(mine) >= least:
            rows.append((float(edges[b]), float(edges[b + 1]), *mean_interval(mine, seed), len(mine)))
    return pd.DataFrame(rows, columns=["low", "high", "mean", "mean_low", "mean_high", "n"])


def by_length(e: Estimates, least: int = LEAST, seed: int = 0) -> pd.DataFrame:
    """Mean error by length n, beside n times the mean error a token, which it would be if lengths did not matter."""
    import pandas as pd

    a_token = float(e.errors.sum() / e.lengths.sum())
    rows = []
    for n in np.unique(e.lengths):
        mine = e.errors[e.lengths == n]
        if len(mine) >= least:
            rows.append((int(n), *mean_interval(mine, seed), float(n * a_token), len(mine)))
    return pd.DataFrame(rows, columns=["length", "mean", "mean_low", "mean_high", "expected", "n"])


def joint_histogram(e: Estimates, bins: int = 40) -> tuple[NDArray[np.int64], Floats]:
    """Counts over (log p_L, log p_M) on one grid for both, and its edges.

    Returns
    -------
    Counts (bins, bins), the language along the first axis, and ``bins`` + 1 edges in nats.
    """
    finite = np.isfinite(e.model) & np.isfinite(e.language)
    both = np.concatenate([e.language[finite], e.model[finite]])
    edges = np.linspace(both.min(), both.max(), bins + 1)
    counts, _, _ = np.histogram2d(e.language[finite], e.model[finite], bins=[edges, edges])
    return counts.astype(np.int64), edges
