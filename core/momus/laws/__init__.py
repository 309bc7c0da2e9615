"""Laws of running text: how they are declared, how their standard errors are estimated, how two texts are tested."""

from momus.laws.jackknife import Jackknifed, jackknife, shuffled
from momus.laws.law import Law, Reordered
from momus.laws.test import LawTest, compare_law, standard_error

__all__ = ["Jackknifed", "Law", "LawTest", "Reordered", "compare_law", "jackknife", "shuffled", "standard_error"]
