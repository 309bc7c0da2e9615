"""Critics of running text: their rows are blocks of text, and their headline statistics are laws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from momus.critic.powers import EvidenceMixin, LawsMixin
from momus.critic.tokens import TokenCritic
from momus.evidence import Evidence
from momus.text.corpus import Corpus
from momus.text.running import RunningText, blocks

Z = TypeVar("Z")


class RunningTextCritic(TokenCritic[Z], LawsMixin, EvidenceMixin, ABC):
    """A critic whose unit is a block of running text instead of a document.

    A whole text is compared by its `laws`, each declared with its error estimate; Latent NLL is one value per block.

    Parameters
    ----------
    tokens, lower
        See `TokenCritic`.
    block
        Tokens per block.
    """

    unit = "block"
    ordered = True
    needs = 1

    def __init__(self, *, tokens: str = "words", lower: bool = True, block: int = 56_200) -> None:
        super().__init__(tokens=tokens, lower=lower)
        self.block = block

    @abstractmethod
    def summarize(self, latents: Z) -> RunningText:
        """Return the running text of a batch, which is mergeable without loss."""

    def evidence(self, real: RunningText, generated: RunningText) -> list[Evidence]:
        """Show what makes the difference between two running texts; nothing by default."""
        return []

    def units(self, corpus: Corpus) -> Corpus:
        """Cut the running text of a corpus into blocks."""
        return blocks(corpus, self.tokenizer, self.block)
