"""Interfaces of models that score sequences and of models that write documents, for adapters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from momus.sequences.decoding import Decoding
from momus.sequences.types import Sequences, SequenceScores

Advance = Callable[[int], None]


@runtime_checkable
class TextScorer(Protocol):
    """A model that computes log p of texts, per token of its tokenizer."""

    name: str

    def score_texts(self, texts: Sequence[str], *, progress: Advance | None = None) -> SequenceScores:
        """Return log p of each token of each text given the tokens before it, in nats."""
        ...


@runtime_checkable
class SequenceScorer(TextScorer, Protocol):
    """A text scorer that also computes log p of sequences of its token ids."""

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Return the token ids of texts, without begin and end symbols."""
        ...

    def score(
        self, sequences: Sequences, *, temperature: float = 1.0, progress: Advance | None = None
    ) -> SequenceScores:
        """Return log p of each token and of the end, given the begin symbol and the tokens before, in nats.

        Parameters
        ----------
        temperature
            Logits are divided by it before the softmax.
        progress
            Called with the number of finished sequences.
        """
        ...


@dataclass(frozen=True)
class Prompt:
    """The beginning of a document: an id, and a text that may be empty."""

    id: str
    text: str = ""


@dataclass(frozen=True)
class Request:
    """A document to write: its number, its prompt, and the seed for sampling it."""

    number: int
    prompt: Prompt
    seed: int


@dataclass(frozen=True)
class Generated:
    """A generated document.

    Attributes
    ----------
    text
        The text without the prompt.
    tokens
        Number of generated tokens, including the end symbol; None if a server does not report it.
    finished
        Whether the model ended the document before the length limit.
    log_probability
        log p of the generated tokens under the model at temperature 1, in nats; None if unknown.
    problem
        Why there is no text, or None.
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
        """Write one document per request, in order, yielding each as soon as it is finished."""
        ...
