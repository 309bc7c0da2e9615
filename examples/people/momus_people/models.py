"""Estimates per corpus from answers: a mixed ordinal model, or Bradley–Terry.

Both are mixed models (`momus_people.mixed`) of one latent quality per corpus, in logits, whose mean over
corpora is 0. Random effects: what is judged (a passage or a pair), its prompt where prompts have several, each
rater's leniency (for pairs: preference for the left side), and each rater's taste in corpora.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit, ndtr

from momus.errors import FittingError
from momus.numeric.types import Floats, Ints
from momus_people.likelihood import Ordered
from momus_people.mixed import Fit, Mixed, Random

DRAWS, SEED = 20_000, 0
"""Draws of the quantile of simultaneous intervals, and their seed."""


@dataclass(frozen=True)
class Judgements:
    """Answers as arrays, one row per answer.

    Attributes
    ----------
    corpora
        Their names.
    corpus, unit
        Of each passage that the answer is about, in a fixed order, whatever the screen showed: numbers of its corpus
        and of what is judged, (n, q); q is 1 for ratings, 2 for pairs.
    prompt, rater
        Numbers (n,).
    answer
        Ratings: category from 0, (n, 1). Pairs: 0 if the second is preferred, the last category if the first is, and
        1 of 3 categories if both are alike, (n, 1).
    flipped
        Pairs: whether the first passage was shown on the right, (n,).
    categories
        Number of categories of ratings and pairs.
    """

    corpora: Sequence[str]
    corpus: Ints
    unit: Ints
    prompt: Ints
    rater: Ints
    answer: Ints
    flipped: Ints
    categories: int

    @property
    def width(self) -> int:
        """Passages per answer."""
        return int(self.corpus.shape[1])


@dataclass(frozen=True)
class QualityEstimate:
    """Latent quality of the corpora.

    Attributes
    ----------
    corpora
        Their names.
    effects, covariance
        Logits (C,), which sum to 0, and their covariance (C, C).
    sds
        Standard deviations of the random effects, in logits.
    thresholds
        Cumulative logits of the categories. For pairs: symmetric thresholds shifted by the preference for the left
        side.
    width
        Passages per answer.
    leniency
        Effect of each rater, in logits: on all ratings, or in favour of the left side.
    """

    corpora: Sequence[str]
    effects: Floats
    covariance: Floats
    sds: dict[str, float]
    thresholds: Floats
    leniency: Floats
    width: int

    def contrasts(self, matrix: Floats, confidence: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Values of contrasts (rows of (M, C)), and lower and upper ends of their simultaneous intervals, (M,) each.

        The reach is the quantile of the largest |z| of the contrasts under their joint normal distribution.
        """
        values = matrix @ self.effects
        covariance = matrix @ self.covariance @ matrix.T
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        if not len(values) or not (error > 0).any():
            return values, values, values
        draws = np.random.default_rng(SEED).standard_normal((DRAWS, len(self.effects)))
        values_, vectors = np.linalg.eigh(self.covariance)
        moved = draws @ (np.sqrt(np.maximum(values_, 0.0))[:, None] * vectors.T) @ matrix.T
        largest = np.abs(moved[:, error > 0] / error[error > 0]).max(axis=1)
        reach = float(np.quantile(largest, confidence)) * error
        return values, values - reach, values + reach

    def mean_rating(self, effect: float) -> float:
        """Expected category, from 1, of a new passage and rater whose corpus has this effect (Gauss–Hermite)."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        spread = float(np.sqrt(sum(s * s for s in self.sds.values())))
        above = expit(effect + spread * nodes[:, None] - self.thresholds).sum(axis=1)
        return float(1 + above @ weights / weights.sum())

    def preference(self, difference: float) -> float:
        """As `preference`, with the spread of this estimate."""
        return preference(difference, self.sds, self.width)


def preference(difference: float, sds: Mapping[str, float], width: int) -> float:
    """Probability that a new rater prefers a new passage of the better of two corpora to one of the other.

    The corpora differ by so many logits. Pairs: the logistic function, averaged over the random effects of a pair and
    of the tastes. Ratings: the probability of a higher latent rating,
    by the normal approximation. Ties, and the preference for a side, are set aside.

    >>> round(preference(1.0, {}, 2), 3)
    0.731
    """
    passage, taste = sds.get("passage", 0.0) ** 2, sds.get("taste", 0.0) ** 2
    if width == 1:
        return float(ndtr(difference / np.sqrt(2 * (np.pi**2 / 3 + passage + taste))))
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    spread = np.sqrt(passage + 2 * taste)
    return float(expit(difference + spread * nodes) @ weights / weights.sum())


def estimate(judgements: Judgements) -> QualityEstimate:
    """Fit the model that the answers ask for.

    Raises
    ------
    FittingError
        There are fewer than two corpora, or too few answers.
    """
    if len(judgements.corpora) < 2 or len(judgements.rater) < 2:
        raise FittingError("too few answers or corpora for an estimate", hint="collect answers about two corpora")
    basis = _sum_to_zero(len(judgements.corpora))
    fit = _ordered(judgements, basis)
    k = len(fit.fixed) - basis.shape[1]
    thresholds, effects, covariance = fit.fixed[:k], fit.fixed[k:], fit.covariance[k:, k:]
    return QualityEstimate(
        judgements.corpora,
        basis @ effects,
        basis @ covariance @ basis.T,
        fit.sds,
        thresholds,
        fit.effects.get("rater", np.zeros(0)),
        judgements.width,
    )


def _sum_to_zero(count: int) -> Floats:
    """Orthonormal basis of the vectors that sum to 0, (C, C − 1): the Helmert contrasts.

    >>> _sum_to_zero(2).round(3).tolist()
    [[0.707], [-0.707]]
    """
    from scipy.linalg import helmert

    return np.asarray(helmert(count).T)


def _ordered(j: Judgements, basis: Floats) -> Fit:
    """Ratings and pairs: cumulative logits of η, the quality of the passage, or the difference of the two."""
    n, pairs = len(j.rater), j.width == 2
    shown = np.where(j.flipped > 0, j.categories - 1 - j.answer[:, 0], j.answer[:, 0]) if pairs else j.answer[:, 0]
    used, answer = np.unique(shown, return_inverse=True)
    if len(used) < 2:
        raise FittingError("all answers are the same", hint="an estimate needs answers that differ")
    one, zero = np.ones(n), np.zeros(n)
    sign = np.where(j.flipped > 0, -1.0, 1.0) if pairs else one  # η of the passage on the left
    quality = np.eye(len(j.corpora))[j.corpus[:, 0]]
    if pairs:
        quality = sign[:, None] * (quality - np.eye(len(j.corpora))[j.corpus[:, 1]])
    k = len(used) - 1
    has_upper, has_lower = answer < k, answer > 0
    # rows alternate: the upper and the lower threshold of each answer
    thresholds = np.zeros((n, 2, k))
    thresholds[np.flatnonzero(has_upper), 0, answer[has_upper]] = 1
    thresholds[np.flatnonzero(has_lower), 1, answer[has_lower] - 1] = 1
    live = np.column_stack([has_upper, has_lower]).astype(np.float64)
    fixed = np.concatenate([thresholds, -live[:, :, None] * (quality @ basis)[:, None, :]], axis=2).reshape(2 * n, -1)
    shares = np.bincount(answer, minlength=k + 1).cumsum()[:-1] / n
    start = np.concatenate([np.log(shares / (1 - shares)), np.zeros(basis.shape[1])])
    random = [_random("passage", [(j.unit[:, 0], sign)], live)] if _repeats(j.unit[:, 0]) else []
    if not pairs and _repeats(j.prompt, j.unit[:, 0]):
        random.append(_random("prompt", [(j.prompt, one)], live))
    if _repeats(j.rater):
        random.append(_random("rater", [(j.rater, one)], live))
        taste = [(_cell(j, 0), sign), (_cell(j, 1), -sign)] if pairs else [(_cell(j, 0), one)]
        random.append(_random("taste", taste, live, len(j.corpora) * (int(j.rater.max()) + 1)))
    shrunk = np.concatenate([zero[:k], np.ones(basis.shape[1])]) if k <= n else zero
    return Mixed(Ordered(has_upper, has_lower), fixed, random, start, shrunk).fit()


def _cell(j: Judgements, position: int) -> Ints:
    """Number of each combination of rater and corpus, (n,)."""
    return np.asarray(j.rater * len(j.corpora) + j.corpus[:, position])


def _repeats(numbers: Ints, within: Ints | None = None) -> bool:
    """Whether some level occurs more than once (with different values of ``within``), and there are several levels."""
    pairs = numbers if within is None else np.unique(np.column_stack([numbers, within]), axis=0)[:, 0]
    return len(np.unique(numbers)) > 1 and len(pairs) > len(np.unique(numbers))


def _random(name: str, terms: Sequence[tuple[Ints, Floats]], live: Floats, levels: int = 0) -> Random:
    """Rows −η of one random effect for both thresholds of each answer; terms are (level (n,), weight (n,))."""
    n = len(live)
    size = levels or 1 + max(int(level.max()) for level, _ in terms)
    rows = np.concatenate([2 * np.arange(n) + side for _ in terms for side in (0, 1)])
    columns = np.concatenate([level for level, _ in terms for _ in (0, 1)])
    data = np.concatenate([-weight * live[:, side] for _, weight in terms for side in (0, 1)])
    return Random(name, sparse.csr_array((data, (rows, columns)), shape=(2 * n, size)))
