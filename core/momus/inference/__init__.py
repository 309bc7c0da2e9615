"""Inference over documents: permutation tests, bootstrap intervals, effect sizes, multiplicity."""

from momus.inference.intervals import bca, centred, percentile, symmetric
from momus.inference.many import ManyTests
from momus.inference.multiplicity import benjamini_hochberg, holm
from momus.inference.pooling import Rows
from momus.inference.result import TestResult
from momus.inference.statistic import (
    Statistic,
    entropy,
    jensen_shannon,
    kolmogorov_smirnov,
    mean,
    mean_gap,
    perplexity,
    shares,
    supremum,
    total_variation,
)
from momus.inference.testing import compare_rows

__all__ = [
    "ManyTests",
    "Rows",
    "Statistic",
    "TestResult",
    "bca",
    "benjamini_hochberg",
    "centred",
    "compare_rows",
    "entropy",
    "holm",
    "jensen_shannon",
    "kolmogorov_smirnov",
    "mean",
    "mean_gap",
    "percentile",
    "perplexity",
    "shares",
    "supremum",
    "symmetric",
    "total_variation",
]
