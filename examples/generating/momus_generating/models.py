"""Models that write documents: any that computes the next token, by sampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from momus.sequences import StepModel
from momus_generating.decoding import Decoding, sample


@dataclass(frozen=True)
class Prompt:
    """The beginning of a document: an id, and a text that may be empty."""

    id: str
    text: str = ""


@dataclass(frozen=True)
class DocumentRequest:
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
        Number of generated tokens, including the end symbol.
    finished
        Whether the model ended the document before the length limit.
    log_probability
        log p of the generated tokens under the model at temperature 1, in nats.
    """

    request: DocumentRequest
    text: str
    tokens: int
    finished: bool
    log_probability: float


@runtime_checkable
class Generator(Protocol):
    """A model that writes documents."""

    name: str

    def generate(self, requests: Sequence[DocumentRequest], decoding: Decoding) -> Iterator[Generated]:
        """Write one document per request, in order, yielding each as soon as it is finished."""
        ...


class ModelSampler:
    """Writes documents with a model that computes the next token, in batches of the model's size."""

    def __init__(self, model: StepModel) -> None:
        self.model, self.name = model, model.name

    @property
    def identity(self) -> str:
        """The state of the model, as far as it knows it."""
        return str(getattr(self.model, "identity", ""))

    def generate(self, requests: Sequence[DocumentRequest], decoding: Decoding) -> Iterator[Generated]:
        """Write documents, in order; each depends on its prompt and its seed, not on the other requests."""
        model = self.model
        texts = list({r.prompt.text for r in requests} - {""})
        longest = decoding.longest + (int(model.encode(texts).lengths.max()) if texts else 0)
        size = model.at_once(longest, decoding.beams)
        for a in range(0, len(requests), size):
            batch = requests[a : a + size]
            prompts = model.encode([r.prompt.text for r in batch]) if any(r.prompt.text for r in batch) else None
            drawn = sample(model, prompts, decoding, [r.seed for r in batch])
            texts = model.continuations(prompts, drawn.sequences)
            for i, (request, text) in enumerate(zip(batch, texts, strict=True)):
                finished = bool(drawn.finished[i])
                tokens = int(drawn.sequences.lengths[i]) + finished
                yield Generated(request, text, tokens, finished, float(drawn.log_probabilities[i]))
