"""Critics of running text: scaling laws (Takahashi & Tanaka-Ishii 2019) and productivity."""

from momus_critics.laws.critics import Ebeling, Heaps, LongRange, Productivity, Taylor, ZipfSlope

__all__ = ["Ebeling", "Heaps", "LongRange", "Productivity", "Taylor", "ZipfSlope"]
