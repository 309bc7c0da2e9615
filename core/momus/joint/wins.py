"""Wins: on which share of the prompts that two texts answer a statistic is larger in the new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binomtest, t

from momus.critic.scores import Scores
from momus.evidence import Wording
from momus.inference.multiplicity import holm
from momus.joint.partners import Cells, Units, measures
from momus.numeric.types import Floats, Ints
from momus.verdicts.settings import Settings

if TYPE_CHECKING:
    from momus.critic import Critic

FEWEST = 10
"""Prompts in common that a share is told of."""


@dataclass(frozen=True)
class Win:
    """How often a statistic of a generated text is larger than that of the reference on the same prompt.

    Attributes
    ----------
    more, fewer, ties
        Numbers of prompts.
    share, low, high
        more ÷ all prompts, with its interval by itself: Wilson's (1927), of as many prompts as groups leave of them.
    p, p_adjusted
        The sign test: more and fewer are as frequent, ties left out; over groups, a t-test of their sums of signs.
        By Holm over all statistics of a text.
    """

    critic: str
    axis: str
    statistic: str
    generated: str
    wording: Wording
    more: int
    fewer: int
    ties: int
    share: float
    low: float
    high: float
    p: float
    p_adjusted: float = 1.0

    @property
    def prompts(self) -> int:
        """Number of prompts."""
        return self.more + self.fewer + self.ties


def wins_of(critic: Critic[Any], scored: list[Scores], settings: Settings) -> tuple[Win, ...]:
    """The wins of each statistic of a critic that is a mean over documents; none without prompts in common."""
    alpha, wins = 1 - settings.confidence, []
    known = measures(critic, scored)
    for k, other in enumerate(scored[1:] if known else (), 1):
        units = Units.of(scored[0], other, settings.paired)
        if not units.matched:
            continue
        whole = tuple(np.zeros(len(s), dtype=np.int64) for s in (scored[0], other))
        cells = Cells.of(units, (whole[0], whole[1]), 1)
        for m in known:
            real, generated = cells.means(m.values[0], m.values[k])
            held = np.isfinite(real) & np.isfinite(generated)
            if held.sum() < FEWEST:
                continue
            signs = np.sign(generated[held] - real[held])
            more, fewer, ties = (int((signs == side).sum()) for side in (1, -1, 0))
            groups = units.coarse[cells.units[0][held]]
            low, high = interval(signs > 0, groups, alpha)
            s, p = m.statistic, sign_test(signs, groups)
            of = critic.name, critic.axis, s.name, other.corpus, s.wording
            wins.append(Win(*of, more, fewer, ties, more / len(signs), low, high, p))
    return tuple(wins)


def interval(won: Any, groups: Ints, alpha: float) -> tuple[float, float]:
    """Wilson's interval of a share, of fewer prompts where those of a group are alike.

    >>> low, high = interval(np.arange(100) < 50, np.arange(100), 0.05)
    >>> round(low, 3), round(high, 3)
    (0.404, 0.596)
    """
    n, share = len(won), float(np.mean(won))
    codes = np.unique(groups, return_inverse=True)[1]
    k = int(codes.max()) + 1
    z, size = float(t.isf(alpha / 2, max(k - 1, 1)) if k < n else t.isf(alpha / 2, 1e6)), float(n)
    if k < n and 0 < share < 1:
        sums = np.bincount(codes, weights=np.asarray(won, dtype=np.float64) - share)
        variance = float(sums @ sums) * k / (k - 1) / n**2 if k > 1 else share * (1 - share)
        # as many independent prompts as would give this variance
        size = min(float(n), share * (1 - share) / variance) if variance else float(n)
    elif k < n:
        size = float(k)
    centre, spread = share + z * z / (2 * size), z * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    low, high = (centre - spread) / (1 + z * z / size), (centre + spread) / (1 + z * z / size)
    return max(float(low), 0.0), min(float(high), 1.0)


def sign_test(signs: Floats, groups: Ints) -> float:
    """p of the sign test, two-sided; of groups of prompts, of a t-test of their sums.

    >>> round(sign_test(np.array([1.0] * 9 + [-1.0]), np.arange(10)), 4)
    0.0215
    """
    codes = np.unique(groups, return_inverse=True)[1]
    more, fewer = int((signs > 0).sum()), int((signs < 0).sum())
    if not more + fewer:
        return 1.0
    if codes.max() + 1 == len(signs):
        return float(binomtest(more, more + fewer).pvalue)
    sums = np.bincount(codes, weights=signs)
    k = len(sums)
    error = float(np.sqrt(sums @ sums / k - sums.mean() ** 2) / np.sqrt(max(k - 1, 1)))
    if not error:  # all groups alike: as if each were one prompt
        return float(binomtest(k, k).pvalue)
    return float(2 * t.sf(abs(sums.mean()) / error, max(k - 1, 1)))


def adjusted_wins(wins: Sequence[Win]) -> tuple[Win, ...]:
    """Adjust p over all statistics of each text."""
    adjusted = []
    for name in dict.fromkeys(w.generated for w in wins):
        mine = [w for w in wins if w.generated == name]
        adjusted += [replace(w, p_adjusted=float(p)) for w, p in zip(mine, holm([w.p for w in mine]), strict=True)]
    return tuple(adjusted)
