"""Probabilities of sequences: scorers, generators, decoding methods."""

from momus.sequences.decoding import Decoding, Drawn, document_seeds, sample
from momus.sequences.interfaces import Generated, Generator, Prompt, Request, SequenceScorer, StepModel, TextScorer
from momus.sequences.types import Sequences, SequenceScores

__all__ = [
    "Decoding",
    "Drawn",
    "Generated",
    "Generator",
    "Prompt",
    "Request",
    "SequenceScorer",
    "SequenceScores",
    "Sequences",
    "StepModel",
    "TextScorer",
    "document_seeds",
    "sample",
]
