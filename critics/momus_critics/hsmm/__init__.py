"""Explicit-duration hidden semi-Markov models, for text without section marks."""

from momus_critics.hsmm.model import HSMM, DiagonalGaussian, Emission
from momus_critics.hsmm.passes import Parameters, Segments, forward, posterior, sample, viterbi

__all__ = [
    "HSMM",
    "DiagonalGaussian",
    "Emission",
    "Parameters",
    "Segments",
    "forward",
    "posterior",
    "sample",
    "viterbi",
]
