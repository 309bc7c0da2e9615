"""The scale of gaps: linear while all are small, square roots where some are large, so that 0 and 1 stay in sight."""

from __future__ import annotations

import math
from dataclasses import dataclass

LINEAR = 4.0
"""Gaps up to this many human bands are drawn on a linear scale."""
CLIP = 400.0
"""Larger gaps and ends of intervals are drawn at this value."""
_TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 400)


@dataclass(frozen=True)
class GapScale:
    """Where gaps lie on an axis.

    Attributes
    ----------
    top
        Largest value on the axis.
    root
        Whether distances on the axis are square roots of gaps.
    """

    top: float
    root: bool

    @classmethod
    def of(cls, values: list[float]) -> GapScale:
        """Choose the scale for some gaps.

        >>> GapScale.of([0.5, 3.0]), GapScale.of([20.0])
        (GapScale(top=3.15, root=False), GapScale(top=22.0, root=True))
        """
        largest = min(max(values, default=0.0), CLIP)
        root = largest > LINEAR
        return cls(max(1.5, round(largest * (1.1 if root else 1.05), 6)), root)

    def __call__(self, gap: float) -> float:
        """Position of a gap, from 0 to 1.

        >>> GapScale(16.0, True)(4.0), GapScale(2.0, False)(0.5)
        (0.5, 0.25)
        """
        share = min(max(gap, 0.0), self.top) / self.top
        return math.sqrt(share) if self.root else share

    @property
    def ticks(self) -> list[float]:
        """Values that have a tick.

        >>> GapScale(22.0, True).ticks, GapScale(1.5, False).ticks
        ([0.0, 1.0, 2.0, 5.0, 10.0, 20.0], [0.0, 0.5, 1.0, 1.5])
        """
        if self.root:
            return [float(t) for t in _TICKS if t <= self.top]
        step = 0.5 if self.top <= 2 else 1.0
        return [step * i for i in range(int(self.top / step) + 1)]
