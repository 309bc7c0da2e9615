"""Inference over documents: permutation tests, bootstrap intervals, effect sizes, multiplicity."""

from momus.inference.design import Design
from momus.inference.matching import design_of
from momus.inference.multiplicity import benjamini_hochberg, holm
from momus.inference.result import Method, TestResult
from momus.inference.samples import Rows
from momus.inference.testing import axis_test, compare_rows

__all__ = [
    "Design",
    "Method",
    "Rows",
    "TestResult",
    "axis_test",
    "benjamini_hochberg",
    "compare_rows",
    "design_of",
    "holm",
]
