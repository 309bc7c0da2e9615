"""Models that go token by token: a base class that owes its subclasses scoring and all ways of decoding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from momus.errors import UsageError
from momus.numeric.ragged import offsets_of
from momus.sequences.decoding import Decoding, log_softmax
from momus.sequences.interfaces import Advance, Generated, Request
from momus.sequences.types import Sequences, SequenceScores

if TYPE_CHECKING:
    from torch import Tensor


class StepModel(ABC):
    """A model of sequences over ids 0 … V − 1, one of which ends them.

    A subclass says what comes next; `score` and `generate` follow. Rows of a batch do not touch one another.

    Attributes
    ----------
    size
        V, the end symbol included (the begin symbol is never predicted, and need not have an id).
    end
        Id of the end symbol.
    device
        Torch device of the logits.
    batch
        Sequences at a time.
    """

    name: str = "model"
    size: int
    end: int
    device: str = "cpu"
    batch: int = 64

    @abstractmethod
    def start(self, prompts: Sequences) -> tuple[Any, Tensor]:
        """State after the begin symbol and each prompt, and logits of the next token, (B, V)."""

    @abstractmethod
    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """State after one more token, int64 (B,), and logits of the next, (B, V)."""

    @abstractmethod
    def select(self, state: Any, rows: Tensor) -> Any:
        """The state of these rows, which may repeat; the state that is handed in is used up."""

    def encode(self, texts: Sequence[str]) -> Sequences:
        """Token ids of texts; models over ids alone have no texts."""
        raise UsageError(f"{self.name} has no tokenizer", hint="hand it token ids")

    def decode(self, sequences: Sequences) -> list[str]:
        """Texts of token ids; models over ids alone write the numbers."""
        return [" ".join(map(str, sequences[i].tolist())) for i in range(len(sequences))]

    def continuations(self, prompts: Sequences | None, sequences: Sequences) -> list[str]:
        """Texts of what was drawn, without the prompts."""
        return self.decode(sequences)

    def score(
        self, sequences: Sequences, *, temperature: float = 1.0, progress: Advance | None = None
    ) -> SequenceScores:
        """log p of each token and of the end, by stepping through; models that can do better override this."""
        import torch

        lengths = sequences.lengths + 1
        offsets = offsets_of(lengths)
        out = np.zeros(int(offsets[-1]))
        order = np.argsort(-sequences.lengths, kind="stable")
        for a in range(0, len(order), self.batch):
            rows = order[a : a + self.batch]
            some = sequences.take(rows)
            padded = torch.from_numpy(some.padded(self.end)).to(self.device)
            ended = torch.full((len(rows), 1), self.end, device=self.device)
            targets = torch.cat([padded, ended], dim=1)
            alive = torch.arange(len(rows), device=self.device)
            with torch.inference_mode():
                state, logits = self.start(Sequences.of([[]] * len(rows)))
                for t in range(targets.shape[1]):
                    known = log_softmax(logits, temperature)
                    values = known.gather(1, targets[alive, t, None])[:, 0].cpu().numpy()
                    out[offsets[rows[alive.cpu().numpy()]] + t] = values
                    keep = torch.from_numpy(np.flatnonzero(some.lengths[alive.cpu().numpy()] > t)).to(self.device)
                    if not len(keep):
                        break
                    if len(keep) < len(alive):
                        state, alive = self.select(state, keep), alive[keep]
                    state, logits = self.step(state, targets[alive, t])
            if progress is not None:
                progress(min(a + self.batch, len(order)))
        return SequenceScores(out, offsets)

    def score_texts(self, texts: Sequence[str], *, progress: Advance | None = None) -> SequenceScores:
        """log p of each token and of the end of texts, in nats."""
        return self.score(self.encode(texts), progress=progress)

    def generate(self, requests: Sequence[Request], decoding: Decoding) -> Iterator[Generated]:
        """Write documents, in order; a document depends on its prompt and its seed, not on those beside it."""
        from momus.sequences.sampling import sample

        for a in range(0, len(requests), self.batch):
            some = requests[a : a + self.batch]
            prompts = self.encode([r.prompt.text for r in some]) if any(r.prompt.text for r in some) else None
            drawn = sample(self, prompts, decoding, [r.seed for r in some])
            texts = self.continuations(prompts, drawn.sequences)
            for i, (request, text) in enumerate(zip(some, texts, strict=True)):
                done = bool(drawn.finished[i])
                tokens = int(drawn.sequences.lengths[i]) + done
                yield Generated(request, text, tokens, done, float(drawn.log_probabilities[i]))
