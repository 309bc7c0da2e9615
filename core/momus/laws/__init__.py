"""Laws of running text: their declaration, standard errors, and tests between two texts."""

from momus.laws.jackknife import Jackknifed, jackknife, shuffled
from momus.laws.law import LEAST_GROUPS, Law, Reordered, tokens_needed, too_short
from momus.laws.relabelled import RELABELLINGS, relabellings_for
from momus.laws.test import LawTest, compare_law, standard_error

__all__ = [
    "LEAST_GROUPS",
    "RELABELLINGS",
    "Jackknifed",
    "Law",
    "LawTest",
    "Reordered",
    "compare_law",
    "jackknife",
    "relabellings_for",
    "shuffled",
    "standard_error",
    "tokens_needed",
    "too_short",
]
