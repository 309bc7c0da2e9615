"""As many relabellings as a decision needs.

Relabellings are drawn in stages. A test stops early once its p-value is clearly above every level at which it could be
rejected (Besag & Clifford 1991, with the decision instead of the p-value as the aim), and goes on beyond the usual
number if the table has so many rows that the smallest possible p-value could decide the verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

STAGES = (448, 2048)
"""Relabellings after which a test may stop: whole chunks."""
FIRST = (64,)
"""A stage before these for tests of very many pairs."""
EXCEEDED, REACHED = 100, 20
"""Relabellings that must reach the observed contrast before a test stops early; before it stops after the first 64."""
MARGIN = 1.5
"""How many times the level the p-value must be for a test to stop early."""
FINE, FINE_WIDE = 100, 20
"""From the usual number on, a test stops once so many relabellings reach the observed contrast; of wide rows, fewer.
A p-value at the strictest level that its table may ask for, α/m, is then known to within 10 % (22 %)."""
MORE = 4
"""Each stage beyond the usual number has so many times the relabellings of the one before."""
MOST = 199_999


@dataclass(frozen=True)
class Budget:
    """How many relabellings to draw.

    Attributes
    ----------
    usual
        Relabellings of a row whose p-value is small.
    family
        Rows in the family whose p-values are adjusted together, m.
    alpha
        Level of the verdict, α.
    early
        Relabellings after which a test may stop, see `stops`.
    fine
        `FINE`, or `FINE_WIDE` where relabellings are costly.

    >>> Budget(9999, 1, 0.05).stages
    (448, 2048, 9999)
    >>> Budget(9999, 20, 0.05).stages  # Holm's method needs p ≤ 0.05/20, which 100 of 40,000 relabellings reach
    (448, 2048, 9999, 39999)
    >>> Budget(1999, 20_000, 0.05).stages
    (448, 1999)
    """

    usual: int
    family: int
    alpha: float
    early: tuple[int, ...] = STAGES
    fine: int = FINE

    @property
    def needed(self) -> int:
        """Relabellings that a verdict in this family may need; the usual number if `MOST` would not do either.

        Of m rows that Holm's method adjusts, the first can only be rejected if 1/(B + 1) ≤ α/m.
        """
        most = max(MOST, self.usual)
        if self.family > self.alpha * (most + 1) * (1 + 1e-9):
            return self.usual
        return min(math.ceil(self.fine * self.family / self.alpha - 1e-9) - 1, most)

    @property
    def stages(self) -> tuple[int, ...]:
        """Cumulative numbers of relabellings after which tests may stop."""
        stages = [*(n for n in self.early if n < self.usual), self.usual]
        while stages[-1] < self.needed:
            stages.append(min(MORE * (stages[-1] + 1) - 1, self.needed))
        return tuple(stages)

    def stops(self, drawn: int, extreme: int) -> bool:
        """Whether a test may stop after ``drawn`` relabellings, of which ``extreme`` reach the observed contrast.

        * Before the usual number: once p is above 1.5 α. Such a test is never rejected at level α, so the stop can only
          lower the probability of a rejection.
        * From then on: once ``fine`` relabellings reach the observed contrast. (c + 1)/(B + 1) stays a valid p-value at
          every level t, since at the first stage with t(B + 1) > ``fine`` a test that is rejected at t, or is to be
          rejected later, has c + 1 ≤ t(B + 1) (Besag & Clifford 1991).
        * Also once p is clearly below α/m, the strictest level: c + 2√(c + 1) + 2 of α(B + 1)/m. That raises the
          probability of a rejection at α/m by a hundredth of itself at most (compare Gandy 2009).
        """
        futile = (extreme + 1) / (drawn + 1) >= MARGIN * self.alpha
        if drawn < self.usual:
            return futile and extreme >= (EXCEEDED if drawn > FIRST[-1] else REACHED)
        clear = extreme + 2 * math.sqrt(extreme + 1) + 2 <= self.alpha * (drawn + 1) / self.family
        return drawn >= self.needed or extreme >= self.fine or clear or (futile and extreme >= REACHED)
