"""Laws of running text: their declaration, standard errors, and relabellings of two texts."""

from momus.laws.jackknife import Jackknifed, jackknife, shuffled, standard_error
from momus.laws.law import LEAST_GROUPS, Law, Reordered, tokens_needed, too_short
from momus.laws.relabelled import RELABELLINGS, relabel, relabellings_for

__all__ = [
    "LEAST_GROUPS",
    "RELABELLINGS",
    "Jackknifed",
    "Law",
    "Reordered",
    "jackknife",
    "relabel",
    "relabellings_for",
    "shuffled",
    "standard_error",
    "tokens_needed",
    "too_short",
]
