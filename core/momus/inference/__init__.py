"""Inference over documents: permutation tests, bootstrap intervals, effect sizes, multiplicity."""

from momus.inference.design import Design, design_of, pair_up
from momus.inference.intervals import bca, centred, percentile, symmetric
from momus.inference.many import ManyTests
from momus.inference.method import Method
from momus.inference.multiplicity import benjamini_hochberg, holm
from momus.inference.pooling import Rows
from momus.inference.result import TestResult
from momus.inference.testing import compare_rows

__all__ = [
    "Design",
    "ManyTests",
    "Method",
    "Rows",
    "TestResult",
    "bca",
    "benjamini_hochberg",
    "centred",
    "compare_rows",
    "design_of",
    "holm",
    "pair_up",
    "percentile",
    "symmetric",
]
