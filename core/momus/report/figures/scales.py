"""Scales of figures: from numbers to places, and the numbers that are written at their ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

LINEAR = 4.0
"""Gaps up to this many human bands are drawn on a linear scale."""
CLIP = 400.0
"""Larger gaps and ends of intervals are drawn at this value."""
_TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 400)


def plain_number(value: float) -> str:
    """Format a tick of a logarithmic axis.

    >>> [plain_number(x) for x in (0.01, 0.5, 2.5, 20, 1000, 50_000, 1e6, 2e-5)]
    ['0.01', '0.5', '2.5', '20', '1,000', '50,000', '10⁶', '2·10⁻⁵']
    """
    if value <= 0:
        return ""
    if 1e-3 <= value < 1e6:
        return f"{value:,.6g}"
    digit, _, power = f"{value:.0e}".partition("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digit == "1" else f"{digit}·10{raised}"


def linear_ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers inside an interval: multiples of 1, 2 or 5 times a power of ten.

    >>> linear_ticks(0, 1), linear_ticks(3, 47)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 20.0, 30.0, 40.0])
    """
    width = high - low
    if not (width > 0 and math.isfinite(width)):
        return [low]
    rough = width / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step)))
    return [round(i * step, decimals) for i in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten inside an interval, with their multiples by 2 and 5 where it spans two of them or less.

    Of many powers, every few; round numbers at equal distances inside short intervals.

    >>> log_ticks(3, 400), log_ticks(80, 130), log_ticks(1, 1e3)
    ([5.0, 10.0, 20.0, 50.0, 100.0, 200.0], [80.0, 90.0, 100.0, 110.0, 120.0, 130.0], [1.0, 10.0, 100.0, 1000.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    multiples = (1, 2, 5) if high / low < 150 else (1,)
    stride = max(1, math.ceil(len(powers) / 9))
    ticks = [float(f"{m}e{p}") for p in powers if p % stride == 0 for m in multiples]
    inside = [t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
    return inside if len(inside) > 2 else linear_ticks(low, high)


def tick_text(value: float) -> str:
    """Format a tick of a linear axis.

    >>> [tick_text(x) for x in (0.0, 0.25, 1500.0, -3.0, 2e-7)]
    ['0', '0.25', '1,500', '−3', '2·10⁻⁷']
    """
    if value == 0:
        return "0"
    sign, size = ("−" if value < 0 else ""), abs(value)
    if size < 1e-3 or size >= 1e7:
        return sign + plain_number(size)
    return sign + (f"{size:,.0f}" if size >= 1000 else f"{size:g}")


@dataclass(frozen=True)
class Scale:
    """An axis of a figure: from data to places on the sheet, by default to shares of its length.

    Gaps in human bands have the scale `gap_scale`: linear while all are small, else of square roots
    (``root``), so that 0 and 1 stay in sight.

    >>> Scale(1, 100, 0, 10, "log")(10), Scale(0, 10, 100, 0)(2.5), Scale(0, 16, kind="root")(4.0)
    (5.0, 75.0, 0.5)
    """

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    kind: Literal["linear", "log", "gaps", "root"] = "linear"

    def __call__(self, value: float) -> float:
        """Place of a value; values beyond the ends lie at the ends."""
        of = {"log": math.log, "root": math.sqrt}.get(self.kind, float)
        low, high = of(self.low), of(self.high)
        share = (of(min(max(value, self.low), self.high)) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Values with ticks, and what is written at them.

        >>> [text for _, text in gap_scale([20.0]).ticks], [value for value, _ in gap_scale([1.0]).ticks]
        (['0', '1', '2', '5', '10', '20'], [0.0, 0.5, 1.0, 1.5])
        """
        if self.kind == "log":
            return [(t, plain_number(t)) for t in log_ticks(self.low, self.high)]
        if self.kind == "linear":
            return [(t, tick_text(t)) for t in linear_ticks(self.low, self.high, 6 if self.end > self.start else 5)]
        step = 0.5 if self.high <= 2 else 1.0
        even = [step * i for i in range(int(self.high / step) + 1)]
        return [(float(t), f"{t:g}") for t in (_TICKS if self.kind == "root" else even) if t <= self.high]


def gap_scale(gaps: list[float]) -> Scale:
    """Choose the scale for some gaps.

    >>> gap_scale([0.5, 3.0]).high, gap_scale([20.0]).kind
    (3.15, 'root')
    """
    largest = min(max(gaps, default=0.0), CLIP)
    root = largest > LINEAR
    return Scale(0.0, max(1.5, round(largest * (1.1 if root else 1.05), 6)), kind="root" if root else "gaps")
