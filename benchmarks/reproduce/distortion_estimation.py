"""Estimation error, log p_M(x) − log p_L(x) in nats, and what it depends on (LeBrun et al. 2022, equation 2).

Sequences outside the language are perturbed ones and random strings (LeBrun et al. 2022, table 3 and appendix).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from momus.errors import UsageError
from momus.numeric.draws import uniforms
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats, Ints
from momus.sequences import Sequences, StepModel

if TYPE_CHECKING:
    import pandas as pd

SWAP, DELETE, INSERT, SUBSTITUTE = range(4)


def perturbed(sequences: Sequences, symbols: int, times: int, seed: int) -> Iterator[Sequences]:
    """Perturb all sequences ``times`` times; yield them after each perturbation.

    A perturbation swaps two tokens, deletes, inserts or substitutes one, with equal probability; positions and tokens
    are drawn uniformly. A sequence too short for the drawn operation gets an insertion instead. The draws of a sequence
    depend on ``seed`` and its number alone.

    Parameters
    ----------
    symbols
        Tokens are drawn from 0 … ``symbols`` − 1.
    times
        Number of perturbations per sequence.

    Raises
    ------
    UsageError
        ``symbols`` is less than 1.

    >>> few = Sequences.of([[0, 1, 2]])
    >>> [s.ids.tolist() for s in perturbed(few, 5, 3, seed=1)]
    [[0, 2], [2, 0], [3, 0]]
    """
    if symbols < 1:
        raise UsageError(
            f"perturbed: symbols is {symbols}",
            hint="give the size of the vocabulary, not counting begin and end symbols",
        )
    # (n, longest + times), padded with −1, with room for an insertion each time
    table = sequences.padded(-1)
    table = np.concatenate([table, np.full((len(table), times), -1, dtype=np.int64)], axis=1)
    lengths = sequences.lengths.copy()
    rows = np.arange(len(sequences))
    for step in range(times):
        kind, first, second, token = (uniforms(rows, seed, step, k) for k in range(4))
        table, lengths = _once(table, lengths, np.stack([kind, first, second]), (token * symbols).astype(np.int64))
        inside = np.arange(table.shape[1]) < lengths[:, None]
        yield Sequences(table[inside], offsets_of(lengths))


def _once(table: Ints, lengths: Ints, u: Floats, token: Ints) -> tuple[Ints, Ints]:
    """Perturb each row of a padded table once, given uniform numbers (3, n) for kind and positions, and tokens (n,)."""
    n, width = table.shape
    kind = (u[0] * 4).astype(np.int64)
    kind[(lengths == 0) | ((lengths == 1) & (kind == SWAP))] = INSERT
    at = (u[1] * np.where(kind == INSERT, lengths + 1, lengths)).astype(np.int64)
    other = (u[2] * np.maximum(lengths - 1, 1)).astype(np.int64)
    other += other >= at
    # the column that each position of the new table is copied from, (n, width): an insertion shifts what follows by one
    # to the right, a deletion to the left
    source = np.broadcast_to(np.arange(width), (n, width)).copy()
    source -= (kind == INSERT)[:, None] & (source > at[:, None])
    source += (kind == DELETE)[:, None] & (source >= at[:, None])
    new = np.take_along_axis(table, source.clip(0, width - 1), axis=1)
    swap = np.flatnonzero(kind == SWAP)
    new[swap, at[swap]], new[swap, other[swap]] = table[swap, other[swap]], table[swap, at[swap]]
    put = np.flatnonzero((kind == INSERT) | (kind == SUBSTITUTE))
    new[put, at[put]] = token[put]
    return new, lengths + (kind == INSERT) - (kind == DELETE)


def random_strings(n: int, symbols: int, seed: int, mean: float = 10.0) -> Sequences:
    """Draw strings of uniform tokens with Poisson lengths of this mean.

    >>> random_strings(3, 4, seed=0).lengths.tolist()
    [11, 2, 11]
    """
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(mean, n)
    offsets = offsets_of(lengths)
    return Sequences(rng.integers(0, symbols, int(offsets[-1])), offsets)


LEAST = 10
"""Fewest sequences per bin."""
RESAMPLES = 10_000
"""Resamples of a bootstrap interval."""


@dataclass(frozen=True)
class Estimates:
    """log p of sequences under the language and under the model, in nats, including begin and end symbols.

    Attributes
    ----------
    language, model
        float64 (n,).
    lengths
        int64 (n,): scored tokens of each sequence, including the end.
    """

    language: Floats
    model: Floats
    lengths: Ints

    def __len__(self) -> int:
        return len(self.language)

    @property
    def errors(self) -> Floats:
        """log p_M − log p_L, (n,); negative if the model underestimates."""
        return self.model - self.language


def estimates(language: StepModel, model: StepModel, sequences: Sequences, temperature: float = 1.0) -> Estimates:
    """Score sequences under the language and the model.

    Parameters
    ----------
    temperature
        Temperature of the language; that of the model is 1.
    """
    truth = language.score(sequences, temperature=temperature)
    return Estimates(truth.totals, model.score(sequences).totals, truth.lengths)


def mean_interval(values: Floats, seed: int = 0, resamples: int = RESAMPLES) -> tuple[float, float, float]:
    """The mean with its 95 % bootstrap interval (percentiles).

    >>> [round(v, 1) for v in mean_interval(np.array([1.0, 2.0, 3.0] * 50))]
    [2.0, 1.9, 2.1]
    """
    if len(values) < 2 or np.ptp(values) == 0:
        mean = float(values.mean()) if len(values) else float("nan")
        bound = mean if len(values) > 1 else float("nan")
        return mean, bound, bound
    interval = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=resamples,
        method="percentile",
        batch=max(1, 2_000_000 // len(values)),
        rng=np.random.default_rng(seed),
        vectorized=True,
    ).confidence_interval
    return float(values.mean()), float(interval.low), float(interval.high)


def by_probability(e: Estimates, bins: int = 20, least: int = LEAST, seed: int = 0) -> pd.DataFrame:
    """Mean error in equal-width bins of log p_L; bins with fewer than ``least`` sequences are left out.

    Returns
    -------
    One row per bin: ``low``, ``high`` (of log p_L), ``mean``, ``mean_low``, ``mean_high``, ``n``.
    """
    edges = np.linspace(e.language.min(), e.language.max(), bins + 1)
    bin_ = np.clip(np.searchsorted(edges, e.language, side="right") - 1, 0, bins - 1)
    return _binned(e, bin_, edges, least, seed)


def by_rank(e: Estimates, bins: int = 50, seed: int = 0) -> pd.DataFrame:
    """Mean error in equal-count bins of log p_L, the rarest first; rows as in `by_probability`."""
    order = np.argsort(e.language, kind="stable")
    # bins by rank (by_order) and by number of the sequence (bin_), (n,) each; `starts` are the first ranks of bins
    by_order = np.arange(len(e)) * bins // len(e)
    bin_ = np.empty(len(e), dtype=np.int64)
    bin_[order] = by_order
    starts = np.searchsorted(by_order, np.arange(bins))
    edges = np.append(e.language[order][np.minimum(starts, len(e) - 1)], e.language.max())
    return _binned(e, bin_, edges, 1, seed)


def by_amount(checkpoints: Sequence[tuple[int, Estimates]], groups: int = 5, seed: int = 0) -> pd.DataFrame:
    """Mean error by number of training sequences and rarity (LeBrun et al. 2022, section 4.3).

    Parameters
    ----------
    checkpoints
        Numbers of training sequences, and estimates of the same test sequences after them.
    groups
        Equal-count groups of log p_L.

    Returns
    -------
    One row per checkpoint and group: ``sequences``, ``group`` (0 is the rarest), and the columns of `by_rank`.
    """
    import pandas as pd

    tables = [by_rank(e, groups, seed).assign(sequences=n, group=range(groups)) for n, e in checkpoints]
    columns = ["sequences", "group", "low", "high", "mean", "mean_low", "mean_high", "n"]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)


def error_slope(e: Estimates) -> tuple[float, float, float]:
    """Slope of the error on log p_L by least squares, with its 95 % interval (t); positive if rare ones are worse.

    >>> language = np.array([-4.0, -3.0, -2.0, -1.0])
    >>> [round(v, 6) for v in error_slope(Estimates(language, 1.5 * language, np.ones(4, dtype=int)))]
    [0.5, 0.5, 0.5]
    """
    fit = stats.linregress(e.language, e.errors)
    half = float(stats.t.ppf(0.975, len(e) - 2) * fit.stderr)
    return float(fit.slope), float(fit.slope) - half, float(fit.slope) + half


def _binned(e: Estimates, bin_: Ints, edges: Floats, least: int, seed: int) -> pd.DataFrame:
    """One row per bin with at least ``least`` sequences; ``bin_`` (n,) is the bin of each sequence."""
    import pandas as pd

    rows = []
    for b in range(len(edges) - 1):
        errors = e.errors[bin_ == b]
        if len(errors) >= least:
            rows.append((float(edges[b]), float(edges[b + 1]), *mean_interval(errors, seed), len(errors)))
    return pd.DataFrame(rows, columns=["low", "high", "mean", "mean_low", "mean_high", "n"])


def by_length(e: Estimates, least: int = LEAST, seed: int = 0) -> pd.DataFrame:
    """Mean error by length n, and its expectation if errors only compounded: n ε̄ (LeBrun et al. 2022, appendix A.1.5).

    ε̄ is the mean over sequences of the mean error per token of each: long sequences count no more than short ones.
    """
    import pandas as pd

    per_token = float(np.mean(e.errors / e.lengths))
    rows = []
    for n in np.unique(e.lengths):
        errors = e.errors[e.lengths == n]
        if len(errors) >= least:
            rows.append((int(n), *mean_interval(errors, seed), float(n * per_token), len(errors)))
    return pd.DataFrame(rows, columns=["length", "mean", "mean_low", "mean_high", "expected", "n"])


def joint_histogram(e: Estimates, bins: int = 40) -> tuple[Ints, Floats]:
    """Count sequences by (log p_L, log p_M), with the same bins for both.

    Returns
    -------
    Counts (bins, bins) with the language along the first axis, and edges (bins + 1,) in nats.
    """
    finite = np.isfinite(e.model) & np.isfinite(e.language)
    both = np.concatenate([e.language[finite], e.model[finite]])
    edges = np.linspace(both.min(), both.max(), bins + 1)
    counts, _, _ = np.histogram2d(e.language[finite], e.model[finite], bins=[edges, edges])
    return counts.astype(np.int64), edges
