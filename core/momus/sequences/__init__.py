"""Probabilities of sequences: scorers of texts, and models that compute one token after another."""

from momus.sequences.interfaces import StepModel, TextScorer
from momus.sequences.types import Sequences, SequenceScores

__all__ = ["SequenceScores", "Sequences", "StepModel", "TextScorer"]
