"""Models that write documents: any that computes the next token, by sampling, and servers of the OpenAI protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from momus.errors import UsageError
from momus.sequences import StepModel
from momus_adapters.language_models.openai import Failed, OpenAIServer
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
        Number of generated tokens, including the end symbol; None if a server does not report it.
    finished
        Whether the model ended the document before the length limit.
    log_probability
        log p of the generated tokens under the model at temperature 1, in nats; None if unknown.
    problem
        Why there is no text, or None.
    """

    request: DocumentRequest
    text: str
    tokens: int | None
    finished: bool
    log_probability: float | None = None
    problem: str | None = None


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


class ServerGenerator(OpenAIServer):
    """A server that writes documents, by completions or chat.

    Parameters
    ----------
    chat
        Use ``/chat/completions``, with the prompt as the user's message, instead of ``/completions``.
    url, model, options
        See `momus_adapters.language_models.openai.OpenAIServer`.
    """

    def __init__(self, url: str, model: str, *, chat: bool = False, **options: Any) -> None:
        super().__init__(url, model, **options)
        self.chat = chat

    @property
    def endpoint(self) -> str:
        """The last part of the address that is asked."""
        return "chat" if self.chat else super().endpoint

    def generate(self, requests: Sequence[DocumentRequest], decoding: Decoding) -> Iterator[Generated]:
        """Generate documents, in order; a failed one carries its problem.

        Raises
        ------
        UsageError
            The decoding is beam sampling, or the server refuses the key or the model.
        """
        if decoding.method == "beam-sampling":
            raise UsageError("servers do not support beam sampling", hint="run the model through transformers")
        yield from self.concurrently(requests, lambda r: self._generate_one(r, decoding))

    def _generate_one(self, request: DocumentRequest, decoding: Decoding) -> Generated:
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": decoding.longest,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "seed": request.seed & 0x7FFFFFFF,
        }
        if self.chat:
            body["messages"] = [{"role": "user", "content": request.prompt.text}]
        else:
            body["prompt"] = request.prompt.text
        try:
            answer = self.post("chat/completions" if self.chat else "completions", body)
            choice = answer["choices"][0]
            text = choice["message"]["content"] if self.chat else choice["text"]
            if not isinstance(text, str):
                raise Failed("the answer contains no text")
            usage = answer.get("usage") or {}
            count = usage.get("completion_tokens")
            tokens = int(count) if isinstance(count, int) else None
            return Generated(request, text, tokens, choice.get("finish_reason") == "stop")
        except Failed as error:
            return Generated(request, "", None, False, problem=str(error))
        except (KeyError, IndexError, TypeError, AttributeError):
            return Generated(request, "", None, False, problem="the answer is JSON without choices")
