"""Scaling laws of running text (Takahashi & Tanaka-Ishii 2019), and productivity: critics of blocks of text."""

from momus_critics.laws.critics import Ebeling, Heaps, LongRange, Productivity, Taylor, ZipfSlope

__all__ = ["Ebeling", "Heaps", "LongRange", "Productivity", "Taylor", "ZipfSlope"]
