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
    early
        Relabellings after which a test may stop, see `stops`.

    >>> Budget(9999, 1, 0.05).stages
    (448, 2048, 9999)
    >>> Budget(1999, 216, 0.05).stages
    (448, 1999, 8639)
    >>> Budget(1999, 20_000, 0.05).stages  # Holm's method needs p ≤ 0.05/20,000
    (448, 1999)
    """

    usual: int
    family: int
    alpha: float
    early: tuple[int, ...] = STAGES

    @property
    def needed(self) -> int:
        """Relabellings that a verdict in this family may need; the usual number if `MOST` would not do either.

        Of m rows that Holm's method adjusts, the first can only be rejected if 1/(B + 1) ≤ α/m.
        """
        most = max(MOST, self.usual)
        if self.family > self.alpha * (most + 1) * (1 + 1e-9):
            return self.usual
        return min(math.ceil(FINE * self.family / self.alpha) - 1, most)

    @property
    def stages(self) -> tuple[int, ...]:
        """Cumulative numbers of relabellings after which tests may stop."""
        early = [n for n in self.early if n < self.usual]
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
        reached = EXCEEDED if drawn > FIRST[-1] else REACHED
        return extreme >= reached and (extreme + 1) / (drawn + 1) >= MARGIN * self.alpha
