"""Latents of the critic of discourse."""

from __future__ import annotations

from dataclasses import dataclass

from momus.critic import StateSequences
from momus.numeric.types import Floats, Ints
from momus_critics.prose.reading import Prose


@dataclass(frozen=True)
class Moves(StateSequences):
    """Classes of sentences, each paragraph preceded by a mark, and the tokens they were read from.

    Attributes
    ----------
    starts
        int64 (N,): first token of each state's sentence, or of the paragraph.
    prose
        The tokens.
    persons
        float64 (n, 2): pronouns of the first person, and of the first and third.
    """

    starts: Ints = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    prose: Prose = None  # type: ignore[assignment]
    persons: Floats = None  # type: ignore[assignment]
