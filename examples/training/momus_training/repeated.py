"""Headline tests of several critics at many looks, with a bound on the probability of any false alarm."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from momus.critic import Critic
from momus.critic.scores import Scores
from momus.inference.sequential import Look, Looks, add_family, spent
from momus.verdicts.judge import judge
from momus.verdicts.verdict import Verdict

SCREEN, FINER, MOST = 0.05, 4, 99_999
"""A headline p ≤ SCREEN is computed again, with FINER times the permutations that its level needs, at most MOST."""


class RepeatedTests:
    """The headline statistics of critics, looked at again and again.

    The probability of any false alarm, of any critic at any look, is at most α: Holm's method over the critics, and
    alpha spending over the looks.

    Parameters
    ----------
    settings
        Of the tests, by the names that `momus.verdicts.judge.judge` takes.
    alpha, planned
        See `momus.inference.sequential.Looks`.

    Attributes
    ----------
    sequences
        The looks so far, by critic; empty before the first.

    Raises
    ------
    UsageError
        α or the number of looks is invalid.
    """

    def __init__(self, settings: Mapping[str, Any], alpha: float, planned: int | None) -> None:
        Looks(alpha, planned=planned)  # refuses a wrong α or number before the first look
        self.settings, self.alpha, self.planned = dict(settings), alpha, planned
        self.sequences: dict[str, Looks] = {}
        self._warned: set[str] = set()

    def add(
        self,
        critics: Sequence[Critic[Any]],
        real: Sequence[Scores],
        generated: Sequence[Scores],
        verdicts: Sequence[Verdict],
    ) -> dict[str, Look]:
        """Add one look at all critics, by their scores and the verdicts on these; return it by critic."""
        if not self.sequences:
            self.sequences = {c.name: Looks(self.alpha, planned=self.planned) for c in critics}
        first = next(iter(self.sequences.values()))
        # Holm's smallest level at this look
        level = spent(first.alpha, first.number + 1, first.planned) / len(self.sequences)
        headlines = {v.critic: v for v in verdicts if v.headline}
        p = {
            critic.name: self._p(critic, a, b, headlines[critic.name], level)
            for critic, a, b in zip(critics, real, generated, strict=True)
        }
        return add_family(self.sequences, p)

    def _p(self, critic: Critic[Any], real: Scores, generated: Scores, verdict: Verdict, level: float) -> float | None:
        """The p of a headline, with enough permutations to lie below the level.

        Screening keeps p valid: a value ≤ SCREEN is one of the second test, larger ones are of the first, and each of
        the two is at most t with probability at most t.
        """
        needed = min(math.ceil(FINER / level), MOST + 1) - 1
        method = verdict.method
        if verdict.p is None or verdict.p > SCREEN or method.test == "welch" or method.exact:
            return verdict.p
        if needed > method.permutations:
            settings = {**self.settings, "permutations": needed, "resamples": 0}
            (verdict,) = judge(critic, real, generated, **settings, only_headline=True)
        self._warn_if_coarse(verdict, level)
        return verdict.p

    def _warn_if_coarse(self, verdict: Verdict, level: float) -> None:
        """Warn once of each critic whose permutations are too few for an alarm at this level."""
        smallest = 1 / (verdict.method.permutations + 1)
        if smallest <= level or verdict.method.exact or verdict.critic in self._warned:
            return
        self._warned.add(verdict.critic)
        warnings.warn(
            f"critic {verdict.critic!r}: with {verdict.method.permutations:,} permutations p ≥ {smallest:.2g}; "
            f"the level of this look is {level:.2g}. It can raise no alarm alone: plan fewer looks (looks=…)",
            stacklevel=2,
        )
