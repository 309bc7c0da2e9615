"""Interfaces of models that score sequences and of models that write documents, for adapters.

Scorers are opened by name; equal requests share one (`momus.critic.resource`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from momus.critic.resources import resource
from momus.critic.tools import adapter_names
from momus.errors import UsageError
from momus.plugins import ADAPTERS, load_plugin
from momus.sequences.decoding import Decoding
from momus.sequences.types import Sequences, SequenceScores


@runtime_checkable
class TextScorer(Protocol):
    """A model that computes log p of texts, per token of its tokenizer."""

    name: str

    def score_texts(self, texts: Sequence[str]) -> SequenceScores:
        """Return log p of each token of each text given the tokens before it, in nats."""
        ...


@runtime_checkable
class SequenceScorer(TextScorer, Protocol):
    """A text scorer that also computes log p of sequences of its token ids."""

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Return the token ids of texts, without begin and end symbols."""
        ...

    def score(self, sequences: Sequences, *, temperature: float = 1.0) -> SequenceScores:
        """Return log p of each token and of the end, given the begin symbol and the tokens before, in nats.

        Parameters
        ----------
        temperature
            Logits are divided by it before the softmax.
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


def open_scorer(name: str, parameters: Mapping[str, Any], others: tuple[str, ...] = ()) -> TextScorer:
    """Open the scorer of an adapter, such as ``transformers`` or ``kenlm``.

    Parameters
    ----------
    parameters
        Keyword parameters of the adapter, as values of JSON.
    others
        Names of built-in scorers of the calling critic, for the error message.

    Raises
    ------
    UsageError
        There is no such adapter, or it does not accept these parameters.
    """
    known = adapter_names("scorer")
    if name not in known:
        raise UsageError(f"there is no scorer {name!r}", hint=f"choose one of {', '.join([*others, *known])}")
    return resource(_opened, name, parameters)


def _opened(name: str, parameters: Mapping[str, Any]) -> TextScorer:
    try:
        scorer = load_plugin(ADAPTERS, f"scorer.{name}")(**parameters)
    except TypeError as error:
        raise UsageError(f"scorer {name!r}: {error}", hint="see the adapter's parameters") from error
    if not isinstance(scorer, TextScorer):
        raise UsageError(f"scorer {name!r} is a {type(scorer).__name__}, which does not score texts")
    return scorer
