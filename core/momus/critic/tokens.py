"""Critics that read tokens: the two parameters and the latents that they share."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.critic.base import Critic
from momus.critic.latents import StateSequences
from momus.text.tokens import Tokenizer, get_tokenizer

Z = TypeVar("Z")


@dataclass(frozen=True)
class TokenStates(StateSequences):
    """A state for each token, with the tokens themselves (``words[i]`` is a number in ``vocabulary``)."""

    words: NDArray[np.int32] = None  # type: ignore[assignment]
    vocabulary: Sequence[str] = ()


class TokenCritic(Critic[Z], ABC):
    """A critic of tokens.

    Parameters
    ----------
    tokens
        Name of the tokenizer: ``words``, or ``whitespace`` for text that is already split.
    lower
        Whether text is lower-cased first.
    """

    def __init__(self, *, tokens: str = "words", lower: bool = True) -> None:
        self.tokens = tokens
        self.lower = lower

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the parameters name."""
        return get_tokenizer(self.tokens, self.lower)
