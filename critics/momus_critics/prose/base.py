"""Base class of critics that read words with their sentences and paragraphs."""

from __future__ import annotations

from abc import ABC
from typing import TypeVar

from momus.critic import Critic
from momus.text.corpus import Corpus
from momus.text.tokens import Tokenizer
from momus_critics.prose.paragraphs import paragraph_tokenizer
from momus_critics.prose.reading import Prose, read_prose

Z = TypeVar("Z")


class ProseCritic(Critic[Z], ABC):
    """A critic that reads words, sentences and paragraphs; critics with the same tokenizer share the tokens.

    Parameters
    ----------
    tokens
        Name of the tokenizer, see `momus.critic.TokenCritic`. Letter case is folded after sentences have been found.
    """

    def __init__(self, *, tokens: str = "words") -> None:
        self.tokens = tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the parameters name, with borders of paragraphs as tokens."""
        return paragraph_tokenizer(self.tokens)

    def prose(self, batch: Corpus) -> Prose:
        """Words, sentences and paragraphs of a batch."""
        return read_prose(batch.tokens(self.tokenizer))

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without tokens."""
        return ["no token" if n == 0 else None for n in self.prose(batch).lengths]
