"""How many items and raters a study needs, from variances that are assumed or come from a pilot study.

The variance of a contrast of two corpora, in logits, has three parts: what items differ, what a single answer is worth
(the inverse of its Fisher information), and what raters differ in their taste of corpora, which more items do not
reduce. The power is that of a t test, since the variances are estimated. Differences are stated as readers see them:
the probability that a passage of the better corpus is preferred to one of the other, or rated higher.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats
from scipy.special import expit

from momus.errors import UsageError
from momus_people.models import preference
from momus_people.protocol import Protocol

ASSUMED = {"passage": 0.8, "taste": 0.3}
"""Standard deviations, in logits, that are assumed without a pilot: passages of one corpus differ by 0.8, and the
tastes of raters in a corpus by 0.3."""
DIFFERENCE = 0.65
"""The probability that is aimed at without ``--difference``: two of three readers prefer the better corpus."""
LEVEL, POWER = 0.05, 0.8
MOST = 100_000


@dataclass(frozen=True)
class Need:
    """What a study of so many judgements per item needs.

    Attributes
    ----------
    judgements, raters
        Raters per item, and raters in all.
    items
        Items that detect the difference; None if no number does, since raters' tastes differ too much.
    power
        Power of the study as planned, with the protocol's number of items.
    """

    judgements: int
    raters: int
    items: int | None
    power: float


def needs(
    protocol: Protocol, corpora: int, difference: float | None = None, pilot: Mapping[str, float] | None = None
) -> list[Need]:
    """Items needed, and power reached, for the protocol and for other numbers of judgements per item and raters.

    Level 5 %, divided by the number of contrasts with the first corpus; power 80 %.

    Raises
    ------
    UsageError
        The difference is no probability above one half.

    >>> [n.items for n in needs(Protocol(kind="pair", raters=5), 2, 0.65)][:1]
    [136]
    """
    probability = DIFFERENCE if difference is None else difference
    if not 0.5 < probability < 1:
        raise UsageError(
            f"a difference of {probability:g} is no probability between 0.5 and 1",
            hint="0.65: two of three readers prefer the better corpus",
        )
    sds = {**ASSUMED, **(pilot or {})}
    delta = logits_of(probability, sds, protocol.width)
    level = LEVEL / max(corpora - 1, 1)
    plans = {(protocol.per_item, protocol.raters): None}
    plans |= {(r, max(r, k)): None for r in (1, 3, 5) for k in (protocol.raters, 2 * protocol.raters)}
    found = []
    for judgements, raters in plans:

        def power(items: float, judgements: int = judgements, raters: int = raters) -> float:
            whole = variance(protocol, corpora, items, judgements, raters, sds, delta)
            of_tastes = 2 * sds["taste"] ** 2 / raters
            # Satterthwaite's degrees of freedom: few raters tell little of how much tastes differ
            parts = ((of_tastes, (raters - 1) * (corpora - 1)), (whole - of_tastes, items - 1))
            freedom = whole**2 / sum(v * v / max(df, 1) for v, df in parts)
            reach, shift = stats.t.isf(level / 2, freedom), delta / math.sqrt(whole)
            return float(stats.nct.sf(reach, freedom, shift) + stats.nct.sf(reach, freedom, -shift))

        enough = power(MOST) >= POWER
        items = math.ceil(optimize.brentq(lambda n, p=power: p(n) - POWER, 1, MOST)) if enough else None
        found.append(Need(judgements, raters, items, power(protocol.items)))
    return found


def logits_of(probability: float, sds: Mapping[str, float], width: int = 2) -> float:
    """The difference of two corpora in logits at which readers prefer the better one with this probability.

    >>> round(logits_of(0.65, {"passage": 0.0, "taste": 0.0}), 3)  # log(0.65 / 0.35)
    0.619
    """
    return float(optimize.brentq(lambda d: preference(d, sds, width) - probability, 0, 50))


def variance(
    protocol: Protocol,
    corpora: int,
    items: float,
    judgements: int,
    raters: int,
    sds: Mapping[str, float],
    difference: float = 0.0,
) -> float:
    """Variance of a contrast of two of C corpora, in squared logits, in a balanced design of n items of r judgements.

    * Ratings: a corpus has n/C passages, each with variance σ² + 1/(I r), where I = Σ_k (f_k − f_{k−1})²/p_k is the
      information of a rating on a scale whose categories are equally frequent: 2 (C/n) (σ² + 1/(I r)).
    * Pairs: each has variance σ² + 1/(p (1 − p) r), where p is the probability of the better passage at the difference
      in logits, and the contrast (C − 1)/n times that, since all pairs of corpora meet equally.
    """
    taste = 2 * sds["taste"] ** 2 / raters
    passage = sds["passage"] ** 2
    if protocol.kind == "rating":
        k = len(protocol.scale)
        cuts = np.arange(k + 1) / k
        information = float((np.diff(cuts * (1 - cuts)) ** 2 * k).sum())
        return 2 * corpora / items * (passage + 1 / (information * judgements)) + taste
    better = float(expit(difference))
    return (corpora - 1) / items * (passage + 1 / (better * (1 - better) * judgements)) + taste
