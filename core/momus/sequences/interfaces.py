"""What scores sequences, and what writes documents; adapters implement these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from momus.sequences.decoding import Decoding
from momus.sequences.types import Sequences, SequenceScores

Advance = Callable[[int], None]


@runtime_checkable
class TextScorer(Protocol):
    """A model that gives log p of texts, token by token as it splits them."""

    name: str

    def score_texts(self, texts: Sequence[str], *, progress: Advance | None = None) -> SequenceScores:
        """log p of each token of each text given those before it, in nats."""
        ...


@runtime_checkable
class SequenceScorer(TextScorer, Protocol):
    """A model that gives log p of sequences of its token ids as well."""

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Token ids of texts, without begin and end symbols."""
        ...

    def score(
        self, sequences: Sequences, *, temperature: float = 1.0, progress: Advance | None = None
    ) -> SequenceScores:
        """log p of each token and of the end, given the begin symbol and the tokens before, in nats.

        Parameters
        ----------
        temperature
            Logits are divided by it before the softmax.
        progress
            Called with the number of sequences done.
        """
        ...


@dataclass(frozen=True)
class Prompt:
    """What a document begins with: an id, and a text that may be empty."""

    id: str
    text: str = ""


@dataclass(frozen=True)
class Request:
    """One document to be written: its number, its prompt, and the seed of its draws."""

    number: int
    prompt: Prompt
    seed: int


@dataclass(frozen=True)
class Generated:
    """A document that was written.

    Attributes
    ----------
    text
        Without the prompt.
    tokens
        How many were drawn, the end symbol included; None where a server does not say.
    finished
        Whether the model ended it, rather than the limit of length.
    log_probability
        log p of what was drawn under the model at temperature 1, in nats; None where it is not known.
    problem
        Why there is no text.
    """

    request: Request
    text: str
    tokens: int | None
    finished: bool
    log_probability: float | None = None
    problem: str | None = None


@runtime_checkable
class Generator(Protocol):
    """A model that writes documents."""

    name: str

    def generate(self, requests: Sequence[Request], decoding: Decoding) -> Iterator[Generated]:
        """Write one document for each request, in order, as soon as each is known."""
        ...
