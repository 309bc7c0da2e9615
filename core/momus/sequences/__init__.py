"""Probabilities of sequences: scorers of texts, and models that compute one token after another."""

from momus.sequences.types import Sequences, SequenceScores, StepModel, TextScorer

__all__ = ["SequenceScores", "Sequences", "StepModel", "TextScorer"]
