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
EXCEEDED = 100
"""Relabellings that must reach the observed contrast before a test stops early."""
MARGIN = 1.5
"""How many times the level the p-value must be for a test to stop early."""
FINE = 2.0
"""Relabellings of a table with m rows: at least this many times m/α, if its p-value is near the smallest possible."""
NEAR = 10
"""A p-value is near the smallest possible if fewer relabellings than this reach the observed contrast."""
MOST = 199_999


@dataclass(frozen=True)
class Budget:
    """How many relabellings to draw.

    Attributes
    ----------
    usual
        Relabellings of a row whose p-value is small.
    family
        Rows in the family whose p-values are adjusted together.
    alpha
        Level of the verdict.

    >>> Budget(9999, 1, 0.05).stages
    (448, 2048, 9999)
    >>> Budget(1999, 216, 0.05).stages
    (448, 1999, 8639)
    """

    usual: int
    family: int
    alpha: float

    @property
    def needed(self) -> int:
        """Relabellings that a verdict in this family may need."""
        return min(math.ceil(FINE * self.family / self.alpha) - 1, max(MOST, self.usual))

    @property
    def stages(self) -> tuple[int, ...]:
        """Cumulative numbers of relabellings after which tests may stop."""
        early = [n for n in STAGES if n < self.usual]
        return (*early, self.usual, self.needed) if self.needed > self.usual else (*early, self.usual)

    def stops(self, drawn: int, extreme: int) -> bool:
        """Whether a test may stop after ``drawn`` relabellings, of which ``extreme`` reach the observed contrast.

        A test that stops early has p above 1.5 α, so it is never rejected at level α: the early stop can only lower
        the probability of a rejection, and (c + 1)/(B + 1) stays a valid p-value for every level up to 1.5 α.
        """
        if drawn >= max(self.usual, self.needed):
            return True
        if drawn >= self.usual:
            return extreme >= NEAR
        return extreme >= EXCEEDED and (extreme + 1) / (drawn + 1) >= MARGIN * self.alpha
