"""Latents of the critic of templates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momus.critic import StateSequences
from momus.numeric.types import Ints
from momus_critics.prose.reading import Prose

TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
"""Universal parts of speech (de Marneffe et al. 2021)."""
OPENING = 3
"""Tags of an opening."""


@dataclass(frozen=True)
class Tagged(StateSequences):
    """Parts of speech of the tokens.

    Attributes
    ----------
    sentences
        int64 (sentences + 1,): first token of each sentence among the states.
    owners
        int64 (sentences,): document of each sentence.
    prose
        The tokens, up to the limit of each document.
    """

    sentences: Ints = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    owners: Ints = None  # type: ignore[assignment]
    prose: Prose = None  # type: ignore[assignment]

    @property
    def openings(self) -> Ints:
        """Code of the first three tags of each sentence, −1 for shorter ones: int64 (sentences,)."""
        starts, lengths = self.sentences[:-1], np.diff(self.sentences)
        code = np.zeros(len(starts), dtype=np.int64)
        for k in range(OPENING):
            code = code * len(TAGS) + self.states[np.minimum(starts + k, max(len(self.states) - 1, 0))]
        return np.where(lengths >= OPENING, code, -1)
