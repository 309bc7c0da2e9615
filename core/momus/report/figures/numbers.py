"""Numbers on the axes of figures."""

from __future__ import annotations

import math


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
