"""Ragged sequences of token ids, models that score them and texts, and the base class of autoregressive models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from momus.errors import UsageError
from momus.numeric.ragged import Ragged, group_sums, offsets_of, places_of, ranges_of
from momus.numeric.types import Floats, Ints

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Sequences(Ragged):
    """Token ids of n sequences, concatenated, without begin and end symbols.

    Attributes
    ----------
    ids
        int64 array (N,).
    offsets
        int64 array (n + 1,): sequence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``.

    >>> some = Sequences.of([[3, 1], [], [2]])
    >>> len(some), some.lengths.tolist(), some[0].tolist()
    (3, [2, 0, 1], [3, 1])
    """

    ids: Ints
    offsets: Ints

    @classmethod
    def of(cls, rows: Iterable[Sequence[int] | NDArray[np.integer]]) -> Sequences:
        """Concatenate sequences."""
        arrays = [np.asarray(row, dtype=np.int64) for row in rows]
        ids = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
        return cls(ids, offsets_of([len(array) for array in arrays]))

    def __getitem__(self, i: int) -> Ints:
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    def take(self, rows: Ints) -> Sequences:
        """Select sequences, in the order of ``rows``.

        >>> Sequences.of([[3, 1], [], [2]]).take(np.array([2, 0])).ids.tolist()
        [2, 3, 1]
        """
        lengths = self.lengths[rows]
        offsets = offsets_of(lengths)
        return Sequences(self.ids[ranges_of(self.offsets[:-1][rows], lengths)], offsets)

    def padded(self, fill: int, left: bool = False) -> Ints:
        """Pad to an int64 array (n, longest), at the end or, with ``left``, at the beginning."""
        width = int(self.lengths.max(initial=0))
        out = np.full((len(self), width), fill, dtype=np.int64)
        shift = (width - self.lengths) if left else np.zeros(len(self), dtype=np.int64)
        # all tokens at once: row, column and id, (N,) each
        out[self.documents, places_of(self.offsets) + np.repeat(shift, self.lengths)] = self.ids
        return out


@dataclass(frozen=True)
class SequenceScores(Ragged):
    """log p of each token given those before it, and of the end symbol, in nats.

    Attributes
    ----------
    log_probabilities
        float64 array (N + n,); shorter for models that do not score the end.
    offsets
        int64 array (n + 1,).

    >>> scores = SequenceScores(np.log([0.5, 0.5, 0.25]), np.array([0, 2, 3]))
    >>> np.exp(scores.totals).round(2).tolist()
    [0.25, 0.25]
    """

    log_probabilities: Floats
    offsets: Ints

    def __getitem__(self, i: int) -> Floats:
        return self.log_probabilities[self.offsets[i] : self.offsets[i + 1]]

    @property
    def totals(self) -> Floats:
        """float64 array (n,): log p of each sequence."""
        return np.asarray(group_sums(self.log_probabilities, self.offsets), dtype=np.float64)


@runtime_checkable
class TextScorer(Protocol):
    """A model that computes log p of texts, per token of its tokenizer."""

    name: str

    def score_texts(self, texts: Sequence[str]) -> SequenceScores:
        """Return log p of each token of each text given the tokens before it, in nats."""
        ...


def log_softmax(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """Return log p of each token at a temperature, float64 (B, V)."""
    import torch

    return torch.log_softmax(logits.double() / temperature, dim=-1)


class StepModel(ABC):
    """An autoregressive model of sequences over ids 0 … V − 1, one of which is the end symbol.

    Subclasses score sequences, and compute the logits of the next token for samplers. Rows of a batch are independent.

    Attributes
    ----------
    size
        V, including the end symbol (the begin symbol is never predicted and needs no id).
    end
        Id of the end symbol.
    device
        Torch device of the logits.
    batch
        Sequences per batch.
    """

    name: str = "model"
    size: int
    end: int
    device: str = "cpu"
    batch: int = 64

    def at_once(self, tokens: int, beams: int = 1) -> int:
        """Return how many sequences of at most ``tokens`` tokens, with ``beams`` hypotheses each, form a batch."""
        return self.batch

    @abstractmethod
    def start(self, prompts: Sequences) -> tuple[Any, Tensor]:
        """Return the state after the begin symbol and each prompt, and the logits of the next token, (B, V)."""

    @abstractmethod
    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """Return the state after one more token, int64 (B,), and the logits of the next token, (B, V)."""

    @abstractmethod
    def select(self, state: Any, rows: Tensor) -> Any:
        """Return the state of these rows, which may repeat; the given state must not be used afterwards."""

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Return the token ids of texts; raises for models that only know ids."""
        raise UsageError(f"{self.name} has no tokenizer", hint="pass token ids instead of texts")

    def decode(self, sequences: Sequences) -> list[str]:
        """Return the texts of token ids; models that only know ids write the numbers."""
        return [" ".join(map(str, sequences[i].tolist())) for i in range(len(sequences))]

    def continuations(self, prompts: Sequences | None, sequences: Sequences) -> list[str]:
        """Return the texts of generated sequences, without the prompts."""
        return self.decode(sequences)

    @abstractmethod
    def score(self, sequences: Sequences, *, temperature: float = 1.0) -> SequenceScores:
        """Return log p of each token and of the end, in nats."""

    def score_texts(self, texts: Sequence[str]) -> SequenceScores:
        """Return log p of each token and of the end of texts, in nats."""
        return self.score(self.encode(texts))
