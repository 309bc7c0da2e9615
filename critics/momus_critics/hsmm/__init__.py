"""Explicit-duration hidden semi-Markov models, for text without section marks."""

from momus_critics.hsmm.model import HSMM, DiagonalGaussian
from momus_critics.hsmm.passes import Parameters, Segments, forward, posterior, viterbi

__all__ = [
    "HSMM",
    "DiagonalGaussian",
    "Parameters",
    "Segments",
    "forward",
    "posterior",
    "viterbi",
]
