"""Critics that read tokens, document by document or as running text: the parameters and latents that they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from momus.critic.base import Critic
from momus.critic.hooks import ScriptsMixin, TokenizerMixin, UnitsMixin
from momus.critic.latents import StateSequences
from momus.critic.powers import EvidenceMixin, LawsMixin
from momus.evidence import Evidence
from momus.text.corpus import Corpus
from momus.text.running import RunningText, blocks
from momus.text.scripts import ANY, WORDS, Scripts
from momus.text.tokens import Tokenizer, get_tokenizer

Z = TypeVar("Z")


@dataclass(frozen=True)
class TokenStates(StateSequences):
    """One state per token, and the tokens themselves.

    Attributes
    ----------
    words
        int32 array (N,): the token of each state, as an index into ``vocabulary``.
    vocabulary
        The distinct words.
    """

    words: NDArray[np.int32] = None  # type: ignore[assignment]  # always given; dataclasses require a default here
    vocabulary: Sequence[str] = ()


class TokenCritic(Critic[Z], TokenizerMixin, ScriptsMixin, ABC):
    """Base class of critics that read tokens.

    Parameters
    ----------
    tokens
        Name of the tokenizer: ``words``, ``whitespace`` for text that is already tokenised, or ``icu``.
    lower
        Whether to lower-case text first.
    """

    scripts: ClassVar[Scripts] = WORDS

    def __init__(self, *, tokens: str = "words", lower: bool = True) -> None:
        self.tokens = tokens
        self.lower = lower

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the parameters name."""
        return get_tokenizer(self.tokens, self.lower)

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without tokens."""
        return ["no token" if n == 0 else None for n in batch.tokens(self.tokenizer).lengths]

    def claims(self) -> Scripts:
        """The scripts of the class; any script of text that is already split."""
        return ANY if self.tokens == "whitespace" and self.scripts is WORDS else self.scripts


class RunningTextCritic(TokenCritic[Z], LawsMixin, UnitsMixin, EvidenceMixin, ABC):
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
    min_documents = 1

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
